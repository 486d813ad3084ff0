"""The commands by name: a measurement is a file in this folder and an entry here.

A name of two words is a command under another one, as ``match endgames``, or in a group, as ``solve play``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from crib_env.evaluate.ranges import checked


class Command(NamedTuple):
    """A command of ``crib-env``."""

    place: str
    """``module:function`` in this folder; tyro reads the function's parameters from the command line."""
    takes_agents: bool = False
    """Whether the help lists the agents."""

    @property
    def about(self) -> str:
        """One line of the help: how the function's docstring begins, read from its file, since imports take long."""
        module, _, function = self.place.partition(":")
        source = Path(__file__).parent.joinpath(*module.split(".")).with_suffix(".py").read_text(encoding="utf-8")
        (line,) = re.findall(rf'^def {function}\(.*?"""(.*?)(?:\n\n|""")', source, re.DOTALL | re.MULTILINE)
        return " ".join(line.split())

    def load(self) -> Callable[..., None]:
        """The function, which checks its arguments first; imports its module."""
        module, _, function = self.place.partition(":")
        return checked(getattr(import_module(f"crib_env.evaluate.commands.{module}"), function))


COMMANDS = {
    "match": Command("match:match", takes_agents=True),
    "match endgames": Command("match_endgames:endgames", takes_agents=True),
    "league": Command("league:league", takes_agents=True),
    "play": Command("play:play", takes_agents=True),
    "play mcp": Command("play:mcp", takes_agents=True),
    "analyse": Command("analyse:analyse_games"),
    "discard": Command("discard:discard"),
    "leads": Command("leads:leads"),
    "suite": Command("suite:suite", takes_agents=True),
    "exploitability": Command("exploitability:exploitability", takes_agents=True),
    "solve play": Command("solve.play:solve_play"),
    "solve deal": Command("solve.deal:solve_deal"),
    "dataset": Command("dataset:dataset", takes_agents=True),
    "runs": Command("runs:runs"),
    "runs curves": Command("runs:curves"),
    "reproduce": Command("reproduce:reproduce"),
    "reproduce lang-tournament": Command("reproduce:lang_tournament"),
    "benchmark": Command("benchmark:benchmark"),
    "benchmark decisions": Command("benchmark:decisions", takes_agents=True),
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
