"""The native vector environment, with and without copies, on one thread and two."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gymnasium
import numpy as np

import crib_env
from crib_env.agents import make_agent
from crib_env.evaluate.speed.engine import new_game, play_games
from crib_env.evaluate.speed.measuring import Measurement
from crib_env.kernels import GOLDEN, kernel, mix, streams
from crib_env.players.policies import RANDOM, random_card

GAMES = 4_096
MANY_GAMES = 65_536  # so many that waking a second thread takes almost no time beside its work
LEARNERS, BOTHS = "learner's steps", "decisions of both players"
_BITS = np.array([1 << card for card in range(52)], np.int64)
COPIES = f"vector env, {LEARNERS}"
ZERO_COPY = f"vector env, copy=False, {LEARNERS}"
ONE_THREAD = f"vector env, 65,536 games, copy=False, {LEARNERS}"
TWO_THREADS = f"vector env, 65,536 games, copy=False, two threads, {LEARNERS}"
YARDSTICK = "yardstick: random games of one thread alone"
YARDSTICK_OF_TWO = "yardstick: random games of two threads alone"


@kernel
def pick_legal(masks, words, cards):
    """Writes a random legal card for each row of ``masks`` (N, 52) int8 into ``cards`` (N,) int64; 0 if none is legal.

    ``words`` (N,) uint64 are the random streams.
    """
    for i in range(len(cards)):
        legal = np.int64(0)
        for card in range(52):
            legal |= _BITS[card] * (masks[i, card] != 0)
        words[i] += GOLDEN
        cards[i] = random_card(legal, mix(words[i])) if legal else 0


class RandomPlay:
    """Random legal cards in N games against an opponent that plays at random, or against a given object."""

    def __init__(self, n: int, opponent: Any = "random", **options: Any) -> None:
        self.envs = gymnasium.make_vec(
            "crib_env/Cribbage-v0",
            num_envs=n,
            vectorization_mode="vector_entry_point",
            opponent=opponent,
            **options,
        )
        self._infos = self.envs.reset()[1]
        self._words, self._cards = streams(0, n), np.zeros(n, np.int64)
        self._over = np.zeros(n, np.bool_)

    def run(self, calls: int = 20) -> int:
        """Calls ``step`` this many times; returns the number of cards that the learner has played."""
        played = 0
        for _ in range(calls):
            pick_legal(self._infos["action_mask"], self._words, self._cards)
            played += len(self._over) - int(np.count_nonzero(self._over))  # games that are over restart instead
            _, _, self._over, _, self._infos = self.envs.step(self._cards)
        return played


class _Counting:
    """The random agent, with a count of its cards."""

    def __init__(self) -> None:
        self.played = 0
        self._random = make_agent("random")

    def act(self, views: crib_env.PlayerViews) -> np.ndarray:
        """(B,) card ids."""
        self.played += len(views)
        return self._random.act(views)


def _decisions_a_step() -> float:
    """Decisions of both players for each step of the learner, counted over some 100,000."""
    opponent = _Counting()
    learners = RandomPlay(1_000, opponent).run(calls=110)
    return (learners + opponent.played) / learners


def bytes_a_step() -> int:
    """Output bytes of a step for each game; the mask in the infos is the observation's array."""
    envs = RandomPlay(GAMES).envs
    step = envs.step(envs.reset()[1]["action_mask"].argmax(axis=1))
    others = [step[4][key] for key in ("scores", "dealer", "seat")]
    return sum(array.nbytes for array in (*step[0].values(), *step[1:4], *others)) // GAMES


def _games_on_threads(threads: int) -> Callable[[], int]:
    """Random games that share nothing: the most that a second thread can gain on this machine at this moment."""
    pool, games, n = ThreadPoolExecutor(threads), [new_game(seed) for seed in range(threads)], 2_000

    def run() -> int:
        list(pool.map(lambda game: play_games(game, RANDOM, n), games))
        return threads * n

    return run


def vector_steps() -> list[Measurement]:
    """Steps of 4,096 games that return observations and masks, including the choice of random cards."""
    decisions = _decisions_a_step()
    rows = {
        COPIES: RandomPlay(GAMES),
        ZERO_COPY: RandomPlay(GAMES, copy=False),
        ONE_THREAD: RandomPlay(MANY_GAMES, copy=False),
        TWO_THREADS: RandomPlay(MANY_GAMES, copy=False, threads=2),
    }
    masks = RandomPlay(GAMES).envs.reset()[1]["action_mask"]
    words, cards = streams(0, GAMES), np.zeros(GAMES, np.int64)
    buffer = np.empty((GAMES, bytes_a_step()), np.int8)

    def pick() -> int:
        pick_legal(masks, words, cards)
        return GAMES

    def write() -> int:
        buffer.fill(0)
        return GAMES

    return [
        *(Measurement(name, play.run, also=(name.replace(LEARNERS, BOTHS), decisions)) for name, play in rows.items()),
        Measurement(YARDSTICK_OF_TWO, _games_on_threads(2)),
        Measurement(YARDSTICK, _games_on_threads(1)),
        Measurement(f"random legal cards picked, {GAMES:,} masks", pick),
        Measurement("yardstick: the bytes that a step hands out, written once", write),
    ]
