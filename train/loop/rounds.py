"""Training in rounds: play many episodes and learn from them; in between measure, log and save checkpoints.

Ctrl-C and SIGTERM are deferred until there is a state to save.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from rich.progress import Progress

from crib_env.batch import GameBatch
from crib_env.evaluate.ending import Terminated, output_failure
from crib_env.evaluate.progress import say
from crib_env.evaluate.runs.format import (
    EPISODES_PER_SECOND,
    EPSILON,
    LEARNING_RATE,
    PROCESSOR_SECONDS,
    SIMULATION_SHARE,
)
from crib_env.train.loop.contracts import StrengthMeasure, Trainee
from crib_env.train.loop.learning import ExploringSettings, LearningSettings, RunSettings
from crib_env.train.loop.measured_beside import MeasuredBeside
from crib_env.train.loop.run_folder import Position, RunFolder, RunSummary
from crib_env.train.loop.strength import cards_of, is_doubled, is_due, measure_of

_PAUSE = 0.05  # seconds between looks for measurements that are over


class Interrupt:
    """Requests to stop a run."""

    signalled: type[KeyboardInterrupt] | None = None
    """What the first signal raises at the end; ``None`` before there was one."""

    @property
    def asked(self) -> bool:
        """Whether there was Ctrl-C or SIGTERM, or the output can no longer be written."""
        return self.signalled is not None or output_failure() is not None


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
    if interrupt.asked:
        raise interrupt.signalled or KeyboardInterrupt


class Rounds:
    """The rounds of a run, with its position, curves, measurements of strength and checkpoints.

    A stopped run continues exactly from its last checkpoint.

    Args:
        trainee: the player in training; it is restored from the last checkpoint in the folder, if there is one.
        strength: measures the player; ``None`` selects the measure by the settings.

    Attributes:
        position: the position of the run.
    """

    def __init__(
        self,
        name: str,
        settings: RunSettings,
        folder: RunFolder,
        progress: Progress,
        trainee: Trainee,
        total: int,
        strength: StrengthMeasure[Any, Any] | None = None,
    ) -> None:
        self._settings, self._folder, self._progress = settings, folder, progress
        self._trainee, self._total, self._strength = trainee, total, strength or measure_of(settings)
        self.position = Position.restored(folder, trainee.load_state_dict, settings)
        if self.position.episodes > total:
            episodes = f"{self.position.episodes:,} episodes, and the run has {total:,}"
            raise ValueError(f"the last checkpoint of {folder.path} is not one of this run (it has {episodes})")
        self._beside = MeasuredBeside(folder, cards_of(settings), self.position.episodes)
        self._task = progress.add_task(name, total=total, completed=self.position.episodes)
        self._saved_at = time.perf_counter()

    def run(
        self,
        size: Callable[[int], int],
        play_and_learn: Callable[[int], tuple[dict[str, float], float | None]],
        between: Callable[[int, int], None] = lambda before, now: None,
    ) -> RunSummary:
        """Plays and learns to the end of the run; returns a summary.

        Args:
            size: the number of episodes in the next round, by the number of episodes before it.
            play_and_learn: plays that many episodes and learns from them; returns values by tag, and the seconds spent
                in simulation, ``None`` for all of them.
            between: called after each round and its measurement, with the number of episodes before and after it.

        Raises:
            KeyboardInterrupt: Ctrl-C or SIGTERM; a checkpoint of the last round is saved.
        """
        with self.under_way() as interrupt:
            while self.position.episodes < self._total and not interrupt.asked:
                before = self.position.episodes
                n = size(before)
                self.begin_round()
                values, simulation_seconds = play_and_learn(n)
                self.end_round(n, simulation_seconds, values)
                between(before, before + n)
                self.save_if_due()
        return self.position.summary()

    @contextmanager
    def under_way(self) -> Iterator[Interrupt]:
        """The rounds are played inside the block. After it a checkpoint is saved, and what is still being measured is
        waited for.

        Raises:
            KeyboardInterrupt: Ctrl-C or SIGTERM.
        """
        with put_off_interrupts() as interrupt, closing(self._beside):
            yield interrupt
            self.save()
            if len(self._beside):
                self._wait(interrupt)

    def _wait(self, interrupt: Interrupt) -> None:
        task = self._progress.add_task("measuring exploitability", total=len(self._beside))
        while len(self._beside) and not interrupt.asked:
            for line in self._beside.log():
                say(self._progress, line)
                self._progress.advance(task)
            time.sleep(_PAUSE)

    def begin_round(self) -> None:
        """Starts the clocks of a round; measures the player before the first one."""
        if self.position.episodes == 0:
            if self._settings.evaluations:
                self._folder.log(self._measured(), 0)
            if self._settings.exploitability:
                self._beside.begin(self._trainee.agent, 0)
        self._began, self._began_on_processor = time.perf_counter(), time.process_time()

    def end_round(self, n: int, simulation_seconds: float | None, values: dict[str, float]) -> None:
        """Records a round of ``n`` episodes: measures strength if that is due, writes curves, shows progress.

        Args:
            simulation_seconds: the time spent in simulation; ``None`` for all of it, without a curve of its share.
        """
        position, settings = self.position, self._settings
        seconds = time.perf_counter() - self._began
        position.processor_seconds += time.process_time() - self._began_on_processor
        values = values | {EPISODES_PER_SECOND: n / seconds, PROCESSOR_SECONDS: position.processor_seconds}
        if simulation_seconds is not None:
            values[SIMULATION_SHARE] = simulation_seconds / seconds
        position.rounds += 1
        position.seconds += seconds
        position.simulation_seconds += seconds if simulation_seconds is None else simulation_seconds
        position.episodes += n
        counts = position.episodes - n, position.episodes, self._total
        if is_due(*counts, settings.evaluations):
            values |= self._measured()
        self._folder.log(values, position.episodes)
        if is_doubled(*counts, settings.exploitability):
            self._beside.begin(self._trainee.agent, position.episodes)
        for line in self._beside.log():
            say(self._progress, line)
        self._progress.update(self._task, completed=position.episodes)

    def _measured(self) -> dict[str, float]:
        """Says how strong the player is now; returns it by tag."""
        result = self._strength.measure(self._trainee.agent, self._settings.evaluation_games, self._settings.seed)
        say(self._progress, f"{self.position.episodes:,} episodes: {self._strength.in_words(result)}")
        return self._strength.scalars(result)

    def save_if_due(self) -> None:
        """Writes a checkpoint if the last one is older than the settings allow."""
        if time.perf_counter() - self._saved_at > self._settings.checkpoint_seconds:
            self.save()

    def save(self) -> None:
        """Writes a checkpoint of the rounds that are over."""
        about = asdict(self.position) | {"settings": asdict(self._settings)}
        self._folder.save_checkpoint(self.position.episodes, self._trainee.state_dict(), about)
        self._saved_at = time.perf_counter()


@dataclass(frozen=True)
class Round:
    """The task of a round, and its random generator, which follows from the seed and the number of episodes before."""

    episodes: int
    episodes_before: int
    epsilon: float
    learning_rate: float
    rng: np.random.Generator

    @classmethod
    def first(cls) -> Round:
        """Two episodes of random cards, that nobody learns from: kernels are compiled in them."""
        return cls(2, 0, 1.0, 0.0, np.random.default_rng(0))

    def deal(self, episode: str, skip_forced: bool, cards: int = 4) -> GameBatch:
        """New games for the episodes, in pegging with so many cards for each player."""
        seeds = self.rng.integers(2**64, size=self.episodes, dtype=np.uint64)
        return GameBatch(seeds, episode=episode, cards=cards, skip_forced=skip_forced, first_id=self.episodes_before)

    def rate_after(self, warm_up: int) -> float | None:
        """The learning rate; ``None`` before this many episodes are played."""
        return self.learning_rate if self.episodes_before + self.episodes >= warm_up else None


# Plays a round and learns from it; returns values for TensorBoard by tag, and the seconds spent in simulation.
PlayAndLearn = Callable[[Round], tuple[dict[str, float], float]]


def train_in_rounds(
    name: str,
    settings: LearningSettings,
    folder: RunFolder,
    progress: Progress,
    trainee: Trainee,
    play_and_learn: PlayAndLearn,
    strength: StrengthMeasure[Any, Any] | None = None,
) -> RunSummary:
    """Trains to the end of a run, from the last checkpoint in the folder if there is one; returns a summary.

    The learning rate, and ε if the settings have it, change linearly during the run; other arguments are those of
    :class:`Rounds`.
    """
    rounds = Rounds(name, settings, folder, progress, trainee, settings.episodes, strength)
    exploring = settings if isinstance(settings, ExploringSettings) else None
    epsilons = (exploring.epsilon, exploring.final_epsilon) if exploring else (0.0, 0.0)

    def one_round(n: int) -> tuple[dict[str, float], float]:
        position = rounds.position
        done = position.episodes / settings.episodes
        epsilon = epsilons[0] + done * (epsilons[1] - epsilons[0])
        rate = settings.learning_rate + done * (settings.final_learning_rate - settings.learning_rate)
        rng = np.random.default_rng([settings.seed, position.rounds])
        values, simulation_seconds = play_and_learn(Round(n, position.episodes, epsilon, rate, rng))
        return values | {EPSILON: epsilon, LEARNING_RATE: rate}, simulation_seconds

    return rounds.run(lambda before: min(settings.episodes_at_once, settings.episodes - before), one_round)
