"""A reproduction as Markdown, as a picture, as JSON and as tables; and the run of it that writes them.

The Markdown has a count of the verdicts, and for each paper its claims, its checks and the reasons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.figure import Figure
from rich import box
from rich.table import Table

from crib_env.evaluate.console import console
from crib_env.evaluate.executors.named import connected
from crib_env.evaluate.figures import BLUE, GREY, new_figure, save_figure
from crib_env.evaluate.files import whole_text, write_json
from crib_env.evaluate.folder_lock import held
from crib_env.evaluate.papers.claims import Paper
from crib_env.evaluate.papers.run import PAPERS, Outcome, OutcomeVerdict, Reproduction
from crib_env.evaluate.progress import progress_bar

Outcomes = dict[str, list[Outcome]]
Numbered = list[tuple[int, Outcome]]
_CLASSES = """\
* A **check** tests the paper's arithmetic, or a statement about the rules. It needs no player. It *holds* or *fails*.
* A claim is **confirmed** when our measurement could have refuted it and did not.
* A claim is **not refuted** when the paper's figure and ours agree, but the paper's sample is so small that many other
  figures would agree too: its 95 % interval is wider than 5 % of the games, or 5 points a game.

A printed number stands for its rounding and, where the paper gives the size of its sample, for the 95 % interval of
that sample. The claim *differs* when our 95 % interval does not overlap this range. It is *undecided* when they overlap
and ours is the wider one. For a range or a direction without a sample, it is *undecided* when our interval contains an
end of the range. Figures that cannot be compared, such as times on other machines, are only *shown*.
"""
_WITH_REASONS = ("differs", "fails", "shown")
# In words for one and for several, in the order of the report.
CHECKS: dict[OutcomeVerdict, tuple[str, str]] = {"holds": ("holds", "hold"), "fails": ("fails", "fail")}
CLAIMS: dict[OutcomeVerdict, tuple[str, str]] = {
    "confirmed": ("confirmed", "confirmed"),
    "not refuted": ("not refuted", "not refuted"),
    "undecided": ("undecided", "undecided"),
    "differs": ("differs", "differ"),
    "no verdict": ("without a verdict", "without a verdict"),
    "shown": ("only shown", "only shown"),
    "left out": ("left out", "left out"),
}


def report_of(reproduction: Reproduction, outcomes: Outcomes, picture: str) -> str:
    """The whole report; ``picture`` is the name of the file beside it, or nothing."""
    everything = [outcome for of_paper in outcomes.values() for outcome in of_paper]
    version = "quick" if reproduction.quick else "full"
    command = f"crib-env reproduce {' '.join(reproduction.papers)}{' --quick' * reproduction.quick}"
    if reproduction.papers == tuple(PAPERS):
        command = command.replace(" ".join(PAPERS), "all")
    lines = [
        "# The papers' figures, recomputed",
        "",
        f"The {version} version, seed {reproduction.seed}: `{command} --seed {reproduction.seed}`; "
        f"{len(reproduction.trainings)} trainings, {when_measured(outcomes)}."
        + (f" {_only_quick(reproduction)}" if reproduction.quick else ""),
        "",
        f"{in_words(everything)}.",
        "",
        *_summary(outcomes),
        "",
        _CLASSES,
    ]
    if picture:
        lines += [f"![Shares of games, the papers' and ours]({picture})", ""]
    sections = [section_of(PAPERS[name], of_paper, reproduction.quick) for name, of_paper in outcomes.items()]
    return "\n".join([*lines, *sections])


def when_measured(outcomes: Outcomes) -> str:
    """The days of the measurements, in words."""
    days = sorted({outcome.day for of_paper in outcomes.values() for outcome in of_paper if outcome.day})
    if not days:  # files of claims did not always say
        return "measured on an unknown day"
    return f"measured on {days[0]}" if len(days) == 1 else f"measured from {days[0]} to {days[-1]}"


def _only_quick(reproduction: Reproduction) -> str:
    episodes = sum(t.episodes[0] for t in reproduction.trainings)
    return (
        "Samples are small, trainings are cut short "
        f"({episodes:,} episodes together, for {sum(t.episodes[1] for t in reproduction.trainings):,} in the full "
        "version), and what takes long is left out. Claims on agents whose training was cut short get no verdict: "
        "only the full version can give one."
    )


def _summary(outcomes: Outcomes) -> list[str]:
    """A table of the papers, with the number of claims of each by verdict."""
    columns = {**CLAIMS, **CHECKS}
    used = {outcome.verdict for of_paper in outcomes.values() for outcome in of_paper}
    shown = [verdict for verdict in columns if verdict in used]
    heads = [f"checks that {columns[verdict][1]}" if verdict in CHECKS else columns[verdict][1] for verdict in shown]
    lines = [f"| | {' | '.join(heads)} |", f"|---|{'---:|' * len(heads)}"]
    for name, of_paper in outcomes.items():
        counts = Counter(outcome.verdict for outcome in of_paper)
        cells = [str(counts[verdict] or "") for verdict in shown]
        lines.append(f"| {PAPERS[name].title.partition(':')[0]} | {' | '.join(cells)} |")
    return lines


def section_of(paper: Paper, outcomes: list[Outcome], quick: bool) -> str:
    """A section: tables of the claims and the checks, how they were computed, why they differ, what is left out."""
    computed = [outcome for outcome in outcomes if outcome.measured is not None]
    in_order = sorted(computed, key=lambda outcome: outcome.claim.is_check)
    numbered = list(enumerate(in_order, start=1))
    claims = [(number, outcome) for number, outcome in numbered if not outcome.claim.is_check]
    checks = [(number, outcome) for number, outcome in numbered if outcome.claim.is_check]
    lines = [f"## {paper.title}", "", f"{in_words(outcomes)}.", ""]
    for title, rows in (("Claims", claims), ("Checks of arithmetic and rules", checks)):
        if rows:
            lines += [f"### {title}", "", *_table(rows), ""]
    reasons = [(o.claim.why, number) for number, o in numbered if o.claim.why and o.verdict in _WITH_REASONS]
    days = [(outcome.day, number) for number, outcome in numbered if outcome.day and not outcome.claim.is_check]
    lists = (
        ("Why they differ", reasons),
        ("How ours are computed", [(f"By {outcome.claim.how}.", number) for number, outcome in numbered]),
        ("Measured on", days if len({day for day, _ in days}) > 1 else []),
        ("Trainings", [(f"`{t.command(quick)}`", number) for number, o in numbered for t in o.claim.trainings]),
    )
    for title, pairs in lists:
        if pairs:
            lines += [f"### {title}", "", *_once_each(pairs), ""]
    if left_out := [*_left_out(outcomes), *(f"* {place}: {reason}" for place, reason in paper.left_out)]:
        lines += ["### Left out", "", *left_out, ""]
    return "\n".join(lines)


def _table(rows: Numbered) -> list[str]:
    lines = ["| | where | claim | paper | here | sample | |", "|---|---|---|---|---|---|---|"]
    for number, outcome in rows:
        claim, measured = outcome.claim, outcome.measured
        assert measured is not None
        sample = f"{measured.sample}; {measured.remark}" if measured.remark else measured.sample
        cells = [str(number), claim.place, claim.says, claim.published.printed, claim.text(measured), sample]
        escaped = [cell.replace("|", r"\|") for cell in (*cells, f"**{outcome.verdict}**")]
        lines.append(f"| {' | '.join(escaped)} |")
    return lines


def _once_each(pairs: Iterable[tuple[str, int]]) -> list[str]:
    """Each text once, after the numbers of the claims that it belongs to."""
    numbers: dict[str, list[int]] = {}
    for text, number in pairs:
        of_text = numbers.setdefault(text, [])
        if number not in of_text:
            of_text.append(number)
    return [f"* {numbers_in_words(of_text)}: {text}" for text, of_text in numbers.items()]


def _left_out(outcomes: list[Outcome]) -> list[str]:
    """The claims that were left out, those of one place and one reason together."""
    counts = Counter((o.claim.place, o.left_out) for o in outcomes if o.measured is None)
    return [f"* {place}, {n} claim{'s' * (n > 1)}: {reason}" for (place, reason), n in counts.items()]


def in_words(outcomes: Sequence[Outcome]) -> str:
    """The number of claims and of checks by verdict, in words."""
    counts = Counter(outcome.verdict for outcome in outcomes)
    parts = []
    for name, words in (("claim", CLAIMS), ("check", CHECKS)):
        found = [(counts[verdict], one, more) for verdict, (one, more) in words.items() if counts[verdict]]
        if found:
            total = sum(n for n, _, _ in found)
            listed = ", ".join(f"{n} {one if n == 1 else more}" for n, one, more in found)
            parts.append(f"{total} {name}{'s' * (total > 1)}: {listed}")
    return "; ".join(parts)


def numbers_in_words(numbers: Iterable[int]) -> str:
    """Ascending numbers, with consecutive ones joined: ``1, 2, 5 to 9``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(
        f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(str(number) for number in run) for run in runs
    )


class Compared(NamedTuple):
    """A claim in the picture: its paper, what it says, the paper's range, ours, and our value."""

    paper: str
    says: str
    theirs: tuple[float, float]
    ours: tuple[float, float]
    value: float


def compared_shares(outcomes: Outcomes) -> list[Compared]:
    """The claims in the picture: printed shares that were measured on a sample."""
    rows = []
    for name, of_paper in outcomes.items():
        author = PAPERS[name].title.partition(":")[0]
        for claim, measured in ((outcome.claim, outcome.measured) for outcome in of_paper):
            published = claim.published
            if measured is None or measured.interval is None or not claim.form.endswith("%}"):
                continue
            if published.is_number:
                rows.append(
                    Compared(author, claim.says, (published.low, published.high), measured.interval, measured.value)
                )
    return rows


def draw_shares(rows: list[Compared], when: str) -> Figure:
    """A line for each claim, under the name of its paper: the paper's range in grey, ours in blue; below, the days."""
    lines: list[Compared | str] = []
    for row in rows:
        if row.paper not in lines:
            lines.append(row.paper)
        lines.append(row)
    figure = new_figure(10, 1 + 0.22 * len(lines))
    axes = figure.subplots()
    for y, line in enumerate(lines):
        if isinstance(line, str):
            continue
        for (low, high), colour, width in ((line.theirs, GREY, 7), (line.ours, BLUE, 3)):
            axes.plot([100 * low, 100 * high], [y, y], color=colour, lw=width, solid_capstyle="butt")
        axes.plot(100 * line.value, y, "o", color=BLUE, ms=4)
    axes.set_yticks(range(len(lines)), [line if isinstance(line, str) else line.says for line in lines], fontsize=7)
    for line, label in zip(lines, axes.get_yticklabels()):
        if isinstance(line, str):
            label.set_fontweight("bold")
    axes.set(xlabel="games won, %; grey: the paper's range, blue: ours", xlim=(-2, 102), ylim=(len(lines) - 0.4, -0.6))
    axes.grid(axis="x", lw=0.4)
    figure.text(0.002, 0.004, when, ha="left", va="bottom", fontsize=6, color="#666666")
    return figure


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


def reproduce_and_report(reproduction: Reproduction, folder: Path, threads: int, executor: str | None = None) -> None:
    """Trains and computes everything that is left to do, prints tables and writes the files.

    Args:
        executor: to train and to play matches on, see :func:`crib_env.evaluate.executors.named.connected`; its machines
            share the folder.
    """
    n = len(reproduction.trainings)
    console.print(f"{folder}: {duration(reproduction.seconds(folder))} left on one core, by estimate; {n} trainings")
    with ExitStack() as opened:
        opened.enter_context(held(folder))
        cluster = None if executor is None else opened.enter_context(connected(executor))
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
    write_report(reproduction, outcomes, folder / "report.md")
    write_json(folder / "report.json", json_of(reproduction, outcomes))
    for name, of_paper in outcomes.items():
        console.print(paper_table(PAPERS[name], of_paper))
    console.print(f"report: {folder / 'report.md'}", soft_wrap=True)
