"""A person's progress: games are kept once, and errors give rates and a rating between the measured levels."""

from __future__ import annotations

import math

import numpy as np
import pytest

from crib_env.evaluate.play.levels import LEVELS
from crib_env.evaluate.play.progress import (
    NAME,
    Losses,
    PlayedGame,
    keep,
    loss_of,
    progress_rows,
    rating,
    rating_of_loss,
    read_progress,
)
from tests.helpers.refusals import refused


def game(number, lost=0.2, scores=(121, 100)):
    losses = {"discard": Losses(9, lost / 4, 2.0), "play": Losses(25, 3 * lost / 4, 3.0)}
    return PlayedGame(f"20260101-{number:06}", "Neighbour", scores, losses, 0.1, 2.0)


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
    assert found.high - found.mean == pytest.approx(4.3027 * spread, rel=1e-4)
    assert loss_of(games, ["discard"]).mean == pytest.approx(0.225 / 27)
    assert loss_of(games[:1]).low is None


def test_the_rating_of_a_level_is_that_of_its_win_rate():
    ratings = [rating_of_loss(level.loss.value) for level in LEVELS]
    assert ratings == sorted(ratings)
    assert ratings[-1] == 2_000
    for level, found in zip(LEVELS[:-1], ratings):
        p = level.against_best.value
        assert 10 ** ((found - 2_000) / 400) == pytest.approx(p / (1 - p))
    assert rating_of_loss(1.0) == ratings[0]


def test_two_games_give_a_rating_with_an_interval_around_it():
    assert rating([game(1)]) is None
    found = rating([game(1, 0.30), game(2, 0.32)])
    assert found.low < found.rating < found.high
    reached = next(level for level in LEVELS if level.name == found.level)
    assert rating_of_loss(reached.loss.value) <= found.rating


def test_skunks_and_wins_are_counted():
    rows = dict(progress_rows([game(1), game(2, scores=(121, 85)), game(3, scores=(55, 121))]))
    assert rows["games won"].startswith("2 of 3 (")
    assert rows["skunks given"] == "1"
    assert rows["skunks suffered"] == "1, 1 of them double"
    assert "27 decisions" in rows["a discard loses"]
