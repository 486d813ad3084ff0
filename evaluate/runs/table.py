"""Finished runs in one table: their cost, speed and final strength."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich import box
from rich.table import Table

from crib_env.evaluate.console import table_of
from crib_env.evaluate.runs.format import RunConfig, but_for_the_seed, read_config, read_summary, runs_in
from crib_env.evaluate.statistics import half_width

_SPEED = ("episodes", "seconds", "episodes a second", "updates a second", "in simulation")
_FORMS = dict.fromkeys(_SPEED, ",.0f") | {"in simulation": ".1%", "points a hand": ".4f"}
_UNKNOWN = "–"
CAPTION = "a run: ± half of the 95 % interval; several seeds: mean ± standard deviation"


class Run(NamedTuple):
    """A finished run, or why it cannot be read."""

    name: str
    """In the table."""
    title: str = ""
    """The learner, and the preset unless it is the default."""
    config: RunConfig = RunConfig("", {})
    figures: dict[str, tuple[float | None, float | None]] = {}
    """By column: a figure, ``None`` if the summary does not say; and half of its 95 % interval, if it has one."""
    games: int = 0
    """Games against each baseline, or hands."""
    fault: str = ""


def read_runs(folder: Path) -> list[Run]:
    """The run of a folder, or those of a folder of several seeds; one that cannot be read says why."""
    name = folder.resolve().name
    try:
        config = read_config(folder)
        if (parts := runs_in(folder)) != [folder]:
            return [run._replace(name=f"{name}/{run.name}") for part in parts for run in read_runs(part)]
        return [read_summary(folder, lambda summary: _run_of(name, config, summary))]
    except ValueError as error:
        return [Run(name, fault=str(error))]


def _run_of(name: str, config: RunConfig, summary: dict[str, Any]) -> Run:
    updates, strength = summary.get("updates"), summary["strength"]
    if isinstance(updates, dict):  # by network
        updates = sum(updates.values())
    speed = (
        *(summary[key] for key in ("episodes", "seconds", "episodes_per_second")),
        None if updates is None else updates / summary["seconds"],
        summary.get("simulation_share"),
    )
    figures: dict[str, tuple[float | None, float | None]] = {key: (value, None) for key, value in zip(_SPEED, speed)}
    if "hands" in strength:  # of the discard game
        games, figures["points a hand"] = strength["hands"], (strength["mean"], half_width(strength["interval"]))
    else:
        games = min(one["games"] for one in strength.values())
        for baseline, one in strength.items():
            key, value = ("net points ", one["net_points"]) if "net_points" in one else ("", one["win_rate"])
            figures[f"{key}against {baseline}"] = value, half_width(one["interval"])
    preset = config.settings.get("preset", "default")
    run = Run(name, f"{config.learner}, {preset}" * (preset != "default") or config.learner, config, figures, games)
    _row(run, tuple(figures))  # raises what the table would
    return run


def rows_of(runs: Sequence[Run]) -> tuple[list[str], list[list[str]]]:
    """Header and rows: runs that differ only in their seeds are grouped, with their mean and spread below. Those that
    cannot be read come last, each with its fault in the place of its name."""
    groups: dict[str, list[Run]] = {}
    for run in (run for run in runs if not run.fault):
        groups.setdefault(but_for_the_seed(run.config), []).append(run)
    columns = tuple(
        dict.fromkeys((*_SPEED, *(name for group in groups.values() for run in group for name in run.figures)))
    )
    rows = []
    for group in groups.values():
        rows += [_row(run, columns) for run in group]
        if len({run.config.settings["seed"] for run in group}) == len(group) > 1:
            rows.append([group[0].title, f"{len(group)} seeds", *(_spread(group, name) for name in columns), ""])
    rows += [[run.name, run.fault, *[_UNKNOWN] * (len(columns) + 1)] for run in runs if run.fault]
    return ["learner", "run", *columns, "games or hands"], rows


def _row(run: Run, columns: Sequence[str]) -> list[str]:
    cells = (_cell(name, *run.figures.get(name, (None, None))) for name in columns)
    return [run.title, run.name, *cells, f"{run.games:,}"]


def _spread(group: Sequence[Run], name: str) -> str:
    """Mean and standard deviation; left open if one of the runs lacks the figure."""
    known = [value for run in group if (value := run.figures.get(name, (None,))[0]) is not None]
    return _cell(name, float(np.mean(known)), float(np.std(known, ddof=1))) if len(known) == len(group) else _UNKNOWN


def _cell(name: str, value: float | None, half: float | None) -> str:
    if value is None:
        return _UNKNOWN
    form = _FORMS.get(name, ".2f" if name.startswith("net") else ".2%")
    shown = format(value, f"+{form}" if name.startswith("net") else form)
    return shown if half is None else f"{shown} ± {half:{form}}"


def tables_of(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[Table]:
    """Two tables that fit 80 columns, of strength and of speed, from the result of :func:`rows_of`."""
    tables, speed = [], range(2, 2 + len(_SPEED))
    look: dict[str, Any] = {"no_wrap": True, "box": box.SIMPLE_HEAD, "padding": (0, 1, 0, 0), "pad_edge": False}
    for columns in (range(speed.stop, len(header)), speed):
        table = table_of("", ["run", *(header[k].replace(" ", "\n") for k in columns)], **look)
        for row in rows:
            # In the table of speed the deviation between seeds is below its mean, because the columns are narrow.
            cells = [row[k].replace(" ±", "\n±") if columns == speed else row[k] for k in columns]
            table.add_row(f"{row[0]}\n{row[1]}", *cells)
        tables.append(table)
    return tables
