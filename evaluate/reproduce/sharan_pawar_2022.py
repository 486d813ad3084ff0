"""Sharan and Pawar (2022), "Cribbage AI agent".

The paper says that it works on the play alone, and what a game is that a player wins it does not say: its greedy player
discards well, plays at random (section "Greedy Agent") and wins 51 % against random, so that discards seem to have no
part in it. So its matches are made twice here: as whole games, and as games in which both throw any two cards and only
the play is contested. Its search is ``ismcts:draw=uniform,show=drawn``.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace

from agents import make_agent
from evaluate.reproduce.claims import (
    Claim,
    Effort,
    Measured,
    Paper,
    Published,
    Training,
    above,
    between,
    exact,
    number,
    share,
    shown,
)
from evaluate.reproduce.measures import RUN, Player, ThrowsAndLays, margin, match, net_points_of_pairs, win_rate

_SEARCH = "ismcts:draw=uniform,show=drawn"
_PLACE = "Experiments, MCTS"
_GAME = 0.1  # seconds of one core that a game of 1,000 iterations a decision takes
_BROKEN = (
    "One reason stands in the log that the Conclusion prints: a root with 1,000 children after 1,000 iterations, for a "
    "player with one card, so that none was visited twice. Moves were not found again in the tree, the "
    "most visited one was any of them, and choices would be close to random ones, as the paper's rates are."
)
_GREEDY = "A player that discards as the paper describes wins nearly all whole games; its 51 % cannot have been those."


def _throws_and_lays(throws: str, lays: str) -> Player:
    return lambda: ThrowsAndLays(make_agent(throws), make_agent(lays))


def _both(
    key: str, says: str, a: str, b: str, published: Published, samples: tuple[int, int], each: float, why: str
) -> tuple[Claim, Claim]:
    """The claim on whole games, and on the play alone."""
    common = ("{:.1%}", samples, each)
    return (
        Claim(
            f"{key}-games",
            _PLACE,
            f"{says}; whole games",
            published,
            f"`match {a} {b}`",
            win_rate(a, b),
            *common,
            why=why,
        ),
        Claim(
            f"{key}-play",
            _PLACE,
            f"{says}; the play alone",
            published,
            f"a match of {a} and {b}, both of which throw any two cards",
            win_rate(_throws_and_lays("random", a), _throws_and_lays("random", b)),
            *common,
            why=why,
        ),
    )


def _seconds_a_game(effort: Effort) -> Measured:
    match("ismcts", "random", Effort(2))  # compiles
    started = time.perf_counter()
    match(_SEARCH, "random", replace(effort, cluster=None))  # a time of this machine
    return exact((time.perf_counter() - started) / effort.n, f"{effort.n:,} games side by side")


def _deep(learner: str, opponent: str, each: float) -> Claim:
    return Claim(
        f"{learner}-{opponent}",
        "Experiments, DDQN and DRQN",
        f"after 6,000 episodes {learner.upper()} gains on {opponent}",
        above("a rising curve", 0.0),
        f"a match of the trained agent against `{opponent}`, points a game",
        margin(RUN, opponent),
        "{:+.2f}",
        (0, 10_000),
        2e-3,
        Training(f"{learner}-{opponent}", learner, ("--preset", "paper", "--opponent", opponent), (0, 6_000), each),
        why="Ours learns whole games, discards included, from rewards of single points; the paper's episode seems to "
        "be the play of one deal, and its greedy player lays cards at random.",
    )


PAPER = Paper(
    "sharan-pawar-2022",
    "Sharan and Pawar (2022): cribbage AI agent",
    (
        *_both(
            "random",
            "SO-ISMCTS of 1,000 iterations beats random",
            _SEARCH,
            "random",
            share("54 %", 0.54, 0.01, 400),
            (60, 2_000),
            _GAME,
            _BROKEN,
        ),
        *_both(
            "greedy",
            "SO-ISMCTS of 1,000 iterations beats greedy",
            _SEARCH,
            "greedy",
            share("48.66 %", 0.4866, 1e-4, 400),
            (60, 2_000),
            _GAME,
            f"{_BROKEN} Their greedy player lays cards at random, ours takes the most points.",
        ),
        Claim(
            "greedy-random-games",
            _PLACE,
            "greedy beats random; whole games",
            share("51 %", 0.51, 0.01, 400),
            "a match of `greedy`'s discards with cards laid at random, against `random`",
            win_rate(_throws_and_lays("greedy", "random"), "random"),
            "{:.1%}",
            (1_000, 10_000),
            2e-4,
            why=_GREEDY,
        ),
        Claim(
            "greedy-random-play",
            _PLACE,
            "greedy beats random; the play alone",
            share("51 %", 0.51, 0.01, 400),
            "a match of two players that throw and lay at random, which is what is left of it",
            win_rate("random", "random:seed=1"),
            "{:.1%}",
            (1_000, 10_000),
            1e-4,
        ),
        *_both(
            "no-exploration",
            "without exploration SO-ISMCTS falls to so much against random",
            f"{_SEARCH},exploration=0",
            "random",
            share("45.33 %", 0.4533, 1e-4, 400),
            (60, 2_000),
            _GAME,
            _BROKEN,
        ),
        *_both(
            "10000-iterations",
            "SO-ISMCTS of 10,000 iterations beats random",
            f"{_SEARCH},iterations=10000",
            "random",
            share("62 %", 0.62, 0.01, 300),
            (0, 400),
            10 * _GAME,
            _BROKEN,
        ),
        Claim(
            "seconds-a-game",
            _PLACE,
            "time of the first experiment",
            shown("2 h 13 min for 400 games: 20 s each"),
            "the same search against `random`",
            _seconds_a_game,
            "{:.3f} s",
            (20, 400),
            _GAME,
        ),
        Claim(
            "shares-of-400",
            _PLACE,
            "games won of 400, at 48.66 % and at 45.33 %",
            number("whole numbers", 0),
            "the distance of both from the nearest whole number of games, in games",
            lambda effort: exact(max(abs(400 * p - round(400 * p)) for p in (0.4866, 0.4533)), "exact"),
            "{:.2f}",
            why="No whole number of 400 games has these shares. Of 300 games, as in the experiment of 10,000 "
            "iterations, all four are whole: 162, 146, 153 and 136 (146 of 300 being 48.67 %).",
        ),
        Claim(
            "no-updates",
            "Experiments, DDQN and DRQN",
            "net rewards against greedy in the 500 episodes before the network learns",
            between("-500 (read as -550 to -450)", -550, -450),
            "`random` against a player that takes the most points, in the play of single deals, times 500",
            net_points_of_pairs("random", "greedy", episode="play", scale=250),
            "{:+,.0f}",
            (5_000, 50_000),
            1e-4,
            why="Over whole games it would be about -20,000, and against a player that lays at random, as the paper "
            "describes its own, 0: an episode seems to be the play of one deal, against one that takes points.",
        ),
        _deep("ddqn", "random", 0.2),
        _deep("ddqn", "greedy", 0.2),
        _deep("drqn", "random", 0.4),
        _deep("drqn", "greedy", 0.4),
        Claim(
            "face-up",
            "Background, Cribbage, after Kelly (2017)",
            "combinations of a hand with all cards face up",
            number("129600", 129_600),
            "discards of both players, and the orders of their four cards",
            lambda effort: exact((15 * math.factorial(4)) ** 2),
            "{:,.0f}",
        ),
        Claim(
            "opposing-hands",
            "Conclusion, SO-ISMCTS",
            "hands that the opponent may hold at the start of the play: 4 of 37 cards",
            number("101270", 101_270),
            "fours of 37 cards",
            lambda effort: exact(math.comb(37, 4), "exact", "fours of 41 are 101,270, of 45 unseen cards 148,995"),
            "{:,.0f}",
            why="The number is that of fours of 41 cards. A player who has seen six cards and the starter has 45 left.",
        ),
    ),
    (
        ("Learning curves of DDQN and DRQN", "pictures without numbers; runs draw theirs, `learning-curve.png`"),
        (
            "Related Work: cheating and determinized UCT, NFSP",
            "described without results; `uct-cheating`, `uct-determinized` and `nfsp` are agents here",
        ),
        ("Experiments, batches of 1,000 learned less than of 128", "no figure"),
    ),
)
