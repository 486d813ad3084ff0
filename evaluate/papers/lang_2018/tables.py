"""Tables 2, 3 and 4 of Lang (2018): whether they are consistent, and the same matches and choices here."""

from __future__ import annotations

import numpy as np

from crib_env.agents.strategy_weights import starting_weights
from crib_env.evaluate.papers.choices import chosen_by, pure_weights, read_choices, top_three
from crib_env.evaluate.papers.claims import Claim, Effort, Measured, below, check, exact, number, share, spread
from crib_env.evaluate.papers.lang_2018.strategy_weights import (
    LOSERS,
    RANDOM_WEIGHTS,
    ROUND_1,
    SECONDS_A_GAME,
    points_against_all_snapshots,
    points_against_snapshot,
    snapshots,
    wins_against_all_snapshots,
    wins_against_snapshot,
)
from crib_env.evaluate.papers.measures import RUN, Measure, trained, win_rate
from crib_env.evaluate.statistics import match_points, paired_rate_interval

# Table 2, game by game: the agent with random weights, and the trained one.
TABLE_2 = np.array(
    [(104, 121), (121, 114), (75, 121), (121, 118), (111, 121), (121, 99), (121, 87), (110, 121), (121, 64)]
)
# Table 3: games that the agent of one million games won of 100 against itself after each tenth of them, and its net
# points. (The table prints the points from the other side: +523, +200, -27 …)
TABLE_3 = (
    (41, -523),
    (45, -200),
    (53, 27),
    (52, 180),
    (59, 510),
    (57, 386),
    (48, -370),
    (52, 174),
    (44, -239),
    (49, 82),
)
# Table 3: match points of the earlier agent and of the trained one.
TABLE_3_SCORES = np.array(
    [
        (126, 86),
        (122, 104),
        (108, 118),
        (105, 116),
        (87, 133),
        (97, 129),
        (117, 98),
        (107, 115),
        (124, 96),
        (111, 111),
    ]
)
# Table 4: the number of 3,623 positions in which a strategy chose among people's one, two and three most common
# choices, and the last number in percent.
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
# Standard deviation of the net points of one game between two agents of this thesis, as they play here.
NET_POINTS_DEVIATION = 21.0
_EARLIER = (
    "before its training",
    "after a tenth of its training",
    "after two tenths of its training",
    "after three tenths of its training",
    "after four tenths of its training",
    "after half of its training",
    "after six tenths of its training",
    "after seven tenths of its training",
    "after eight tenths of its training",
    "after nine tenths of its training",
)
_TOPS = ("most common discard", "two most common discards", "three most common discards")


def _table_2_points(effort: Effort) -> Measured:
    points = match_points(TABLE_2).sum(axis=0)
    return exact(points[0] - points[1], "9 games", f"{points[0]} to {points[1]}")


def _table_2_spread(effort: Effort) -> Measured:
    return exact((TABLE_2[:, 0] - TABLE_2[:, 1]).sum(), "9 games")


def _table_3_misprints(effort: Effort) -> Measured:
    """A win is worth two match points, or three: games won give a range for the score."""
    won = np.array([(100 - wins, wins) for wins, _ in TABLE_3])
    wrong = (2 * won > TABLE_3_SCORES) | (3 * won < TABLE_3_SCORES)
    skunks = (TABLE_3_SCORES - 2 * won).sum()
    return exact(wrong.any(axis=1).sum(), "10 rows", f"{skunks} of the 1,000 games were skunks")


def _table_4_misprints(effort: Effort) -> Measured:
    wrong = [
        name for name, (_, _, third, percent) in TABLE_4.items() if abs(100 * third / POSITIONS - percent) > 0.0051
    ]
    falls = [name for name, (first, second, third, _) in TABLE_4.items() if not first <= second <= third]
    return exact(len(wrong) + len(falls), "10 rows", f"Top 2 below Top 1: {', '.join(falls) or 'none'}")


def _table_3_wins(tenths: int) -> Claim:
    wins, _ = TABLE_3[tenths]
    return Claim(
        f"table-3-{tenths}",
        "4.1, Table 3",
        f"games that the trained agent wins against itself {_EARLIER[tenths]}",
        share(f"{wins} of 100", wins / 100, 0, 100),
        "a match between the final weights of a run and earlier ones",
        wins_against_snapshot(tenths),
        "{:.1%}",
        (1_000, 10_000),
        SECONDS_A_GAME,
        (ROUND_1,),
    )


def _table_3_spread(tenths: int) -> Claim:
    _, points = TABLE_3[tenths]
    return Claim(
        f"table-3-spread-{tenths}",
        "4.1, Table 3",
        f"net points a game of the trained agent against itself {_EARLIER[tenths]}",
        spread(f"{points:+d} in 100 games", points / 100, 100, NET_POINTS_DEVIATION),
        "a match between the final weights of a run and earlier ones",
        points_against_snapshot(tenths),
        "{:+.2f}",
        (1_000, 10_000),
        SECONDS_A_GAME,
        (ROUND_1,),
        why="Ours is another training. And of twenty such intervals one misses by chance.",
    )


def _as_people_do(row: str, top: int) -> Measure:
    def measure(effort: Effort) -> Measured:
        assert effort.choices is not None
        choices = read_choices(effort.choices)
        if row == "Random":
            candidates = [starting_weights("random", effort.seed + k) for k in range(5)]
        else:
            candidates = [snapshots(trained(effort))[-1].weights if row == "Trained" else pure_weights(row)]
        tops = max((top_three(chosen_by(w, choices), choices) for w in candidates), key=lambda top: top[:, 2].sum())
        agrees = tops[:, top - 1]
        sample = f"{len(tops):,} positions of {effort.choices.name}"
        return Measured(float(agrees.mean()), paired_rate_interval(agrees.astype(float)), sample)

    return measure


def _table_4(row: str, top: int) -> Claim:
    count = TABLE_4[row][top - 1]
    return Claim(
        f"table-4-{row}" if top == 3 else f"table-4-{row}-top-{top}",
        "4.2, Table 4",
        f"{row} chooses people's {_TOPS[0]}" if top == 1 else f"{row} chooses among people's {_TOPS[top - 1]}",
        share(f"{count:,} of {POSITIONS:,} ({count / POSITIONS:.2%})", count / POSITIONS, 0, POSITIONS),
        "the discards in the file of choices",
        _as_people_do(row, top),
        "{:.2%}",
        trainings=(LOSERS,) if row == "Trained" else (),
        of_choices=True,
        why="Positions and people differ: the thesis uses records of dailycribbagehand.org that are not public.",
    )


TABLES_2_AND_3 = (
    check(
        "table-2-score",
        "4.1, Table 2",
        "match points of random over trained weights in nine games (12 to 9)",
        number("3", 3),
        "ACC match points of the nine scores printed",
        _table_2_points,
    ),
    check(
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
        "games that the agent of one million games wins against random weights",
        share("4 of 9", 4 / 9, 0, 9),
        f"a match against `{RANDOM_WEIGHTS}`",
        win_rate(RUN, RANDOM_WEIGHTS),
        "{:.1%}",
        (1_000, 10_000),
        SECONDS_A_GAME,
        (ROUND_1,),
    ),
    Claim(
        "table-2-loses",
        "4.1, Performance",
        "the trained agent is no better than random weights",
        below("it lost", 0.5),
        f"a match against `{RANDOM_WEIGHTS}`",
        win_rate(RUN, RANDOM_WEIGHTS),
        "{:.1%}",
        (1_000, 10_000),
        SECONDS_A_GAME,
        (ROUND_1,),
    ),
    check(
        "table-3-misprints",
        "4.1, Table 3",
        "rows whose match points do not fit the games won",
        number("0", 0),
        "two or three match points for each game won",
        _table_3_misprints,
    ),
    *(_table_3_wins(tenths) for tenths in range(len(TABLE_3))),
    Claim(
        "table-3-together",
        "4.1, Table 3",
        "games that the trained agent wins against all ten of its earlier selves",
        share("500 of 1,000", 0.5, 0, 1000),
        "matches against ten snapshots; the interval is of the spread between them",
        wins_against_all_snapshots,
        "{:.1%}",
        (2_000, 20_000),
        SECONDS_A_GAME,
        (ROUND_1,),
    ),
    *(_table_3_spread(tenths) for tenths in range(len(TABLE_3))),
    Claim(
        "table-3-spread-together",
        "4.1, Table 3",
        "net points a game of the trained agent against all ten of its earlier selves",
        spread("+27 in 1,000 games", 0.027, 1000, NET_POINTS_DEVIATION),
        "matches against ten snapshots; the interval is of the spread between them",
        points_against_all_snapshots,
        "{:+.2f}",
        (2_000, 20_000),
        SECONDS_A_GAME,
        (ROUND_1,),
    ),
)
TABLE_4_CLAIMS = (
    check(
        "table-4-misprints",
        "4.2, Table 4",
        "rows whose percentage is not the last count of 3,623, or whose Top 2 is below its Top 1",
        number("0", 0),
        "the counts printed",
        _table_4_misprints,
        why="A misprint: every most common discard is also among the two most common, but 177 is less than 380.",
    ),
    *(_table_4(row, top) for row in TABLE_4 for top in (1, 2, 3)),
)
