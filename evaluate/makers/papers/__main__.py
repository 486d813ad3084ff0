"""Recomputes the figures of papers, and writes a report: ``python -m crib_env.evaluate.makers.papers all``."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import tyro

from crib_env.evaluate.console import console
from crib_env.evaluate.files import held, whole_text, write_json
from crib_env.evaluate.makers import run
from crib_env.evaluate.makers.papers import measures
from crib_env.evaluate.makers.papers.measures import Effort, Measured
from crib_env.evaluate.runs.format import is_begun, is_finished
from crib_env.files.json_text import read_json
from crib_env.players.games import Z, paired_rate_interval
from crib_env.values import Seed, Threads, typed

NAMES = ("lang-2018", "oconnor-2000", "anderson-2022", "sharan-pawar-2022", "mueller-1987")
INTRODUCTION = """\
# The papers' figures, recomputed

A claim is *confirmed* when our measurement could have refuted it and did not. It is *not refuted* when the paper's
sample is so small that many other figures would agree too: its 95 % interval is wider than 5 % of the games, or 5
points a game. A printed number stands for its rounding and, where the paper gives its sample, for the 95 % interval of
that sample. The claim *differs* when our 95 % interval, in brackets, does not overlap this range, and is *undecided*
when they overlap and ours is wider. A check of arithmetic or of the rules *holds* or *fails*. What cannot be compared
is *shown*.
"""
Verdict = Literal["holds", "fails", "confirmed", "not refuted", "differs", "undecided", "shown"]
# A paper's sample whose range is wider than this could refute too little.
_ROUGH_SHARE, _ROUGH_MEAN = 0.05, 5.0  # of the games, points a game
_QUICK = 20  # how many times smaller samples are
_FINAL_GAMES = {"discard-game": 200_000}  # hands; other learners are measured by their claims
_FEW = 1_000


class Published(NamedTuple):
    """A paper's statement: as printed, and the range that it stands for; without a range it is only shown."""

    printed: str
    low: float = -math.inf
    high: float = math.inf
    sample: Literal["none", "small", "large"] = "none"
    """Whether the range holds the uncertainty of a sample, and whether that is so small that it refutes too little."""


def share(printed: str, wins: int, games: int, unit: float = 0.0) -> Published:
    """A share of independent games: with the interval of that sample, and rounded in its last digit by this unit."""
    low, high = paired_rate_interval(np.repeat([1.0, 0.0], [wins, games - wins]))
    return Published(printed, low - unit / 2, high + unit / 2, "small" if high - low > _ROUGH_SHARE else "large")


def mean(printed: str, value: float, n: int, deviation: float, unit: float = 0.0) -> Published:
    """A mean of ``n`` independent values of this standard deviation, likewise."""
    error = Z * deviation / math.sqrt(n)
    low, high = value - error - unit / 2, value + error + unit / 2
    return Published(printed, low, high, "small" if 2 * error > _ROUGH_MEAN else "large")


class Training(NamedTuple):
    """A run of ``crib-env train`` that claims are measured on; ``name`` is that of its folder."""

    name: str
    learner: str
    flags: str
    episodes: int


@dataclass(frozen=True)
class Claim:
    """One figure or statement of a paper."""

    key: str
    """The name of its file, unique in its paper."""
    says: str
    published: Published
    measure: Callable[[Effort], Measured]
    form: str = "{:,.2f}"
    """Of its numbers, for ``str.format``."""
    sample: int = 1
    trainings: tuple[Training, ...] = ()
    is_check: bool = False
    """Whether it is one of arithmetic or of the rules."""
    why: str = ""
    """The reason for a difference; claims that differ for one reason have the same text here."""

    def text(self, measured: Measured) -> str:
        """A measurement with its interval."""
        value = self.form.format(measured.value)
        ends = measured.interval or ()
        return f"{value} ({', '.join(self.form.format(end) for end in ends)})" if ends else value

    def verdict(self, measured: Measured) -> Verdict:
        """The verdict on it, see ``INTRODUCTION``."""
        _, least, most, sample = self.published
        low, high = measured.interval or (measured.value, measured.value)
        is_inside = least <= low and high <= most
        if self.is_check:
            return "holds" if is_inside else "fails"
        if math.isinf(least) and math.isinf(most):
            return "shown"
        if high < least or low > most:
            return "differs"
        if high - low > most - least if sample != "none" else not is_inside:
            return "undecided"
        return "not refuted" if sample == "small" else "confirmed"


class Paper(NamedTuple):
    """A paper and its claims."""

    name: str
    title: str
    claims: list[Claim]


def read_paper(name: str) -> Paper:
    """The paper of this name.

    A group of claims in its file has the fields that these have in common; each of them may replace some. ``why`` may
    name one of the ``reasons``. What is published is a ``share`` or ``mean`` with its arguments, or a range:
    ``between``. ``measure`` is a function of :mod:`crib_env.evaluate.makers.papers.measures` with its arguments.
    """
    content = json.loads(Path(__file__).with_name(f"{name.replace('-', '_')}.json").read_text(encoding="utf-8"))
    trainings = {one["name"]: Training(**one) for one in content.get("trainings", ())}
    reasons = content.get("reasons", {})
    kinds: dict[str, Callable[..., Published]] = {"share": share, "mean": mean, "between": Published}

    def claim_of(place: str, measure: list[Any], why: str = "", **fields: Any) -> Claim:
        (kind,) = fields.keys() & kinds.keys()
        fields["published"] = kinds[kind](*fields.pop(kind))
        fields["trainings"] = tuple(trainings[training] for training in fields.get("trainings", ()))
        function, *arguments = getattr(measures, measure[0]), *measure[1:]
        return Claim(measure=lambda effort: function(effort, *arguments), why=reasons.get(why, why), **fields)

    claims = [claim_of(**{**group, **one}) for group in content["groups"] for one in group.pop("claims")]
    return Paper(name, content["title"], claims)


def papers(
    paper: Annotated[Literal[NAMES] | Literal["all"], tyro.conf.Positional],  # type: ignore[valid-type]
    quick: bool = False,
    seed: Seed = 0,
    folder: Path = Path("runs/papers"),
    threads: Threads = 2,
) -> None:
    """Recomputes the figures of a paper, and reports which are confirmed and which differ.

    Some are of trained agents: the commands of trainings that are not done yet are printed. The folder keeps results,
    so the same command goes on with what was stopped.

    Args:
        paper: Name of the paper, or all.
        quick: Samples of a twentieth.
        seed: Random seed of deals and trainings.
        folder: For trainings, results and the report; each version and seed has a folder in it.
        threads: Number of threads.
    """
    place = folder / f"{'quick' if quick else 'full'}-{seed}"
    place.mkdir(parents=True, exist_ok=True)
    with held(place):
        chosen = [read_paper(name) for name in (NAMES if paper == "all" else (paper,))]
        sections = [section_of(each, compute(each, place, quick, seed, threads)) for each in chosen]
        with whole_text(place / "report.md") as file:
            file.write("\n".join([INTRODUCTION, *sections]))
    trainings = {one.name: one for each in chosen for claim in each.claims for one in claim.trainings}
    runs = {place / "trainings" / name: one for name, one in trainings.items()}
    if missing := [command_of(one, run, seed) for run, one in runs.items() if not is_finished(run)]:
        console.print("for the other claims, train these, and call this again:", *missing, sep="\n", soft_wrap=True)
    console.print(f"report: {place / 'report.md'}", soft_wrap=True)


def compute(paper: Paper, place: Path, quick: bool, seed: int, threads: int) -> dict[str, Measured]:
    """Computes what is not in the folder yet, where the trainings are done; the figures by key."""
    found = {}
    for claim in paper.claims:
        file = place / "claims" / paper.name / f"{claim.key}.json"
        runs = tuple(place / "trainings" / one.name for one in claim.trainings)
        if not all(map(is_finished, runs)):
            continue
        if not file.exists():
            n = -(-claim.sample // _QUICK) if quick else claim.sample
            measured = claim.measure(Effort(n, seed, threads, runs))
            file.parent.mkdir(parents=True, exist_ok=True)
            write_json(file, measured)
            console.print(f"{paper.name}, {claim.key}: {claim.text(measured)}, {claim.verdict(measured)}")
        fault = f"{file} is not a whole result: delete it to compute it again"
        found[claim.key] = read_json(file, fault, partial(typed, kind=Measured))
    return found


def command_of(training: Training, place: Path, seed: int) -> str:
    """The command of a training; begun ones are resumed."""
    if is_begun(place):
        return f"crib-env train {training.learner} --resume {place}"
    games = _FINAL_GAMES.get(training.learner, _FEW)
    words = f"--episodes {training.episodes} --evaluations 0 --final-games {games} --seed {seed} --folder {place}"
    return f"crib-env train {training.learner} {training.flags} {words}"


def section_of(paper: Paper, outcomes: dict[str, Measured]) -> str:
    """The section of a paper: how many claims have which verdict, a table of them, and why some differ."""
    measured = [(claim, outcomes[claim.key]) for claim in paper.claims if claim.key in outcomes]
    rows = [(claim, found, claim.verdict(found)) for claim, found in measured]
    counts = ", ".join(f"{n} {verdict}" for verdict, n in Counter(verdict for *_, verdict in rows).items())
    cells = ((c.says, c.published.printed, c.text(found), found.sample, verdict) for c, found, verdict in rows)
    lines = [
        f"## {paper.title}",
        "",
        f"{counts}.",
        "",
        "claim | paper | here | sample (games, if not said) | verdict",
        "--- | --- | --- | --- | ---",
        *map(" | ".join, cells),
    ]
    agree = ("confirmed", "not refuted", "undecided", "holds")
    reasons = dict.fromkeys(claim.why for claim, _, verdict in rows if claim.why and verdict not in agree)
    return "\n".join([*lines, "", *(f"* {reason}" for reason in reasons), ""])


if __name__ == "__main__":
    run(papers)
