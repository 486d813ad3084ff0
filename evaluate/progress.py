"""Progress of long work: a bar in a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import RLock
from typing import Any

from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TimeElapsedColumn
from rich.text import Text

from crib_env.evaluate.console import console

_SILENCE = 60.0  # seconds without a line at most
_WIDTH = 80  # of a line


class _Column(ProgressColumn):
    """A text of each task; a long description is shortened, numbers are not."""

    max_refresh = 0.5  # else the time left flickers

    def __init__(self, text: Callable[[Task], str]) -> None:
        super().__init__()
        self._text = text

    def render(self, task: Task) -> Text:
        text = console.render_str(self._text(task), overflow="ellipsis", highlight=False)
        text.no_wrap = True
        return text


def _count(task: Task, of: str = "/") -> str:
    return f"{task.completed:,.0f}" + ("" if task.total is None else f"{of}{task.total:,.0f}")


def _time_left(task: Task) -> str:
    left = task.time_remaining
    return "" if left is None or task.finished else f"{timedelta(seconds=round(left))} left"


def progress_bar() -> Progress:
    """A bar with counts, time spent and time left, or :class:`ProgressLines` if the output is not a terminal."""
    if not console.is_terminal or console.is_dumb_terminal:
        return ProgressLines()
    description = _Column(lambda task: task.description)
    columns = (description, BarColumn(bar_width=20), _Column(_count), TimeElapsedColumn(), _Column(_time_left))
    return Progress(*columns, console=console, speed_estimate_period=math.inf)


@contextmanager
def advancing(name: str, total: float | None, done: int = 0) -> Iterator[Callable[[int], None]]:
    """A bar of one task, of which some units are done; gives the function that is told of further ones."""
    with progress_bar() as progress:
        task = progress.add_task(name, total=total, completed=done)
        yield lambda done: progress.update(task, advance=done)


def say(progress: Progress, line: str) -> None:
    """Prints a line above the bar, or among the lines of :class:`ProgressLines`."""
    if isinstance(progress, ProgressLines):
        line = progress.prefix + line
    progress.console.print(line, soft_wrap=True, highlight=False)


class ProgressLines(Progress):
    """Progress as lines: one for each tenth of the work, and at most one a minute in between.

    For a task within another unfinished task, only the lines once a minute are printed.

    Args:
        name: the beginning of each line, if several processes write to one place.
    """

    def __init__(self, name: str = "") -> None:
        super().__init__(disable=True, console=console, speed_estimate_period=math.inf)
        self.prefix = f"{name}: " if name else ""
        self._tenths: dict[TaskID, int] = {}
        self._said_at = time.monotonic()
        self._reports = RLock()  # workers report from threads of their own

    def stop(self) -> None:
        """See rich, which would print an empty line."""

    def update(self, task_id: TaskID, **changes: Any) -> None:
        """See rich."""
        with self._reports:
            super().update(task_id, **changes)
            outermost = next(task for task in self.tasks if not task.finished or task.id == task_id)
            task = next(task for task in self.tasks if task.id == task_id)
            before, self._tenths[task_id] = self._tenths.get(task_id, 0), int(task.percentage // 10)
            is_late = time.monotonic() - self._said_at > _SILENCE
            if is_late or (task is outermost and self._tenths[task_id] > before):
                self._say(task)

    def _say(self, task: Task) -> None:
        self._said_at = time.monotonic()
        share = "" if task.total is None else f"{task.percentage:.0f} %, "
        spent = timedelta(seconds=round(task.elapsed or 0.0))
        parts = [f"{share}{_count(task, ' of ')}", f"{spent} spent", _time_left(task)]
        figures, what = ", ".join(filter(None, parts)), self.prefix + task.description
        room = _WIDTH - len(figures) - len(": ")
        line = f"{what if len(what) <= room else what[: room - 1] + '…'}: {figures}"
        console.print(line, soft_wrap=True, highlight=False)
