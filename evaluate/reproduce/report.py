"""A reproduction as tables for people, as Markdown, as JSON and as a picture; and the command that makes it."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.figure import Figure
from rich import box
from rich.table import Table

from evaluate.console import console, progress_bar
from evaluate.figures import BLUE, GREY, new_figure, save_figure
from evaluate.files import whole_file, write_json
from evaluate.on_ray import connected
from evaluate.reproduce.claims import Paper, verdict
from evaluate.reproduce.run import PAPERS, Outcome, Reproduction

Outcomes = dict[str, list[Outcome]]
_AGREEMENT = (
    "A printed number stands for its rounding and, where the paper says over how many games it was taken, for the 95 % "
    "interval of that sample; it *agrees* when that range and our 95 % interval meet, and is *undecided* when they do "
    "but ours is the wider. A statement without a number agrees when our whole interval lies on its side, and is "
    "undecided when it lies on both. *Shown*: set side by side without a verdict, as times on other machines are."
)


def word_of(outcome: Outcome) -> str:
    """The verdict on a claim, or that it was left out."""
    return "left out" if outcome.measured is None else verdict(outcome.claim.published, outcome.measured)


def duration(seconds: float) -> str:
    """About so much time, for people."""
    return (
        f"{seconds:.0f} s"
        if seconds < 90
        else f"{seconds / 60:.0f} min"
        if seconds < 5400
        else f"{seconds / 3600:.1f} h"
    )


def in_words(outcomes: list[Outcome]) -> str:
    """How many claims came out how."""
    counts = Counter(map(word_of, outcomes))
    words = ("agrees", "differs", "undecided", "shown", "left out")
    return ", ".join(f"{counts[word]} {word}" for word in words if counts[word])


def paper_table(paper: Paper, outcomes: list[Outcome]) -> Table:
    """The claims of a paper by their keys, a row each; what they are stands in the report."""
    table = Table(title=f"{paper.title}: {in_words(outcomes)}", box=box.SIMPLE_HEAD)
    for column in ("claim", "paper", "here", ""):
        table.add_column(column, justify="right" if column in ("paper", "here") else "left")
    for outcome in outcomes:
        here = "" if outcome.measured is None else outcome.claim.text(outcome.measured)
        table.add_row(outcome.claim.key, outcome.claim.published.printed, here, word_of(outcome))
    return table


def markdown_of(paper: Paper, outcomes: list[Outcome], quick: bool) -> str:
    """A section: a table of the claims, how each was computed and why it differs, and what cannot be computed."""
    lines = [f"## {paper.title}", "", f"{len(outcomes)} claims: {in_words(outcomes)}.", ""]
    lines += ["| | where | claim | paper | here | sample | |", "|---|---|---|---|---|---|---|"]
    notes = []
    for number, outcome in enumerate(outcomes, start=1):
        claim, measured = outcome.claim, outcome.measured
        here, sample = ("", "") if measured is None else (claim.text(measured), measured.sample)
        cells = [str(number), claim.place, claim.says, claim.published.printed, here, sample, f"**{word_of(outcome)}**"]
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
        notes.append(f"{number}. {_note(outcome, quick)}")
    lines += ["", *notes, "", "What the package does not compute:", ""]
    lines += [f"* {place}: {reason}" for place, reason in paper.left_out]
    return "\n".join(lines) + "\n"


def _note(outcome: Outcome, quick: bool) -> str:
    claim, measured = outcome.claim, outcome.measured
    parts = [f"By {claim.how}."]
    if claim.training is not None:
        parts.append(f"On `{claim.training.command(quick)}`.")
    if measured is None:
        return " ".join([*parts, f"Left out: {outcome.left_out}."])
    if measured.remark:
        parts.append(f"Here: {measured.remark}.")
    if claim.why and word_of(outcome) in ("differs", "shown"):
        parts.append(claim.why)
    return " ".join(parts)


def report_of(reproduction: Reproduction, outcomes: Outcomes, picture: str) -> str:
    """The whole report; ``picture`` is the name of the file beside it, or nothing."""
    everything = [outcome for of_paper in outcomes.values() for outcome in of_paper]
    spent = sum(outcome.seconds for outcome in everything)
    version = "quick" if reproduction.quick else "full"
    command = f"python -m evaluate reproduce {' '.join(reproduction.papers)}{' --quick' * reproduction.quick}"
    if reproduction.papers == tuple(PAPERS):
        command = command.replace(" ".join(PAPERS), "all")
    lines = [
        "# The papers' figures, computed anew",
        "",
        f"The {version} version, seed {reproduction.seed}: `{command} --seed {reproduction.seed}`; "
        f"{duration(spent)} of measuring, beside {len(reproduction.trainings)} trainings. "
        + (_only_quick(reproduction) if reproduction.quick else ""),
        "",
        f"{len(everything)} claims: {in_words(everything)}. {_AGREEMENT}",
        "",
    ]
    if picture:
        lines += [f"![Shares of games, the papers' and ours]({picture})", ""]
    sections = [markdown_of(PAPERS[name], of_paper, reproduction.quick) for name, of_paper in outcomes.items()]
    return "\n".join([*lines, *sections])


def _only_quick(reproduction: Reproduction) -> str:
    episodes = sum(t.episodes[0] for t in reproduction.trainings)
    return (
        "Samples are small, trainings are cut short "
        f"({episodes:,} episodes together, for {sum(t.episodes[1] for t in reproduction.trainings):,} in the full "
        "version), and what takes long is left out: conclusions are for the full version to draw."
    )


def json_of(reproduction: Reproduction, outcomes: Outcomes) -> dict[str, Any]:
    """All of it for programs."""
    papers = {
        name: [
            {
                "key": outcome.claim.key,
                "place": outcome.claim.place,
                "says": outcome.claim.says,
                "published": outcome.claim.published.printed,
                "how": outcome.claim.how,
                "verdict": word_of(outcome),
                "value": None if outcome.measured is None else outcome.measured.value,
                "interval": None if outcome.measured is None else outcome.measured.interval,
                "sample": outcome.left_out if outcome.measured is None else outcome.measured.sample,
                "seconds": outcome.seconds,
            }
            for outcome in of_paper
        ]
        for name, of_paper in outcomes.items()
    }
    return {"quick": reproduction.quick, "seed": reproduction.seed, "papers": papers}


class Compared(NamedTuple):
    """A claim in the picture: its name, the paper's range, ours, and our value."""

    name: str
    theirs: tuple[float, float]
    ours: tuple[float, float]
    value: float


def compared_shares(outcomes: Outcomes) -> list[Compared]:
    """What the picture shows: claims of a printed share that was measured on a sample."""
    rows = []
    for name, of_paper in outcomes.items():
        for claim, measured in ((outcome.claim, outcome.measured) for outcome in of_paper):
            published = claim.published
            if measured is None or measured.interval is None or not claim.form.endswith("%}"):
                continue
            if published.is_compared and not published.is_direction:
                label = f"{name.rpartition('-')[0]}: {claim.key}"
                rows.append(Compared(label, (published.low, published.high), measured.interval, measured.value))
    return rows


def draw_shares(rows: list[Compared]) -> Figure:
    """A line for each claim: the paper's range in grey, ours in blue."""
    figure = new_figure(8, 1 + 0.24 * len(rows))
    axes = figure.subplots()
    for y, row in enumerate(reversed(rows)):
        for (low, high), colour, width in ((row.theirs, GREY, 7), (row.ours, BLUE, 3)):
            axes.plot([100 * low, 100 * high], [y, y], color=colour, lw=width, solid_capstyle="butt")
        axes.plot(100 * row.value, y, "o", color=BLUE, ms=4)
    axes.set_yticks(range(len(rows)), [row.name for row in reversed(rows)], fontsize=7)
    axes.set(xlabel="%; grey: the paper's range, blue: ours", xlim=(-2, 102))
    axes.grid(axis="x", lw=0.4)
    return figure


def write_report(reproduction: Reproduction, outcomes: Outcomes, path: Path) -> None:
    """Writes the report, and its picture beside it under the same name."""
    rows = compared_shares(outcomes)
    if rows:
        save_figure(draw_shares(rows), path.with_suffix(".png"))
    with whole_file(path) as file:
        file.write(report_of(reproduction, outcomes, path.with_suffix(".png").name if rows else ""))


def reproduce_and_report(
    reproduction: Reproduction, folder: Path, threads: int, report: Path | None, ray: str | None = None
) -> None:
    """Trains and computes what is left to do, prints tables and writes the files.

    Args:
        reproduction: what to do.
        folder: of it.
        threads: how many may work side by side.
        report: also write the report to this Markdown file, and its picture beside it.
        ray: the address of a cluster to train and to play matches on, see :func:`evaluate.on_ray.connected`; its
            machines share the folder.
    """
    n = len(reproduction.trainings)
    console.print(f"{folder}: {duration(reproduction.seconds(folder))} left on one core, by estimate; {n} trainings")
    with ExitStack() as opened:
        cluster = None if ray is None else opened.enter_context(connected(ray))
        reproduction.train(folder, cluster)
        progress = opened.enter_context(progress_bar())
        all_claims = progress.add_task("claims", total=len(reproduction.claims))
        one_claim = progress.add_task("")

        def on_claim(paper: Paper, claim: Any) -> None:
            progress.update(all_claims, advance=1)
            progress.reset(one_claim, total=claim.size(reproduction.quick), description=f"{paper.name}: {claim.key}")

        outcomes = reproduction.compute(
            folder, threads, on_claim, lambda done: progress.update(one_claim, advance=done), cluster
        )
    for path in filter(None, (folder / "report.md", report)):
        write_report(reproduction, outcomes, path)
    write_json(folder / "report.json", json_of(reproduction, outcomes))
    for name, of_paper in outcomes.items():
        console.print(paper_table(PAPERS[name], of_paper))
    console.print(f"report: {folder / 'report.md'}" + (f" and {report}" if report is not None else ""))
