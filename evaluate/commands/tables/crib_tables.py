"""Solves and shows the crib tables for players who discard by hand and crib."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import tyro
from rich.box import SIMPLE_HEAD
from rich.table import Table

from crib_env.cards import RANKS
from crib_env.engine import DEALER, PONE, ROLES
from crib_env.evaluate.console import console
from crib_env.evaluate.files import check_outputs
from crib_env.evaluate.progress import progress_bar
from crib_env.evaluate.ranges import Amount, Seed, Threads
from crib_env.hands import PAIR_RANKS
from crib_env.tables.crib_tables import CribTables, solve_crib_tables


def crib_tables(
    path: Annotated[Path | None, tyro.conf.Positional, tyro.conf.arg(metavar="[FILE]", help_behavior_hint="")] = None,
    draws: Amount = 40_000,
    rounds: Amount = 5,
    seed: Seed = 0,
    threads: Threads = 2,
) -> None:
    """Solves for the mean crib by the ranks discarded, when both players discard by hand and crib.

    Args:
        path: Optional file for the tables; an existing file is replaced.
        draws: Opposing hands for each pair of ranks in the last round.
        rounds: Iterations, each of which updates both tables.
        seed: Random seed of the samples.
        threads: Number of threads.
    """
    check_outputs(path)
    with progress_bar() as progress:
        task = progress.add_task("mean cribs", total=rounds * 2 * len(PAIR_RANKS))
        tables = solve_crib_tables(
            rounds=rounds,
            draws=draws,
            seed=seed,
            threads=threads,
            on_progress=lambda done: progress.update(task, advance=done),
        )
    try:
        if path is not None:
            tables.save(path)
    finally:
        print_tables(tables, draws)
    if path is not None:
        console.print(f"saved: {path}")


def print_tables(tables: CribTables, draws: int) -> None:
    """Prints both tables, solved with ``draws`` opposing hands for each pair of ranks, and their errors."""
    for role in (DEALER, PONE):
        title = f"mean points of the crib by the ranks that the {ROLES[role]} discards"
        shown = Table(title=title, box=SIMPLE_HEAD, padding=0)  # or numbers are cut
        for column in ("", *RANKS):
            shown.add_column(column, justify="right", no_wrap=True)
        for rank, row in zip(RANKS, tables.mean[role]):
            shown.add_row(rank, *(f"{mean:.2f}" for mean in row))
        console.print(shown)
    worst = np.nanmax(tables.error)
    by_pone, by_dealer = (average_crib(tables, role) for role in (PONE, DEALER))
    console.print(
        f"standard errors at most {worst:.3f} ({draws:,} opposing hands a pair); "
        f"largest change in the last round {tables.change:.3f}; "
        f"average crib {by_dealer:.3f} by the dealer's discards, {by_pone:.3f} by pone's"
    )


def average_crib(tables: CribTables, role: int) -> float:
    """The mean crib over all deals. Both players discard to the same crib, so both roles' tables must agree on it."""
    return float((np.triu(tables.share[role]) * tables.mean[role]).sum())
