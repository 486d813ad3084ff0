"""The win table: how games between two of an agent end from every pair of scores, and how late deals go.

First deals are played with the shipped table, from which the table learns what discards near the end are worth. The
deals that are solved are then played by an agent that already discards by this: at 120–120 nothing else of the table
matters, so what the table says there is what its own player does. To go on from the new table, make it the shipped one.

Blocks of deals are kept in ``FILE.deals`` as they are finished, so that interrupted work goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crib_env.agents import Agent, make_agent
from crib_env.agents.registry import with_win_table
from crib_env.evaluate.command_line import AgentOption, File
from crib_env.evaluate.console import console
from crib_env.evaluate.files import check_outputs
from crib_env.evaluate.job import Job, held
from crib_env.evaluate.makers import run
from crib_env.evaluate.makers.endings import PARTS, FromNothing, Played, solve_endings, variates
from crib_env.evaluate.makers.late_play import fit_late_play, fit_plays, fit_styles
from crib_env.evaluate.makers.played_deals import (
    LATE_SCORES,
    MOST_PEGS,
    LateDeals,
    Plays,
    deals_at,
    explore_late,
    explore_plays,
    points_of,
    scores_about,
    scores_from,
)
from crib_env.evaluate.progress import advancing
from crib_env.evaluate.ranges import Amount, Seed, Threads
from crib_env.files.checked_file import Column, load_arrays, save_arrays
from crib_env.kernels import streams
from crib_env.tables.outlook import outlook_of
from crib_env.tables.shipped import LATE, WinTable, as_from_nothing, standard_win_table

NEAR, LAST = LATE, 102
"""Deals are played at a pair of scores if one of them is at least ``NEAR``; most of them where both are ``LAST``."""


class _Kind(NamedTuple):
    """How many deals there are of a kind for one at the last scores, and how many are kept at once.

    The nearer the end, the more a single deal decides. A block of each kind takes about as long as the others.
    """

    share: float
    block: int


_KINDS = {
    "start": _Kind(1, 2_000),
    "last": _Kind(1, 500),
    "near": _Kind(1 / 3, 200),
    "far": _Kind(1 / 30, 50),
    "plays": _Kind(10, 20_000),
    "late": _Kind(2 / 3, 200),
}
LEAST_DEALS = 30 * PARTS
_BLOCK, _VERSION = "block of deals", 1


@dataclass(frozen=True)
class Plan(Job):
    """What a win table is made of."""

    KIND = "win table"

    agent: str
    """Both players, as :func:`crib_env.agents.make_agent` reads it."""
    deals: int
    """At each pair of scores from ``LAST`` up."""
    seed: int

    def blocks(self, kind: str) -> list[slice]:
        """The blocks of deals of a kind."""
        n, size = round(self.deals * _KINDS[kind].share), _KINDS[kind].block
        return [slice(start, min(start + size, n)) for start in range(0, n, size)]

    def steps(self) -> int:
        """Blocks of deals and solutions."""
        return sum(len(self.blocks(kind)) for kind in _KINDS) + 1 + PARTS


def win_table(
    path: File, agent: AgentOption = "best", deals: Amount = 60_000, seed: Seed = 0, threads: Threads = 2
) -> None:
    """Computes how games end from every pair of scores, between two copies of an agent.

    Args:
        path: The file to write; an existing file is replaced.
        agent: The agent in both seats.
        deals: Number of deals at each of the last scores.
        seed: Random seed of the deals.
        threads: Number of threads.
    """
    check_outputs(path)
    if deals < LEAST_DEALS:
        raise ValueError(f"deals={deals} is not allowed: give at least {LEAST_DEALS}")
    make_agent(agent)
    plan = Plan(agent, deals, seed)
    with advancing(f"deals of {agent}", plan.steps()) as on_progress:
        made = make_win_table(plan, path.with_name(f"{path.name}.deals"), threads, on_progress)
    made.save(path)
    near = 1.96 * made.win_error[NEAR:, NEAR:]
    console.print(
        f"{path}: the dealer wins {made.win_probability[0, 0]:.2%} ± {1.96 * made.win_error[0, 0]:.2%} from 0–0; from "
        f"{NEAR}–{NEAR} up ± {near.mean():.2%} on average, ± {near.max():.2%} at most",
        soft_wrap=True,
    )


def make_win_table(
    plan: Plan, folder: Path, threads: int, on_progress: Callable[[int], None] = lambda done: None
) -> WinTable:
    """Makes a win table.

    Args:
        folder: keeps finished blocks of deals; deals with another plan's agent or seed are refused.
        threads: how many blocks are played side by side; the table does not depend on it.
        on_progress: called with further steps, of :meth:`Plan.steps` in all.

    Raises:
        ValueError: the folder has deals of another plan, or a file in it is damaged.
    """
    plan.begin_or_go_on(folder)
    with held(folder):
        explored = _Deals(plan, folder, plan.agent, threads, on_progress)
        late, known = explored.late(), fit_plays(explored.plays())
        before = replace(standard_win_table(), agent=plan.agent, deals=plan.deals, **known)
        of_discards = folder / "discards.npz"
        between = _fitted(before, late, threads)
        between.save(of_discards)

        deals = _Deals(plan, folder, with_win_table(plan.agent, of_discards), threads, on_progress)
        near = scores_from(NEAR)
        places = {"last": scores_from(LAST), "near": near[near.min(axis=1) < LAST], "far": scores_about(NEAR)}
        start = FromNothing(deals.played("start", None), deals.luck("start"))
        played = [Played(at, deals.played(kind, at), deals.luck(kind)) for kind, at in places.items()]
        return _fitted(replace(between, **solve_endings(start, played, on_progress)), late, threads)


def _fitted(table: WinTable, late: LateDeals, threads: int) -> WinTable:
    """The table with what its analysis has to know of late deals (:mod:`crib_env.evaluate.makers.late_play`)."""
    nothing: dict[str, Any] = as_from_nothing() | {"plays": table.plays, "play_errors": table.play_errors}
    bare = replace(table, **nothing)
    styled = replace(bare, **fit_styles(late, outlook_of(bare)))
    return replace(styled, **fit_late_play(late, outlook_of(styled), threads))


class _Deals:
    """Deals of an agent, played in blocks that are kept in a folder."""

    def __init__(self, plan: Plan, folder: Path, agent: str, threads: int, on_progress: Callable[[int], None]) -> None:
        self._plan, self._folder, self._agent = plan, folder, agent
        self._threads, self._on_progress = threads, on_progress

    def luck(self, kind: str) -> np.ndarray:
        """Of :meth:`played`: (n, …) of :func:`crib_env.evaluate.makers.endings.variates`."""
        blocks = self._plan.blocks(kind)
        seeds = streams(self._plan.seed, blocks[-1].stop)
        with ThreadPoolExecutor(self._threads) as pool:
            return np.concatenate(list(pool.map(lambda block: variates(seeds[block]), blocks)))

    def played(self, kind: str, scores: np.ndarray | None) -> np.ndarray:
        """Deals played at all scores, as :func:`crib_env.evaluate.makers.played_deals.deals_at` has them; for ``None``
        those from 0–0, as :func:`crib_env.evaluate.makers.played_deals.points_of`."""
        columns = {"points": Column("i", (MOST_PEGS if scores is None else len(scores), 2))}

        def play(agent: Agent, seeds: np.ndarray) -> dict[str, np.ndarray]:
            return {"points": points_of(agent, seeds) if scores is None else deals_at(agent, seeds, scores)}

        return self._in_blocks(kind, 0, columns, play)["points"]

    def late(self) -> LateDeals:
        """See :func:`crib_env.evaluate.makers.played_deals.explore_late`; its deals are not those of :meth:`played`."""
        at_scores = Column("i", (len(LATE_SCORES), 2))
        columns = {"roles": Column("i"), "sixes": Column("i", (6,)), "places": Column("i")}
        columns |= {"pegged": at_scores, "after": at_scores, "shown": at_scores}
        return LateDeals(**self._in_blocks("late", 1, columns, lambda *of: explore_late(*of)._asdict()))

    def plays(self) -> Plays:
        """See :func:`crib_env.evaluate.makers.played_deals.explore_plays`; other deals than those of the others."""
        columns = {"roles": Column("i"), "hands": Column("i"), "points": Column("i", (2,))}
        return Plays(**self._in_blocks("plays", 2, columns, lambda *of: explore_plays(*of)._asdict()))

    def _in_blocks(
        self,
        kind: str,
        seed: int,
        columns: dict[str, Column],
        play: Callable[[Agent, np.ndarray], dict[str, np.ndarray]],
    ) -> dict[str, np.ndarray]:
        """Arrays over all deals of a kind, played in blocks or read from their files; ``columns`` have the shape of one
        deal, and ``seed`` is added to the plan's."""
        blocks = self._plan.blocks(kind)
        seeds = streams(self._plan.seed + seed, blocks[-1].stop)

        def one(block: slice) -> dict[str, np.ndarray]:
            n, path = block.stop - block.start, self._folder / f"{kind}-{block.start}-{block.stop}.npz"
            if path.exists():
                shaped = {name: column._replace(shape=(n, *column.shape)) for name, column in columns.items()}
                found = load_arrays(path, _BLOCK, _VERSION, shaped)
            else:
                found = play(make_agent(self._agent), seeds[block])
                save_arrays(path, _BLOCK, _VERSION, found)
            self._on_progress(1)
            return found

        with ThreadPoolExecutor(self._threads) as pool:
            parts = list(pool.map(one, blocks))
        return {name: np.concatenate([part[name] for part in parts]) for name in columns}


if __name__ == "__main__":
    run(win_table)
