"""Measurements that claims of several papers name: matches, and points of single deals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from crib_env import PlayerViews
from crib_env.agents import Agent, make_agent
from crib_env.agents.choosing import by_phase
from crib_env.evaluate.matches.match import MatchResult, play_match
from crib_env.evaluate.matches.mirrored import mean_of_pairs
from crib_env.evaluate.matches.single_deals import play_deals
from crib_env.evaluate.papers.claims import Effort, Measure, Measured, mean_of
from crib_env.players.agent import Powers

RUN = "RUN"  # in the name of an agent: the folder of the claim's training
Player = str | Callable[[], Agent]


def trained(effort: Effort) -> Path:
    """The folder of the one training that a claim is measured on."""
    (run,) = effort.runs
    return run


def player(which: Player, effort: Effort) -> Agent:
    """Makes an agent by its name, in which ``RUN`` stands for the training, or by a function."""
    if not isinstance(which, str):
        return which()
    return make_agent(which.replace(RUN, str(trained(effort))) if RUN in which else which)


def match(a: Player, b: Player, effort: Effort) -> MatchResult:
    """A match of ``effort.n`` mirrored games."""
    return play_match(
        *(player(a, effort), player(b, effort), effort.n, effort.seed),
        threads=effort.threads,
        cluster=effort.cluster,
        on_progress=effort.on_progress,
    )


def win_rate(a: Player, b: Player) -> Measure:
    """The share of games that ``a`` wins."""

    def measure(effort: Effort) -> Measured:
        result = match(a, b, effort)
        error = result.margin - result.margin_interval[0]
        remark = f"{result.margin:+.2f} ± {error:.2f} points a game"
        return Measured(result.win_rate, result.interval, f"{effort.n:,} games", remark)

    return measure


def margin(a: Player, b: Player) -> Measure:
    """Net points a game of ``a`` against ``b``."""

    def measure(effort: Effort) -> Measured:
        result = match(a, b, effort)
        return Measured(result.margin, result.margin_interval, f"{effort.n:,} games", f"wins {result.win_rate:.1%}")

    return measure


def net_points_of_pairs(a: Player, b: Player, episode: str = "deal", scale: float = 1.0) -> Measure:
    """Net points of ``a`` against ``b`` in two deals, one dealt by each, times ``scale``."""

    def measure(effort: Effort) -> Measured:
        first, second = player(a, effort), player(b, effort)
        tally = play_deals(first, second, effort.n, effort.seed, episode=episode, on_progress=effort.on_progress)
        points = tally.sum(axis=(2, 3))
        net = 2 * scale * mean_of_pairs(points[:, 0] - points[:, 1])
        return mean_of(net, f"{effort.n:,} pairs of deals")

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
