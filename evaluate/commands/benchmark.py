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
from rich.table import Table

import crib_env
from crib_env.batch import GameBatch
from crib_env.engine import GAME, OVER, TO_DRAW, begin_deal, begin_game, shuffle, step
from crib_env.evaluate.command_line import SomeJson
from crib_env.evaluate.console import console, table_of
from crib_env.evaluate.files import check_outputs, write_json
from crib_env.evaluate.progress import progress_bar
from crib_env.exact.discard_statistics import discard_statistics
from crib_env.kernels import GOLDEN, kernel, mix, streams
from crib_env.players.policies import GREEDY, RANDOM, native_card, random_card
from crib_env.single_agent import SingleAgentCribbage
from crib_env.values import Range

ROUNDS = 5
GAMES = 4_096
MANY_GAMES = 65_536  # so many that waking a second thread takes almost no time beside its work
Section = Literal["games", "vector", "single", "openspiel"]
_PACKAGES = ("numpy", "numba", "gymnasium", "pettingzoo", "open_spiel")


Work = dict[str, Callable[[], int]]
"""By name and unit: what does a fraction of a second of some work, and returns the number of units."""
Rates = dict[str, list[float]]
"""By name, units a second, or the ratio of two such figures: one value a round."""


def measure(works: Work, seconds: float, on_progress: Callable[[str], None]) -> Rates:
    """Units a second by name: each in every round, ``seconds`` at a time, after a first call that compiles."""
    for name, run in works.items():
        on_progress(name)
        run()
    rates: Rates = {name: [] for name in works}
    for _ in range(ROUNDS):
        for name, run in works.items():
            on_progress(name)
            done, spent, started = 0, 0.0, time.perf_counter()
            while not done or spent < seconds:
                done += run()
                spent = time.perf_counter() - started
            rates[name].append(done / spent)
    return rates


def _table(title: str, columns: tuple[str, str, str], rates: Rates, form: str) -> Table:
    """Of each row the median, and the lowest to the highest."""
    rows = (
        (name, f"{statistics.median(of):{form}}", f"{min(of):{form}} to {max(of):{form}}") for name, of in rates.items()
    )
    return table_of(title, columns, rows)


# What is measured.

ENGINE, ONE_GAME = "random full games, engine", "random full games, raw_env"
ONE_THREAD = "vector env, 65,536 games, copy=False, learner's steps"
TWO_THREADS = "vector env, 65,536 games, copy=False, two threads, learner's steps"
SAMPLED = "random full games, OpenSpiel, chance sampled by its probabilities"
FAST = "random full games, OpenSpiel, chance picked as actions are"
# The pairs of speeds whose ratio is shown, if both were measured.
_RATIOS = ((TWO_THREADS, ONE_THREAD), (ENGINE, SAMPLED), (ENGINE, FAST), (ONE_GAME, SAMPLED), (ONE_GAME, FAST))


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
    game, seed = np.zeros(1, GAME), iter(range(10**9))
    game["episode_stream"] = streams(0, 1)
    rng = np.random.default_rng(0)
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
        ENGINE: lambda: 2_000 if _play_games(game, RANDOM, 2_000) else 0,
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
    return {
        "vector env, learner's steps": RandomPlay(GAMES).run,
        ONE_THREAD: RandomPlay(MANY_GAMES, copy=False).run,
        TWO_THREADS: RandomPlay(MANY_GAMES, copy=False, threads=2).run,
    }


def _single_games() -> Work:
    """Random play, in whole episodes."""
    pick = random.Random(0)

    def learners_steps(env: SingleAgentCribbage) -> int:
        steps = 0
        for _ in range(20):
            _, info = env.reset()
            terminated = False
            while not terminated:
                legal = info["action_mask"].nonzero()[0]
                _, _, terminated, _, info = env.step(legal[int(pick.random() * len(legal))])
                steps += 1
        return steps

    def turns(env: Any) -> int:
        """Through PettingZoo's loop."""
        turns = 0
        for _ in range(20):
            env.reset()
            while True:
                observation, _reward, terminated, truncated, _info = env.last()
                if terminated or truncated:
                    break
                legal = observation["action_mask"].nonzero()[0]
                env.step(legal[int(pick.random() * len(legal))])
                turns += 1
        return turns

    def full_games(env: crib_env.raw_env) -> int:
        """Without observations, as in the rows of OpenSpiel."""
        for _ in range(20):
            env.reset()
            while legal := env.legal_actions():
                env.step(legal[int(pick.random() * len(legal))])
        return 20

    single, raw, checked = SingleAgentCribbage(), crib_env.raw_env(), crib_env.env()
    return {
        "single env, learner's steps": lambda: learners_steps(single),
        ONE_GAME: lambda: full_games(raw),
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

    def play(n: int, by_probabilities: bool) -> int:
        for _ in range(n):
            state = game.new_initial_state()
            while not state.is_terminal():
                if by_probabilities and state.is_chance_node():
                    outcomes, probabilities = zip(*state.chance_outcomes())
                    state.apply_action(int(rng.choice(outcomes, p=probabilities)))
                else:
                    legal = state.legal_actions()
                    state.apply_action(legal[int(pick.random() * len(legal))])
        return n

    return {SAMPLED: lambda: play(20, True), FAST: lambda: play(100, False)}


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
        json_file: Also write the figures of every round to this file.
    """
    check_outputs(json_file)
    with progress_bar() as progress:
        task = progress.add_task("setting up", total=None)
        works = {name: run for section in sections for name, run in _SECTIONS[section]().items()}
        progress.update(task, total=len(works) * (ROUNDS + 1))
        rates = measure(works, seconds, lambda name: progress.update(task, advance=1, description=name))
    ratios = {
        f"{one} / {other}": [of_one / of_other for of_one, of_other in zip(rates[one], rates[other])]
        for one, other in _RATIOS
        if {one, other} <= {*rates}
    }
    try:
        if json_file is not None:
            write_json(json_file, {"machine": _machine(), "per_second": rates, "ratios": ratios})
    finally:
        title = f"a second: median of {ROUNDS} rounds (lowest to highest)"
        console.print(_table(title, ("one core, unless stated otherwise", "a second", "range"), rates, ",.1f"))
        title = "times as fast, in the same rounds"
        console.print(_table(title, ("one / other", "times", "range"), ratios, ".2f"))


def _machine() -> dict[str, str]:
    """The test machine: processor, Python, and the versions of the compared packages."""
    machine = {"processor": platform.machine(), "system": platform.system(), "Python": platform.python_version()}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            machine[package] = version(package)
    return machine
