"""The win table: against hand-worked games, against play, and in files that are checked in full."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from crib_env.agents import make_agent
from crib_env.engine import GAME, OVER, begin_deal, begin_game, shuffle, step
from crib_env.kernels import kernel, streams
from crib_env.players.policies import GREEDY, native_card
from crib_env.tables.win_table import WinTable, sample_outcomes, solve_win_table


@pytest.fixture(scope="module")
def outcomes():
    return sample_outcomes(make_agent("greedy"), 4_000, seed=1)


@pytest.fixture(scope="module")
def win_table(outcomes):
    return solve_win_table(outcomes, "greedy")


def rows(*outcomes):
    out = np.zeros((len(outcomes), 32), np.int8)
    for row, outcome in zip(out, outcomes):
        row[: len(outcome)] = outcome
    return np.tile(out, (10, 1))


def test_one_outcome_by_hand():
    """Pone makes 1, dealer 2, pone 10 in every deal, so the end of a game can be counted by hand."""
    win_table = solve_win_table(rows([-1, 2, -10]), "nobody")
    assert win_table.endings[119, 120].tolist() == [0, 0, 0, 1, 0, 0]  # pone pegs first
    assert win_table.endings[119, 119].tolist() == [1, 0, 0, 0, 0, 0]  # then the dealer, before pone's hand
    assert win_table.endings[118, 111].tolist() == [0, 0, 0, 1, 0, 0]  # pone's hand: 111 + 11
    assert win_table.endings[119, 90].tolist() == [1, 0, 0, 0, 0, 0]  # pone has 91: no skunk
    assert win_table.endings[119, 89].tolist() == [0, 1, 0, 0, 0, 0]  # pone has 90
    assert win_table.endings[119, 59].tolist() == [0, 0, 1, 0, 0, 0]  # pone has 60
    assert win_table.endings[58, 110].tolist() == [0, 0, 0, 0, 0, 1]
    # 117–109 makes 119–120 after the deal, and pone deals next: the other pegs 1, it wins with 2
    assert win_table.endings[117, 109].tolist() == [0, 0, 0, 1, 0, 0]
    assert (win_table.win_error == 0).all()


def test_two_outcomes_are_weighed():
    win_table = solve_win_table(rows([5], [-5]), "nobody")
    assert win_table.win_probability[116, 116] == 0.5
    # from 111 each: whoever wins this deal needs one more, and the right to deal changes nothing
    assert win_table.win_probability[111, 116] == 0.25


def test_outcomes_keep_order_and_add_up_to_the_score(outcomes):
    assert ((outcomes != 0).sum(axis=1) >= 2).all()
    dealer, pone = np.maximum(outcomes, 0).sum(axis=1), -np.minimum(outcomes, 0).sum(axis=1)
    assert 14 < dealer.mean() < 18
    assert 8 < pone.mean() < 12


def test_chances_are_chances_and_more_points_are_never_worse(win_table):
    assert win_table.endings.min() >= 0
    np.testing.assert_allclose(win_table.endings.sum(axis=-1), 1, rtol=1e-6)
    wins = win_table.win_probability
    assert (np.diff(wins, axis=0) >= -1e-6).all()
    assert (np.diff(wins, axis=1) <= 1e-6).all()
    assert (np.abs(win_table.match_points) <= 3 + 1e-6).all()


@kernel
def _dealer_wins(games, dealer, pone, n):
    g, won = games[0], 0
    for _ in range(n):
        begin_game(g, 0, 0, dealer, pone, -1)
        shuffle(g)
        begin_deal(g)
        while g["phase"] != OVER:
            step(g, native_card(g, GREEDY))
        won += g["scores"][0] == 121
    return won


@pytest.mark.parametrize(("dealer", "pone"), [(0, 0), (60, 91), (100, 100), (111, 111), (116, 120), (120, 116)])
def test_play_between_two_of_the_agent_agrees(win_table, dealer, pone):
    games = np.zeros(1, GAME)
    games["episode_stream"] = streams(7, 1)
    played = _dealer_wins(games, dealer, pone, 20_000) / 20_000
    error = np.hypot(win_table.win_error[dealer, pone], np.sqrt(played * (1 - played) / 20_000))
    assert abs(win_table.win_probability[dealer, pone] - played) < 4.5 * error


def test_the_answer_does_not_depend_on_threads(outcomes):
    one, two = (solve_win_table(outcomes[:200], "greedy", threads) for threads in (1, 2))
    assert (one.endings == two.endings).all()
    assert (one.errors == two.errors).all()


def test_a_saved_win_table_is_read_back_and_a_damaged_one_refused(win_table, tmp_path):
    win_table.save(tmp_path / "win_table.npz")
    again = WinTable.load(tmp_path / "win_table.npz")
    assert (again.agent, again.deals) == ("greedy", 4_000)
    assert (again.endings == win_table.endings).all()
    whole = (tmp_path / "win_table.npz").read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    for name, content in (("short", whole[:-100]), ("empty", b""), ("flipped", flipped), ("foreign", b"x" * 100)):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ValueError, match=name):
            WinTable.load(tmp_path / name)
    np.savez(tmp_path / "older.npz", kind="win table", version=1, endings=win_table.endings)
    with pytest.raises(ValueError, match="version 1, not 2: build it again"):
        WinTable.load(tmp_path / "older.npz")
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    with pytest.raises(ValueError, match="is not a win table"):
        WinTable.load(tmp_path / "other.npz")
    with pytest.raises(ValueError, match="there is no win table"):
        WinTable.load(tmp_path / "nowhere.npz")


def test_the_command(tmp_path):
    line = [sys.executable, "-m", "evaluate", "win-table", str(tmp_path / "b.npz"), "--deals", "100", "--picture"]
    root, wide = Path(__file__).parents[1], {**os.environ, "COLUMNS": "150"}
    done = subprocess.run([*line, str(tmp_path / "b.png")], cwd=root, capture_output=True, text=True, env=wide)
    assert done.returncode == 0, done.stderr
    assert "the first deal" in done.stdout
    assert WinTable.load(tmp_path / "b.npz").deals == 100
    assert (tmp_path / "b.png").stat().st_size > 10_000
    bad = subprocess.run([*line, str(tmp_path / "no" / "b.png")], cwd=root, capture_output=True, text=True)
    assert bad.returncode == 2
    assert "there is no folder" in bad.stderr
