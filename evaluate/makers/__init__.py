"""How the tables of the library are made and checked: scripts, ``python -m crib_env.evaluate.makers.NAME --help``.

Nothing that plays, trains or measures imports this package.
"""

from __future__ import annotations

from collections.abc import Callable

import tyro

from crib_env.evaluate.command_line import MARKERS, checked
from crib_env.evaluate.console import reported_errors


def run(maker: Callable[..., None]) -> None:
    """Calls a maker with the arguments of the command line, whose numbers are checked first."""
    with reported_errors():
        tyro.cli(checked(maker), config=MARKERS)
