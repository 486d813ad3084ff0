"""A run of Lang's learner against its own snapshots: point spreads over 9 to 10,000 games (Lang 2018, section 4.1)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro
from rich.table import Table

from crib_env.agents import make_agent
from crib_env.agents.strategy_weights import StrategyWeightsAgent
from crib_env.evaluate.console import console
from crib_env.evaluate.matches.series import play_series
from crib_env.evaluate.progress import progress_bar
from crib_env.evaluate.ranges import Seed
from crib_env.evaluate.runs.format import SUMMARY, snapshots_of
from crib_env.files.json_text import read_json, typed

LENGTHS = (9, 100, 1_000, 10_000)


def lang_tournament(run: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")], seed: Seed = 0) -> None:
    """Plays a run of Lang's learner against its own snapshots: point spreads over 9, 100, 1,000 and 10,000 games.

    Args:
        run: The folder of a finished run of `python -m train strategy-weights`.
        seed: Random seed of the deals.
    """
    agent = read_json(
        run / SUMMARY,
        f"{run} is not the folder of a finished run of strategy-weights",
        lambda content: typed(content["agent"], int),
    )
    snapshots = snapshots_of(run, agent)
    final = make_agent(str(run))
    table = Table(title=f"{run} against its snapshots, from 0–0, seed {seed}: net points")
    for column in ("games learned", *(f"{n:,} games" for n in LENGTHS), "won of 10,000", "match points of 100"):
        table.add_column(column, justify="right")
    with progress_bar() as progress:
        task = progress.add_task("series", total=len(snapshots) * LENGTHS[-1])
        for k, path in enumerate(snapshots):
            series = play_series(final, StrategyWeightsAgent.load(path), LENGTHS[-1], seed + k)
            own, other = series.match_points(100)
            table.add_row(
                f"{int(path.stem.rpartition('-')[2]):,}",
                *(f"{series.spread(n):+,}" for n in LENGTHS),
                f"{series.wins(LENGTHS[-1]):,}",
                f"{own}:{other}",
            )
            progress.update(task, advance=LENGTHS[-1])
    console.print(table)
