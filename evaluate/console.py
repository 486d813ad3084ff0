"""The console to which every command prints, and tables on it."""

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from crib_env.evaluate.ending import printable


class LiteralConsole(Console):
    """Shows text as it is, whoever wrote it: no markup, no emoji, and control characters escaped.

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
