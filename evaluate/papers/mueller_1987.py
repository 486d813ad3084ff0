"""Mueller (1987), "Halscrib".

Its results are games against people, which cannot be repeated here. What can be measured is its arithmetic, how often
its program mixes, and its strength against the other players.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from crib_env import PlayerViews, score_play
from crib_env.agents.halscrib.play import equilibrium
from crib_env.evaluate.matches.single_deals import play_deals
from crib_env.evaluate.papers.claims import Claim, Effort, Measured, Paper, above, check, exact, number, shown
from crib_env.evaluate.papers.measures import Measure, player, win_rate
from crib_env.evaluate.statistics import paired_rate_interval

_SELECTION = "Optimal Strategy Selection"
_TALLY = "Preliminary Results"
_RULES = "Elements and Rules of Cribbage"
# Pay-offs to the computer: it leads a pair or not (rows), the opponent pairs the lead or not.
TABLE_I = (4.0, -2.0, -2.0, 2.0)
TABLE_II = (0.40, -0.23, -0.25, 0.24)
BEFORE, AFTER = (20, 31), (72, 53)  # games won by the computer and by its opponents


def _difference(effort: Effort) -> Measured:
    """Newcombe's interval (1998, method 10) of the difference of two shares."""
    (p, low_p, high_p), (q, low_q, high_q) = (_share(*tally) for tally in (AFTER, BEFORE))
    value = p - q
    low = value - math.hypot(p - low_p, high_q - q)
    high = value + math.hypot(high_p - p, q - low_q)
    remark = f"{p:.1%} ({low_p:.1%} to {high_p:.1%}) after, {q:.1%} ({low_q:.1%} to {high_q:.1%}) before"
    return Measured(value, (low, high), "the paper's 51 and 125 games", remark)


def _share(won: int, lost: int) -> tuple[float, float, float]:
    games = np.repeat([1.0, 0.0], [won, lost])
    return float(games.mean()), *paired_rate_interval(games)


def _share_of(of: Callable[[PlayerViews, np.ndarray], np.ndarray]) -> Measure:
    """The mean of ``of`` (N,) over decisions and cards, in deals that two players play from 0–0."""

    def measure(effort: Effort) -> Measured:
        first, second = (player(f"halscrib:seed={effort.seed + k}", effort) for k in range(2))
        seen: list[np.ndarray] = []
        play_deals(
            first,
            second,
            effort.n,
            effort.seed,
            watch=lambda views, cards: seen.append(of(views, cards)),
            on_progress=effort.on_progress,
        )
        shares = np.concatenate(seen).astype(float)
        return Measured(float(shares.mean()), paired_rate_interval(shares), f"{len(shares):,} decisions")

    return measure


def _held(views: PlayerViews, ranks: np.ndarray) -> np.ndarray:
    """(B,) how many cards of each of ``ranks`` (B,) are held."""
    return ((views.hand >= 0) & (views.hand % 13 == ranks[:, None])).sum(axis=1)


def leads_from_pair(views: PlayerViews, cards: np.ndarray) -> np.ndarray:
    """For the first cards of the play among B decisions: whether each is led from a pair, bool."""
    leads = ~views.is_discard & (views.laid[:, 0] < 0)
    return _held(views[leads], cards[leads] % 13) > 1


def leads_from_pair_by_choice(views: PlayerViews, cards: np.ndarray) -> np.ndarray:
    """The same, for those leads only whose player holds both a pair and a card that is not of one."""
    leads = ~views.is_discard & (views.laid[:, 0] < 0)
    hands = views.hand[leads][:, :4] % 13
    alike = (hands[:, :, None] == hands[:, None, :]).sum(axis=2) > 1
    has_choice = alike.any(axis=1) & ~alike.all(axis=1)
    return leads_from_pair(views, cards)[has_choice]


def pairs_the_lead(views: PlayerViews, cards: np.ndarray) -> np.ndarray:
    """For the second cards of the play among B decisions: whether each pairs the first, bool."""
    answers = (views.laid[:, 0] >= 0) & (views.laid[:, 1] < 0)
    return cards[answers] % 13 == views.laid[answers, 0] % 13


def pairs_the_lead_by_choice(views: PlayerViews, cards: np.ndarray) -> np.ndarray:
    """The same, for those players only who hold such a card and another."""
    answers = (views.laid[:, 0] >= 0) & (views.laid[:, 1] < 0)
    mine = views[answers]
    held = _held(mine, mine.laid[:, 0] % 13)
    return pairs_the_lead(views, cards)[(held > 0) & (held < 4)]


def _equilibrium(key: str, table: str, what: str, printed: float, matrix: tuple[float, ...], column: bool) -> Claim:
    return check(
        key,
        f"{_SELECTION}, Table {table}",
        f"how often it is optimal {what}",
        number(f"{printed:.0%}".replace("%", " %"), printed, 0.01),
        "the equilibrium of the pay-off matrix",
        lambda effort: exact(equilibrium(*matrix)[column]),
        "{:.1%}",
    )


def _mixing(key: str, says: str, printed: str, of: Callable[[PlayerViews, np.ndarray], np.ndarray]) -> Claim:
    return Claim(
        key,
        _SELECTION,
        says,
        shown(printed),
        "deals from 0–0 between two `halscrib`, the optimal strategy",
        _share_of(of),
        "{:.1%}",
        (1_000, 20_000),
        3e-3,
        why="The program mixes only where a pair nets the most points. Many pairs do not, such as fives, or an answer "
        "that can be paired again.",
    )


def _stand_in(a: str, b: str, place: str, says: str, printed: str, full: int, each: float) -> Claim:
    return Claim(
        f"{a}-{b}".replace(":", "-").replace("=", "-"),
        place,
        says,
        shown(printed),
        f"`match {a} {b}`",
        win_rate(a, b),
        "{:.1%}",
        (200, full),
        each,
    )


def _scores(key: str, pile: str, says: str, points: int) -> Claim:
    return check(
        key,
        f"{_RULES}, Sequences",
        says,
        number(f"{points}", points),
        f"`score_play('{pile}')`",
        lambda effort: exact(score_play(pile)),
    )


PAPER = Paper(
    "mueller-1987",
    "Mueller (1987): Halscrib",
    (
        _equilibrium("table-1-lead", "I", "to lead a pair", 0.40, TABLE_I, column=False),
        _equilibrium("table-1-answer", "I", "to pair the first card", 0.40, TABLE_I, column=True),
        _equilibrium("table-2-lead", "II", "to lead a pair, by probable pay-offs", 0.44, TABLE_II, column=False),
        _equilibrium(
            "table-2-answer", "II", "to pair the first card, by probable pay-offs", 0.42, TABLE_II, column=True
        ),
        _mixing("leads", "leads from a pair, of all leads", "40 % (44 %), adjusted", leads_from_pair),
        _mixing(
            "leads-by-choice",
            "leads from a pair, of leads by a player who holds a pair and another card",
            "65 % where the pair nets most",
            leads_from_pair_by_choice,
        ),
        _mixing("answers", "pairs the first card, of all answers", "40 % (42 %), adjusted", pairs_the_lead),
        _mixing(
            "answers-by-choice",
            "pairs the first card, of answers by a player who can",
            "35 to 65 % where that nets most",
            pairs_the_lead_by_choice,
        ),
        check(
            "tally",
            _TALLY,
            "mixing raised the share of games won against people, from 20 of 51 to 72 of 125, and not by chance",
            above("it did", 0.0),
            "the difference of the two shares, with Newcombe's interval",
            _difference,
            "{:+.1%} points",
        ),
        _stand_in(
            "halscrib", "greedy", _TALLY, "games won against people; here against `greedy`", "72 of 125", 10_000, 1e-2
        ),
        _stand_in(
            "halscrib", "careful", _TALLY, "games won against people; here against `careful`", "72 of 125", 10_000, 1e-2
        ),
        _stand_in(
            "halscrib", "expert", _TALLY, "games won against people; here against `expert`", "72 of 125", 2_000, 0.2
        ),
        _stand_in(
            "halscrib:adaptive=yes",
            "halscrib",
            "Further Research",
            "a mixture that follows the opponent against the fixed one",
            "left to further research",
            10_000,
            2e-2,
        ),
        _scores("run-of-three", "3C 4C 2C", "in 3-4-2 the deuce makes a run of three", 3),
        _scores("run-of-four", "3C 4C 2C 5C", "in 3-4-2-5 the five makes a run of four", 4),
        _scores("run-of-five", "3C 4C 6C 2C 5C", "in 3-4-6-2 the five makes a run of five", 5),
        check(
            "no-run",
            f"{_RULES}, Sequences",
            "in 3-4-6-2 there is no run",
            number("0 for runs", 0),
            "`score_play('3C 4C 6C 2C')`, minus the two for fifteen",
            lambda effort: exact(score_play("3C 4C 6C 2C") - 2),
        ),
        check(
            "four-of-a-kind",
            f"{_RULES}, Pairs",
            "the highest rank of which four can be laid in one count",
            number("7", 7),
            "the count of 31",
            lambda effort: exact(31 // 4),
        ),
    ),
    (
        ("Preliminary Results, the tallies", "games against people; other players take their place here"),
        ("Preliminary Results, before the change", "`halscrib` has only the mixed play"),
        ("Elements and Rules, skunks double and double skunks quadruple a game", "house rules; here ACC match points"),
    ),
)
