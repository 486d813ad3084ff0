"""The luck of games: control variates for the first dealer, the cards and the starter (AIVAT, Burch et al. 2018).

Three things in a game are chance: the coin for the first deal, the twelve cards of each deal, and its starter. For
each there is a number, its luck, whose mean is zero given everything before it. Results minus all luck have the same
mean as results, and between equals vary much less.

**Why this is unbiased, whoever plays.** The luck of a chance event is a fixed function of the event and of everything
before it, minus the mean of this function over all outcomes that the event could have had:

* the coin: half of the difference between dealing first and not, with the sign of the outcome;
* the twelve cards: slope times (value of these cards - mean value over all deals). The value follows from the cards
  alone, by fixed discards and a fixed play (:mod:`crib_env.evaluate.skill.luck.usual_deal`); its mean over all deals is
  exact (:mod:`crib_env.evaluate.makers.luck`); the slope depends only on the scores before the deal;
* the starter: the expected result with the starter that was cut, for the cards actually kept and discarded and the
  scores before the deal, minus its mean over all forty cards that could have been cut, computed one by one.

The cards come from a shuffled pack, whatever the players do. The end of a game only decides whether there is a next
deal. No choice of a player counts as luck: only choices before the cut are used, and only for the luck of the cut. Bad
functions would leave more noise, but no bias.

**How much to subtract.** Luck as measured here is that of a game between equals. In a lopsided match a point decides
less. So each result loses the slope times its luck, with the slope of a regression of results on luck.

* The slope for each sample comes from the other samples only (cross-fitting; Avramidis and Wilson 1993). They are
  independent of this sample's luck, whose mean is zero, so slope times luck has mean zero too.
* The regression is a ridge regression, for small samples: it begins at 4p (1 − p), where p is the win rate of the other
  samples, as a small advantage changes the chance to win in proportion to p (1 − p), and between equals the slope is 1.
  It is 0 where every game was won, and there nothing is subtracted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np

from crib_env.cards import JACK
from crib_env.engine import DEALER, PONE, WIN
from crib_env.evaluate.skill.luck.usual_deal import PARTS, PLAYS, UNSEEN, new_scratch, usual_play, value_cards
from crib_env.evaluate.statistics import match_points
from crib_env.files.checked_file import Column, SavedArrays
from crib_env.kernels import kernel, mask_of
from crib_env.scoring import show_points
from crib_env.tables.deal_chances import MATCH_POINTS as ACC_POINTS
from crib_env.tables.deal_chances import ending_of, scores_after_show
from crib_env.tables.outlook import DiscardValues

LEAST_DEALS = 100
RESULTS = ("win rate", "net points", "match points")
"""The results of a game for one player: 1 for a win, net points, net ACC match points."""
WINS, NET_POINTS, MATCH_POINTS = range(3)
VERSION = 2
_KIND = "luck table"
_DATA = Path(__file__).parent / "data" / "luck.npz"


@dataclass(frozen=True)
class LuckTable(SavedArrays, kind=_KIND, version=VERSION):
    """Expected results and slopes by score, before a deal.

    Attributes:
        agent: the name of the agent that played the sampled deals.
        deals: the number of sampled deals.
        expected: (121, 121, 3) float32, the dealer's ``RESULTS`` by [dealer's score, pone's score].
        slopes: (121, 121, 3, 5) float16, the change of the dealer's results per point of each of ``PARTS``.
        means: (5,) the exact means of ``PARTS`` over all deals, in points.
        cribs, pegging: the values by which cards are discarded, see
        :class:`crib_env.tables.outlook.DiscardValues`.
    """

    agent: Annotated[str, Column("U")]
    deals: Annotated[int, Column("i")]
    expected: Annotated[np.ndarray, Column("f", (WIN, WIN, len(RESULTS)))]
    slopes: Annotated[np.ndarray, Column("f", (WIN, WIN, len(RESULTS), len(PARTS)))]
    means: Annotated[np.ndarray, Column("f", (len(PARTS),))]
    cribs: Annotated[np.ndarray, Column("f", (2, 13, 13))]
    pegging: Annotated[np.ndarray, Column("f", (2, 1820))]

    @property
    def discard_values(self) -> DiscardValues:
        """The values by which cards are discarded."""
        return DiscardValues(self.cribs, self.pegging)


@cache
def standard_luck_table() -> LuckTable:
    """The table that ships with the project; docs/benchmarks/players.md has the command that made it."""
    return LuckTable.load(_DATA)


@kernel
def result_after(dealer, pone, expected, out):
    """The dealer's expected ``RESULTS`` (3,) after a deal; then the other side deals, unless the game is over."""
    if dealer >= WIN or pone >= WIN:
        out[0] = 1.0 if dealer >= WIN else 0.0
        out[1], out[2] = dealer - pone, ACC_POINTS[ending_of(dealer, pone)]
    else:
        out[0] = 1.0 - expected[pone, dealer, 0]
        out[1], out[2] = -expected[pone, dealer, 1], -expected[pone, dealer, 2]


CHANCES = ("first deal", "cards", "starter")
"""The events of chance, in the order of the game."""
FIRST_DEAL, CARDS, STARTER = range(3)
_VARIANCES = np.array([0.25, 20.0**2, 2.0**2])
"""Of ``RESULTS`` of a game between equals, rounded."""
_BEGINNING = 2 * _VARIANCES
"""The weight of the first slope, as a sum of squares of luck. It does not follow from the luck of the match: else the
few pairs in which near copies of one player differ could set any slope."""


class Measure(NamedTuple):
    """The parts of a :class:`LuckTable` that the kernels need, in float64."""

    expected: np.ndarray
    slopes: np.ndarray
    means: np.ndarray
    values: DiscardValues

    @classmethod
    def of(cls, table: LuckTable) -> Measure:
        """The same numbers, as kernels read them."""
        return cls(table.expected.astype(float), table.slopes.astype(float), table.means, table.discard_values)


@kernel
def luck_of_cards(pones_six, dealers_six, dealer, pone, measure, scratch, out):
    """Fills ``out`` (3,) with the dealer's luck in twelve cards (masks) at these scores, by ``RESULTS``."""
    worth = np.empty(len(PARTS))
    value_cards(pones_six, dealers_six, measure.values, scratch, worth)
    for result in range(len(out)):
        out[result] = 0.0
        for part in range(len(worth)):
            out[result] += measure.slopes[dealer, pone, result, part] * (worth[part] - measure.means[part])


class Hands(NamedTuple):
    """The hands and the crib that are shown after the play, as masks."""

    pone: int
    dealer: int
    crib: int


@kernel
def result_with_starter(hands, starter, dealer, pone, plays, expected, out):
    """Fills ``out`` (3,) with the dealer's expected results once the starter is cut.

    Args:
        hands: see :class:`Hands`.
        starter: the card.
        dealer, pone: scores before the deal.
        plays: (``PLAYS``, 2) points of pone and dealer in plays that are equally likely.
        expected: (121, 121, 3) results by score, before a deal.
    """
    pones, dealers = show_points(hands.pone, starter, False), show_points(hands.dealer, starter, False)
    dealers += show_points(hands.crib, starter, True)
    heels = 2 if starter % 13 == JACK else 0
    one = np.empty(len(out))
    for result in range(len(out)):
        out[result] = 0.0
    for play in range(len(plays)):
        d, p = dealer + heels, np.int64(pone)
        if d < WIN:
            d, p = d + plays[play, DEALER], p + plays[play, PONE]
            if d >= WIN and p >= WIN:  # it is not known who was first: each, half the time
                d, p = (WIN, WIN - 1) if play % 2 else (WIN - 1, WIN)
            elif d < WIN and p < WIN:
                d, p = scores_after_show(d, p, dealers, pones)
        result_after(min(d, WIN), min(p, WIN), expected, one)
        for result in range(len(out)):
            out[result] += one[result] / len(plays)


@kernel
def luck_of_starter(hands, starter, dealer, pone, measure, scratch, out):
    """Fills ``out`` (3,) with the dealer's luck in the starter; arguments as for :func:`result_with_starter`."""
    seen = hands.pone | hands.dealer | hands.crib
    plays, one, mean = np.empty((PLAYS, 2), np.int64), np.empty(len(out)), np.zeros(len(out))
    usual_play(hands.pone, hands.dealer, scratch, plays)
    for card in range(52):
        if not (seen >> card) & 1:
            result_with_starter(hands, card, dealer, pone, plays, measure.expected, one)
            for result in range(len(out)):
                mean[result] += one[result] / UNSEEN
                if card == starter:
                    out[result] = one[result]
    for result in range(len(out)):
        out[result] -= mean[result]


@kernel
def _note(games, rows, known, measure, scratch, luck):
    """Adds the luck of the deals in which the starter has just been cut, to seat 0."""
    found = np.empty(luck.shape[2])
    for i in rows:
        g = games[i]
        dealer = np.int64(g["dealer"])
        pone = 1 - dealer
        if g["kept"][dealer] == 0 or g["n_laid"] > 0:
            continue
        before = np.int64(g["scores"][dealer])
        for k in range(g["n_events"]):  # his heels
            before -= g["event_points"][k]
        pones, dealers = mask_of(g["cards"][6 * pone : 6 * pone + 6]), mask_of(g["cards"][6 * dealer : 6 * dealer + 6])
        scores = before, np.int64(g["scores"][pone])
        sign = 1 if dealer == 0 else -1
        if g["n_deals"] > known[i]:
            luck_of_cards(pones, dealers, *scores, measure, scratch, found)
            for result in range(len(found)):
                luck[i, CARDS, result] += sign * found[result]
        crib, starter = g["discards"][0] | g["discards"][1], np.int64(g["cards"][12])
        hands = Hands(pones & ~crib, dealers & ~crib, crib)
        luck_of_starter(hands, starter, *scores, measure, scratch, found)
        for result in range(len(found)):
            luck[i, STARTER, result] += sign * found[result]


class LuckMeter:
    """Adds up the luck of games that run side by side.

    Args:
        games: (B,) records at the start of their first deal, or within one
            (:attr:`crib_env.batch.GameBatch.games`).
        by_coin: whether a fair coin chose the first dealer.
        known: deals already begun whose cards are no luck, as they were not drawn from a whole pack.
        measure: what results are worth, by default the table that ships with the project.

    Attributes:
        luck: (B, 3, 3) float64, the luck of seat 0 so far, by ``CHANCES`` and ``RESULTS``; seat 1 has the opposite.
    """

    def __init__(
        self, games: np.ndarray, by_coin: bool = True, known: np.ndarray | None = None, measure: Measure | None = None
    ) -> None:
        self._games = games
        self._known = np.zeros(len(games), np.int64) if known is None else known.astype(np.int64)
        self._measure = measure or Measure.of(standard_luck_table())
        self._scratch = new_scratch()
        self.luck = np.zeros((len(games), len(CHANCES), len(RESULTS)))
        if by_coin:
            own, other = games["scores"].T
            expected = self._measure.expected
            deals, not_deals = expected[own, other], -expected[other, own]
            not_deals[:, 0] += 1
            sign = np.where(games["dealer"] == 0, 0.5, -0.5)
            self.luck[:, FIRST_DEAL] = sign[:, None] * (deals - not_deals)

    def note(self, rows: np.ndarray) -> None:
        """Call it after each card that was discarded or laid in games ``rows``, (N,) int64."""
        _note(self._games, rows, self._known, self._measure, self._scratch, self.luck)


def results(scores: np.ndarray) -> np.ndarray:
    """``RESULTS`` (N, 3) of the first of two players in finished games, from the scores of both (N, 2)."""
    won, points = scores[:, 0] >= WIN, match_points(scores)
    return np.stack([won, scores[:, 0] - scores[:, 1], points[:, 0] - points[:, 1]], axis=1).astype(float)


def less_luck(results: np.ndarray, luck: np.ndarray, between_equals: bool = False) -> np.ndarray:
    """Results minus luck, (N, 3) float64; the mean of each is that of the result, whoever plays.

    Args:
        results: (N, 3) ``RESULTS`` of N independent samples, such as pairs of mirrored games.
        luck: (N, 3) the luck in each of them.
        between_equals: one player had both seats, so the regression begins at a slope of 1, whoever won.
    """
    others = max(len(results) - 1, 1)
    results_of_others, luck_of_others = (values.sum(axis=0) - values for values in (results, luck))
    squares, products = (
        (luck * values).sum(axis=0) - luck * values - luck_of_others * of_others / others
        for values, of_others in ((luck, luck_of_others), (results, results_of_others))
    )
    win_rates = results_of_others[:, [WINS]] / others
    first = 1.0 if between_equals else 4 * win_rates * (1 - win_rates)
    slopes = (products + _BEGINNING * first) / (squares + _BEGINNING)
    return results - slopes * luck
