"""Decision times of players, in the form of the table of Anderson et al. (2022), "Performance Observation".

A discard is a pair of cards, a play one laid card. Agents decide one decision at a time, as in a game against a
person; in a batch they take less time (``match`` reports that). The last row is the work of the paper's greedy
agent for one discard: every pair discarded with every three of the 46 unseen cards, counted one by one in plain
Python.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from crib_env import explain_show
from crib_env.agents import Agent, make_agent
from crib_env.batch import GameBatch
from crib_env.kernels import streams
from crib_env.players.turns import turns

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
    """One row: mean seconds here and in the paper; ``None`` where there is no such decision or figure."""

    name: str
    discard: float
    play: float | None
    published_discard: float | None
    published_play: float | None
    trials: int


def time_deals(agent: Agent, seeds: np.ndarray) -> tuple[float, float]:
    """Mean seconds of a discard and of a play, of an agent that plays deals against itself."""
    spent, plays = {True: 0.0, False: 0.0}, 0
    for k in range(len(seeds)):
        batch = GameBatch(seeds[k : k + 1], episode="deal", first_id=k)
        for turn in turns(batch, [agent]):
            discarding = bool(turn.views.is_discard[0])
            spent[discarding] += turn.seconds
            plays += not discarding
            turn.play()
    return spent[True] / (2 * len(seeds)), spent[False] / plays


def enumerate_cribs(six: list[int]) -> list[float]:
    """Mean crib of each of the fifteen discards, with one starter for each three unseen cards, as in the paper."""
    unseen = [card for card in range(52) if card not in six]
    means = []
    for discard in combinations(six, 2):
        points = [
            sum(item.points for item in explain_show([*discard, first, second], starter, crib=True))
            for first, second, starter in combinations(unseen, 3)
        ]
        means.append(sum(points) / len(points))
    return means


def measure_decisions(
    agents: Sequence[str], deals: int = 100, seed: int = 0, on_progress: Callable[[str], None] = lambda name: None
) -> list[DecisionTime]:
    """Measures players, and then one plain enumeration, in one run.

    Args:
        deals: the number of deals that each agent plays against itself; a deal has two discards and eight plays.
        on_progress: called with the name of the next measurement.

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
        time_deals(player, streams(seed + 1, _WARM_UP))  # compiles
        discard, play = time_deals(player, seeds)
        published_discard, published_play = PUBLISHED.get(name.partition(":")[0], (None, None))
        rows.append(DecisionTime(name, discard, play, published_discard, published_play, deals))
    on_progress(ENUMERATION)
    six = np.random.default_rng(seed).choice(52, 6, replace=False).tolist()
    started = time.perf_counter()
    enumerate_cribs(six)
    spent = time.perf_counter() - started
    rows.append(DecisionTime(ENUMERATION, spent, None, PUBLISHED["greedy"][0], None, 1))
    return rows
