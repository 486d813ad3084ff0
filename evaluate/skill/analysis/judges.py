"""Judges of the play, which value the choices of a decision; any of them can be exchanged for another."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from queue import Empty, SimpleQueue
from typing import Literal, NamedTuple, Protocol

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.choosing import six_dealt
from crib_env.agents.equilibrium import N_CARDS, EquilibriumAgent
from crib_env.agents.expert import ExpertAgent
from crib_env.tables.outlook import discard_points

_ITERATIONS = 20  # of the solution of the rest of a play


class Worth(NamedTuple):
    """The values of the choices of B decisions to the player; -inf for choices that are not allowed."""

    chances: np.ndarray
    """(B, C) chances to win the game."""
    points: np.ndarray
    """(B, C) net points of the deal, up to a constant of the position, by a player who maximises points."""


def discard_worth(analyst: ExpertAgent, views: PlayerViews) -> Worth:
    """The values (B, 15) of the discards of B positions, in the order of
    :data:`crib_env.exact.discard_statistics.PLACES`, by the exact analysis."""
    return Worth(analyst.discard_values(views), discard_points(six_dealt(views), views.is_dealer))


class PlayJudge(Protocol):
    """A judge of the play: it sees what the player sees, and values each rank."""

    name: str

    def worth(self, views: PlayerViews) -> Worth:
        """The values of the thirteen ranks in B positions of the play."""
        ...


class ExpertJudge:
    """The play as ``expert`` searches it, over so many hands at most that the opponent may hold."""

    def __init__(self, hands: int = 100, threads: int = 2) -> None:
        self._hands, self._threads = hands, threads
        self.name = f"expert:hands={hands}"

    @cached_property
    def _expert(self) -> ExpertAgent:
        return ExpertAgent(self._hands, self._threads)  # it reads large tables

    def worth(self, views: PlayerViews) -> Worth:
        """See :class:`PlayJudge`."""
        return Worth(self._expert.rank_values(views), self._expert.rank_points(views))


class SolvedJudge:
    """The play by the solution of what follows, with the chance to win as the stakes
    (:meth:`crib_env.agents.equilibrium.EquilibriumAgent.rank_values`); as ``expert`` searches it until three cards are
    laid, and where players of the solution would not have come. Points are those of ``expert``."""

    def __init__(self, threads: int = 2) -> None:
        self._searched, self._threads = ExpertJudge(threads=threads), threads
        self._solvers: SimpleQueue[EquilibriumAgent] = SimpleQueue()  # those that no thread is using
        self.name = f"equilibrium:iterations={_ITERATIONS}"

    def worth(self, views: PlayerViews) -> Worth:
        """See :class:`PlayJudge`."""
        worth = self._searched.worth(views)
        is_choice = np.isfinite(worth.points).sum(axis=1) > 1  # the tree of the solution ends where none is left
        late = np.flatnonzero(is_choice & (views.laid[:, N_CARDS - 1] >= 0))
        if len(late):
            parts = [part for part in np.array_split(late, self._threads) if len(part)]
            with ThreadPoolExecutor(self._threads) as pool:
                values = np.concatenate(list(pool.map(lambda part: self._solved(views[part]), parts)))
            known = ~np.isnan(values).any(axis=1)
            worth.chances[late[known]] = values[known]
        return worth

    def _solved(self, views: PlayerViews) -> np.ndarray:
        try:
            solver = self._solvers.get_nowait()
        except Empty:
            solver = EquilibriumAgent(_ITERATIONS)
        try:
            return solver.rank_values(views)
        finally:
            self._solvers.put(solver)


JudgeName = Literal["solution", "expert"]
"""The judges of the play. The solution is nearer to what games come to (docs/evaluate/exact-values.md), and takes
twelve times as long."""


def play_judge(name: JudgeName = "solution", threads: int = 2) -> PlayJudge:
    """One of the judges of the play."""
    return SolvedJudge(threads=threads) if name == "solution" else ExpertJudge(threads=threads)
