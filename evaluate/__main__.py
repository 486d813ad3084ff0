"""``crib-env COMMAND``, in a checkout also ``python -m evaluate``: matches between agents, and measurements."""

from __future__ import annotations

import inspect
import sys
from itertools import takewhile

from crib_env.evaluate.command_line import choose, read
from crib_env.evaluate.commands.registry import COMMANDS, GROUPS, Command, names, names_under
from crib_env.evaluate.ending import reported_errors

PROG = "crib-env"
ABOUT = "Matches between agents, and measurements."


def _about(name: str, command: Command) -> str:
    """The description of a command: what its docstring says, the agents that it takes, the commands under it."""
    paragraphs = inspect.cleandoc(command.load().__doc__ or "").split("\n\n")
    told = takewhile(lambda paragraph: not paragraph.startswith(("Args:", "Raises:")), paragraphs)
    about = "\n\n".join(" ".join(paragraph.split()) for paragraph in told)
    if command.takes_agents:
        from crib_env.agents.registry import NAMES as AGENTS  # imported here: with the kernels it takes a second

        about += (
            f"\n\nAgents: {', '.join(AGENTS)}. Settings follow a colon, as in ismcts:iterations=1000. The "
            "folder of a run of `crib-env train` is an agent, and so are module:Class of your own and "
            "pipe:COMMAND, a program that plays."
        )
    if under := names_under(name):
        about += "\n" + "".join(f"\n{name} {second}: {text}" for second, text in under.items())
    return about


def run(name: str, arguments: list[str]) -> None:
    """Runs a command of this package with the words after its name."""
    under = names_under(name)
    if name in GROUPS or (arguments[:1] and arguments[0] in under):
        second, arguments = choose(f"{PROG} {name}", "table", GROUPS.get(name, ""), under, arguments)
        name = f"{name} {second}"
    read(COMMANDS[name].load(), f"{PROG} {name}", _about(name, COMMANDS[name]), arguments)


def main() -> None:
    """Reads the command line, and runs the command it names."""
    with reported_errors():
        run(*choose(PROG, "command", ABOUT, names(), sys.argv[1:]))


if __name__ == "__main__":
    main()
