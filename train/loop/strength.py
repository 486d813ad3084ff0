"""Strength of an agent in training: mirrored games of cribbage, or of its pegging alone, against two baselines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from crib_env.agents import make_agent
from crib_env.evaluate.matches.match import play_match
from crib_env.evaluate.matches.mirrored import mean_of_pairs, play_deals
from crib_env.evaluate.runs import format as form
from crib_env.evaluate.skill.exploitability import exploitability
from crib_env.evaluate.statistics import mean_interval
from crib_env.players.agent_from_text import as_agent
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import start_of_play

BASELINES = ("greedy", "random")
OnProgress = Callable[[int], None]
_DRAWS = 2  # of suits, in exploitability: the fewest


class Measure(NamedTuple):
    """How strength is measured. The class of a learner of another game has one as ``STRENGTH``."""

    tags: Sequence[str]
    """Of the main results: those that are said during training."""
    play: Callable[[Any, int, int, OnProgress], dict[str, float]]
    """The results of an agent by tag (:mod:`crib_env.evaluate.runs.format`), with the ends of 95 % intervals, from so
    many games against each opponent; their seed; is told of further games."""
    opponents: int = len(BASELINES)

    def in_words(self, scalars: dict[str, float]) -> str:
        """The main results and their intervals, in a line."""
        parts = []
        for tag in self.tags:
            value, low, high = (shown(tag, scalars[one]) for one in (tag, *form.band_of(tag)))
            parts.append(f"{form.title_of(tag)} {value} ({low} to {high})")
        return ", ".join(parts)


def shown(tag: str, value: float) -> str:
    """A result for display."""
    return f"{value:.2%}" if "win rate" in tag else f"{value:.4f}"


def strength_of(learner: Any, settings: Any) -> Measure:
    """The measure for a run: that of its learner, else pegging games for players of pegging, else whole games."""
    if getattr(settings, "episode", "game") == "pegging":
        return pegging_games(getattr(settings, "cards", 4))
    found: Measure = getattr(learner, "STRENGTH", MATCHES)
    return found


def is_due(before: int, now: int, total: int, times: int) -> bool:
    """Whether one of ``times`` measurements, spread evenly over ``total`` episodes, falls between two counts."""
    return before * times // total < now * times // total


def is_doubled(before: int, now: int, total: int, times: int) -> bool:
    """Whether one of ``times`` measurements falls between two counts of episodes: the last at the end, after ``total``
    of them, each other one after half as many as the next."""
    return any(before << k < total <= now << k for k in range(times))


def _matches(agent: Any, games: int, seed: int, on_progress: OnProgress) -> dict[str, float]:
    scalars: dict[str, float] = {}
    for name in BASELINES:
        result = play_match(as_agent(agent), make_agent(name), games, seed, on_progress=on_progress)
        scalars |= form.with_band(form.win_rate_tag(name), result.win_rate, *result.interval)
        scalars |= form.with_band(form.margin_tag(name), result.margin, *result.margin_interval)
    return scalars


MATCHES = Measure([form.win_rate_tag(name) for name in BASELINES], _matches)


def pegging_games(cards: int) -> Measure:
    """Games of the pegging episode, with so many cards for each player."""

    def play(agent: Any, games: int, seed: int, on_progress: OnProgress) -> dict[str, float]:
        scalars: dict[str, float] = {}
        for name in BASELINES:
            players = as_agent(agent), make_agent(name)
            points = play_deals(*players, games // 2, seed, episode="pegging", cards=cards).sum(axis=(2, 3))
            on_progress(games)
            net = mean_of_pairs(points[:, 0] - points[:, 1])
            scalars |= form.with_band(form.margin_tag(name), float(net.mean()), *mean_interval(net))
        return scalars

    return Measure([form.margin_tag(name) for name in BASELINES], play)


def exact(cards: int) -> Measure:
    """Exact exploitability in pegging, of which two bounds are known where it depends on suits."""

    def play(agent: Any, games: int, seed: int, on_progress: OnProgress) -> dict[str, float]:
        found = exploitability(agent, PlayGame(start=start_of_play(cards)), _DRAWS)
        return form.with_band(form.EXPLOITABILITY, found.mean, found.least, found.mean)

    return Measure([form.EXPLOITABILITY], play)
