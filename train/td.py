"""TD learning of state values by self-play, after O'Connor (2000).

A network values after-states, the 209 bits as the player sees them right after a move
(:mod:`crib_env.agents.networks.td`): the points made from that move on, minus the opponent's. Players choose
the move with the most valuable after-state, both seats share the weights, and episodes are single deals, because his
aim is the score of each hand.

``--preset paper`` is O'Connor's: one hidden layer of sigmoids and a linear output on the bare bits, weights from a
Gaussian of standard deviation 1, points as they are scored, no discount, no exploration, and an update after every
move. A move leads from after-state i to after-state j; r is the points made in between, minus the opponent's. The
weights w of the value U are updated by::

    e <- λ e + ∇U(i)                the trace of that player, who has its own; both update the same weights
    w <- w + α [r + U(j) - U(i)] e

and at the end of a deal by the same with U(j) = 0. With λ = 0 that is O'Connor's rule, TD(0); ``--td-lambda 0.7`` is
the TD(λ) that he names as further work. Where the paper is silent, or this differs:

* It gives no size, learning rate or number of hands for the full game; here 40 nodes and 0.01, the larger network and
  the rate of his discard game, and 1,000,000 deals.
* Two discards are one move; the paper does not say whether his were. Of legal cards of one rank, the first stands
  for all.
* His text and his formula count the points of the opponent's answer in different places; here a reward is the change of
  the lead from one own move to the next. A value includes the points of the move that led to its state, as his does.

The default learns from many deals at once, with Adam, towards the reward up to the player's next move plus the value of
the best move there, also where a random one is made. It has one network of ReLUs for discards and one for the play,
inputs by rank that follow from the bits (:func:`crib_env.agents.networks.td.play_inputs`), and rewards without the luck
that no move controls: a discard earns the exact value of hand and crib in the show, the play earns pegging only. What a
move is known to earn is added to the network's output and need not be learned. The player that is measured has the
average of the weights. A quarter of all cards are random until the end: a player that meets only its own best moves
reads too much from an opponent's cards, and becomes weaker against others.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import torch

from crib_env.agents.networks.feed_forward import ValueNetwork
from crib_env.agents.networks.seen import Seen
from crib_env.agents.networks.td import MOST_MOVES, TDAgent, moved, write_after_states
from crib_env.batch import GameBatch
from crib_env.engine import DISCARD, EPISODES, GAME, OVER, TO_DRAW, act, begin_deal, begin_game, shuffle
from crib_env.kernels import kernel, popcount
from crib_env.observation import N_ACTIONS, N_BITS, write_mask, write_observation
from crib_env.train.loop.run import Round
from crib_env.train.loop.settings import Count, ExploringSettings, NotNegative, PeggingCards, Widths, one_width
from crib_env.train.shared.experience import Decisions, epsilon_greedy, play_episodes, returns_of
from crib_env.train.shared.gradients import Descent, Parts, batches_of, follow, mean_of_steps, precision, scalars_of
from crib_env.values import Share


@dataclass(frozen=True)
class TDSettings(ExploringSettings):
    """Settings of TD learning."""

    preset: Literal["default", "paper"] = "default"
    """Defaults of the other settings: the best found, or O'Connor's."""
    episode: Literal["deal", "pegging"] = "deal"
    """What an episode is: a deal, or the play of eight cards and nothing else."""
    cards: PeggingCards = 4
    """Cards of each player in pegging; for returns."""
    updates: Literal["returns", "traces"] = "returns"
    """After many deals at once, or O'Connor's network with eligibility traces after every move."""
    hidden: Widths = (256, 256)
    """Widths of the hidden layers; traces need exactly one."""
    hidden_discard: Widths = (64, 64)
    """Widths of the hidden layers of the network of discards; for returns."""
    td_lambda: Share = 0.0
    """λ of TD(λ): 0 bootstraps after one step, 1 is the Monte Carlo return; for traces."""
    episodes: Count = 819_200
    """Episodes to play."""
    episodes_at_once: Count = 2_048
    """Episodes in a round; with returns they are played side by side and then learned from."""
    batch_size: Count = 512
    """Moves in a gradient step; for returns."""
    learning_rate: NotNegative = 2e-3
    """Initial learning rate, of Adam (returns) or of the traces."""
    average_rate: Share = 0.003
    """Share of the way to the new weights that the player measured goes after each step: it has their average. For
    returns."""
    epsilon: Share = 0.25
    """Initial probability of a random card; for returns."""
    final_epsilon: Share = 0.25
    """Probability of a random card at the end; it changes linearly in between. For returns."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.updates == "traces":
            one_width(self.hidden, "updates='traces'")
        fixed = {"cards": 4, "epsilon": 0, "final_epsilon": 0} if self.updates == "traces" else {"td_lambda": 0}
        for name, only in fixed.items():
            if (value := getattr(self, name)) != only:
                raise ValueError(f"{name}={value} is not allowed with updates={self.updates!r}: give {only}")


PRESETS = {
    "default": TDSettings(),
    "paper": TDSettings(
        preset="paper",
        precision="float32",  # that of the traces
        updates="traces",
        hidden=(40,),
        episodes=1_000_000,
        episodes_at_once=1_024,
        learning_rate=0.01,
        final_learning_rate=0.01,
        epsilon=0.0,
        final_epsilon=0.0,
    ),
}


def moves_of(decisions: Decisions) -> np.ndarray:
    """The decisions that complete a move, (M,) indices: two discards are one."""
    is_second = np.append(False, decisions.chain[1:] == decisions.chain[:-1]) & decisions.is_discard
    return np.flatnonzero(is_second | ~decisions.is_discard)


def rewards_of_moves(decisions: Decisions, moves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The reward of each move up to the same player's next, (M,), and whether there is no next one, (M,) bool."""
    # Nothing is pegged before a discard. So the settled standing is the show alone, and the discard earns it.
    now = np.where(decisions.is_discard, 0.0, decisions.settled)[moves]
    chain = decisions.chain[moves]
    ends = np.append(chain[1:] != chain[:-1], True)
    return np.where(ends, decisions.final_settled[moves], np.roll(now, -1)) - now, ends


def targets_of(rewards: np.ndarray, ends: np.ndarray, ahead: np.ndarray) -> np.ndarray:
    """What M moves are worth, (M,) float32: their rewards, and the values ``ahead`` (M,) of the best moves next."""
    earned = rewards.astype(np.float32)
    return np.where(ends, earned, earned + np.roll(ahead, -1).astype(float)).astype(np.float32)


def the_bits(games: GameBatch, rows: np.ndarray) -> Seen:
    """What the players to act see: the 209 bits."""
    return Seen.as_it_is(*games.observe(rows))


class Explorer:
    """An agent's ε-greedy choices, a ``Policy``; keeps the values of its best moves."""

    def __init__(self, agent: TDAgent, epsilon: float, rng: np.random.Generator) -> None:
        self._agent, self._epsilon, self._rng = agent, epsilon, rng
        self._asked: list[tuple[np.ndarray, np.ndarray]] = []

    def __call__(self, seen: Seen, is_discard: np.ndarray, chain: np.ndarray) -> np.ndarray:
        """The cards (B,)."""
        best, values = self._agent.look_ahead(seen.inputs, seen.legal, is_discard)
        self._asked.append((chain, values))
        return epsilon_greedy(best, seen.legal, self._epsilon, self._rng)

    def values(self) -> np.ndarray:
        """Values of the best moves, (D,), in the order of ``Decisions``."""
        chain, values = (np.concatenate(column) for column in zip(*self._asked))
        return values[np.argsort(chain, kind="stable")]


class Weights(NamedTuple):
    """The parameters of a network with one hidden layer, or their traces: float32 arrays, changed in place."""

    hidden: np.ndarray  # (H, n)
    hidden_bias: np.ndarray  # (H,)
    output: np.ndarray  # (1, H)
    output_bias: np.ndarray  # (1,)


def weights_of(network: ValueNetwork) -> Weights:
    """The weights of a network of one hidden layer of sigmoids, as arrays over the same memory."""
    return Weights(*(parameter.detach().numpy() for parameter in network.parameters()))


def no_traces(weights: Weights) -> Weights:
    """Traces of these weights, all of them 0."""
    return Weights(*(np.zeros_like(array) for array in weights))


def means_of(tally: np.ndarray) -> dict[str, float]:
    """Scalars for TensorBoard from a tally of :func:`play_and_learn`; ``FloatingPointError`` if it is not finite."""
    if not np.isfinite(tally).all():
        raise FloatingPointError(f"the sum of squared errors is {tally[1]}: the weights have diverged")
    loss, error, worth = tally[1:] / max(tally[0], 1)
    return {"learning/loss": loss, "learning/TD error": error, "learning/mean value": worth}


@kernel
def value(weights, state, nodes):
    """U of a state (n,) of zeros and ones; fills ``nodes`` (H,) with the hidden activations."""
    ones = np.flatnonzero(state)
    worth = weights.output_bias[0]
    for h in range(len(nodes)):
        total = weights.hidden_bias[h]
        for k in ones:
            total += weights.hidden[h, k]
        nodes[h] = 1 / (1 + math.exp(-total))
        worth += weights.output[0, h] * nodes[h]
    return worth


@kernel
def fade_and_add_gradient(trace, weights, state, nodes, fade):
    """``e <- fade e + ∇U(state)``, with the ``nodes`` that :func:`value` has filled."""
    ones = np.flatnonzero(state)
    trace.output_bias[0] = fade * trace.output_bias[0] + 1
    for h in range(len(nodes)):
        slope = weights.output[0, h] * nodes[h] * (1 - nodes[h])
        trace.output[0, h] = fade * trace.output[0, h] + nodes[h]
        trace.hidden_bias[h] = fade * trace.hidden_bias[h] + slope
        for k in range(len(state)):
            trace.hidden[h, k] *= fade
        for k in ones:
            trace.hidden[h, k] += slope


@kernel
def learn(weights, trace, step):
    """``w <- w + step e``."""
    weights.output_bias[0] += step * trace.output_bias[0]
    for h in range(len(weights.hidden_bias)):
        weights.hidden_bias[h] += step * trace.hidden_bias[h]
        weights.output[0, h] += step * trace.output[0, h]
        for k in range(weights.hidden.shape[1]):
            weights.hidden[h, k] += step * trace.hidden[h, k]


@kernel
def learn_from_move(weights, trace, state, target, nodes, rate, fade, tally):
    """One update by the rule above, where ``target`` is r + U(j); ``tally`` as for :func:`play_and_learn`."""
    worth = value(weights, state, nodes)
    error = target - worth
    fade_and_add_gradient(trace, weights, state, nodes, fade)
    learn(weights, trace, rate * error)
    tally[0] += 1
    tally[1] += error * error
    tally[2] += abs(error)
    tally[3] += worth


@kernel
def play_and_learn(games, episode, n, weights, traces, rate, fade, tally):
    """Plays ``n`` deals of the network against itself from a seeded ``episode_stream``, and learns from every move,
    with α ``rate`` and λ ``fade``. To ``tally`` (4,) are added: moves learned from, squared errors, absolute errors,
    values."""
    g = games[0]
    seen, mask = np.zeros((1, N_BITS), np.int8), np.zeros((1, N_ACTIONS), np.int8)
    states, cards = np.zeros((MOST_MOVES, N_BITS), np.int8), np.empty(MOST_MOVES, np.int64)
    nodes = np.empty(len(weights.hidden_bias), np.float32)
    last = np.zeros((2, N_BITS), np.int8)  # the after-state that each seat is in
    standing, has_moved = np.zeros(2), np.zeros(2, np.bool_)  # the standing when it moved there, if it has moved
    for _ in range(n):
        begin_game(g, episode, TO_DRAW, TO_DRAW, TO_DRAW, -1)
        shuffle(g)
        begin_deal(g)
        has_moved[:] = False
        for trace in traces:
            trace.hidden[:] = 0
            trace.hidden_bias[:] = 0
            trace.output[:] = 0
            trace.output_bias[:] = 0
        while g["phase"] != OVER:
            seat = np.int64(g["turn"])
            write_observation(g, seat, seen, 0)
            write_mask(g, seat, mask, 0)
            best, best_value = 0, -np.inf
            for k in range(write_after_states(seen[0], mask[0], g["phase"] == DISCARD, states, cards)):
                worth = value(weights, states[k], nodes)
                if worth > best_value:
                    best, best_value = k, worth
            standing_now = np.float64(g["scores"][seat] - g["scores"][1 - seat])
            if has_moved[seat]:
                target = standing_now - standing[seat] + best_value
                learn_from_move(weights, traces[seat], last[seat], target, nodes, rate, fade, tally)
            # The first card discarded is half a move: with the second the same after-state is chosen again.
            has_moved[seat] = popcount(g["hand"][seat]) < 6
            last[seat], standing[seat] = states[best], standing_now
            act(g, cards[best])
        for seat in range(2):
            target = np.float64(g["scores"][seat] - g["scores"][1 - seat]) - standing[seat]
            learn_from_move(weights, traces[seat], last[seat], target, nodes, rate, fade, tally)


class TD(Parts):
    """An agent in training, ``online``; ``agent``, which is measured, has the average of its weights or is the same."""

    Settings, PRESETS = TDSettings, PRESETS

    def __init__(self, settings: TDSettings) -> None:
        self._settings = settings
        if settings.updates == "traces":
            self.online = self.agent = TDAgent.new("bits", settings.hidden)
            self._weights = weights_of(self.online.networks["all"])
            self._traces = no_traces(self._weights), no_traces(self._weights)  # they begin at 0 in a deal
            super().__init__(online=self.online)
            self._learn_from_each_move(Round.first(0))  # compiles the kernels before the clocks start
        else:
            self.online = TDAgent.new("features", settings.hidden, settings.hidden_discard)
            self.agent = copy.deepcopy(self.online)
            self._descents = {name: Descent(net, f"network {name!r}") for name, net in self.online.networks.items()}
            super().__init__(online=self.online, average=self.agent, adam=self._descents)
            self._play(Round.first())  # as above

    def play_and_learn(self, now: Round) -> dict[str, float]:
        """A round; scalars for TensorBoard."""
        return self._learn_from_each_move(now) if self._settings.updates == "traces" else self._learn_at_once(now)

    def _learn_from_each_move(self, now: Round) -> dict[str, float]:
        games, tally, episode = np.zeros(1, GAME), np.zeros(4), self._settings.episode
        games["episode_stream"] = now.rng.integers(2**64, dtype=np.uint64)
        rates = now.learning_rate, self._settings.td_lambda
        play_and_learn(games, EPISODES.index(episode), now.episodes, self._weights, self._traces, *rates, tally)
        return means_of(tally)

    def _play(self, now: Round) -> tuple[Decisions, Explorer]:
        games = now.deal(self._settings.episode, skip_forced=True, cards=self._settings.cards)
        explorer = Explorer(self.online, now.epsilon, now.rng)
        return play_episodes(games, explorer, None, the_bits, self._settings.precision), explorer

    def _learn_at_once(self, now: Round) -> dict[str, float]:
        """Trains on every move of many deals once, in batches."""
        decisions, explorer = self._play(now)
        moves = moves_of(decisions)
        rewards, ends = rewards_of_moves(decisions, moves)
        targets = targets_of(rewards, ends, explorer.values()[moves])
        states = moved(decisions.inputs[moves], decisions.card[moves], decisions.is_discard[moves])
        steps = {}
        for is_discard in (True, False):
            rows = now.rng.permutation(np.flatnonzero(decisions.is_discard[moves] == is_discard))
            if len(rows):  # pegging has no discards
                batches = batches_of(rows, self._settings.batch_size)
                steps[self.agent.network_of(is_discard)] = [
                    self.update(states[batch], targets[batch], is_discard, now.learning_rate) for batch in batches
                ]
        return returns_of(decisions, rewards, ends, None) | mean_of_steps(steps)

    def update(self, states: np.ndarray, targets: np.ndarray, is_discard: bool, rate: float) -> dict[str, float]:
        """One gradient step of a phase's network towards ``targets`` (B,) for after-states (B, 209); its scalars."""
        name = self.online.network_of(is_discard)
        with precision(self._settings.precision):
            values = self.online.values(states, is_discard)
            errors = torch.from_numpy(targets) - values
            loss = errors.square().mean()
        norm = self._descents[name].step(loss, rate)
        follow(self.agent.networks[name], self.online.networks[name], self._settings.average_rate)
        return scalars_of(loss, errors, values, norm)
