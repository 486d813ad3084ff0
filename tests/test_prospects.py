"""Estimates of the rest of a deal, against plain enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from crib_env.agents.belief.prospects import OTHER_POINTS, OWN_POINTS, Prospects, crib_chances, fill_after_play, habits
from crib_env.engine import DEALER, PONE
from crib_env.players.policies import CAREFUL, RANDOM
from crib_env.tables.standard import standard_win_table
from tests.helpers import reference
from tests.helpers.plain_beliefs import plain_beliefs, plain_crib_chances, win_after_play
from tests.helpers.positions import batches_in_play, mask, positions, positions_of
from tests.helpers.reference import rank


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


@pytest.mark.parametrize("near_the_end", [False, True])
def test_prospects_are_those_of_plain_enumeration(near_the_end):
    """The hands that the opponent may hold, and how pegged points change the chance to win, with show and crib."""
    rng, win_table = np.random.default_rng(near_the_end), standard_win_table().win_probability.astype(float)
    n, met = 0, set()
    for batch, rows in batches_in_play(12, seed=30 + near_the_end, pairing=(CAREFUL, RANDOM)):
        batch.games["scores"][rows] = rng.integers(100, 121, (len(rows), 2)) if near_the_end else rng.integers(90)
        for row, position in zip(rows, positions_of(batch, rows)):
            if len(position.hidden) > 2:
                continue
            views = batch.views(np.array([row]))
            found, (own, other) = Prospects.of(views), views.scores[0].tolist()
            holds, greedy, shows = np.zeros(13), 0.0, np.zeros(30)
            for (hand, kind), weight in plain_beliefs(position).items():
                holds[list(set(hand))] += weight
                greedy += weight * kind
                ranks = [rank(position.starter), *hand, *map(rank, position.other_laid)]
                shows[reference.points_of_ranks(tuple(sorted(ranks)))] += weight
            np.testing.assert_allclose(found.holds[0], holds, atol=1e-9)
            assert found.greedy[0] == pytest.approx(greedy)
            own_show = reference.score_show(position.own_four, position.starter, crib=False)
            crib = plain_crib_chances(position)
            for i, j in [(0, 0), (OWN_POINTS - 1, 0), (0, OTHER_POINTS - 1), *rng.integers(OTHER_POINTS, size=(4, 2))]:
                own_out, other_out = own + i >= 121, other + j >= 121
                expected = 0.5 if own_out and other_out else float(own_out)
                if not own_out and not other_out:
                    expected = sum(
                        chance
                        * win_after_play(position.is_dealer, own + i, other + j + show, own_show, crib, win_table)
                        for show, chance in enumerate(shows)
                    )
                assert found.win[0, i, j] == pytest.approx(expected, abs=1e-9)
                met.add((own_out, other_out))
            n += 1
    assert n > 20
    assert not near_the_end or len(met) == 4
