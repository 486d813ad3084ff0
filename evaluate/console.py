"""The console to which every command prints, and tables on it."""

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

console = Console()


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
