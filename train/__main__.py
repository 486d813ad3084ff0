"""``python -m train LEARNER [settings]``: trains an agent and says how strong it has become.

A run lies in ``runs/LEARNER/TIME-sSEED``. One that was stopped goes on with ``python -m train LEARNER --resume RUN``.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import tyro

from evaluate.console import console, progress_bar, reported_errors
from evaluate.match_table import strength_table
from train import ddqn, ppo, weights
from train.run_folder import RunFolder
from train.strength import BASELINES, measure, scalars

LEARNERS: dict[str, Any] = {"ddqn": ddqn, "ppo": ppo, "weights": weights}


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


def load_settings(learner: Any, found: dict[str, Any]) -> Any:
    """The settings of a run as its ``config.json`` gives them."""
    default = learner.PRESETS["default"]
    known = {field.name for field in fields(default)}
    if unknown := sorted(set(found) - known):
        raise ValueError(f"the run's config.json has settings that {learner.NAME} does not know: {', '.join(unknown)}")
    return replace(default, **{name: tuple(v) if isinstance(v, list) else v for name, v in found.items()})


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
        if any(argument.startswith("--resume") for argument in arguments):
            run = tyro.cli(Resume, args=arguments[1:], prog=f"python -m train {learner.NAME}").resume
            folder, found = RunFolder.open(run, learner.NAME)
            settings = load_settings(learner, found)
        else:
            settings = read_settings(learner, arguments[1:])
            folder = RunFolder.create(learner.NAME, settings)
    with reported_errors(f"stopped; go on with: python -m train {learner.NAME} --resume {folder.path}"):
        run_learner(learner, settings, folder)


def run_learner(learner: Any, settings: Any, folder: RunFolder) -> None:
    """Trains, keeps the final weights, and measures them."""
    console.print(f"run folder: {folder.path} (curves: tensorboard --logdir runs)")
    console.print("compiling, up to half a minute the first time …")
    with progress_bar() as progress:
        agent, summary = learner.train(settings, folder, progress)
        agent.save(folder.final)
        task = progress.add_task("measuring its strength", total=settings.final_games * len(BASELINES))
        results = measure(
            agent, settings.final_games, settings.seed + 1, lambda done: progress.update(task, advance=done)
        )
    folder.log(scalars(results), summary["episodes"])
    folder.log_settings(settings, {f"final/{tag}": value for tag, value in scalars(results).items()})
    folder.finish({**summary, "strength": {name: result.to_json() for name, result in results.items()}})
    from train.learning_curve import draw_learning_curve  # matplotlib takes half a second, and only now is it needed

    curve = draw_learning_curve(folder.path, f"{learner.NAME}, seed {settings.seed}")
    console.print(strength_table(f"{learner.NAME} ({folder.final})", results))
    console.print(
        f"{summary['episodes']:,} episodes in {summary['seconds']:.0f} s, "
        f"{summary['simulation_share']:.1%} of the time in simulation; curve: {curve}"
    )


if __name__ == "__main__":
    main()
