"""A run of Lang's learner against its own snapshots: point spreads over 9 to 10,000 games (Lang 2018, section 4.1)."""

from __future__ import annotations

import json
from pathlib import Path

from rich.table import Table

from agents import make_agent
from agents.weights import WeightsAgent
from evaluate.console import console, progress_bar
from evaluate.series import play_series

LENGTHS = (9, 100, 1_000, 10_000)


def play_and_report(run: Path, seed: int) -> None:
    """Plays the final weights of a run against each of its winner's snapshots, and prints the spreads.

    Raises:
        ValueError: it is not the folder of a finished run of this learner.
    """
    try:
        agent = json.loads((run / "summary.json").read_text())["agent"]
    except (OSError, ValueError, KeyError, TypeError):
        raise ValueError(f"{run} is not the folder of a finished run of weights") from None
    snapshots = sorted((run / "snapshots" / f"agent-{agent}").glob("games-*.safetensors"))
    final = make_agent(str(run))
    table = Table(title=f"{run} against its snapshots, from 0–0, seed {seed}: net points")
    for column in ("games learned", *(f"{n:,} games" for n in LENGTHS), "won of 10,000", "match points of 100"):
        table.add_column(column, justify="right")
    with progress_bar() as progress:
        task = progress.add_task("series", total=len(snapshots) * LENGTHS[-1])
        for k, path in enumerate(snapshots):
            series = play_series(final, WeightsAgent.load(path), LENGTHS[-1], seed + k)
            own, other = series.match_points(100)
            table.add_row(
                f"{int(path.stem.rpartition('-')[2]):,}",
                *(f"{series.spread(n):+,}" for n in LENGTHS),
                f"{series.wins(LENGTHS[-1]):,}",
                f"{own}:{other}",
            )
            progress.update(task, advance=LENGTHS[-1])
    console.print(table)
