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
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.progress import Progress

from crib_env.agents.networks.weights_file import save_tensors
from crib_env.batch import GameBatch
from crib_env.evaluate.ending import Terminated
from crib_env.evaluate.progress import say
from crib_env.evaluate.runs.format import EPSILON, LEARNING_RATE
from crib_env.players.agent_from_text import is_outside
from crib_env.train.loop.contracts import Learner, StrengthMeasure
from crib_env.train.loop.learning import ExploringSettings, LearningSettings, RunSettings
from crib_env.train.loop.measured_beside import MeasuredBeside
from crib_env.train.loop.recording import Recording
from crib_env.train.loop.run_folder import Position, RunFolder
from crib_env.train.loop.strength import cards_of, is_doubled, is_due, measure_of

_PAUSE = 0.05  # seconds between looks for measurements that are over


class Interrupt:
    """Requests to stop a run."""

    signalled: type[KeyboardInterrupt] | None = None
    """What the first signal raises at the end; ``None`` before there was one."""

    @property
    def asked(self) -> bool:
        """Whether there was Ctrl-C or SIGTERM."""
        return self.signalled is not None


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
    """The task of a round.

    Attributes:
        episodes: to play in it.
        episodes_before: played before it.
        epsilon: the probability of a random card, of :class:`ExploringSettings`.
        learning_rate: of :class:`LearningSettings`.
        rng: follows from the seed and the number of rounds before.
    """

    episodes: int
    episodes_before: int
    epsilon: float
    learning_rate: float
    rng: np.random.Generator

    @classmethod
    def first(cls) -> Round:
        """Two episodes of random cards, that nobody learns from: kernels are compiled in them."""
        return cls(2, 0, 1.0, 0.0, np.random.default_rng(0))

    @classmethod
    def after(cls, position: Position, settings: RunSettings) -> Round:
        """The next round of a run; rates that its settings have change linearly."""
        before, done = position.episodes, position.episodes / settings.episodes
        epsilon = rate = 0.0
        if isinstance(settings, ExploringSettings):
            epsilon = settings.epsilon + done * (settings.final_epsilon - settings.epsilon)
        if isinstance(settings, LearningSettings):
            rate = settings.learning_rate + done * (settings.final_learning_rate - settings.learning_rate)
        n = min(settings.episodes_at_once, settings.episodes - before % settings.episodes)
        return cls(n, before, epsilon, rate, np.random.default_rng([settings.seed, position.rounds]))

    def deal(self, episode: str, skip_forced: bool = True, cards: int = 4) -> GameBatch:
        """New games for the episodes, in pegging with so many cards for each player."""
        seeds = self.rng.integers(2**64, size=self.episodes, dtype=np.uint64)
        return GameBatch(seeds, episode=episode, cards=cards, skip_forced=skip_forced, first_id=self.episodes_before)

    def rate_after(self, warm_up: int) -> float | None:
        """The learning rate; ``None`` before this many episodes are played."""
        return self.learning_rate if self.episodes_before + self.episodes >= warm_up else None


class Rounds(Recording):
    """The rounds of a run, with its position, curves, measurements of strength and checkpoints.

    A stopped run continues exactly from its last checkpoint.

    Args:
        learner: restored from the last checkpoint in the folder, if there is one.
        strength: measures the player; ``None`` selects the measure by the settings.
        what: the name of the work, by default the learner's.
    """

    def __init__(
        self,
        settings: RunSettings,
        folder: RunFolder,
        progress: Progress,
        learner: Learner,
        strength: StrengthMeasure[Any, Any] | None = None,
        what: str | None = None,
    ) -> None:
        position, total = Position.restored(folder, learner.load_state_dict, settings), settings.all_episodes
        if position.episodes > total:
            episodes = f"{position.episodes:,} episodes, and the run has {total:,}"
            raise ValueError(f"the last checkpoint of {folder.path} is not one of this run (it has {episodes})")
        measure = strength or measure_of(settings)
        super().__init__(folder, settings, measure, position, lambda line: say(progress, line))
        self.progress, self._learner, self._total = progress, learner, total
        self._beside = MeasuredBeside(folder, cards_of(settings), position.episodes)
        self._task = progress.add_task(what or folder.learner, total=total, completed=position.episodes)
        self._saved_at = time.perf_counter()

    def run(self, between: Callable[[int, int], None] = lambda before, now: None) -> None:
        """Plays and learns to the end of the run.

        Args:
            between: called after each round and its measurement, with the number of episodes before and after it.

        Raises:
            KeyboardInterrupt: Ctrl-C or SIGTERM; a checkpoint of the last round is saved.
        """
        with self.under_way() as interrupt:
            while self.position.episodes < self._total and not interrupt.asked:
                now, rates = Round.after(self.position, self._settings), dict[str, float]()
                self.begin_round()
                values = self._learner.play_and_learn(now)
                if isinstance(self._settings, ExploringSettings):
                    rates[EPSILON] = now.epsilon
                if isinstance(self._settings, LearningSettings):
                    rates[LEARNING_RATE] = now.learning_rate
                self.end_round(now.episodes, values | rates)
                between(now.episodes_before, self.position.episodes)
                self.save_if_due()

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
        task = self.progress.add_task("measuring exploitability", total=len(self._beside))
        while len(self._beside) and not interrupt.asked:
            for line in self._beside.log():
                self._tell(line)
                self.progress.advance(task)
            time.sleep(_PAUSE)

    def begin_round(self) -> None:
        """Starts the clocks of a round; measures the player before the first one."""
        if self.position.episodes == 0:
            self._measure_if(self._settings.evaluations > 0, self._settings.exploitability > 0)
        self.start_clocks()

    def end_round(self, n: int, values: dict[str, float]) -> None:
        """Records a round of ``n`` episodes: writes curves, measures strength if that is due, shows progress."""
        settings, before = self._settings, self.position.episodes
        self.log(values, before + n)
        counts = before, before + n, self._total
        self._measure_if(is_due(*counts, settings.evaluations), is_doubled(*counts, settings.exploitability))
        for line in self._beside.log():
            self._tell(line)
        self.progress.update(self._task, completed=before + n)

    def _measure_if(self, strength: bool, exploitability: bool) -> None:
        if strength:
            self.measure(self._learner.agent)
        if exploitability:
            self._beside.begin(self.save_player, self.position.episodes)

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

    def save_if_due(self) -> None:
        """Writes a checkpoint if the last one is older than the settings allow."""
        if time.perf_counter() - self._saved_at > self._settings.checkpoint_seconds:
            self.save()

    def save(self) -> None:
        """Writes a checkpoint of the rounds that are over."""
        about = asdict(self.position) | {"settings": asdict(self._settings)}
        self.folder.save_checkpoint(self.position.episodes, self._tensors(), about)
        self._saved_at = time.perf_counter()
