"""Trains or measures a language model with verifiers: single decisions, deals, games, and both seats of a table.

    PYTHONPATH=examples vf-eval cribbage_verifiers --env.taskset.kind deal -n 10 --model NAME \\
      --client.base-url http://127.0.0.1:8000/v1 --no-push
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AsyncExitStack
from itertools import count

import verifiers.v1 as vf

from crib_env.agents.llm import SYSTEM
from crib_env.evaluate.language.episode import Episode, Task, Unit

__all__ = ["CribbageEnv", "CribbageTaskset"]  # verifiers looks for them here


class CribbageConfig(vf.TasksetConfig):
    """Which episodes; see :class:`crib_env.evaluate.language.episode.Episode`."""

    kind: Task = "discards"
    first: int = 400
    """The number of the first episode. The suite's tier ``text`` asks the first 400 discards and cards."""
    opponent: str | None = "careful"
    """``None``: the agents ``player`` and ``rival`` have a seat each."""
    unit: Unit = "points"


class CribbageData(vf.TaskData):
    """An episode; the arguments of :class:`crib_env.evaluate.language.episode.Episode`."""

    kind: Task
    number: int
    opponent: str | None
    unit: Unit


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
                unit=config.unit,
            )
            yield CribbageTask(data, config.task)


def _player() -> vf.AgentConfig:
    return vf.AgentConfig(harness={"id": "null"}, runtime=vf.SubprocessConfig())  # a chat without tools runs no code


class CribbageEnvConfig(vf.EnvConfig):
    """Who plays."""

    player: vf.AgentConfig = _player()
    rival: vf.AgentConfig = _player()
    """Has seat 1 where there is no opponent."""


class CribbageEnv(vf.Env[CribbageEnvConfig]):
    """Tells each seat its position as the user of a conversation; the reward is minus what the seat has lost."""

    async def run(self, task: CribbageTask, agents: vf.Agents) -> None:
        """Plays an episode."""
        data = task.data
        episode = Episode(data.kind, data.number, data.opponent, data.unit)
        is_table = data.opponent is None and data.kind in ("deal", "game")
        talks: dict[int, vf.Interaction] = {}
        async with AsyncExitStack() as stack:
            told = episode.words()
            while not episode.is_over:
                seat = episode.seat if is_table else 0
                if seat not in talks:
                    agent = (agents.player, agents.rival)[seat]
                    talks[seat] = await stack.enter_async_context(agent.interaction(task))
                segment = await talks[seat].turn(episode.asked(told))
                if segment.terminated:
                    episode.give_up()
                told = episode.answer(segment.last_reply)
        for seat, talk in talks.items():
            talk.trace.record_reward("minus_loss", episode.reward(seat if is_table else None))
            talk.trace.record_metric("illegal", float(episode.illegal))
