"""Recomputes the figures of papers, and writes a report: ``python -m crib_env.evaluate.makers.papers all``."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import tyro

from crib_env.evaluate.console import console
from crib_env.evaluate.ending import INTERRUPTED, TERMINATED, Terminated
from crib_env.evaluate.files import whole_text, write_json
from crib_env.evaluate.job import held
from crib_env.evaluate.makers import run
from crib_env.evaluate.makers.papers.claims import NAMES, Paper, Training, read_paper
from crib_env.evaluate.makers.papers.measures import Effort, Measured
from crib_env.evaluate.ranges import Seed, Threads
from crib_env.evaluate.runs.format import SUMMARY, is_begun
from crib_env.files.json_text import read_json, typed

INTRODUCTION = """\
# The papers' figures, recomputed

A claim is *confirmed* when our measurement could have refuted it and did not. It is *not refuted* when the paper's
sample is so small that many other figures would agree too: its 95 % interval is wider than 5 % of the games, or 5
points a game. A printed number stands for its rounding and, where the paper gives its sample, for the 95 % interval of
that sample. The claim *differs* when our 95 % interval, in brackets, does not overlap this range, and is *undecided*
when they overlap and ours is wider. A check of arithmetic or of the rules *holds* or *fails*. What cannot be compared
is *shown*.
"""
_FINAL_GAMES = {"discard-game": 200_000}  # hands; other learners are measured by their claims
_FEW = 1_000


class Outcome(NamedTuple):
    """What a claim's figure came to."""

    day: str
    """On which it was measured, as in 2026-01-31."""
    measured: Measured


def papers(
    paper: Annotated[Literal[NAMES] | Literal["all"], tyro.conf.Positional],  # type: ignore[valid-type]
    quick: bool = False,
    seed: Seed = 0,
    folder: Path = Path("runs/papers"),
    threads: Threads = 2,
) -> None:
    """Recomputes the figures of a paper, and reports which are confirmed and which differ.

    The folder keeps trainings and results, so the same command goes on with what was stopped.

    Args:
        paper: Name of the paper, or all.
        quick: Small samples, short trainings, no long computations: about two minutes a paper.
        seed: Random seed of deals and trainings.
        folder: For trainings, results and the report; each version and seed has a folder in it.
        threads: Number of threads.
    """
    place = folder / f"{'quick' if quick else 'full'}-{seed}"
    place.mkdir(parents=True, exist_ok=True)
    with held(place):
        chosen = [read_paper(name) for name in (NAMES if paper == "all" else (paper,))]
        sections = [section_of(each, compute(each, place, quick, seed, threads), quick) for each in chosen]
        with whole_text(place / "report.md") as file:
            file.write("\n".join([INTRODUCTION, *sections]))
    console.print(f"report: {place / 'report.md'}", soft_wrap=True)


def compute(paper: Paper, place: Path, quick: bool, seed: int, threads: int) -> dict[str, Outcome]:
    """Trains and computes what is not in the folder yet; the outcomes by key."""
    found = {}
    for claim in paper.claims:
        if not claim.size(quick):
            continue
        file = place / "claims" / paper.name / f"{claim.key}.json"
        if not file.exists():
            runs = tuple(train(place / "trainings" / one.name, one, quick, seed) for one in claim.trainings)
            measured = claim.measure(Effort(claim.size(quick), seed, threads, runs))
            file.parent.mkdir(parents=True, exist_ok=True)
            write_json(file, Outcome(date.today().isoformat(), measured))
            console.print(f"{paper.name}, {claim.key}: {claim.text(measured)}, {claim.verdict(measured, quick)}")
        fault = f"{file} is not a whole result: delete it to compute it again"
        found[claim.key] = read_json(file, fault, lambda content: typed(content, Outcome))
    return found


def train(place: Path, training: Training, quick: bool, seed: int) -> Path:
    """Trains in a process of its own, which shows its progress, unless it is done; a stopped run continues.

    Raises:
        ValueError: the training failed.
        KeyboardInterrupt: it was stopped, and has written a checkpoint.
    """
    if (place / SUMMARY).is_file():
        return place
    words = ["--resume", str(place)]
    if not is_begun(place):
        words = [*training.flags.split(), "--episodes", str(training.episodes[not quick]), "--evaluations", "0"]
        words += ["--final-games", str(_FINAL_GAMES.get(training.learner, _FEW)), "--seed", str(seed + training.seed)]
        words += ["--folder", str(place)]
    command = [sys.executable, "-m", "crib_env.train", training.learner, *words]
    with subprocess.Popen(command) as process:
        try:
            status = process.wait()
        except KeyboardInterrupt as interrupt:
            if isinstance(interrupt, Terminated):
                process.terminate()
            process.wait()  # Ctrl-C reached it too: it writes a checkpoint
            raise
    if status in (INTERRUPTED, TERMINATED):
        raise KeyboardInterrupt
    if status:
        raise ValueError(f"the training {training.name} failed with status {status}: {' '.join(command[1:])}")
    return place


def section_of(paper: Paper, outcomes: dict[str, Outcome], quick: bool) -> str:
    """The section of a paper: how many claims have which verdict, a table of them, and why some differ."""
    measured = [(claim, outcomes[claim.key].measured) for claim in paper.claims if claim.key in outcomes]
    rows = [(claim, found, claim.verdict(found, quick)) for claim, found in measured]
    days = sorted({outcome.day for outcome in outcomes.values()})
    counts = ", ".join(f"{n} {verdict}" for verdict, n in Counter(verdict for *_, verdict in rows).items())
    cells = ((c.says, c.published.printed, c.text(found), found.sample, verdict) for c, found, verdict in rows)
    lines = [
        f"## {paper.title}",
        "",
        f"{counts}; {days[0]} to {days[-1]}.",
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
