"""``crib-env train LEARNER``, in a checkout also ``python -m train``: trains an agent and measures its strength."""

from __future__ import annotations

import shlex
import sys
from inspect import getdoc

from crib_env.evaluate.command_line import choose
from crib_env.evaluate.ending import reported_errors
from crib_env.players.agent_from_text import is_outside
from crib_env.train.registry import LEARNERS, learner_named

_ABOUT = """Trains an agent and measures its strength.

A run is saved in runs/LEARNER/TIME-sSEED, with its TensorBoard curves. --resume FOLDER continues a \
stopped run; --seeds 5 trains five times and reports mean and spread. module:Class trains by a learner in a file of \
your own."""


def main() -> None:
    """Reads the command line and trains."""
    train(sys.argv[1:])


def train(words: list[str]) -> None:
    """Trains as the words after ``crib-env train`` say."""
    with reported_errors():
        abouts = {name: learner.about for name, learner in LEARNERS.items()}
        if words and is_outside(words[0]):
            name, arguments = words[0], words[1:]
        else:
            name, arguments = choose("crib-env train", "learner", _ABOUT, abouts, words)
        import tensorboard  # noqa: F401 -- the first import, so that the extra that is named has torch and all of them

        # Imported here: torch and other imports take seconds.
        from crib_env.evaluate.executors.named import check_executor
        from crib_env.train.command_line import read_command
        from crib_env.train.loop.learning import with_precision
        from crib_env.train.loop.run import load_settings, run_learner
        from crib_env.train.loop.run_folder import RunFolder
        from crib_env.train.loop.sweep import Sweep

        learner = learner_named(name)
        about = LEARNERS[name].about if name in LEARNERS else (getdoc(learner) or name).partition("\n\n")[0]
        start, given, opponent = read_command(name, learner, about, arguments)
        seeds = start.seeds
        if start.resume is not None:
            folder, found = RunFolder.open(start.resume, name)
            seeds = found.pop("seeds", None)
            settings = load_settings(learner, found, folder.path, () if opponent is None else (opponent,))
        if start.executor is not None:
            if seeds is None:
                raise ValueError(
                    f"executor={start.executor!r} is not allowed without --seeds: one run stays on one machine"
                )
            check_executor(start.executor)
        if given is not None:
            settings = with_precision(given)
            folder = RunFolder.create(name, settings, seeds=seeds, folder=start.folder)
    with reported_errors(
        f"stopped; continue with: crib-env train {name} --resume {shlex.quote(folder.path.as_posix())}"
    ):
        if seeds is None:
            run_learner(learner, settings, folder)
        else:
            Sweep(name, settings, seeds, folder.path).run(start.executor)


if __name__ == "__main__":
    main()
