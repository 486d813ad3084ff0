"""Cribs of deliberate discards: compared with plain play of the same policies, and for consistency."""

import numpy as np
import pytest

from crib_env import discard_statistics, score_show_many
from crib_env.engine import DEALER, PONE
from crib_env.evaluate.makers import cribs as crib_tables
from crib_env.evaluate.makers.cribs import _Deals, crib_mean_over_starters, solve_crib_tables
from crib_env.exact.deal_classes import N_CLASSES, cards_of, class_sizes
from crib_env.hands import HANDS

DEALS = "crib_env.evaluate.makers.cribs._Deals"  # most of the time of a small solution


@pytest.fixture(scope="module", autouse=True)
def deals():
    """One class of deals in eight."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crib_tables, "N_CLASSES", N_CLASSES // 8)
        patch.setattr(crib_tables, "cards_of", lambda classes: cards_of(8 * classes))
        patch.setattr(crib_tables, "class_sizes", lambda: class_sizes()[: N_CLASSES // 8 * 8 : 8])
        yield _Deals(threads=2)


@pytest.fixture(scope="module")
def tables(deals):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DEALS, lambda threads: deals)
        return solve_crib_tables(rounds=3, draws=3_000, seed=1)


def test_the_mean_over_starters_equals_enumeration():
    rng = np.random.default_rng(0)
    for _ in range(200):
        cards = rng.choice(52, 12, replace=False)
        crib, starters = cards[:4], [card for card in range(52) if card not in cards]
        expected = score_show_many([crib] * 40, starters, True).mean()
        masks = [int(sum(1 << int(card) for card in held)) for held in (crib, cards)]
        assert crib_mean_over_starters(*masks) == pytest.approx(expected)


def discards(six, table, sign):
    """The policy for hands (N, 6), in NumPy: the pairs (N, 2) of the best hand mean plus or minus the table's crib."""
    rows = discard_statistics(six)
    low, high = (rows["discard"] % 13).transpose(2, 0, 1)
    return rows["discard"][np.arange(len(six)), (rows["hand_mean"] + sign * table[low, high]).argmax(axis=1)]


@pytest.mark.slow
def test_plain_play_of_the_policies_realises_the_tables(tables):
    rng = np.random.default_rng(1)
    cards = rng.permuted(np.tile(np.arange(52), (6_000, 1)), axis=1)[:, :13]
    dealers = discards(cards[:, :6], tables.mean[DEALER], 1)
    pones = discards(cards[:, 6:12], tables.mean[PONE], -1)
    realised = score_show_many(np.hstack([dealers, pones]), cards[:, 12], True).astype(int)
    for player, pairs in ((DEALER, dealers), (PONE, pones)):
        expected = tables.mean[player][tuple(pairs.T % 13)]
        error = (realised - expected).std() / np.sqrt(len(realised))
        assert abs((realised - expected).mean()) < 4.5 * error
        assert np.corrcoef(realised, expected)[0, 1] > 0.1  # the table knows which cribs are good


def test_both_players_tables_agree_on_the_crib(tables):
    average = [(np.triu(tables.share[player]) * tables.mean[player]).sum() for player in (DEALER, PONE)]
    error = np.nanmax(tables.error) / np.sqrt(len(HANDS[2]) / 4)
    assert abs(average[0] - average[1]) < 5 * error
    assert 4.6 < average[0] < 5.0


def test_tables_are_symmetric_complete_and_converged(tables):
    assert (tables.mean == tables.mean.transpose(0, 2, 1)).all()
    for player in (DEALER, PONE):
        assert np.triu(tables.share[player]).sum() == pytest.approx(1)
    assert (tables.mean[PONE] > tables.mean[DEALER]).all()  # the dealer discards to the crib what helps it
    assert tables.change < 6 * np.nanmax(tables.error) * 2  # rounds before the last draw a quarter as often
    assert np.unravel_index(tables.mean[DEALER].argmax(), (13, 13)) == (4, 4)  # two fives


@pytest.mark.slow
def test_the_result_depends_on_the_seed_and_not_on_threads(deals, monkeypatch):
    one = solve_crib_tables(rounds=1, draws=20, seed=3, threads=1)
    monkeypatch.setattr(DEALS, lambda threads: deals)
    two, other = (solve_crib_tables(rounds=1, draws=20, seed=seed, threads=2) for seed in (3, 4))
    assert (one.mean == two.mean).all()
    assert not (one.mean == other.mean).all()
