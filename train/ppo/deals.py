"""Training data of PPO: single deals against an opponent, settled rewards, inputs by rank."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from gymnasium.spaces import Box

from crib_env.agents.features.seen import Inputs
from crib_env.engine import CRIB, DEALERS_HAND, DISCARD, PONES_HAND
from crib_env.kernels import kernel
from crib_env.observation import N_ACTIONS
from crib_env.train.ppo.sb3_vec_env import CribbageVecEnv
from crib_env.train.settled import discards_worth
from crib_env.vector.environments import CribbageVectorEnv


@kernel
def _show_margins(games, rows, seats, out):
    """The points of ``seats`` in the show of a deal that has just ended, minus the points of the other seats."""
    for b in range(len(rows)):
        g = games[rows[b]]
        out[b] = 0.0
        for k in range(g["n_events"]):
            if g["event_kind"][k] in (PONES_HAND, DEALERS_HAND, CRIB):
                sign = 1 if g["event_player"][k] == seats[b] else -1
                out[b] += sign * np.int64(g["event_points"][k])


class SettledDeals(CribbageVectorEnv):
    """Single deals that reward the show by its exact mean at the discards, not by the cards that happen to fall.

    A decision earns the points of the play and of his heels, as they are scored, and the change in the value of
    the six cards in the show (:func:`crib_env.train.settled.discards_worth`): never above zero, and zero
    for the best discard.

    Args:
        num_envs: the number of deals.
        episode: ``"deal"``, or ``"pegging"``, where the show is worth nothing.
        options: as for ``CribbageVectorEnv``, except ``reward`` and ``illegal``.
    """

    def __init__(self, num_envs: int, episode: str = "deal", **options: Any) -> None:
        super().__init__(num_envs, episode=episode, reward="points", illegal="raise", **options)
        self._worth = np.zeros(num_envs)

    def on_begin(self, rows: np.ndarray) -> None:
        """See :class:`crib_env.vector.base.NativeVectorEnv`."""
        self._worth[rows] = self._worth_of(rows)

    def on_step(self, rewards: np.ndarray, over: np.ndarray) -> None:
        """See :class:`crib_env.vector.base.NativeVectorEnv`."""
        ended = np.flatnonzero(over)
        shows = np.empty(len(ended))
        _show_margins(self.games, ended, self.seats[ended].astype(np.int64), shows)
        rewards[ended] -= shows
        worth = self._worth_of(np.arange(self.num_envs))
        rewards += worth - self._worth
        self._worth = worth

    def _worth_of(self, rows: np.ndarray) -> np.ndarray:
        return discards_worth(self.games, rows, self.seats[rows].astype(np.int64))


class SettledVecEnv(CribbageVecEnv):
    """:class:`SettledDeals` for Stable-Baselines3, observed by rank (:mod:`crib_env.agents.features.by_rank`).

    Observations are (N, n + 52) float32: the n inputs of a network, and what each card is known to gain at once, 0 if
    it is not legal.

    Args:
        num_envs: the number of deals.
        options: of :class:`SettledDeals`.

    Attributes:
        seconds: the time spent in steps, on rules, observations and the opponent.
    """

    def __init__(self, num_envs: int, *, observation: str = "209", **options: Any) -> None:
        super().__init__(num_envs, kind=SettledDeals, observation=observation, **options)
        self.seconds = 0.0
        self._inputs = Inputs("ranks", observation)
        width = self._inputs.size + N_ACTIONS
        self.observation_space = self._shared["observation_space"] = Box(-np.inf, np.inf, (width,), np.float32)

    def reset(self) -> np.ndarray:
        """See :class:`CribbageVecEnv`."""
        return self._by_rank(super().reset())

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """See :class:`CribbageVecEnv`; terminal observations are those of the deals."""
        started = time.perf_counter()
        observation, rewards, over, infos = super().step_wait()
        observation = self._by_rank(observation)
        self.seconds += time.perf_counter() - started
        return observation, rewards, over, infos

    def _by_rank(self, observation: np.ndarray) -> np.ndarray:
        masks = self.action_masks()
        is_discard = self._envs.games["phase"] == DISCARD
        seen = self._inputs.see(observation, masks.view(np.int8), is_discard)
        return np.concatenate([seen.inputs, np.where(masks, seen.gains, 0)], axis=1, dtype=np.float32)
