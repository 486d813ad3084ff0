"""Pegging records: points that four kept cards gain and concede in the play, by the ranks kept, as pone and as dealer.

Suits do not matter in the play, so 1,820 hands of four ranks cover all (:mod:`crib_env.hands`).
For each class and role a record counts how often these cards gained each number of points, and how often they
conceded it; means, medians and distributions follow. Simulation fills the records (:func:`simulate_pegging`; Lang 2018,
section 3.1).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from crib_env.engine import (
    CRIB,
    DEAL_EPISODE,
    DEALERS_HAND,
    DISCARD,
    GAME,
    PLAY,
    PONE,
    PONES_HAND,
    ROLES,
    act,
    begin_deal,
    begin_game,
    random_word,
)
from crib_env.files.checked_file import Column, SavedArrays
from crib_env.hands import FOURS, N_FOURS
from crib_env.kernels import below, bit, kernel, streams
from crib_env.players.policies import NATIVE, native_card

GAINED, GIVEN = range(2)  # by the kept cards, and by the opponent's four
N_BINS = 61  # 0 … 60 points: each of four cards earns at most 12 for four of a kind, 2 for its count, 1 for go
VERSION = 2
_KIND = "file of pegging records"
_COLUMNS = {
    "policy": Column("U"),
    "against": Column("U"),
    "counts": Column("i", (len(ROLES), N_FOURS, 2, N_BINS)),
}
_BATCH = 200  # deals between two checks of the standard error


@dataclass(frozen=True)
class PeggingRecords(SavedArrays, kind=_KIND, version=VERSION, columns=_COLUMNS):
    """Points gained and conceded in the play by four kept cards, under a named pair of playing policies.

    Attributes:
        policy: the policy that plays the kept cards.
        against: the policy that discarded and plays the opponent's cards.
        counts: (2, 1820, 2, 61) int64, how often, by role (``ROLES``), hand, ``GAINED`` or ``GIVEN``, and
            points.

    Statistics have the first axes of ``counts``. They are NaN where they need more plays than are recorded.
    """

    policy: str
    against: str
    counts: np.ndarray = field(default_factory=lambda: np.zeros((len(ROLES), N_FOURS, 2, N_BINS), np.int64))

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
        return _standard_error(self.counts)

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


def _standard_error(counts: np.ndarray) -> np.ndarray:
    """Standard errors of the means of histograms (..., 61)."""
    n = counts.sum(axis=-1)
    squares = (counts * (np.arange(N_BINS) - _mean(counts)[..., None]) ** 2).sum(axis=-1)
    return np.sqrt(_divide(squares, n * (n - 1)))


@kernel
def _draw_cards(g, ranks):
    """Draws thirteen cards. Seat 0 will keep the first four, of these ranks in random suits; the others are random."""
    drawn = np.int64(0)
    for k in range(13):
        card = np.int64(-1)
        while card < 0 or (drawn >> card) & 1:
            card = ranks[k] + 13 * below(random_word(g), 4) if k < 4 else below(random_word(g), 52)
        drawn |= bit(card)
        g["cards"][k] = card


@kernel
def _play_deal(g, ranks, role, policy, against):
    """The points that seat 0 gains and gives in the play of one deal in which it keeps cards of these ranks."""
    begin_game(g, DEAL_EPISODE, 1 if role == PONE else 0, 0, 0, -1)
    _draw_cards(g, ranks)
    begin_deal(g)
    discarded = 4
    while g["phase"] == DISCARD:
        if g["turn"] == 0:
            act(g, np.int64(g["cards"][discarded]))
            discarded += 1
        else:
            act(g, native_card(g, against))
    gained, given = 0, 0  # counted from here, without his heels
    while g["phase"] == PLAY:
        act(g, native_card(g, policy if g["turn"] == 0 else against))
        for k in range(g["n_events"]):
            if g["event_kind"][k] not in (PONES_HAND, DEALERS_HAND, CRIB):  # the last card is followed by the show
                if g["event_player"][k] == 0:
                    gained += g["event_points"][k]
                else:
                    given += g["event_points"][k]
    return gained, given


@kernel
def _play_deals(games, ranks, role, policy, against, n, counts):
    """Adds ``n`` deals of the first game's stream to ``counts`` (2, 61)."""
    for _ in range(n):
        gained, given = _play_deal(games[0], ranks, role, policy, against)
        counts[GAINED, gained] += 1
        counts[GIVEN, given] += 1


def simulate_pegging(
    policy: str,
    against: str,
    *,
    standard_error: float,
    threads: int = 2,
    seed: int = 0,
    on_progress: Callable[[int], None] = lambda done: None,
) -> PeggingRecords:
    """Records of every hand in both roles, simulated until each mean is precise enough.

    The kept cards have random suits; two other random cards are discarded. The opponent discards two of six random
    unseen cards by its own policy. Every deal starts at 0–0.

    Args:
        policy: native policy (``crib_env.players.policies.NATIVE``) that plays the kept cards.
        against: native policy of the opponent.
        standard_error: the largest standard error allowed for any mean, gained or given, in points.
        seed: random seed of the deals; the result depends on it and not on ``threads``.
        on_progress: called with the number of records filled since the last call; there are 3,640 in all.

    Raises:
        ValueError: a policy is not native, or the standard error is not above 0.
    """
    for name in (policy, against):
        if name not in NATIVE:
            raise ValueError(f"{name!r} is not a native policy: choose one of {', '.join(NATIVE)}")
    if not standard_error > 0:
        raise ValueError(f"standard_error={standard_error} is not allowed: give more than 0")
    records = PeggingRecords(policy, against)
    first, second = NATIVE.index(policy), NATIVE.index(against)
    seeds = streams(seed, len(ROLES) * N_FOURS)

    def fill(record: int) -> None:
        role, hand = divmod(record, N_FOURS)
        counts = records.counts[role, hand]
        games = np.zeros(1, GAME)
        games["episode_stream"] = seeds[record]
        while not (_standard_error(counts) <= standard_error).all():
            _play_deals(games, FOURS[hand], role, first, second, _BATCH, counts)

    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(fill, range(len(seeds))):
            on_progress(1)
    return records
