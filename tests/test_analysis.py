"""Discards ranked for people; recorded games, decision by decision: errors with their losses, luck as in matches."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from crib_env import PlayerViews, analyse_discard, parse_cards
from crib_env.agents import make_agent
from crib_env.agents.expert import ExpertAgent
from crib_env.engine import DEALER
from crib_env.evaluate.commands.analyse import analyse_games, discard
from crib_env.evaluate.matches.game_records import add_records
from crib_env.evaluate.matches.match import play_games
from crib_env.evaluate.matches.mirrored import Games
from crib_env.evaluate.skill.analysis import decisions as decisions_module
from crib_env.evaluate.skill.analysis.decisions import (
    BLUNDERS,
    LATE,
    RecordedGames,
    Rollouts,
    analyse,
    summarise_players,
)
from crib_env.evaluate.skill.analysis.judges import ExpertJudge, Worth, play_judge
from crib_env.tables.outlook import discard_points
from tests.helpers.refusals import refused

HANDS = 5  # fewer than usual, for speed
JUDGE, EXPERT = ExpertJudge(HANDS), ExpertAgent(HANDS)


def recorded(a, b, games, seed=4):
    return Games.merged(list(play_games(a, b, games, seed, keep_records=True, measure_luck=True)))


class Careless(ExpertAgent):
    """An expert that discards the pair it values least."""

    name = "careless"

    def discard_values(self, views: PlayerViews) -> np.ndarray:
        values = super().discard_values(views)
        return np.where(np.isfinite(values), -values, values)


@pytest.fixture(scope="module")
def games():
    return recorded(Careless(HANDS), ExpertAgent(HANDS), 2)


@pytest.fixture(scope="module")
def found(games):
    return analyse(games.records, JUDGE)


def seat_of(analysis, name):
    return analysis.record.players.index(name)


def test_the_judge_itself_makes_no_errors(found):
    for analysis in found:
        expert = [d for d in analysis.decisions if d.seat == seat_of(analysis, "expert")]
        assert {decision.kind for decision in expert} == {"discard", "play"}
        assert all((d.chance_lost, d.points_lost) == (0, 0) and d.chosen == d.best for d in expert)


def test_a_bad_discard_is_found_with_its_exact_loss(found):
    """All discards of the careless player, against the analysis of one hand at a time."""
    seen = 0
    for analysis in found:
        seat = seat_of(analysis, "careless")
        for decision in analysis.decisions:
            if decision.seat == seat and decision.kind == "discard":
                scores = np.roll(analysis.scores[decision.deal], -seat).tolist()
                six = parse_cards(analysis.record.deals[decision.deal])[6 * seat : 6 * seat + 6]
                rows = analyse_discard(six, dealer=analysis.dealers[decision.deal] == seat, scores=tuple(scores))
                (chosen,) = (row for row in rows if tuple(row["discard"].tolist()) == decision.chosen)
                best = rows[0]["win_probability"]
                assert decision.chance == pytest.approx(best, abs=1e-9)
                assert decision.chance_lost == pytest.approx(best - chosen["win_probability"], abs=1e-9)
                (better,) = (row for row in rows if tuple(row["discard"].tolist()) == decision.best)
                points = max(better["total"] - chosen["total"], 0) if decision.chance_lost else 0
                assert decision.points_lost == pytest.approx(points, abs=1e-9)
                assert decision.chance_lost > 0.02 or min(best, 1 - best) < 0.1
                seen += 1
    assert seen >= 14


def test_every_choice_is_a_decision(games, found):
    for record, analysis in zip(games.records, found):
        discards = [d for d in analysis.decisions if d.kind == "discard"]
        assert len(discards) == 2 * len(record.deals)
        assert [(d.deal, d.place) for d in discards] == [(k, p) for k in range(len(record.deals)) for p in (0, 2)]
        for decision in analysis.decisions:
            cards = parse_cards(record.cards[decision.deal])
            made = cards[decision.place : decision.place + len(decision.chosen)]
            assert sorted(made) == sorted(decision.chosen)


def test_luck_equals_that_of_the_match(games, found):
    for k, analysis in enumerate(found):
        luck = analysis.luck.sum(axis=0)
        assert np.allclose(luck if k % 2 == 0 else -luck, games.luck[k])  # a sits in seat 0, then in seat 1


def test_a_rank_that_wins_at_once_does_not_hide_what_the_others_lose(games):
    """At 120 one card may win at once: any other is worth less, but not nothing."""
    seen = 0
    for moment in RecordedGames(games.records[:1]).moments():
        views = replace(moment.views, scores=np.array([[120, 116]], np.int16))
        if views.is_discard.all() or len(np.unique(views.action_mask.nonzero()[1] % 13)) < 2:
            continue
        wins, worth = views.ranks_and_gains[1].reshape(4, 13).max(axis=0) >= 1, JUDGE.worth(views)
        legal = np.isfinite(worth.points[0])
        assert np.array_equal(legal, np.isfinite(worth.chances[0]))
        if wins.any():
            assert (worth.chances[0][wins] == 1).all()
            assert (worth.chances[0][legal] > 0).all()
            assert EXPERT.best_ranks(views)[0] == wins.argmax()
            seen += (worth.chances[0][legal & ~wins] < 0.999).any()
    assert seen


def test_a_game_with_starting_scores_begins_at_them(games):
    record = games.records[0]
    last = len(record.deals) - 1
    (whole,) = analyse(games.records[:1], Other())
    scores = tuple(whole.scores[last].tolist())
    rest = replace(
        record,
        first_dealer=whole.dealers[last],
        start_scores=scores,
        deals=record.deals[last:],
        cards=record.cards[last:],
    )
    rest.check()
    (analysis,) = analyse([rest], Other())
    assert analysis.scores.tolist() == [list(scores)]
    assert np.allclose(analysis.luck[0, 1:], whole.luck[last, 1:])
    assert [d.chance_lost for d in analysis.decisions] == [d.chance_lost for d in whole.decisions if d.deal == last]


@pytest.mark.slow
def test_late_decisions_are_played_out_once(tmp_path, monkeypatch):
    """The next analysis reads what was kept; other decisions are judged by the tables."""
    games = recorded(make_agent("careful"), make_agent("greedy"), 2)
    path = tmp_path / "games.jsonl.rollouts.json"
    before = analyse(games.records, Other())
    found = analyse(games.records, Other(), rollouts=Rollouts(path, 300, "greedy"))
    assert len(json.loads(path.read_text())) > 4
    monkeypatch.setattr(decisions_module, "rollout", None)
    assert repr(analyse(games.records, Other(), rollouts=Rollouts(path, 300, "greedy"))) == repr(found)
    n_better = 0
    for old, new in zip(before, found):
        for is_late, judged, tabled in zip(late_decisions(new.record), new.decisions, old.decisions, strict=True):
            assert is_late or judged == tabled
            n_better += is_late and judged.best != judged.chosen
    assert n_better > 0


def late_decisions(record):
    """Whether each decision of a game, in order, is late."""
    for moment in RecordedGames([record]).moments():
        view = moment.views
        ranks = len(np.unique(view.action_mask.nonzero()[1] % 13))
        if view.discards[0, 0] < 0 if view.is_discard[0] else ranks > 1:
            yield bool((view.scores >= LATE).all())


def test_a_file_that_holds_no_rollouts_is_named(tmp_path):
    path = tmp_path / "games.jsonl.rollouts.json"
    path.write_text('{"00": {"best": [0, 1], "chance": 0.5}}')
    with refused(str(path), "does not hold rollouts"):
        Rollouts(path, 100)


def test_points_of_discards_are_those_of_the_analysis():
    rng = np.random.default_rng(3)
    sixes = np.sort(rng.random((8, 52)).argsort(axis=1)[:, :6].astype(np.int64), axis=1)
    is_dealer = np.arange(8) % 2 == DEALER
    for six, dealer, points in zip(sixes, is_dealer, discard_points(sixes, is_dealer)):
        rows = analyse_discard(six.tolist(), dealer=bool(dealer))
        rows = rows[np.lexsort((rows["discard"][:, 1], rows["discard"][:, 0]))]
        assert points == pytest.approx(rows["total"])


def test_a_summary_adds_up(found):
    careless, expert = sorted(summarise_players(found), key=lambda player: player.name)
    lost = [d.chance_lost for one in found for d in one.decisions if d.seat == seat_of(one, "careless")]
    rates = careless.errors.values()
    assert sum(rate.decisions * rate.chance_lost.mean for rate in rates) == pytest.approx(sum(lost))
    assert sum(careless.blunders.values()) == sum(value >= 0.01 for value in lost)
    assert not any(expert.blunders.values())
    assert set(expert.blunders) == set(BLUNDERS)


def test_the_command(games, tmp_path, capsys):
    path = tmp_path / "games.jsonl"
    add_records(path, games.records)
    analyse_games(path, judge="expert", json_file=tmp_path / "found.json")
    shown = capsys.readouterr().out
    assert "2 games; the play by expert:hands=100" in shown
    assert "decisions that lost most" in shown
    content = json.loads((tmp_path / "found.json").read_text())
    assert content["play"] == "expert:hands=100"
    assert content["players"]["expert"]["errors"]["discard"]["chance_lost"]["mean"] == 0
    assert len(content["games"]) == 2
    (tmp_path / "none.jsonl").write_text("")
    with refused("none.jsonl"):
        analyse_games(tmp_path / "none.jsonl")


class Other:
    """A user's own judge, for whom all choices have the same value."""

    name = "other"

    def worth(self, views: PlayerViews) -> Worth:
        values = np.where(views.action_mask.reshape(-1, 4, 13).any(axis=1), 0.5, -np.inf)
        return Worth(values, values)


def test_the_solution_judges_what_follows_three_cards(games):
    """It is no player's own judge: even ``expert`` loses something by it; earlier cards are those of its search."""
    judge, searched = play_judge(threads=2), play_judge("expert")
    late = early = 0
    for moment in RecordedGames(games.records[:1]).moments():
        choices = ~moment.views.is_discard & (moment.views.action_mask.reshape(-1, 4, 13).any(axis=1).sum(axis=1) > 1)
        if not choices.any():
            continue
        views = moment.views[choices]
        found, other = judge.worth(views), searched.worth(views)
        assert (np.isfinite(found.chances) == np.isfinite(other.chances)).all()
        assert (found.points == other.points).all()
        same = (found.chances == other.chances).all(axis=1)
        assert same[views.laid[:, 2] < 0].all()
        early, late = early + same.sum(), late + (~same).sum()
    assert early > 10
    assert late > 10


SIX = "5H 5C JD QS 2H 3D"


@pytest.mark.parametrize("cards", [(SIX,), tuple(SIX.split()), ("5h5cjdqs2h3d",), ("5H5C", "jd,QS", "2H 3D")])
def test_cards_are_given_as_people_write_them(cards, capsys):
    discard(cards, dealer=True, scores=(96, 101))
    lines = capsys.readouterr().out.splitlines()
    page = (Path(__file__).parents[1] / "docs" / "evaluate" / "exact-values.md").read_text(encoding="utf-8")
    shown = page.partition("--scores 96 101\n```")[2].split("```")[1].splitlines()[1:]
    assert {line.strip() for line in shown} - {"…"} <= {line.strip() for line in lines}
    row = next(line.split() for line in lines if line.split()[:2] == ["2H", "3D"] and "%" in line)
    first = analyse_discard(SIX, dealer=True, scores=(96, 101))[0]
    sampled = [f"{first['pegging']:+.2f}", f"{first['total']:.2f}", f"{first['win_probability']:.2%}"]
    assert row == ["2H", "3D", "5C", "5H", "JD", "QS", "12.67", "10–21", "+7.00", *sampled]


def test_too_few_cards_are_counted():
    with pytest.raises(ValueError, match="six cards are needed, not 5"):
        discard(("5H", "5C", "JD", "QS", "2H"))
