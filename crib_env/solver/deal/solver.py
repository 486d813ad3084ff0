"""Solving whole deals: regrets of discards and of the play together, by discounted CFR.

The play is that of thirteen games, one for each rank of the starter. What a hand earns in them flows back to the
discards that keep it, and how often it is kept flows into the play. In the play a player forgets its own two discards;
:mod:`crib_env.solver.deal.best_response` measures what one who remembers them gains on it.
"""

from __future__ import annotations

import time

import numpy as np

from crib_env.engine import DEALER, ROLES
from crib_env.exact.deal_classes import N_CLASSES, N_DEALS, class_sizes
from crib_env.exact.discard_means import STARTERS
from crib_env.exact.discard_statistics import N_DISCARDS
from crib_env.hands import N_RANKS
from crib_env.kernels import kernel
from crib_env.solver.cfr import DISCOUNTS, discounted
from crib_env.solver.deal.best_response import DealPolicy
from crib_env.solver.deal.holdings import by_choice, hand_weights
from crib_env.solver.deal.shows import choices, crib_means
from crib_env.solver.deal.sixes import sixes
from crib_env.solver.play_game import PlayGame
from crib_env.solver.sweeps import UPDATE_REGRETS, Step, Weights

_ZERO = np.float32(0)


class DealSolver:
    """Discounted CFR with alternating updates (:class:`crib_env.solver.cfr.Discounts`) over discards and play.

    Args:
        game: the pegging game; its threads are used.

    Attributes:
        regrets: (13, S) float32 by starter, of the play; 5.6 GB.
        average: (13, S) float32, the weighted sum of all iterations' policies of the play; 5.6 GB.
        discard_regrets: (2, 962988, 15) float32 by role and class.
        discard_average: (2, 962988, 15) float32.
        iterations: the number of iterations so far.
        seconds: their duration.
    """

    def __init__(self, game: PlayGame, threads: int = 2) -> None:
        self.game, self._threads = game, threads
        self._games = [game.beside(starter) for starter in range(N_RANKS)]
        shape = N_RANKS, game.extent.slots
        self.regrets, self.average = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        of_discards = len(ROLES), N_CLASSES, N_DISCARDS
        self.discard_regrets, self.discard_average = (
            np.zeros(of_discards, np.float32),
            np.zeros(of_discards, np.float32),
        )
        self.iterations = 0
        self.seconds = 0.0

    def iterate(self) -> None:
        """One iteration: new regrets of both roles."""
        started = time.perf_counter()
        weight, *factors = map(np.float32, discounted(self.iterations, DISCOUNTS))
        for role in range(len(ROLES)):
            self._update(role, Step(role, UPDATE_REGRETS, weight, *factors))
        self.iterations += 1
        self.seconds += time.perf_counter() - started

    def _update(self, role: int, step: Step) -> None:
        kinds, of_classes = sixes(), choices()
        discards = np.empty_like(self.discard_regrets[0])
        match_regrets(self.discard_regrets[1 - role], discards)
        self.discard_average[1 - role] += step.average * discards
        chances = by_choice(discards, of_classes.choice, class_sizes(), kinds)
        play = np.zeros(len(kinds.six))
        for starter, game in enumerate(self._games):
            weights = hand_weights(chances, starter, kinds)
            game.deal((weights, weights))
            game.walk(Weights(self.regrets[starter], self.regrets[starter], self.average[starter]), step)
            means = np.nan_to_num(game.hand_means(role))
            play += (4 - kinds.counts[kinds.six, starter]) / STARTERS * means[kinds.kept]
        sign = 1 if role == DEALER else -1
        worth = (sign * crib_means(chances, kinds, self._threads) + play).astype(np.float32)
        add_regrets(of_classes, worth, np.float32(sign), step, self.discard_regrets[role])

    def policy(self) -> DealPolicy:
        """The average policy, which converges to an equilibrium."""
        discards, hands = [], []
        for average in self.discard_average:
            chances = average / average.sum(axis=1, keepdims=True)
            discards.append(by_choice(chances, choices().choice, class_sizes(), sixes()))
            hands.append(float(class_sizes() @ (chances * choices().hand).sum(axis=1).astype(float)) / N_DEALS)
        return DealPolicy((discards[0], discards[1]), (hands[0], hands[1]), lambda starter, role: self.average[starter])


@kernel
def match_regrets(regrets, chances):
    """Fills ``chances`` (N, 15) in proportion to regrets above 0, evenly where none is."""
    for n in range(len(regrets)):
        total = _ZERO
        for k in range(regrets.shape[1]):
            total += max(regrets[n, k], _ZERO)
        for k in range(regrets.shape[1]):
            chances[n, k] = max(regrets[n, k], _ZERO) / total if total > _ZERO else np.float32(1) / regrets.shape[1]


@kernel
def add_regrets(of_classes, worth, sign, step, regrets):
    """Discounts regrets (N, 15) and adds those of this iteration.

    Args:
        worth: (C,) float32, the crib, with its sign, and the play.
    """
    values = np.empty(regrets.shape[1], np.float32)
    for n in range(len(regrets)):
        total, mean = _ZERO, _ZERO
        for k in range(len(values)):
            values[k] = of_classes.hand[n, k] + sign * of_classes.suited[n, k] + worth[of_classes.choice[n, k]]
            total += max(regrets[n, k], _ZERO)
        for k in range(len(values)):
            chance = max(regrets[n, k], _ZERO) / total if total > _ZERO else np.float32(1) / len(values)
            mean += chance * values[k]
        for k in range(len(values)):
            factor = step.positive if regrets[n, k] > _ZERO else step.negative
            regrets[n, k] = regrets[n, k] * factor + values[k] - mean
