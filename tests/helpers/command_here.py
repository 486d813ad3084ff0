"""Commands in this process: they need not import everything once more."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple
from unittest import mock


class Done(NamedTuple):
    """What a command has come to."""

    status: int
    out: str
    errors: str


def run_here(main: Callable[[], None], *words: object) -> Done:
    """Runs a main function as if it were a program with these words after its name, on a screen of 200 columns."""
    out, errors, status = io.StringIO(), io.StringIO(), 0
    with (
        mock.patch.object(sys, "argv", ["crib-env", *map(str, words)]),
        mock.patch.dict("os.environ", COLUMNS="200"),
        redirect_stdout(out),
        redirect_stderr(errors),
    ):
        try:
            main()
        except SystemExit as end:
            status = int(end.code or 0)
    return Done(status, out.getvalue(), errors.getvalue())
