"""Measurements of the learning curves of several trials of two learners (Sharan and Pawar 2022)."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from crib_env.evaluate.papers.claims import Effort, Measured
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
    measured = _over_trials(second - first)
    remark = f"{second.mean():.3f} less {first.mean():.3f}; by trial {measured.remark}"
    return Measured(measured.value, measured.interval, measured.sample, remark)


def _over_trials(values: np.ndarray) -> Measured:
    mean, error = float(values.mean()), _T * float(values.std(ddof=1)) / math.sqrt(len(values))
    each = ", ".join(f"{value:+.2f}" for value in values)
    return Measured(mean, (mean - error, mean + error), f"{len(values)} trials", each)
