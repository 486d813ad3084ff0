"""A person's progress: games are kept once, and errors give rates and a rating between the measured levels."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from crib_env import analyse_discard, parse_cards
from crib_env.agents import make_agent
from crib_env.evaluate.play.levels import LEVELS
from crib_env.evaluate.play.progress import (
    NAME,
    Losses,
    PlayedGame,
    against_par,
    charts,
    keep,
    loss_of,
    progress_rows,
    rating,
    rating_of_loss,
    read_progress,
)
from crib_env.evaluate.play.saved_game import AGENT, PERSON, GameSoFar, SavedGame
from tests.helpers.reference import score_show
from tests.helpers.refusals import refused


def game(number, lost=0.2, scores=(121, 100)):
    losses = {"discard": Losses(9, lost / 4), "play": Losses(25, 3 * lost / 4)}
    return PlayedGame(f"20260101-{number:06}", "Neighbour", scores, losses, 0.1)


def test_games_are_kept_once(tmp_path):
    games = [game(1), game(2, 0.4)]
    for one in (*games, games[0]):
        keep(tmp_path, one)
    assert read_progress(tmp_path) == games


def test_a_bad_line_is_named(tmp_path):
    keep(tmp_path, game(1))
    with open(tmp_path / NAME, "a") as file:
        file.write("{}\n")
    with refused(f"{NAME}, line 2"):
        read_progress(tmp_path)


def test_a_loss_is_a_ratio_of_sums_with_its_interval():
    games = [game(k, lost) for k, lost in enumerate((0.1, 0.3, 0.5))]
    found = loss_of(games)
    assert found.mean == pytest.approx(0.9 / 102)
    spread = np.std([0.1 / 34, 0.3 / 34, 0.5 / 34], ddof=1) / math.sqrt(3)
    assert found.half_width == pytest.approx(4.3027 * spread, rel=1e-4)
    assert loss_of(games, ["discard"]).mean == pytest.approx(0.225 / 27)
    assert loss_of(games[:1]).half_width is None


def test_the_rating_of_a_level_is_that_of_its_win_rate():
    ratings = [rating_of_loss(level.loss) for level in LEVELS]
    assert ratings == sorted(ratings)
    assert ratings[-1] == 2_000
    for level, found in zip(LEVELS[:-1], ratings):
        p = level.against_best
        assert 10 ** ((found - 2_000) / 400) == pytest.approx(p / (1 - p))
    assert rating_of_loss(1.0) == ratings[0]


def test_two_games_give_a_rating_with_an_interval_around_it():
    assert rating([game(1)]) is None
    found = rating([game(1, 0.30), game(2, 0.32)])
    assert found.low < found.rating < found.high
    reached = next(level for level in LEVELS if level.name == found.level)
    assert rating_of_loss(reached.loss) <= found.rating


def test_skunks_and_wins_are_counted():
    rows = dict(progress_rows([game(1), game(2, scores=(121, 85)), game(3, scores=(55, 121))]))
    assert rows["games won"].startswith("2 of 3 (")
    assert rows["skunks given"] == "1"
    assert rows["skunks suffered"] == "1, 1 of them double"
    assert "27 decisions" in rows["a discard loses"]


def test_hand_crib_and_play_against_par_are_counted_again(tmp_path):
    """The parts of a deal by the plain reference, less the exact means of the best discard of the six cards."""
    played = SavedGame.begin_in(GameSoFar("greedy", 5, None, (0, 0), ()), tmp_path)
    person = make_agent("greedy")
    while not played.is_over:
        played.play(int(played.agents_card() if played.turn == AGENT else person.act(played.view())[0]))
    played.close()
    record, parts = played.record(), []
    for k, (deal, laid) in enumerate(zip(record.deals[:-1], record.cards[:-1])):
        cards, order = parse_cards(deal), parse_cards(laid)
        six, starter, is_dealer = cards[:6], cards[12], (record.first_dealer + k) % 2 == PERSON
        thrown = [card for card in order[:4] if card in six]
        best = max(analyse_discard(six, dealer=is_dealer), key=lambda row: row["total"])
        sign, before, after = (1 if is_dealer else -1), *(scores_before(played, deal) for deal in (k + 1, k + 2))
        hands = [score_show([c for c in own if c not in order[:4]], starter, crib=False) for own in (six, cards[6:12])]
        crib = score_show(order[:4], starter, crib=True)
        assert len(thrown) == 2
        heels = 2 * (starter % 13 == 10)
        play = (after - before) - (hands[0] - hands[1]) - sign * (crib + heels)
        made = hands[0], sign * crib, play
        par = best["hand_mean"], sign * best["crib_expected"], best["pegging"]
        parts.append(np.subtract(made, par))
    assert len(parts) > 5
    assert against_par(played) == pytest.approx(np.mean(parts, axis=0))


def scores_before(played, deal):
    """The person's lead at the beginning of a deal."""
    own, other = next(one.before for one in played.played if one.before["n_deals"][0] == deal)["scores"][0].tolist()
    return own - other


def test_luck_is_told_from_ten_games_on():
    rng = np.random.default_rng(1)
    games = [game(k)._replace(luck=luck) for k, luck in enumerate(rng.normal(0, 0.4, 10))]
    assert "luck of a game" not in dict(progress_rows(games[:9]))
    mean, low, high = map(float, re.findall(r"[+-][\d.]+", dict(progress_rows(games))["luck of a game"]))
    assert low < mean < high
    assert mean == pytest.approx(100 * np.mean([one.luck for one in games]), abs=0.06)
    assert high - low < 100


def test_a_chart_has_every_game_and_the_mean_of_ten():
    games = [game(k, 0.1 + 0.01 * k)._replace(against_par=(k, 1.0, -1.0) if k > 2 else None) for k in range(15)]
    found = {chart["title"].partition(" ")[0]: chart for chart in charts(games)}
    assert set(found) == {"rating", "a", "luck,", "hand", "crib", "play"}
    assert found["hand"]["dots"] == [*range(3, 15)]
    assert found["hand"]["line"] == pytest.approx([*((3 + end) / 2 for end in range(3, 13)), 8.5, 9.5])
    assert found["rating"]["line"][-1] == rating(games[-10:]).rating
    assert len(found["rating"]["line"]) == 14
    assert charts(games[:1]) == []
