"""``python -m train LEARNER [settings]``: trains an agent and says how strong it has become.

A run lies in ``runs/LEARNER/TIME-sSEED``. One that was stopped goes on with ``python -m train LEARNER --resume RUN``.
``--seeds 5`` trains five times, with the seed given and the four that follow, and reports mean and spread; these runs
lie together in ``runs/LEARNER/TIME-sSEED-x5``, which ``--resume`` takes too. With ``--ray ADDRESS`` they are trained
side by side on a Ray cluster whose machines share that folder, or with ``--ray local`` on the cores of this one.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from evaluate.console import reported_errors
from evaluate.on_ray import load_ray
from train import best, ddqn, discard_game, drqn, nfsp, ppo, response, td, weights
from train.run import load_settings, run_learner
from train.run_folder import RunFolder
from train.sweep import Sweep

LEARNERS: dict[str, Any] = {
    "best": best,
    "ddqn": ddqn,
    "discard-game": discard_game,
    "drqn": drqn,
    "nfsp": nfsp,
    "ppo": ppo,
    "response": response,
    "td": td,
    "weights": weights,
}


@dataclass(frozen=True)
class Resume:
    """Goes on with a run that was stopped, with the settings it was started with."""

    resume: Path
    """The folder of the run."""


def read_settings(learner: Any, arguments: list[str]) -> Any:
    """The settings of a learner from the command line; ``--preset`` says where they start from."""
    chosen = "default"
    for i, argument in enumerate(arguments):
        if argument.startswith("--preset"):
            chosen = argument.partition("=")[2] or (arguments[i + 1] if i + 1 < len(arguments) else "")
    # An unknown preset is left to the parser, which says what is allowed.
    start = learner.PRESETS.get(chosen, learner.PRESETS["default"])
    return tyro.cli(learner.Settings, args=arguments, default=start, prog=f"python -m train {learner.NAME}")


def take_out(name: str, arguments: list[str]) -> tuple[str | None, list[str]]:
    """What a setting is given as, ``None`` if it is not there, and the other arguments."""
    for i, argument in enumerate(arguments):
        found, has_value, value = argument.partition("=")
        if found == name:
            rest = arguments[i + 1 :]
            text = value if has_value else rest.pop(0) if rest else ""
            return text, arguments[:i] + rest
    return None, arguments


def take_seeds(arguments: list[str]) -> tuple[int | None, list[str]]:
    """What ``--seeds`` says, ``None`` if it is not there, and the other arguments.

    Raises:
        ValueError: it is not a whole number of at least 2.
    """
    text, rest = take_out("--seeds", arguments)
    if text is None:
        return None, rest
    if not text.isdigit() or int(text) < 2:
        raise ValueError(f"seeds={text!r} is not allowed: give how many times to train, at least 2")
    return int(text), rest


def _check_ray(ray: str | None, seeds: int | None) -> None:
    if ray is None:
        return
    if seeds is None:
        raise ValueError(f"ray={ray!r} is not allowed without --seeds: one run stays on one machine")
    load_ray(ray)


def main() -> None:
    """Reads the command line and trains."""
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(f"usage: python -m train {{{','.join(LEARNERS)}}} [settings]\n\n{__doc__}")
        raise SystemExit(0 if arguments else 2)
    with reported_errors():
        if arguments[0] not in LEARNERS:
            raise ValueError(f"there is no learner {arguments[0]!r}: choose of {', '.join(LEARNERS)}")
        learner = LEARNERS[arguments[0]]
        ray, arguments = take_out("--ray", arguments[1:])
        if any(argument.startswith("--resume") for argument in arguments):
            run = tyro.cli(Resume, args=arguments, prog=f"python -m train {learner.NAME}").resume
            folder, found = RunFolder.open(run, learner.NAME)
            seeds = found.pop("seeds", None)
            settings = load_settings(learner, found)
            _check_ray(ray, seeds)
        else:
            seeds, rest = take_seeds(arguments)
            settings = read_settings(learner, rest)
            _check_ray(ray, seeds)
            folder = RunFolder.create(learner.NAME, settings, seeds=seeds)
    with reported_errors(f"stopped; go on with: python -m train {learner.NAME} --resume {folder.path}"):
        if seeds is None:
            run_learner(learner, settings, folder)
        else:
            Sweep(learner, settings, seeds, folder.path).run(ray)


if __name__ == "__main__":
    main()
