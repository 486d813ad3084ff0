"""The exact values that ship with the package: that they load, are consistent and precise enough."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from crib_env import score_show_many
from crib_env.agents.registry import NAMES
from crib_env.engine import DEALER, PONE
from crib_env.exact.discard_statistics import PLACES, discard_statistics, hand_distribution
from crib_env.files import checked_file
from crib_env.hands import FOURS, N_FOURS
from crib_env.players.policies import NATIVE
from crib_env.tables import shipped
from crib_env.tables.shipped import (
    CribTables,
    DealValues,
    Leads,
    PeggingRecords,
    WinTable,
    standard_cribs,
    standard_deals,
    standard_leads,
    standard_pegging,
    standard_win_table,
)
from tests.helpers.refusals import refused


def test_each_is_read_once_and_is_of_this_version():
    for load, table, name in (
        (standard_cribs, CribTables, "cribs"),
        (standard_pegging, PeggingRecords, "pegging"),
        (standard_win_table, WinTable, "win_table"),
    ):
        assert load() is load()
        path, version = shipped._DATA / f"{name}.npz", table._version
        with refused(version, version + 1):
            checked_file.load_arrays(path, table._kind, version + 1, {})


@pytest.mark.parametrize(("standard", "table"), [(standard_leads, Leads), (standard_deals, DealValues)])
def test_tables_of_solutions_are_read_back(standard, table, tmp_path):
    standard().save(tmp_path / "table.npz")
    again = table.load(tmp_path / "table.npz")
    assert all(np.array_equal(one, getattr(again, name)) for name, one in vars(standard()).items())
    with refused("none.npz"):
        table.load(tmp_path / "none.npz")


def test_crib_tables_are_consistent():
    tables = standard_cribs()
    assert (tables.mean == tables.mean.transpose(0, 2, 1)).all()
    assert (tables.share == tables.share.transpose(0, 2, 1)).all()
    assert (tables.against_random == tables.against_random.T).all()
    assert tables.share.min() >= 0
    assert tables.kept.min() >= 0
    assert tables.hand_points.min() >= 0
    for player in (DEALER, PONE):
        assert np.triu(tables.share[player]).sum() == pytest.approx(1)
        assert tables.kept[player].sum() == pytest.approx(1)
        assert tables.hand_points[player].sum() == pytest.approx(1)
        assert not tables.hand_points[player][[19, 25, 26, 27]].any()  # which no hand can show
        # The standard error is known for every pair that is discarded.
        assert (np.isnan(tables.error[player]) == (tables.share[player] == 0)).all()
    assert np.nanmax(tables.error) < 0.05
    assert tables.change < 0.2


@pytest.mark.parametrize("player", [DEALER, PONE])
def test_hands_are_those_that_the_tables_keep(player):
    """What is kept of random cards, in plain Python by the table, and what it shows."""
    tables, rng = standard_cribs(), np.random.default_rng(player)
    six = np.sort(rng.permuted(np.tile(np.arange(52), (4_000, 1)), axis=1)[:, :6], axis=1)
    rows, shown = discard_statistics(six), hand_distribution(six) / 46
    low, high = np.moveaxis(rows["discard"] % 13, -1, 0)
    sign = 1 if player == DEALER else -1
    best = (rows["hand_mean"] + sign * tables.mean[player, low, high]).argmax(axis=1)
    points = shown[np.arange(len(six)), best]
    error = points.std(axis=0) / np.sqrt(len(six))
    assert (np.abs(points.mean(axis=0) - tables.hand_points[player]) < 4.5 * error + 1e-4).all()
    discarded = np.take_along_axis(six, PLACES[best], axis=1)
    kept = np.array([[card for card in hand if card not in pair] for hand, pair in zip(six, discarded)])
    for rank in range(13):
        held = (kept % 13 == rank).sum(axis=1)
        expected = tables.kept[player] @ np.count_nonzero(rank == FOURS, axis=1)
        assert abs(held.mean() - expected) < 4.5 * held.std() / np.sqrt(len(six))


@pytest.mark.parametrize("ranks", [(4, 4), (10, 10), (0, 12), (4, 10), (6, 7)])
def test_cribs_against_random_discards_are_exact(ranks):
    """The four kept may be any cards, so that two more in the crib and the starter are any three of the other fifty."""
    low, high = ranks
    means = []
    for suit in range(4):  # beside a card of suit 0; suits have no names
        pair = [low, 13 * suit + high]
        if pair[0] == pair[1]:
            continue
        others = np.array([card for card in range(52) if card not in pair])
        three = np.array(list(combinations(others, 3)))
        points = [
            score_show_many(
                np.column_stack([np.tile(pair, (len(three), 1)), np.delete(three, cut, 1)]), three[:, cut], True
            )
            for cut in range(3)
        ]
        means.append(np.mean(points))
    assert standard_cribs().against_random[low, high] == pytest.approx(np.mean(means), abs=1e-9)


def test_pegging_is_known_to_three_hundredths_of_a_point():
    records = standard_pegging()
    assert records.policy in NATIVE
    assert records.against in NATIVE
    assert records.counts.shape == (2, N_FOURS, 2, shipped.N_BINS)
    assert (records.standard_error <= 0.031).all()
    np.testing.assert_allclose(records.distribution.sum(axis=-1), 1)


def test_the_win_table_is_complete_and_monotone():
    found = standard_win_table()
    assert found.agent.partition(":")[0] in NAMES
    assert found.deals >= 5_000
    assert found.endings.shape == (121, 121, 6)
    assert found.endings.min() >= 0
    np.testing.assert_allclose(found.endings.sum(axis=-1), 1, atol=1e-5)
    wins = found.win_probability
    assert (np.diff(wins, axis=0) > -2e-3).all()  # the players of the deals may err
    assert (np.diff(wins, axis=1) < 2e-3).all()
    assert (np.abs(found.match_points) <= 3 + 1e-5).all()
    assert np.isfinite(found.errors).all()
    assert found.win_error.max() < 0.01
    assert 0.53 < wins[0, 0] < 0.59  # the first dealer's edge
    assert wins[120, 0] > 0.99
    assert wins[0, 120] < 0.01
