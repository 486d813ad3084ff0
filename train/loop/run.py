"""One run, from its settings to measured final weights: rounds of play and learning; in between measure, log and save.

Ctrl-C and SIGTERM are deferred until there is a state to save.
"""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.progress import Progress

from crib_env.agents.networks.weights_file import save_tensors
from crib_env.batch import GameBatch
from crib_env.evaluate.console import Terminated, advancing, console, progress_bar, say
from crib_env.evaluate.files import held
from crib_env.evaluate.runs import format as form
from crib_env.evaluate.runs.table import runs_table
from crib_env.players.agent_from_text import is_outside
from crib_env.train.loop.run_folder import Position, RunFolder
from crib_env.train.loop.settings import RunSettings, processor
from crib_env.train.loop.strength import MATCHES, Measure, exact, is_doubled, is_due, strength_of
from crib_env.train.registry import LEARNERS


def print_line(line: str) -> None:
    """Prints a line without wrapping it, so that its path can be copied."""
    console.print(line, soft_wrap=True, markup=False, highlight=False)


_MEASURED = ("seed", "evaluation_games", "final_games")


class Run:
    """A run in its folder: its position, curves and strength, for a script with a loop of its own.

    Time between its calls is training; measuring is not. An argument that is not allowed is a ``ValueError``.

    Args:
        name: of the learner, in tables and curves.
        settings: of the script, in JSON. ``seed`` (0), ``evaluation_games`` (1,000) and ``final_games`` (10,000) are
            those of :class:`RunSettings`.
        folder: a new one; by default ``runs/NAME/TIME-sSEED``.
    """

    def __init__(self, name: str, settings: Mapping[str, Any] | None = None, folder: str | Path | None = None) -> None:
        if not name or not name.isprintable() or name in LEARNERS or name != Path(name).name:
            raise ValueError(
                f"name={name!r} is not allowed: give one that is a folder's and no learner's of this project"
            )
        its = RunSettings(**{key: value for key, value in (settings or {}).items() if key in _MEASURED})
        given = {key: getattr(its, key) for key in _MEASURED} | json.loads(json.dumps(dict(settings or {})))
        made = RunFolder.create(name, given, folder=None if folder is None else Path(folder))
        self._begin(made, its, MATCHES, Position(), print_line)

    def _begin(
        self, folder: RunFolder, settings: Any, strength: Measure, position: Position, tell: Callable[[str], None]
    ) -> None:
        self.folder, self.position = folder, position
        self._settings, self._strength, self._tell = settings, strength, tell
        self.start_clocks()

    def start_clocks(self) -> None:
        """What came before now, since the last call of :meth:`log`, was no training."""
        self._began = time.perf_counter(), time.process_time()

    def log(self, values: Mapping[str, float], episodes: int) -> None:
        """Writes curves, with those of speed, after so many episodes in all. A tag without a group, such as ``"loss"``,
        gets ``learning/``. ``ValueError`` if more episodes were logged before."""
        position, n = self.position, episodes - self.position.episodes
        if n < 0:
            raise ValueError(f"episodes={episodes} is not allowed: {position.episodes} were played before")
        seconds = time.perf_counter() - self._began[0]
        position.rounds += 1
        position.episodes = episodes
        position.seconds += seconds
        position.processor_seconds += time.process_time() - self._began[1]
        shown = {tag if "/" in tag else f"learning/{tag}": value for tag, value in values.items()}
        if n:
            shown |= {form.EPISODES_PER_SECOND: n / seconds, form.PROCESSOR_SECONDS: position.processor_seconds}
        self.folder.log(shown, episodes)
        self.start_clocks()

    def measure(self, agent: Any, strength: Measure | None = None) -> dict[str, float]:
        """Plays ``evaluation_games`` against each baseline, writes how strong the agent is now, and says it; returns it
        by tag. :func:`crib_env.win_rate` takes the same agents."""
        strength = strength or self._strength
        scalars = strength.play(agent, self._settings.evaluation_games, self._settings.seed, lambda done: None)
        self._tell(f"{self.position.episodes:,} episodes: {strength.in_words(scalars)}")
        self.folder.log(scalars, self.position.episodes)
        self.start_clocks()
        return scalars

    def save(self, agent: Any, tensors: Mapping[str, torch.Tensor] | None = None) -> None:
        """Ends the run of a finished agent: saves its weights in the ``safetensors`` format, plays ``final_games``,
        writes the summary, and prints it."""
        if tensors is not None:
            save_tensors(self.folder.final, dict(tensors), {"learner": self.folder.learner})
        self.finish(agent)

    def finish(self, agent: Any) -> None:
        """Measures the finished agent, writes the summary, and prints it."""
        games, seed = self._settings.final_games, self._settings.seed
        name = f"strength of {self.folder.learner}, seed {seed}"
        with advancing(name, games * self._strength.opponents) as advance:
            scalars = self._strength.play(agent, games, seed + 1, advance)
        self.folder.finish({**self.position.summary(), "scalars": scalars})
        print_line(f"finished: {self._strength.in_words(scalars)}")
        console.print(runs_table([self.folder.path]))
        if self.folder.final.exists():
            print_line(f"weights: {self.folder.final}")


@contextmanager
def put_off_interrupts() -> Iterator[list[type[KeyboardInterrupt]]]:
    """Defers Ctrl-C and SIGTERM inside the block, and lists them; a second one stops at once. At the end a deferred one
    is raised."""
    put_off: list[type[KeyboardInterrupt]] = []

    def note(number: int, frame: object) -> None:
        put_off.append(Terminated if number == signal.SIGTERM else KeyboardInterrupt)
        if len(put_off) > 1:
            raise put_off[0]

    is_main = threading.current_thread() is threading.main_thread()  # signals arrive there only
    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM) if is_main}
    try:
        yield put_off
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if put_off:
        raise put_off[0]


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
        ends = ([getattr(settings, f"{end}{name}", 0.0) for end in ("", "final_")] for name in _RATES)
        epsilon, rate = (first + done * (last - first) for first, last in ends)
        n = min(settings.episodes_at_once, settings.episodes - before % settings.episodes)
        return cls(n, before, epsilon, rate, np.random.default_rng([settings.seed, position.rounds % rounds]))

    def deal(self, episode: str, skip_forced: bool = True, cards: int = 4) -> GameBatch:
        """New games for the episodes, in pegging with so many cards for each player."""
        seeds = self.rng.integers(2**64, size=self.episodes, dtype=np.uint64)
        return GameBatch(seeds, episode=episode, cards=cards, skip_forced=skip_forced, first_id=self.episodes_before)

    def rate_after(self, warm_up: int) -> float | None:
        """The learning rate; ``None`` before this many episodes are played."""
        return self.learning_rate if self.episodes_before + self.episodes >= warm_up else None


_RATES = {"epsilon": form.EPSILON, "learning_rate": form.LEARNING_RATE}  # settings, and the tags of their curves


class Rounds(Run):
    """The rounds of a run, which continues exactly from the last checkpoint in its folder, if there is one."""

    def __init__(self, settings: RunSettings, folder: RunFolder, progress: Progress, learner: Any) -> None:
        position = Position.restored(folder, learner.load_state_dict, settings)
        self._begin(folder, settings, strength_of(learner, settings), position, lambda line: say(progress, line))
        self.progress, self._learner, self._total = progress, learner, settings.all_episodes
        self._task = progress.add_task(folder.learner, total=self._total, completed=position.episodes)
        self._saved_at = time.perf_counter()

    def run(self) -> None:
        """Plays and learns to the end of the run; Ctrl-C and SIGTERM end it with a checkpoint of the last round."""
        settings, position = self._settings, self.position
        with put_off_interrupts() as put_off:
            if position.episodes == 0:
                self._measure_if(settings.evaluations > 0, settings.exploitability > 0)
            while position.episodes < self._total and not put_off:
                now, before = Round.after(position, settings), position.episodes
                self.start_clocks()
                values = self._learner.play_and_learn(now)
                rates = {tag: getattr(now, name) for name, tag in _RATES.items() if hasattr(settings, name)}
                self.log({**rates, **values}, before + now.episodes)
                counts = before, position.episodes, self._total
                self._measure_if(is_due(*counts, settings.evaluations), is_doubled(*counts, settings.exploitability))
                self.progress.update(self._task, completed=position.episodes)
                if time.perf_counter() - self._saved_at > settings.checkpoint_seconds:
                    self.save_checkpoint()
            self.save_checkpoint()

    def _measure_if(self, strength: bool, exactly: bool) -> None:
        if strength:
            self.measure(self._learner.agent)
        if exactly:
            self.measure(self._learner.agent, exact(getattr(self._settings, "cards", 4)))

    def save_player(self) -> None:
        """Writes what :func:`crib_env.make_agent` reads as an agent of this learner: its weights, or the whole state of
        a learner from outside."""
        if is_outside(self.folder.learner):
            about = {"learner": self.folder.learner, "settings": asdict(self._settings)}
            save_tensors(self.folder.final, self._tensors(), about)
        else:
            self._learner.agent.save(self.folder.final)

    def _tensors(self) -> dict[str, torch.Tensor]:
        return {name: torch.as_tensor(value) for name, value in self._learner.state_dict().items()}

    def save_checkpoint(self) -> None:
        """Writes a checkpoint of the rounds that are over."""
        about = asdict(self.position) | {"settings": asdict(self._settings)}
        self.folder.save_checkpoint(self.position.episodes, self._tensors(), about)
        self._saved_at = time.perf_counter()


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
        print_line(f"precision: {getattr(settings, 'precision', 'float32')}; processor: {processor()}")
        with bar() as progress:
            rounds, agent = train(learner, settings, folder, progress)
        rounds.finish(agent)


def train(learner: Any, settings: RunSettings, folder: RunFolder, progress: Progress) -> tuple[Rounds, Any]:
    """Trains from the last checkpoint in the folder, if there is one, and saves the final weights; returns the rounds,
    and the trained player."""
    torch.set_num_threads(getattr(settings, "threads", 1))
    torch.manual_seed(settings.seed)
    trainee = learner(settings)
    rounds = Rounds(settings, folder, progress, trainee)
    getattr(trainee, "own_loop", Rounds.run)(rounds)
    rounds.save_player()
    return rounds, trainee.agent
