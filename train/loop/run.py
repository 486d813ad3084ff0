"""One run, from its settings to measured final weights: rounds of play and learning; in between measure, log and save.

Ctrl-C and SIGTERM are deferred until there is a state to save.
"""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.progress import Progress

from crib_env.agents.networks.weights_file import save_tensors
from crib_env.agents.registry import check_names_of_file, settings_of
from crib_env.batch import GameBatch
from crib_env.evaluate.console import Terminated, console, progress_bar, say
from crib_env.evaluate.files import held
from crib_env.evaluate.runs import format as form
from crib_env.evaluate.runs.table import runs_table
from crib_env.evaluate.skill.exploitability import exploitability
from crib_env.players.agent_from_text import is_outside
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import start_of_play
from crib_env.train.loop.run_folder import RUNS, Position, RunFolder
from crib_env.train.loop.settings import (
    ExploringSettings,
    LearningSettings,
    RunSettings,
    chosen,
    precision_in_words,
    processor,
)
from crib_env.train.loop.strength import (
    MATCHES,
    Measure,
    figure_of,
    in_words,
    is_doubled,
    is_due,
    strength_of,
    table,
)
from crib_env.train.registry import LEARNERS, presets_of

_DRAWS = 2  # of suits, in exploitability: the fewest


def print_line(line: str) -> None:
    """Prints a line without wrapping it, so that its path can be copied."""
    console.print(line, soft_wrap=True, markup=False, highlight=False)


class Recording:
    """The position, curves and strength of a run in its folder. Time between its calls is training; measuring is not.

    Its settings say how many games measure strength, and the seed of their deals.
    """

    def __init__(
        self,
        folder: RunFolder,
        settings: RunSettings,
        strength: Measure,
        position: Position,
        tell: Callable[[str], None] = print_line,
    ) -> None:
        self.folder, self.position = folder, position
        self._settings, self._strength, self._tell = settings, strength, tell
        self.start_clocks()

    def start_clocks(self) -> None:
        """What came before now, since the last call of :meth:`log`, was no training."""
        self._began = time.perf_counter(), time.process_time()

    def log(self, values: Mapping[str, float], episodes: int) -> None:
        """Writes curves, with those of speed.

        Args:
            values: by tag; one without a group, such as ``"loss"``, gets ``learning/``. ``speed/seconds in
                simulation``, since the last call, becomes a share; ``speed/updates``, of weights, are added up.
            episodes: played so far.

        Raises:
            ValueError: there were more at an earlier call.
        """
        position, n = self.position, episodes - self.position.episodes
        if n < 0:
            raise ValueError(f"episodes={episodes} is not allowed: {position.episodes} were played before")
        seconds, on_processor = time.perf_counter() - self._began[0], time.process_time() - self._began[1]
        position.rounds += 1
        position.episodes = episodes
        position.seconds += seconds
        position.processor_seconds += on_processor
        shown = {tag if "/" in tag else f"learning/{tag}": value for tag, value in values.items()}
        position.updates += int(shown.pop(form.UPDATES, 0))
        if (simulated := shown.pop(form.SIMULATION_SECONDS, None)) is not None:
            position.simulation_seconds += simulated
            shown[form.SIMULATION_SHARE] = simulated / seconds
        if n:
            shown |= {
                form.EPISODES_PER_SECOND: n / seconds,
                form.PROCESSOR_SECONDS: position.processor_seconds,
            }
        self.folder.log(shown, episodes)
        self.start_clocks()

    def measure(self, agent: Any) -> dict[str, float]:
        """Plays ``evaluation_games`` against each baseline, writes how strong the agent is now, and says it; returns it
        by tag. :func:`crib_env.win_rate` takes the same agents."""
        found = self._strength.play(agent, self._settings.evaluation_games, self._settings.seed, lambda done: None)
        self._tell(f"{self.position.episodes:,} episodes: {in_words(self._strength.tags, found.scalars)}")
        self.folder.log(found.scalars, self.position.episodes)
        self.start_clocks()
        return found.scalars

    def finish(self, agent: Any, progress: Progress) -> dict[str, float]:
        """Measures the finished agent, writes summary and picture, and prints them; returns its strength by tag."""
        settings, folder, games = self._settings, self.folder, self._settings.final_games
        task = progress.add_task("measuring its strength", total=games * self._strength.opponents)
        found = self._strength.play(agent, games, settings.seed + 1, lambda done: progress.update(task, advance=done))
        summary = {**self.position.summary(), "strength": found.as_json, "scalars": found.scalars}
        curve = self._strength.draw(folder.path, f"{folder.learner}, seed {settings.seed}", summary)
        folder.finish(summary)
        console.print(table(f"{folder.learner}, {games:,} {self._strength.sample}", found.scalars))
        share = summary.get("simulation_share")
        told = "" if share is None else f", {share:.1%} of the time in simulation"
        print_line(f"{summary['episodes']:,} episodes in {summary['seconds']:.0f} s{told}")
        if folder.final.exists():
            print_line(f"weights: {folder.final}")
        print_line(f"curve: {curve}")
        return found.scalars


_MEASURED = ("seed", "evaluation_games", "final_games")


class Run(Recording):
    """A run of a script with a loop of its own, in a folder with the curves of this project's learners.

    Args:
        name: of the learner, in tables and curves.
        settings: of the script, in JSON. ``seed`` (0), ``evaluation_games`` (1,000) and ``final_games`` (10,000) are
            those of :class:`RunSettings`.
        folder: a new one; by default ``runs/NAME/TIME-sSEED``.

    Raises:
        ValueError: an argument is not allowed.
    """

    def __init__(self, name: str, settings: Mapping[str, Any] | None = None, folder: str | Path | None = None) -> None:
        if not name or not name.isprintable() or name in LEARNERS or name != Path(name).name:
            raise ValueError(
                f"name={name!r} is not allowed: give one that is a folder's and no learner's of this project"
            )
        its = RunSettings(**{key: value for key, value in (settings or {}).items() if key in _MEASURED})
        given = {key: getattr(its, key) for key in _MEASURED} | json.loads(json.dumps(dict(settings or {})))
        at = None if folder is None else Path(folder)
        super().__init__(RunFolder.create(name, given, folder=at), its, MATCHES, Position())

    def save(self, agent: Any, tensors: Mapping[str, torch.Tensor] | None = None) -> None:
        """Ends the run: saves tensors, plays ``final_games``, writes the summary and the learning curve, prints both.

        Args:
            agent: the finished one.
            tensors: its weights; a file of the ``safetensors`` format.
        """
        if tensors is not None:
            save_tensors(self.folder.final, dict(tensors), {"learner": self.folder.learner})
        with progress_bar() as progress:
            self.finish(agent, progress)


class Interrupt:
    """Requests to stop a run: what the first signal raises at the end, ``None`` before there was one."""

    signalled: type[KeyboardInterrupt] | None = None


@contextmanager
def put_off_interrupts() -> Iterator[Interrupt]:
    """Defers Ctrl-C and SIGTERM inside the block; a second one stops at once. At the end a deferred one is raised."""
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():  # signals arrive in the main thread only
        yield interrupt
        return

    def note(number: int, frame: object) -> None:
        if interrupt.signalled is not None:
            raise interrupt.signalled
        interrupt.signalled = Terminated if number == signal.SIGTERM else KeyboardInterrupt

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield interrupt
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if interrupt.signalled is not None:
        raise interrupt.signalled


@dataclass(frozen=True)
class Round:
    """The task of a round."""

    episodes: int  # to play in it
    episodes_before: int  # played before it
    epsilon: float  # the probability of a random card, of ExploringSettings
    learning_rate: float  # of LearningSettings
    rng: np.random.Generator  # follows from the seed and the number of rounds before

    @classmethod
    def first(cls, episodes: int = 2) -> Round:
        """A few episodes of random cards, that nobody learns from: kernels are compiled in them."""
        return cls(episodes, 0, 1.0, 0.0, np.random.default_rng(0))

    @classmethod
    def after(cls, position: Position, settings: RunSettings) -> Round:
        """The next round of a run; rates that its settings have change linearly. A run with more than ``episodes``
        in all has parts, which begin anew with the rates and with random numbers."""
        before, rounds = position.episodes, -(-settings.episodes // settings.episodes_at_once)
        done = before % settings.episodes / settings.episodes
        epsilon = rate = 0.0
        if isinstance(settings, ExploringSettings):
            epsilon = settings.epsilon + done * (settings.final_epsilon - settings.epsilon)
        if isinstance(settings, LearningSettings):
            rate = settings.learning_rate + done * (settings.final_learning_rate - settings.learning_rate)
        n = min(settings.episodes_at_once, settings.episodes - before % settings.episodes)
        return cls(n, before, epsilon, rate, np.random.default_rng([settings.seed, position.rounds % rounds]))

    def deal(self, episode: str, skip_forced: bool = True, cards: int = 4) -> GameBatch:
        """New games for the episodes, in pegging with so many cards for each player."""
        seeds = self.rng.integers(2**64, size=self.episodes, dtype=np.uint64)
        return GameBatch(seeds, episode=episode, cards=cards, skip_forced=skip_forced, first_id=self.episodes_before)

    def rate_after(self, warm_up: int) -> float | None:
        """The learning rate; ``None`` before this many episodes are played."""
        return self.learning_rate if self.episodes_before + self.episodes >= warm_up else None


class Rounds(Recording):
    """The rounds of a run, which continues exactly from the last checkpoint in its folder, if there is one."""

    def __init__(self, settings: RunSettings, folder: RunFolder, progress: Progress, learner: Any) -> None:
        position = Position.restored(folder, learner.load_state_dict, settings)
        measure = strength_of(learner, settings)
        super().__init__(folder, settings, measure, position, lambda line: say(progress, line))
        self.progress, self._learner, self._total = progress, learner, settings.all_episodes
        self._task = progress.add_task(folder.learner, total=self._total, completed=position.episodes)
        self._saved_at = time.perf_counter()

    def run(self) -> None:
        """Plays and learns to the end of the run; Ctrl-C and SIGTERM end it with a checkpoint of the last round."""
        with self.under_way() as interrupt:
            while self.position.episodes < self._total and not interrupt.signalled:
                now = Round.after(self.position, self._settings)
                self.begin_round()
                values = self._learner.play_and_learn(now)
                if isinstance(self._settings, ExploringSettings):
                    values = {**values, form.EPSILON: now.epsilon}
                if isinstance(self._settings, LearningSettings):
                    values = {**values, form.LEARNING_RATE: now.learning_rate}
                self.end_round(now.episodes, values)

    @contextmanager
    def under_way(self) -> Iterator[Interrupt]:
        """The rounds are played inside the block. After it a checkpoint is saved; then a ``KeyboardInterrupt`` that was
        put off is raised."""
        with put_off_interrupts() as interrupt:
            yield interrupt
            self.save()

    def begin_round(self) -> None:
        """Starts the clocks of a round; measures the player before the first one."""
        if self.position.episodes == 0:
            self._measure_if(self._settings.evaluations > 0, self._settings.exploitability > 0)
        self.start_clocks()

    def end_round(self, n: int, values: dict[str, float]) -> None:
        """Records a round of ``n`` episodes: writes curves, measures strength and saves a checkpoint if that is due."""
        settings, before = self._settings, self.position.episodes
        self.log(values, before + n)
        counts = before, before + n, self._total
        self._measure_if(is_due(*counts, settings.evaluations), is_doubled(*counts, settings.exploitability))
        self.progress.update(self._task, completed=before + n)
        if time.perf_counter() - self._saved_at > settings.checkpoint_seconds:
            self.save()

    def _measure_if(self, strength: bool, exactly: bool) -> None:
        if strength:
            self.measure(self._learner.agent)
        if exactly:
            game = PlayGame(start=start_of_play(getattr(self._settings, "cards", 4)))
            found, episodes = exploitability(self._learner.agent, game, _DRAWS), self.position.episodes
            self.folder.log(form.with_band(form.EXPLOITABILITY, found.mean, found.least, found.mean), episodes)
            least = "" if found.least == found.mean else f", at least {found.least:.3f}"
            self._tell(f"{episodes:,} episodes: exploitability {found.mean:.3f}{least} points a deal")

    def save_player(self, path: Path) -> None:
        """Writes what :func:`crib_env.make_agent` reads as an agent of this learner: its weights, or the whole state of
        a learner from outside."""
        if is_outside(self.folder.learner):
            about = {"learner": self.folder.learner, "settings": asdict(self._settings)}
            save_tensors(path, self._tensors(), about)
        else:
            self._learner.agent.save(path)

    def _tensors(self) -> dict[str, torch.Tensor]:
        return {name: torch.as_tensor(value) for name, value in self._learner.state_dict().items()}

    def save(self) -> None:
        """Writes a checkpoint of the rounds that are over."""
        about = asdict(self.position) | {"settings": asdict(self._settings)}
        self.folder.save_checkpoint(self.position.episodes, self._tensors(), about)
        self._saved_at = time.perf_counter()


def load_settings(learner: Any, found: dict[str, Any], folder: Path, said: Collection[str] = ()) -> Any:
    """Reads the settings of a run from its ``config.json``.

    Raises:
        ValueError: a setting is unknown or not allowed, or names an agent outside this project, ``module:Class``, that
            the user has not ``said``: only their code may run.
    """
    check_names_of_file(found.values(), said, folder)
    return settings_of(presets_of(learner)["default"], found, "the run's config.json")


def run_learner(
    learner: Any, settings: RunSettings, folder: RunFolder, bar: Callable[[], Progress] = progress_bar
) -> None:
    """Trains, saves the final weights, measures and prints their strength; writes everything to the folder. The results
    of a finished run are only printed again. A ``ValueError`` says that another process works in the folder."""
    if form.is_finished(folder.path):
        print_line(f"finished already: {folder.path}")
        console.print(runs_table([folder.path]))
        return
    with held(folder.path):
        print_line(f"run folder: {folder.path}")
        print_line(precision_in_words(settings))
        begun_on = form.read_config(folder.path).processor
        if begun_on not in ("", processor()):
            print_line(f"begun on {begun_on}: digits may differ from those of a run on one processor")
        print_line(f"curves: tensorboard --logdir {RUNS if RUNS in folder.path.parents else folder.path}")
        if settings.evaluations:
            games = f"{settings.evaluation_games:,} {strength_of(learner, settings).sample}"
            print_line(f"strength at the start and {settings.evaluations} times during training: {games}")
        with bar() as progress:
            rounds, agent = train(learner, settings, folder, progress)
            scalars = rounds.finish(agent, progress)
        if _is_expected(learner, settings):
            _say_expected(learner.EXPECTED, settings, scalars)


def train(learner: Any, settings: RunSettings, folder: RunFolder, progress: Progress) -> tuple[Rounds, Any]:
    """Trains from the last checkpoint in the folder, if there is one, and saves the final weights; returns the rounds,
    and the trained player."""
    torch.set_num_threads(getattr(settings, "threads", 1))
    torch.manual_seed(settings.seed)
    trainee = learner(settings)
    rounds = Rounds(settings, folder, progress, trainee)
    getattr(trainee, "own_loop", Rounds.run)(rounds)
    rounds.save_player(folder.final)
    return rounds, trainee.agent


# A learner's default run repeats to the last digit on the same kind of processor, and rounds otherwise in another
# precision. Such a learner has ``EXPECTED``, by precision: the win rate against ``greedy`` and its interval. These
# settings change nothing of it, or have a row of their own.
_FREE = ("precision", "evaluations", "evaluation_games", "checkpoint_seconds")


def _is_expected(learner: Any, settings: Any) -> bool:
    """Whether it is known what a run with these settings comes to."""
    return hasattr(learner, "EXPECTED") and settings == replace(
        presets_of(learner)["default"], **{name: getattr(settings, name) for name in _FREE}
    )


def _say_expected(expected: Mapping[str, str], settings: Any, scalars: Mapping[str, float]) -> None:
    """Says what runs in each precision come to, and whether this one does."""
    tag, name = form.win_rate_tag("greedy"), chosen(settings.precision)
    rate, low, high = (figure_of(tag, scalars[one]) for one in (tag, *form.band_of(tag)))
    said = "not the digits expected; other versions and kinds of processor round otherwise"
    print_line(f"expected against greedy: {' and '.join(f'{rate} in {one}' for one, rate in expected.items())}")
    print_line(f"this run, in {name}: {'as expected' if f'{rate} ({low} to {high})' == expected[name] else said}")
