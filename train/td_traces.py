"""TD(λ) with eligibility traces, after every move, for a network of one hidden layer (O'Connor 2000, "Algorithms").

A player's move leads from after-state i to after-state j; r is the points made in between, minus those of the
opponent. The weights w of the value U are then updated by::

    e <- γ λ e + ∇U(i)              the trace of that player; here γ is 1
    w <- w + α [r + U(j) - U(i)] e

and at the end of a deal by the same with U(j) = 0. With λ = 0 that is O'Connor's rule. Each player has its own
trace, and both update the same weights. A kernel plays deal after deal and learns at once.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from crib_env.agents.networks.feed_forward import ValueNetwork
from crib_env.agents.networks.td import MOST_MOVES, TDAgent, write_after_states
from crib_env.engine import DISCARD, EPISODES, GAME, OVER, TO_DRAW, act, begin_deal, begin_game, shuffle
from crib_env.evaluate.runs.format import UPDATES
from crib_env.kernels import kernel, popcount
from crib_env.observation import N_ACTIONS, N_BITS, write_mask, write_observation
from crib_env.train.loop.run import Round

# In an episode: each player lays four cards, and in a deal discards two before, which is one move.
MOVES = {"deal": 10, "pegging": 8}


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
    """Scalars for TensorBoard from a tally, see :func:`play_and_learn`.

    Raises:
        FloatingPointError: it is not finite.
    """
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
def forget(trace):
    """``e <- 0``."""
    trace.hidden[:] = 0
    trace.hidden_bias[:] = 0
    trace.output[:] = 0
    trace.output_bias[:] = 0


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
    """Plays ``n`` episodes of the network against itself, and learns from every move.

    Args:
        games: (1,) GAME with a seeded ``episode_stream``.
        episode: index in ``engine.EPISODES`` of an episode of one deal.
        traces: work arrays for the traces of seat 0 and of seat 1.
        rate, fade: α, and γ λ.
        tally: (4,) float64, to which are added: moves learned from, squared errors, absolute errors, values.
    """
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
        for seat in range(2):
            forget(traces[seat])
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


class Traces:
    """An agent with inputs ``"bits"`` and one hidden layer, in training by an episode, a key of ``MOVES``."""

    def __init__(self, agent: TDAgent, td_lambda: float, episode: str = "deal") -> None:
        self.agent, self._td_lambda, self._episode = agent, td_lambda, episode
        self.state_dict, self.load_state_dict = agent.state_dict, agent.load_state_dict  # traces begin at 0 in a deal
        self._weights = weights_of(agent.networks["all"])
        self._traces = no_traces(self._weights), no_traces(self._weights)
        self.play_and_learn(Round.first(0))  # compiles the kernels before the clocks start

    def play_and_learn(self, now: Round) -> dict[str, float]:
        """A round; scalars for TensorBoard.

        Raises:
            FloatingPointError: the errors are no longer finite.
        """
        games, tally, episode = np.zeros(1, GAME), np.zeros(4), EPISODES.index(self._episode)
        games["episode_stream"] = now.rng.integers(2**64, dtype=np.uint64)
        rate, traces = now.learning_rate, self._traces
        play_and_learn(games, episode, now.episodes, self._weights, traces, rate, self._td_lambda, tally)
        return means_of(tally) | {UPDATES: MOVES[self._episode] * now.episodes}
