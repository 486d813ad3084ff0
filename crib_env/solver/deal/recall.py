"""Solving the play of whole deals again, for players who remember something of their own discards.

:mod:`crib_env.solver.deal.solver` finds discards and a play that forgets them. Here the discards stay as they are. In
the play beside each starter, a player knows to which of two groups its own discards belong
(:mod:`crib_env.solver.deal.groups`). So there are two policies of each role, and the opponent meets one of them without
knowing which. One thing is approximate: beside each of its own hands, a player takes the opponent's two policies to be
as likely as they are over all of its own hands, given what the opponent holds.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crib_env.engine import ROLES
from crib_env.hands import N_FOURS, N_RANKS
from crib_env.solver.cfr import AlternatingSolver
from crib_env.solver.deal.best_response import DealPolicy, to_chances
from crib_env.solver.deal.groups import N_GROUPS
from crib_env.solver.deal.holdings import kept, meetings
from crib_env.solver.deal.saved import load_discards, load_play, recall_file, save_recall
from crib_env.solver.deal.solver import pairs_of
from crib_env.solver.play_game import PlayGame
from crib_env.solver.sweeps import Blend, Blended, Step, Weights

_NOTHING = np.zeros(0, np.float32)
_HALF = np.float32(0.5)


class Held(NamedTuple):
    """What the roles hold beside one starter, by role and then by group of discards."""

    prior: np.ndarray
    """(2, 2, 1820) how often each hand is kept."""
    pairs: np.ndarray
    """(2, 2, 1820, 1820) float32, as :meth:`crib_env.solver.play_game.PlayGame.hand_values` takes them."""


def held_beside(chances: tuple[np.ndarray, np.ndarray], groups: np.ndarray, threads: int = 2) -> list[Held]:
    """What the roles hold beside each of thirteen starters.

    Args:
        chances: (C,) by role, of :func:`crib_env.solver.deal.holdings.by_choice`.
        groups: (2, 13, C) int8 by role and starter.
    """
    of_groups = [[groups[role] == group for group in range(N_GROUPS)] for role in range(len(ROLES))]
    prior = np.zeros((N_RANKS, len(ROLES), N_GROUPS, N_FOURS))
    for starter, role, group in np.ndindex(prior.shape[:3]):
        prior[starter, role, group] = kept(chances[role] * of_groups[role][group][starter], starter)
    pairs = np.zeros((N_RANKS, len(ROLES), N_GROUPS, N_FOURS, N_FOURS), np.float32)
    for role in range(len(ROLES)):
        for group, counted in enumerate(of_groups[role]):
            met = meetings(chances[role], chances[1 - role], counted, threads)
            for starter in range(N_RANKS):
                pairs[starter, role, group] = pairs_of(met[starter], prior[starter, 1 - role].sum(axis=0))
    return [Held(*both) for both in zip(prior, pairs)]


def solve_again(
    game: PlayGame,
    state: Path,
    policy: DealPolicy,
    iterations: int,
    threads: int = 2,
    on_progress: Callable[[int], None] = lambda iterations: None,
) -> None:
    """Solves the play beside each starter again, unless that has been done.

    Args:
        state: of ``solve deal``, with the regrets to begin with; the play goes there (:func:`save_recall`).
        policy: has the discards and their groups.
        iterations: beside each starter.
        on_progress: called with the number of further iterations.
    """
    before = int(load_discards(state)["iterations"])
    for starter, held in enumerate(held_beside(policy.discards, policy.groups, threads)):
        file = recall_file(state, iterations, starter)
        if file.exists():
            on_progress(iterations)
            continue
        regrets = load_play(state, starter, game.extent.slots)["regrets"]
        solver = RecallSolver(game, held, regrets, before)
        for _ in range(iterations):
            solver.iterate()
            on_progress(1)
        for of_group in solver.average:
            for role in range(len(ROLES)):
                to_chances(game, of_group, role, threads)
        save_recall(file, solver.average)


class RecallSolver(AlternatingSolver):
    """Solves the play beside a starter for players who remember the group of their discards.

    Args:
        game: the pegging game; its threads are used.
        regrets: (S,) of players who forget them, from which it goes on.
        iterations: how many these have behind them.

    Attributes:
        regrets: (2, S) float32 by group.
        average: (2, S) float32 by group, the weighted sum of the policies of all iterations from here on.
    """

    def __init__(self, game: PlayGame, held: Held, regrets: np.ndarray, iterations: int) -> None:
        self._game, self._held = game, held
        self.regrets = np.array([regrets] * N_GROUPS)
        self.average = np.zeros_like(self.regrets)
        self._met = np.zeros_like(regrets)
        self.iterations = iterations

    def _update(self, step: Step) -> None:
        role, other = step.role, 1 - step.role
        prior = self._held.prior
        one, two = self.regrets
        into = Blended(self._met, tuple(self.average), step.average)
        self._game.blend(Blend(one, _HALF, two), other, into, (list(prior[:, 0]), list(prior[:, 1])))
        for regrets, pairs in zip(self.regrets, self._held.pairs[role]):
            weights = Weights(regrets, self._met, _NOTHING)
            self._game.hand_values(weights, step._replace(average=np.float32(0)), list(prior.sum(axis=1)), pairs)
