"""Datasets: what is written is what was played, and reads back equal."""

import json

import numpy as np
import pytest

from crib_env.agents import make_agent
from crib_env.batch import GameBatch
from crib_env.evaluate.commands.dataset import dataset
from crib_env.evaluate.matches import dataset as dataset_module
from crib_env.evaluate.matches.dataset import (
    ROW,
    Dataset,
    action_masks,
    observations,
    play_rows,
    read_dataset,
    read_manifest,
    read_rows,
)
from crib_env.kernels import streams
from tests.helpers.refusals import refused

pytest.importorskip("pyarrow")
PLAYERS = ("greedy", "careful")


def players():
    return tuple(make_agent(name) for name in PLAYERS)


def assert_equal(one, other):
    np.testing.assert_array_equal(one, other)
    assert one.dtype == other.dtype == ROW


def test_rows_are_the_games():
    rows = play_rows(players(), seed=3, first=5, games=4)
    batch, at = GameBatch(streams(3, 9)[5:], first_id=5), 0
    boards, masks = observations(rows, "board"), action_masks(rows)
    for k in range(4):
        first = at
        while k in batch.acting():
            row, g = np.array([k]), batch.games[k]
            seen, legal = batch.observe(row, "board")
            assert (boards[at] == seen[0]).all()
            assert (masks[at] == legal[0]).all()
            assert rows.game[at] == 5 + k
            seat = int(g["turn"])
            assert rows.player[at] == (seat + 5 + k) % 2
            assert (rows.own_score[at], rows.other_score[at]) == (g["scores"][seat], g["scores"][1 - seat])
            assert rows.place[at] > 0 or not rows.is_dealer[at]  # pone discards first
            batch.step(row, rows.action[at : at + 1].astype(np.int64))
            at += 1
        scores = batch.games["scores"][k].tolist()
        lead = (scores[0] - scores[1]) * (1 if (5 + k) % 2 == 0 else -1)
        winner = 0 if lead > 0 else 1
        assert (rows.won[first:at] == (rows.player[first:at] == winner)).all()
    assert at == len(rows)


def test_rewards_are_the_changes_of_the_lead():
    rows = play_rows(players(), seed=8, first=0, games=3)
    lead = rows.own_score - rows.other_score
    for game in range(3):
        for player in range(2):
            mine = np.flatnonzero((rows.game == game) & (rows.player == player))
            assert (rows.reward[mine][:-1] == np.diff(lead[mine])).all()
            end = lead[mine][-1] + rows.reward[mine][-1]
            assert (end > 0) == rows.won[mine[0]]


def test_same_files_for_any_number_of_threads_and_after_a_stop(tmp_path, monkeypatch):
    monkeypatch.setattr(dataset_module, "GAMES_A_SHARD", 4)
    plan, manifests, told = Dataset(PLAYERS, 10, seed=2), [], []
    for name, threads in (("one", 1), ("two", 2)):
        plan.begin(tmp_path / name)
        manifests.append(plan.write(tmp_path / name, threads, told.append))
    assert manifests[0] == manifests[1] == read_manifest(tmp_path / "one")
    assert sum(told) == 20
    assert [shard.games for shard in manifests[0].shards] == [4, 4, 2]
    (tmp_path / "two" / "shards" / "00001.parquet").unlink()
    (tmp_path / "two" / "dataset.json").unlink()
    plan.begin(tmp_path / "two")
    assert plan.write(tmp_path / "two", 1, told.append) == manifests[0]
    rows = list(read_dataset(tmp_path / "two"))
    assert sum(map(len, rows)) == manifests[0].decisions
    whole = play_rows(players(), 2, 0, 10)
    assert_equal(np.concatenate(rows), whole)
    assert sum(manifests[0].wins) == 10


def test_the_command_writes_a_card_and_goes_on(tmp_path):
    for _ in range(2):
        dataset(tmp_path / "d", PLAYERS, games=3, seed=4, threads=1)
    card, manifest = (tmp_path / "d" / "README.md").read_text(), read_manifest(tmp_path / "d")
    assert f"{manifest.decisions:,} decisions" in card
    assert manifest.shards[0].sha256 in card
    assert "crib-env dataset FOLDER --agents greedy careful --games 3 --seed 4" in card
    with refused(tmp_path / "d"):
        dataset(tmp_path / "d", PLAYERS, games=5, seed=4)


def test_damage_is_named(tmp_path):
    dataset(tmp_path / "d", PLAYERS, games=2)
    shard = tmp_path / "d" / "shards" / "00000.parquet"
    shard.write_bytes(shard.read_bytes()[:-9])
    with refused("00000.parquet"):
        list(read_dataset(tmp_path / "d"))
    with refused("00000.parquet"):
        read_rows(shard)
    shard.unlink()
    with refused("shards/00000.parquet"):
        list(read_dataset(tmp_path / "d"))
    with refused(tmp_path):
        read_manifest(tmp_path)


def test_files_outside_the_folder_are_not_read(tmp_path):
    dataset(tmp_path / "d", PLAYERS, games=2)
    manifest = json.loads((tmp_path / "d" / "dataset.json").read_text())
    manifest["shards"][0]["file"] = "../elsewhere.parquet"
    (tmp_path / "d" / "dataset.json").write_text(json.dumps(manifest))
    with refused("../elsewhere.parquet"):
        list(read_dataset(tmp_path / "d"))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"games": 0}, "games=0 is not allowed"),
        ({"seed": -1}, "seed=-1 is not allowed"),
        ({"agents": ("greedy", "nobody")}, "there is no agent 'nobody'"),
        ({"agents": ("human", "greedy")}, "cannot play many games"),
    ],
)
def test_bad_input(tmp_path, settings, message):
    with refused(message):
        dataset(tmp_path / "d", **{"agents": PLAYERS, "games": 2, **settings})
    assert not (tmp_path / "d").exists()
