"""``erring``: the values of ``best``, misjudged by so many points, and the levels of the page."""

from itertools import pairwise

import numpy as np
import pytest

from crib_env.agents import make_agent
from crib_env.agents.best import ErringAgent
from crib_env.agents.choosing import six_dealt
from crib_env.evaluate.matches.match import play_match
from crib_env.evaluate.play.levels import LEVELS
from crib_env.exact.discard_statistics import PLACES
from crib_env.players.policies import GREEDY
from crib_env.tables.outlook import discard_points
from tests.helpers.decided import decided


def decisions(n_cards, n=300):
    """So many decisions, after so many cards of the first deal."""
    batch = decided(n_cards, n, 3, GREEDY)
    return batch.views(batch.acting())


def test_without_errors_it_takes_what_is_worth_most():
    views, agent = decisions(0), ErringAgent(errs=0)
    six = six_dealt(views)
    points = discard_points(six, views.is_dealer)
    best = six[:, PLACES][np.arange(len(six)), points.argmax(axis=1)]
    assert (agent.act(views)[:, None] == best).any(axis=1).all()
    views = decisions(6)
    np.testing.assert_array_equal(agent.act(views) % 13, make_agent("best:scores=no").act(views) % 13)


@pytest.mark.parametrize("errs", [0.5, 2.0])
def test_a_pair_is_discarded_by_a_logit_choice(errs):
    """The odds of two pairs are e to the points between them over ``errs``, whichever card goes first."""
    views, agent = decisions(0, 20), ErringAgent(errs=errs)
    six = six_dealt(views)
    points = discard_points(six, views.is_dealer)
    wanted = np.exp((points - points.max(axis=1, keepdims=True)) / errs)
    wanted /= wanted.sum(axis=1, keepdims=True)
    first = agent.probabilities(views)
    for k, (one, other) in enumerate(PLACES.tolist()):
        pair = wanted[:, k]
        cards = six[:, [one, other]]
        of_pairs = [wanted[:, (place == PLACES).any(axis=1)].sum(axis=1) for place in (one, other)]
        rows = np.arange(len(six))
        found = sum(first[rows, cards[:, m]] * pair / of_pairs[m] for m in range(2))
        np.testing.assert_allclose(found, pair, atol=1e-9)


def test_it_errs_more_often_the_more_it_errs():
    views = decisions(6)
    best = make_agent("best:scores=no").act(views) % 13
    shares = [(ErringAgent(errs, seed=2).act(views) % 13 == best).mean() for errs in (0.3, 1.0, 4.0)]
    assert 1 > shares[0] > shares[1] > shares[2] > 0.3


def test_levels_are_the_weakest_first():
    assert len(LEVELS) == 6
    assert LEVELS[-1].agent == "best"
    assert all(below.against_best < above.against_best for below, above in pairwise(LEVELS))
    assert all(below.loss > above.loss for below, above in pairwise(LEVELS))


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.name)
def test_levels_are_as_strong_as_the_table_says(level):
    found = play_match(make_agent(level.agent), make_agent("best"), 2_000, seed=41)
    assert abs(found.win_rate - level.against_best) < 0.03
