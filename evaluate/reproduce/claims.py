"""Claims of a paper, how each is computed here, and when the two agree.

A published number stands for a range: its rounding, and the 95 % interval of the sample that it was taken from where
the paper gives that. It differs from ours when this range and our interval do not meet, and agrees when they do; unless
ours is the wider one, which says too little, and leaves it undecided. A statement without a number, "better than
random", is a direction: it agrees when our whole interval lies on its side, differs when all of it lies on the other,
and is undecided in between.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from evaluate.on_ray import Cluster
from evaluate.statistics import Z, mean_interval, paired_rate_interval

Verdict = Literal["agrees", "differs", "undecided", "shown"]


class Published(NamedTuple):
    """What a paper says: as printed, and the range that it stands for; without a range it is only shown."""

    printed: str
    low: float = -math.inf
    high: float = math.inf
    is_direction: bool = False

    @property
    def is_compared(self) -> bool:
        """Whether there is a range."""
        return math.isfinite(self.low) or math.isfinite(self.high)


def number(printed: str, value: float, unit: float = 0.0) -> Published:
    """A number that is exact but for the rounding of its last digit, of so much ``unit``."""
    return Published(printed, value - unit / 2, value + unit / 2)


def share(printed: str, rate: float, unit: float, games: int) -> Published:
    """A share of so many independent games: rounded, and with the interval of that sample."""
    wins = round(rate * games)
    low, high = paired_rate_interval(np.repeat([1.0, 0.0], [wins, games - wins]))
    return Published(printed, low - unit / 2, high + unit / 2)


def mean(printed: str, value: float, unit: float, n: int, deviation: float) -> Published:
    """A mean of ``n`` independent values of this standard deviation: rounded, and with the interval of that sample."""
    error = Z * deviation / math.sqrt(n) + unit / 2
    return Published(printed, value - error, value + error)


def between(printed: str, low: float, high: float) -> Published:
    """A range that the paper gives, or that its words are read as; ``printed`` says which."""
    return Published(printed, low, high)


def above(printed: str, low: float) -> Published:
    """A statement that something is above a value."""
    return Published(printed, low=low, is_direction=True)


def below(printed: str, high: float) -> Published:
    """A statement that something is below a value."""
    return Published(printed, high=high, is_direction=True)


def shown(printed: str) -> Published:
    """What cannot be compared, as a time on another machine, or what the paper leaves blank."""
    return Published(printed)


@dataclass(frozen=True)
class Measured:
    """What came out here, with its 95 % interval (none for what is exact or a time), and over which sample."""

    value: float
    interval: tuple[float, float] | None
    sample: str
    remark: str = ""

    @classmethod
    def of_json(cls, found: dict[str, Any]) -> Measured:
        """The measurement out of what JSON made of ``dataclasses.asdict``."""
        interval = found["interval"]
        ends = None if interval is None else (float(interval[0]), float(interval[1]))
        return cls(float(found["value"]), ends, str(found["sample"]), str(found["remark"]))


def exact(value: float, sample: str = "exact", remark: str = "") -> Measured:
    """A value without an interval."""
    return Measured(float(value), None, sample, remark)


def mean_of(values: np.ndarray, sample: str, remark: str = "") -> Measured:
    """The mean of independent values (N,)."""
    return Measured(float(np.mean(values)), mean_interval(values), sample, remark)


def verdict(published: Published, measured: Measured) -> Verdict:
    """Whether a paper and a measurement agree, see the module."""
    if not published.is_compared:
        return "shown"
    low, high = measured.interval or (measured.value, measured.value)
    if high < published.low or low > published.high:
        return "differs"
    if published.is_direction:
        is_settled = published.low <= low and high <= published.high
    else:
        is_settled = high - low <= published.high - published.low
    return "agrees" if is_settled else "undecided"


@dataclass(frozen=True)
class Training:
    """A run of ``python -m train`` that claims are measured on.

    Attributes:
        name: of its folder.
        learner: with its preset and settings in ``flags``.
        episodes: in the quick and in the full version; 0: the quick version leaves it out, and its claims.
        each: about how many seconds an episode takes.
    """

    name: str
    learner: str
    flags: tuple[str, ...]
    episodes: tuple[int, int]
    each: float

    def command(self, quick: bool) -> str:
        """The training of a version, for people; of the full one where the quick one leaves it out."""
        episodes = self.episodes[0] if quick and self.episodes[0] else self.episodes[1]
        return f"train {' '.join((self.learner, *self.flags, '--episodes', f'{episodes}'))}"


@dataclass(frozen=True)
class Effort:
    """What a measurement is handed.

    Attributes:
        n: size of the sample, in what the claim counts.
        seed: of all that is random.
        threads: how many may work side by side.
        run: the folder of the claim's training.
        choices: the file of people's discards.
        on_progress: is told how many more of ``n`` are done.
        cluster: to play matches on, in place of threads; what comes out is the same.
    """

    n: int
    seed: int = 0
    threads: int = 1
    run: Path | None = None
    choices: Path | None = None
    on_progress: Callable[[int], None] = lambda done: None
    cluster: Cluster | None = None


@dataclass(frozen=True)
class Claim:
    """One figure or statement of a paper.

    Attributes:
        key: its name in files, unique in its paper.
        place: where it stands in the paper.
        says: what it says, in a few words.
        published: its figure.
        how: how ours is computed.
        measure: computes it.
        form: of the numbers, for ``str.format``.
        samples: sizes in the quick and in the full version; 0: left out of the quick one.
        each: about how many seconds one of the sample takes.
        training: what it is measured on, if it needs a learner.
        of_choices: whether it needs a file of people's discards.
        why: what explains a difference.
    """

    key: str
    place: str
    says: str
    published: Published
    how: str
    measure: Callable[[Effort], Measured]
    form: str = "{:,.2f}"
    samples: tuple[int, int] = (1, 1)
    each: float = 0.0
    training: Training | None = None
    of_choices: bool = False
    why: str = ""

    def size(self, quick: bool) -> int:
        """Of its sample in this version; 0 if it is left out."""
        if self.training is not None and not self.training.episodes[not quick]:
            return 0
        return self.samples[not quick]

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
        """What its claims need trained, each once, in the order of the claims."""
        return tuple(dict.fromkeys(claim.training for claim in self.claims if claim.training is not None))
