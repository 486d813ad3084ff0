"""Estimates of the rest of a deal, against plain enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from crib_env.agents.belief import crib_chances, fill_after_play, habits
from crib_env.engine import DEALER, PONE
from tests.helpers.plain_beliefs import plain_crib_chances, win_after_play
from tests.helpers.positions import mask, positions


@pytest.mark.parametrize("is_dealer", [True, False])
def test_after_the_play_the_show_is_counted_in_its_order(is_dealer):
    rng = np.random.default_rng(0)
    win_table = rng.random((121, 121))
    for own_score, score in [(0, 0), (30, 70), (100, 95), (117, 120), (120, 117)]:
        crib = rng.random(30) * (rng.random(30) < 0.3)
        crib /= crib.sum()
        own_show = int(rng.integers(25))
        found = np.full((121, 150), np.nan)
        fill_after_play(is_dealer, (own_score, score), (40, 40), own_show, crib, win_table, found)
        for own in range(own_score, min(own_score + 40, 121)):
            for shown in range(score, min(score + 40, 120) + 25):
                expected = win_after_play(is_dealer, own, shown, own_show, crib, win_table)
                assert found[own, shown] == pytest.approx(expected, abs=1e-12)


def test_the_crib_is_weighed_by_what_the_opponent_discards():
    n = 0
    for position in positions(2, seed=11):
        chances, own_six = np.zeros(30), mask(position.own_four + position.discards)
        discarding = habits().discarding[DEALER if position.is_dealer else PONE]
        cut, seen = np.int64(position.starter), mask(position.other_laid)
        crib_chances(own_six, mask(position.discards), cut, seen, discarding, chances)
        np.testing.assert_allclose(chances, plain_crib_chances(position), atol=1e-12)
        n += 1
    assert n > 10
