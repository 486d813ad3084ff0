"""One run, from its settings to weights whose strength is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from rich.progress import Progress

from evaluate.console import console, progress_bar
from train import strength
from train.run_folder import RunFolder


def load_settings(learner: Any, found: dict[str, Any]) -> Any:
    """The settings of a run as its ``config.json`` gives them."""
    default = learner.PRESETS["default"]
    known = {field.name for field in fields(default)}
    if unknown := sorted(set(found) - known):
        raise ValueError(f"the run's config.json has settings that {learner.NAME} does not know: {', '.join(unknown)}")
    return replace(default, **{name: tuple(v) if isinstance(v, list) else v for name, v in found.items()})


def run_learner(learner: Any, settings: Any, folder: RunFolder, bar: Callable[[], Progress] = progress_bar) -> None:
    """Trains, keeps the final weights, measures them and says how strong they are; the folder holds all of it.

    Args:
        learner: its module.
        settings: of the run.
        folder: of the run.
        bar: makes what shows the progress.
    """
    measured_by = getattr(learner, "STRENGTH", strength)
    console.print(f"run folder: {folder.path} (curves: tensorboard --logdir runs)")
    console.print("compiling, up to half a minute the first time …")
    with bar() as progress:
        agent, summary = learner.train(settings, folder, progress)
        agent.save(folder.final)
        task = progress.add_task("measuring its strength", total=measured_by.total(settings.final_games))
        results = measured_by.measure(
            agent, settings.final_games, settings.seed + 1, lambda done: progress.update(task, advance=done)
        )
    values = measured_by.scalars(results)
    folder.log(values, summary["episodes"])
    folder.log_settings(settings, {f"final/{tag}": value for tag, value in values.items()})
    folder.finish({**summary, "strength": measured_by.as_json(results), "scalars": values})
    curve = measured_by.draw(folder.path, f"{learner.NAME}, seed {settings.seed}")
    console.print(measured_by.table(f"{learner.NAME} ({folder.final})", results))
    console.print(
        f"{summary['episodes']:,} episodes in {summary['seconds']:.0f} s, "
        f"{summary['simulation_share']:.1%} of the time in simulation; curve: {curve}"
    )
