"""``crib-env COMMAND`` and ``crib-env train LEARNER``, in a checkout also ``python -m train``: trains an agent."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, make_dataclass
from inspect import getdoc
from pathlib import Path
from typing import Annotated, Any

import tyro

from crib_env.evaluate.__main__ import ABOUT, PROG, names, run
from crib_env.evaluate.command_line import SomeExecutor, SomeFolder, choose, read
from crib_env.evaluate.console import reported_errors
from crib_env.evaluate.runs.format import SEEDS
from crib_env.players.agent_from_text import is_outside
from crib_env.train.registry import LEARNERS, learner_named, presets_of

_ABOUT = """Trains an agent and measures its strength.

A run is saved in runs/LEARNER/TIME-sSEED, with its TensorBoard curves. --resume FOLDER continues a \
stopped run; --seeds 5 trains five times and reports mean and spread. module:Class trains by a learner in a file of \
your own."""
_COMMANDS = names() | {"train": "Trains an agent by one of several learners and measures its strength."}


@dataclass(frozen=True)
class Start:
    """How to start or resume."""

    resume: SomeFolder = None
    """Continue the run in this folder, or the runs of several seeds, with the same settings. The only other options
    allowed are --executor, --device, and --opponent to name your own module's class again."""
    folder: SomeFolder = None
    """New folder of the run, by default runs/LEARNER/TIME-sSEED."""
    seeds: Annotated[int | None, tyro.conf.arg(metavar="N", help_behavior_hint="")] = None
    """Train N times, 2 to 10,000, with the given seed and the ones after it; report mean and spread."""
    executor: SomeExecutor = None
    """Train the seeds in parallel on workers: processes, ray or dask, on the cores of this machine; ray:ADDRESS or
    dask:ADDRESS on a cluster, whose machines share the folder."""

    def __post_init__(self) -> None:
        if self.seeds is not None and self.seeds not in SEEDS:
            raise ValueError(f"seeds={self.seeds} is not allowed: give how many times to train, {SEEDS}")


@dataclass(frozen=True)
class _Preset:
    preset: str = "default"


@dataclass(frozen=True)
class Resume:
    """What is allowed beside ``--resume``."""

    resume: Path
    executor: str | None = None
    opponent: str | None = None  # the class named again; the file in a folder never decides whose code runs
    device: str | None = None  # where the run goes on, if it is another device


def read_command(name: str, learner: Any, about: str, arguments: Sequence[str]) -> tuple[Start, Any]:
    """Reads the options of a learner: how to start, and the settings of a new run, or what ``--resume`` allows beside
    it; prints help or an error and exits. ``ValueError`` if a value is not allowed."""
    prog, given = f"{PROG} train {name}", {word.partition("=")[0] for word in arguments}
    if "--resume" in given and given.isdisjoint(("-h", "--help")):
        asked, others = tyro.cli(Resume, args=arguments, prog=prog, return_unknown_args=True)
        if others:
            raise ValueError(f"--resume keeps the settings of the run: {others[0]} cannot be combined with it")
        return Start(asked.resume, executor=asked.executor), asked
    # A preset changes the defaults, so it is read first. An unknown one is left to the parser, which lists them.
    chosen, _ = tyro.cli(_Preset, args=arguments, add_help=False, return_unknown_args=True, console_outputs=False)
    presets = presets_of(learner)
    default = presets.get(chosen.preset, presets["default"])
    kinds = (("run", Start), ("learner", type(default)))
    options = make_dataclass("Options", [(of, Annotated[kind, tyro.conf.arg(name="")]) for of, kind in kinds])
    found = read(options, prog, about, arguments, default=options(Start(), default))
    return found.run, found.learner


def train(words: list[str]) -> None:
    """Trains as the words after ``crib-env train`` say."""
    with reported_errors():
        abouts = {name: about for name, (_, about) in LEARNERS.items()}
        if words and is_outside(words[0]):
            name, arguments = words[0], words[1:]
        else:
            name, arguments = choose(f"{PROG} train", "learner", _ABOUT, abouts, words)
        import tensorboard  # noqa: F401 -- the first import, so that the extra that is named has torch and all of them

        # Imported here: torch and other imports take seconds.
        from crib_env.agents.registry import check_names_of_file, settings_of
        from crib_env.evaluate.executors import check_executor
        from crib_env.train.loop.run import run_learner
        from crib_env.train.loop.run_folder import RunFolder
        from crib_env.train.loop.sweep import sweep

        learner = learner_named(name)
        about = abouts[name] if name in LEARNERS else (getdoc(learner) or name).partition("\n\n")[0]
        start, given = read_command(name, learner, about, arguments)
        seeds = start.seeds
        if start.resume is not None:
            folder, found = RunFolder.open(start.resume, name)
            seeds = found.pop("seeds", None)
            found |= {} if given.device is None else {"device": given.device}
            check_names_of_file(found.values(), [given.opponent] if given.opponent else [], folder.path)
            settings = settings_of(presets_of(learner)["default"], found, "the run's config.json")
        if start.executor is not None:
            if seeds is None:
                raise ValueError(f"executor={start.executor!r} is only for --seeds: one run stays on one machine")
            check_executor(start.executor)
        if start.resume is None:
            settings = given
            folder = RunFolder.create(name, settings, seeds=seeds, folder=start.folder)
    with reported_errors(f"stopped; continue with: {PROG} train {name} --resume {shlex.quote(folder.path.as_posix())}"):
        if seeds is None:
            run_learner(learner, settings, folder)
        else:
            sweep(name, settings, seeds, folder.path, start.executor)


def crib_env() -> None:
    """Reads the command line of ``crib-env``, and runs the command it names."""
    with reported_errors():
        name, arguments = choose(PROG, "command", ABOUT, _COMMANDS, sys.argv[1:])
        if name != "train":
            run(name, arguments)
            return
    train(arguments)


def main() -> None:
    """Reads the command line of ``python -m train``."""
    train(sys.argv[1:])


if __name__ == "__main__":
    main()
