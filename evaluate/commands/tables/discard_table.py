"""The whole table of discards, and the means of O'Connor's discard game that follow from it."""

from __future__ import annotations

import time

from rich.table import Table

from crib_env.evaluate.commands.arguments import File
from crib_env.evaluate.console import console
from crib_env.evaluate.files import check_outputs
from crib_env.evaluate.progress import progress_bar
from crib_env.evaluate.ranges import Threads
from crib_env.exact.deal_classes import N_CLASSES, N_DEALS
from crib_env.exact.discard_game_means import discard_game_means
from crib_env.exact.discard_table import DiscardTable, build_table


def discard_table(path: File, threads: Threads = 2) -> None:
    """Computes the exact statistics of all 20,358,520 deals, and from them the means of the discard game.

    Args:
        path: The file to write, 173 MB; an existing file is replaced.
        threads: Number of threads.
    """
    check_outputs(path)
    started = time.perf_counter()
    with progress_bar() as progress:
        task = progress.add_task("classes of deals", total=N_CLASSES)
        build_table(path, threads, lambda done: progress.update(task, advance=done))
    seconds = time.perf_counter() - started
    table = DiscardTable(path)
    console.print(f"{path}: {N_DEALS:,} deals in {N_CLASSES:,} classes, {path.stat().st_size:,} bytes, {seconds:.1f} s")
    shown = Table(title="the discard game: points a hand, exact over all deals and starters")
    for column in ("player", "mean", "numerator", "denominator"):
        shown.add_column(column, justify="left" if column == "player" else "right")
    for player, mean in discard_game_means(table, threads).items():
        shown.add_row(player, f"{float(mean):.6f}", f"{mean.numerator:,}", f"{mean.denominator:,}")
    console.print(shown)
