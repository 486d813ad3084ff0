"""O'Connor's discard game (2000, "Problem" and "Discussion"): a network learns the value of four cards in the show.

Six cards are dealt. The player keeps the four with the highest predicted value, and they score with the starter.
An episode has one move, so there is nothing to bootstrap from.

``--preset paper`` is O'Connor's: 52 bits for the cards kept, one hidden layer of 20 sigmoids (``--hidden 40`` for his
other network), a linear output, and after every hand a step of rate 0.01 towards its points with a random
starter. The paper does not give the number of hands, here 1,000,000, nor the initial weights; here they come, as in his
full game, from a Gaussian of standard deviation 1.

The default learns from exact values: all fifteen ways to keep four, each towards its mean over the 46 starters, in
batches with Adam.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import nn

from crib_env.agents.networks.feed_forward import ValueNetwork
from crib_env.agents.networks.td import gaussian_weights
from crib_env.agents.networks.weights_file import save_tensors
from crib_env.engine import GAME, shuffle
from crib_env.evaluate.runs.format import POINTS_A_HAND, with_band
from crib_env.evaluate.statistics import mean_interval
from crib_env.exact.discard_means import EXACT_MEANS, STARTERS, hand_total
from crib_env.exact.discard_statistics import PLACES
from crib_env.kernels import bit, kernel, mask_of
from crib_env.observation import N_ACTIONS
from crib_env.scoring import show_points
from crib_env.train.loop.run import Round
from crib_env.train.loop.settings import Count, Hands, LearningSettings, NotNegative, Widths, one_width
from crib_env.train.loop.strength import Measure, OnProgress
from crib_env.train.shared.gradients import Descent, Parts, batches_of, mean_of_steps, precision
from crib_env.train.td import learn_from_move, means_of, no_traces, value, weights_of

_IDEAL = float(EXACT_MEANS["ideal"])
_AT_ONCE = 2_000  # hands


@dataclass(frozen=True)
class DiscardGameSettings(LearningSettings):
    """Settings of the discard game."""

    preset: Literal["default", "paper"] = "default"
    """Defaults of the other settings: the best found, or O'Connor's."""
    values: Literal["exact", "sampled"] = "exact"
    """Training targets: exact means of all fifteen keeps, for hidden layers of ReLUs; or the score of the keep with one
    sampled starter, for sigmoids."""
    hidden: Widths = (256, 256)
    """Widths of the hidden layers; sampled values need exactly one."""
    episodes: Count = 300_000
    """Hands to deal."""
    episodes_at_once: Count = 1_024
    """Hands in a round."""
    batch_size: Count = 256
    """Sets of four cards in a gradient step; for exact values."""
    learning_rate: NotNegative = 2e-3
    """Initial learning rate, of Adam (exact values) or of each hand's update (sampled values)."""
    evaluation_games: Hands = 10_000
    """Hands in a measurement during training."""
    final_games: Hands = 200_000
    """Hands in the measurement after training."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.values == "sampled":
            one_width(self.hidden, "values='sampled'")


PRESETS = {
    "default": DiscardGameSettings(),
    "paper": DiscardGameSettings(
        preset="paper",
        precision="float32",  # that of sampled values
        values="sampled",
        hidden=(20,),
        episodes=1_000_000,
        learning_rate=0.01,
        final_learning_rate=0.01,
    ),
}


KEPT = np.array([[k for k in range(6) if k not in pair] for pair in PLACES])  # (15, 4) places, by discard


def kept_of(hands: np.ndarray) -> np.ndarray:
    """The four cards left by each discard of hands (N, 6): (15 N, 52) int8, fifteen in a row for each hand."""
    states = np.zeros((len(hands), len(KEPT), N_ACTIONS), np.int8)
    np.put_along_axis(states, hands[:, KEPT], 1, axis=2)
    return states.reshape(-1, N_ACTIONS)


class DiscardPlayer:
    """Discards the two cards that leave the four with the highest value, by a network with this activation."""

    name = "discard-game"

    def __init__(self, activation: type[nn.Module], hidden: tuple[int, ...]) -> None:
        self.network = ValueNetwork(N_ACTIONS, hidden, activation)
        kind = activation.__name__.lower()
        self._about: dict[str, Any] = {"learner": self.name, "activation": kind, "hidden": list(hidden)}

    def save(self, path: Path) -> None:
        """Writes the weights, whole or not at all."""
        save_tensors(path, self.network.state_dict(), self._about)

    @torch.no_grad()
    def discards(self, hands: np.ndarray) -> np.ndarray:
        """The discard of each of N hands of six sorted ids: (N,) numbers from 0 to 14, pairs in the order of ids."""
        values = self.network(torch.from_numpy(kept_of(hands)).float())
        return values.view(-1, 15).argmax(dim=1).numpy()


@kernel
def _deal(games, hands):
    for n in range(len(hands)):
        shuffle(games[0])
        hands[n] = games[0]["cards"][:6]


def random_hands(rng: np.random.Generator, n: int) -> np.ndarray:
    """Six random cards for each of ``n`` hands, (n, 6) int64, sorted."""
    games, hands = np.zeros(1, GAME), np.empty((n, 6), np.int64)
    games["deal_stream"] = rng.integers(2**64, dtype=np.uint64)
    _deal(games, hands)
    return np.sort(hands, axis=1)


@kernel
def _fill_hand_totals(hands, out):
    for n in range(len(hands)):
        six = mask_of(hands[n])
        for k in range(len(PLACES)):
            out[n, k] = hand_total(six ^ bit(hands[n, PLACES[k, 0]]) ^ bit(hands[n, PLACES[k, 1]]), six)


def hand_totals(hands: np.ndarray) -> np.ndarray:
    """Points of the kept four over all 46 starters, for every discard of hands (N, 6): (N, 15) int64, ordered by id."""
    out = np.empty((len(hands), len(PLACES)), np.int64)
    _fill_hand_totals(hands, out)
    return out


def measure(agent: DiscardPlayer, games: int, seed: int, on_progress: OnProgress) -> dict[str, float]:
    """A player's mean points a hand, by its average loss to the best discard over so many random hands.

    The loss, by exact means, is subtracted from the mean of the best player over all deals
    (:data:`crib_env.exact.discard_means.EXACT_MEANS`). This removes the luck of deals and starters, and the interval is
    that of the loss alone.
    """
    rng, short = np.random.default_rng(seed), np.empty(games)
    for first in range(0, games, _AT_ONCE):
        hands = random_hands(rng, min(_AT_ONCE, games - first))
        totals, each = hand_totals(hands), np.arange(len(hands))
        short[first : first + len(hands)] = (totals.max(axis=1) - totals[each, agent.discards(hands)]) / STARTERS
        on_progress(len(hands))
    low, high = mean_interval(short)
    return with_band(POINTS_A_HAND, _IDEAL - float(short.mean()), _IDEAL - high, _IDEAL - low)


STRENGTH = Measure([POINTS_A_HAND], measure, opponents=1)


@kernel
def _play_and_learn(games, n, weights, trace, rate, tally):
    """Deals ``n`` hands, keeps the best four of each and learns their points, as ``td.play_and_learn`` does."""
    g = games[0]
    states = np.empty((len(KEPT), N_ACTIONS), np.int8)
    nodes = np.empty(len(weights.hidden_bias), np.float32)
    for _ in range(n):
        shuffle(g)
        best, best_value = 0, -np.inf
        for k in range(len(KEPT)):
            states[k] = 0
            for place in KEPT[k]:
                states[k, g["cards"][place]] = 1
            worth = value(weights, states[k], nodes)
            if worth > best_value:
                best, best_value = k, worth
        points = show_points(mask_of(np.flatnonzero(states[best])), np.int64(g["cards"][12]), False)
        learn_from_move(weights, trace, states[best], np.float64(points), nodes, rate, 0.0, tally)


class DiscardGame(Parts):
    """O'Connor's network in training, of one hidden layer of sigmoids, or a network that learns exact values."""

    Settings, PRESETS, STRENGTH = DiscardGameSettings, PRESETS, STRENGTH

    def __init__(self, settings: DiscardGameSettings) -> None:
        self._settings, is_sampled = settings, settings.values == "sampled"
        self.agent = DiscardPlayer(nn.Sigmoid if is_sampled else nn.ReLU, settings.hidden)
        if is_sampled:
            gaussian_weights(self.agent.network)
            self._weights = weights_of(self.agent.network)
            self._trace = no_traces(self._weights)
            super().__init__(network=self.agent.network)
            self.play_and_learn(Round.first(0))  # compiles the kernels before the clocks start
        else:
            self.descent = Descent(self.agent.network, "the network")
            super().__init__(network=self.agent.network, adam=self.descent)
            hand_totals(random_hands(np.random.default_rng(0), 1))  # as above

    def play_and_learn(self, now: Round) -> dict[str, float]:
        """Deals the hands of a round, and learns one way to keep four of each, or all fifteen; scalars for
        TensorBoard."""
        if self._settings.values == "sampled":
            games, tally = np.zeros(1, GAME), np.zeros(4)
            games["deal_stream"] = now.rng.integers(2**64, dtype=np.uint64)
            _play_and_learn(games, now.episodes, self._weights, self._trace, now.learning_rate, tally)
            return means_of(tally)
        hands = random_hands(now.rng, now.episodes)
        states, means = kept_of(hands), (hand_totals(hands).ravel() / STARTERS).astype(np.float32)
        batches = batches_of(now.rng.permutation(len(states)), self._settings.batch_size)
        steps = [self.update(states[batch], means[batch], now.learning_rate) for batch in batches]
        return mean_of_steps({"all": steps})

    def update(self, states: np.ndarray, means: np.ndarray, rate: float) -> dict[str, float]:
        """One gradient step towards the means (B,) float32 of four cards each, (B, 52); its scalars."""
        with precision(self._settings.precision):
            values = self.agent.network(torch.from_numpy(states).float())
            loss = (values - torch.from_numpy(means)).square().mean()
        norm = self.descent.step(loss, rate)
        return {"loss": loss.item(), "gradient norm": norm, "mean value": values.mean().item()}
