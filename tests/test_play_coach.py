"""What the coach says: every sentence is taken apart, and its figures are computed again by other code."""

from __future__ import annotations

from collections import Counter
from typing import get_args

import numpy as np
import pytest

from crib_env.cards import format_cards
from crib_env.engine import DISCARD, PLAY
from crib_env.evaluate.play.coach import BLUNDER, Coach, review_rows
from crib_env.evaluate.play.levels import LEVELS
from crib_env.evaluate.play.reasons import Sight
from crib_env.evaluate.play.saved_game import AGENT, PERSON, Coaching, GameSoFar, SavedGame
from crib_env.evaluate.skill.analysis.decisions import LEAST
from crib_env.evaluate.skill.analysis.judges import ExpertJudge
from crib_env.views import views_of
from tests.helpers.coach_sentences import (
    OF_CARDS,
    OF_DISCARDS,
    SAID_OF_CARDS,
    SAID_OF_DISCARDS,
    CardClaims,
    DiscardClaims,
    has_figure,
    sentences,
    taken_apart,
)
from tests.helpers.reference import score_play

ROW = np.zeros(1, np.int64)
STARTS = ((90, 95), (0, 0), (112, 110), (60, 100))


def played(folder, seed):
    """A game to its end, in which the person lays any card."""
    game = SavedGame.begin_in(GameSoFar("greedy", seed, None, STARTS[seed % 4], ()), folder)
    rng = np.random.default_rng(seed)
    while not game.is_over:
        card = game.agents_card() if game.turn == AGENT else rng.choice(np.flatnonzero(game.view().action_mask[0]))
        game.play(int(card))
    game.close()
    return game


@pytest.fixture(autouse=True)
def games_stay_in_memory(monkeypatch):
    monkeypatch.setattr(SavedGame, "_keep", lambda game, *_: None)


def check_notes(game, notes, kinds, every, most):
    """Counts the sentences of notes by kind. Figures of what the opponent holds are computed again if it holds at most
    ``most`` cards; they and those of cribs also in one of ``every`` notes."""
    for k, note in enumerate(notes):
        decision, view = note.decision, views_of(game.played[note.at].before, ROW, ROW + PERSON, ROW)
        kinds["decisions"] += 1
        figures = sentences(f"{note.text} {note.why.figures if note.why else ''}".strip())
        kinds["without a figure"] += sum(not has_figure(one) for one in figures)
        kinds["sentences"] += len(figures)
        if decision.chance_lost < LEAST:
            assert note.why is None
            assert f"{100 * decision.chance:.1f} % to win" in note.text
            continue
        if decision.chance_lost < 0.002 and decision.points_lost < 0.1:
            kinds["alike"] += 1
            assert (note.size, note.why) == ("best", None)
            assert "better" not in note.text
            assert format_cards(decision.best) in note.text
            continue
        is_discard = decision.kind == "discard"
        claims = (DiscardClaims if is_discard else CardClaims)(view, decision)
        found = [taken_apart(one, OF_DISCARDS if is_discard else OF_CARDS) for one in sentences(note.why.figures)]
        kinds["said", claims.check_said(note.why)] += 1
        for kind, said in found:
            kinds[kind] += 1
            claims.check(kind, said, k % every == 1 or (not is_discard and len(claims.position.hidden) <= most))
        if not is_discard:
            pile = claims.pile
            points = [sum(n for n, _ in score_play([*pile, card % 13])) for card in (claims.better, claims.other)]
            assert (found[0][0] in ("both", "at_once")) == any(points), note  # points at once come first


def test_figures_of_the_coach_are_computed_again(tmp_path):
    kinds = Counter()
    for seed in (0, 3):
        game = played(tmp_path, seed)
        check_notes(game, Coach(game, ExpertJudge(20)).notes(), kinds, every=10_000, most=2)
    assert kinds["decisions"] >= 15
    assert len(kinds) >= 7
    assert kinds["without a figure"] <= kinds["sentences"] / 20


@pytest.mark.slow
def test_figures_over_a_thousand_decisions(tmp_path):
    kinds, seed = Counter(), 0
    while kinds["decisions"] < 1_000:
        game = played(tmp_path, seed)
        check_notes(game, Coach(game, ExpertJudge(50)).notes(), kinds, every=10, most=3)
        seed += 1
    assert set(OF_CARDS) <= set(kinds)
    assert {"hand", "play", "crib", "their_crib"} <= set(kinds)
    assert kinds["without a figure"] <= kinds["sentences"] / 20
    assert {("said", name) for name in (*SAID_OF_CARDS, *SAID_OF_DISCARDS) if name != "alike"} | {"alike"} <= set(kinds)
    explained = sum(kinds[kind] for kind in OF_CARDS if kind not in ("best", "held"))
    assert kinds["rest"] <= explained / 10, kinds  # those that name no card


def test_the_account_of_a_game_adds_up(tmp_path):
    """Start, errors and luck are the result, in the digits shown, for both players."""
    for seed in (0, 3):
        game = played(tmp_path, seed)
        coach = Coach(game, ExpertJudge(5))
        rows = {title: [float(cell) for cell in cells] for title, *cells in review_rows(coach.analysis(), LEVELS[0])}
        won = 100 * float(game.games["scores"][0, PERSON] == 121)
        assert rows["result, %"] == [won, 100 - won]
        begins = ("at the start", "your errors", "your opponent's errors", "luck of the deals")
        parts = [rows[next(row for row in rows if row.startswith(name))] for name in begins]
        assert [round(sum(column), 1) for column in zip(*parts)] == rows["result, %"]
        lost = sum(one.chance_lost for one in coach.analysis().decisions if one.seat == PERSON)
        assert -rows["your errors, % points"][0] == pytest.approx(100 * lost, abs=0.051)
        assert rows["for Best against Newcomer, % to win"] == [94.7, 5.3]


@pytest.mark.parametrize("coach", get_args(Coaching))
def test_the_coach_speaks_as_it_is_asked_to(coach, tmp_path):
    """Before the end of a game: all, of finished deals, blunders, nothing."""
    game = played(tmp_path, 0)
    so_far = game.until(len(game.played) - 3, coach=coach)
    unfinished = SavedGame(so_far, game.agent, tmp_path / "kept.json")
    whole = [note for note in Coach(game, ExpertJudge(5)).notes() if note.at < len(unfinished.played)]
    expected = {
        "on": whole,
        "before": whole,
        "off": [],
        "blunders": [note for note in whole if note.decision.chance_lost >= BLUNDER],
        "deal": [note for note in whole if note.deal < unfinished.games["n_deals"][0]],
    }[coach]
    assert [note.at for note in Coach(unfinished, ExpertJudge(5)).notes()] == [note.at for note in expected]


def test_a_go_is_named_at_the_count_at_which_it_was_said(tmp_path):
    n_checked = 0
    for seed in range(6):
        game = played(tmp_path, seed)
        for k, one in enumerate(game.played):
            if one.seat != PERSON or one.before["phase"][0] != PLAY:
                continue
            view = views_of(one.before, ROW, ROW + PERSON, ROW)
            sight = Sight(view)
            if sight.go_at is None:
                assert not view.said_go[0, 1]
                continue
            mine = game.played[k - 1]
            if game.played[k - 2].seat != PERSON or game.played[k - 2].before["phase"][0] == DISCARD:
                assert mine.seat == PERSON
                assert sight.go_at == int(one.before["count"][0])
                n_checked += 1
    assert n_checked
