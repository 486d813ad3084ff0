"""What an opponent may hold and discard, by plain enumeration."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import combinations, pairwise

import numpy as np

from crib_env.agents.belief import MOST_HANDS, Hands, keeping_weights, posterior
from crib_env.engine import DEALER, PONE
from crib_env.hands import FOURS
from crib_env.tables.shipped import standard_cribs
from tests.helpers import reference
from tests.helpers.plain_play import OPPONENT, begin_play, chances_now, replay
from tests.helpers.positions import laid_arrays, mask
from tests.helpers.reference import rank

NUMBER_OF_RANKS = {tuple(ranks): number for number, ranks in enumerate(FOURS.tolist())}


KINDS = (0, 1)


def pack(ranks):
    return np.int64(sum(16**r for r in ranks))


def unpack(hand):
    return tuple(r for r in range(13) for _ in range(int(hand) >> (4 * r) & 15))


def kept_by_opponent(position):
    return standard_cribs().kept[PONE if position.is_dealer else DEALER]


def beliefs(position):
    """Hands held, weights, numbers and kinds as the kernel fills them."""
    hands, weights = np.zeros(MOST_HANDS, np.int64), np.zeros(MOST_HANDS)
    numbers, kinds = np.zeros((2, MOST_HANDS), np.int64)
    size = posterior(
        mask(position.own_four + position.discards),
        np.int64(position.starter),
        *laid_arrays(position),
        np.int64(len(position.laid)),
        position.is_fresh,
        keeping_weights(kept_by_opponent(position)),
        Hands(hands, weights, numbers, kinds),
    )
    return hands[:size], weights[:size], numbers[:size], kinds[:size]


def evidence(position, other_four, kind):
    """The chance that an opponent of a kind, with these four cards, has laid as it did."""
    if replay(position.own_four, other_four, position.is_dealer, position.laid) is None:
        return 0.0
    game, chance = begin_play(position.own_four, other_four, position.is_dealer), 1.0
    for seat, card in position.laid:
        if seat == OPPONENT:
            chance *= chances_now(game, kind, slip=0.02).get(rank(card), 0.0)
        game.act(card)
    return chance


@cache
def hands_of_ranks():
    """How many sets of four cards have the same ranks."""
    return Counter(tuple(sorted(map(rank, four))) for four in combinations(range(52), 4))


def plain_beliefs(position):
    """By (ranks held, kind): every set of unseen cards, as likely as it is kept, times the evidence."""
    kept = kept_by_opponent(position)
    ways, example = Counter(), {}
    for held in combinations(position.unseen, len(position.hidden)):
        ranks = tuple(sorted([card % 13 for card in held]))
        ways[ranks] += 1
        example[ranks] = held
    weights = {}
    for ranks, held in example.items():
        four = [*position.other_laid, *held]
        number = tuple(sorted(map(rank, four)))
        prior = 0.97 * kept[NUMBER_OF_RANKS[number]] / hands_of_ranks()[number] + 0.03 / 270_725
        for kind, share in zip(KINDS, (0.8, 0.2)):
            weight = share * prior * ways[ranks] * evidence(position, four, kind)
            if weight > 0:
                weights[ranks, kind] = weight
    total = sum(weights.values())
    return {key: weight / total for key, weight in weights.items()}


def said_go(position):
    """Whether somebody has laid twice running, or a count ended below 31, so that a go was said."""
    seats = [seat for seat, _ in position.laid]
    return any(a == b for a, b in pairwise(seats)) or position.is_fresh


def win_after_play(is_dealer, own, shown, own_show, crib, win_table):
    """The chance to win, in the order of the show, with the opponent's score after its show (all of it)."""
    if not is_dealer and own + own_show >= 121:
        return 1.0
    if shown >= 121:
        return 0.0
    if own + own_show >= 121:
        return 1.0
    total = 0.0
    for points, chance in enumerate(crib):
        if is_dealer:
            final = own + own_show + points
            total += chance * (1.0 if final >= 121 else 1 - win_table[shown, final])
        else:
            final = shown + points
            total += chance * (0.0 if final >= 121 else win_table[own + own_show, final])
    return total


def plain_crib_chances(position):
    """(30,) of points in the crib, by how often the opponent discards pairs of ranks and by the cards it may have."""
    share, chances = standard_cribs().share[PONE if position.is_dealer else DEALER], np.zeros(30)
    for pair in combinations(position.unseen, 2):
        a, b = map(rank, pair)
        ways = 6 if a == b else 16
        points = reference.score_show([*position.discards, *pair], position.starter, crib=True)
        chances[points] += 0.97 * share[a, b] / ways + 0.03 / 1326
    return chances / chances.sum()
