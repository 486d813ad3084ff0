"""What a measurement of a claim takes and gives, and measurements that claims of several papers name."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crib_env import PlayerViews
from crib_env.agents import Agent, make_agent
from crib_env.agents.choosing import by_phase
from crib_env.evaluate.matches.match import MatchResult, play_match
from crib_env.evaluate.matches.mirrored import mean_of_pairs
from crib_env.evaluate.matches.single_deals import play_deals
from crib_env.evaluate.runs.format import read_summary
from crib_env.evaluate.statistics import mean_interval
from crib_env.files.json_text import typed
from crib_env.players.agent import Powers

RUN = "RUN"  # in the name of an agent: the folder of the claim's training
Player = str | Callable[[], Agent]


class Measured(NamedTuple):
    """A value measured here, with its 95 % interval (none if it is exact), and its sample."""

    value: float
    interval: tuple[float, float] | None
    sample: str


@dataclass(frozen=True)
class Effort:
    """The input of a measurement.

    Attributes:
        n: size of the sample, in the unit of the claim.
        seed: random seed of everything.
        threads: the number of threads.
        runs: the folders of the claim's trainings.
    """

    n: int
    seed: int = 0
    threads: int = 1
    runs: tuple[Path, ...] = ()


Measure = Callable[[Effort], Measured]
"""A way to compute a claim's figure."""


def exact(value: float, sample: str = "exact") -> Measured:
    """A value without an interval."""
    return Measured(float(value), None, sample)


def mean_of(values: np.ndarray, sample: str) -> Measured:
    """The mean of independent values (N,)."""
    return Measured(float(np.mean(values)), mean_interval(values), sample)


def trained(effort: Effort) -> Path:
    """The folder of the one training that a claim is measured on."""
    (run,) = effort.runs
    return run


def summary_of(run: Path) -> dict[str, Any]:
    """The summary of a finished run."""
    return read_summary(run, lambda content: typed(content, dict[str, Any]))


def player(which: Player, effort: Effort) -> Agent:
    """Makes an agent by its name, in which ``RUN`` stands for the training, or by a function."""
    if not isinstance(which, str):
        return which()
    return make_agent(which.replace(RUN, str(trained(effort))) if RUN in which else which)


def match(a: Player, b: Player, effort: Effort) -> MatchResult:
    """A match of ``effort.n`` mirrored games."""
    return play_match(player(a, effort), player(b, effort), effort.n, effort.seed, threads=effort.threads)


def result_of(result: MatchResult, what: str) -> Measured:
    """The ``win_rate`` of a match, or the net points a game, its ``margin``."""
    interval = result.interval if what == "win_rate" else result.margin_interval
    return Measured(getattr(result, what), interval, f"{result.games:,}")


def win_rate(a: Player, b: Player) -> Measure:
    """The share of games that ``a`` wins."""
    return lambda effort: result_of(match(a, b, effort), "win_rate")


def margin(a: Player, b: Player) -> Measure:
    """Net points a game of ``a`` against ``b``."""
    return lambda effort: result_of(match(a, b, effort), "margin")


def net_points_of_pairs(a: Player, b: Player, episode: str = "deal", scale: float = 1.0) -> Measure:
    """Net points of ``a`` against ``b`` in two deals, one dealt by each, times ``scale``."""

    def measure(effort: Effort) -> Measured:
        tally = play_deals(player(a, effort), player(b, effort), effort.n, effort.seed, episode=episode)
        points = tally.sum(axis=(2, 3))
        return mean_of(2 * scale * mean_of_pairs(points[:, 0] - points[:, 1]), f"{effort.n:,} pairs of deals")

    return measure


class DiscardsAndLays:
    """Discards as one player does, and plays its cards as another does."""

    powers = Powers()

    def __init__(self, discards: Agent, lays: Agent) -> None:
        self.name = f"{discards.name}'s discards, {lays.name}'s play"
        self._discards, self._lays = discards, lays

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        return by_phase(views, self._discards.act, self._lays.act)


def discards_and_lays(discards: str, lays: str) -> Player:
    """A player of two others, by name."""
    return lambda: DiscardsAndLays(make_agent(discards), make_agent(lays))


def ways(n: int, k: int, times: int = 1) -> Measure:
    """How many sets of ``k`` cards ``n`` cards have, times a number."""
    return lambda effort: exact(times * math.comb(n, k))
