"""Speed and memory by sections."""

from __future__ import annotations

import platform
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any, Literal, get_args

import tyro

from crib_env.evaluate.command_line import SomeJson
from crib_env.evaluate.console import console, table_of
from crib_env.evaluate.files import check_outputs, write_json
from crib_env.evaluate.progress import progress_bar
from crib_env.evaluate.speed import (
    ENGINE,
    ENVPOOL,
    FAST,
    ONE_GAME,
    ONE_THREAD,
    ROUNDS,
    SAMPLED,
    STEPS,
    TWO_THREADS,
    Measurement,
    Rates,
    can_be_measured,
    measure,
    memory_by_games,
    memory_over_steps,
    openspiel,
    other_vectors,
    ratio_table,
    single_games,
    speed_table,
    start_times,
    vector_steps,
    whole_games,
)
from crib_env.values import Range

Section = Literal["games", "vector", "single", "other-vectors", "openspiel", "start-up", "memory"]
_SPEEDS: dict[str, Callable[[], list[Measurement]]] = {
    "games": whole_games,
    "vector": vector_steps,
    "single": single_games,
    "other-vectors": other_vectors,
    "openspiel": openspiel,
}
# The pairs of speeds whose ratio is shown, if both were measured.
_RATIOS = (
    (TWO_THREADS, ONE_THREAD),
    (ENGINE, SAMPLED),
    (ENGINE, FAST),
    (ONE_GAME, SAMPLED),
    (ONE_GAME, FAST),
    (STEPS, ENVPOOL),
)
_PACKAGES = ("numpy", "numba", "gymnasium", "pettingzoo", "open_spiel", "envpool")


def benchmark(
    sections: Annotated[
        tuple[Section, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[SECTION ...]", help_behavior_hint="")
    ] = get_args(Section),
    seconds: Annotated[float, Range(0, 3_600, above=True)] = 1.0,
    json_file: SomeJson = None,
) -> None:
    """Measures speed and memory in one run: engine, environments, and other environments for comparison.

    Args:
        sections: What to measure: games, vector, single, other-vectors, openspiel, start-up, memory; by default all.
        seconds: Seconds for each speed in each of five rounds.
        json_file: Also write the figures of every round to this file.
    """
    check_outputs(json_file)
    content: dict[str, Any] = {"machine": _machine()}
    if "memory" in sections and not can_be_measured():
        console.print("skipped: memory (this system has no /proc/self/status)")
        sections = tuple(section for section in sections if section != "memory")
    tables = []
    with progress_bar() as progress:
        task = progress.add_task("setting up", total=None)

        def on_progress(what: str) -> None:
            progress.update(task, advance=1, description=what)

        measurements = [row for section in sections if section in _SPEEDS for row in _SPEEDS[section]()]
        progress.update(task, total=len(measurements) * (ROUNDS + 1) + len({"start-up", "memory"} & {*sections}))
        if measurements:
            rates = measure(measurements, seconds, on_progress)
            in_relation = ratios(rates)
            content["per_second"] = {name: rate.values for name, rate in rates.items()}
            content["ratios"] = {name: ratio.values for name, ratio in in_relation.items()}
            tables += [speed_table(rates), ratio_table(in_relation)]
        if "start-up" in sections:
            on_progress("start-up")
            found = start_times()
            content["start_up_seconds"] = {name: each.values for name, each in found.items()}
            rows = [(name, *each.cells(".2f")) for name, each in found.items()]
            tables.append(table_of("start-up: median (lowest to highest)", ("", "seconds", "range"), rows))
        if "memory" in sections:
            on_progress("memory")
            content["bytes_by_games"] = by_games = memory_by_games()
            content["bytes_over_steps"] = over_steps = memory_over_steps()
            of_games = [
                (f"{n:,}", f"{peak / 1e6:,.1f}", f"{(peak - before) / n:,.0f}")
                for n, (before, peak) in by_games.items()
            ]
            tables.append(table_of("memory of a process", ("games", "MB at most", "bytes a game"), of_games, words=0))
            of_steps = [(f"{n:,}", f"{resident / 1e6:,.1f}") for n, resident in over_steps.items()]
            tables.append(table_of("memory over steps", ("learner's steps", "MB"), of_steps, words=0))
    try:
        if json_file is not None:
            write_json(json_file, content)
    finally:
        for table in tables:
            console.print(table)


def ratios(rates: dict[str, Rates]) -> dict[str, Rates]:
    """Ratios of some speeds, round by round, by ``"one / other"``."""
    return {f"{one} / {other}": rates[one].over(rates[other]) for one, other in _RATIOS if {one, other} <= rates.keys()}


def _machine() -> dict[str, str]:
    """The test machine: processor, Python, and the versions of the compared packages."""
    machine = {"processor": platform.machine(), "system": platform.system(), "Python": platform.python_version()}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            machine[package] = version(package)
    return machine
