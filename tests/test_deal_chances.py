"""The chance to win from the scores before a deal, against every course of the deal, counted one by one."""

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crib_env.engine import WIN
from crib_env.tables.deal_chances import DealChances, fill_dealer_wins


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
