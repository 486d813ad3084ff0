"""Finished runs in one table: their cost, speed and final strength."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich import box
from rich.table import Table

from crib_env.evaluate.runs.format import RunConfig, but_for_the_seed, read_config, read_summary, runs_in
from crib_env.evaluate.statistics import half_width

_POINTS, _NET = "points a hand", "net points against "
_UNKNOWN = "–"
CAPTION = "a run: ± half of the 95 % interval; several seeds: mean ± standard deviation"


class Run(NamedTuple):
    """A finished run: its name in the table, its learner and settings, and the content of its ``summary.json``; or why
    that cannot be read."""

    name: str
    learner: str
    settings: dict[str, Any]
    summary: dict[str, Any]
    fault: str = ""

    @property
    def title(self) -> str:
        """The learner, and the preset unless it is the default."""
        preset = self.settings.get("preset", "default")
        return self.learner if preset == "default" else f"{self.learner}, {preset}"

    @property
    def updates_per_second(self) -> float | None:
        """Updates of all networks (``crib_env.train.loop.run_folder.Position``), ``None`` if the summary does not
        say."""
        updates = self.summary.get("updates")
        if updates is None:
            return None
        return (sum(updates.values()) if isinstance(updates, dict) else updates) / self.summary["seconds"]

    @property
    def strength(self) -> dict[str, tuple[float, float]]:
        """Win rates against the baselines, net points a game of pegging, or points a hand of the discard game; and half
        of their 95 % intervals."""
        found = self.summary["strength"]
        if "hands" in found:
            return {_POINTS: (found["mean"], half_width(found["interval"]))}
        if all("net_points" in one for one in found.values()):
            return {f"{_NET}{name}": (one["net_points"], half_width(one["interval"])) for name, one in found.items()}
        return {f"against {name}": (one["win_rate"], half_width(one["interval"])) for name, one in found.items()}

    @property
    def games(self) -> int:
        """Games against each baseline, or hands."""
        found = self.summary["strength"]
        return found["hands"] if "hands" in found else min(one["games"] for one in found.values())


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
    Column("in simulation", "{:.1%}", lambda run: run.summary.get("simulation_share")),
)


def read_runs(folder: Path) -> list[Run]:
    """The run of a folder, or those of a folder of several seeds; one that cannot be read says why."""
    name = folder.resolve().name
    try:
        learner, settings, _ = read_config(folder)
        if (parts := runs_in(folder)) != [folder]:
            return [run._replace(name=f"{name}/{run.name}") for part in parts for run in read_runs(part)]
        return [_read_run(folder, name, learner, settings)]
    except ValueError as error:
        return [Run(name, "", {}, {}, str(error))]


def _read_run(folder: Path, name: str, learner: str, settings: dict[str, Any]) -> Run:
    def build(content: dict[str, Any]) -> Run:
        run = Run(name, learner, settings, content)
        _row(run, tuple(run.strength))  # asks for all that the table will
        return run

    return read_summary(folder, build)


def rows_of(runs: Sequence[Run]) -> tuple[list[str], list[list[str]]]:
    """Header and rows: runs that differ only in their seeds are grouped, with their mean and spread below. Those that
    cannot be read come last, each with its fault in the place of its name."""
    groups: dict[str, list[Run]] = {}
    read = [run for run in runs if not run.fault]
    for run in read:
        groups.setdefault(but_for_the_seed(RunConfig(run.learner, run.settings)), []).append(run)
    measures = tuple(dict.fromkeys(measure for run in read for measure in run.strength))
    rows = []
    for group in groups.values():
        rows += [_row(run, measures) for run in group]
        if len({run.settings["seed"] for run in group}) == len(group) > 1:
            rows.append(_spread(group, measures))
    unknown = [_UNKNOWN] * (len(_COLUMNS) + len(measures) + 1)
    rows += [[run.name, run.fault, *unknown] for run in runs if run.fault]
    return ["learner", "run", *(column.header for column in _COLUMNS), *measures, "games or hands"], rows


def _row(run: Run, measures: Sequence[str]) -> list[str]:
    figures = [(column.form, column.of(run)) for column in _COLUMNS]
    cells = [_UNKNOWN if value is None else form.format(value) for form, value in figures]
    strength = [_both(measure, run.strength.get(measure)) for measure in measures]
    return [run.title, run.name, *cells, *strength, f"{run.games:,}"]


def _spread(group: Sequence[Run], measures: Sequence[str]) -> list[str]:
    """A row of means and standard deviations; figures that one of the runs lacks are left open."""

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
    """A strength with its uncertainty, as text."""
    form = "{:.4f} ± {:.4f}" if measure == _POINTS else "{:.2%} ± {:.2%}"
    if measure.startswith(_NET):
        form = "{:+.2f} ± {:.2f}"
    return _UNKNOWN if values is None else form.format(*values)


def tables_of(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[Table]:
    """Two tables that fit 80 columns, of strength and of speed, from the result of :func:`rows_of`."""
    learner, run, *figures = range(len(header))
    speed, strength = figures[: len(_COLUMNS)], figures[len(_COLUMNS) :]
    tables = []
    for columns in (strength, speed):
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
        table.add_column("run", overflow="fold")
        for k in columns:
            table.add_column(header[k].replace(" ", "\n"), justify="right", no_wrap=True)
        for row in rows:
            # In the table of speed the deviation between seeds is below its mean, because the columns are narrow.
            cells = [row[k].replace(" ±", "\n±") if k in speed else row[k] for k in columns]
            table.add_row(f"{row[learner]}\n{row[run]}", *cells)
        tables.append(table)
    return tables
