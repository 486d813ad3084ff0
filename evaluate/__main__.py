"""``crib-env COMMAND``, in a checkout also ``python -m evaluate``: matches between agents, and measurements.

A measurement is a file in ``evaluate/commands`` and an entry of :data:`COMMANDS`. A name of two words is a command
under another one, as ``match endgames``, or in a group, as ``solve play``.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from crib_env.evaluate.command_line import checked, choose, read
from crib_env.evaluate.ending import reported_errors

PROG = "crib-env"
ABOUT = "Two-player cribbage: matches between agents, measurements, a page to play at, training."


class Command(NamedTuple):
    """A command of ``crib-env``."""

    place: str
    """``module:function`` in ``evaluate/commands``; tyro reads the function's parameters from the command line."""
    takes_agents: bool = False
    """Whether the help lists the agents."""

    @property
    def about(self) -> str:
        """One line of the help: how the function's docstring begins, read from its file, since imports take long."""
        module, _, function = self.place.partition(":")
        file = Path(__file__).parent.joinpath("commands", module).with_suffix(".py")
        (line,) = re.findall(
            rf'^def {function}\(.*?"""(.*?)(?:\n\n|""")', file.read_text(encoding="utf-8"), re.S | re.M
        )
        return " ".join(line.split())

    def load(self) -> Callable[..., None]:
        """The function, which checks its arguments first; imports its module."""
        module, _, function = self.place.partition(":")
        return checked(getattr(import_module(f"crib_env.evaluate.commands.{module}"), function))


COMMANDS = {
    "match": Command("match:match", takes_agents=True),
    "match endgames": Command("match:endgames", takes_agents=True),
    "league": Command("league:league", takes_agents=True),
    "play": Command("play:play", takes_agents=True),
    "play mcp": Command("play:mcp", takes_agents=True),
    "analyse": Command("analyse:analyse_games"),
    "analyse discard": Command("discard:discard"),
    "analyse leads": Command("leads:leads"),
    "suite": Command("suite:suite", takes_agents=True),
    "exploitability": Command("exploitability:exploitability", takes_agents=True),
    "solve play": Command("solve:solve_play"),
    "solve deal": Command("solve:solve_deal"),
    "dataset": Command("dataset:dataset", takes_agents=True),
    "runs": Command("runs:runs"),
    "runs curves": Command("runs:curves"),
    "benchmark": Command("benchmark:benchmark"),
}
GROUPS = {
    "solve": "Solves the play, or whole deals, for their equilibrium, to a stated distance from it.",
}
"""What the commands of a group have in common, by the first word of their names."""


def names() -> dict[str, str]:
    """The first words of a command line, each with a line of the help."""
    return {name: command.about for name, command in COMMANDS.items() if " " not in name} | GROUPS


def names_under(first: str) -> dict[str, str]:
    """The second words that may follow a first one, each with a line of the help."""
    both = (name.partition(" ") for name in COMMANDS)
    return {second: COMMANDS[f"{word} {second}"].about for word, _, second in both if word == first and second}


def run(name: str, arguments: list[str]) -> None:
    """Runs a command of this package with the words after its name."""
    under = names_under(name)
    if name in GROUPS or (arguments[:1] and arguments[0] in under):
        second, arguments = choose(f"{PROG} {name}", "table", GROUPS.get(name, ""), under, arguments)
        name, under = f"{name} {second}", {}
    command = COMMANDS[name]
    function = command.load()
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    told = takewhile(lambda paragraph: not paragraph.startswith(("Args:", "Raises:")), paragraphs)
    about = "\n\n".join(" ".join(paragraph.split()) for paragraph in told)
    if command.takes_agents:
        from crib_env.agents.registry import NAMES as AGENTS  # imported here: with the kernels it takes a second

        about += (
            f"\n\nAgents: {', '.join(AGENTS)}. Settings follow a colon, as in ismcts:iterations=1000. The "
            "folder of a run of `crib-env train` is an agent, and so are module:Class of your own and "
            "pipe:COMMAND, a program that plays."
        )
    if under:
        about += "\n" + "".join(f"\n{name} {second}: {text}" for second, text in under.items())
    read(function, f"{PROG} {name}", about, arguments)


def main() -> None:
    """Reads the command line, and runs the command it names."""
    with reported_errors():
        run(*choose(PROG, "command", ABOUT, names(), sys.argv[1:]))


if __name__ == "__main__":
    main()
