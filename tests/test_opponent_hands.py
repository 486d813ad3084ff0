"""The posterior over the opponent's hand, against plain enumeration."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crib_env.agents.belief.opponent_hands import MOST_HANDS, Hands, keeping_weights, posterior, resample
from crib_env.engine import DEALER, PONE
from crib_env.exact.rank_classes import CLASS_RANKS
from crib_env.players.policies import CAREFUL
from crib_env.tables.standard import standard_cribs
from tests.helpers.plain_play import (
    OPPONENT,
    begin_play,
    chances_now,
    replay,
)
from tests.helpers.positions import PAIRINGS, laid_arrays, mask, positions
from tests.helpers.reference import rank

CLASS_OF_RANKS = {tuple(ranks): number for number, ranks in enumerate(CLASS_RANKS.tolist())}
KINDS = (0, 1)


def pack(ranks):
    return np.int64(sum(16**r for r in ranks))


def unpack(hand):
    return tuple(r for r in range(13) for _ in range(int(hand) >> (4 * r) & 15))


# Beliefs.


def kept_by_opponent(position):
    return standard_cribs().kept[PONE if position.is_dealer else DEALER]


def beliefs(position):
    """Hands held, weights, classes and kinds as the kernel fills them."""
    hands, weights = np.zeros(MOST_HANDS, np.int64), np.zeros(MOST_HANDS)
    classes, kinds = np.zeros((2, MOST_HANDS), np.int64)
    size = posterior(
        mask(position.own_four + position.discards),
        np.int64(position.starter),
        *laid_arrays(position),
        np.int64(len(position.laid)),
        position.is_fresh,
        keeping_weights(kept_by_opponent(position)),
        Hands(hands, weights, classes, kinds),
    )
    return hands[:size], weights[:size], classes[:size], kinds[:size]


def as_dictionary(position):
    hands, weights, _, kinds = beliefs(position)
    found = {(unpack(hand), int(kind)): weight for hand, kind, weight in zip(hands, kinds, weights)}
    assert len(found) == len(hands)
    return found


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
        prior = 0.97 * kept[CLASS_OF_RANKS[number]] / hands_of_ranks()[number] + 0.03 / 270_725
        for kind, share in zip(KINDS, (0.8, 0.2)):
            weight = share * prior * ways[ranks] * evidence(position, four, kind)
            if weight > 0:
                weights[ranks, kind] = weight
    total = sum(weights.values())
    return {key: weight / total for key, weight in weights.items()}


def some_of_each_length():
    """Positions with four, three, two and one of the opponent's cards unknown, and among them some after a go."""
    by_length = defaultdict(list)
    for seed, pairing in enumerate(PAIRINGS):
        for position in positions(40, seed, pairing):
            by_length[len(position.hidden)].append(position)
    rng = np.random.default_rng(0)
    wanted = {4: 1, 3: 8, 2: 30, 1: 30}
    return [by_length[n][k] for n, some in wanted.items() for k in rng.choice(len(by_length[n]), some, replace=False)]


def said_go(position):
    """Whether somebody has laid twice running, or a count ended below 31, so that a go was said."""
    seats = [seat for seat, _ in position.laid]
    return any(a == b for a, b in pairwise(seats)) or position.is_fresh


def test_beliefs_are_those_of_plain_enumeration():
    n_go = n_ruled_out = 0
    for position in some_of_each_length():
        found, expected = as_dictionary(position), plain_beliefs(position)
        assert set(found) == set(expected), position
        assert max(abs(found[key] - expected[key]) for key in expected) < 1e-9, position
        n_go += said_go(position)
        possible = {tuple(sorted(map(rank, held))) for held in combinations(position.unseen, len(position.hidden))}
        n_ruled_out += len(possible) > len({hand for hand, _ in found})
    assert n_go > 15
    assert n_ruled_out > 10  # a go did rule hands out


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_the_true_hand_is_never_ruled_out(pairing):
    n = 0
    for position in positions(150, seed=7, pairing=pairing):
        hands, weights, classes, kinds = beliefs(position)
        held = tuple(sorted(map(rank, position.hidden)))
        four = tuple(sorted(map(rank, position.hidden + position.other_laid)))
        true = hands == pack(held)
        assert sorted(kinds[true]) == list(KINDS), position
        assert (weights[true] > 0).all(), position
        assert (classes[true] == CLASS_OF_RANKS[four]).all()
        assert weights.sum() == pytest.approx(1, abs=1e-12)
        n += 1
    assert n > 900


def test_the_true_hand_gets_more_weight_than_a_random_one():
    """Over many deals, the true hand gets more weight than a hand drawn by what is unseen alone."""
    gain = []
    for position in positions(150, seed=8, pairing=(CAREFUL, CAREFUL)):
        if 0 < len(position.other_laid) < 4:
            hands, weights, *_ = beliefs(position)
            ways = len(list(combinations(position.unseen, len(position.hidden))))
            held = Counter(map(rank, position.hidden))
            left = Counter(map(rank, position.unseen))
            blind = np.prod([len(list(combinations(range(left[r]), n))) for r, n in held.items()]) / ways
            gain.append(np.log(weights[hands == pack(held.elements())].sum() / blind))
    assert np.mean(gain) > 5 * np.std(gain) / np.sqrt(len(gain))
    assert np.mean(gain) > 0.2


def test_suits_do_not_matter_to_beliefs():
    rng, n_other = np.random.default_rng(0), 0
    for position in positions(10, seed=9):
        other = position.renamed(rng.permutation(4).tolist())
        n_other += other != position
        for one, two in zip(beliefs(position), beliefs(other)):
            assert (one == two).all()
    assert n_other > 50


# Fewer hands.


@settings(deadline=None)
@given(
    st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=300),
    st.integers(1, 120),
    st.sampled_from([1, 5, 20]),
)
def test_thinned_hands_keep_every_share_to_within_one_part(raw, most, power):
    weights = np.array(raw) ** power
    weights /= weights.sum()
    size = len(weights)
    before, hands, kinds = weights.copy(), np.arange(size) * 3, np.arange(size) % 2
    classes = np.arange(size) // 2
    kept = resample(np.int64(size), np.int64(most), 0.5, Hands(hands, weights, classes, kinds))
    assert 1 <= kept <= min(size, most)
    assert weights[:kept].sum() == pytest.approx(1)
    places = hands[:kept] // 3
    assert (np.diff(places) > 0).all()
    assert (classes[:kept] == places // 2).all()  # what belongs together stays together
    assert (kinds[:kept] == places % 2).all()
    after = np.zeros(size)
    after[places] = weights[:kept]
    if size <= most:
        assert (after == before).all()
        return
    np.testing.assert_allclose(weights[:kept] * most, np.round(weights[:kept] * most), atol=1e-9)
    of_class = np.bincount(np.arange(size) // 2, after - before)
    assert np.abs(of_class).max() <= 1 / most + 1e-9
    assert np.abs(np.cumsum(after - before)).max() <= 0.5 / most + 1e-9
