"""Finished runs in one table: their cost and their final strength."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from crib_env.evaluate.console import table_of
from crib_env.evaluate.runs.format import band_of, is_begun, is_end, read_config, read_summary, runs_in, title_of
from crib_env.evaluate.statistics import half_width

_UNKNOWN = "–"


def read_run(folder: Path) -> dict[str, str]:
    """The figures of a finished run, by column; ``ValueError`` if the folder is none."""
    config = read_config(folder)
    preset = config.settings.get("preset", "default")

    def build(summary: dict[str, Any]) -> dict[str, str]:
        figures = {"learner": config.learner if preset == "default" else f"{config.learner}, {preset}"}
        figures |= {name: f"{summary[name]:,.0f}" for name in ("episodes", "seconds")}
        scalars = summary["scalars"]
        tags = [tag for tag in scalars if not is_end(tag)]
        won = [tag for tag in tags if "win rate" in tag]
        for tag in won or tags:  # net points are shown of games that nobody wins
            low, high = (scalars[end] for end in band_of(tag))
            look, sign = (".2%", "") if won else (".2f", "+") if "net points" in tag else (".4f", "")
            column = title_of(tag).removeprefix("win rate ").replace("a game ", "")
            figures[column] = f"{scalars[tag]:{sign}{look}} ± {half_width((low, high)):{look}}"
        return figures | {"games or hands": f"{config.settings['final_games']:,}"}

    return read_summary(folder, build)


def read_runs(folders: Sequence[Path]) -> list[dict[str, str]]:
    """The figures of runs, and of all runs of a folder of several seeds; a run that cannot be read says why as ``run``.
    ``ValueError`` if none can be read."""
    rows: list[dict[str, str]] = []
    for folder in folders:
        name = folder.resolve().name
        for run in runs_in(folder) if is_begun(folder) else [folder]:
            try:
                rows.append({"run": name if run == folder else f"{name}/{run.name}"} | read_run(run))
            except ValueError as error:
                rows.append({"run": str(error)})
    if not any(len(row) > 1 for row in rows):
        raise ValueError("; ".join(row["run"] for row in rows) or "there are no runs: give the folder of one, or more")
    return rows


def runs_table(folders: Sequence[Path]) -> Table:
    """Runs with half of the 95 % intervals of their results; errors are those of :func:`read_runs`."""
    rows = read_runs(folders)
    for row in rows:
        if "learner" in row:
            row["run"] = f"{row.pop('learner')}\n{row['run']}"
    columns = list(dict.fromkeys(name for row in rows for name in row))
    table = table_of("", columns[:1], box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for column in columns[1:]:
        table.add_column(column.replace(" ", "\n"), justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*(row.get(column, _UNKNOWN) for column in columns))
    return table
