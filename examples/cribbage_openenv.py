"""Serves episodes as an environment of OpenEnv: ``uvicorn --app-dir examples cribbage_openenv:app``.

The server of uvicorn listens on this machine alone unless it is told otherwise. A client, such as OpenEnv's
``GenericEnvClient``, names opponents without settings: it must not choose what code runs or which files are read.
"""

from __future__ import annotations

from random import randrange
from typing import Any
from uuid import uuid4

from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State

from crib_env.agents.registry import NAMES
from crib_env.evaluate.language.episode import Episode, Task
from crib_env.evaluate.skill.suite import play, text

_SESSIONS = 64


class CribbageAction(Action):
    """An answer in words, as :func:`crib_env.players.text.read_answer` reads it."""

    answer: str


class CribbageObservation(Observation):
    """What the player is told. The reward of a step is minus what its choice has lost."""

    words: str


class CribbageEnvironment(Environment[CribbageAction, CribbageObservation, State]):
    """One player against an agent."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._state = State(episode_id=None, step_count=0)
        self._episode: Episode | None = None

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        task: Task = "discards",
        opponent: str = "careful",
        **kwargs: Any,
    ) -> CribbageObservation:
        """Begins an episode; the arguments are those of :class:`crib_env.evaluate.language.episode.Episode`.

        Args:
            seed: its number; by default one that the suite's tier ``text`` does not ask.
            episode_id: its name in the state.
            task, opponent: as there.

        Raises:
            ValueError: an argument is not allowed; the message names it.
        """
        if opponent not in NAMES:
            raise ValueError(f"opponent={opponent!r} is not allowed: choose of {', '.join(NAMES)}")
        number = randrange(text.N, play.N) if seed is None else seed
        self._episode = Episode(task, number, opponent)
        self._state = State(episode_id=episode_id or str(uuid4()), step_count=0)
        return self._seen(self._episode, self._episode.words(), None)

    def step(self, action: CribbageAction, timeout_s: float | None = None, **kwargs: Any) -> CribbageObservation:
        """Plays an answer; one that cannot be played changes nothing, and the third of a decision gives up.

        Raises:
            ValueError: no episode has begun.
        """
        if self._episode is None:
            raise ValueError("no episode has begun: reset first")
        self._state.step_count += 1
        before = self._episode.reward()
        told = self._episode.answer(action.answer)
        return self._seen(self._episode, told, self._episode.reward() - before)

    @property
    def state(self) -> State:
        """The episode's name, and how many answers there were."""
        return self._state

    @staticmethod
    def _seen(episode: Episode, told: str, reward: float | None) -> CribbageObservation:
        return CribbageObservation(words=episode.asked(told), done=episode.is_over, reward=reward)


app = create_fastapi_app(CribbageEnvironment, CribbageAction, CribbageObservation, max_concurrent_envs=_SESSIONS)
