"""The crib tables of purposeful discards, solved and shown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.table import Table

from crib_env.cards import RANKS
from crib_env.exact.crib_tables import PAIRS, CribTables, solve_crib_tables
from evaluate.console import console, progress_bar

_PLAYERS = ("dealer", "pone")


def solve_and_report(draws: int, rounds: int, seed: int, threads: int, path: Path | None) -> None:
    """Solves with a progress bar, prints both tables, and saves them if a file is given."""
    with progress_bar() as progress:
        task = progress.add_task("mean cribs", total=rounds * 2 * len(PAIRS))
        tables = solve_crib_tables(
            rounds=rounds,
            draws=draws,
            seed=seed,
            threads=threads,
            on_progress=lambda done: progress.update(task, advance=done),
        )
    for player, name in enumerate(_PLAYERS):
        shown = Table(title=f"mean points of the crib by the ranks that the {name} throws")
        for column in ("", *RANKS):
            shown.add_column(column, justify="right")
        for rank, row in zip(RANKS, tables.mean[player]):
            shown.add_row(rank, *(f"{mean:.2f}" for mean in row))
        console.print(shown)
    worst = np.nanmax(tables.error)
    console.print(
        f"standard errors at most {worst:.3f} ({draws:,} opposing hands a pair); "
        f"largest change in the last round {tables.change:.3f}; "
        f"average crib {average_crib(tables, 0):.3f} by the dealer's discards, {average_crib(tables, 1):.3f} by pone's"
    )
    if path is not None:
        tables.save(path)
        console.print(f"saved: {path}")


def average_crib(tables: CribTables, player: int) -> float:
    """The mean crib over all deals: it is one crib, so that both players' tables must give the same."""
    return float((np.triu(tables.share[player]) * tables.mean[player]).sum())
