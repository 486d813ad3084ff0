"""Pegging records by simulation: filled, saved, and shown for some hands that people know."""

from __future__ import annotations

import time
from pathlib import Path

from rich.table import Table

from crib_env.cards import RANKS
from crib_env.exact.pegging import GAINED, GIVEN, ROLES, simulate_pegging
from crib_env.exact.rank_classes import N_RANK_CLASSES, rank_class_of_ranks
from evaluate.console import console, progress_bar

# By ranks, lowest first.
HANDS = ("A 4 5 J", "A 2 3 4", "2 3 7 8", "4 4 5 6", "5 5 J Q", "5 5 5 J", "6 7 8 9", "7 7 8 8", "T J Q K", "3 3 3 3")


def simulate_and_report(policy: str, against: str, standard_error: float, seed: int, threads: int, path: Path) -> None:
    """Simulates with a progress bar, saves, and prints what the named hands gain and give."""
    started = time.perf_counter()
    with progress_bar() as progress:
        task = progress.add_task("compiling, some seconds the first time", total=len(ROLES) * N_RANK_CLASSES)
        records = simulate_pegging(
            policy,
            against,
            standard_error=standard_error,
            threads=threads,
            seed=seed,
            on_progress=lambda done: progress.update(task, advance=done, description=f"{policy} against {against}"),
        )
    seconds = time.perf_counter() - started
    records.save(path)
    table = Table(title=f"points in the play, {policy} against {against}: mean ± standard error")
    for column in ("kept", *(f"{role}: {what}" for role in ROLES for what in ("deals", "gained", "given"))):
        table.add_column(column, justify="left" if column == "kept" else "right")
    n, mean, error = records.n, records.mean, records.standard_error
    for hand in HANDS:
        kept = rank_class_of_ranks(*(RANKS.index(rank) for rank in hand.split()))
        cells = [hand]
        for role in range(len(ROLES)):
            cells.append(f"{n[role, kept]:,}")
            for side in (GAINED, GIVEN):
                cells.append(f"{mean[role, kept, side]:.2f} ± {error[role, kept, side]:.3f}")
        table.add_row(*cells)
    console.print(table)
    console.print(
        f"{path}: {n.sum():,} deals, largest standard error {error.max():.4f}, "
        f"{path.stat().st_size:,} bytes, {seconds:.1f} s"
    )
