"""Sharan and Pawar (2022), "Cribbage AI agent".

The paper studies the play alone, and does not define the games that its players win. Its greedy player discards well,
plays at random (section "Greedy Agent") and wins 51 % against random, so these games seem to have no discards. Hence
each of its matches is played twice here: as whole games, and as games in which both discard at random and only the
play is contested. Its DDQN and DRQN learn twice as well: whole games in one trial, and the play of single deals in
five trials of 2,000 episodes, where the paper has 6,000. Its search is ``ismcts:draw=uniform,show=drawn``.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace

from crib_env.agents import make_agent
from crib_env.evaluate.papers.claims import (
    Claim,
    Effort,
    Measured,
    Paper,
    Published,
    Training,
    above,
    below,
    between,
    check,
    exact,
    number,
    share,
    shown,
)
from crib_env.evaluate.papers.measures import (
    RUN,
    DiscardsAndLays,
    Measure,
    Player,
    margin,
    match,
    net_points_of_pairs,
    win_rate,
)
from crib_env.evaluate.papers.sharan_pawar_2022.trials import TRIALS, late_gain, slower, stabler

_SEARCH = "ismcts:draw=uniform,show=drawn"
_PLACE = "Experiments, MCTS"
_LEARNERS = "Experiments, DDQN and DRQN"
_GAME = 0.1  # seconds of one core that a game of 1,000 iterations a decision takes
_BROKEN = (
    "The log printed in the Conclusion shows one reason: for a player with one card, the root has 1,000 children after "
    "1,000 iterations, so no child was visited twice. Moves were not found again in the tree, so the most visited one "
    "was any of them. Choices would then be close to random, as the paper's rates are."
)
_OTHER_SETTINGS = (
    "The paper's inputs are 13 × 14 bits, its learning rate is 0.1, its printed program passes no memory from one call "
    "of its DRQN to the next, and its fluctuations are visible in pictures only."
)
_GREEDY = (
    "A player that discards as the paper describes wins nearly all whole games; its 51 % cannot be of whole games."
)


def _discards_and_lays(discards: str, lays: str) -> Player:
    return lambda: DiscardsAndLays(make_agent(discards), make_agent(lays))


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
            f"a match of {a} and {b}, both of which discard any two cards",
            win_rate(_discards_and_lays("random", a), _discards_and_lays("random", b)),
            *common,
            why=why,
        ),
    )


def _seconds_a_game(search: str) -> Measure:
    def measure(effort: Effort) -> Measured:
        alone = replace(effort, cluster=None)  # a time of this machine
        match(search, "random", replace(alone, n=2))  # compiles
        started = time.process_time()
        match(search, "random", alone)
        return exact((time.process_time() - started) / effort.n, f"{effort.n:,} games side by side")

    return measure


def _deep(learner: str, opponent: str, each: float) -> Claim:
    return Claim(
        f"{learner}-{opponent}",
        _LEARNERS,
        f"after 6,000 episodes {learner.upper()} gains on {opponent}; whole games, one trial",
        above("a rising curve", 0.0),
        f"a match of the trained agent against `{opponent}`, points a game",
        margin(RUN, opponent),
        "{:+.2f}",
        (0, 10_000),
        2e-3,
        (Training(f"{learner}-{opponent}", learner, ("--preset", "paper", "--opponent", opponent), (0, 6_000), each),),
        why="Ours learns whole games, discards included, from rewards of single points; the paper's episode seems to "
        "be the play of one deal, and its greedy player lays cards at random.",
    )


# The paper's exploration for both learners, which the presets do not have: their rewards during training are compared.
_TRIAL = (
    *("--preset", "paper", "--opponent", "random", "--episode", "play"),
    *("--epsilon", "0.1", "--final-epsilon", "0.1"),
)


def _trials(learner: str) -> tuple[Training, ...]:
    return tuple(Training(f"{learner}-trial-{k + 1}", learner, _TRIAL, (0, 2_000), 0.03, seed=k) for k in range(TRIALS))


_BOTH = (*_trials("ddqn"), *_trials("drqn"))
_CURVE = "the net points made in training by the play of single deals, {}; the interval is of the spread between trials"


def _gain_in_trials(learner: str) -> Claim:
    return Claim(
        f"{learner}-trials",
        _LEARNERS,
        f"{learner.upper()}'s rewards against random rise in five trials of 6,000 episodes; here of 2,000",
        above("a rising curve", 0.0),
        _CURVE.format("an episode, over the last 1,000 of each trial"),
        late_gain,
        "{:+.2f}",
        trainings=_trials(learner),
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
            "Their greedy player lays cards at random, ours takes the most points.",
        ),
        Claim(
            "greedy-random-games",
            _PLACE,
            "greedy beats random; whole games",
            share("51 %", 0.51, 0.01, 400),
            "a match of `greedy`'s discards with cards laid at random, against `random`",
            win_rate(_discards_and_lays("greedy", "random"), "random"),
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
            "a match of two players that discard and lay at random, since the paper's greedy player lays at random",
            win_rate("random", "random:seed=1"),
            "{:.1%}",
            (1_000, 10_000),
            1e-4,
        ),
        *_both(
            "no-exploration",
            "SO-ISMCTS without exploration against random",
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
            "time of the first experiment, 1,000 iterations",
            shown("2 h 13 min for 400 games: 20 s each"),
            "the same search against `random`, in seconds of one core",
            _seconds_a_game(_SEARCH),
            "{:.3f} s",
            (20, 400),
            _GAME,
        ),
        Claim(
            "seconds-a-game-10000",
            f"{_PLACE}, Increasing the number of nodes",
            "time of the experiment of 10,000 iterations",
            shown("14 h for 300 games: 168 s each"),
            "the same search against `random`, in seconds of one core",
            _seconds_a_game(f"{_SEARCH},iterations=10000"),
            "{:.3f} s",
            (0, 40),
            10 * _GAME,
        ),
        check(
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
            _LEARNERS,
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
        _gain_in_trials("ddqn"),
        _gain_in_trials("drqn"),
        Claim(
            "drqn-slower",
            "Conclusion, DDQN and DRQN",
            "DRQN learns more slowly than DDQN in five trials each; here of 2,000",
            below("slower", 0.0),
            _CURVE.format("an episode, over all 2,000: DRQN's minus DDQN's of the same seed"),
            slower,
            "{:+.3f}",
            trainings=_BOTH,
            why=_OTHER_SETTINGS,
        ),
        Claim(
            "drqn-stabler",
            "Conclusion, DDQN and DRQN",
            "DRQN learns more stably, with fewer fluctuations, than DDQN in five trials each; here of 2,000",
            below("more stable", 0.0),
            _CURVE.format(
                "an episode in blocks of 100: the change from block to block, root mean square, DRQN's minus DDQN's"
            ),
            stabler,
            "{:+.3f}",
            trainings=_BOTH,
            why=_OTHER_SETTINGS,
        ),
        check(
            "face-up",
            "Background, Cribbage, after Kelly (2017)",
            "combinations of a hand with all cards face up",
            number("129600", 129_600),
            "discards of both players, and the orders of their four cards",
            lambda effort: exact((15 * math.factorial(4)) ** 2),
        ),
        check(
            "opposing-hands",
            "Conclusion, SO-ISMCTS",
            "hands that the opponent may hold at the start of the play: 4 of 37 cards",
            number("101270", 101_270),
            "fours of 37 cards",
            lambda effort: exact(math.comb(37, 4), "exact", "fours of 41 are 101,270, of 45 unseen cards 148,995"),
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
