"""Measures the requested sections, prints tables, and writes the requested files."""

from __future__ import annotations

import platform
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any

import tyro

from crib_env.engine import GAME
from crib_env.evaluate.commands.arguments import SomeFile, SomeJson
from crib_env.evaluate.console import console
from crib_env.evaluate.figures import save_figure
from crib_env.evaluate.files import check_outputs, picture_paths, write_json
from crib_env.evaluate.progress import progress_bar
from crib_env.evaluate.ranges import Range
from crib_env.evaluate.speed import (
    SECTIONS,
    Section,
    exact_values,
    games,
    memory,
    openspiel,
    other_vectors,
    pictures,
    single,
    vector,
)
from crib_env.evaluate.speed.measuring import ROUNDS, Measurement, measure
from crib_env.evaluate.speed.report import draw_speeds, memory_tables, ratio_table, ratios, speed_table, start_table
from crib_env.evaluate.speed.start_up import start_times

_SPEEDS: dict[str, Callable[[], list[Measurement]]] = {
    "games": games.measurements,
    "exact-values": exact_values.measurements,
    "vector": vector.measurements,
    "single": single.measurements,
    "pictures": pictures.measurements,
    "other-vectors": other_vectors.measurements,
    "openspiel": openspiel.measurements,
}
_PACKAGES = ("numpy", "numba", "gymnasium", "pettingzoo", "open_spiel", "envpool")


def benchmark(
    sections: Annotated[
        tuple[Section, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[SECTION ...]", help_behavior_hint="")
    ] = SECTIONS,
    seconds: Annotated[float, Range(0, 3_600, above=True)] = 1.0,
    json_file: SomeJson = None,
    picture: SomeFile = None,
) -> None:
    """Measures speed and memory in one run: engine, environments, and other environments for comparison.

    Args:
        sections: What to measure: games, exact-values, vector, single, pictures, other-vectors, openspiel, start-up,
            memory; by default all.
        seconds: Seconds for each speed in each of five rounds.
        json_file: Also write the figures of every round to this file.
        picture: Also draw the speeds to this file, as PNG and as SVG.
    """
    check_outputs(json_file, *picture_paths(picture))
    sizes = {"the record of a game": GAME.itemsize, "handed out by a step, for each game": vector.bytes_a_step()}
    content: dict[str, Any] = {"machine": _machine(), "bytes": sizes}
    if "memory" in sections and not memory.can_be_measured():
        console.print("skipped: memory (this system has no /proc/self/status)")
        sections = tuple(section for section in sections if section != "memory")
    with progress_bar() as progress:
        task = progress.add_task("setting up", total=None)

        def on_progress(what: str) -> None:
            progress.update(task, advance=1, description=what)

        tables = []
        measurements = [row for section in sections if section in _SPEEDS for row in _SPEEDS[section]()]
        if picture is not None and not measurements:
            raise ValueError(f"{picture} would be empty: measure speeds too, by one of {', '.join(_SPEEDS)}")
        others = ("start-up" in sections) + ("memory" in sections) * memory.CALLS
        progress.update(task, total=len(measurements) * (ROUNDS + 1) + others)
        rates = measure(measurements, seconds, on_progress)
        if rates:
            in_relation = ratios(rates)
            content["per_second"] = {name: rate.values for name, rate in rates.items()}
            content["ratios"] = {name: ratio.values for name, ratio in in_relation.items()}
            tables += [speed_table(rates), ratio_table(in_relation)]
        if "start-up" in sections:
            on_progress("start-up")
            content["start_up_seconds"] = start_times()
            tables.append(start_table(content["start_up_seconds"]))
        if "memory" in sections:
            by_games, over_steps = memory.memory_by_games(on_progress), memory.memory_over_steps(on_progress)
            content["bytes_by_games"], content["bytes_over_steps"] = by_games, over_steps
            tables += memory_tables(by_games, over_steps)
    try:
        if json_file is not None:
            write_json(json_file, content)
        if picture is not None:
            save_figure(draw_speeds(rates), picture)
    finally:
        for table in tables:
            console.print(table)
        console.print("bytes: " + ", ".join(f"{what} {n:,}" for what, n in sizes.items()))


def _machine() -> dict[str, str]:
    """The test machine: processor, Python, and the versions of the compared packages."""
    machine = {"processor": platform.machine(), "system": platform.system(), "Python": platform.python_version()}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            machine[package] = version(package)
    return machine
