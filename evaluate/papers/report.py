"""A reproduction as a table, as JSON and as a report; and the command that makes it."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from crib_env.evaluate.console import console
from crib_env.evaluate.figures import save_figure
from crib_env.evaluate.files import whole_text, write_json
from crib_env.evaluate.folder_lock import held
from crib_env.evaluate.on_ray import connected
from crib_env.evaluate.papers.claims import Paper
from crib_env.evaluate.papers.markdown import Outcomes, in_words, report_of, when_measured
from crib_env.evaluate.papers.picture import compared_shares, draw_shares
from crib_env.evaluate.papers.run import PAPERS, Outcome, Reproduction
from crib_env.evaluate.progress import progress_bar


def duration(seconds: float) -> str:
    """An approximate duration, in words."""
    return (
        f"{seconds:.0f} s"
        if seconds < 90
        else f"{seconds / 60:.0f} min"
        if seconds < 5400
        else f"{seconds / 3600:.1f} h"
    )


def paper_table(paper: Paper, outcomes: list[Outcome]) -> Table:
    """The computed claims of a paper, a row each; the report says how and why."""
    table = Table(title=f"{paper.title}: {in_words(outcomes)}", box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    table.add_column("claim", ratio=3)
    for column in ("paper", "here"):
        table.add_column(column, justify="right", ratio=2)
    table.add_column("", no_wrap=True)
    for outcome in outcomes:
        if outcome.measured is not None:
            claim = outcome.claim
            table.add_row(claim.says, claim.published.printed, claim.text(outcome.measured), outcome.verdict)
    return table


def json_of(reproduction: Reproduction, outcomes: Outcomes) -> dict[str, Any]:
    """The whole reproduction as plain values, for JSON."""
    papers = {
        name: [
            {
                "key": outcome.claim.key,
                "place": outcome.claim.place,
                "says": outcome.claim.says,
                "published": outcome.claim.published.printed,
                "how": outcome.claim.how,
                "class": "check" if outcome.claim.is_check else "claim",
                "verdict": outcome.verdict,
                "value": None if outcome.measured is None else outcome.measured.value,
                "interval": None if outcome.measured is None else outcome.measured.interval,
                "sample": outcome.left_out if outcome.measured is None else outcome.measured.sample,
                "seconds": outcome.seconds,
                "day": outcome.day,
            }
            for outcome in of_paper
        ]
        for name, of_paper in outcomes.items()
    }
    return {"quick": reproduction.quick, "seed": reproduction.seed, "papers": papers}


def write_report(reproduction: Reproduction, outcomes: Outcomes, path: Path) -> None:
    """Writes the report, and its picture beside it under the same name."""
    rows = compared_shares(outcomes)
    if rows:
        save_figure(draw_shares(rows, when_measured(outcomes)), path.with_suffix(".png"))
    with whole_text(path) as file:
        file.write(report_of(reproduction, outcomes, path.with_suffix(".png").name if rows else ""))


def reproduce_and_report(
    reproduction: Reproduction, folder: Path, threads: int, report: Path | None, ray: str | None = None
) -> None:
    """Trains and computes everything that is left to do, prints tables and writes the files.

    Args:
        reproduction: the reproduction.
        folder: its folder.
        threads: the number of threads.
        report: also write the report to this Markdown file, and its picture beside it.
        ray: the address of a cluster to train and to play matches on, see :func:`crib_env.evaluate.on_ray.connected`;
            its machines share the folder.
    """
    n = len(reproduction.trainings)
    console.print(f"{folder}: {duration(reproduction.seconds(folder))} left on one core, by estimate; {n} trainings")
    with ExitStack() as opened:
        opened.enter_context(held(folder))
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
    console.print(f"report: {folder / 'report.md'}" + (f" and {report}" if report is not None else ""), soft_wrap=True)
