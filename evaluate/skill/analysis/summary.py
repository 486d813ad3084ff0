"""Statistics of a player over recorded games: errors, blunders, luck and results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from crib_env.evaluate.skill.analysis.decisions import KINDS, Decision, GameAnalysis
from crib_env.evaluate.skill.luck.table import RESULTS
from crib_env.evaluate.skill.luck.variates import results
from crib_env.evaluate.statistics import Measured

BLUNDERS = {"1 to 2 %": (0.01, 0.02), "2 to 5 %": (0.02, 0.05), "5 % or more": (0.05, math.inf)}
"""Sizes of blunders, by the chance to win that they lose."""
_ENOUGH = 10  # decisions; nobody but the judge itself agrees with it in so many


class ErrorRate(NamedTuple):
    """The mean losses of decisions of one kind; intervals are from the spread between games."""

    decisions: int
    chance_lost: Measured
    points_lost: Measured
    is_own_judge: bool
    """Whether none of many decisions lost anything: the player chooses by what judges it, and has no errors by this
    construction."""


class PlayerSummary(NamedTuple):
    """One player over all games in which it played."""

    name: str
    games: int
    errors: dict[str, ErrorRate]
    """By ``KINDS``; a kind without any decision is left out."""
    blunders: dict[str, int]
    """By ``BLUNDERS``."""
    luck: dict[str, float]
    """Mean luck of a game, by ``RESULTS``."""
    result: dict[str, float]
    """Mean result of a game, by ``RESULTS``."""


def summarise_players(analyses: Sequence[GameAnalysis]) -> list[PlayerSummary]:
    """The players of recorded games, in the order in which they first appear.

    A player that plays itself in some game counts as two players, one for each seat.
    """
    sides: dict[str, list[tuple[GameAnalysis, int]]] = {}
    for analysis in analyses:
        for seat, name in enumerate(analysis.record.names):
            sides.setdefault(name, []).append((analysis, seat))
    return [_summarise(name, played) for name, played in sides.items()]


def _summarise(name: str, played: list[tuple[GameAnalysis, int]]) -> PlayerSummary:
    own = [[d for d in analysis.decisions if d.seat == seat] for analysis, seat in played]
    lost = np.array([decision.chance_lost for decisions in own for decision in decisions])
    scores = np.array([np.roll(analysis.record.scores, -seat) for analysis, seat in played])
    luck = np.array([(-1 if seat else 1) * analysis.luck.sum(axis=(0, 1)) for analysis, seat in played])
    result = results(scores)
    rates = {kind: _error_rate([[d for d in decisions if d.kind == kind] for decisions in own]) for kind in KINDS}
    return PlayerSummary(
        name,
        len(played),
        {kind: rate for kind, rate in rates.items() if rate is not None},
        {size: int(((lost >= low) & (lost < high)).sum()) for size, (low, high) in BLUNDERS.items()},
        dict(zip(RESULTS, luck.mean(axis=0).tolist())),
        dict(zip(RESULTS, result.mean(axis=0).tolist())),
    )


def _error_rate(games: list[list[Decision]]) -> ErrorRate | None:
    """The error rate over the decisions of N games; ``None`` if there are no decisions."""
    counts = np.array([len(decisions) for decisions in games])
    if not counts.sum():
        return None

    def mean(totals: list[float]) -> Measured:
        # A ratio of sums over games: decisions of one game need not be independent.
        values = np.array(totals)
        rate = float(values.sum() / counts.sum())
        return Measured(rate, Measured.of((values - rate * counts) / counts.mean()).half_width, int(counts.sum()))

    return ErrorRate(
        int(counts.sum()),
        mean([sum(decision.chance_lost for decision in decisions) for decisions in games]),
        mean([sum(decision.points_lost for decision in decisions) for decisions in games]),
        int(counts.sum()) >= _ENOUGH and not any(decision.chance_lost for decisions in games for decision in decisions),
    )
