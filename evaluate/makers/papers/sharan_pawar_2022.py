"""Sharan and Pawar (2022), "Cribbage AI agent".

The paper studies the play alone, and does not define the games that its players win. Its greedy player discards well,
plays at random (section "Greedy Agent") and wins 51 % against random, so these games seem to have no discards. Hence
each of its matches is played twice here: as whole games, and as games in which both discard at random and only the
play is contested. Its DDQN and DRQN learn twice as well: whole games in one trial, and the play of single deals in
five trials of 2,000 episodes, where the paper has 6,000. Its search is ``ismcts:draw=uniform,show=drawn``.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from crib_env.evaluate.makers.papers.measures import Effort, Measured, exact
from crib_env.evaluate.runs.format import NET_POINTS_IN_TRAINING
from crib_env.evaluate.runs.learning_curves import read_scalars

TRIALS = 5
_T = 2.776445  # 97.5 % quantile of Student's t with four degrees of freedom
_WITHOUT_UPDATES = 500  # episodes
_LATE = 1_000  # episodes
_BLOCK = 100  # episodes


def net_points(run: Path) -> tuple[np.ndarray, np.ndarray]:
    """The rounds of a training: the episodes of each, and their mean net points, both (R,)."""
    ends, points = read_scalars(run, NET_POINTS_IN_TRAINING)
    return np.diff(ends, prepend=0), np.array(points)


def late_gain(effort: Effort) -> Measured:
    """Net points an episode over the last 1,000 episodes, the mean of the trials."""
    return _over_trials(np.array([mean_net_points(*net_points(run), last=_LATE) for run in effort.runs]))


def slower(effort: Effort) -> Measured:
    """Net points an episode over all episodes: the second learner's minus the first one's, trial by trial."""
    return _second_less_first(np.array([mean_net_points(*net_points(run)) for run in effort.runs]))


def stabler(effort: Effort) -> Measured:
    """The change of net points an episode from block to block: the second learner's minus the first one's."""
    return _second_less_first(np.array([_fluctuation(*net_points(run)) for run in effort.runs]))


def mean_net_points(episodes: np.ndarray, points: np.ndarray, last: int | None = None) -> float:
    """Net points an episode, over all rounds or over the rounds that begin within the ``last`` episodes."""
    late = episodes[::-1].cumsum()[::-1] <= (last or episodes.sum())
    return float(np.average(points[late], weights=episodes[late]))


def _fluctuation(episodes: np.ndarray, points: np.ndarray) -> float:
    """Root mean square of the differences between the means of successive blocks, once the network is updated."""
    before = episodes.cumsum() - episodes
    block = (before - _WITHOUT_UPDATES) // _BLOCK
    learned = before >= _WITHOUT_UPDATES
    of_block, weights = block[learned].astype(int), episodes[learned]
    means = np.bincount(of_block, weights * points[learned]) / np.bincount(of_block, weights)
    return float(np.sqrt(np.mean(np.diff(means) ** 2)))


def _second_less_first(values: np.ndarray) -> Measured:
    first, second = values[:TRIALS], values[TRIALS:]
    return _over_trials(second - first)


def _over_trials(values: np.ndarray) -> Measured:
    mean, error = float(values.mean()), _T * float(values.std(ddof=1)) / math.sqrt(len(values))
    return Measured(mean, (mean - error, mean + error), f"{len(values)} trials")


def shares_of_400(effort: Effort) -> Measured:
    """The distance of 48.66 % and 45.33 % from the nearest whole number of 400 games, in games."""
    return exact(max(abs(400 * p - round(400 * p)) for p in (0.4866, 0.4533)))
