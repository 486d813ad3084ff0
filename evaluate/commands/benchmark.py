"""Speed of this project, and of OpenSpiel's cribbage for comparison, measured in one run.

Speeds are measured in interleaved rounds, so that a busy moment of the machine affects all rows alike.
"""

from __future__ import annotations

import platform
import random
import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any, Literal, get_args

import gymnasium
import numpy as np
import tyro

import crib_env
from crib_env.batch import GameBatch
from crib_env.engine import GAME, OVER, TO_DRAW, begin_deal, begin_game, shuffle, step
from crib_env.evaluate.command_line import SomeJson
from crib_env.evaluate.console import console, progress_bar, table_of
from crib_env.evaluate.files import check_outputs, write_json
from crib_env.exact.discard_statistics import discard_statistics
from crib_env.kernels import GOLDEN, kernel, mix, streams
from crib_env.players.policies import GREEDY, RANDOM, native_card, random_card
from crib_env.single_agent import SingleAgentCribbage
from crib_env.values import Range

ROUNDS = 5
GAMES = 4_096
MANY_GAMES = 65_536  # so many that waking a second thread takes almost no time beside its work
Section = Literal["games", "vector", "single", "openspiel"]
Work = dict[str, Callable[[], int]]
"""By name and unit: what does a fraction of a second of some work, and returns the number of units."""
_PACKAGES = ("numpy", "numba", "gymnasium", "pettingzoo", "open_spiel")


def measure(works: Work, seconds: float, on_progress: Callable[[str], None]) -> dict[str, list[float]]:
    """Units a second by name: each in every round, ``seconds`` at a time, after a first call that compiles."""
    for name, run in works.items():
        on_progress(name)
        run()
    rates: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(ROUNDS):
        for name, run in works.items():
            on_progress(name)
            done, spent, started = 0, 0.0, time.perf_counter()
            while not done or spent < seconds:
                done += run()
                spent = time.perf_counter() - started
            rates[name].append(done / spent)
    return rates


@kernel
def _play_games(games, policy, n):
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


def _whole_games() -> Work:
    """Random and greedy games, random decisions of a batch, and statistics of discards."""
    game, seed, rng = np.zeros(1, GAME), iter(range(10**9)), np.random.default_rng(0)
    game["episode_stream"] = streams(0, 1)
    hands = np.array([rng.choice(52, 6, replace=False) for _ in range(1_000)])

    def batch() -> int:
        """Random deals with observations and masks written; the number of decisions."""
        batch, decisions = GameBatch(streams(next(seed), GAMES), episode="deal"), 0
        while len(rows := batch.acting()):
            batch.observe(rows)
            batch.step(rows, batch.native_cards(rows, RANDOM))
            decisions += len(rows)
        return decisions

    return {
        "random full games, engine": lambda: 2_000 if _play_games(game, RANDOM, 2_000) else 0,
        "random decisions, engine": lambda: int(_play_games(game, RANDOM, 2_000)),
        "greedy full games, engine": lambda: 100 if _play_games(game, GREEDY, 100) else 0,
        "batch of both seats, decisions with observations and masks": batch,
        "discard statistics of 15, in a batch": lambda: len(discard_statistics(hands)),
        "discard statistics of 15, one call": lambda: len(discard_statistics(hands[:1])),
    }


@kernel
def pick_legal(masks, words, cards):
    """Writes a random legal card for each row of ``masks`` (N, 52) int8 into ``cards`` (N,) int64; 0 if none is legal.

    ``words`` (N,) uint64 are the random streams.
    """
    for i in range(len(cards)):
        legal = np.int64(0)
        for card in range(52):
            legal |= (np.int64(1) << card) * (masks[i, card] != 0)
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


def _vector_steps() -> Work:
    """Steps that return observations and masks, including the choice of random cards."""
    many = "vector env, 65,536 games, copy=False"
    return {
        "vector env, learner's steps": RandomPlay(GAMES).run,
        f"{many}, learner's steps": RandomPlay(MANY_GAMES, copy=False).run,
        f"{many}, two threads, learner's steps": RandomPlay(MANY_GAMES, copy=False, threads=2).run,
    }


def _single_games() -> Work:
    """Random play, in whole games; those of ``raw_env`` without observations, as in the rows of OpenSpiel."""
    pick = random.Random(0)
    single, raw, checked = SingleAgentCribbage(), crib_env.raw_env(), crib_env.env()

    def random_of(legal: Any) -> Any:
        return legal[int(pick.random() * len(legal))]

    def learners_steps() -> int:
        (_, info), steps, terminated = single.reset(), 0, False
        while not terminated:
            _, _, terminated, _, info = single.step(random_of(info["action_mask"].nonzero()[0]))
            steps += 1
        return steps

    def turns(env: Any) -> int:
        """Through PettingZoo's loop."""
        env.reset()
        turns = 0
        while not any((last := env.last())[2:4]):
            env.step(random_of(last[0]["action_mask"].nonzero()[0]))
            turns += 1
        return turns

    def full_game() -> int:
        raw.reset()
        while legal := raw.legal_actions():
            raw.step(random_of(legal))
        return 1

    return {
        "single env, learner's steps": learners_steps,
        "random full games, raw_env": full_game,
        "crib_env raw_env, turns": lambda: turns(raw),
        "crib_env env, turns": lambda: turns(checked),
    }


def _openspiel() -> Work:
    """Random full games. OpenSpiel counts the last show to its end, and asks players to pass where here they say go.

    Chance is sampled by its probabilities, as in OpenSpiel's own examples, or picked like an action, since all cards
    are equally likely.
    """
    try:
        import pyspiel
    except ImportError:
        console.print("skipped: OpenSpiel's cribbage (open_spiel is not installed)")
        return {}
    game, rng, pick = pyspiel.load_game("cribbage(players=2)"), np.random.default_rng(0), random.Random(0)

    def play(by_probabilities: bool) -> int:
        state = game.new_initial_state()
        while not state.is_terminal():
            if by_probabilities and state.is_chance_node():
                outcomes, probabilities = zip(*state.chance_outcomes())
                state.apply_action(int(rng.choice(outcomes, p=probabilities)))
            else:
                legal = state.legal_actions()
                state.apply_action(legal[int(pick.random() * len(legal))])
        return 1

    name = "random full games, OpenSpiel, chance"
    return {
        f"{name} sampled by its probabilities": lambda: play(True),
        f"{name} picked as actions are": lambda: play(False),
    }


_SECTIONS = {"games": _whole_games, "vector": _vector_steps, "single": _single_games, "openspiel": _openspiel}


def benchmark(
    sections: Annotated[
        tuple[Section, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[SECTION ...]", help_behavior_hint="")
    ] = get_args(Section),
    seconds: Annotated[float, Range(0, 3_600, above=True)] = 1.0,
    json_file: SomeJson = None,
) -> None:
    """Measures speed in one run: engine, environments, and OpenSpiel's cribbage for comparison.

    Args:
        sections: What to measure: games, vector, single, openspiel; by default all.
        seconds: Seconds for each speed in each of five rounds.
        json_file: Also write the figures of every round to this file; they can be divided round by round.
    """
    check_outputs(json_file)
    with progress_bar() as progress:
        task = progress.add_task("setting up", total=None)
        works = {name: run for section in sections for name, run in _SECTIONS[section]().items()}
        progress.update(task, total=len(works) * (ROUNDS + 1))
        rates = measure(works, seconds, lambda name: progress.update(task, advance=1, description=name))
    machine = {"processor": platform.machine(), "system": platform.system(), "Python": platform.python_version()}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            machine[package] = version(package)
    try:
        if json_file is not None:
            write_json(json_file, {"machine": machine, "per_second": rates})
    finally:
        rows = [
            (name, f"{statistics.median(of):,.1f}", f"{min(of):,.1f} to {max(of):,.1f}") for name, of in rates.items()
        ]
        title = f"a second: median of {ROUNDS} rounds (lowest to highest)"
        console.print(table_of(title, ("one core, unless stated otherwise", "a second", "range"), rows))
