"""Claims of a paper: how each is computed here, and the verdict on it.

A published number stands for a range: its rounding and, if the paper gives the size of its sample, the 95 % interval
of that sample. :mod:`crib_env.evaluate.papers.report` says to readers what each verdict means.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from crib_env.evaluate.executors.cluster import Cluster
from crib_env.evaluate.statistics import mean_interval
from crib_env.players.win_rate import Z, paired_rate_interval

Verdict = Literal["holds", "fails", "confirmed", "not refuted", "differs", "undecided", "shown"]
# A paper's sample whose range is wider than this could refute too little.
_ROUGH_SHARE = 0.05  # of the games
_ROUGH_SPREAD = 5.0  # points a game


class Published(NamedTuple):
    """A paper's statement: as printed, and the range that it stands for; without a range it is only shown.

    Attributes:
        printed: the figure or the words.
        low, high: the range; one end alone is a direction.
        sample: whether the range holds the uncertainty of a sample of the paper's, and whether that sample is so small
            that the range refutes too little.
    """

    printed: str
    low: float = -math.inf
    high: float = math.inf
    sample: Literal["none", "small", "large"] = "none"

    @property
    def is_compared(self) -> bool:
        """Whether there is a range."""
        return math.isfinite(self.low) or math.isfinite(self.high)

    @property
    def is_number(self) -> bool:
        """Whether the range has two ends."""
        return math.isfinite(self.low) and math.isfinite(self.high)


def number(printed: str, value: float, unit: float = 0.0) -> Published:
    """A number that is exact except for rounding in its last digit, whose unit is ``unit``."""
    return Published(printed, value - unit / 2, value + unit / 2)


def share(printed: str, rate: float, unit: float, games: int) -> Published:
    """A share of a number of independent games: rounded, and with the interval of that sample."""
    wins = round(rate * games)
    low, high = paired_rate_interval(np.repeat([1.0, 0.0], [wins, games - wins]))
    return Published(printed, low - unit / 2, high + unit / 2, "small" if high - low > _ROUGH_SHARE else "large")


def count(printed: str, part: int, games: int) -> Published:
    """A number of games among independent ones, as a share with the interval of that sample."""
    return share(printed, part / games, 0, games)


def mean(printed: str, value: float, unit: float, n: int, deviation: float) -> Published:
    """A mean of ``n`` independent values of this standard deviation: rounded, and with the interval of that sample."""
    error = Z * deviation / math.sqrt(n) + unit / 2
    return Published(printed, value - error, value + error, "large")


def spread(printed: str, points: float, games: int, deviation: float) -> Published:
    """Net points a game over a number of games, where those of one game have this standard deviation."""
    error = Z * deviation / math.sqrt(games)
    sample: Literal["small", "large"] = "small" if 2 * error > _ROUGH_SPREAD else "large"
    return Published(printed, points - error, points + error, sample)


def between(printed: str, low: float, high: float) -> Published:
    """A range that the paper gives, or our reading of its words; ``printed`` says which."""
    return Published(printed, low, high)


def above(printed: str, low: float) -> Published:
    """A statement that something is above a value."""
    return Published(printed, low=low)


def below(printed: str, high: float) -> Published:
    """A statement that something is below a value."""
    return Published(printed, high=high)


def shown(printed: str) -> Published:
    """A figure that cannot be compared, such as a time on another machine, or that the paper leaves blank."""
    return Published(printed)


@dataclass(frozen=True)
class Measured:
    """A value measured here, with its 95 % interval (none if it is exact or a time), and its sample."""

    value: float
    interval: tuple[float, float] | None
    sample: str
    remark: str = ""


def exact(value: float, sample: str = "exact", remark: str = "") -> Measured:
    """A value without an interval."""
    return Measured(float(value), None, sample, remark)


def mean_of(values: np.ndarray, sample: str, remark: str = "") -> Measured:
    """The mean of independent values (N,)."""
    return Measured(float(np.mean(values)), mean_interval(values), sample, remark)


def verdict(published: Published, measured: Measured) -> Verdict:
    """The verdict on a claim that is not a check, see the module."""
    if not published.is_compared:
        return "shown"
    low, high = measured.interval or (measured.value, measured.value)
    if high < published.low or low > published.high:
        return "differs"
    if published.sample == "none":
        return "confirmed" if published.low <= low and high <= published.high else "undecided"
    if high - low > published.high - published.low:
        return "undecided"
    return "confirmed" if published.sample == "large" else "not refuted"


@dataclass(frozen=True)
class Training:
    """A run of ``crib-env train`` that claims are measured on.

    Attributes:
        name: the name of its folder.
        learner: the learner, with its preset and settings in ``flags``.
        episodes: in the quick and in the full version; 0: the quick version leaves it out, and its claims.
        each: about how many seconds an episode takes.
        seed: added to the seed of the reproduction.
    """

    name: str
    learner: str
    flags: tuple[str, ...]
    episodes: tuple[int, int]
    each: float
    seed: int = 0

    def command(self, quick: bool) -> str:
        """The training of a version, for people; of the full one where the quick one leaves it out."""
        episodes = self.episodes[0] if quick and self.episodes[0] else self.episodes[1]
        return f"train {' '.join((self.learner, *self.flags, '--episodes', f'{episodes}'))}"


@dataclass(frozen=True)
class Effort:
    """The input of a measurement.

    Attributes:
        n: size of the sample, in the unit of the claim.
        seed: random seed of everything.
        threads: the number of threads.
        runs: the folders of the claim's trainings.
        on_progress: called with the number of further units of ``n`` that are done.
        cluster: a cluster to play matches on, in place of threads; the results are the same.
    """

    n: int
    seed: int = 0
    threads: int = 1
    runs: tuple[Path, ...] = ()
    on_progress: Callable[[int], None] = lambda done: None
    cluster: Cluster | None = None


Measure = Callable[[Effort], Measured]
"""A way to compute a claim's figure."""


@dataclass(frozen=True)
class Claim:
    """One figure or statement of a paper.

    Attributes:
        key: its name in files, unique in its paper.
        place: where it is in the paper.
        says: its content, in a few words.
        published: its figure.
        how: how our figure is computed.
        measure: computes it.
        form: the format of the numbers, for ``str.format``.
        samples: sizes in the quick and in the full version; 0: left out of the quick one.
        each: about how many seconds one unit of the sample takes.
        trainings: the trainings that it is measured on, if it needs learners.
        is_check: whether it is one of arithmetic or of the rules.
        why: the reason for a difference; claims that differ for one reason have the same text here.
    """

    key: str
    place: str
    says: str
    published: Published
    how: str
    measure: Measure
    form: str = "{:,.2f}"
    samples: tuple[int, int] = (1, 1)
    each: float = 0.0
    trainings: tuple[Training, ...] = ()
    is_check: bool = False
    why: str = ""

    def size(self, quick: bool) -> int:
        """The size of its sample in this version; 0 if it is left out."""
        if not all(training.episodes[not quick] for training in self.trainings):
            return 0
        return self.samples[not quick]

    def is_cut_short(self, quick: bool) -> bool:
        """Whether one of its trainings is shorter in this version than in the full one."""
        return any(training.episodes[not quick] < training.episodes[1] for training in self.trainings)

    def text(self, measured: Measured) -> str:
        """A measurement with its interval, for people."""
        value = self.form.format(measured.value)
        if measured.interval is None:
            return value
        return f"{value} ({' to '.join(self.form.format(end) for end in measured.interval)})"


@dataclass(frozen=True)
class Paper:
    """A paper: its claims, and which of its tables and figures cannot be computed, and why."""

    name: str
    title: str
    claims: tuple[Claim, ...]
    left_out: tuple[tuple[str, str], ...]

    @property
    def trainings(self) -> tuple[Training, ...]:
        """The trainings that its claims need, each once, in the order of the claims."""
        return tuple(dict.fromkeys(training for claim in self.claims for training in claim.trainings))
