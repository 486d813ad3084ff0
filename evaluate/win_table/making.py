"""Makes a win table in rounds: each plays its deals with the table of the round before, and solves the next.

Blocks of deals are kept in a folder as they are finished, so that interrupted work goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crib_env.agents import Agent, make_agent
from crib_env.agents.registry import with_win_table
from crib_env.files.checked_file import Column, load_arrays, save_arrays
from crib_env.files.json_text import read_json, typed
from crib_env.kernels import streams
from crib_env.tables.analysis import outlook_of
from crib_env.tables.win_table import LATE, WinTable, as_from_nothing
from evaluate.files import write_json
from evaluate.folder_lock import held
from evaluate.win_table.deals import MOST_PEGS, deals_at, near_scores, points_of
from evaluate.win_table.late_deals import LATE_SCORES, LateDeals, explore_late
from evaluate.win_table.late_play import fit_late_play, fit_styles
from evaluate.win_table.plays import Plays, explore_plays, fit_plays
from evaluate.win_table.solve import PARTS, FromNothing, Played, solve_endings
from evaluate.win_table.variates import variates

NEAR = LATE
"""Deals are played at a pair of scores if one of them is at least this."""
_PLAYS = 10  # plays from 0–0 for each deal near the end: they take little time
_FEWER = 10  # where only one score is near the end, little is open: fewer deals will do, by this factor
LEAST_DEALS = _FEWER * PARTS
_BLOCK = 200  # deals kept at once
_KIND, _VERSION = "block of deals", 1


class Plan(NamedTuple):
    """What a win table is made of."""

    agent: str
    """Both players, as :func:`crib_env.agents.make_agent` reads it."""
    deals: int
    """Deals in the last round, at each pair of scores near the end."""
    rounds: int
    """Each round has a quarter of the deals of the next one. The first uses the table that ships with the package."""
    seed: int

    def sizes(self) -> list[int]:
        """Deals of each round."""
        return [max(LEAST_DEALS, self.deals // 4**later) for later in range(self.rounds - 1, -1, -1)]

    def steps(self) -> int:
        """Deals and solutions of all rounds."""
        return sum(4 * n + n // _FEWER + 1 + PARTS for n in self.sizes())


def make_win_table(
    plan: Plan, folder: Path, threads: int, on_progress: Callable[[int, str], None] = lambda done, what: None
) -> Iterator[WinTable]:
    """The win table after each round.

    Args:
        plan: what it is made of.
        folder: keeps finished blocks of deals; deals with another plan's agent or seed are refused.
        threads: how many blocks are played side by side; the tables do not depend on it.
        on_progress: called with further steps, of :meth:`Plan.steps` in all, and what they are.

    Raises:
        ValueError: the folder has deals of another plan, or a file in it is damaged.
    """
    folder.mkdir(exist_ok=True)
    with held(folder):
        _check_folder(plan, folder)
        table: Path | None = None
        for number, n in enumerate(plan.sizes(), start=1):
            round_folder = folder / f"round-{number}"
            round_folder.mkdir(exist_ok=True)
            what = f"round {number} of {plan.rounds}"

            def progressed(done: int, what: str = what) -> None:
                on_progress(done, what)

            deals = _Deals(plan, round_folder, table, threads, progressed)
            near, far = near_scores(NEAR)
            start = FromNothing(deals.played("start", n, None), deals.luck(n))
            both = Played(near, deals.played("near", n, near), start.luck)
            one = Played(far, deals.played("far", n // _FEWER, far), start.luck[: n // _FEWER])
            solved = solve_endings(start, both, one, progressed)
            known = as_from_nothing() | fit_plays(deals.plays(_PLAYS * n))._asdict()
            found, late = WinTable(plan.agent, n, *solved, **known), deals.late(n)
            found = replace(found, **fit_styles(late, outlook_of(found))._asdict())
            found = replace(found, **fit_late_play(late, outlook_of(found), threads)._asdict())
            table = folder / f"round-{number}.npz"
            found.save(table)
            yield found


def _check_folder(plan: Plan, folder: Path) -> None:
    """Makes sure that the blocks in a folder are those of the plan, and writes the plan down."""
    path = folder / "plan.json"
    if path.exists():
        fault = f"{path} is damaged: delete {folder} to play its deals again"
        found = read_json(path, fault, lambda content: typed(content, Plan))
        if found != plan:
            raise ValueError(f"{folder} has deals of {found}, not of {plan}: give another file, or delete the folder")
    write_json(path, plan._asdict())


class _Deals:
    """The deals of a round, played in blocks that are kept in its folder."""

    def __init__(
        self, plan: Plan, folder: Path, table: Path | None, threads: int, on_progress: Callable[[int], None]
    ) -> None:
        self._plan, self._folder, self._threads, self._on_progress = plan, folder, threads, on_progress
        self._agent = plan.agent if table is None else with_win_table(plan.agent, table)

    def luck(self, n: int) -> np.ndarray:
        """(n, …) of :func:`evaluate.win_table.variates.variates`."""
        seeds = streams(self._plan.seed, n)
        with ThreadPoolExecutor(self._threads) as pool:
            return np.concatenate(list(pool.map(variates, np.array_split(seeds, -(-n // _BLOCK)))))

    def played(self, kind: str, n: int, scores: np.ndarray | None) -> np.ndarray:
        """Deals played at all scores, as :func:`evaluate.win_table.deals.deals_at` has them; for ``None`` those from
        0–0, as :func:`evaluate.win_table.deals.points_of`."""
        columns = {"points": Column("i", (MOST_PEGS if scores is None else len(scores), 2))}

        def play(agent: Agent, seeds: np.ndarray) -> dict[str, np.ndarray]:
            return {"points": points_of(agent, seeds) if scores is None else deals_at(agent, seeds, scores)}

        return self._in_blocks(kind, streams(self._plan.seed, n), columns, play)["points"]

    def late(self, n: int) -> LateDeals:
        """See :func:`evaluate.win_table.late_deals.explore_late`; other deals than those of :meth:`played`."""
        at_scores = Column("i", (len(LATE_SCORES), 2))
        columns = {"roles": Column("i"), "sixes": Column("i", (6,)), "places": Column("i")}
        columns |= {"pegged": at_scores, "after": at_scores, "shown": at_scores}

        def play(agent: Agent, seeds: np.ndarray) -> dict[str, np.ndarray]:
            return explore_late(agent, seeds)._asdict()

        return LateDeals(**self._in_blocks("late", streams(self._plan.seed + 1, n), columns, play))

    def plays(self, n: int) -> Plays:
        """See :func:`evaluate.win_table.plays.explore_plays`; other deals than those of the others."""
        columns = {"roles": Column("i"), "classes": Column("i"), "points": Column("i", (2,))}

        def play(agent: Agent, seeds: np.ndarray) -> dict[str, np.ndarray]:
            return explore_plays(agent, seeds)._asdict()

        return Plays(**self._in_blocks("plays", streams(self._plan.seed + 2, n), columns, play, _PLAYS))

    def _in_blocks(
        self,
        kind: str,
        seeds: np.ndarray,
        columns: dict[str, Column],
        play: Callable[[Agent, np.ndarray], dict[str, np.ndarray]],
        times: int = 1,
    ) -> dict[str, np.ndarray]:
        """Arrays over all deals, played in blocks or read from their files; ``columns`` have the shape of one deal, and
        ``times`` as many deals as otherwise are one step, and one ``times``-th of a block."""
        size = _BLOCK * times
        blocks = [slice(start, min(start + size, len(seeds))) for start in range(0, len(seeds), size)]

        def one(block: slice) -> dict[str, np.ndarray]:
            n, path = block.stop - block.start, self._folder / f"{kind}-{block.start}-{block.stop}.npz"
            if path.exists():
                shaped = {name: column._replace(shape=(n, *column.shape)) for name, column in columns.items()}
                found = load_arrays(path, _KIND, _VERSION, shaped)
            else:
                found = play(make_agent(self._agent), seeds[block])
                save_arrays(path, _KIND, _VERSION, found)
            self._on_progress(n // times)
            return found

        with ThreadPoolExecutor(self._threads) as pool:
            parts = list(pool.map(one, blocks))
        return {name: np.concatenate([part[name] for part in parts]) for name in columns}
