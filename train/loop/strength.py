"""Strength of an agent, by mirrored matches against the two baselines.

The module of a learner that does not train a cribbage player has its own measure, with the same functions, as
``STRENGTH``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.table import Table

from crib_env.agents import Agent, make_agent
from crib_env.evaluate.matches.match import MatchResult, play_match
from crib_env.evaluate.matches.match_table import strength_table
from crib_env.evaluate.runs.format import margin_tag, win_rate_tag, with_band
from crib_env.evaluate.statistics import half_width

BASELINES = ("greedy", "random")
SAMPLE = "mirrored games against each baseline"  # what ``games`` counts


def total(games: int) -> int:
    """How many games :func:`measure` plays in all."""
    return games * len(BASELINES)


def measure(
    agent: Agent, games: int, seed: int, on_progress: Callable[[int], None] = lambda done: None
) -> dict[str, MatchResult]:
    """Plays a match of ``games`` against each baseline; ``on_progress`` receives the number of further games done."""
    return {name: play_match(agent, make_agent(name), games, seed, on_progress=on_progress) for name in BASELINES}


def is_due(before: int, now: int, total: int, times: int) -> bool:
    """Whether one of ``times`` measurements, spread evenly over ``total`` episodes, falls between two counts."""
    return before * times // total < now * times // total


def in_words(results: dict[str, MatchResult]) -> str:
    """The win rates and half of their 95 % intervals, in a line."""
    return ", ".join(
        f"{100 * result.win_rate:.1f} ± {100 * half_width(result.interval):.1f} % against {name}"
        for name, result in results.items()
    )


def scalars(results: dict[str, MatchResult]) -> dict[str, float]:
    """The results under the tags that TensorBoard shows."""
    values: dict[str, float] = {}
    for name, result in results.items():
        values |= with_band(win_rate_tag(name), result.win_rate, *result.interval)
    for name, result in results.items():
        values |= with_band(margin_tag(name), result.margin, *result.margin_interval)
    return values


def as_json(results: dict[str, MatchResult]) -> dict[str, Any]:
    """The results for ``summary.json``."""
    return {name: result.to_json() for name, result in results.items()}


def table(name: str, results: dict[str, MatchResult]) -> Table:
    """The results as a table."""
    return strength_table(name, results)


def draw(folder: Path, title: str) -> Path:
    """Draws the learning curve into a run folder; returns its path."""
    from crib_env.train.loop.learning_curve import (
        draw_learning_curve,  # imported at the end: matplotlib takes half a second
    )

    return draw_learning_curve(folder, title, BASELINES)
