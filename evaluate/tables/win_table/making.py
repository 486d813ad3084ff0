"""Makes a win table in rounds.

Each round first plays deals with the table of the round before, from which it learns what discards near the end are
worth. The deals that are solved are then played by an agent that already discards by this: at 120–120 nothing else of
the table matters, so what the table says there is what its own player does.

Blocks of deals are kept in a folder as they are finished, so that interrupted work goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crib_env.agents import Agent, make_agent
from crib_env.agents.registry import with_win_table
from crib_env.evaluate.files import write_json
from crib_env.evaluate.folder_lock import held
from crib_env.evaluate.tables.win_table.deals import MOST_PEGS, deals_at, points_of, scores_about, scores_from
from crib_env.evaluate.tables.win_table.late_deals import LATE_SCORES, LateDeals, explore_late
from crib_env.evaluate.tables.win_table.late_play import fit_late_play, fit_styles
from crib_env.evaluate.tables.win_table.plays import Plays, explore_plays, fit_plays
from crib_env.evaluate.tables.win_table.solve import PARTS, FromNothing, Played, solve_endings
from crib_env.evaluate.tables.win_table.variates import variates
from crib_env.files.checked_file import Column, load_arrays, save_arrays
from crib_env.files.json_text import read_json, typed
from crib_env.kernels import streams
from crib_env.tables.outlook import outlook_of
from crib_env.tables.standard import standard_win_table
from crib_env.tables.win_table import LATE, WinTable, as_from_nothing

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


class Plan(NamedTuple):
    """What a win table is made of."""

    agent: str
    """Both players, as :func:`crib_env.agents.make_agent` reads it."""
    deals: int
    """Deals in the last round, at each pair of scores from ``LAST`` up."""
    rounds: int
    """Each round has a quarter of the deals of the next one. The first uses the table that ships with the package."""
    seed: int

    def sizes(self) -> list[int]:
        """Deals of each round."""
        return [max(LEAST_DEALS, self.deals // 4**later) for later in range(self.rounds - 1, -1, -1)]

    def steps(self) -> int:
        """Blocks of deals and solutions, of all rounds."""
        return sum(sum(len(_blocks(n, kind)) for kind in _KINDS) + 1 + PARTS for n in self.sizes())


def _blocks(deals: int, kind: str) -> list[slice]:
    """The blocks of a kind in a round of so many ``deals`` at the last scores."""
    n, size = round(deals * _KINDS[kind].share), _KINDS[kind].block
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def make_win_table(
    plan: Plan, folder: Path, threads: int, on_progress: Callable[[int, str], None] = lambda done, what: None
) -> Iterator[WinTable]:
    """The win table after each round.

    Args:
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
        last, near = scores_from(LAST), scores_from(NEAR)
        near = near[near.min(axis=1) < LAST]
        for number, n in enumerate(plan.sizes(), start=1):
            round_folder = folder / f"round-{number}"
            round_folder.mkdir(exist_ok=True)
            what = f"round {number} of {plan.rounds}"

            def progressed(done: int, what: str = what) -> None:
                on_progress(done, what)

            explored = _Deals(plan, n, round_folder, table, threads, progressed)
            late, known = explored.late(), fit_plays(explored.plays())
            before = standard_win_table() if table is None else WinTable.load(table)
            between = _fitted(replace(before, agent=plan.agent, deals=n, **known._asdict()), late, threads)
            table = folder / f"round-{number}-discards.npz"
            between.save(table)

            deals = _Deals(plan, n, round_folder, table, threads, progressed)
            start = FromNothing(deals.played("start", None), deals.luck("start"))
            places = {"last": last, "near": near, "far": scores_about(NEAR)}
            played = [Played(at, deals.played(kind, at), deals.luck(kind)) for kind, at in places.items()]
            solved = solve_endings(start, played, progressed)
            found = _fitted(replace(between, **solved._asdict()), late, threads)
            table = folder / f"round-{number}.npz"
            found.save(table)
            yield found


def _fitted(table: WinTable, late: LateDeals, threads: int) -> WinTable:
    """The table with what its analysis has to know of late deals
    (:mod:`crib_env.evaluate.tables.win_table.late_play`)."""
    nothing: dict[str, Any] = as_from_nothing() | {"plays": table.plays, "play_errors": table.play_errors}
    bare = replace(table, **nothing)
    styled = replace(bare, **fit_styles(late, outlook_of(bare))._asdict())
    return replace(styled, **fit_late_play(late, outlook_of(styled), threads)._asdict())


def _check_folder(plan: Plan, folder: Path) -> None:
    """Makes sure that the blocks in a folder are those of the plan, and writes the plan down."""
    path = folder / "plan.json"
    if path.exists():
        fault = f"{path} is damaged: delete {folder} to play its deals again"
        found = read_json(path, fault, lambda content: typed(content, Plan))
        if found != plan:
            raise ValueError(f"{folder} has deals of {found}, not of {plan}: give another file, or delete the folder")
    write_json(path, plan)


class _Deals:
    """The deals of a round, played in blocks that are kept in its folder."""

    def __init__(
        self, plan: Plan, n: int, folder: Path, table: Path | None, threads: int, on_progress: Callable[[int], None]
    ) -> None:
        self._plan, self._n, self._folder, self._threads, self._on_progress = plan, n, folder, threads, on_progress
        self._agent = plan.agent if table is None else with_win_table(plan.agent, table)

    def luck(self, kind: str) -> np.ndarray:
        """Of :meth:`played`: (n, …) of :func:`crib_env.evaluate.tables.win_table.variates.variates`."""
        blocks = _blocks(self._n, kind)
        seeds = streams(self._plan.seed, blocks[-1].stop)
        with ThreadPoolExecutor(self._threads) as pool:
            return np.concatenate(list(pool.map(lambda block: variates(seeds[block]), blocks)))

    def played(self, kind: str, scores: np.ndarray | None) -> np.ndarray:
        """Deals played at all scores, as :func:`crib_env.evaluate.tables.win_table.deals.deals_at` has them; for
        ``None`` those from 0–0, as :func:`crib_env.evaluate.tables.win_table.deals.points_of`."""
        columns = {"points": Column("i", (MOST_PEGS if scores is None else len(scores), 2))}

        def play(agent: Agent, seeds: np.ndarray) -> dict[str, np.ndarray]:
            return {"points": points_of(agent, seeds) if scores is None else deals_at(agent, seeds, scores)}

        return self._in_blocks(kind, 0, columns, play)["points"]

    def late(self) -> LateDeals:
        """See :func:`crib_env.evaluate.tables.win_table.late_deals.explore_late`; its deals are not those of
        :meth:`played`."""
        at_scores = Column("i", (len(LATE_SCORES), 2))
        columns = {"roles": Column("i"), "sixes": Column("i", (6,)), "places": Column("i")}
        columns |= {"pegged": at_scores, "after": at_scores, "shown": at_scores}

        def play(agent: Agent, seeds: np.ndarray) -> dict[str, np.ndarray]:
            return explore_late(agent, seeds)._asdict()

        return LateDeals(**self._in_blocks("late", 1, columns, play))

    def plays(self) -> Plays:
        """See :func:`crib_env.evaluate.tables.win_table.plays.explore_plays`; other deals than those of the others."""
        columns = {"roles": Column("i"), "hands": Column("i"), "points": Column("i", (2,))}

        def play(agent: Agent, seeds: np.ndarray) -> dict[str, np.ndarray]:
            return explore_plays(agent, seeds)._asdict()

        return Plays(**self._in_blocks("plays", 2, columns, play))

    def _in_blocks(
        self,
        kind: str,
        seed: int,
        columns: dict[str, Column],
        play: Callable[[Agent, np.ndarray], dict[str, np.ndarray]],
    ) -> dict[str, np.ndarray]:
        """Arrays over all deals of a kind, played in blocks or read from their files; ``columns`` have the shape of one
        deal, and ``seed`` is added to the plan's."""
        blocks = _blocks(self._n, kind)
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
