"""What every command shares: one line for an error, a progress bar, tables."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

console = Console()


@contextmanager
def reported_errors(on_interrupt: str = "stopped") -> Iterator[None]:
    """Turns bad input into one line and exit status 2, and Ctrl-C into one line and status 130."""
    try:
        yield
    except (ValueError, FloatingPointError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        print(on_interrupt, file=sys.stderr)
        raise SystemExit(130) from None


def progress_bar() -> Progress:
    """A progress bar with counts, time spent and time to come."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
    )


class ProgressLines(Progress):
    """Progress as a line for each tenth of a task, for where a bar cannot be drawn.

    Args:
        name: what each line begins with.
    """

    def __init__(self, name: str) -> None:
        super().__init__(disable=True)
        self._name = name
        self._told: dict[TaskID, int] = {}

    def update(self, task_id: TaskID, **changes: Any) -> None:
        """See rich."""
        super().update(task_id, **changes)
        (task,) = (task for task in self.tasks if task.id == task_id)
        tenths = int(task.percentage // 10)
        if tenths != self._told.get(task_id, 0):
            self._told[task_id] = tenths
            print(f"{self._name}: {task.description}, {10 * tenths} %", flush=True)
