"""The native vector environments for Stable-Baselines3.

:class:`CribbageVecEnv` is a ``VecEnv`` with masks for MaskablePPO::

    envs = CribbageVecEnv(512, opponent="greedy", episode="deal")
    model = sb3_contrib.MaskablePPO("MlpPolicy", envs)

One kernel call steps all games, where ``make_vec_env`` has an object or a process for each.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv

from crib_env.vector.environments import CribbageVectorEnv


class CribbageVecEnv(VecEnv):
    """N games side by side, with the seeds, observations, rewards and ends of ``make_vec_env`` over single ones.

    Observations are (N, n) int8, rewards (N,) float32. The info of a game is empty until its episode ends. Then it has
    the vector environment's final infos (``scores``, ``seat`` …), ``terminal_observation`` (n,),
    ``TimeLimit.truncated`` (never), and ``episode``: the return ``r``, length ``l`` and seconds since this object was
    made ``t``, as in ``Monitor``. ``reset_infos`` stay empty.

    The games are rows of arrays, not objects: their attributes are those of this object, which cannot be set, and their
    only method is ``action_masks``.

    Args:
        num_envs: the number of games.
        kind: the vector environment, ``CribbageVectorEnv`` or a class derived from it.
        options: the options of that environment (:mod:`crib_env.vector.environments`), except ``mask``
            and ``autoreset_mode``, which are fixed.
    """

    render_mode: str | None = None

    def __init__(self, num_envs: int, *, kind: Callable[..., Any] = CribbageVectorEnv, **options: Any) -> None:
        self._envs = kind(num_envs, mask="info", autoreset_mode=AutoresetMode.SAME_STEP, **options)
        self._started = time.time()
        self._returns, self._lengths = np.zeros(num_envs), np.zeros(num_envs, np.int64)  # of the episodes so far
        super().__init__(num_envs, self._envs.single_observation_space, self._envs.single_action_space)

    def reset(self) -> np.ndarray:
        """Begins an episode in every game, with the seeds and options that were set for all; (N, n) observations."""
        options = self._options[0]
        if any(other != options for other in self._options):
            raise ValueError("set_options: all games of a CribbageVecEnv begin with the same options")
        is_seeded = any(seed is not None for seed in self._seeds)
        self._returns[:], self._lengths[:] = 0.0, 0
        observation, _ = self._envs.reset(seed=list(self._seeds) if is_seeded else None, options=options or None)
        self._reset_seeds()
        self._reset_options()
        return self.seen(observation)

    def seen(self, observation: np.ndarray) -> np.ndarray:
        """What learners see now; a subclass may code it in another way than the vector environment."""
        return observation

    def step_async(self, actions: np.ndarray) -> None:
        """Stores the card of each game, (N,) ids."""
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Discards or lays the cards; observations (N, n), rewards (N,), ends (N,) bool, infos. Ended games restart.
        Errors are those of :meth:`crib_env.vector.environments.CribbageVectorEnv.step`."""
        observation, rewards, over, _, vector_infos = self._envs.step(self._actions)
        self._returns += rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]  # each its own: wrappers write into them
        if over.any():
            seconds = round(time.time() - self._started, 6)
            final = vector_infos["final_info"]
            columns = {key: values for key, values in final.items() if not key.startswith("_")}
            for i in np.flatnonzero(over):
                infos[i] = {key: values[i] for key, values in columns.items()}
                infos[i] |= {"terminal_observation": vector_infos["final_obs"][i], "TimeLimit.truncated": False}
                infos[i]["episode"] = {"r": float(self._returns[i]), "l": int(self._lengths[i]), "t": seconds}
            self._returns[over], self._lengths[over] = 0.0, 0
        return self.seen(observation), rewards.astype(np.float32), over, infos

    def action_masks(self) -> np.ndarray:
        """(N, 52) bool, the legal cards now."""
        return self._envs.action_masks()

    def close(self) -> None:
        """Ends the threads of the vector environment."""
        self._envs.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute that all games share; see the class."""
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Raises ``AttributeError``: options are given when the environment is made."""
        raise AttributeError(f"{attr_name!r} cannot be set: give options when the CribbageVecEnv is made")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """What a method says of some games; see the class."""
        every = getattr(self, method_name)(*method_args, **method_kwargs)
        return [every[i] for i in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[gymnasium.Wrapper], indices: Any = None) -> list[bool]:
        """Whether the games have the effect of a wrapper: true for ``Monitor``, whose statistics they have."""
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]
