"""``python -m evaluate COMMAND``: matches between agents, and measurements."""

from __future__ import annotations

import sys

from crib_env.evaluate.command_line import choose, read
from crib_env.evaluate.commands.registry import COMMANDS, Command
from crib_env.evaluate.ending import reported_errors

_PROG = "python -m evaluate"


def _about(command: Command) -> str:
    """The description of a command, with the agents that it takes."""
    if not command.takes_agents:
        return command.about
    from crib_env.agents.registry import NAMES as AGENTS  # imported here: with the kernels it takes a second

    return (
        f"{command.about}\n\nAgents: {', '.join(AGENTS)}. Settings follow a colon, as in ismcts:iterations=1000. The "
        "folder of a run of python -m train is an agent, and so are module:Class of your own and "
        "pipe:COMMAND, a program that plays."
    )


def main() -> None:
    """Reads the command line, and runs the command it names."""
    with reported_errors():
        texts = {name: command.about for name, command in COMMANDS.items()}
        name, arguments = choose(_PROG, "command", "Matches between agents, and measurements.", texts, sys.argv[1:])
        command = COMMANDS[name]
        read(command.load(), f"{_PROG} {name}", _about(command), arguments)


if __name__ == "__main__":
    main()
