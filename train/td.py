"""TD learning of state values by self-play, after O'Connor (2000).

A network values after-states, the 209 bits as the player sees them right after a move
(:mod:`crib_env.agents.networks.td`): the points made from that move on, minus the opponent's. Players choose
the move with the most valuable after-state, both seats share the weights, and episodes are single deals, because his
aim is the score of each hand.

``--preset paper`` is O'Connor's: one hidden layer of sigmoids and a linear output on the bare bits, weights from a
Gaussian of standard deviation 1, points as they are scored, an update after every move by the difference to the next
value (TD(0)), no discount and no exploration (:mod:`crib_env.train.td_traces`). ``--td-lambda 0.7`` makes it the TD(λ)
that he names as further work. Where the paper is silent, or this differs:

* It gives no size, learning rate or number of hands for the full game; here 40 nodes and 0.01, the larger network and
  the rate of his discard game, and 1,000,000 deals.
* Two discards are one move; the paper does not say whether his were. Of legal cards of one rank, the first stands
  for all.
* A value includes the points of the move that led to its state, as his does. His text and his formula count the points
  of the opponent's answer in different places; here a reward is the change of the lead from one own move to the next.

The default learns from many deals at once, with Adam, towards the reward up to the player's next move plus the value of
the best move there, also where a random one is made. It has one network of ReLUs for discards and one for the play,
inputs by rank that follow from the bits (:func:`crib_env.agents.networks.td.play_inputs`), and rewards
without the luck that no move controls: a discard earns the exact value of hand and crib in the show, the play earns
pegging only, since nothing else can change any more. What a move is known to earn, the exact value of a discard in the
show or the points of a card, is added to the network's output and need not be learned. The player that is measured has
the average of the weights. A quarter of all cards are random until the end: a player that meets only its own best moves
reads too much from an opponent's cards, and becomes weaker against others.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from crib_env.agents.networks.seen import Seen
from crib_env.agents.networks.td import TDAgent, moved
from crib_env.batch import GameBatch
from crib_env.train.experience import Decisions, Episodes, epsilon_greedy, play_episodes
from crib_env.train.loop.learning import (
    Count,
    Descent,
    ExploringSettings,
    NotNegative,
    Parts,
    PeggingCards,
    Precision,
    Widths,
    by_network,
    follow,
    mean_of_steps,
    one_width,
    precision,
    split_into_batches,
)
from crib_env.train.loop.run import Round
from crib_env.train.td_traces import Traces
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
    precision: Precision = "auto"
    """Number format in training by returns; "auto" is bfloat16 if the processor has instructions for it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.updates == "traces":
            one_width(self.hidden, "updates='traces'")
            if self.cards != 4:
                raise ValueError(f"cards={self.cards} is not allowed with updates='traces': give 4")
            for name in ("epsilon", "final_epsilon"):
                if getattr(self, name):
                    raise ValueError(f"{name}={getattr(self, name)} is not allowed with updates='traces': give 0")
        elif self.td_lambda:
            raise ValueError(f"td_lambda={self.td_lambda} is not allowed with updates='returns': give 0")


PRESETS = {
    "default": TDSettings(),
    "paper": TDSettings(
        preset="paper",
        precision="float32",  # that of the traces
        updates="traces",
        hidden=(40,),
        episodes=1_000_000,
        episodes_at_once=1_024,
        td_lambda=0.0,
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
    """An agent's ε-greedy choices, a :data:`crib_env.train.experience.Policy`; keeps the values of its best moves."""

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


class Returns(Parts):
    """An agent in training by many deals at once, with its optimizers.

    Attributes:
        online: learns.
        agent: has the average of its weights, and is measured.
    """

    def __init__(self, settings: TDSettings) -> None:
        self._settings = settings
        self.online = TDAgent.new("features", settings.hidden, settings.hidden_discard)
        self.agent = copy.deepcopy(self.online)
        self._descents = {name: Descent(net, f"network {name!r}") for name, net in self.online.networks.items()}
        super().__init__(online=self.online, average=self.agent, **by_network("adam", self._descents))
        self._play(Round.first())  # compiles the kernels before the clocks start

    def _play(self, now: Round) -> tuple[Episodes, Explorer]:
        games = now.deal(self._settings.episode, skip_forced=True, cards=self._settings.cards)
        explorer = Explorer(self.online, now.epsilon, now.rng)
        return play_episodes(games, explorer, None, the_bits, self._settings.precision), explorer

    def play_and_learn(self, now: Round) -> dict[str, float]:
        """A round; trains on every move once, in batches. Returns scalars for TensorBoard."""
        played, explorer = self._play(now)
        decisions, moves = played.decisions, moves_of(played.decisions)
        rewards, ends = rewards_of_moves(decisions, moves)
        targets = targets_of(rewards, ends, explorer.values()[moves])
        states = moved(decisions.inputs[moves], decisions.card[moves], decisions.is_discard[moves])
        steps = {}
        for is_discard in (True, False):
            rows = now.rng.permutation(np.flatnonzero(decisions.is_discard[moves] == is_discard))
            if len(rows):  # pegging has no discards
                batches = split_into_batches(rows, self._settings.batch_size)
                steps[self.agent.network_of(is_discard)] = [
                    self.update(states[batch], targets[batch], is_discard, now.learning_rate) for batch in batches
                ]
        return played.values(rewards, ends) | mean_of_steps(steps)

    def update(self, states: np.ndarray, targets: np.ndarray, is_discard: bool, rate: float) -> dict[str, float]:
        """One gradient step of a phase's network towards ``targets`` (B,) for after-states (B, 209); its scalars.

        Raises:
            FloatingPointError: the loss is no longer finite.
        """
        name = self.online.network_of(is_discard)
        with precision(self._settings.precision):
            values = self.online.values(states, is_discard)
            errors = torch.from_numpy(targets) - values
            loss = errors.square().mean()
        norm = self._descents[name].step(loss, rate)
        follow(self.agent.networks[name], self.online.networks[name], self._settings.average_rate)
        return {
            "loss": loss.item(),
            "TD error": errors.abs().mean().item(),
            "mean value": values.mean().item(),
            "gradient norm": norm,
        }


class TD:
    """Either way to learn: :class:`Traces` or :class:`Returns`."""

    Settings, PRESETS = TDSettings, PRESETS

    def __init__(self, settings: TDSettings) -> None:
        way: Traces | Returns
        if settings.updates == "traces":
            way = Traces(TDAgent.new("bits", settings.hidden), settings.td_lambda, settings.episode)
        else:
            way = Returns(settings)
        self.agent, self.play_and_learn = way.agent, way.play_and_learn
        self.state_dict, self.load_state_dict = way.state_dict, way.load_state_dict
