"""One run, from its settings to measured final weights."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from rich.progress import Progress

from crib_env.agents.registry import check_names_of_file, settings_of
from crib_env.evaluate.console import console
from crib_env.evaluate.job import held
from crib_env.evaluate.matches.match import MatchResult
from crib_env.evaluate.progress import progress_bar
from crib_env.evaluate.runs.format import read_config
from crib_env.evaluate.runs.table import CAPTION, read_runs, rows_of, tables_of
from crib_env.train.loop.contracts import Learner, presets_of
from crib_env.train.loop.learning import LearningSettings, RunSettings, with_precision
from crib_env.train.loop.number_format import chosen, is_emulated, processor
from crib_env.train.loop.recording import print_line
from crib_env.train.loop.rounds import Rounds
from crib_env.train.loop.run_folder import RUNS, RunFolder
from crib_env.train.loop.strength import strength_of


def load_settings(learner: type[Learner], found: dict[str, Any], folder: Path, said: Collection[str] = ()) -> Any:
    """Reads the settings of a run from its ``config.json``.

    Args:
        said: agents outside this project, ``module:Class``, that the user has named; only their code may run.

    Raises:
        ValueError: a setting is unknown or not allowed, or names another agent outside this project.
    """
    check_names_of_file(found.values(), said, folder)
    return settings_of(presets_of(learner)["default"], found, "the run's config.json")


def run_learner(
    learner: type[Learner], settings: RunSettings, folder: RunFolder, bar: Callable[[], Progress] = progress_bar
) -> None:
    """Trains, saves the final weights, measures and prints their strength; writes everything to the folder.

    If the run is finished it only prints the results again and leaves the folder unchanged.

    Raises:
        ValueError: another process works in the folder.
    """
    if folder.is_finished:
        print_line(f"finished already: {folder.path}")
        console.print(*tables_of(*rows_of(read_runs(folder.path))), CAPTION)
        return
    with held(folder.path):
        _say_how(learner, settings, folder)
        presets = presets_of(learner)
        start = with_precision(presets.get(getattr(settings, "preset", ""), presets["default"]))
        with bar() as progress:
            rounds, agent, about = train(learner, settings, folder, progress)
            result = rounds.finish(agent, progress, asdict(settings), asdict(start), **about)
        if _is_expected(learner, settings):
            for line in _expected_lines(learner, settings, result["greedy"]):
                print_line(line)


def train(
    learner: type[Learner], settings: RunSettings, folder: RunFolder, progress: Progress
) -> tuple[Rounds, Any, dict[str, Any]]:
    """Trains from the last checkpoint in the folder, if there is one, and saves the final weights.

    Returns:
        The rounds, the trained player, and what the summary says beside their position.
    """
    torch.set_num_threads(getattr(settings, "threads", 1))
    torch.manual_seed(settings.seed)
    trainee: Any = learner(settings)
    rounds = Rounds(settings, folder, progress, trainee, strength_of(learner, settings))
    about: dict[str, Any] | None = getattr(trainee, "own_loop", Rounds.run)(rounds)
    rounds.save_player(folder.final)
    return rounds, trainee.agent, about or {}


def _say_how(learner: type[Learner], settings: RunSettings, folder: RunFolder) -> None:
    print_line(f"run folder: {folder.path}")
    print_line(precision_in_words(settings))
    begun_on = read_config(folder.path).processor
    if begun_on not in ("", processor()):
        print_line(f"begun on {begun_on}: digits may differ from those of a run on one processor")
    print_line(f"curves: tensorboard --logdir {RUNS if RUNS in folder.path.parents else folder.path}")
    if settings.evaluations:
        games = f"{settings.evaluation_games:,} {strength_of(learner, settings).SAMPLE}"
        print_line(f"strength at the start and {settings.evaluations} times during training: {games}")


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


def _is_expected(learner: Any, settings: RunSettings) -> bool:
    """Whether it is known what a run with these settings comes to."""
    if not hasattr(learner, "EXPECTED"):
        return False
    default: Any = presets_of(learner)["default"]
    return settings == replace(default, **{name: getattr(settings, name) for name in _FREE})


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
