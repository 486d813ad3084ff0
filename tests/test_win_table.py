"""The win table: against hand-worked games, against play, and in files that are checked in full."""

import os
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from crib_env.agents import make_agent
from crib_env.agents.registry import with_win_table
from crib_env.batch import GameBatch
from crib_env.engine import DEAL, DEALER, DISCARD, GAME, OVER, PONE, WIN, begin_deal, begin_game, shuffle, step
from crib_env.exact.discard_statistics import PLACES
from crib_env.exact.rank_classes import CLASS_RANKS, rank_class
from crib_env.kernels import kernel, mask_of, streams
from crib_env.players.policies import GREEDY, native_card
from crib_env.tables.analysis import analyse_discard, late_play, outlook
from crib_env.tables.standard import standard_win_table
from crib_env.tables.win_table import LATE, PARTS_OF_LATE_PLAY, WinTable
from evaluate.__main__ import main
from evaluate.win_table.deals import deals_at, near_scores, points_of
from evaluate.win_table.late_play import SIZE, Explored, LatePlay, explore, fit_late_play
from evaluate.win_table.making import Plan, make_win_table
from evaluate.win_table.solve import PARTS, FromNothing, Played, solve_win_table, weights_of
from evaluate.win_table.variates import N_VARIATES, variates

ROOT = Path(__file__).parents[1]
NOWHERE = np.zeros((0, 2), np.int64)
NO_LATE_PLAY = LatePlay(*(np.zeros((2, *shape, PARTS_OF_LATE_PLAY), np.float32) for shape in ((1820,), SIZE)))


def solved_from_nothing(points, luck=None):
    """The table of deals from 0–0 alone."""
    n = len(points)
    luck = np.zeros((n, 0)) if luck is None else luck
    nothing = Played(NOWHERE, np.zeros((n, 0, 2), np.int8), np.zeros((n, 0)))
    return solve_win_table("greedy", FromNothing(points, luck), nothing, nothing, NO_LATE_PLAY)


@pytest.fixture(scope="module")
def points():
    return points_of(make_agent("greedy"), streams(1, 4_000))


@pytest.fixture(scope="module")
def win_table(points):
    return solved_from_nothing(points, variates(streams(1, 4_000)))


def rows(*deals):
    """The points of some deals, pone's negative, in the form of `points_of`; each as often as there are parts."""
    out = np.zeros((len(deals), 32, 2), np.int8)
    for row, deal in zip(out, deals):
        for k, made in enumerate(deal):
            row[k, int(made < 0)] = abs(made)
    return np.repeat(out, PARTS, axis=0)


def test_one_outcome_by_hand():
    """Pone makes 1, dealer 2, pone 10 in every deal, so the end of a game can be counted by hand."""
    win_table = solved_from_nothing(rows([-1, 2, -10]))
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
    win_table = solved_from_nothing(rows([5], [-5]))
    assert win_table.win_probability[116, 116] == 0.5
    # from 111 each: whoever wins this deal needs one more, and the right to deal changes nothing
    assert win_table.win_probability[111, 116] == 0.25


def test_points_keep_their_order_and_add_up_to_the_score(points):
    assert ((points.sum(axis=2) != 0).sum(axis=1) >= 2).all()
    assert (points.min(axis=2) == 0).all()  # each is one player's
    dealer, pone = points.sum(axis=1).T
    assert 14 < dealer.mean() < 18
    assert 8 < pone.mean() < 12


def test_deals_are_played_where_they_begin():
    """Scores after a deal are those of a batch that began there, also where somebody wins."""
    agent, seeds, scores = make_agent("careful"), streams(3, 40), np.array([[0, 0], [118, 97], [120, 120], [97, 118]])
    after = deals_at(agent, seeds, scores)
    for place, pair in enumerate(scores.tolist()):
        batch = GameBatch(seeds, episode="deal", first_dealer=0, scores=tuple(pair))
        while len(rows := batch.acting()):
            batch.step(rows, agent.act(batch.views(rows)))
        assert np.array_equal(after[:, place], batch.games["scores"])


def test_pairs_of_scores_are_near_the_end_twice_once_or_not():
    both, one = near_scores(118)
    assert len(both) == 9
    assert len(one) == 2 * 3 * 118
    assert both.min() == 118
    assert (one.max(axis=1) >= 118).all()
    assert (one.min(axis=1) < 118).all()


def test_the_end_of_the_game_is_that_of_whole_games_on_a_few_deals():
    """Where every deal is one of a few, the chance to win follows from playing each of them, deal after deal."""
    agent, seeds = make_agent("careful"), streams(5, PARTS)
    scores = near_scores(115)[0]
    played = Played(scores, deals_at(agent, seeds, scores), np.zeros((PARTS, 0)))
    nothing = Played(NOWHERE, np.zeros((PARTS, 0, 2), np.int8), np.zeros((PARTS, 0)))
    solved = solve_win_table(
        "careful", FromNothing(rows([1])[:PARTS], np.zeros((PARTS, 0))), played, nothing, NO_LATE_PLAY
    )

    @cache
    def chance(dealer, pone):
        won = 0.0
        for seed in seeds:
            batch = GameBatch(np.array([seed]), episode="deal", first_dealer=0, scores=(dealer, pone))
            while len(batch.acting()):
                batch.step(np.zeros(1, np.int64), agent.act(batch.views(np.zeros(1, np.int64))))
            after = batch.games["scores"][0].tolist()
            won += after[0] >= WIN if max(after) >= WIN else 1 - chance(*after[::-1])
        return won / len(seeds)

    for dealer, pone in [(120, 120), (119, 120), (120, 119), (119, 119), (117, 118), (115, 115)]:
        assert solved.win_probability[dealer, pone] == pytest.approx(chance(dealer, pone), abs=1e-6)


def test_luck_has_mean_zero_and_is_taken_out_without_bias():
    luck = variates(streams(2, 4_000))
    assert luck.shape == (4_000, N_VARIATES)
    assert (np.abs(luck.mean(axis=0)) < 4.5 * luck.std(axis=0) / np.sqrt(4_000)).all()
    weights = weights_of(luck)
    assert weights.sum() == pytest.approx(1)
    assert np.allclose(weights @ luck, 0)
    assert weights @ (3 + luck @ np.arange(N_VARIATES)) == pytest.approx(3)


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


def test_the_table_follows_from_the_plan_alone(tmp_path):
    """It depends neither on threads nor on an interruption, and deals of another plan are refused."""
    plan = Plan("greedy", 200, 2, 1)
    first, second = make_win_table(plan, tmp_path / "one", 1)
    (tmp_path / "one" / "round-2" / "near-0-200.npz").unlink()
    (tmp_path / "one" / "round-1.npz").unlink()
    told = []
    again = list(make_win_table(plan, tmp_path / "one", 2, lambda done, what: told.append(done)))[1]
    assert sum(told) == plan.steps()
    assert (again.endings == second.endings).all()
    assert (again.errors == second.errors).all()
    assert (first.endings == second.endings).all()  # `greedy` does not use it
    with pytest.raises(ValueError, match=r"has deals of .*greedy"):
        next(make_win_table(plan._replace(seed=2), tmp_path / "one", 1))


# What the play near the end adds.


def test_what_is_explored_adds_up_to_the_result_of_the_deal():
    """The chance before the play, what the play adds and what follows are together the value of the scores after it."""
    agent, seeds, known = make_agent("careful"), streams(8, 6), outlook()
    found = explore(agent, seeds, known)
    assert {PONE, DEALER} == set(found.roles.tolist())
    for k, (role, seed) in enumerate(zip(found.roles.tolist(), seeds)):
        for own, other in [(85, 100), (112, 109), (119, 117), (120, 120)]:
            mine = 0 if role == DEALER else 1
            scores = (own, other) if mine == 0 else (other, own)
            batch = GameBatch(np.array([seed]), episode="deal", first_dealer=0, scores=scores)
            six = np.sort(batch.games["cards"][0, 6 * mine : 6 * mine + 6]).tolist()
            fits = [
                row
                for row in analyse_discard(six, dealer=mine == 0, scores=(own, other))
                if rank_class(mask_of(np.array(six)) ^ mask_of(row["discard"])) == found.classes[k]
            ]
            results = []
            for row in fits:  # discards of the same ranks
                game, pair = batch.games.copy(), row["discard"].tolist()
                while game["phase"][0] < DEAL:
                    batch.games[:] = game
                    cards = agent.act(batch.views(np.zeros(1, np.int64)))
                    if game["phase"][0] == DISCARD and game["turn"][0] == mine:
                        cards = np.array([pair.pop(0)])
                    batch.step(np.zeros(1, np.int64), cards)
                    game = batch.games.copy()
                after = game["scores"][0, [mine, 1 - mine]].tolist()
                table = known.win_table
                if max(after) >= WIN:
                    value = float(after[0] >= WIN)
                else:
                    value = 1 - table[after[1], after[0]] if role == DEALER else table[after[0], after[1]]
                results.append(value - row["win_probability"])
            at = own - LATE, other - LATE
            assert np.abs(np.array(results) - (found.added[k][at] + found.later[k][at])).min() < 2e-3, (k, own, other)


def test_what_hands_differ_in_is_found_again():
    """Planted: low cards help pone at the very end; the noise of a single deal is five times as large."""
    rng = np.random.default_rng(0)
    classes, roles = rng.integers(0, 1820, 4_000), rng.integers(0, 2, 4_000)
    low = (CLASS_RANKS <= 3).sum(axis=1)
    effect = 0.04 * (low - low.mean())
    added = rng.normal(0, 0.2, (4_000, 1, 1)) * np.ones((4_000, *SIZE))
    added[:, 30:, 30:] += ((roles == PONE) * (0.1 + effect[classes]))[:, None, None]
    late = fit_late_play(Explored(roles, classes, added.astype(np.float16), np.zeros((4_000, *SIZE), np.float16)))
    found = np.einsum("rcp,rabp->rcab", late.hands, late.scores)
    assert found.shape == (2, 1820, *SIZE)
    assert np.abs(found[PONE, :, 33, 33] - 0.1 - effect).mean() < 0.02
    assert np.abs(found[PONE, :, 5, 5]).mean() < 0.02
    assert np.abs(found[DEALER, :, 33, 33]).mean() < 0.02


def test_discards_are_valued_with_what_the_play_adds(tmp_path):
    rng = np.random.default_rng(1)
    late = LatePlay(*(0.02 * rng.random(part.shape, np.float32) for part in NO_LATE_PLAY))
    values = {}
    for name, found in (("with", late), ("without", NO_LATE_PLAY)):
        replace(standard_win_table(), late_hands=found.hands, late_scores=found.scores).save(tmp_path / name)
        player = make_agent(f"expert:win_table={tmp_path / name}")
        for scores in ((84, 110), (110, 112), (120, 85)):
            batch = GameBatch(streams(1, 3), episode="deal", scores=scores)
            values[name, scores] = player.discard_values(batch.views(np.arange(3)))
    known = outlook(tmp_path / "with")
    assert np.array_equal(values["with", (84, 110)], values["without", (84, 110)])
    views = GameBatch(streams(1, 3), episode="deal", scores=(110, 112)).views(np.arange(3))
    for b, (own, other) in enumerate(views.scores.tolist()):
        six = np.sort(views.hand[b].astype(np.int64))
        role = DEALER if views.is_dealer[b] else PONE
        for k, (i, j) in enumerate(PLACES):
            kept = rank_class(mask_of(six) ^ mask_of(six[[i, j]]))
            added = values["with", (110, 112)][b, k] - values["without", (110, 112)][b, k]
            assert added == pytest.approx(late_play(role, kept, own, other, known), abs=1e-12)
            assert added > 0


def test_players_to_the_score_use_the_table_of_the_round_before():
    table = Path("some.npz")
    assert with_win_table("expert", table) == "expert:win_table=some.npz"
    assert with_win_table("best:scores=yes", table) == "best:scores=yes,win_table=some.npz"
    assert with_win_table("greedy", table) == "greedy"


def test_a_saved_win_table_is_read_back_and_a_damaged_one_refused(win_table, tmp_path):
    win_table.save(tmp_path / "win_table.npz")
    again = WinTable.load(tmp_path / "win_table.npz")
    assert (again.agent, again.deals) == ("greedy", win_table.deals)
    assert (again.endings == win_table.endings).all()
    whole = (tmp_path / "win_table.npz").read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    for name, content in (("short", whole[:-100]), ("empty", b""), ("flipped", flipped), ("foreign", b"x" * 100)):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ValueError, match=name):
            WinTable.load(tmp_path / name)
    np.savez(tmp_path / "older.npz", kind="win table", version=1, endings=win_table.endings)
    with pytest.raises(ValueError, match="version 1, not 3: build it again"):
        WinTable.load(tmp_path / "older.npz")
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    with pytest.raises(ValueError, match="is not a win table"):
        WinTable.load(tmp_path / "other.npz")
    with pytest.raises(ValueError, match="there is no win table"):
        WinTable.load(tmp_path / "nowhere.npz")


def test_the_command(tmp_path, monkeypatch, capsys):
    line = [sys.executable, "-m", "evaluate", "win-table", str(tmp_path / "b.npz"), "--agent", "greedy"]
    line, wide = [*line, "--deals", "200", "--rounds", "1", "--picture"], {**os.environ, "COLUMNS": "150"}
    done = subprocess.run([*line, str(tmp_path / "b.png")], cwd=ROOT, capture_output=True, text=True, env=wide)
    assert done.returncode == 0, done.stderr
    assert "the first deal" in done.stdout
    assert WinTable.load(tmp_path / "b.npz").deals == 200
    assert (tmp_path / "b.png").stat().st_size > 10_000
    monkeypatch.setattr(sys, "argv", [*line[2:], str(tmp_path / "no" / "b.png")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "there is no folder" in capsys.readouterr().err
