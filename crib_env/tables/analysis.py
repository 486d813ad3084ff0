"""The value of each of the fifteen discards, in points and, at given scores, in probability of winning.

Points: the exact mean of the four kept cards, plus or minus the mean of the crib against an opponent who discards
by hand and crib, plus the points that these four cards gain in the play minus those they concede. Probability of
winning: the distributions of heels, the play, pone's hand, dealer's hand and crib are counted in that order until
somebody reaches 121; the win table covers the deals after that. The five are treated as independent, which they
nearly are. The crib's exact distribution against random discards is tilted to have the mean of deliberate ones. Near
the end the opponent keeps other cards than at 0–0, and both play for other things than points: there the win table says
what the opponent shows (:func:`fill_wins`) and what the play to the score adds to a hand (:func:`late_play`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np

from crib_env.cards import JACK
from crib_env.engine import DEALER, PONE, WIN
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
    one_hand,
    six_cards,
    to_statistics,
)
from crib_env.hands import hand_of_mask
from crib_env.kernels import bit, kernel, mask_of
from crib_env.tables.deal_chances import DealChances, fill_dealer_wins
from crib_env.tables.outlook import discard_points, outlook, standard_values, tilt
from crib_env.tables.shipped import GAINED, GIVEN, LATE, N_STYLES, standard_cribs, standard_win_table

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


@kernel
def late_play(role, hand, own, other, outlook):
    """What the play to the score adds to a player's chance to win, by its role, the hand kept and both scores."""
    added = 0.0
    if own >= LATE and other >= LATE:
        hands, scores = outlook.late_hands[role, hand], outlook.late_scores[role, own - LATE, other - LATE]
        for part in range(len(hands)):
            added += hands[part] * scores[part]
    return added


class DiscardParts(NamedTuple):
    """What six cards and a discard say about the parts of a deal."""

    heels: float  # the chance that a jack is cut
    hand: np.ndarray  # (30,) chances of the points of the four kept
    crib: np.ndarray  # (30,) chances of the crib's points against random discards
    crib_mean: float  # the crib's mean against deliberate ones at 0–0


@kernel
def discard_parts(cards, i, j, is_dealer, totals, outlook):
    """:class:`DiscardParts`.

    Args:
        cards: (6,) sorted ids.
        i, j: the places of the two discarded, the lower first.
        is_dealer: the player's side.
        totals: the row of ``TOTALS`` for this discard.
        outlook: :class:`Outlook`.
    """
    role = DEALER if is_dealer else PONE
    six, pair = mask_of(cards), bit(cards[i]) | bit(cards[j])
    jacks = 0
    for card in cards:
        jacks += card % 13 == JACK
    counts, hand, crib = np.zeros(N_POINTS, np.int64), np.empty(N_POINTS), np.empty(N_POINTS)
    hand_counts(six ^ pair, six, counts)
    for points in range(N_POINTS):  # an assignment of whole arrays takes two seconds to compile
        hand[points] = counts[points] / STARTERS
    counts[:] = 0
    crib_counts(i, j, cards, counts)
    completions = counts.sum()
    for points in range(N_POINTS):
        crib[points] = counts[points] / completions
    mean = totals["crib_total"] / completions + outlook.cribs[role, cards[i] % 13, cards[j] % 13]
    return DiscardParts((4 - jacks) / STARTERS, hand, crib, mean)


@kernel
def fill_wins_in_style(is_dealer, parts, play, style, scores, outlook, wins):
    """Fills ``wins`` (N,) with a player's chance to win at N pairs of scores, if the opponent discards in this style.

    Args:
        is_dealer: the player's side.
        parts: :class:`DiscardParts`.
        play: (2, 61) chances of the points gained and given in the play.
        style: 0 to 4.
        scores: (N, 2) int64, own first. Those with the same score of the dealer come together.
        outlook: :class:`Outlook`.
    """
    role = DEALER if is_dealer else PONE
    crib, others_hand = parts.crib.copy(), outlook.hands[role, style]
    tilt(crib, max(parts.crib_mean + outlook.style_cribs[role, style], 0.2))
    if is_dealer:
        deal = DealChances(parts.heels, play[GAINED], play[GIVEN], parts.hand, others_hand, crib)
        fill_dealer_wins(deal, scores[:, 0], scores[:, 1], outlook.win_table, wins)
    else:
        deal = DealChances(parts.heels, play[GIVEN], play[GAINED], others_hand, parts.hand, crib)
        fill_dealer_wins(deal, scores[:, 1], scores[:, 0], outlook.win_table, wins)
        for i in range(len(wins)):
            wins[i] = 1.0 - wins[i]


@kernel
def fill_wins(is_dealer, parts, play, scores, outlook, wins):
    """The same in the mean over the styles of discarding that the opponent has at each pair of scores."""
    role = DEALER if is_dealer else PONE
    weights, chances = np.zeros(len(wins)), np.empty(len(wins))
    wins[:] = 0.0
    for style in range(N_STYLES):
        used = False
        for n in range(len(wins)):
            own, other = scores[n, 0], scores[n, 1]
            if own >= LATE and other >= LATE:
                weights[n] = outlook.styles[role, own - LATE, other - LATE, style]
            else:
                weights[n] = 1.0 if style == 0 else 0.0
            used = used or weights[n] != 0
        if used:
            fill_wins_in_style(is_dealer, parts, play, style, scores, outlook, chances)
            for n in range(len(wins)):
                wins[n] += weights[n] * chances[n]


@kernel
def discard_chances(cards, discarded, is_dealer, scores, totals, outlook, wins):
    """Fills ``wins`` (N, 15): the chance to win after each discard that holds all ``discarded``, -inf for the others.

    Args:
        cards: (6,) sorted ids.
        discarded: mask of what has already been discarded.
        is_dealer: the player's side.
        scores: (N, 2) int64, pairs of scores, own first. Those with the same score of the dealer come together.
        totals: (15,) of ``TOTALS`` for these cards.
        outlook: :class:`Outlook`.
    """
    role, six, chances = DEALER if is_dealer else PONE, mask_of(cards), np.empty(len(wins))
    wins[:] = -np.inf
    k = 0
    for i in range(6):
        for j in range(i + 1, 6):
            pair = bit(cards[i]) | bit(cards[j])
            if pair & discarded == discarded:
                parts, hand = discard_parts(cards, i, j, is_dealer, totals[k], outlook), hand_of_mask(six ^ pair)
                fill_wins(is_dealer, parts, outlook.pegging[role, hand], scores, outlook, chances)
                for n in range(len(wins)):
                    chance = chances[n] + late_play(role, hand, scores[n, 0], scores[n, 1], outlook)
                    wins[n, k] = min(max(chance, 0.0), 1.0)
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
        between two ``best`` players at 0–0; ``total``, the expected net points (the hand, plus or minus
        ``crib_expected``, plus ``pegging``), and ``total_error``, the standard error of its sampled parts;
        ``win_probability`` at these scores, between two ``best`` players.

    Raises:
        ValueError: the cards are not six different cards, or a score is out of range; the message names it.
    """
    held = six_cards([one_hand(cards)])
    is_pair = len(scores) == 2 and all(isinstance(score, (int, np.integer)) for score in scores)
    if not is_pair or not all(0 <= score < WIN for score in scores):
        raise ValueError(f"scores={tuple(scores)} is not allowed: give two whole numbers from 0 to {WIN - 1}")
    role, values = DEALER if dealer else PONE, standard_values()
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
    out["crib_expected"] = found["crib_mean"] + values.cribs[role, low, high]
    six = mask_of(held[0])
    out["pegging"] = values.pegging[role, [hand_of_mask(six ^ mask_of(pair)) for pair in found["discard"]]]
    out["total"] = discard_points(held, np.array([dealer]))[0]
    cribs = standard_cribs().error[role, low, high]
    out["total_error"] = np.hypot(np.nan_to_num(cribs), np.linalg.norm(standard_win_table().play_errors[role]))
    wins = np.empty((1, N_DISCARDS))
    discard_chances(held[0], np.int64(0), dealer, np.array([scores], np.int64), totals[0], outlook(), wins)
    out["win_probability"] = wins[0]
    return out[np.lexsort((-out["total"], -out["win_probability"]))]


class WinShares(NamedTuple):
    """Shares of the parts of a deal in a difference of win probability; they add up to the difference."""

    hand: float
    pegging: float
    crib: float


def win_shares(
    cards: Sequence[int | str] | str, first: np.void, second: np.void, *, dealer: bool, scores: tuple[int, int]
) -> WinShares:
    """Attributes the difference in win probability between two discards to hand, pegging and crib.

    Hand, pegging and crib of the second discard are replaced one by one by those of the first. The effect of a
    replacement depends on those before it, so shares are means over the six orders (Shapley values).

    Args:
        first, second: their rows of :func:`analyse_discard` for the same role and scores.
    """
    held, tables, role = six_cards([one_hand(cards)]), outlook(), DEALER if dealer else PONE
    totals, at, chance = np.zeros((1, N_DISCARDS), TOTALS), np.array([scores], np.int64), np.empty(1)
    fill_totals(held, totals)
    six, pairs = mask_of(held[0]), held[0, PLACES].tolist()
    places = [pairs.index(sorted(row["discard"].tolist())) for row in (second, first)]
    parts = [discard_parts(held[0], *PLACES[k], dealer, totals[0, k], tables) for k in places]
    fours = [hand_of_mask(six ^ mask_of(held[0, PLACES[k]])) for k in places]

    def chance_of(hand: int, pegging: int, crib: int) -> float:
        """The chance to win with each part of the second discard, 0, or of the first, 1."""
        mixed, four = parts[crib]._replace(hand=parts[hand].hand), fours[pegging]
        fill_wins(dealer, mixed, tables.pegging[role, four], at, tables, chance)
        return float(chance[0] + late_play(role, four, *map(int, scores), tables))

    shares = np.zeros(3)
    for order in permutations(range(3)):
        of_first, chances = [0, 0, 0], [chance_of(0, 0, 0)]
        for part in order:
            of_first[part] = 1
            chances.append(chance_of(*of_first))
        shares[list(order)] += np.diff(chances) / 6
    return WinShares(*shares.tolist())
