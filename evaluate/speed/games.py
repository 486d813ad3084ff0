"""Speed of this project: whole games, exact values, the vector environment, and one game at a time."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any

import gymnasium
import numpy as np

import crib_env
from crib_env.batch import GameBatch
from crib_env.engine import GAME, OVER, TO_DRAW, begin_deal, begin_game, shuffle, step
from crib_env.evaluate.speed.measuring import Measurement, say_skipped
from crib_env.exact.discard_means import best_discard
from crib_env.exact.discard_statistics import crib_distribution, discard_statistics
from crib_env.kernels import GOLDEN, kernel, mix, popcount, streams
from crib_env.players.policies import GREEDY, RANDOM, native_card, random_card
from crib_env.single_agent import SingleAgentCribbage

GAMES = 4_096
MANY_GAMES = 65_536  # so many that waking a second thread takes almost no time beside its work
ENGINE = "random full games, engine"
COPIES = "vector env, learner's steps"
ZERO_COPY = "vector env, copy=False, learner's steps"
ONE_THREAD = "vector env, 65,536 games, copy=False, learner's steps"
TWO_THREADS = "vector env, 65,536 games, copy=False, two threads, learner's steps"
YARDSTICK = "yardstick: random games of one thread alone"
YARDSTICK_OF_TWO = "yardstick: random games of two threads alone"
ONE_GAME = "random full games, raw_env"
_BITS = np.array([1 << card for card in range(52)], np.int64)


@kernel
def play_games(games, policy, n):
    """Plays ``n`` games in the record ``games[0]`` with one native policy in both seats; the number of decisions."""
    g, decisions = games[0], 0
    for _ in range(n):
        begin_game(g, 0, TO_DRAW, TO_DRAW, TO_DRAW, -1)
        shuffle(g)
        begin_deal(g)
        while g["phase"] != OVER:
            step(g, native_card(g, policy))
        decisions += g["decisions"]
    return decisions


def _native(policy: int, n: int, threads: int = 1, decisions: bool = False) -> Callable[[], int]:
    """Games that share nothing, on threads: the most that a second thread can gain on this machine at this moment.

    Args:
        decisions: whether decisions are counted, in place of games.
    """
    pool, games = ThreadPoolExecutor(threads), np.zeros((threads, 1), GAME)
    games["episode_stream"] = streams(0, threads)[:, None]

    def run() -> int:
        made = list(pool.map(lambda game: play_games(game, policy, n), games))
        return sum(made) if decisions else threads * n

    return run


def _random_batch(n: int) -> Callable[[], int]:
    """Random deals through the batch with observations and masks written; the number of decisions."""
    seed = iter(range(10**9))

    def run() -> int:
        batch = GameBatch(streams(next(seed), n), episode="deal")
        decisions = 0
        while len(rows := batch.acting()):
            batch.observe(rows)
            batch.step(rows, batch.native_cards(rows, RANDOM))
            decisions += len(rows)
        return decisions

    return run


def whole_games() -> list[Measurement]:
    """Random and greedy games, and random decisions of a batch."""
    return [
        Measurement(ENGINE, _native(RANDOM, 2_000)),
        Measurement("random decisions, engine", _native(RANDOM, 2_000, decisions=True)),
        Measurement("greedy full games, engine", _native(GREEDY, 100)),
        Measurement(f"random decisions of a batch, {GAMES:,} deals, observations and masks", _random_batch(GAMES)),
    ]


@kernel
def _greedy_discards(sixes):
    discarded = 0
    for six in sixes:
        discarded += popcount(best_discard(six, np.int64(0), True))
    return discarded


def exact_values() -> list[Measurement]:
    """Discards by exact means, and the statistics of all fifteen."""
    rng = np.random.default_rng(0)
    hands = np.array([rng.choice(52, 6, replace=False) for _ in range(1_000)])
    sixes = (np.int64(1) << hands).sum(axis=1)
    return [
        Measurement("greedy discards as dealer, exact", lambda: len(sixes) if _greedy_discards(sixes) else 0),
        Measurement("discard statistics of 15, in a batch", lambda: len(discard_statistics(hands))),
        Measurement("discard statistics of 15, one call", lambda: len(discard_statistics(hands[:1]))),
        Measurement("crib distributions of 15, one call", lambda: len(crib_distribution(hands[:1]))),
    ]


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
    """Random legal cards in N games against an opponent that plays at random."""

    def __init__(self, n: int, **options: Any) -> None:
        way: dict[str, Any] = {"vectorization_mode": "vector_entry_point", "opponent": "random"}
        self.envs = gymnasium.make_vec("crib_env/Cribbage-v0", num_envs=n, **way, **options)
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


def bytes_a_step() -> int:
    """Output bytes of a step for each game; the mask in the infos is the observation's array."""
    envs = RandomPlay(GAMES).envs
    step = envs.step(envs.reset()[1]["action_mask"].argmax(axis=1))
    others = [step[4][key] for key in ("scores", "dealer", "seat")]
    return sum(array.nbytes for array in (*step[0].values(), *step[1:4], *others)) // GAMES


def vector_steps() -> list[Measurement]:
    """Steps that return observations and masks, including the choice of random cards."""
    return [
        Measurement(COPIES, RandomPlay(GAMES).run),
        Measurement(ZERO_COPY, RandomPlay(GAMES, copy=False).run),
        Measurement(ONE_THREAD, RandomPlay(MANY_GAMES, copy=False).run),
        Measurement(TWO_THREADS, RandomPlay(MANY_GAMES, copy=False, threads=2).run),
        Measurement(YARDSTICK_OF_TWO, _native(RANDOM, 2_000, threads=2)),
        Measurement(YARDSTICK, _native(RANDOM, 2_000)),
    ]


def _single_steps(env: Any, episodes: int) -> Callable[[], int]:
    """Random play against a random opponent; the learner's steps."""
    rng = np.random.default_rng(0)

    def run() -> int:
        steps = 0
        for _ in range(episodes):
            _, info = env.reset()
            draws, terminated = iter(rng.random(2_000).tolist()), False
            while not terminated:
                legal = info["action_mask"].nonzero()[0]
                _, _, terminated, _, info = env.step(legal[int(next(draws) * len(legal))])
                steps += 1
        return steps

    return run


def _aec_turns(env: Any, episodes: int) -> Callable[[], int]:
    """Random play through PettingZoo's loop; the number of turns."""
    rng = np.random.default_rng(0)

    def run() -> int:
        turns = 0
        for _ in range(episodes):
            env.reset()
            draws = iter(rng.random(2_000).tolist())
            while True:
                observation, _reward, terminated, truncated, _info = env.last()
                if terminated or truncated:
                    break
                legal = observation["action_mask"].nonzero()[0]
                env.step(legal[int(next(draws) * len(legal))])
                turns += 1
        return turns

    return run


def _full_games(env: crib_env.raw_env, episodes: int) -> Callable[[], int]:
    """Random play without observations, as in the rows of OpenSpiel."""
    pick = random.Random(0)

    def run() -> int:
        for _ in range(episodes):
            env.reset()
            while legal := env.legal_actions():
                env.step(legal[int(pick.random() * len(legal))])
        return episodes

    return run


def _frames(env: Any) -> Callable[[], int]:
    """A frame of every decision, through whole games."""

    def run() -> int:
        _, info = env.reset()
        n, terminated = 0, False
        while not terminated:
            env.render()
            *_, terminated, _, info = env.step(int(info["action_mask"].argmax()))
            n += 1
        return n

    return run


def single_games() -> list[Measurement]:
    """Random play, in whole episodes; with the extra ``render`` also frames, and PettingZoo's own games."""
    rows = [
        Measurement("single env, learner's steps", _single_steps(SingleAgentCribbage(), 20)),
        Measurement(ONE_GAME, _full_games(crib_env.raw_env(), 20)),
        Measurement("crib_env raw_env, turns", _aec_turns(crib_env.raw_env(), 20)),
        Measurement("crib_env env, turns", _aec_turns(crib_env.env(), 20)),
    ]
    if find_spec("resvg_py") is None or find_spec("pygame") is None:
        say_skipped("frames, and PettingZoo's tictactoe and connect_four", "resvg-py or pygame")
        return rows
    from pettingzoo.classic import connect_four_v3, tictactoe_v3

    drawn = gymnasium.make("crib_env/Cribbage-v0", render_mode="rgb_array")
    return [
        *rows,
        Measurement('frames of a single env, 960 x 720, render_mode="rgb_array"', _frames(drawn)),
        Measurement("tictactoe raw_env, turns", _aec_turns(tictactoe_v3.raw_env(), 100)),
        Measurement("tictactoe env, turns", _aec_turns(tictactoe_v3.env(), 100)),
        Measurement("connect_four raw_env, turns", _aec_turns(connect_four_v3.raw_env(), 50)),
        Measurement("connect_four env, turns", _aec_turns(connect_four_v3.env(), 50)),
    ]
