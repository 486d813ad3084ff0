"""Chances to win near the end, as a table states them, against games and deals that are played out."""

import numpy as np
import pytest

from crib_env.agents import make_agent
from crib_env.batch import GameBatch
from crib_env.engine import WIN
from crib_env.exact.discard_statistics import PLACES
from crib_env.kernels import streams
from crib_env.tables.analysis import outlook
from crib_env.tables.win_table import WinTable
from crib_env.views import views_of
from evaluate.calibration.discards import Positions, draw_positions, play_out
from evaluate.suite.positions import before_discards
from evaluate.win_table.making import Plan, make_win_table


def test_positions_have_scores_as_asked():
    drawn = draw_positions(np.random.default_rng(0), 200, 96, 110)
    assert ((drawn.scores.max(axis=1) >= 96) & (drawn.scores.max(axis=1) <= 110)).all()
    assert np.ptp(drawn.scores, axis=1).max() == 30
    assert (np.diff(drawn.sixes, axis=1) > 0).all()
    assert 60 < drawn.is_dealer.sum() < 140


@pytest.mark.parametrize("is_dealer", [False, True])
def test_deals_played_out_are_those_of_the_engine(is_dealer):
    """Each discard meets the same hidden cards; the deal is then the agent's, and is worth its end or the table."""
    agent, table = make_agent("careful"), outlook().win_table
    position = Positions(np.array([[0, 5, 17, 22, 34, 48]]), np.array([is_dealer]), np.array([[112, 115]]))
    discards = np.array([3, 3, 14])
    found = play_out(agent, position, discards, 30, np.random.default_rng(4), table)
    assert found.shape == (30, 3)
    assert np.array_equal(found[:, 0], found[:, 1])

    rng, six = np.random.default_rng(4), position.sixes[0]
    rest = np.setdiff1d(np.arange(52), six)
    hidden = [rng.permutation(rest)[:7] for _ in range(30)]
    for n, cards in enumerate(hidden[:6]):
        batch = GameBatch(streams(0, 1), episode="deal", first_dealer=0 if is_dealer else 1, scores=(112, 115))
        dealt = [*six.tolist(), *cards.tolist()]
        batch.games["cards"][0], row = dealt, np.zeros(1, np.int64)
        batch.games["hand"][0] = sum(1 << card for card in dealt[:6]), sum(1 << card for card in dealt[6:12])
        pair = six[PLACES[14]].tolist()
        while len(batch.acting()):
            views = batch.views(row)
            own = views.is_discard[0] and batch.games["turn"][0] == 0
            batch.step(row, np.array([pair.pop(0)]) if own else agent.act(views))
        own, other = batch.games["scores"][0].tolist()
        if max(own, other) >= WIN:
            expected = float(own >= WIN)
        else:
            expected = 1 - table[other, own] if is_dealer else table[own, other]
        assert found[n, 2] == pytest.approx(expected)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The files of two rounds of a small win table of `best`; in the second its deals are played by the first."""
    folder = tmp_path_factory.mktemp("table") / "deals"
    assert len(list(make_win_table(Plan("best", 2_400, 2, 3), folder, 2))) == 2
    return folder / "round-1.npz", folder / "round-2.npz"


@pytest.mark.slow
@pytest.mark.parametrize("scores", [(120, 120), (118, 118), (116, 110), (116, 120), (117, 114)])
def test_the_table_is_true_when_games_are_played(made, scores):
    players, table = made[0], WinTable.load(made[1])
    agent, n = make_agent(f"best:win_table={players}"), 4_000
    batch = GameBatch(streams(11, n), first_dealer=0, scores=scores)
    while len(rows := batch.acting()):
        batch.step(rows, agent.act(batch.views(rows)))
    played = (batch.games["scores"][:, 0] >= WIN).mean()
    error = np.hypot(np.sqrt(played * (1 - played) / n), table.win_error[scores])
    assert abs(played - table.win_probability[scores]) < 3.5 * error


@pytest.mark.slow
def test_what_the_play_adds_brings_discards_nearer_to_what_is_played(made):
    """The error of the chance to win after the best discard, at forty late positions, with and without it."""
    path = made[1]
    agent, known = make_agent(f"best:win_table={path}"), outlook(path)
    judges = make_agent(f"expert:win_table={path}"), make_agent("expert")
    rng, errors = np.random.default_rng(6), []
    for _ in range(40):
        position = draw_positions(rng, 1, 114, 120)
        games = before_discards(*position)
        view = views_of(games, np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64))
        stated = [judge.discard_values(view)[0] for judge in judges]
        best = np.array([stated[0].argmax()])
        played = play_out(agent, position, best, 1_000, rng, known.win_table).mean()
        errors.append([values[best[0]] - played for values in stated])
    with_play, before = np.sqrt((np.array(errors) ** 2).mean(axis=0))
    assert with_play < 0.06
    assert with_play < 0.8 * before
