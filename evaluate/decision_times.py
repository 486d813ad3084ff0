"""How long players take to decide, in the form of the table of Anderson et al. (2022), "Performance Observation".

A discard is both cards thrown, a play one card laid. Decisions are asked for one at a time, as in a game against a
person; in a batch they cost less (``match`` reports that). Beside the players stands what their greedy agent did for
one discard: every pair thrown, every three of the 46 unseen cards beside it, counted one by one in plain Python.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np
from rich import box
from rich.table import Table

from agents import Agent, make_agent
from crib_env import explain_show
from crib_env.batch import GameBatch
from crib_env.engine import DISCARD
from crib_env.kernels import streams
from evaluate.console import console, progress_bar

# Seconds on average over ten trials: discard, play.
PUBLISHED: dict[str, tuple[float, float]] = {
    "greedy": (8.059077188, 6.469e-6),
    "heuristic": (0.000224345, 5.089e-6),
    "td": (0.001530908, 0.0010553),  # their "RL Agent"
    "minimax": (0.000228276, 0.000072),
}
ENUMERATION = "plain enumeration"
_WARM_UP = 3  # deals


class DecisionTime(NamedTuple):
    """One row: mean seconds here, and as published; ``None`` where there is no such decision or figure."""

    name: str
    discard: float
    play: float | None
    published_discard: float | None
    published_play: float | None
    trials: int


def _time_deals(agent: Agent, seeds: np.ndarray) -> tuple[float, float]:
    """Mean seconds of a discard and of a play, of an agent that plays deals against itself."""
    spent, plays = {True: 0.0, False: 0.0}, 0
    for k in range(len(seeds)):
        batch = GameBatch(seeds[k : k + 1], episode="deal", first_id=k)
        while len(rows := batch.acting()):
            views, discarding = batch.views(rows), bool(batch.games["phase"][0] == DISCARD)
            started = time.perf_counter()
            cards = agent.act(views)
            spent[discarding] += time.perf_counter() - started
            plays += not discarding
            batch.step(rows, cards)
    return spent[True] / (2 * len(seeds)), spent[False] / plays


def enumerate_cribs(six: list[int]) -> list[float]:
    """Mean crib of each of the fifteen discards, with one starter for each three unseen cards, as the paper has it."""
    unseen = [card for card in range(52) if card not in six]
    means = []
    for discard in combinations(six, 2):
        points = [
            sum(item.points for item in explain_show([*discard, first, second], starter, crib=True))
            for first, second, starter in combinations(unseen, 3)
        ]
        means.append(sum(points) / len(points))
    return means


def decision_times(
    agents: list[str], deals: int = 100, seed: int = 0, on_progress: Callable[[str], None] = lambda name: None
) -> list[DecisionTime]:
    """Measures players, and then one plain enumeration, in one run.

    Args:
        agents: their names, with settings.
        deals: how many each plays against itself: two discards and eight plays a deal.
        seed: of the deals.
        on_progress: is told what is measured next.

    Raises:
        ValueError: ``deals`` is below 1, or an agent cannot be made.
    """
    if deals < 1:
        raise ValueError(f"deals={deals} is not allowed: give at least 1")
    players = [make_agent(name) for name in agents]
    seeds = streams(seed, deals)
    rows = []
    for name, player in zip(agents, players):
        on_progress(name)
        _time_deals(player, streams(seed + 1, _WARM_UP))  # compiles
        discard, play = _time_deals(player, seeds)
        published_discard, published_play = PUBLISHED.get(name.partition(":")[0], (None, None))
        rows.append(DecisionTime(name, discard, play, published_discard, published_play, deals))
    on_progress(ENUMERATION)
    six = np.random.default_rng(seed).choice(52, 6, replace=False).tolist()
    started = time.perf_counter()
    enumerate_cribs(six)
    spent = time.perf_counter() - started
    rows.append(DecisionTime(ENUMERATION, spent, None, PUBLISHED["greedy"][0], None, 1))
    return rows


def _seconds(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.3g} s" if value >= 1 else f"{1e3 * value:.3g} ms" if value >= 1e-3 else f"{1e6 * value:.3g} µs"


def _ratio(published: float | None, value: float | None) -> str:
    if published is None or value is None:
        return ""
    return f"{published / value:,.0f}" if published > 100 * value else f"{published / value:.2f}"


def measure_and_report(agents: list[str], deals: int, seed: int) -> None:
    """Measures with a progress bar and prints the table."""
    with progress_bar() as progress:
        task = progress.add_task("compiling, some seconds the first time", total=len(agents) + 1)
        rows = decision_times(
            agents, deals, seed, on_progress=lambda name: progress.update(task, advance=1, description=name)
        )
    table = Table(title=f"mean time of a decision, {deals:,} deals", box=box.SIMPLE, pad_edge=False, padding=(0, 1))
    for column in ("player", "discard", "paper", "ratio", "play", "paper", "ratio"):
        table.add_column(column, justify="left" if column == "player" else "right", no_wrap=True)
    for row in rows:
        table.add_row(
            row.name,
            _seconds(row.discard),
            _seconds(row.published_discard),
            _ratio(row.published_discard, row.discard),
            _seconds(row.play),
            _seconds(row.published_play),
            _ratio(row.published_play, row.play),
        )
    console.print(table)
    console.print("paper: Anderson et al. (2022); ratio: their time by ours")
