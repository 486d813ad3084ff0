"""Strength of a player in the pegging episode: net points a game against the two baselines, in mirrored games."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from crib_env.agents import Agent, make_agent
from crib_env.evaluate.matches.mirrored import mean_of_pairs
from crib_env.evaluate.matches.single_deals import play_deals
from crib_env.evaluate.runs.format import margin_tag, with_band
from crib_env.evaluate.statistics import half_width, mean_interval
from crib_env.train.loop.strength import BASELINES, total

__all__ = ["SAMPLE", "as_json", "draw", "in_words", "measure", "scalars", "table", "total"]

SAMPLE = "mirrored pegging games against each baseline"  # what ``games`` counts


@dataclass(frozen=True)
class Result:
    """Net points a game against one opponent, with a 95 % interval, and the number of games."""

    net_points: float
    interval: tuple[float, float]
    games: int


def measure(
    agent: Agent, games: int, seed: int, on_progress: Callable[[int], None] = lambda done: None
) -> dict[str, Result]:
    """Plays ``games`` games against each baseline; ``on_progress`` receives the number of further games done."""
    return {name: _against(agent, make_agent(name), games, seed, on_progress) for name in BASELINES}


def _against(agent: Agent, other: Agent, games: int, seed: int, on_progress: Callable[[int], None]) -> Result:
    tally = play_deals(
        agent, other, games // 2, seed, episode="pegging", on_progress=lambda pairs: on_progress(2 * pairs)
    )
    points = tally.sum(axis=(2, 3))
    net = mean_of_pairs(points[:, 0] - points[:, 1])
    return Result(float(net.mean()), mean_interval(net), games)


def in_words(results: dict[str, Result]) -> str:
    """The net points and half of their 95 % intervals, in a line."""
    return ", ".join(
        f"{result.net_points:+.2f} ± {half_width(result.interval):.2f} points a game against {name}"
        for name, result in results.items()
    )


def scalars(results: dict[str, Result]) -> dict[str, float]:
    """The results under the tags that TensorBoard shows."""
    values: dict[str, float] = {}
    for name, result in results.items():
        values |= with_band(margin_tag(name), result.net_points, *result.interval)
    return values


def as_json(results: dict[str, Result]) -> dict[str, Any]:
    """The results for ``summary.json``."""
    return {name: asdict(result) for name, result in results.items()}


def table(name: str, results: dict[str, Result]) -> Table:
    """The results as a table."""
    shown = Table(title=f"{name}, mirrored pegging games")
    shown.add_column("against")
    for column in ("games", "net points a game", "95 % interval"):
        shown.add_column(column, justify="right")
    for opponent, result in results.items():
        low, high = result.interval
        shown.add_row(opponent, f"{result.games:,}", f"{result.net_points:+.2f}", f"{low:+.2f} to {high:+.2f}")
    return shown


def draw(folder: Path, title: str) -> Path:
    """Draws the learning curve into a run folder; returns its path."""
    from crib_env.train.loop.learning_curve import (
        draw_points_curve,  # imported at the end: matplotlib takes half a second
    )

    return draw_points_curve(folder, title, BASELINES)
