"""Chances to win near the end, as a table states them, against games and deals that are played out."""

import numpy as np
import pytest

from crib_env.agents import make_agent
from crib_env.batch import GameBatch
from crib_env.engine import WIN
from crib_env.evaluate.makers import calibration as command
from crib_env.evaluate.makers.calibration import (
    AtScores,
    Positions,
    agreement_of_losses,
    agreement_of_scores,
    dealer_wins,
    games_from,
    off_by,
    play_discards,
    read_calibration,
)
from crib_env.evaluate.skill.luck.variates import WINS, LuckMeter
from crib_env.exact.discard_statistics import PLACES
from crib_env.kernels import streams
from crib_env.tables.shipped import standard_win_table


@pytest.mark.parametrize("is_dealer", [False, True])
def test_deals_played_out_are_those_of_the_engine(is_dealer):
    """Each discard meets the same hidden cards; the deal is then the agent's, and is worth its end or the table."""
    agent, table = make_agent("careful"), standard_win_table().win_probability
    position = Positions(np.array([[0, 5, 17, 22, 34, 48]]), np.array([is_dealer]), np.array([[112, 115]]))
    discards = np.array([3, 3, 14])
    found = play_discards(agent, position, discards, 30, np.random.default_rng(4))
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


def test_games_are_those_of_a_batch_that_began_there():
    agent, scores, seeds = make_agent("careful"), np.array([[100, 113], [120, 120], [60, 61]]), streams(2, 25)
    ends, luck = games_from(agent, scores, seeds)
    for place, pair in enumerate(scores.tolist()):
        batch = GameBatch(seeds, first_dealer=0, scores=tuple(pair))
        meter = LuckMeter(batch.games, by_coin=False)
        while len(rows := batch.acting()):
            batch.step(rows, agent.act(batch.views(rows)))
            meter.note(rows)
        assert np.array_equal(ends[:, place], batch.games["scores"])
        assert np.array_equal(luck[:, place], meter.luck.sum(axis=1))


def test_luck_is_taken_out_of_games():
    """It has the mean 0, and games less luck vary less."""
    ends, of_all = games_from(make_agent("careful"), np.array([[100, 113], [105, 105]]), streams(3, 3_000))
    won, luck = ends[..., 0] >= WIN, of_all[..., WINS]
    error = luck.std(axis=0).max() / np.sqrt(3_000)
    assert np.abs(luck.mean(axis=0)).max() < 4 * error
    rates, errors = dealer_wins(ends, of_all).T
    assert np.allclose(rates, won.mean(axis=0), atol=4 * error)
    assert (errors**2 < 0.8 * won.var(axis=0) / 3_000).all()


def test_agreement_is_found_where_it_is_planted():
    rng, inside = np.random.default_rng(4), []
    for _ in range(200):
        stated = rng.exponential(0.05, 300)
        noise = rng.normal(0, 0.02, 300) * (1 + 10 * stated)  # it grows with the loss
        slope, wide, differs, about = agreement_of_losses(stated, 0.7 * stated - 0.004 + noise)
        inside.append([abs(slope - 0.7) < wide, abs(differs - 0.3 * stated.mean() - 0.004) < about])
    assert (np.abs(np.mean(inside, axis=0) - 0.95) < 0.05).all()
    off = rng.normal(0, np.hypot(0.003, 0.005), 1_000)
    rms, _, covered = agreement_of_scores([AtScores(100, 100, 0.5, 0.003, 0.5 + by, 0.005) for by in off])
    assert covered == pytest.approx(0.95, abs=0.025)
    assert rms == pytest.approx(np.hypot(0.003, 0.005), rel=0.1)


def test_what_losses_are_off_by_is_no_noise_of_what_is_played():
    rng, n = np.random.default_rng(8), 400
    covered = []
    for real in [0.03] * 100 + [0.0] * 20:
        errors, stated = rng.uniform(0.005, 0.04, n), rng.exponential(0.05, n)
        off, more = off_by(stated, stated + rng.normal(0, real, n) + rng.normal(0, errors), errors)
        assert abs(off - real) < (0.006 if real else 0.012)
        covered.append(real <= off + more)
    assert np.mean(covered) > 0.9


def test_the_command_goes_on_where_it_was_stopped(tmp_path, capsys, monkeypatch):
    asked = {"agent": "careful", "pairs": 16, "games": 40, "positions": 3, "deals": 30}
    whole, stopped = tmp_path / "whole.json", tmp_path / "stopped.json"
    command.calibration(whole, **asked)
    assert "At 16 pairs of scores the win table is " in capsys.readouterr().out

    def stop(plan, number, pool):
        if number == 7:
            raise KeyboardInterrupt
        return play(plan, number, pool)

    play = command._of_discards
    monkeypatch.setattr(command, "_of_discards", stop)
    with pytest.raises(KeyboardInterrupt):
        command.calibration(stopped, **asked)
    monkeypatch.setattr(command, "_of_discards", play)
    command.calibration(stopped, **asked)
    assert stopped.read_bytes() == whole.read_bytes()
    with pytest.raises(ValueError, match=r"has Plan\(agent='careful'"):
        command.calibration(stopped, **asked, seed=1)


def test_both_players_have_the_least_score_in_positions_near_the_end(tmp_path):
    path, asked = tmp_path / "late.json", {"agent": "careful", "pairs": 1, "games": 40, "positions": 30, "deals": 2}
    command.calibration(path, **asked, least=108)
    scores = np.array([(one.own, one.opponents) for one in read_calibration(path).discards])
    assert len(scores) == 30
    assert scores.min() == 108 < 115 < scores.max()


@pytest.mark.slow
@pytest.mark.parametrize("scores", [(120, 120), (118, 118), (116, 110), (116, 120), (117, 114)])
def test_the_table_is_true_when_games_are_played(scores):
    table, n = standard_win_table(), 4_000
    ((played, error),) = dealer_wins(*games_from(make_agent("best"), np.array([scores]), streams(11, n)))
    assert abs(played - table.win_probability[scores]) < 3.5 * np.hypot(error, table.win_error[scores])
