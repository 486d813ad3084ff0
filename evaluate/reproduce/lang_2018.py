"""Lang (2018), "Policy Improvement in Cribbage".

The thesis gives numbers in its Tables 2, 3 and 4 and in its text; its figures are pictures of weights and of point
spreads. Rounds 1 and 2 are trained with s = 10 and s = 2, of which the text says only that one is a fifth of the other,
and that the experiments of section 4.2 begin with s = 2.
"""

from __future__ import annotations

import math
import time

import numpy as np

from agents.weights import WeightsAgent, starting_weights
from crib_env import crib_distribution, discard_statistics, score_show
from crib_env.batch import SOURCES
from crib_env.exact.deal_classes import N_CLASSES, N_DEALS, cards_of, class_sizes
from crib_env.exact.discard_means import STARTERS
from crib_env.exact.discard_statistics import N_DISCARDS, TOTALS, fill_totals
from crib_env.exact.lang_strategies import STRATEGIES
from crib_env.exact.rank_classes import CLASS_RANKS
from evaluate.match import play_match
from evaluate.reproduce.choices import chosen_by, pure_weights, read_choices, top_three
from evaluate.reproduce.claims import (
    Claim,
    Effort,
    Measured,
    Paper,
    Training,
    above,
    below,
    between,
    exact,
    mean_of,
    number,
    share,
    shown,
)
from evaluate.reproduce.lang_weights import (
    against_all_snapshots,
    against_snapshot,
    largest_spread,
    preferred,
    snapshots,
    useful_over_irrelevant,
    usual_spread,
)
from evaluate.reproduce.measures import RUN, Measure, play_deals, player, trained, win_rate
from evaluate.statistics import match_points, paired_rate_interval

RANDOM_WEIGHTS = "weights:random,seed=77"
_SIX = "5H 5C JD QS 2H 3D"
_PAPER = ("--preset", "paper")
_GAME = 7e-5  # seconds that a game of training takes
_MATCH = 6e-4  # and one between two of the players
_ROUND_1 = Training(
    "round-1",
    "weights",
    (*_PAPER, "--exploration-rate", "variance", "--explore-by", "values", "--scaling", "10"),
    (100_000, 1_000_000),
    _GAME,
)
_LOSERS = Training("round-2-losers", "weights", (*_PAPER, "--explore-by", "values"), (0, 1_000_000), _GAME)
_STATIC = Training(
    "round-2-static", "weights", (*_PAPER, "--explore-by", "values", "--opponent", "static"), (0, 350_000), _GAME
)


def _experiment(name: str, *flags: str) -> Training:
    return Training(name, "weights", (*_PAPER, *flags), (0, 500_000), _GAME)


# Table 2, game by game: the agent with random weights, and the trained one.
TABLE_2 = np.array(
    [(104, 121), (121, 114), (75, 121), (121, 118), (111, 121), (121, 99), (121, 87), (110, 121), (121, 64)]
)
# Table 3: games of 100 that the agent of one million games won against itself after so many tenths of them.
TABLE_3 = (41, 45, 53, 52, 59, 57, 48, 52, 44, 49)
# Table 4: in how many of 3,623 positions a strategy chose among people's one, two and three most common choices, and
# the last of them in percent.
TABLE_4 = {
    "pegging_min_avg_given": (160, 303, 458, 12.64),
    "pegging_max_med_gained": (268, 519, 796, 21.97),
    "pegging_max_avg_gained": (347, 650, 963, 26.58),
    "crib_min_avg": (380, 177, 1081, 29.84),
    "hand_max_min": (1576, 2288, 2666, 73.59),
    "Random": (1581, 2318, 2759, 76.15),
    "hand_max_med": (1649, 2353, 2768, 76.40),
    "Trained": (1706, 2426, 2821, 77.86),
    "hand_max_poss": (1677, 2433, 2847, 78.58),
    "hand_max_avg": (2066, 2828, 3168, 87.44),
}
POSITIONS = 3_623


# Counts, sizes and times.


def _combinations(effort: Effort) -> Measured:
    completions = crib_distribution(_SIX)[0, 0].sum()
    return exact(class_sizes().sum() * N_DISCARDS * (STARTERS + completions))


def _crib_completions(effort: Effort) -> Measured:
    return exact(crib_distribution(_SIX)[0, 0].sum())


def _table_seconds(effort: Effort) -> Measured:
    rows = np.random.default_rng(effort.seed).choice(N_CLASSES, effort.n, replace=False)
    hands, totals = cards_of(rows), np.zeros((effort.n, N_DISCARDS), TOTALS)
    fill_totals(hands[:1], totals[:1])  # compiles
    started = time.perf_counter()
    fill_totals(hands, totals)
    seconds = (time.perf_counter() - started) * N_CLASSES / effort.n
    return exact(seconds, f"{effort.n:,} of {N_CLASSES:,} classes of deals, scaled, one core")


def _table_gigabytes(effort: Effort) -> Measured:
    return exact(N_CLASSES * N_DISCARDS * TOTALS.itemsize / 1e9, f"exact, {N_DEALS:,} deals in classes of suits")


def _decision_milliseconds(effort: Effort) -> Measured:
    discard_statistics(_SIX)  # compiles
    started = time.perf_counter()
    for _ in range(effort.n):
        discard_statistics(_SIX)
    return exact(1e3 * (time.perf_counter() - started) / effort.n, f"{effort.n:,} calls, without a database")


def _games_a_second(effort: Effort) -> Measured:
    one, other = (WeightsAgent(starting_weights("random", seed)) for seed in (1, 2))
    play_match(one, other, 2, effort.seed)  # compiles
    started = time.perf_counter()
    play_match(one, other, effort.n, effort.seed, on_progress=effort.on_progress)
    return exact(effort.n / (time.perf_counter() - started), f"{effort.n:,} games side by side")


def _classes_unseen(effort: Effort) -> Measured:
    counts = np.stack([np.bincount(ranks, minlength=13) for ranks in CLASS_RANKS])
    ways = np.array([math.comb(4, k) for k in range(5)])[counts].prod(axis=1)
    unseen = (1 - ways / ways.sum()) ** 100_000
    remark = f"and {(1 - 1 / ways.sum()) ** 100_000:.0%} of the {ways.sum():,} fours of cards, suits told apart"
    return exact(unseen.sum(), f"expected, of {len(ways):,} fours of ranks", remark)


def _least_exploration(effort: Effort) -> Measured:
    one_alone = np.eye(len(STRATEGIES))[0]
    remark = f"with n in the denominator it would be {0.3 - np.var(one_alone):.1%}"
    return exact(0.3 - np.var(one_alone, ddof=1), "exact", remark)


# What the tables say of themselves.


def _table_2_points(effort: Effort) -> Measured:
    points = match_points(TABLE_2).sum(axis=0)
    return exact(points[0] - points[1], "9 games", f"{points[0]} to {points[1]}")


def _table_2_spread(effort: Effort) -> Measured:
    return exact((TABLE_2[:, 0] - TABLE_2[:, 1]).sum(), "9 games")


def _table_4_misprints(effort: Effort) -> Measured:
    wrong = [
        name for name, (_, _, third, percent) in TABLE_4.items() if abs(100 * third / POSITIONS - percent) > 0.0051
    ]
    falls = [name for name, (first, second, third, _) in TABLE_4.items() if not first <= second <= third]
    return exact(len(wrong) + len(falls), "exact", f"Top 2 below Top 1: {', '.join(falls) or 'none'}")


# Play.


def _dealers_advantage(effort: Effort) -> Measured:
    careful = player("careful", effort)
    tally = play_deals(careful, careful, effort.n, effort.seed, on_progress=effort.on_progress)
    by_role = tally[::2].sum(axis=1)  # both games of a pair are one
    net = by_role[:, 1] - by_role[:, 0]
    in_the_show = net[:, SOURCES.index("hand")] + net[:, SOURCES.index("crib")]
    return mean_of(in_the_show, f"{effort.n:,} deals", f"{net.sum(axis=1).mean():.2f} with heels and the play")


def _as_people_do(row: str) -> Measure:
    def measure(effort: Effort) -> Measured:
        assert effort.choices is not None
        choices = read_choices(effort.choices)
        if row == "Random":
            candidates = [starting_weights("random", effort.seed + k) for k in range(5)]
        else:
            candidates = [snapshots(trained(effort))[-1].weights if row == "Trained" else pure_weights(row)]
        tops = max((top_three(chosen_by(w, choices), choices) for w in candidates), key=lambda top: top[:, 2].sum())
        first, second, third = tops.sum(axis=0)
        interval = paired_rate_interval(tops[:, 2].astype(float))
        remark = f"top 1: {first}, top 2: {second}, top 3: {third}; {effort.choices.name}"
        return Measured(third / len(tops), interval, f"{len(tops):,} positions", remark)

    return measure


def _table_4(row: str) -> Claim:
    percent = TABLE_4[row][3]
    return Claim(
        f"table-4-{row}",
        "4.2, Table 4",
        f"{row} chooses among people's three most common discards",
        share(f"{percent:.2f} %", percent / 100, 1e-4, POSITIONS),
        "the discards in the file of choices",
        _as_people_do(row),
        "{:.2%}",
        training=_ROUND_1 if row == "Trained" else None,
        of_choices=True,
        why="Other positions and other people: the thesis's are records of dailycribbagehand.org that are not public.",
    )


def _table_3(tenths: int) -> Claim:
    wins = TABLE_3[tenths]
    return Claim(
        f"table-3-{tenths}",
        "4.1, Table 3",
        f"the trained agent against itself after {tenths} tenths of its games",
        share(f"{wins} of 100", wins / 100, 0, 100),
        "a match between weights of one run",
        against_snapshot(tenths),
        "{:.1%}",
        (1_000, 10_000),
        _MATCH,
        _ROUND_1,
    )


def _cap(cap: str) -> Claim:
    better = cap == "0.80"
    return Claim(
        f"figure-21-{cap}",
        "4.2, Regularization, Figure 21",
        f"with weights held below {cap} the trained agent is {'better' if better else 'consistently worse'} than random"
        " weights",
        above("better", 0.5) if better else below("worse", 0.5),
        "a match of its final weights against those it started with",
        against_snapshot(0),
        "{:.1%}",
        (0, 10_000),
        _MATCH,
        _experiment(f"cap-{cap}", "--cap", cap),
    )


def _figure_3(key: str, says: str, strategy: str, low: int, high: int) -> Claim:
    return Claim(
        f"figure-3-{key}",
        "4.1, Figure 3",
        says,
        above("preferred", 0.0),
        _OVER_THE_BOARD,
        preferred(strategy, low, high),
        "{:+.1%}",
        training=_ROUND_1,
        why=_ADVOCATES,
    )


def _blank(key: str, place: str, says: str, *flags: str) -> Claim:
    return Claim(
        key,
        f"4.2, {place}",
        says,
        shown("blank" if place != "Neighboring Weights" else "pictures of weights"),
        f"a match of the trained weights against `{RANDOM_WEIGHTS}`",
        win_rate(RUN, RANDOM_WEIGHTS),
        "{:.1%}",
        (0, 10_000),
        _MATCH,
        _experiment(key, *flags),
    )


_ADVOCATES = (
    "Where the player leads most games are won, whatever it threw, so that weight goes to the strategies that answer "
    "for most discards. Which those are hangs on how many answer for one, which the thesis does not say (here three, "
    "and all that want it as much as the third), and on its pegging records, of 100,000 hands."
)
_OVER_THE_BOARD = "the strategy of the highest weight at each place of the board, as dealer"

PAPER = Paper(
    "lang-2018",
    "Lang (2018): policy improvement in cribbage",
    (
        Claim(
            "martin-dealer",
            "2.2, after Martin (2000)",
            "what the first dealer gains by its crib",
            between("about 5 points (read as 4.5 to 5.5)", 4.5, 5.5),
            "hands and crib in single deals between two `careful` players, as Martin leaves the play out",
            _dealers_advantage,
            samples=(10_000, 200_000),
            each=1e-4,
            why="Martin's discards are others, and the thesis gives his figure without a second digit.",
        ),
        Claim(
            "footnote-4-hand",
            "3.1, footnote 4",
            "5C 5H 5S JD with 5D cut",
            number("29", 29),
            "`score_show`",
            lambda effort: exact(score_show("5C 5H 5S JD", "5D")),
            "{:.0f}",
        ),
        Claim(
            "footnote-4-cut",
            "3.1, footnote 4",
            "5C 5H 5S 5D with JD cut",
            number("28", 28),
            "`score_show`",
            lambda effort: exact(score_show("5C 5H 5S 5D", "JD")),
            "{:.0f}",
        ),
        Claim(
            "crib-completions",
            "3.1",
            "ways to fill a crib and cut a starter",
            number("45540", 45_540),
            "the sum of `crib_distribution`",
            _crib_completions,
            "{:,.0f}",
        ),
        Claim(
            "combinations",
            "3.1",
            "combinations to be evaluated for every discard of every deal",
            number("1.3921 × 10¹³", 1.3921e13, 1e9),
            "deals in all classes, times 15 discards, times starters and completions of the crib",
            _combinations,
            "{:,.0f}",
        ),
        Claim(
            "table-time",
            "3.1",
            "time to compute them all",
            shown("5 and a half days on a server, in C"),
            "exact statistics of classes of deals, scaled to all of them",
            _table_seconds,
            "{:,.1f} s",
            (20_000, 200_000),
            1e-5,
        ),
        Claim(
            "table-size",
            "5.1",
            "size of the database",
            shown("around 20 GB"),
            "the size of the file that `discard-table` writes",
            _table_gigabytes,
            "{:.3f} GB",
        ),
        Claim(
            "decision-time",
            "5.1",
            "time of one decision",
            shown("about 10 s; 0.05 s with the database"),
            "`discard_statistics` of one hand",
            _decision_milliseconds,
            "{:.3f} ms",
            (1_000, 10_000),
            2e-5,
        ),
        Claim(
            "games-a-second",
            "5.1",
            "games of two learners",
            shown("2 a second"),
            "a match between two of Lang's players with random weights, on one thread",
            _games_a_second,
            "{:,.0f} a second",
            (1_000, 10_000),
            _MATCH,
        ),
        Claim(
            "pegging-records",
            "5.1, Performance Evaluation",
            "roughly 100,000 random hands leave pegging records without some combinations",
            above("some are missing", 0.5),
            "chances of the fours of ranks, for 100,000 hands in a role",
            _classes_unseen,
            "{:.1f} fours of ranks",
        ),
        Claim(
            "least-exploration",
            "4.1, Applications for Round 2",
            "the exploration rate 0.3 - Var(w) falls to so much where one strategy has all the weight",
            number("18 %", 0.18, 0.01),
            "the variance of one 1 and seven 0, with n - 1 in the denominator",
            _least_exploration,
            "{:.1%}",
        ),
        Claim(
            "table-2-score",
            "4.1, Table 2",
            "match points of random over trained weights in nine games (12 to 9)",
            number("3", 3),
            "ACC match points of the nine scores printed",
            _table_2_points,
            "{:.0f}",
        ),
        Claim(
            "table-2-spread",
            "4.1, Table 2",
            "point spread of random over trained weights in nine games",
            number("+39", 39),
            "the nine scores printed",
            _table_2_spread,
            "{:+.0f}",
        ),
        Claim(
            "table-2",
            "4.1, Table 2",
            "games that the agent of one million games wins of random weights",
            share("4 of 9", 4 / 9, 0, 9),
            f"a match against `{RANDOM_WEIGHTS}`",
            win_rate(RUN, RANDOM_WEIGHTS),
            "{:.1%}",
            (1_000, 10_000),
            _MATCH,
            _ROUND_1,
        ),
        Claim(
            "table-2-loses",
            "4.1, Performance",
            "the trained agent is no better than random weights",
            below("it lost", 0.5),
            "the same match",
            win_rate(RUN, RANDOM_WEIGHTS),
            "{:.1%}",
            (1_000, 10_000),
            _MATCH,
            _ROUND_1,
        ),
        *(_table_3(tenths) for tenths in range(10)),
        Claim(
            "table-3-together",
            "4.1, Table 3",
            "the trained agent against all ten of its earlier selves",
            share("500 of 1000", 0.5, 0, 1000),
            "matches against ten snapshots; the interval is of the spread between them",
            against_all_snapshots,
            "{:.1%}",
            (2_000, 20_000),
            _MATCH,
            _ROUND_1,
        ),
        _figure_3("lead", "hand_max_min is preferred by a dealer who leads by roughly 2 to 25", "hand_max_min", 2, 25),
        _figure_3(
            "close",
            "hand_max_avg is preferred where the game is extremely close (read as -1 to 1)",
            "hand_max_avg",
            -1,
            1,
        ),
        _figure_3(
            "far",
            "hand_max_avg is preferred by a dealer who is well in the lead (read as 26 and more)",
            "hand_max_avg",
            26,
            120,
        ),
        Claim(
            "useful-strategies",
            "5.2",
            "training removes irrelevant strategies (hand_max_med, pegging_max_med_gained) and emphasises useful ones "
            "(hand_max_avg, hand_max_min)",
            above("it does", 0.0),
            "mean weights of the two kinds over the board, as dealer",
            useful_over_irrelevant,
            "{:+.3f}",
            training=_ROUND_1,
            why=_ADVOCATES,
        ),
        Claim(
            "figure-8",
            "4.1, Round 2, Figures 8 and 11",
            "an agent trained against one of fixed random weights does not play better than random",
            between("on par (read as 48 to 52 %)", 0.48, 0.52),
            f"a match against `{RANDOM_WEIGHTS}`",
            win_rate(RUN, RANDOM_WEIGHTS),
            "{:.1%}",
            (0, 10_000),
            _MATCH,
            _STATIC,
        ),
        Claim(
            "figure-15d-random",
            "4.1, Figure 15d",
            "over 10,000 games random weights are consistently better than the trained agent",
            below("better", 0.5),
            "a match of its final weights against those it started with",
            against_snapshot(0),
            "{:.1%}",
            (0, 10_000),
            _MATCH,
            _LOSERS,
        ),
        Claim(
            "figure-15d-largest",
            "4.1, Figure 15d",
            "largest spread of 10,000 games against a checkpoint, in points a game",
            between("a shade above 1 (read as 1 to 1.1)", 1.0, 1.1),
            "series of the final weights against ten snapshots",
            largest_spread,
            samples=(0, 100_000),
            each=_MATCH,
            training=_LOSERS,
        ),
        Claim(
            "figure-15d-usual",
            "4.1, Figure 15d",
            "spread that is most often seen, in points a game",
            number("0.2", 0.2, 0.1),
            "the median of the same",
            usual_spread,
            samples=(0, 100_000),
            each=_MATCH,
            training=_LOSERS,
        ),
        *(_cap(cap) for cap in ("0.50", "0.60", "0.70", "0.80")),
        _blank("neighbours", "Neighboring Weights", "half of the weight to the neighbours", "--neighbours", "0.5"),
        _blank("start", "Starting Points", "training from hand_max_avg", "--start", "hand_max_avg"),
        _blank("forgiveness", "Forgiving Punishments", "losses count a quarter", "--forgiveness", "0.25"),
        _blank("learning-rate", "Learning Rate Adjustment", "a fifth of the learning rate", "--scaling", "0.4"),
        _blank("decay", "Rate of Decay", "a decay of 50 %", "--decay", "0.5"),
        Claim(
            "table-4-misprints",
            "4.2, Table 4",
            "rows whose percentage is not the last count of 3,623, or whose Top 2 is below its Top 1",
            number("0", 0),
            "the counts printed",
            _table_4_misprints,
            "{:.0f}",
            why="A misprint: what is among the two most common is also counted among one, and 177 is less than 380.",
        ),
        *(_table_4(row) for row in TABLE_4),
    ),
    (
        (
            "Figures 2 to 4, 9 to 14 and 16 to 20",
            "pictures of weights; runs of the learner draw theirs, `strategies.png`",
        ),
        ("Figures 5 to 7 and 15a to 15c", "point spreads as pictures; `lang-tournament RUN` prints those of a run"),
        (
            "4.1, 32 agents and their brackets",
            "one pair is trained here; `train weights --rounds 5` plays all brackets",
        ),
        ("4.1, text on Table 2", "it calls game 3 a spectacular loss of the trained agent, which won it 121 to 75"),
        ("2.2, Kendall and Shaw (2002)", "quoted, and their opponent is a commercial program"),
    ),
)
