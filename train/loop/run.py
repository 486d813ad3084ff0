"""One run, from its settings to measured final weights."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from rich.progress import Progress

from crib_env.agents.registry import check_names_of_file
from crib_env.evaluate.commands.runs import runs
from crib_env.evaluate.console import console
from crib_env.evaluate.folder_lock import held
from crib_env.evaluate.progress import progress_bar
from crib_env.evaluate.runs.format import final_tags, read_config
from crib_env.train.loop import expected, hparams
from crib_env.train.loop.contracts import Learner, S, StrengthMeasure
from crib_env.train.loop.measures import measure_of
from crib_env.train.loop.precision import in_words, processor, with_precision
from crib_env.train.loop.run_folder import RUNS, RunFolder


def strength_of(learner: Learner[S], settings: S) -> StrengthMeasure[Any, Any]:
    """The measure of strength for the player of a learner."""
    return getattr(learner, "STRENGTH", None) or measure_of(settings)


def load_settings(learner: Learner[S], found: dict[str, Any], folder: Path, said: Collection[str] = ()) -> S:
    """Reads the settings of a run from its ``config.json``.

    Args:
        learner: the learner's module.
        found: the settings in the file.
        folder: the folder of the run.
        said: agents outside this project, ``module:Class``, that the user has named; only their code may run.

    Raises:
        ValueError: a setting is unknown or not allowed, or names another agent outside this project.
    """
    check_names_of_file(found.values(), said, folder)
    default = learner.PRESETS["default"]
    known = {field.name for field in fields(default)}
    if unknown := sorted(set(found) - known):
        raise ValueError(f"the run's config.json has settings that {learner.NAME} does not know: {', '.join(unknown)}")
    given: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in found.items()}
    return replace(default, **given)


def run_learner(
    learner: Learner[S], settings: S, folder: RunFolder, bar: Callable[[], Progress] = progress_bar
) -> None:
    """Trains, saves the final weights, measures and prints their strength; writes everything to the folder.

    If the run is finished it only prints the results again and leaves the folder unchanged.

    Args:
        learner: the learner's module.
        settings: the settings of the run.
        folder: the folder of the run.
        bar: makes the progress bar.

    Raises:
        ValueError: another process works in the folder.
    """
    if folder.is_finished:
        _print(f"finished already: {folder.path}")
        runs((folder.path,))
        return
    with held(folder.path):
        _train_and_measure(learner, settings, folder, bar)


def _train_and_measure(learner: Learner[S], settings: S, folder: RunFolder, bar: Callable[[], Progress]) -> None:
    measured_by = strength_of(learner, settings)
    _print(f"run folder: {folder.path}")
    _print(in_words(settings))
    begun_on = read_config(folder.path).processor
    if begun_on not in ("", processor()):
        _print(f"begun on {begun_on}: digits may differ from those of a run on one processor")
    _print(f"curves: tensorboard --logdir {RUNS if RUNS in folder.path.parents else folder.path}")
    if settings.evaluations:
        games = f"{settings.evaluation_games:,} {measured_by.SAMPLE}"
        _print(f"strength at the start and {settings.evaluations} times during training: {games}")
    with bar() as progress:
        agent, summary = learner.train(settings, folder, progress)
        agent.save(folder.final)
        task = progress.add_task("measuring its strength", total=measured_by.total(settings.final_games))
        results = measured_by.measure(
            agent, settings.final_games, settings.seed + 1, lambda done: progress.update(task, advance=done)
        )
    values = measured_by.scalars(results)
    folder.log(final_tags(values), summary["episodes"])
    start = with_precision(learner.PRESETS.get(getattr(settings, "preset", ""), learner.PRESETS["default"]))
    folder.log_hparams(hparams.summaries(learner.NAME, settings, start))
    folder.finish({**summary, "strength": measured_by.as_json(results), "scalars": values})
    curve = measured_by.draw(folder.path, f"{learner.NAME}, seed {settings.seed}")
    console.print(measured_by.table(learner.NAME, results))
    if expected.is_measured(learner, settings):
        for line in expected.lines(learner, settings, results["greedy"]):
            _print(line)
    _print(
        f"{summary['episodes']:,} episodes in {summary['seconds']:.0f} s, "
        f"{summary['simulation_share']:.1%} of the time in simulation"
    )
    _print(f"weights: {folder.final}")
    _print(f"curve: {curve}")


def _print(line: str) -> None:
    """Prints a line without wrapping it, so that its path can be copied."""
    console.print(line, soft_wrap=True, markup=False)
