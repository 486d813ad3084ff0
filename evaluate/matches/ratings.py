"""Bradley–Terry ratings (1952) on the Elo scale.

A player rated d points higher wins a game with probability 1 / (1 + 10^(-d/400)). Ratings are maximum-likelihood
estimates (``choix``, Maystre and Grossglauser 2015). Their intervals do not assume independent games: all
pairings of a league play the same deals, each deal twice, so all results over one deal together count as one
observation (the sandwich estimator, White 1982, with deals as clusters).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import choix
import numpy as np

from crib_env.players.win_rate import Z

MEAN = 1500.0  # of the ratings of a league
_POINTS = 400 / math.log(10)  # points of rating in a unit of log odds
_DRAWN = 0.5  # games added for each player of a pairing: else the rating of a player who wins all games is infinite


@dataclass(frozen=True)
class Ratings:
    """Ratings of A players and half of the lengths of their 95 % intervals, each (A,), in points."""

    points: np.ndarray
    half_widths: np.ndarray

    def chance(self, i: int, j: int) -> float:
        """Predicted probability that player i wins a game against player j."""
        return float(1 / (1 + 10 ** ((self.points[j] - self.points[i]) / 400)))


def rate(n_players: int, pairings: Sequence[tuple[int, int]], won: np.ndarray) -> Ratings:
    """Rates players by the games between pairs of them.

    Args:
        n_players: A, the number of players.
        pairings: P pairs of players, which link all of them.
        won: (P, N) how many of the two games over each of N deals the first of the pairing won: 0, 1 or 2, or any
            numbers of that mean, such as results less luck.
    """
    n_deals = won.shape[1]
    wins = won.sum(axis=1).clip(0, 2 * n_deals) + _DRAWN
    games = np.full(len(pairings), 2 * n_deals + 2 * _DRAWN)
    first, second = np.array(pairings).T
    counts = np.zeros((n_players, n_players))
    counts[first, second], counts[second, first] = wins, games - wins
    strengths = choix.ilsr_pairwise_dense(counts, max_iter=10_000)

    chances = 1 / (1 + np.exp(strengths[second] - strengths[first]))
    sides = np.zeros((len(pairings), n_players))  # 1 for the first of each pairing, -1 for the second
    sides[np.arange(len(pairings)), first], sides[np.arange(len(pairings)), second] = 1.0, -1.0
    curvature = np.linalg.pinv((sides.T * (games * chances * (1 - chances))) @ sides)
    slopes = (won - 2 * chances[:, None]).T @ sides  # (N, A) what each deal adds to the slope of the likelihood
    drawn = (sides.T * (_DRAWN * (chances**2 + (1 - chances) ** 2))) @ sides
    spread = slopes.T @ slopes * (n_deals / max(n_deals - 1, 1)) + drawn
    covariance = curvature @ spread @ curvature
    return Ratings(MEAN + _POINTS * (strengths - strengths.mean()), Z * _POINTS * np.sqrt(np.diag(covariance)))
