"""What all command lines share: arguments, the choice of a command, the look of options."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import tyro
from rich.panel import Panel
from rich.table import Table

from crib_env.engine import WIN
from crib_env.evaluate.console import console
from crib_env.values import Games, Positive, Range, Seed, check_values

Score = Annotated[int, Range(0, WIN - 1)]
AgentName = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="AGENT")]
AgentNames = Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="AGENT ...", help_behavior_hint="")]
AgentOption = Annotated[str, tyro.conf.arg(metavar="AGENT")]
SomeAgent = Annotated[str | None, tyro.conf.arg(metavar="AGENT", help_behavior_hint="")]
File = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
Folder = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")]
Runs = Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="RUN ...", help_behavior_hint="")]
# Options without a default value: the help of each says what happens if it is not given.
SomeFile = Annotated[Path | None, tyro.conf.arg(metavar="FILE", help_behavior_hint="")]
SomeJson = Annotated[Path | None, tyro.conf.arg(name="json", metavar="FILE", help_behavior_hint="")]
SomeFolder = Annotated[Path | None, tyro.conf.arg(metavar="FOLDER", help_behavior_hint="")]
SomePositive = Annotated[Positive | None, tyro.conf.arg(help_behavior_hint="")]
SomeGames = Annotated[Games | None, tyro.conf.arg(help_behavior_hint="")]
SomeSeed = Annotated[Seed | None, tyro.conf.arg(help_behavior_hint="")]
SomeExecutor = Annotated[str | None, tyro.conf.arg(metavar="NAME", help_behavior_hint="")]
MARKERS = (tyro.conf.DisallowNone,)
"""For ``tyro.cli``: no option accepts the text "None", so the help does not mention it."""


def choose(
    prog: str, what: str, about: str, commands: Mapping[str, str], arguments: Sequence[str]
) -> tuple[str, list[str]]:
    """The command named by the first word, and the words after it; prints help and exits if asked for help.

    Args:
        prog: as in ``crib-env train``.
        what: the word for a command, such as ``"learner"``.
        about: a description of the program, in a sentence or several.
        commands: the description of each command, by name.
    """
    word = arguments[0] if arguments else "--help"
    if word in ("-h", "--help"):
        list_of = Table.grid(padding=(0, 2))
        for name, text in commands.items():
            list_of.add_row(name, text)
        console.print(f"usage: {prog} {what.upper()} [OPTIONS]\n\n{about}\n", highlight=False)
        console.print(Panel(list_of, title=f"{what}s", title_align="left", border_style="dim"))
        console.print(f"\nOptions of a {what}: {prog} {what.upper()} --help", highlight=False)
        raise SystemExit(0 if arguments else 2)
    if word not in commands:
        alike = difflib.get_close_matches(word, commands, n=2)
        meant = f"did you mean {' or '.join(alike)}? All: " if alike else "choose one of "
        raise ValueError(f"there is no {what} {word!r}: {meant}{', '.join(commands)}")
    return word, list(arguments[1:])


def checked(command: Callable[..., None]) -> Callable[..., None]:
    """A function that checks its arguments by their types first."""

    @wraps(command)
    def call(*given: Any, **named: Any) -> None:
        arguments = inspect.signature(command).bind(*given, **named).arguments
        check_values(arguments, get_type_hints(command, include_extras=True))
        command(*given, **named)

    return call


def read(options: Any, prog: str, about: str, arguments: Sequence[str], **more: Any) -> Any:
    """Reads options by tyro, for a dataclass or a function; prints help, with this text about the command, or an error,
    and exits if necessary."""
    if not {"-h", "--help"}.isdisjoint(arguments):
        console.print(f"{about}\n", highlight=False)  # tyro would not break its lines
    return tyro.cli(options, args=arguments, prog=prog, description="", config=MARKERS, **more)
