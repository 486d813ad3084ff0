"""Leagues: every match equals the match alone, a stopped league goes on, known strengths come back as ratings."""

import json
import os
from dataclasses import replace
from itertools import combinations
from statistics import NormalDist

import numpy as np
import pytest

from crib_env.agents import make_agent
from crib_env.evaluate.commands.league import play_and_report
from crib_env.evaluate.console import console
from crib_env.evaluate.matches import league as league_module
from crib_env.evaluate.matches import match as match_module
from crib_env.evaluate.matches.league import MEAN, League, Standings, rate
from crib_env.evaluate.matches.match import play_match
from tests.helpers.refusals import refused

AGENTS = ("random", "greedy", "careful", "random:seed=1")


@pytest.fixture
def league():
    return League(AGENTS, games=40, seed=2)


@pytest.fixture
def of_two(tmp_path):
    league = League(("random", "greedy"), games=40, seed=2)
    return league, league.begin(tmp_path / "league")


def untimed(match):
    return replace(match.result, seconds=0.0, microseconds_per_decision={})


def assert_same(ones, others):
    assert [untimed(match) for match in ones] == [untimed(match) for match in others]
    for one, other in zip(ones, others):
        assert one.by_deal == other.by_deal


def test_a_match_of_a_league_is_the_match_played_alone(league, tmp_path):
    matches = league.play(league.begin(tmp_path / "league"))
    assert len(matches) == 6
    for (i, j), match in zip(league.pairings, matches):
        alone = play_match(make_agent(AGENTS[i]), make_agent(AGENTS[j]), 40, seed=2)
        assert match.result.wins == alone.wins == sum(match.by_deal)
        assert match.result.margin == alone.margin
        assert (match.result.a, match.result.b) == (AGENTS[i], AGENTS[j])


def test_a_stopped_league_ends_like_an_uninterrupted_one(league, tmp_path, monkeypatch):
    whole = league.play(league.begin(tmp_path / "whole"))
    folder = league.begin(tmp_path / "stopped")
    played, real = [], league_module.play_games

    def play_games(a, b, *args, **settings):
        played.append((a.name, b.name))
        if len(played) == 4:
            raise KeyboardInterrupt
        return real(a, b, *args, **settings)

    monkeypatch.setattr(league_module, "play_games", play_games)
    with pytest.raises(KeyboardInterrupt):
        league.play(folder)
    assert len(list((folder / "matches").iterdir())) == 3
    told = []
    resumed = league.play(folder, on_progress=lambda done, what: told.append(done))
    assert len(played) == 4 + 3
    assert sum(told) == 6 * 40
    assert_same(resumed, whole)
    assert_same(league.play(folder), whole)
    assert len(played) == 4 + 3
    points = [Standings.of(league, matches).ratings.points.tolist() for matches in (whole, resumed)]
    assert points[0] == points[1]


def test_a_match_that_was_stopped_goes_on_after_its_finished_games(tmp_path, monkeypatch):
    """After a kill between two blocks, in half a line and after the last game, and with results less luck."""
    league = League(AGENTS[:3], games=60, seed=2, luck_adjusted=True)
    whole = league.play(league.begin(tmp_path / "whole"))
    folder = league.begin(tmp_path / "stopped")
    file = folder / "matches" / "1-3.jsonl"
    real = match_module.add_records
    written = []

    def add_records(path, records):
        real(path, records)
        written.extend(records if path == file else ())
        if len(written) == 18:
            raise KeyboardInterrupt

    monkeypatch.setattr(match_module, "add_records", add_records)
    with pytest.raises(KeyboardInterrupt):
        league.play(folder)
    kept = file.read_bytes()
    file.write_bytes(kept + kept[:100].replace(b'"game": 0', b'"game": 18'))
    told = []
    assert_same(league.play(folder, on_progress=lambda done, what: told.append((done, what))), whole)
    assert (18, "random against careful") in told
    assert sum(done for done, _ in told) == 3 * 60
    assert [record.game for record in written] == list(range(60))  # none of them was played again
    assert {path.suffix for path in file.parent.iterdir()} == {".json"}

    (folder / "matches" / "1-3.json").unlink()
    real(file, written)
    assert_same(league.play(folder), whole)
    assert len(written) == 60
    (folder / "matches" / "1-3.json").unlink()
    file.write_bytes(kept.replace(b"careful", b"greedy"))
    with refused("1-3.jsonl"):
        league.play(folder)


def test_the_best_agent_stands_first(league, tmp_path):
    matches = League(AGENTS, 400, 1).play(League(AGENTS, 400, 1).begin(tmp_path / "league"))
    standings = Standings.of(League(AGENTS, 400, 1), matches)
    assert [AGENTS[k] for k in standings.order[:2]] == ["careful", "greedy"]
    assert standings.cells[1, 0].win_rate == pytest.approx(1 - standings.cells[0, 1].win_rate)
    assert standings.cells[1, 0].interval[0] == pytest.approx(1 - standings.cells[0, 1].interval[1])
    assert 0 < standings.misfit < 0.05
    assert (standings.microseconds > 0).all()


def test_the_report_is_written_whole(league, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(console, "width", 80)
    folder = league.begin(tmp_path / "league")
    play_and_report(league, folder, threads=1)
    markdown, said = (folder / "league.md").read_text(), capsys.readouterr().out
    assert all(name in said and name in markdown for name in AGENTS)


@pytest.mark.parametrize(
    ("agents", "games", "says"),
    [
        (("greedy",), 40, "two or more different agents"),
        (("greedy", "greedy"), 40, "two or more different agents"),
        (("greedy", "random"), 3, "games=3 is not allowed"),
        (("greedy", "nobody"), 40, "there is no agent 'nobody'"),
    ],
)
def test_a_bad_league_is_refused(agents, games, says):
    with refused(says):
        League(agents, games, 0)


@pytest.mark.parametrize(
    ("change", "asked"),
    [
        ({"agents": ("greedy", "random")}, "greedy against random, 40 games, seed 2"),
        ({"agents": ("random", "careful")}, "random against careful, 40 games, seed 2"),
        ({"games": 20}, "random against greedy, 20 games, seed 2"),
        ({"seed": 3}, "random against greedy, 40 games, seed 3"),
    ],
)
def test_a_match_of_another_league_is_not_taken_over(of_two, change, asked):
    before, folder = of_two
    before.play(folder)
    says = rf"1-2\.json holds random against greedy, 40 games, seed 2, and this league asks for {asked}: delete it"
    with pytest.raises(ValueError, match=says):
        replace(before, **change).play(folder)


def test_a_damaged_match_is_named(of_two):
    league, folder = of_two
    league.play(folder)
    file = folder / "matches" / "1-2.json"
    whole = json.loads(file.read_text())
    for content in ({"by_deal": [0, 1]}, *(whole | {"by_deal": one} for one in ([], [0] * 19, "2"))):
        file.write_text(json.dumps(content))
        with refused("1-2.json"):
            league.play(folder)


def test_a_fifo_in_place_of_games_is_refused(of_two):
    league, folder = of_two
    (folder / "matches").mkdir()
    os.mkfifo(folder / "matches" / "1-2.jsonl")
    with refused("1-2.jsonl is a FIFO"):
        league.play(folder)


TRUE = np.array([0.0, 100.0, 150.0, -60.0, 500.0])
TRUE += MEAN - TRUE.mean()
PAIRINGS = list(combinations(range(len(TRUE)), 2))
CHANCES = np.array([1 / (1 + 10 ** ((TRUE[j] - TRUE[i]) / 400)) for i, j in PAIRINGS])


def simulated_league(n_deals, rng):
    """Games won by the first of each pairing, by deal: luck of a deal helps one seat, whoever sits in it."""
    limits = np.array([NormalDist().inv_cdf(chance) for chance in CHANCES])[:, None, None]
    seat = np.array([1.0, -1.0])
    of_deal = rng.normal(size=(1, n_deals, 1)) * seat
    of_pairing = rng.normal(size=(len(PAIRINGS), n_deals, 1)) * seat
    of_game = rng.normal(size=(len(PAIRINGS), n_deals, 2))
    luck = np.sqrt(0.3) * of_deal + np.sqrt(0.2) * of_pairing + np.sqrt(0.5) * of_game
    return (luck < limits).sum(axis=2)


def test_known_strengths_come_back():
    ratings = rate(len(TRUE), PAIRINGS, simulated_league(100_000, np.random.default_rng(0)))
    assert np.abs(ratings.points - TRUE).max() < 3
    assert (np.abs(ratings.points - TRUE) < 1.5 * ratings.half_widths).all()
    assert ratings.points.mean() == pytest.approx(MEAN)
    assert [ratings.chance(i, j) for i, j in PAIRINGS] == pytest.approx(CHANCES, abs=0.01)


def test_intervals_hold_the_true_ratings_at_their_rate():
    rng, leagues, covered = np.random.default_rng(1), 600, np.zeros(len(TRUE))
    for _ in range(leagues):
        ratings = rate(len(TRUE), PAIRINGS, simulated_league(300, rng))
        covered += np.abs(ratings.points - TRUE) <= ratings.half_widths
    assert (covered / leagues > 0.92).all()
    assert 0.935 < covered.mean() / leagues < 0.965


def test_mirrored_luck_makes_intervals_narrower():
    """Each pair of games split as if decided by the deal alone: there is no doubt left."""
    won = np.ones((1, 1_000), int)
    drawn = rate(2, [(0, 1)], won)
    independent = rate(2, [(0, 1)], np.random.default_rng(0).binomial(2, 0.5, (1, 1_000)))
    assert drawn.half_widths.max() < independent.half_widths.min() / 10
    assert drawn.points == pytest.approx([MEAN, MEAN])


def test_a_player_who_wins_every_game_has_a_finite_rating_and_a_wide_interval():
    ratings = rate(3, list(combinations(range(3), 2)), np.full((3, 100), 2))
    assert ratings.points[0] > ratings.points[1] > ratings.points[2]
    assert np.isfinite(ratings.points).all()
    assert ratings.half_widths[0] > 100
