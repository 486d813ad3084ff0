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

from crib_env.evaluate.command_line import checked, choose, read
from crib_env.evaluate.console import reported_errors

PROG = "crib-env"
ABOUT = "Two-player cribbage: matches between agents, measurements, a page to play at, training."
COMMANDS = {
    "match": "match:match",
    "match endgames": "match:endgames",
    "league": "league:league",
    "play": "play:play",
    "play mcp": "play:mcp",
    "analyse": "analyse:analyse_games",
    "analyse discard": "analyse:discard",
    "analyse leads": "analyse:leads",
    "analyse rollout": "analyse:roll_out",
    "suite": "suite:suite",
    "exploitability": "exploitability:exploitability",
    "solve play": "solve:solve_play",
    "solve deal": "solve:solve_deal",
    "dataset": "dataset:dataset",
    "runs": "runs:runs",
    "runs curves": "runs:curves",
    "benchmark": "benchmark:benchmark",
}
"""``module:function`` in ``evaluate/commands`` by command; tyro reads the function's parameters."""
OF_AGENTS = {"match", "league", "play", "suite", "exploitability", "dataset"}  # their help lists the agents
GROUPS = {
    "solve": "Solves the play, or whole deals, for their equilibrium, to a stated distance from it.",
}
"""What the commands of a group have in common, by the first word of their names."""


def names() -> dict[str, str]:
    """The first words of a command line, each with a line of the help."""
    return {name: about(name) for name in COMMANDS if " " not in name} | GROUPS


def names_under(first: str) -> dict[str, str]:
    """The second words that may follow a first one, each with a line of the help."""
    both = (name.partition(" ") for name in COMMANDS)
    return {second: about(f"{word} {second}") for word, _, second in both if word == first and second}


def about(name: str) -> str:
    """One line of the help: how the docstring of a command begins, read from its file, since imports take long."""
    module, _, function = COMMANDS[name].partition(":")
    text = Path(__file__).parent.joinpath("commands", f"{module}.py").read_text(encoding="utf-8")
    (line,) = re.findall(rf'^def {function}\(.*?"""(.*?)(?:\n\n|""")', text, re.S | re.M)
    return " ".join(line.split())


def load(name: str) -> Callable[..., None]:
    """The function of a command, which checks its arguments first; imports its module."""
    module, _, function = COMMANDS[name].partition(":")
    return checked(getattr(import_module(f"crib_env.evaluate.commands.{module}"), function))


def run(name: str, arguments: list[str]) -> None:
    """Runs a command of this package with the words after its name."""
    under = names_under(name)
    if name in GROUPS or (arguments[:1] and arguments[0] in under):
        second, arguments = choose(f"{PROG} {name}", "table", GROUPS.get(name, ""), under, arguments)
        name, under = f"{name} {second}", {}
    function = load(name)
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    told = takewhile(lambda paragraph: not paragraph.startswith(("Args:", "Raises:")), paragraphs)
    help_text = "\n\n".join(" ".join(paragraph.split()) for paragraph in told)
    if name.partition(" ")[0] in OF_AGENTS:
        from crib_env.agents.registry import NAMES as AGENTS  # imported here: with the kernels it takes a second

        help_text += (
            f"\n\nAgents: {', '.join(AGENTS)}. Settings follow a colon, as in ismcts:iterations=1000. The "
            "folder of a run of `crib-env train` is an agent, and so are module:Class of your own and "
            "pipe:COMMAND, a program that plays."
        )
    if under:
        help_text += "\n" + "".join(f"\n{name} {second}: {text}" for second, text in under.items())
    read(function, f"{PROG} {name}", help_text, arguments)


def main() -> None:
    """Reads the command line, and runs the command it names."""
    with reported_errors():
        run(*choose(PROG, "command", ABOUT, names(), sys.argv[1:]))


if __name__ == "__main__":
    main()
