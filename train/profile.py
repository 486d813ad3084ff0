"""``python -m train.profile LEARNER``: where the processor time of a learner's rounds goes, by part and by operation.

Trains for some rounds with default settings. The first round compiles the kernels and does not count. The next are
timed, those after them run under Python's profiler, which times the parts of a round, and the last under torch's, which
times the operations of networks and counts their multiplications and additions. Both profilers slow a round down.
"""

from __future__ import annotations

import cProfile
import pstats
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch
import tyro
from rich.progress import Progress
from rich.table import Table
from torch.profiler import ProfilerActivity

from crib_env.evaluate.commands.arguments import SomeFile
from crib_env.evaluate.console import console
from crib_env.evaluate.ending import reported_errors
from crib_env.evaluate.files import check_outputs, markdown_table, whole_text
from crib_env.evaluate.ranges import Amount, checked
from crib_env.train.__main__ import module_of
from crib_env.train.loop.contracts import Learner
from crib_env.train.loop.precision import chosen, is_emulated
from crib_env.train.loop.run_folder import RunFolder
from crib_env.train.loop.settings import LearningSettings

_ROOTS = ("play_and_learn", "collect_rollouts", "train")  # functions that are a round, the last two those of PPO
_FILES = ("/crib_env/", "/agents/", "/train/", "/sb3_contrib/")  # whose functions are shown
_DEPTH = 4  # of calls below a round
_LEAST = 0.02  # share of time from which a part or an operation is shown


class Row(NamedTuple):
    """A part of a round, or an operation; parts of a part are indented."""

    name: str
    share: float


class Found(NamedTuple):
    """What was measured: seconds and steps of a round are processor seconds and gradient steps, per 1,000 episodes."""

    seconds: float
    steps: float
    operations_a_second: float  # floating-point, of matrix products
    precision: str  # in which the processor multiplies: the learner's, or float32 if it emulates that
    limit: float  # operations a second in a product of two matrices of 1,024 × 1,024 in this precision
    parts: list[Row]
    operations: list[Row]


class _Profilers(Progress):
    """Changes profilers when a round ends, of which the loop tells every progress bar.

    Args:
        rounds: the number of rounds to time, and to run under each profiler.
    """

    def __init__(self, rounds: int) -> None:
        super().__init__(disable=True)
        self.by_function = cProfile.Profile(time.process_time)
        self.by_operation = torch.profiler.profile(activities=[ProfilerActivity.CPU], with_flops=True)
        self.seconds = 0.0
        self._rounds, self._ended = rounds, 0

    def update(self, *_: Any, **__: Any) -> None:
        """A round has ended."""
        done, left = divmod(self._ended, self._rounds)
        self._ended += 1
        if left:
            return
        if done == 0:
            self.seconds = -time.process_time()
        elif done == 1:
            self.seconds += time.process_time()
            self.by_function.enable()
        elif done == 2:
            self.by_function.disable()
            self.by_operation.start()
        else:
            self.by_operation.stop()


def profile(learner: Learner[LearningSettings], rounds: int) -> Found:
    """Trains for ``1 + 3 * rounds`` rounds, and measures all of them except the first."""
    default = learner.PRESETS["default"]
    episodes = default.episodes_at_once * (1 + 3 * rounds)
    settings = replace(default, episodes=episodes, evaluations=0, checkpoint_seconds=3_600.0)
    bar = _Profilers(rounds)
    with tempfile.TemporaryDirectory() as folder:
        _, summary = learner.train(settings, RunFolder.create(learner.NAME, settings, Path(folder)), bar)
    updates = summary["updates"]
    name = "float32" if is_emulated(settings.precision) else chosen(settings.precision)
    thousands = rounds * settings.episodes_at_once / 1_000
    events = bar.by_operation.key_averages()
    in_all = sum(event.self_cpu_time_total for event in events)
    by_time = sorted(events, key=lambda event: -event.self_cpu_time_total)
    rows = [Row(event.key, event.self_cpu_time_total / in_all) for event in by_time]
    return Found(
        bar.seconds / thousands,
        (sum(updates.values()) if isinstance(updates, dict) else updates) / (episodes / 1_000),
        sum(event.flops for event in events) / bar.seconds,
        name,
        _limit(name),
        list(_parts(bar.by_function)),
        [row for row in rows if row.share >= _LEAST],
    )


def _parts(found: cProfile.Profile) -> Iterator[Row]:
    """The tree of the functions of a round, the slowest first.

    Calls below a function are known only in all: what several functions call is not followed further.
    """
    stats: dict[Any, Any] = pstats.Stats(found).stats  # type: ignore[attr-defined]
    called: dict[Any, list[tuple[float, Any]]] = {}
    for function, (*_, callers) in stats.items():
        if _is_shown(function):
            for caller, (*_, seconds) in callers.items():
                called.setdefault(caller, []).append((seconds, function))
    roots = [(entry[3], key) for key, entry in stats.items() if key[2] in _ROOTS and _is_shown(key)]
    in_all = sum(seconds for seconds, _ in roots)

    def below(calls: list[tuple[float, Any]], depth: int) -> Iterator[Row]:
        for seconds, function in sorted(calls, reverse=True):
            if seconds < _LEAST * in_all or depth == _DEPTH:
                continue
            file, _, name = function
            inner = called.get(function, []) if len(stats[function][4]) < 2 else []
            if name.startswith("<"):  # a comprehension is a function too
                yield from below(inner, depth)
            else:
                yield Row("· " * depth + f"{Path(file).stem}.{name}", seconds / in_all)
                yield from below(inner, depth + 1)

    return below(roots, 0)


def _is_shown(function: tuple[str, int, str]) -> bool:
    return any(part in function[0] for part in _FILES)


def _limit(name: str) -> float:
    """Floating-point operations a second in a product of matrices, the median of 20 or of those of a second."""
    n = 1_024
    matrix, seconds = torch.ones(n, n, dtype=getattr(torch, name)), list[float]()
    while len(seconds) < 20 and sum(seconds) < 1:
        started = time.process_time()
        matrix @ matrix
        seconds.append(time.process_time() - started)
    return 2 * n**3 / statistics.median(seconds)


@checked
def main(
    learner: tyro.conf.Positional[Literal["ddqn", "drqn", "nfsp", "ppo", "td"]],
    rounds: Amount = 8,
    markdown: SomeFile = None,
) -> None:
    """Profiles the rounds of a learner with default settings: processor time by part and by operation.

    Args:
        learner: The learner.
        rounds: Rounds to time, and to run under each of two profilers; at least 1.
        markdown: Also write the tables to this Markdown file.
    """
    check_outputs(markdown)
    found = profile(module_of(learner), rounds)
    about = (
        f"{learner}, 1,000 episodes: {1_000 * found.seconds:,.0f} ms, {found.steps:.1f} gradient steps. Matrix "
        f"products: {found.operations_a_second / 1e9:.0f} thousand million operations a second, "
        f"{found.operations_a_second / found.limit:.0%} of the processor's limit in {found.precision}."
    )
    tables = {"part": found.parts, "operation": found.operations}
    if markdown is not None:
        with whole_text(markdown) as file:
            file.write(f"{about}\n")
            for kind, rows in tables.items():
                file.write(f"\n{markdown_table([kind, 'share'], [[row.name, f'{row.share:.0%}'] for row in rows])}\n")
    for kind, rows in tables.items():
        table = Table(kind, "share")
        for row in rows:
            table.add_row(row.name, f"{row.share:.0%}")
        console.print(table)
    console.print(about, highlight=False)


if __name__ == "__main__":
    with reported_errors():
        tyro.cli(main, prog="python -m train.profile")
