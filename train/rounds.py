"""A run in rounds: play many episodes, learn from them; in between measure, log and keep checkpoints."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from types import ModuleType
from typing import Any, Protocol

import numpy as np
import torch
from rich.progress import Progress

from train import strength as matches
from train.checkpoint import Position
from train.interrupt import put_off_interrupts
from train.run_folder import RunFolder
from train.strength import is_due


class Learner(Protocol):
    """What is trained, and all that a checkpoint keeps of it."""

    @property
    def agent(self) -> Any:
        """Whose strength is measured."""

    def tensors(self) -> dict[str, torch.Tensor]:
        """All that a checkpoint keeps."""

    def load_tensors(self, tensors: dict[str, torch.Tensor]) -> None:
        """Takes over what :meth:`tensors` gave."""


@dataclass(frozen=True)
class Round:
    """What a round is to do, and the random numbers that it may use: they follow from the seed and its number."""

    episodes: int
    episodes_before: int
    epsilon: float
    learning_rate: float
    rng: np.random.Generator


# Plays and learns; what TensorBoard shows of it, and the seconds spent in simulation.
PlayAndLearn = Callable[[Round], tuple[dict[str, float], float]]


def train_in_rounds(
    name: str,
    settings: Any,
    folder: RunFolder,
    progress: Progress,
    learner: Learner,
    play_and_learn: PlayAndLearn,
    strength: ModuleType = matches,
) -> dict[str, Any]:
    """Trains to the end of a run, from the last checkpoint in the folder if there is one; a summary.

    A run that was stopped goes on exactly where its last checkpoint stands.

    Args:
        name: of the kind of learner.
        settings: with ``seed``, ``episodes``, ``episodes_at_once``, ``epsilon``, ``learning_rate`` and both at the end
            (``final_…``), ``evaluations``, ``evaluation_games`` and ``checkpoint_seconds``, as Double DQN's.
        folder: of the run.
        progress: is shown how far it has come.
        learner: is trained.
        play_and_learn: does a round.
        strength: how it is measured, a module with the functions of :mod:`train.strength`.
    """
    position = Position()
    if (checkpoint := folder.load_checkpoint()) is not None:
        learner.load_tensors(checkpoint[0])
        position = Position(**checkpoint[1])

    def save() -> None:
        folder.save_checkpoint(position.episodes, learner.tensors(), asdict(position))

    task = progress.add_task(name, total=settings.episodes, completed=position.episodes)
    saved_at = time.perf_counter()
    with put_off_interrupts() as interrupt:
        while position.episodes < settings.episodes and not interrupt.asked:
            started = time.perf_counter()
            done = position.episodes / settings.episodes
            n = min(settings.episodes_at_once, settings.episodes - position.episodes)
            epsilon = settings.epsilon + done * (settings.final_epsilon - settings.epsilon)
            rate = settings.learning_rate + done * (settings.final_learning_rate - settings.learning_rate)
            rng = np.random.default_rng([settings.seed, position.rounds])
            values, simulation_seconds = play_and_learn(Round(n, position.episodes, epsilon, rate, rng))

            seconds = time.perf_counter() - started
            values |= {
                "learning/epsilon": epsilon,
                "learning/learning rate": rate,
                "speed/episodes per second": n / seconds,
                "speed/share of time in simulation": simulation_seconds / seconds,
            }
            position.rounds += 1
            position.seconds += seconds
            position.simulation_seconds += simulation_seconds
            position.episodes += n
            if is_due(position.episodes - n, position.episodes, settings.episodes, settings.evaluations):
                results = strength.measure(learner.agent, settings.evaluation_games, settings.seed)
                values |= strength.scalars(results)
                progress.update(task, description=f"{name}: {strength.in_words(results)}")
            folder.log(values, position.episodes)
            progress.update(task, completed=position.episodes)
            if time.perf_counter() - saved_at > settings.checkpoint_seconds:
                save()
                saved_at = time.perf_counter()
        save()
    return position.summary()
