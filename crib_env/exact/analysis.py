"""What each of the fifteen discards is worth in points and, at given scores, in chances to win.

Points: the exact mean of the four kept, plus or less the mean of the crib against an opponent who discards with a
purpose, plus what these four gain in the play less what they give. Chances to win: the whole distributions of heels,
the play, pone's hand, dealer's hand and crib, counted in that order until somebody reaches 121, and the board after
that. The five are taken to be independent of each other, which they nearly are; the crib's exact distribution against
random discards is tilted to the mean against purposeful ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from crib_env.cards import JACK, parse_cards
from crib_env.engine import WIN
from crib_env.exact.crib_tables import DEALER, PONE
from crib_env.exact.discard_means import COMPLETIONS, STARTERS
from crib_env.exact.discard_statistics import (
    N_DISCARDS,
    N_POINTS,
    PLACES,
    STATISTICS,
    TOTALS,
    crib_counts,
    crib_distribution,
    fill_totals,
    hand_counts,
    six_cards,
    to_statistics,
)
from crib_env.exact.pegging import GAINED, GIVEN, N_BINS
from crib_env.exact.rank_classes import rank_class
from crib_env.exact.standard import standard_board, standard_cribs, standard_pegging
from crib_env.kernels import bit, kernel, mask_of

ANALYSIS = np.dtype(
    [
        *STATISTICS.descr,
        ("crib_min", "i1"),
        ("crib_max", "i1"),
        ("crib_std", "f8"),
        ("crib_expected", "f8"),
        ("pegging", "f8"),
        ("total", "f8"),
        ("total_error", "f8"),
        ("win_probability", "f8"),
    ]
)


class Outlook(NamedTuple):
    """What the kernels below ask of the shipped tables, as arrays; first axis 0 for pone, 1 for the dealer."""

    cribs: np.ndarray
    """(2, 13, 13) by how much purposeful opposing discards change the mean of the crib, by ranks thrown."""
    hands: np.ndarray
    """(2, 30) chances of the points that the *opponent* of this player shows."""
    pegging: np.ndarray
    """(2, 1820, 2, 61) chances of points gained and given in the play."""
    board: np.ndarray
    """(121, 121) the dealer's chance to win, by dealer's and pone's score."""


@cache
def outlook() -> Outlook:
    """The outlook of the standard tables."""
    tables = standard_cribs()
    return Outlook(
        cribs=(tables.mean - tables.against_random)[[PONE, DEALER]],
        hands=tables.hand_points[[DEALER, PONE]],
        pegging=standard_pegging().distribution,
        board=standard_board().win_probability.astype(np.float64),
    )


@kernel
def _tilt(chances, mean):
    """Weights chances by a power of their points, so that they have this mean."""
    power = 1.0
    for _ in range(50):  # Newton's steps for the logarithm of the power, none of them long enough to overshoot for good
        total, first, second, weight = 0.0, 0.0, 0.0, 1.0
        for points in range(N_POINTS):
            total += chances[points] * weight
            first += chances[points] * weight * points
            second += chances[points] * weight * points * points
            weight *= power
        spread = second / total - (first / total) ** 2
        if spread < 1e-9:
            break
        step = min(max((mean - first / total) / spread, -0.5), 0.5)
        power *= np.exp(step)
        if abs(step) < 1e-12:
            break
    total, weight = 0.0, 1.0
    for points in range(N_POINTS):
        chances[points] *= weight
        total += chances[points]
        weight *= power
    chances /= total


@kernel
def _highest(chances):
    """The most points that have a chance."""
    for points in range(len(chances) - 1, 0, -1):
        if chances[points] > 0:
            return points
    return 0


@kernel
def dealer_wins(dealer, pone, heels, dealers_play, pones_play, dealers_hand, pones_hand, crib, board):
    """The dealer's chance to win from the scores before a deal, by the chances of what each part of it brings.

    Args:
        dealer, pone: scores.
        heels: the chance of a jack being cut.
        dealers_play, pones_play: (61,) chances of points in the play. When both would reach 121 in it, either may be
            first.
        dealers_hand, pones_hand, crib: (30,) chances of points in the show.
        board: (121, 121) the chance of whoever deals next, by dealer's and pone's score.
    """
    peg_d, peg_p = _highest(dealers_play), _highest(pones_play)
    hand_d, hand_p, most = _highest(dealers_hand), _highest(pones_hand), _highest(crib)
    # From the end of the deal backwards: the dealer's chance before the crib, before its hand, before pone's hand.
    last_d, last_p = min(dealer + 2 + peg_d + hand_d, WIN - 1), min(pone + peg_p + hand_p, WIN - 1)
    before_crib = np.empty((last_d - dealer + 1, last_p - pone + 1))
    for d in range(dealer, last_d + 1):
        for p in range(pone, last_p + 1):
            value = 0.0
            for points in range(most + 1):
                value += crib[points] * (1.0 if d + points >= WIN else 1.0 - board[p, d + points])
            before_crib[d - dealer, p - pone] = value
    last_d = min(dealer + 2 + peg_d, WIN - 1)
    before_hand = np.empty((last_d - dealer + 1, last_p - pone + 1))
    for d in range(dealer, last_d + 1):
        for p in range(pone, last_p + 1):
            value = 0.0
            for points in range(hand_d + 1):
                value += dealers_hand[points] * (
                    1.0 if d + points >= WIN else before_crib[d + points - dealer, p - pone]
                )
            before_hand[d - dealer, p - pone] = value
    last_p = min(pone + peg_p, WIN - 1)
    before_show = np.empty((last_d - dealer + 1, last_p - pone + 1))
    for d in range(dealer, last_d + 1):
        for p in range(pone, last_p + 1):
            value = 0.0
            for points in range(hand_p + 1):
                if p + points < WIN:
                    value += pones_hand[points] * before_hand[d - dealer, p + points - pone]
            before_show[d - dealer, p - pone] = value
    wins = 0.0
    for jack in range(2):
        chance, d = (heels, dealer + 2) if jack else (1.0 - heels, dealer)
        if d >= WIN:
            wins += chance
            continue
        for i in range(peg_d + 1):
            for j in range(peg_p + 1):
                out_d, out_p = d + i >= WIN, pone + j >= WIN
                if out_d or out_p:
                    value = 0.5 * out_d + 0.5 * (not out_p)
                else:
                    value = before_show[d + i - dealer, pone + j - pone]
                wins += chance * dealers_play[i] * pones_play[j] * value
    return wins


@kernel
def discard_chances(cards, thrown, is_dealer, own_score, score, totals, cribs, hands, pegging, board, wins):
    """Fills ``wins`` (15,) with the chance to win after each discard that holds all ``thrown``, -1 for the others.

    Args:
        cards: (6,) sorted ids.
        thrown: mask of what has already been thrown.
        is_dealer, own_score, score: the player's side.
        totals: (15,) of ``TOTALS`` for these cards.
        cribs, hands, pegging, board: of :class:`Outlook`.
    """
    role = 1 if is_dealer else 0
    six = mask_of(cards)
    jacks = 0
    for card in cards:
        jacks += card % 13 == JACK
    heels = (4 - jacks) / STARTERS
    counts = np.empty(N_POINTS, np.int64)
    hand, crib = np.empty(N_POINTS), np.empty(N_POINTS)
    k = 0
    for i in range(6):
        for j in range(i + 1, 6):
            pair = bit(cards[i]) | bit(cards[j])
            wins[k] = -1.0
            if pair & thrown == thrown:
                counts[:] = 0
                hand_counts(six ^ pair, six, counts)
                hand[:] = counts / STARTERS
                counts[:] = 0
                crib_counts(i, j, cards, counts)
                crib[:] = counts / counts.sum()
                mean = totals[k]["crib_total"] / counts.sum() + cribs[role, cards[i] % 13, cards[j] % 13]
                _tilt(crib, max(mean, 0.2))
                play = pegging[role, rank_class(six ^ pair)]
                if is_dealer:
                    wins[k] = dealer_wins(
                        own_score, score, heels, play[GAINED], play[GIVEN], hand, hands[role], crib, board
                    )
                else:
                    wins[k] = 1.0 - dealer_wins(
                        score, own_score, heels, play[GIVEN], play[GAINED], hands[role], hand, crib, board
                    )
            k += 1


def analyse_discard(cards: Sequence[int | str] | str, *, dealer: bool, scores: tuple[int, int] = (0, 0)) -> np.ndarray:
    """All fifteen discards of six cards, the one with the best chance to win first.

    Args:
        cards: six ids, or text such as ``"5H 5C JD QS 2H 3D"``.
        dealer: whether this player deals.
        scores: own score and the opponent's, 0 … 120 each.

    Returns:
        (15,) of dtype ``ANALYSIS``: the fields of :func:`crib_env.discard_statistics`; ``crib_min``, ``crib_max`` and
        ``crib_std`` of the crib's exact distribution against random opposing discards; ``crib_expected``, its mean
        against an opponent who discards by hand and crib; ``pegging``, points gained less points given in the play
        between two ``careful`` players; ``total``, the net points to be expected (the hand, plus or less
        ``crib_expected``, plus ``pegging``) and the standard error ``total_error`` of its sampled parts;
        ``win_probability`` by the board of two ``expert`` players.

    Raises:
        ValueError: not six different cards, or a score out of range; the message names it.
    """
    held = six_cards(cards if isinstance(cards, str) else [parse_cards(cards)])
    is_pair = len(scores) == 2 and all(isinstance(score, (int, np.integer)) for score in scores)
    if not is_pair or not all(0 <= score < WIN for score in scores):
        raise ValueError(f"scores={tuple(scores)} is not allowed: give two whole numbers from 0 to {WIN - 1}")
    role, tables = int(dealer), outlook()
    totals = np.zeros((1, N_DISCARDS), TOTALS)
    fill_totals(held, totals)
    out = np.zeros(N_DISCARDS, ANALYSIS)
    found = to_statistics(totals, held)[0]
    for name in STATISTICS.names or ():
        out[name] = found[name]
    chances = crib_distribution(held)[0] / COMPLETIONS
    points = np.arange(N_POINTS)
    out["crib_min"] = (chances > 0).argmax(axis=1)
    out["crib_max"] = N_POINTS - 1 - (chances[:, ::-1] > 0).argmax(axis=1)
    out["crib_std"] = np.sqrt(chances @ points**2 - (chances @ points) ** 2)

    low, high = (held[0, PLACES] % 13).T
    out["crib_expected"] = found["crib_mean"] + tables.cribs[role, low, high]
    six = mask_of(held[0])
    kept = [rank_class(six ^ mask_of(pair)) for pair in found["discard"]]
    play = tables.pegging[role, kept] @ np.arange(N_BINS)
    out["pegging"] = play[:, GAINED] - play[:, GIVEN]
    out["total"] = out["hand_mean"] + (1 if dealer else -1) * out["crib_expected"] + out["pegging"]
    cribs = standard_cribs().error[DEALER if dealer else PONE, low, high]
    played = standard_pegging().standard_error[role, kept]
    out["total_error"] = np.sqrt(np.nan_to_num(cribs) ** 2 + (played**2).sum(axis=1))
    wins = np.empty(N_DISCARDS)
    discard_chances(held[0], np.int64(0), dealer, *scores, totals[0], *tables, wins)
    out["win_probability"] = wins.clip(0, 1)  # sums of chances miss the ends by rounding
    return out[np.lexsort((-out["total"], -out["win_probability"]))]
