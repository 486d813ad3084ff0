"""What the vector environments of arrays and of tensors share: guarded methods, rules as kernels take them, seeds."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from gymnasium.error import ClosedEnvironmentError

from crib_env.engine import EPISODES
from crib_env.kernels import streams
from crib_env.options import REWARDS, check_seed
from crib_env.players.policies import NATIVE
from crib_env.single_agent import SingleAgentCribbage
from crib_env.vector.kernels import NO_POLICY, Rules


def by_one_thread(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that refuses to start while another such call runs in the same environment, and after ``close``.

    Kernels run without the interpreter's lock. Two of them in the same games could leave impossible hands, and
    then write out of bounds.
    """

    @wraps(method)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not self._lock.acquire(blocking=False):
            raise RuntimeError(
                f"{method.__name__}() was called while another step or reset of this vector environment is under way: "
                "call it from one thread at a time, or give each thread an environment of its own"
            )
        try:
            if self.closed:
                raise ClosedEnvironmentError(f"{method.__name__}() was called after close(): make another environment")
            return method(self, *args, **kwargs)
        finally:
            self._lock.release()

    return guarded


def rules_of(single: SingleAgentCribbage) -> Rules:
    """The rules of a single environment's options."""
    game, opponent = single.options, single.opponent
    return Rules(
        policy=np.int64(NATIVE.index(opponent)) if isinstance(opponent, str) else NO_POLICY,
        episode=EPISODES.index(game.episode),
        start_spread=-1 if game.start_spread is None else int(game.start_spread),
        reward=REWARDS.index(game.reward),
        penalty=game.penalty,
        alternates=single.alternates,
    )


def read_seeds(seed: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Which of ``n`` games are seeded, (n,) bool, and the initial states of their streams, (n,) uint64.

    Raises:
        ValueError: the seed is neither ``None``, nor a whole number from 0, nor a list of n of them.
    """
    if not isinstance(seed, (list, tuple, np.ndarray)) or np.shape(seed) == ():
        check_seed(seed)
        seed = [None] * n if seed is None else range(int(seed), int(seed) + n)
    if len(seed) != n:
        raise ValueError(f"seed has {len(seed)} numbers: give one for each of the {n} games")
    for number in seed:
        check_seed(number)
    states = [0 if number is None else streams(int(number), 1)[0] for number in seed]
    return np.array([number is not None for number in seed]), np.array(states, np.uint64)
