"""Finished runs in one table: what they took, how fast they were, and how strong they have become."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich import box
from rich.table import Table

from evaluate.console import console
from evaluate.files import markdown_table, whole_file
from evaluate.statistics import half_width

_POINTS = "points a hand"
_UNKNOWN = "–"
_CAPTION = "a run: strength ± half of its 95 % interval; several seeds: mean ± standard deviation"


class Run(NamedTuple):
    """A finished run: its name in the table, its learner and settings, and what its ``summary.json`` holds."""

    name: str
    learner: str
    settings: dict[str, Any]
    summary: dict[str, Any]

    @property
    def title(self) -> str:
        """The learner, and the preset unless it is the default."""
        preset = self.settings.get("preset", "default")
        return self.learner if preset == "default" else f"{self.learner}, {preset}"

    @property
    def updates_per_second(self) -> float | None:
        """Updates of all networks, see ``train.checkpoint.Position``; ``None`` if the summary says nothing of them."""
        updates = self.summary.get("updates")
        if updates is None:
            return None
        return (sum(updates.values()) if isinstance(updates, dict) else updates) / self.summary["seconds"]

    @property
    def strength(self) -> dict[str, tuple[float, float]]:
        """Win rates against the baselines, or points a hand of the discard game, and half of their 95 % intervals."""
        found = self.summary["strength"]
        if "hands" in found:
            return {_POINTS: (found["mean"], half_width(found["interval"]))}
        return {f"against {name}": (one["win_rate"], half_width(one["interval"])) for name, one in found.items()}

    @property
    def games(self) -> int:
        """Games against each baseline, or hands."""
        found = self.summary["strength"]
        return found["hands"] if "hands" in found else next(iter(found.values()))["games"]


class Column(NamedTuple):
    """A figure that every run has."""

    header: str
    form: str
    of: Callable[[Run], float | None]


_COLUMNS = (
    Column("episodes", "{:,.0f}", lambda run: run.summary["episodes"]),
    Column("seconds", "{:,.0f}", lambda run: run.summary["seconds"]),
    Column("episodes a second", "{:,.0f}", lambda run: run.summary["episodes_per_second"]),
    Column("updates a second", "{:,.0f}", lambda run: run.updates_per_second),
    Column("in simulation", "{:.1%}", lambda run: run.summary["simulation_share"]),
)


def read_config(folder: Path) -> tuple[str, dict[str, Any]]:
    """The learner of a run and its settings.

    Raises:
        ValueError: it is not the folder of a run.
    """
    try:
        config = json.loads((folder / "config.json").read_text())
        return str(config["learner"]), dict(config["settings"])
    except (OSError, ValueError, KeyError, TypeError):
        raise ValueError(f"{folder} is not the folder of a run: it has no readable config.json") from None


def read_runs(folder: Path) -> list[Run]:
    """The run of a folder, or those of a folder of several seeds.

    Raises:
        ValueError: it is not the folder of a run, or a run is not finished.
    """
    learner, settings = read_config(folder)
    name = folder.resolve().name
    if "seeds" in settings:
        seeds = range(settings["seed"], settings["seed"] + settings["seeds"])
        runs = [run for seed in seeds for run in read_runs(folder / f"seed-{seed}")]
        return [run._replace(name=f"{name}/{run.name}") for run in runs]
    summary = folder / "summary.json"
    if not summary.is_file():
        raise ValueError(f"{folder} is a run that is not finished: it has no summary.json")
    try:
        run = Run(name, learner, settings, json.loads(summary.read_text()))
        _row(run, tuple(run.strength))  # asks for all that the table will
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(f"{summary} is not the summary of a run") from None
    return [run]


def rows_of(runs: Sequence[Run]) -> tuple[list[str], list[list[str]]]:
    """Header and rows: runs that differ in their seeds alone stand together, with their mean and spread below."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        alike = json.dumps([run.learner, {**run.settings, "seed": None}], sort_keys=True)
        groups.setdefault(alike, []).append(run)
    measures = tuple(dict.fromkeys(measure for run in runs for measure in run.strength))
    rows = []
    for group in groups.values():
        rows += [_row(run, measures) for run in group]
        if len({run.settings["seed"] for run in group}) == len(group) > 1:
            rows.append(_spread(group, measures))
    return ["learner", "run", *(column.header for column in _COLUMNS), *measures, "games or hands"], rows


def _row(run: Run, measures: Sequence[str]) -> list[str]:
    figures = [(column.form, column.of(run)) for column in _COLUMNS]
    cells = [_UNKNOWN if value is None else form.format(value) for form, value in figures]
    strength = [_both(measure, run.strength.get(measure)) for measure in measures]
    return [run.title, run.name, *cells, *strength, f"{run.games:,}"]


def _spread(group: Sequence[Run], measures: Sequence[str]) -> list[str]:
    """A row of means and standard deviations; what one of the runs does not say is left open."""

    def of(values: list[float | None]) -> tuple[float, float] | None:
        known = [value for value in values if value is not None]
        return (float(np.mean(known)), float(np.std(known, ddof=1))) if len(known) == len(group) else None

    cells = []
    for column in _COLUMNS:
        both = of([column.of(run) for run in group])
        cells.append(_UNKNOWN if both is None else f"{column.form} ± {column.form}".format(*both))
    strength = [_both(measure, of([run.strength.get(measure, (None,))[0] for run in group])) for measure in measures]
    return [group[0].title, f"{len(group)} seeds", *cells, *strength, ""]


def _both(measure: str, values: tuple[float, float] | None) -> str:
    """A strength and how uncertain it is."""
    form = "{:.4f} ± {:.4f}" if measure == _POINTS else "{:.2%} ± {:.2%}"
    return _UNKNOWN if values is None else form.format(*values)


def _stacked(cell: str) -> str:
    """Words below each other, each with the numbers after it: so many columns find no room otherwise."""
    return re.sub(r" (?!\d)", "\n", cell)


def read_and_report(folders: Sequence[Path], markdown: Path | None) -> None:
    """Reads runs, prints the table, and writes it to a Markdown file if one is given.

    Raises:
        ValueError: there is no run, or a folder is not that of a finished one; the message names it.
    """
    if not folders:
        raise ValueError("there are no runs: give the folder of one, or of several")
    header, rows = rows_of([run for folder in folders for run in read_runs(folder)])
    table = Table(box=box.SIMPLE_HEAD, padding=0, caption=_CAPTION)
    for column in header:
        table.add_column(_stacked(column), justify="left" if column in ("learner", "run") else "right", no_wrap=True)
    for row in rows:
        table.add_row(*map(_stacked, row))
    console.print(table)
    if markdown is not None:
        with whole_file(markdown) as file:
            file.write(f"{markdown_table(header, rows)}\n{_CAPTION}\n")
