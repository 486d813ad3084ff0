"""What all commands share: the console, tables on it, progress of long work, and how a command ends."""

from __future__ import annotations

import io
import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from threading import RLock
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from crib_env.distribution import extra_of, missing

# Exit statuses, by which shells report a process that such a signal has ended.
INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM
_SILENCE = 60.0  # seconds without a line at most
_WIDTH = 80  # of a line of progress


def printable(text: str) -> str:
    """Text with control characters escaped, as ``\\x1b``, so that it cannot control the terminal."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


class LiteralConsole(Console):
    """Shows text as it is: no markup, no emoji, and control characters escaped.

    Strings of every table and bar come to ``render_str``; so commands print strings, and make no ``Text`` of them.
    """

    def render_str(self, text: str, **look: Any) -> Text:
        """See rich."""
        return super().render_str(printable(text), **look | {"markup": False, "emoji": False})


console = LiteralConsole()
if not console.width:  # COLUMNS=0
    console.width = 80


def table_of(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Iterable[str]] = (),
    *,
    words: int = 1,
    no_wrap: bool = False,
    **look: Any,
) -> Table:
    """A table whose first columns hold words, and the others numbers, on the right.

    Args:
        words: how many columns hold words; those are folded rather than cut.
        no_wrap: keep every number in one line.
        look: other arguments of ``rich.table.Table``.
    """
    table = Table(title=title, **look)
    for k, column in enumerate(columns):
        if k < words:
            table.add_column(column, overflow="fold")
        else:
            table.add_column(column, justify="right", no_wrap=no_wrap)
    for row in rows:
        table.add_row(*row)
    return table


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
    prefix = progress.prefix if isinstance(progress, ProgressLines) else ""
    progress.console.print(prefix + line, soft_wrap=True, highlight=False)


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


class Terminated(KeyboardInterrupt):
    """SIGTERM: ends a command as Ctrl-C does, but only this process has received it, not its children."""


@contextmanager
def reported_errors(on_interrupt: str = "stopped") -> Iterator[None]:
    """Surrounds every command: turns errors into one line on stderr and an exit status.

    Status 2 for bad input, errors of files, a package that is not installed and too little memory, 130 for Ctrl-C, 143
    for SIGTERM; rich ends a command whose output nobody reads with 1. Characters missing in the encoding of the output
    become question marks.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    with _terminable():
        try:
            yield
            if sys.stdout is not None:  # as where a shell has closed it
                sys.stdout.flush()
        except (ValueError, FloatingPointError, OSError) as error:
            _end(f"error: {printable(str(error))}", 2)
        except ModuleNotFoundError as error:
            if extra_of(error.name) is None:
                raise
            _end(f"error: {missing('this', error)}", 2)
        except MemoryError as error:
            _end(f"error: there is not enough memory for this ({error})", 2)
        except KeyboardInterrupt as interrupt:
            _end(on_interrupt, TERMINATED if isinstance(interrupt, Terminated) else INTERRUPTED)


def _end(line: str, status: int) -> None:
    with suppress(OSError):
        print(line, file=sys.stderr)
    raise SystemExit(status) from None


@contextmanager
def _terminable() -> Iterator[None]:
    """Inside the block, SIGTERM raises :class:`Terminated`; and a thread that a full disk ends prints nothing, as
    TensorBoard's writer raises the error again at the next value."""
    if threading.current_thread() is not threading.main_thread():  # signals arrive in the main thread only
        yield
        return

    def terminate(number: int, frame: Any) -> None:
        raise Terminated

    def report(ended: threading.ExceptHookArgs) -> None:
        if not isinstance(ended.exc_value, OSError):
            hook(ended)

    handler, hook = signal.signal(signal.SIGTERM, terminate), threading.excepthook
    threading.excepthook = report
    try:
        yield
    finally:
        threading.excepthook = hook
        signal.signal(signal.SIGTERM, handler)
