"""Anderson, Amiri, Sharan and Ding (2022), "CS5100 Spring 2022 Final Project: Cribbage".

The tables are in "Performance Observation": 1,000 games of each two players. The players here are those of the text;
:mod:`crib_env.evaluate.papers.anderson_2022.printed` has the discards of their listings.
"""

from __future__ import annotations

import math
import time

import numpy as np

from crib_env.evaluate.papers.anderson_2022.printed import (
    Listed,
    greedy_listing,
    heuristic_listing,
    minimax_listing,
)
from crib_env.evaluate.papers.claims import (
    Claim,
    Effort,
    Measured,
    Paper,
    Training,
    check,
    exact,
    number,
    share,
    shown,
)
from crib_env.evaluate.papers.measures import RUN, Measure, Player, player, win_rate
from crib_env.evaluate.speed.decision_times import enumerate_cribs, time_deals
from crib_env.kernels import streams

_GAMES = 1_000
_PLACE = "Performance Observation"
# Two networks, 209 bits, one hidden layer of 60, 52 outputs, each learning its own part of the deal.
_RL = Training(
    "rl-agent",
    "ddqn",
    ("--preset", "anderson-2022", "--inputs", "play", "--skip-forced", "--gamma", "1"),
    (60_000, 600_000),
    4e-4,
)
_KEEPS_THE_WORST = (
    "Their listing keeps the worst hand, not the best; here the rules of thumb are preferences on top of the hand's "
    "mean. (Their reflection calls this agent better than chance; their table does not.)"
)
_CRIB_ALONE = "Their listing discards by the crib alone, and ignores the hand that it keeps."
_LISTED = (
    "The paper does not print how heuristic scores a hand, nor all of minimax's play; here both play as greedy does. "
    "Most of these results are nearer to the printed figures than those of the players that the text describes."
)
_LEARNING = (
    "The paper prints neither their training program nor how long it ran. As pone, the discards of their network "
    "ignore the crib."
)


_PLAYERS: dict[str, Player] = {"random": "random", "greedy": "greedy", "rl": RUN}
_TEXTS: dict[str, Player] = {**_PLAYERS, "heuristic": "heuristic", "minimax": "minimax"}
_LISTINGS: dict[str, Player] = {
    **_PLAYERS,
    "heuristic": lambda: Listed("heuristic", heuristic_listing),
    "minimax": lambda: Listed("minimax", minimax_listing),
}
# Winner, loser and percent of its games: the first table, and then the second.
_RESULTS = (
    ("greedy", "random", 98),
    ("random", "heuristic", 60),
    ("rl", "random", 86),
    ("minimax", "random", 56),
    ("greedy", "minimax", 97),
    ("rl", "minimax", 94),
    ("greedy", "rl", 61),
    ("greedy", "heuristic", 99),
    ("minimax", "heuristic", 76),
    ("rl", "heuristic", 90),
)


def _match(winner: str, loser: str, percent: int, is_listed: bool) -> Claim:
    players, both = _LISTINGS if is_listed else _TEXTS, {winner, loser}
    slow = "minimax" in both and not is_listed
    if is_listed:
        why = _LISTED
    else:
        why = _KEEPS_THE_WORST if "heuristic" in both else _CRIB_ALONE if "minimax" in both else _LEARNING
    return Claim(
        f"{'listed-' * is_listed}{winner}-{loser}",
        f"{_PLACE}, {'first' if 'random' in both else 'second'} table",
        f"{winner} beats {loser}" + ", discards as in their listings" * is_listed,
        share(f"{percent} %", percent / 100, 0.01, _GAMES),
        ("a match; `rl` is the agent of the training" if "rl" in both else "a match")
        + ", heuristic and minimax discard as their listings do" * is_listed,
        win_rate(players[winner], players[loser]),
        "{:.1%}",
        (1_000, 10_000),
        5e-3 if slow else 3e-4,
        (_RL,) if "rl" in both else (),
        why=why,
    )


# As printed: the mean times of a discard and of a card, over ten trials.
_TIMES = {
    "greedy": ("8.059 s", "0.006469 ms"),
    "heuristic": ("0.2243 ms", "0.005089 ms"),
    "rl": ("1.531 ms", "1.055 ms"),
    "minimax": ("0.2283 ms", "0.072 ms"),
}


def _milliseconds(of: Player, is_discard: bool) -> Measure:
    def measure(effort: Effort) -> Measured:
        agent = player(of, effort)
        time_deals(agent, streams(effort.seed + 1, 3))  # compiles
        seconds = time_deals(agent, streams(effort.seed, effort.n))[not is_discard]
        return exact(1e3 * seconds, f"{effort.n:,} deals, one decision at a time")

    return measure


def _time(name: str, is_discard: bool) -> Claim:
    return Claim(
        f"time-{name}-{'discard' if is_discard else 'play'}",
        f"{_PLACE}, last table",
        f"mean time of a {'discard' if is_discard else 'card in the play'}, {name}",
        shown(_TIMES[name][not is_discard]),
        "the time of each decision of the player, in single deals against itself",
        _milliseconds(_TEXTS[name], is_discard),
        "{:.3g} ms",
        (10, 100),
        1e-2,
        (_RL,) if name == "rl" else (),
    )


def _enumeration_seconds(effort: Effort) -> Measured:
    six = np.random.default_rng(effort.seed).choice(52, 6, replace=False).tolist()
    started = time.perf_counter()
    enumerate_cribs(six)
    return exact(time.perf_counter() - started, "1 hand")


PAPER = Paper(
    "anderson-2022",
    "Anderson, Amiri, Sharan and Ding (2022): five cribbage agents",
    (
        *(_match(*result, is_listed=False) for result in _RESULTS),
        *(_match(*result, is_listed=True) for result in _RESULTS if {"heuristic", "minimax"} & set(result)),
        Claim(
            "listed-greedy-random",
            f"{_PLACE}, first table",
            "greedy beats random, discards as in its listing",
            share("98 %", 0.98, 0.01, _GAMES),
            "a match, greedy discards as its listing does",
            win_rate(lambda: Listed("greedy", greedy_listing), "random"),
            "{:.1%}",
            (1_000, 10_000),
            3e-4,
            why="The greedy player of the text reaches the printed figure. The player of the listing does not: it "
            "minimises the crib, whatever hand is left.",
        ),
        Claim(
            "decision-times",
            f"{_PLACE}, last table",
            "mean time of a discard, greedy: every crib enumerated, as there",
            shown(_TIMES["greedy"][0]),
            "the same enumeration in plain Python",
            _enumeration_seconds,
            "{:.2f} s",
            each=10.0,
        ),
        *(_time(name, is_discard) for name in _TIMES for is_discard in (True, False)),
        check(
            "cribs",
            "Minimax",
            "cribs that are enumerated for one hand",
            number("226994", 226_994),
            "fifteen discards times three of 46 cards",
            lambda effort: exact(15 * math.comb(46, 3)),
            why="15 times the 15,180 that the same sentence gives is 227,700.",
        ),
        check(
            "orders-of-play",
            "Minimax",
            "orders of play of one hand",
            number("93990560", 93_990_560),
            "four own cards in any order, 46, 45, 44 and 43 unseen ones in between",
            lambda effort: exact(math.factorial(4) * 46 * 45 * 44 * 43),
            why="The product that the text describes is 93,994,560: a digit is misprinted.",
        ),
    ),
    (
        ("Reflection, the best online players win about 56 %, half a point a hand apart", "people's games, quoted"),
        ("Conclusion, simulation took twice as long as training", "a ratio of their program; ours is in BENCHMARKS.md"),
        (
            "Conclusion, greedy is the slowest player to peg",
            "their table says otherwise: 6.5 µs, against 1.1 ms of the network",
        ),
    ),
)
