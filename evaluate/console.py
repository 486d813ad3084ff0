"""What every command shares: one line for an error, a progress bar, tables."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

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
