"""The chance to win from the scores before a deal, against every course of the deal, counted one by one."""

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crib_env.engine import WIN
from crib_env.tables.deal_chances import (
    ENDINGS,
    DealChances,
    ending_of,
    fill_before_crib,
    fill_dealer_wins,
    scores_after_show,
    winner_by_hands,
)


def counted(dealer, pone, deal, win_table):
    """The dealer's chance to win, from the definition: who is first to reach 121, in the order of the deal."""
    total = 0.0
    parts = [np.flatnonzero(chances).tolist() for chances in deal[1:]]
    for heels, *points in product((0, 2), *parts):
        chance = deal.heels if heels else 1 - deal.heels
        for chances, part in zip(deal[1:], points):
            chance *= chances[part]
        dealers_play, pones_play, dealers_hand, pones_hand, crib = points
        both_pegged = dealer + heels + dealers_play >= WIN and pone + pones_play >= WIN
        d, p, value = dealer, pone, None
        for made, who in (
            (heels, 0),
            (dealers_play, 0),
            (pones_play, 1),
            (pones_hand, 1),
            (dealers_hand, 0),
            (crib, 0),
        ):
            d, p = d + made * (who == 0), p + made * (who == 1)
            if max(d, p) >= WIN:
                value = float(d >= WIN)
                break
        if both_pegged and dealer + heels < WIN:
            value = 0.5
        total += chance * (1 - win_table[p, d] if value is None else value)
    return total


@st.composite
def points(draw, length):
    made = draw(st.lists(st.integers(0, length - 1), min_size=1, max_size=3, unique=True))
    weights = draw(st.lists(st.integers(1, 9), min_size=len(made), max_size=len(made)))
    chances = np.zeros(length)
    chances[made] = np.array(weights) / sum(weights)
    return chances


@given(
    scores=st.lists(st.tuples(st.integers(0, 120), st.integers(0, 120)), min_size=1, max_size=6),
    near=st.booleans(),
    heels=st.floats(0, 0.1),
    parts=st.tuples(points(61), points(61), points(30), points(30), points(30)),
    seed=st.integers(0, 9),
)
@settings(max_examples=150, deadline=None)
def test_it_counts_every_course_of_the_deal(scores, near, heels, parts, seed):
    dealers, pones = np.maximum(np.array(scores).T, 100 * near)
    win_table = np.random.default_rng(seed).random((WIN, WIN))
    deal, wins = DealChances(heels, *parts), np.empty(len(scores))
    fill_dealer_wins(deal, dealers, pones, win_table, wins)
    expected = [counted(dealer, pone, deal, win_table) for dealer, pone in zip(dealers.tolist(), pones.tolist())]
    assert np.allclose(wins, expected, atol=1e-12)


SCORES = st.integers(3, 125)


@settings(max_examples=300, deadline=None)
@given(SCORES, SCORES, st.integers(0, 29), st.booleans())
def test_a_show_is_counted_in_order(own, other, crib, deals):
    win_table = np.random.default_rng(0).random((WIN, WIN))
    pone, dealer = (other, own) if deals else (own, other)
    if pone >= WIN:
        pone_wins = 1.0
    elif dealer + crib >= WIN:
        pone_wins = 0.0
    else:
        pone_wins = win_table[pone, dealer + crib]  # pone deals next
    expected = 1 - pone_wins if deals else pone_wins
    found = np.empty((3, 4))
    fill_before_crib(own - 2, other - 3, np.eye(30)[crib], deals, win_table, found)
    assert np.isclose(found[2, 3], expected)


def test_pone_counts_before_the_dealer():
    assert scores_after_show(118, 119, 5, 2) == (118, 121)
    assert scores_after_show(118, 119, 5, 1) == (123, 120)
    assert [winner_by_hands(own, other, deals) for own, other, deals in ((121, 121, True), (121, 121, False))] == [0, 1]
    assert winner_by_hands(120, 120, True) == -1


def test_endings_are_named_by_the_losers_score():
    found = [ENDINGS[ending_of(*scores)] for scores in ((121, 91), (121, 90), (60, 121), (61, 121))]
    assert found == ["dealer wins", "dealer skunks", "pone double-skunks", "pone skunks"]
