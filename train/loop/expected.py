"""What a learner's default run has come to, which repeats to the last digit on the same kind of processor.

It rounds otherwise in another precision. The module of such a learner has ``EXPECTED``, by precision: the win rate
against ``greedy`` and its interval, as :func:`in_words` writes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from crib_env.evaluate.matches.match import MatchResult
from crib_env.train.loop.contracts import Learner, S
from crib_env.train.loop.precision import chosen

# Settings that change nothing that is learned, or that have a row of their own.
_FREE = ("precision", "evaluations", "evaluation_games", "checkpoint_seconds")


def is_measured(learner: Learner[S], settings: S) -> bool:
    """Whether it is known what a run with these settings comes to."""
    default: Any = learner.PRESETS["default"]
    return hasattr(learner, "EXPECTED") and settings == replace(
        default, **{name: getattr(settings, name) for name in _FREE}
    )


def lines(learner: Any, settings: Any, result: MatchResult) -> Iterator[str]:
    """What runs in each precision come to, and whether this one does.

    Args:
        learner: the learner's module, which has ``EXPECTED``.
        settings: of the run.
        result: of its match against ``greedy``.
    """
    rows = " and ".join(f"{rate} in {name}" for name, rate in learner.EXPECTED.items())
    yield f"expected against greedy: {rows}"
    name = chosen(settings.precision)
    if in_words(result) == learner.EXPECTED[name]:
        yield f"this run, in {name}: as expected"
    else:
        yield f"this run, in {name}: not the digits expected; other versions and kinds of processor round otherwise"


def in_words(result: MatchResult) -> str:
    """A win rate with its interval, as tables of results write it."""
    low, high = result.interval
    return f"{result.win_rate:.2%} ({low:.2%} to {high:.2%})"
