"""A reproduction as Markdown: a count of the verdicts, and for each paper its claims, its checks and the reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from crib_env.evaluate.papers.claims import Paper
from crib_env.evaluate.papers.run import PAPERS, Outcome, OutcomeVerdict, Reproduction

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
    command = f"python -m evaluate reproduce {' '.join(reproduction.papers)}{' --quick' * reproduction.quick}"
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
