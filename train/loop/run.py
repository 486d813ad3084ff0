"""One run, from its settings to measured final weights."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from rich.progress import Progress

from crib_env.agents.registry import check_names_of_file
from crib_env.evaluate.console import console
from crib_env.evaluate.folder_lock import held
from crib_env.evaluate.matches.match import MatchResult
from crib_env.evaluate.progress import progress_bar
from crib_env.evaluate.runs.format import final_tags, read_config
from crib_env.evaluate.runs.table import CAPTION, read_runs, rows_of, tables_of
from crib_env.train.loop.contracts import Learner, S
from crib_env.train.loop.learning import LearningSettings, RunSettings, with_precision
from crib_env.train.loop.number_format import chosen, is_emulated, processor
from crib_env.train.loop.run_folder import RUNS, RunFolder
from crib_env.train.loop.strength import strength_of
from crib_env.train.loop.tensorboard import summaries


def load_settings(learner: Learner[S], found: dict[str, Any], folder: Path, said: Collection[str] = ()) -> S:
    """Reads the settings of a run from its ``config.json``.

    Args:
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

    Raises:
        ValueError: another process works in the folder.
    """
    if folder.is_finished:
        _print(f"finished already: {folder.path}")
        console.print(*tables_of(*rows_of(read_runs(folder.path))), CAPTION)
        return
    with held(folder.path):
        _train_and_measure(learner, settings, folder, bar)


def _train_and_measure(learner: Learner[S], settings: S, folder: RunFolder, bar: Callable[[], Progress]) -> None:
    measured_by = strength_of(learner, settings)
    _print(f"run folder: {folder.path}")
    _print(precision_in_words(settings))
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
    folder.begin_end()
    folder.log(final_tags(values), summary["episodes"])
    start = with_precision(learner.PRESETS.get(getattr(settings, "preset", ""), learner.PRESETS["default"]))
    folder.log_hparams(summaries(learner.NAME, settings, start))
    folder.flush()
    curve = measured_by.draw(folder.path, f"{learner.NAME}, seed {settings.seed}")
    folder.finish({**summary, "strength": measured_by.as_json(results), "scalars": values})
    console.print(measured_by.table(learner.NAME, results))
    if _is_expected(learner, settings):
        for line in _expected_lines(learner, settings, results["greedy"]):
            _print(line)
    _print(
        f"{summary['episodes']:,} episodes in {summary['seconds']:.0f} s, "
        f"{summary['simulation_share']:.1%} of the time in simulation"
    )
    _print(f"weights: {folder.final}")
    _print(f"curve: {curve}")


def _print(line: str) -> None:
    """Prints a line without wrapping it, so that its path can be copied."""
    console.print(line, soft_wrap=True)


def precision_in_words(settings: RunSettings) -> str:
    """A line on the format in which networks train with these settings, and on the processor."""
    if not isinstance(settings, LearningSettings):  # there are no networks
        return f"processor: {processor()}"
    name = settings.precision
    return f"precision: {chosen(name)}{', emulated and slow' * is_emulated(name)}; processor: {processor()}"


# A learner's default run repeats to the last digit on the same kind of processor, and rounds otherwise in another
# precision. The module of such a learner has ``EXPECTED``, by precision: the win rate against ``greedy`` and its
# interval, as :func:`rate_in_words` writes them. These settings change nothing of it, or have a row of their own.
_FREE = ("precision", "evaluations", "evaluation_games", "checkpoint_seconds")


def _is_expected(learner: Learner[S], settings: S) -> bool:
    """Whether it is known what a run with these settings comes to."""
    default: Any = learner.PRESETS["default"]
    return hasattr(learner, "EXPECTED") and settings == replace(
        default, **{name: getattr(settings, name) for name in _FREE}
    )


def _expected_lines(learner: Any, settings: Any, result: MatchResult) -> Iterator[str]:
    """What runs in each precision come to, and whether this one does."""
    rows = " and ".join(f"{rate} in {name}" for name, rate in learner.EXPECTED.items())
    yield f"expected against greedy: {rows}"
    name = chosen(settings.precision)
    if rate_in_words(result) == learner.EXPECTED[name]:
        yield f"this run, in {name}: as expected"
    else:
        yield f"this run, in {name}: not the digits expected; other versions and kinds of processor round otherwise"


def rate_in_words(result: MatchResult) -> str:
    """A win rate with its interval, as tables of results write it."""
    low, high = result.interval
    return f"{result.win_rate:.2%} ({low:.2%} to {high:.2%})"
