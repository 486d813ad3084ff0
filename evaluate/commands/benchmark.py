"""Speed and memory by sections, and decision times of players beside the figures of Anderson et al. (2022)."""

from __future__ import annotations

import platform
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any

import tyro
from rich import box

from crib_env.engine import GAME
from crib_env.evaluate.command_line import AgentNames, SomeFile, SomeJson
from crib_env.evaluate.console import console, table_of
from crib_env.evaluate.figures import save_figure
from crib_env.evaluate.files import check_outputs, picture_paths, write_json
from crib_env.evaluate.matches.mirrored import check_players
from crib_env.evaluate.progress import progress_bar
from crib_env.evaluate.ranges import Amount, Range, Seed
from crib_env.evaluate.speed import SECTIONS, Section
from crib_env.evaluate.speed.decision_times import measure_decisions
from crib_env.evaluate.speed.engine import exact_values, games
from crib_env.evaluate.speed.measuring import ROUNDS, Measurement, measure
from crib_env.evaluate.speed.others import openspiel, other_vectors
from crib_env.evaluate.speed.processes import CALLS, can_be_measured, memory_by_games, memory_over_steps, start_times
from crib_env.evaluate.speed.report import draw_speeds, memory_tables, ratio_table, ratios, speed_table, start_table
from crib_env.evaluate.speed.single import pictures, single_games
from crib_env.evaluate.speed.vector import bytes_a_step, vector_steps

_SPEEDS: dict[str, Callable[[], list[Measurement]]] = {
    "games": games,
    "exact-values": exact_values,
    "vector": vector_steps,
    "single": single_games,
    "pictures": pictures,
    "other-vectors": other_vectors,
    "openspiel": openspiel,
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
    sizes = {"the record of a game": GAME.itemsize, "handed out by a step, for each game": bytes_a_step()}
    content: dict[str, Any] = {"machine": _machine(), "bytes": sizes}
    if "memory" in sections and not can_be_measured():
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
        others = ("start-up" in sections) + ("memory" in sections) * CALLS
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
            by_games, over_steps = memory_by_games(on_progress), memory_over_steps(on_progress)
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


def _seconds(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.3g} s" if value >= 1 else f"{1e3 * value:.3g} ms" if value >= 1e-3 else f"{1e6 * value:.3g} µs"


def _ratio(published: float | None, value: float | None) -> str:
    if published is None or value is None:
        return ""
    return f"{published / value:,.0f}" if published > 100 * value else f"{published / value:.2f}"


def decisions(
    agents: AgentNames = ("random", "greedy", "heuristic", "minimax", "halscrib"),
    deals: Amount = 100,
    seed: Seed = 0,
) -> None:
    """Measures decision times of players, and compares them with Anderson et al. (2022).

    Args:
        agents: The players: names, names with settings after a colon, or folders of runs. By default random, greedy,
            heuristic, minimax and halscrib.
        deals: Number of deals each plays against itself, one decision at a time.
        seed: Random seed of the deals.
    """
    check_players(agents)
    with progress_bar() as progress:
        task = progress.add_task("decisions", total=len(agents) + 1)
        rows = measure_decisions(
            agents, deals, seed, on_progress=lambda name: progress.update(task, advance=1, description=name)
        )
    columns = ("player", "discard", "paper", "ratio", "play", "paper", "ratio")
    cells = (
        (
            row.name,
            *(_seconds(row.discard), _seconds(row.published_discard), _ratio(row.published_discard, row.discard)),
            *(_seconds(row.play), _seconds(row.published_play), _ratio(row.published_play, row.play)),
        )
        for row in rows
    )
    look: dict[str, Any] = {"box": box.SIMPLE, "pad_edge": False, "padding": (0, 1), "no_wrap": True}
    console.print(table_of(f"mean time of a decision, {deals:,} deals", columns, cells, **look))
    console.print("paper: Anderson et al. (2022); ratio: their time by ours")
