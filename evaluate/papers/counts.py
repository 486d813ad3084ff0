"""The number of claims of a reproduction by verdict, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from crib_env.evaluate.papers.run import Outcome, OutcomeVerdict

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
