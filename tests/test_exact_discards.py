"""Exact discard values against plain enumeration, and the greedy player that uses them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crib_env import score_show_many
from crib_env.batch import GameBatch
from crib_env.cards import format_cards, parse_cards
from crib_env.engine import DISCARD, PLAY
from crib_env.exact.discard_means import COMPLETIONS, HAND_SCALE, STARTERS, best_discard, crib_total, hand_total
from crib_env.kernels import streams
from crib_env.players.policies import GREEDY, RANDOM, greedy_discard, greedy_play
from tests.helpers import reference
from tests.helpers.six_cards import KINDS, six_cards

# All ways to fill a crib and cut a starter, as places among the 46 unseen cards: 45,540 rows.
_DISCARDS_AND_STARTER = np.array(
    [(a, b, cut) for a, b in combinations(range(46), 2) for cut in range(46) if cut not in (a, b)]
)


def mask(cards):
    return sum(1 << int(card) for card in cards)


def enumerated_hand_total(kept, six):
    unseen = np.array([card for card in range(52) if card not in six])
    return int(score_show_many(np.tile(kept, (46, 1)), unseen).sum())


def enumerated_crib_total(pair, six):
    unseen = np.array([card for card in range(52) if card not in six])
    a, b, cut = unseen[_DISCARDS_AND_STARTER].T
    cribs = np.column_stack([np.full(len(a), pair[0]), np.full(len(a), pair[1]), a, b])
    return int(score_show_many(cribs, cut, True).sum(dtype=np.int64))


def kept_of(six, pair):
    return [card for card in six if card not in pair]


def test_there_are_45_540_completions():
    assert len(_DISCARDS_AND_STARTER) == COMPLETIONS == 45_540
    assert STARTERS * HAND_SCALE == COMPLETIONS


@pytest.mark.parametrize("kind", KINDS)
def test_totals_are_those_of_plain_enumeration(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(20):
        six = six_cards(kind, rng)
        for pair in combinations(six, 2):
            kept = kept_of(six, pair)
            assert hand_total(mask(kept), mask(six)) == enumerated_hand_total(kept, six), format_cards(six)
            crib = crib_total(*pair, np.array(six))
            assert crib == enumerated_crib_total(pair, six), format_cards(six)
            assert crib == crib_total(*pair[::-1], np.array(six[::-1]))  # in any order


def test_a_hand_total_by_the_reference_too():
    """Enumeration above uses the engine's own scoring; this one does not."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        six = six_cards("random", rng)
        kept = six[:4]
        expected = sum(reference.score_show(kept, cut, crib=False) for cut in range(52) if cut not in six)
        assert hand_total(mask(kept), mask(six)) == expected


@settings(deadline=None)
@given(st.lists(st.integers(0, 51), min_size=6, max_size=6, unique=True), st.permutations(range(4)))
def test_totals_do_not_depend_on_the_names_of_suits(six, suits):
    other = [13 * suits[card // 13] + card % 13 for card in six]
    assert hand_total(mask(six[:4]), mask(six)) == hand_total(mask(other[:4]), mask(other))
    assert crib_total(six[4], six[5], np.array(six)) == crib_total(other[4], other[5], np.array(other))


# Greedy's discard: the highest exact mean, ties to the pair whose ids come first.


def best_pair(six, is_dealer, holding=()):
    def total(pair):
        crib = enumerated_crib_total(pair, six) if is_dealer else 0
        return enumerated_hand_total(kept_of(six, pair), six) * HAND_SCALE + crib

    pairs = [pair for pair in combinations(sorted(six), 2) if set(holding) <= set(pair)]
    return max(pairs, key=total)  # the first of the best


@pytest.mark.parametrize("kind", KINDS)
def test_greedy_discards_the_pair_with_the_best_mean(kind):
    rng = np.random.default_rng(10 + KINDS.index(kind))
    for is_dealer in (False, True):
        for _ in range(4):
            six = six_cards(kind, rng)
            pair = best_pair(six, is_dealer)
            assert best_discard(mask(six), 0, is_dealer) == mask(pair), format_cards(six)
            assert greedy_discard(mask(six), 0, is_dealer) == pair[0]
            assert greedy_discard(mask(six) ^ mask(pair[:1]), mask(pair[:1]), is_dealer) == pair[1]


def test_greedy_makes_the_best_of_a_card_already_discarded():
    rng = np.random.default_rng(20)
    for is_dealer in (False, True):
        for _ in range(6):
            six = six_cards("random", rng)
            discarded = int(rng.choice(six))
            pair = best_pair(six, is_dealer, [discarded])
            assert best_discard(mask(six), mask([discarded]), is_dealer) == mask(pair)
            (second,) = set(pair) - {discarded}
            assert greedy_discard(mask(six) ^ mask([discarded]), mask([discarded]), is_dealer) == second


@pytest.mark.parametrize("is_dealer", [False, True])
def test_equal_pairs_go_to_the_first_ids(is_dealer):
    """Three cards of a rank, none of them a heart, and three hearts: often the best pair is best in several suits."""
    n_ties = 0
    for rank, *hearts in ((r, *h) for r in range(13) for h in combinations(range(13), 3) if r not in h):
        six = sorted([rank, 13 + rank, 39 + rank, *(26 + heart for heart in hearts)])
        totals = {}
        for pair in combinations(six, 2):
            crib = crib_total(*pair, np.array(six)) if is_dealer else 0
            totals[pair] = hand_total(mask(kept_of(six, pair)), mask(six)) * HAND_SCALE + crib
        best = [pair for pair in totals if totals[pair] == max(totals.values())]
        assert best_discard(mask(six), 0, is_dealer) == mask(best[0])
        n_ties += len(best) > 1
    assert n_ties > 200


def test_greedy_in_a_game_discards_what_its_exact_means_say():
    batch = GameBatch(streams(3, 40))
    seen = {"pone": 0, "dealer": 0}
    for _ in range(4):
        rows = batch.acting()
        cards = batch.native_cards(rows, GREEDY)
        for row, card in zip(rows, cards):
            game = batch.games[row]
            assert game["phase"] == DISCARD
            seat, is_dealer = int(game["turn"]), bool(game["turn"] == game["dealer"])
            six = [c for c in range(52) if int(game["hand"][seat] | game["discards"][seat]) >> c & 1]
            discarded = [c for c in six if int(game["discards"][seat]) >> c & 1]
            assert int(card) in set(best_pair(six, is_dealer, discarded)) - set(discarded)
            seen["dealer" if is_dealer else "pone"] += 1
        batch.step(rows, cards)
    assert seen == {"pone": 80, "dealer": 80}


# Greedy's play: the most points at once, ties to the highest value, then to the lowest id.


def plain_greedy_play(legal, pile):
    def points(card):
        return sum(points for points, _ in reference.score_play([*pile, card]))

    return sorted(legal, key=lambda card: (-points(card), -reference.value(card), card))[0]


def test_greedy_lays_by_its_rule():
    batch = GameBatch(streams(1, 300), episode="play")
    n_scoring = 0
    rows = batch.acting()
    while len(rows):
        assert (batch.games["phase"][rows] == PLAY).all()
        views, greedy = batch.views(rows), batch.native_cards(rows, GREEDY)
        for row, card in enumerate(greedy.tolist()):
            legal = np.flatnonzero(views.action_mask[row]).tolist()
            laid = views.laid[row][views.laid[row] >= 0].tolist()
            pile = laid[views.pile_start[row] :]
            assert card == plain_greedy_play(legal, pile)
            n_scoring += bool(reference.score_play([*pile, card]))
        # Random cards are laid, so that greedy meets positions that it would not make itself.
        batch.step(rows, batch.native_cards(rows, RANDOM))
        rows = batch.acting()
    assert n_scoring > 300


@pytest.mark.parametrize(
    ("legal", "pile", "card"),
    [
        ("4C 9D", "5H 6S", "4C"),  # fifteen and a run, five points, before the higher card
        ("4C 9D KH", "7S", "KH"),  # nothing scores: the highest value
        ("KS QD JH", "7S", "QD"),  # all are worth ten: the lowest id
        ("5S 5C", "5D", "5C"),
        ("8C 9C", "7S 7D", "9C"),
        ("2C AC", "9S TD KH", "2C"),  # thirty-one beats
    ],
)
def test_known_choices_of_greedy(legal, pile, card):
    legal, pile, card = mask(parse_cards(legal)), parse_cards(pile), parse_cards(card)[0]
    laid = np.full(8, -1, np.int8)
    laid[1 : 1 + len(pile)] = pile  # after a card of an older count
    laid[0] = 4
    count = sum(reference.value(c) for c in pile)
    assert greedy_play(legal, laid, 1, 1 + len(pile), count) == card
