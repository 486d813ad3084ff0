"""Trains or measures a language model with verifiers: single decisions, deals and games.

    PYTHONPATH=examples vf-eval cribbage_verifiers --env.taskset.kind deal -n 10 --model NAME \\
      --client.base-url http://127.0.0.1:8000/v1 --no-push
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import verifiers.v1 as vf

from crib_env.agents.llm import SYSTEM
from crib_env.evaluate.language.episode import Episode, Task

__all__ = ["CribbageEnv", "CribbageTaskset"]  # verifiers looks for them here


class CribbageConfig(vf.TasksetConfig):
    """Which episodes; see :class:`crib_env.evaluate.language.episode.Episode`."""

    kind: Task = "discards"
    first: int = 400
    """The number of the first episode. The suite's tier ``text`` asks the first 400 discards and cards."""
    opponent: str = "careful"


class CribbageData(vf.TaskData):
    """An episode; the arguments of :class:`crib_env.evaluate.language.episode.Episode`."""

    kind: Task
    number: int
    opponent: str


class CribbageTask(vf.Task[CribbageData, vf.State, vf.TaskConfig]):
    """An episode."""


class CribbageTaskset(vf.Taskset[CribbageTask, CribbageConfig]):
    """Episodes without end, one number after the other."""

    INFINITE = True

    def load(self) -> Iterator[CribbageTask]:
        """The tasks."""
        config = self.config
        for number in count(config.first):
            data = CribbageData(
                name=f"{config.kind} {number}",
                system_prompt=SYSTEM,
                kind=config.kind,
                number=number,
                opponent=config.opponent,
            )
            yield CribbageTask(data, config.task)


class CribbageEnvConfig(vf.EnvConfig):
    """Who plays."""

    # A chat without tools runs no code.
    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"}, runtime=vf.SubprocessConfig())


class CribbageEnv(vf.Env[CribbageEnvConfig]):
    """Tells the model its position as the user of a conversation; the reward is minus what its choices have lost."""

    async def run(self, task: CribbageTask, agents: vf.Agents) -> None:
        """Plays an episode."""
        data = task.data
        episode = Episode(data.kind, data.number, data.opponent)
        async with agents.player.interaction(task) as talk:
            told = episode.words()
            while not episode.is_over:
                segment = await talk.turn(episode.asked(told))
                if segment.terminated:
                    episode.give_up()
                told = episode.answer(segment.last_reply)
        talk.trace.record_reward("minus_loss", episode.reward())
        talk.trace.record_metric("illegal", float(episode.illegal))
