"""``crib-env COMMAND``: all commands of :mod:`crib_env.evaluate`, and ``crib-env train LEARNER``."""

from __future__ import annotations

import sys

from crib_env.evaluate.__main__ import PROG, run
from crib_env.evaluate.command_line import choose
from crib_env.evaluate.commands.registry import names
from crib_env.evaluate.ending import reported_errors
from crib_env.train.__main__ import train

_ABOUT = "Two-player cribbage: matches between agents, measurements, a page to play at, training."
_COMMANDS = names() | {"train": "Trains an agent by one of several learners and measures its strength."}


def main() -> None:
    """Reads the command line, and runs the command it names."""
    with reported_errors():
        name, arguments = choose(PROG, "command", _ABOUT, _COMMANDS, sys.argv[1:])
        if name != "train":
            run(name, arguments)
            return
    train(arguments)
