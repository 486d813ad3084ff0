"""Shared parts of the command lines of ``evaluate`` and ``train``: the choice of a command, and the look of options."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import tyro
from rich.panel import Panel
from rich.table import Table

from crib_env.evaluate.console import console

# No option accepts the text "None", so the help does not mention it.
MARKERS = (tyro.conf.DisallowNone,)


def choose(
    prog: str, what: str, about: str, commands: Mapping[str, str], arguments: Sequence[str]
) -> tuple[str, list[str]]:
    """The command named by the first word, and the words after it; prints help and exits if asked for help.

    Args:
        prog: as in ``crib-env train``.
        what: the word for a command, such as ``"learner"``.
        about: a description of the program, in a sentence or several.
        commands: the description of each command, by name.

    Raises:
        ValueError: there is no such command; the message names similar ones and all others.
    """
    word = arguments[0] if arguments else "--help"
    if word in ("-h", "--help"):
        _print_help(prog, what, about, commands)
        raise SystemExit(0 if arguments else 2)
    if word not in commands:
        alike = difflib.get_close_matches(word, commands, n=2)
        meant = f"did you mean {' or '.join(alike)}? All: " if alike else "choose one of "
        raise ValueError(f"there is no {what} {word!r}: {meant}{', '.join(commands)}")
    return word, list(arguments[1:])


def _print_help(prog: str, what: str, about: str, commands: Mapping[str, str]) -> None:
    list_of = Table.grid(padding=(0, 2))
    for name, text in commands.items():
        list_of.add_row(name, text)
    console.print(f"usage: {prog} {what.upper()} [OPTIONS]", highlight=False)
    console.print(f"\n{about}\n", highlight=False)
    console.print(Panel(list_of, title=f"{what}s", title_align="left", border_style="dim"))
    console.print(f"\nOptions of a {what}: {prog} {what.upper()} --help", highlight=False)


def read(options: Any, prog: str, about: str, arguments: Sequence[str]) -> Any:
    """Reads options by tyro; prints help or an error and exits if necessary.

    Args:
        options: a dataclass, or a function to be called with them.
        prog: as in ``crib-env match``.
        about: a description of the command, for the help.
    """
    if not {"-h", "--help"}.isdisjoint(arguments):
        console.print(f"{about}\n", highlight=False)  # tyro would not break its lines
    return tyro.cli(options, args=arguments, prog=prog, description="", config=MARKERS)
