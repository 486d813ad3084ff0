"""Speed, measured: the engine, the environments, and PettingZoo's own games beside them, in one run."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from pettingzoo.classic import connect_four_v3, tictactoe_v3
from rich.table import Table

import crib_env
from crib_env.batch import GameBatch
from crib_env.engine import GAME, OVER, begin_deal, begin_game, shuffle, step
from crib_env.exact.discard_means import best_discard
from crib_env.exact.discard_statistics import crib_distribution, discard_statistics
from crib_env.kernels import bit, kernel, popcount, streams
from crib_env.policies import GREEDY, RANDOM, native_card
from crib_env.scoring import score_show_many, show_points
from evaluate.console import console, progress_bar

_REPEATS = 5


@kernel
def _native_games(games, policy, n):
    """Plays ``n`` games with one native policy in both seats; the number of decisions."""
    g, decisions = games[0], 0
    for _ in range(n):
        begin_game(g, 0, -1, -1, -1, -1)
        shuffle(g)
        begin_deal(g)
        while g["phase"] != OVER:
            step(g, native_card(g, policy))
        decisions += g["decisions"]
    return decisions


@kernel
def _histogram(crib):
    """How often each score falls over all 12,994,800 hands and starters."""
    counts = np.zeros(30, np.int64)
    for a in range(52):
        for b in range(a):
            for c in range(b):
                for d in range(c):
                    hand = bit(a) | bit(b) | bit(c) | bit(d)
                    for starter in range(52):
                        if not (hand >> starter) & 1:
                            counts[show_points(hand, starter, crib)] += 1
    return counts


@kernel
def _greedy_discards(sixes):
    thrown = 0
    for six in sixes:
        thrown += popcount(best_discard(six, np.int64(0), True))
    return thrown


def _native(policy: int, n: int) -> Callable[[], int]:
    games = np.zeros(1, GAME)
    games["episodes"] = streams(0, 1)

    def run() -> int:
        _native_games(games, policy, n)
        return n

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


def _enumerated_crib_means(six: np.ndarray) -> np.ndarray:
    """The fifteen crib means of one hand the plain way: every opposing pair and starter, one after the other."""
    unseen = np.setdiff1d(np.arange(52), six)
    pairs = np.array(list(combinations(unseen, 2)))
    starters = np.repeat(unseen, len(pairs))
    others = np.tile(pairs, (len(unseen), 1))
    fits = (others != starters[:, None]).all(axis=1)
    starters, others = starters[fits], others[fits]
    means = []
    for discard in combinations(six, 2):
        cribs = np.concatenate([np.tile(discard, (len(others), 1)), others], axis=1)
        means.append(score_show_many(cribs, starters, True).mean())
    return np.array(means)


def _per_second(run: Callable[[], int], seconds: float) -> list[float]:
    """Units a second, measured ``_REPEATS`` times over about ``seconds`` each."""
    run()  # compiles
    rates = []
    for _ in range(_REPEATS):
        done, started = 0, time.perf_counter()
        while (spent := time.perf_counter() - started) < seconds:
            done += run()
        rates.append(done / spent)
    return rates


def _start_up(code: str, cache: Path) -> float:
    """Seconds that a fresh Python takes for some code, with Numba's cache in a folder given."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "NUMBA_CACHE_DIR": str(cache)})
    return time.perf_counter() - started


def _start_times() -> dict[str, list[float]]:
    nothing = "pass"
    first_env = "import crib_env; e = crib_env.env(); e.reset(seed=0); e.step(int(e.last()[0]['action_mask'].argmax()))"
    main_job = (
        "import tempfile, pathlib; from rich.progress import Progress; from dataclasses import replace\n"
        "from train.ddqn import PRESETS, train; from train.run_folder import RunFolder\n"
        "few = dict(episodes=2, episodes_at_once=2, warm_up=1, evaluations=1, evaluation_games=2)\n"
        "s = replace(PRESETS['default'], **few)\n"
        "with tempfile.TemporaryDirectory() as d, Progress(disable=True) as p:\n"
        "    train(s, RunFolder.create('ddqn', s, pathlib.Path(d)), p)\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        cold, warm = Path(folder, "cold"), Path(folder, "warm")
        times = {"everything the main job compiles, cold cache": [_start_up(main_job, cold)]}
        times["the same, warm cache"] = [_start_up(main_job, cold) for _ in range(3)]
        _start_up(first_env, warm)
        times["Python alone"] = [_start_up(nothing, warm) for _ in range(_REPEATS)]
        times["import crib_env"] = [_start_up("import crib_env", warm) for _ in range(_REPEATS)]
        times["import and a first environment, reset and stepped"] = [
            _start_up(first_env, warm) for _ in range(_REPEATS)
        ]
    return times


def run_benchmark(seconds: float, json_file: Path | None) -> None:
    """Measures, prints tables of medians with the range of the repeats, and writes JSON if a file is given."""
    rng = np.random.default_rng(0)
    sixes = np.array([sum(1 << int(card) for card in rng.choice(52, 6, replace=False)) for _ in range(1_000)])
    hands = np.array([rng.choice(52, 6, replace=False) for _ in range(1_000)])
    measurements: dict[str, Callable[[], int]] = {
        "random full games, engine": _native(RANDOM, 2_000),
        "greedy full games, engine": _native(GREEDY, 100),
        "greedy discards as dealer, exact": lambda: len(sixes) if _greedy_discards(sixes) else 0,
        "discard statistics of 15, in a batch": lambda: len(discard_statistics(hands)),
        "discard statistics of 15, one call": lambda: len(discard_statistics(hands[:1])),
        "crib distributions of 15, one call": lambda: len(crib_distribution(hands[:1])),
        "crib means of 15 by plain enumeration": lambda: len(_enumerated_crib_means(hands[0])) // 15,
        "random decisions, 4,096 deals, observations and masks": _random_batch(4_096),
        "crib_env raw_env, turns": _aec_turns(crib_env.raw_env(), 20),
        "crib_env env, turns": _aec_turns(crib_env.env(), 20),
        "tictactoe raw_env, turns": _aec_turns(tictactoe_v3.raw_env(), 100),
        "tictactoe env, turns": _aec_turns(tictactoe_v3.env(), 100),
        "connect_four raw_env, turns": _aec_turns(connect_four_v3.raw_env(), 50),
        "connect_four env, turns": _aec_turns(connect_four_v3.env(), 50),
        "score histogram of 12,994,800 hands": lambda: int(_histogram(False).sum() > 0),
    }
    rates: dict[str, list[float]] = {}
    with progress_bar() as progress:
        task = progress.add_task("measuring", total=len(measurements) + 1)
        for name, run in measurements.items():
            progress.update(task, description=name)
            rates[name] = _per_second(run, seconds)
            progress.advance(task)
        progress.update(task, description="start-up")
        times = _start_times()
        progress.advance(task)

    table = Table(title=f"a second, one core: median of {_REPEATS} (lowest to highest)")
    table.add_column("")
    table.add_column("a second", justify="right")
    table.add_column("range", justify="right")
    table.add_column("one takes", justify="right")
    for name, values in rates.items():
        median = statistics.median(values)
        table.add_row(name, f"{median:,.1f}", f"{min(values):,.1f} to {max(values):,.1f}", _time(1 / median))
    console.print(table)
    starts = Table(title="start-up: median (lowest to highest)")
    starts.add_column("")
    starts.add_column("seconds", justify="right")
    starts.add_column("range", justify="right")
    for name, values in times.items():
        starts.add_row(name, f"{statistics.median(values):.2f}", f"{min(values):.2f} to {max(values):.2f}")
    console.print(starts)
    console.print(f"one game is {GAME.itemsize} bytes")
    if json_file is not None:
        content = {"per_second": rates, "start_up_seconds": times, "bytes_per_game": GAME.itemsize}
        json_file.write_text(json.dumps(content, indent=2) + "\n")


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.2f} {unit}"
    return f"{seconds / 1e-9:.1f} ns"
