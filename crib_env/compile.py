"""``python -m crib_env.compile [PLAYER ...]``: compiles the kernels of the package ahead of time.

All players that need no file are compiled with the environments, or only those that you name (``expert``,
``ismcts:draw=uniform``; any text that :func:`crib_env.make_agent` takes). It says how long each part took.

Use it for container images, clusters and many workers that start together. Kernels are kept beside the source, in the
user's ``.cache`` folder where that cannot be written, or in the folder that ``NUMBA_CACHE_DIR`` names. They are for the
current processor. For an image that will run on other machines set ``NUMBA_CPU_NAME=generic``, both for this command
and later.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from itertools import product
from typing import Any

import gymnasium
import numpy as np

import crib_env
from crib_env.observation import DTYPES, OBSERVATIONS
from crib_env.picture.seen import stages
from crib_env.players.games import play_out, turns
from crib_env.players.policies import NATIVE

_CARDS = "5H 5C JD QS 2H 3D"
_PLAYERS = ("greedy", "careful", "heuristic", "minimax", "halscrib", "expert", "equilibrium", "ismcts")
_WITH_TORCH = ("best", "erring")


class _LowestCard:
    """An opponent that is a Python object, not a kernel."""

    name = "lowest card"

    def act(self, views: crib_env.PlayerViews) -> np.ndarray:
        return views.action_mask.argmax(axis=1)


def environments() -> None:
    """The environments for one game and for many, and ``GameBatch``."""
    env = crib_env.env()
    env.reset(seed=0)
    for _ in range(4):
        env.step(env.legal_actions()[0])
    env.views(env.agent_selection)
    env.restore(env.games.copy())
    env.redeal(env.agent_selection, 0)
    list(stages(env.games, env.legal_actions()[0]))
    env.step(52)  # an illegal card, which ends the game
    kinds: list[dict[str, Any]] = [{"opponent": name} for name in (*NATIVE, _LowestCard())]
    kinds += [{"observation": name, "dtype": dtype} for name, dtype in product(OBSERVATIONS, DTYPES)]
    many: dict[str, Any] = {"num_envs": 2, "vectorization_mode": "vector_entry_point", "autoreset_mode": "SameStep"}
    for kind in [*kinds, {"reward": "match"}]:
        options = {"mask": "info", **kind}
        envs: Any = gymnasium.make_vec("crib_env/Cribbage-v0", **many, **options)
        _, infos = envs.reset(seed=0)
        for _ in range(2):
            _, _, _, _, infos = envs.step(infos["action_mask"].argmax(axis=1))
        _play(gymnasium.make("crib_env/Cribbage-v0", **options))
    _play(gymnasium.make("crib_env/CribbageDiscard-v0", mask="info"))
    batch = crib_env.GameBatch(crib_env.streams(0, 2), episode="deal")
    while len(rows := batch.acting()):
        for observation in OBSERVATIONS:
            batch.observe(rows, observation)
        batch.views(rows)
        batch.step(rows, batch.native_cards(rows, 0))


def _play(env: Any) -> None:
    _, infos = env.reset(seed=0)
    ended = False
    while not ended:
        _, _, ended, _, infos = env.step(int(infos["action_mask"].argmax()))


def scores() -> None:
    """Counting of hands, and exact values of discards."""
    crib_env.score_show("5H 5C 5S JD", "5D")
    crib_env.score_play("JC 4C 5C 4D 3D")
    crib_env.score_show_many(np.array([[0, 1, 2, 3]]), np.array([4]))
    crib_env.discard_statistics(_CARDS)
    crib_env.hand_distribution(_CARDS)
    crib_env.crib_distribution(_CARDS)
    crib_env.analyse_discard(_CARDS, dealer=True)


def play(player: Any) -> None:
    """A whole deal at the start of a game and near its end, and the pegging game."""
    for options in ({"episode": "deal"}, {"episode": "deal", "scores": (105, 105)}, {"episode": "pegging"}):
        play_out(crib_env.GameBatch(crib_env.streams(0, 2), **options), [player])


def coach() -> None:
    """The values of cards by the solution of what follows, which the coach and ``analyse`` use."""
    solver: Any = crib_env.make_agent("equilibrium")
    batch = crib_env.GameBatch(crib_env.streams(0, 1), episode="deal")
    for turn in turns(batch, [crib_env.make_agent("greedy")]):
        if turn.views.n_laid[0] == 3:  # it solves the play from the fourth card on
            solver.rank_values(turn.views)
        turn.play()


def main() -> int:
    """Compiles what is not compiled yet; returns the exit status."""
    named = sys.argv[1:]
    if named in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    names = named or [*_PLAYERS, *(_WITH_TORCH if find_spec("torch") else ())]
    warnings.simplefilter("error", RuntimeWarning)  # the warning that compiled kernels cannot be saved
    started = time.perf_counter()
    try:
        parts: dict[str, Callable[[], None]] = {"environments": environments, "scores": scores}
        parts |= {name: partial(play, crib_env.make_agent(name)) for name in names}
        for name, part in (parts if named else parts | {"coach": coach}).items():
            before = time.perf_counter()
            part()
            print(f"{name:20} {time.perf_counter() - before:5.1f} s", flush=True)
    except (RuntimeWarning, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    whose = f"the kernels of the environments and of {', '.join(named)}" if named else "all kernels"
    print(f"{whose} are compiled: {time.perf_counter() - started:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
