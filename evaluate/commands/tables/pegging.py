"""Pegging records by simulation: filled, saved, and shown for some well-known hands."""

from __future__ import annotations

import time
from typing import Annotated

import tyro
from rich.table import Table

from crib_env.cards import RANKS
from crib_env.engine import ROLES
from crib_env.evaluate.commands.arguments import File
from crib_env.evaluate.console import console
from crib_env.evaluate.files import check_outputs
from crib_env.evaluate.progress import progress_bar
from crib_env.evaluate.ranges import Range, Seed, Threads
from crib_env.hands import N_RANK_CLASSES, class_of_ranks
from crib_env.tables.pegging import GAINED, GIVEN, simulate_pegging

Policy = Annotated[str, tyro.conf.arg(metavar="POLICY")]

# By ranks, lowest first.
HANDS = ("A 4 5 J", "A 2 3 4", "2 3 7 8", "4 4 5 6", "5 5 J Q", "5 5 5 J", "6 7 8 9", "7 7 8 8", "T J Q K", "3 3 3 3")


def pegging(
    path: File,
    policy: Policy = "greedy",
    against: Policy = "greedy",
    standard_error: Annotated[float, Range(0.001, 1)] = 0.02,
    seed: Seed = 0,
    threads: Threads = 2,
) -> None:
    """Simulates the points that every four kept cards gain and concede in the play, as pone and as dealer.

    Args:
        path: The file to write; an existing file is replaced.
        policy: Policy of the kept cards: random, greedy or another native policy.
        against: Policy of the opponent's discards and play.
        standard_error: Standard error of every mean, in points; halving it takes four times as long.
        seed: Random seed of the deals.
        threads: Number of threads.
    """
    check_outputs(path)
    started = time.perf_counter()
    with progress_bar() as progress:
        task = progress.add_task(f"{policy} against {against}", total=len(ROLES) * N_RANK_CLASSES)
        records = simulate_pegging(
            policy,
            against,
            standard_error=standard_error,
            threads=threads,
            seed=seed,
            on_progress=lambda done: progress.update(task, advance=done),
        )
    seconds = time.perf_counter() - started
    table = Table(title=f"points in the play, {policy} against {against}: mean ± standard error")
    for column in ("kept", *(f"{role}: {what}" for role in ROLES for what in ("deals", "gained", "given"))):
        table.add_column(column, justify="left" if column == "kept" else "right")
    n, mean, error = records.n, records.mean, records.standard_error
    for hand in HANDS:
        kept = class_of_ranks([RANKS.index(rank) for rank in hand.split()])
        cells = [hand]
        for role in range(len(ROLES)):
            cells.append(f"{n[role, kept]:,}")
            for side in (GAINED, GIVEN):
                cells.append(f"{mean[role, kept, side]:.2f} ± {error[role, kept, side]:.3f}")
        table.add_row(*cells)
    try:
        records.save(path)
    finally:
        console.print(table)
    console.print(
        f"{path}: {n.sum():,} deals, largest standard error {error.max():.4f}, "
        f"{path.stat().st_size:,} bytes, {seconds:.1f} s"
    )
