"""The tables that ship with this package: cribs, pegging records, the win table, leads, whole deals.

They are files of ``crib_env/tables/data``, made by :mod:`crib_env.evaluate.makers`; CONTRIBUTING.md has the commands.
Each is read once, when it is first asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from crib_env.engine import ROLES, WIN
from crib_env.exact.discard_statistics import N_POINTS
from crib_env.files.checked_file import Column, SavedArrays
from crib_env.hands import N_FOURS, N_RANKS
from crib_env.solver.deal.kinds import N_CHOICES, Choices, discard_totals
from crib_env.tables.deal_chances import ENDINGS, MATCH_POINTS

_DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class CribTables(SavedArrays, kind="file of crib tables", version=3):
    """Mean crib points by ranks discarded, when both players discard by hand and crib.

    Symmetric (13, 13) arrays by role (``crib_env.engine.ROLES``); :mod:`crib_env.evaluate.makers.cribs` solves them.

    Attributes:
        mean: (2, 13, 13) mean points of the crib when this player has discarded these two ranks.
        error: (2, 13, 13) standard errors.
        share: (2, 13, 13) how often the pair is discarded, over all deals; each player's upper triangle adds up to 1.
            Where it is 0, the pair is never discarded, ``error`` is NaN, and ``mean`` is over the hands that hold it.
        change: how far the mean of any pair that is discarded changed in the last round; near 0 at the fixed point.
        against_random: (13, 13) exact mean of the crib by ranks discarded, against uniformly random opposing discards.
        kept: (2, 1820) how often each hand of four ranks is kept; each player's row adds up to 1.
        hand_points: (2, 30) how often the kept four show 0 … 29 points; each player's row adds up to 1.
    """

    mean: Annotated[np.ndarray, Column("f", (2, 13, 13))]
    error: Annotated[np.ndarray, Column("f", (2, 13, 13), has_gaps=True)]
    share: Annotated[np.ndarray, Column("f", (2, 13, 13))]
    change: Annotated[float, Column("f")]
    against_random: Annotated[np.ndarray, Column("f", (13, 13))]
    kept: Annotated[np.ndarray, Column("f", (2, N_FOURS))]
    hand_points: Annotated[np.ndarray, Column("f", (2, N_POINTS))]


GAINED, GIVEN = range(2)  # by the kept cards, and by the opponent's four
N_BINS = 61  # 0 … 60 points: each of four cards earns at most 12 for four of a kind, 2 for its count, 1 for go
_COUNTED = (len(ROLES), N_FOURS, 2, N_BINS)


@dataclass(frozen=True)
class PeggingRecords(SavedArrays, kind="file of pegging records", version=2):
    """Points that four kept cards gain and concede in the play, by their ranks, under a named pair of playing policies.

    Suits do not matter in the play, so 1,820 hands of four ranks cover all (:mod:`crib_env.hands`).
    :mod:`crib_env.evaluate.makers.pegging` simulates the records (Lang 2018, section 3.1).

    Attributes:
        policy: the policy that plays the kept cards.
        against: the policy that discarded and plays the opponent's cards.
        counts: (2, 1820, 2, 61) int64, how often, by role (``ROLES``), hand, ``GAINED`` or ``GIVEN``, and
            points.

    Statistics have the first axes of ``counts``. They are NaN where they need more plays than are recorded.
    """

    policy: Annotated[str, Column("U")]
    against: Annotated[str, Column("U")]
    counts: Annotated[np.ndarray, Column("i", _COUNTED)] = field(default_factory=lambda: np.zeros(_COUNTED, np.int64))

    @property
    def n(self) -> np.ndarray:
        """(2, 1820) int64: how many plays are recorded, by role and hand."""
        return self.counts[..., GAINED, :].sum(axis=-1)

    @property
    def distribution(self) -> np.ndarray:
        """(2, 1820, 2, 61) share of plays with 0 … 60 points."""
        return _divide(self.counts, self.n[..., None, None])

    @property
    def mean(self) -> np.ndarray:
        """(2, 1820, 2) mean points."""
        return _mean(self.counts)

    @property
    def standard_error(self) -> np.ndarray:
        """(2, 1820, 2) standard error of :attr:`mean`, in points."""
        return standard_error(self.counts)

    @property
    def median(self) -> np.ndarray:
        """(2, 1820, 2) median points, halfway between the two in the middle of an even number of plays."""
        below_or_at = self.counts.cumsum(axis=-1)
        n = below_or_at[..., -1:]
        low, high = ((below_or_at <= middle).sum(axis=-1) for middle in ((n - 1) // 2, n // 2))
        return np.where(n[..., 0] > 0, (low + high) / 2, np.nan)


def _divide(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """NaN where the denominator is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return numerator / denominator


def _mean(counts: np.ndarray) -> np.ndarray:
    """Means of histograms (..., 61)."""
    return _divide(counts @ np.arange(N_BINS), counts.sum(axis=-1))


def standard_error(counts: np.ndarray) -> np.ndarray:
    """Standard errors of the means of histograms (..., 61)."""
    n = counts.sum(axis=-1)
    squares = (counts * (np.arange(N_BINS) - _mean(counts)[..., None]) ** 2).sum(axis=-1)
    return np.sqrt(_divide(squares, n * (n - 1)))


# The numbers below are constants of kernels.
LATE = 85
"""From this score of both players on, deals were played at each pair of scores."""
PARTS_OF_LATE_PLAY = 12
N_STYLES = 5
_ENDINGS = ("agent", "deals", "endings", "errors")  # fields of a win table that say how games end


@dataclass(frozen=True)
class WinTable(SavedArrays, kind="win table", version=4):
    """How a game ends from every pair of scores, before a deal, and how deals near the end differ from others.

    :mod:`crib_env.evaluate.makers.win_table` makes it.

    Attributes:
        agent: the name of the agent that played the sampled deals.
        deals: the number of sampled deals.
        endings: (121, 121, 6) float32, chances of ``ENDINGS`` by [dealer's score, pone's score].
        errors: (121, 121, 2) float32, standard errors of :attr:`win_probability` and of :attr:`match_points`.
        style_hands, style_cribs: (2, 5, 30) and (2, 5) by role: styles in which the *opponent* of a player in this role
            discards. Each adds this to the chances of the points that it shows, and to the mean of the crib, as they
            are at 0–0.
        styles: (2, 36, 36, 5) weights of the styles by role, own score and the opponent's from ``LATE`` on; they add up
            to 1, and some are negative. Elsewhere it is the first style, that of 0–0.
        late_hands, late_scores: (2, 1820, 12) by role and ranks kept, and (2, 36, 36, 12) by role, own score and the
            opponent's from ``LATE`` on. Their product over the last axis is what the play to the score adds to a
            player's chance to win, as it follows from points that are played for at 0–0.
        plays: (2, 1820, 2) float32, mean points gained and given in the play from 0–0 between two of the agent, by role
            and ranks kept; NaN where the records of the play say it (:class:`PeggingRecords`).
        play_errors: (2, 2) float32, their standard errors by role, in the mean over hands.
    """

    agent: Annotated[str, Column("U")]
    deals: Annotated[int, Column("i")]
    endings: Annotated[np.ndarray, Column("f", (WIN, WIN, len(ENDINGS)))]
    errors: Annotated[np.ndarray, Column("f", (WIN, WIN, 2))]
    style_hands: Annotated[np.ndarray, Column("f", (len(ROLES), N_STYLES, N_POINTS))]
    style_cribs: Annotated[np.ndarray, Column("f", (len(ROLES), N_STYLES))]
    styles: Annotated[np.ndarray, Column("f", (len(ROLES), WIN - LATE, WIN - LATE, N_STYLES))]
    late_hands: Annotated[np.ndarray, Column("f", (len(ROLES), N_FOURS, PARTS_OF_LATE_PLAY))]
    late_scores: Annotated[np.ndarray, Column("f", (len(ROLES), WIN - LATE, WIN - LATE, PARTS_OF_LATE_PLAY))]
    plays: Annotated[np.ndarray, Column("f", (len(ROLES), N_FOURS, 2), has_gaps=True)]
    play_errors: Annotated[np.ndarray, Column("f", (len(ROLES), 2))]

    @cached_property
    def win_probability(self) -> np.ndarray:
        """(121, 121) chance that the dealer wins."""
        return self.endings[..., :3].sum(axis=-1)

    @property
    def match_points(self) -> np.ndarray:
        """(121, 121) the dealer's expected ACC match points minus pone's."""
        return self.endings @ MATCH_POINTS

    @property
    def win_error(self) -> np.ndarray:
        """(121, 121) standard error of the chance that the dealer wins."""
        return self.errors[..., 0]


def as_from_nothing() -> dict[str, np.ndarray]:
    """Fields of a :class:`WinTable` that says nothing but how games end: late deals are as those from 0–0."""
    late = {name: column for name, column in WinTable.columns.items() if name not in _ENDINGS}
    found = {name: np.zeros(column.shape, np.float32) for name, column in late.items()}
    found["plays"][:], found["styles"][..., 0] = np.nan, 1.0
    return found


@dataclass(frozen=True)
class Leads(SavedArrays, kind="table of leads", version=1):
    """Pone's leads and the dealer's answers in equilibrium of the pegging game: how often each is laid, and its cost.

    The pegging game is the play alone: eight cards dealt at random, four each, no crib and no starter. Arrays are by
    hand of four ranks (:data:`crib_env.hands.HANDS`, lowest first). The value of a card is what its player earns net to
    the end of the play, by going on as well as possible against an opponent who plays the equilibrium.

    Chances and costs are in the order of the hand's cards. Cards of one rank are one choice and share its numbers.
    """

    lead_chance: Annotated[np.ndarray, Column("f", (N_FOURS, 4))]  # how often each rank is led
    lead_cost: Annotated[np.ndarray, Column("f", (N_FOURS, 4))]  # points lost by leading it, at least 0
    lead_value: Annotated[np.ndarray, Column("f", (N_FOURS,))]  # what pone earns net with the best lead
    led: Annotated[np.ndarray, Column("f", (N_RANKS, N_FOURS))]  # how likely pone leads a rank, given the dealer's hand
    answer_chance: Annotated[np.ndarray, Column("f", (N_RANKS, N_FOURS, 4))]  # by rank led, how often a rank answers
    answer_cost: Annotated[np.ndarray, Column("f", (N_RANKS, N_FOURS, 4))]  # points lost by it
    answer_value: Annotated[np.ndarray, Column("f", (N_RANKS, N_FOURS))]
    """What the dealer earns net with the best answer, after the points of the lead."""
    nash_conv: Annotated[Any, Column("f")]
    """Of the solution: bounds the error of each number of points, in the mean over hands."""


@dataclass(frozen=True)
class DealValues(SavedArrays, kind="table of whole deals", version=1):
    """What discards are worth in whole deals against a solution of them: the crib and the play after each choice.

    By role and choice (:class:`crib_env.solver.deal.kinds.Sixes`); ``crib-env solve deal`` writes it. The player
    that is valued best responds in the play, and remembers its own discards; the opponent follows the solution.
    """

    cribs: Annotated[np.ndarray, Column("f", (len(ROLES), N_CHOICES))]
    """(2, C) mean points of the crib, without what the suits of the player's own discards add."""
    play: Annotated[np.ndarray, Column("f", (len(ROLES), N_CHOICES))]
    """(2, C) net points of the play."""
    responses: Annotated[np.ndarray, Column("f", (len(ROLES),))]
    """(2,) what a best response in each role earns, net points a deal: the sum is the solution's NashConv."""

    def totals(self, role: int, deals: Choices) -> np.ndarray:
        """(N, 15) float32, what each discard of N deals of six cards is worth to a role: hand, crib and play."""
        return discard_totals(role, self.cribs[role], self.play[role], deals)


@cache
def standard_cribs() -> CribTables:
    """Cribs, kept hands and shown hands when both players discard by hand and crib."""
    return CribTables.load(_DATA / "cribs.npz")


@cache
def standard_pegging() -> PeggingRecords:
    """Points that every four kept cards gain and concede in the play between two ``careful`` players."""
    return PeggingRecords.load(_DATA / "pegging.npz")


@cache
def standard_win_table() -> WinTable:
    """How games end from every pair of scores between two ``best`` players, and how their late deals go."""
    return WinTable.load(_DATA / "win_table.npz")


@cache
def standard_leads() -> Leads:
    """The first card of each player in equilibrium of the pegging game."""
    return Leads.load(_DATA / "leads.npz")


@cache
def standard_deals() -> DealValues:
    """What discards are worth in whole deals against a solution of them."""
    return DealValues.load(_DATA / "deals.npz")
