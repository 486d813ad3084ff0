"""Cribs when both players discard by hand and crib: mean crib points by the ranks discarded, for pone and for dealer.

Each player discards the pair with the best exact mean of the hand, plus (dealer) or minus (pone) the table's mean
of a crib with these two ranks. The tables are the means that such play produces, so each depends on the other. The
solver updates them in turn, towards a fixed point, starting from random opposing discards. The pair discarded from
each six cards is exact, over all 20,358,520 deals. The opponent's hand is sampled, equally often for each pair of
ranks, and the crib is counted over all 40 remaining starters. So rare pairs are known as precisely as common ones.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from crib_env.evaluate.command_line import File
from crib_env.evaluate.console import advancing, console
from crib_env.evaluate.files import check_outputs
from crib_env.evaluate.makers import run
from crib_env.exact.deal_classes import N_CLASSES, N_DEALS, cards_of, class_sizes
from crib_env.exact.discard_means import COMPLETIONS, STARTERS, hand_total, show_total
from crib_env.exact.discard_statistics import N_DISCARDS, N_POINTS, PLACES, TOTALS, fill_totals, hand_counts
from crib_env.hands import HANDS, N_FOURS, PAIR_NUMBER, hand_of_mask
from crib_env.kernels import GOLDEN, below, bit, cards_in, kernel, mask_of, mix, popcount, streams
from crib_env.solver import in_stretches
from crib_env.tables.shipped import CribTables
from crib_env.values import Amount, Threads

SIGNS = (-1, 1)
"""By role: whether a point in the crib counts against the player or for it."""


@kernel
def _best_by_table(hand_totals, cards, table, sign):
    """The number of the discard with the best hand mean plus ``sign`` times the table's crib mean."""
    best, best_value = 0, -1e9
    for k in range(N_DISCARDS):
        i, j = PLACES[k, 0], PLACES[k, 1]
        value = hand_totals[k] / STARTERS + sign * table[cards[i] % 13, cards[j] % 13]
        if value > best_value:
            best, best_value = k, value
    return best


@kernel
def _choose_all(totals, cards, table, sign, choice):
    for n in range(len(cards)):
        choice[n] = _best_by_table(totals[n]["hand_total"], cards[n], table, sign)


@kernel
def _add_kept(cards, choice, sizes, kept, hand_points):
    """Counts which fours are kept (1820,) and what they show (30,), over deals and their starters."""
    counts = np.empty(N_POINTS, np.int64)
    for n in range(len(cards)):
        six = mask_of(cards[n])
        four = six ^ bit(cards[n, PLACES[choice[n], 0]]) ^ bit(cards[n, PLACES[choice[n], 1]])
        kept[hand_of_mask(four)] += sizes[n]
        counts[:] = 0
        hand_counts(four, six, counts)
        hand_points += sizes[n] * counts


@kernel
def crib_mean_over_starters(crib, seen):
    """Mean points of four cards in the crib (a mask) over every starter not among the ``seen``."""
    return show_total(crib, seen, True) / (52 - popcount(seen))


@kernel
def _opposing_discard(seen, table, sign, word):
    """The opponent's discard from six random unseen cards, as a mask, those six, and the stream's next state."""
    six = np.int64(0)
    while popcount(six) < 6:
        word += GOLDEN
        card = below(mix(word), 52)
        if not ((seen | six) >> card) & 1:
            six |= bit(card)
    cards, hand_totals = cards_in(six, 6), np.empty(N_DISCARDS, np.int64)
    for k in range(N_DISCARDS):
        hand_totals[k] = hand_total(six ^ bit(cards[PLACES[k, 0]]) ^ bit(cards[PLACES[k, 1]]), six)
    number = _best_by_table(hand_totals, cards, table, sign)
    return bit(cards[PLACES[number, 0]]) | bit(cards[PLACES[number, 1]]), six, word


@kernel
def _sample_pair(hands, discards, weights, draws, table, sign, word):
    """Mean, over ``draws`` opposing hands, of the crib's mean over starters, and its standard error. The own cards are
    drawn from ``hands`` (M, 6), with their ``discards`` (M, 2), by the cumulative ``weights`` (M,)."""
    total, squares = 0.0, 0.0
    for _ in range(draws):
        word += GOLDEN
        at = np.searchsorted(weights, below(mix(word), weights[-1]), side="right")
        seen = mask_of(hands[at])
        own = bit(discards[at, 0]) | bit(discards[at, 1])
        discarded, six, word = _opposing_discard(seen, table, sign, word)
        mean = crib_mean_over_starters(own | discarded, seen | six)
        total += mean
        squares += mean * mean
    mean = total / draws
    return mean, np.sqrt(max(squares / draws - mean * mean, 0.0) / draws)


def solve_crib_tables(*, rounds: int = 5, draws: int = 40_000, seed: int = 0, threads: int = 2) -> CribTables:
    """Solves both tables in turn. All rounds but the last draw a quarter as many opposing hands."""
    deals = _Deals(threads)
    against_random = deals.against_random()
    mean = np.stack([against_random] * 2)
    n_pairs = len(HANDS[2])
    words = streams(seed, rounds * 2 * n_pairs).reshape(rounds, 2, n_pairs)[:, ::-1]  # the dealer's come first
    with advancing("mean cribs", rounds * 2 * n_pairs) as on_progress, ThreadPoolExecutor(threads) as pool:
        for turn in range(rounds):
            n = draws if turn == rounds - 1 else max(draws // 4, 1)
            results: list[tuple[float, float, float]] = []
            for role, sign in enumerate(SIGNS):
                discarded = deals.choices(mean[role], sign)
                realise = partial(deals.realise, discarded=discarded, draws=n, table=mean[1 - role], sign=-sign)
                results.extend(pool.map(realise, range(n_pairs), words[turn, role]))
                on_progress(n_pairs)
            found = np.array(results).reshape(2, n_pairs, 3)
            new, error, share = (found[:, PAIR_NUMBER, k] for k in range(3))
            change = float(np.abs(new - mean)[share > 0].max())
            mean = new
    kept, hand_points = np.zeros((2, N_FOURS)), np.zeros((2, N_POINTS))
    for role, sign in enumerate(SIGNS):
        _add_kept(deals.cards, deals.choices(mean[role], sign), deals.sizes, kept[role], hand_points[role])
    error, kept, hand_points = np.where(share > 0, error, np.nan), kept / N_DEALS, hand_points / (N_DEALS * STARTERS)
    return CribTables(mean, error, share, change, against_random, kept, hand_points)


class _Deals:
    """All classes of deals, with the totals and the ranks of their fifteen discards."""

    def __init__(self, threads: int) -> None:
        self.cards, self.sizes = cards_of(np.arange(N_CLASSES)), class_sizes()
        low, high = np.moveaxis((self.cards % 13)[:, PLACES], 2, 0)
        self.pairs = PAIR_NUMBER.astype(np.int8)[low, high]  # (N, 15)
        self.totals = np.zeros((N_CLASSES, N_DISCARDS), TOTALS)
        in_stretches(N_CLASSES, threads, lambda i, j: fill_totals(self.cards[i:j], self.totals[i:j]))

    def against_random(self) -> np.ndarray:
        """(13, 13) mean of the crib by ranks discarded, over all hands and random opposing discards."""
        weights = np.broadcast_to(self.sizes[:, None], self.pairs.shape).ravel()
        points = np.bincount(self.pairs.ravel(), weights * (self.totals["crib_total"].ravel() / COMPLETIONS))
        return (points / np.bincount(self.pairs.ravel(), weights))[PAIR_NUMBER]

    def choices(self, table: np.ndarray, sign: int) -> np.ndarray:
        """(N,) the number of the discard that a table prefers in each class of deals."""
        choice = np.empty(N_CLASSES, np.int64)
        _choose_all(self.totals, self.cards, table, sign, choice)
        return choice

    def realise(
        self, number: int, word: np.uint64, *, discarded: np.ndarray, draws: int, table: np.ndarray, sign: int
    ) -> tuple[float, float, float]:
        """Mean, standard error and share of a pair of ranks, when the opponent discards by ``table`` with ``sign``."""
        chosen = np.take_along_axis(self.pairs, discarded[:, None], axis=1)[:, 0]
        rows = np.flatnonzero(chosen == number)
        share = self.sizes[rows].sum() / self.sizes.sum()
        numbers = discarded[rows]
        if not len(rows):  # never discarded: take every hand that holds it
            rows, numbers = np.nonzero(self.pairs == number)
        discards = np.take_along_axis(self.cards[rows], PLACES[numbers], axis=1)
        weights = np.cumsum(self.sizes[rows])
        return *_sample_pair(self.cards[rows], discards, weights, draws, table, sign, word), share


def cribs(path: File, draws: Amount = 40_000, threads: Threads = 2) -> None:
    """Solves for the mean crib by the ranks discarded, when both players discard by hand and crib.

    Args:
        path: The file to write; an existing file is replaced.
        draws: Opposing hands for each pair of ranks in the last of five rounds.
        threads: Number of threads.
    """
    check_outputs(path)
    tables = solve_crib_tables(draws=draws, threads=threads)
    tables.save(path)
    # Both players discard to the same crib, so both roles' tables must agree on its mean over all deals.
    pone, dealer = (np.triu(tables.share) * tables.mean).sum(axis=(1, 2))
    console.print(
        f"{path}: standard errors at most {np.nanmax(tables.error):.3f}; largest change in the last round "
        f"{tables.change:.3f}; average crib {dealer:.3f} by the dealer's discards, {pone:.3f} by pone's",
        soft_wrap=True,
    )


if __name__ == "__main__":
    run(cribs)
