"""Claims of a paper: how each is computed here, and the verdict on it.

A published number stands for a range: its rounding and, if the paper gives the size of its sample, the 95 % interval
of that sample. ``INTRODUCTION`` of :mod:`crib_env.evaluate.makers.papers.__main__` says what each verdict means.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from crib_env.evaluate.makers.papers import measures
from crib_env.evaluate.makers.papers.measures import Measure, Measured
from crib_env.players.win_rate import Z, paired_rate_interval

Verdict = Literal["holds", "fails", "confirmed", "not refuted", "differs", "undecided", "no verdict", "shown"]
NAMES = ("lang-2018", "oconnor-2000", "anderson-2022", "sharan-pawar-2022", "mueller-1987")
# A paper's sample whose range is wider than this could refute too little.
_ROUGH_SHARE, _ROUGH_SPREAD = 0.05, 5.0  # of the games, points a game


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


def number(printed: str, value: float, unit: float = 0.0) -> Published:
    """A number that is exact except for rounding in its last digit, whose unit is ``unit``."""
    return Published(printed, value - unit / 2, value + unit / 2)


def share(printed: str, rate: float, unit: float, games: int) -> Published:
    """A share of a number of independent games: rounded, and with the interval of that sample."""
    wins = round(rate * games)
    low, high = paired_rate_interval(np.repeat([1.0, 0.0], [wins, games - wins]))
    return Published(printed, low - unit / 2, high + unit / 2, "small" if high - low > _ROUGH_SHARE else "large")


def mean(printed: str, value: float, unit: float, n: int, deviation: float) -> Published:
    """A mean of ``n`` independent values of this standard deviation: rounded, and with the interval of that sample."""
    error = Z * deviation / math.sqrt(n) + unit / 2
    return Published(printed, value - error, value + error, "large")


def spread(printed: str, points: float, games: int, deviation: float) -> Published:
    """Net points a game over a number of games, where those of one game have this standard deviation."""
    error = Z * deviation / math.sqrt(games)
    return Published(printed, points - error, points + error, "small" if 2 * error > _ROUGH_SPREAD else "large")


_PUBLISHED: dict[str, Callable[..., Published]] = {
    "number": number,
    "share": share,
    "count": lambda printed, part, games: share(printed, part / games, 0, games),
    "mean": mean,
    "spread": spread,
    "between": Published,  # a range that the paper gives, or our reading of its words
    "above": Published,
    "below": lambda printed, high: Published(printed, high=high),
    "shown": Published,  # cannot be compared
}


class Training(NamedTuple):
    """A run of ``crib-env train`` that claims are measured on.

    Attributes:
        name: the name of its folder.
        learner: the learner, with its preset and settings in ``flags``.
        episodes: in the quick and in the full version; 0: the quick version leaves it out, and its claims.
        seed: added to the seed of the reproduction.
    """

    name: str
    learner: str
    flags: str
    episodes: tuple[int, int]
    seed: int = 0


@dataclass(frozen=True)
class Claim:
    """One figure or statement of a paper.

    Attributes:
        key: the name of its file, unique in its paper.
        place: where it is in the paper.
        says: its content, in a few words.
        published: its figure.
        measure: computes ours.
        form: the format of the numbers, for ``str.format``.
        samples: sizes in the quick and in the full version; 0: left out of the quick one.
        trainings: the trainings that it is measured on, if it needs learners.
        is_check: whether it is one of arithmetic or of the rules.
        why: the reason for a difference; claims that differ for one reason have the same text here.
    """

    key: str
    place: str
    says: str
    published: Published
    measure: Measure
    form: str = "{:,.2f}"
    samples: tuple[int, int] = (1, 1)
    trainings: tuple[Training, ...] = ()
    is_check: bool = False
    why: str = ""

    def size(self, quick: bool) -> int:
        """The size of its sample in this version; 0 if it is left out."""
        return self.samples[not quick] if all(training.episodes[not quick] for training in self.trainings) else 0

    def text(self, measured: Measured) -> str:
        """A measurement with its interval."""
        value = self.form.format(measured.value)
        ends = measured.interval or ()
        return f"{value} ({', '.join(self.form.format(end) for end in ends)})" if ends else value

    def verdict(self, measured: Measured, quick: bool = False) -> Verdict:
        """The verdict on it; one that is measured on a training that the quick version cuts short gets none."""
        found = _compared(self.published, measured)
        if self.is_check:
            return "holds" if found == "confirmed" else "fails"
        is_short = quick and any(training.episodes[0] < training.episodes[1] for training in self.trainings)
        return "no verdict" if is_short and found != "shown" else found


def _compared(published: Published, measured: Measured) -> Verdict:
    if math.isinf(published.low) and math.isinf(published.high):
        return "shown"
    low, high = measured.interval or (measured.value, measured.value)
    if high < published.low or low > published.high:
        return "differs"
    if published.sample == "none":
        return "confirmed" if published.low <= low and high <= published.high else "undecided"
    if high - low > published.high - published.low:
        return "undecided"
    return "confirmed" if published.sample == "large" else "not refuted"


class Paper(NamedTuple):
    """A paper and its claims."""

    name: str
    title: str
    claims: list[Claim]


def read_paper(name: str) -> Paper:
    """The paper of this name.

    Its file holds the ``title``, ``trainings``, ``reasons``, which several claims may give by name as their ``why``,
    and ``groups`` of claims. A group has the fields that its claims have in common; each of them may replace some. A
    published figure is a kind of ``_PUBLISHED`` with its arguments. ``measure`` is a function of the paper's module or
    of :mod:`crib_env.evaluate.makers.papers.measures`: alone, or with arguments that make it.
    """
    file = Path(__file__).with_name(f"{name.replace('-', '_')}.json")
    content = json.loads(file.read_text(encoding="utf-8"))
    own = import_module(f"crib_env.evaluate.makers.papers.{file.stem}")
    trainings = {
        one["name"]: Training(**one | {"episodes": tuple(one["episodes"])}) for one in content.get("trainings", ())
    }
    reasons, functions = content.get("reasons", {}), {**vars(measures), **vars(own)}

    def claim_of(fields: dict[str, Any]) -> Claim:
        (kind,) = fields.keys() & _PUBLISHED.keys()
        fields["published"] = _PUBLISHED[kind](*fields.pop(kind))
        fields["why"] = reasons.get(fields.get("why"), fields.get("why", ""))
        fields["trainings"] = tuple(trainings[training] for training in fields.get("trainings", ()))
        fields["samples"] = tuple(fields.get("samples", (1, 1)))
        fields["measure"] = _named(fields["measure"], functions)
        return Claim(**fields)

    claims = [claim_of({**group, **one}) for group in content["groups"] for one in group.pop("claims")]
    return Paper(name, content["title"], claims)


def _named(call: Any, functions: dict[str, Any]) -> Any:
    """A function by name, or what it makes of arguments, some of which are such calls themselves."""
    name, *arguments = call
    made = [_named(one, functions) if isinstance(one, list) and isinstance(one[0], str) else one for one in arguments]
    return functions[name](*made) if made else functions[name]
