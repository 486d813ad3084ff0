"""Muggins: what is missed and claimed, when the game ends, what is kept of it, and what it costs."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from crib_env import parse_cards
from crib_env.agents.baselines import RandomAgent
from crib_env.engine import WIN
from crib_env.evaluate.matches.game_records import GameRecord
from crib_env.evaluate.matches.muggins import HANDS, Hand, Missed
from crib_env.evaluate.play.given_deals import imported
from crib_env.evaluate.play.levels import LEVELS
from crib_env.evaluate.play.saved_game import AGENT, PERSON, Count, GameSoFar, SavedGame
from crib_env.evaluate.skill.analysis.decisions import RecordedGames
from crib_env.evaluate.skill.luck.variates import LuckMeter
from crib_env.values import typed
from tests.helpers.reference import ReferenceGame
from tests.helpers.refusals import refused

NEWCOMER = LEVELS[0].agent
EIGHT = Hand(HANDS[0], PERSON, tuple(parse_cards("2C 5H JC QD")), parse_cards("3S")[0])  # fifteens


def begin(folder, seed, agent=NEWCOMER, scores=(0, 0), counting="muggins"):
    """A game against a player at random that counts as a level does; it is kept."""
    game = SavedGame(GameSoFar(agent, seed, None, scores, (), counting=counting), RandomAgent(seed), folder)
    game.file = folder / f"{seed}.json"
    return game


def go_on(game, rng, share=0.5):
    """A card or a count: of its own hand the person misses some, of the agent's it claims some."""
    if game.show:
        hand = game.show.hand
        missed = hand.points - game.agents_count() if hand.owner == AGENT else 0
        exact = hand.points if hand.owner == PERSON else missed
        game.count(exact if rng.random() > share else int(rng.integers(0, exact + 2)))
    elif game.turn == AGENT:
        game.play(game.agents_card())
    else:
        game.play(int(rng.choice(np.flatnonzero(game.view().action_mask[0]))))


def whole(folder, seed, **changes):
    game, rng = begin(folder, seed, **changes), np.random.default_rng(seed)
    while not game.is_over:
        go_on(game, rng)
    return game


def test_the_points_of_a_count_by_the_rule():
    """Own hand, then the agent's: said, asked for, missed and granted."""
    hand = EIGHT
    assert hand.points == 8
    for said, asked, missed, granted in (
        (8, 0, 0, 0),
        (5, 3, 3, 3),
        (5, 2, 3, 2),
        (5, 4, 3, 0),
        (9, 0, 0, 0),
        (8, 1, 0, 0),
    ):
        count = Count(hand, said, asked)
        assert (count.missed, count.claimed) == (missed, granted)


def reference_after(record, n_deals=99):
    """A recorded game, or its first deals, in the slow reference."""
    game = ReferenceGame(record.first_dealer, record.start_scores)
    for number, (deal, cards) in enumerate(zip(record.deals[:n_deals], record.cards), start=1):
        if game.phase == "over":
            break
        game.deal(parse_cards(deal))
        for one in record.missed:
            if one.deal == number:
                game.missed[one.hand], game.claimed[one.hand] = one.points, one.claimed
        for card in parse_cards(cards):
            game.act(card)
    return game


def test_whole_games_are_those_of_the_reference_and_end_by_muggins_too(tmp_path):
    last, missed = set(), 0
    for seed in range(40):
        record = whole(tmp_path, seed, scores=(0, 0) if seed < 5 else (100, 100)).record()
        game = reference_after(record)
        assert game.phase == "over"
        assert tuple(game.scores) == record.scores
        record.check()
        last.add(game.events[-1][2])
        missed += len(record.missed)
    assert "muggins" in last
    assert missed > 20


def test_a_game_goes_on_from_its_file_at_any_moment(tmp_path):
    """Also between two hands of a show."""
    game, rng, seen = begin(tmp_path, 3, scores=(60, 60)), np.random.default_rng(0), set()
    while not game.is_over:
        go_on(game, rng)
        again = SavedGame(typed(json.loads(game.file.read_text()), GameSoFar), RandomAgent(3), tmp_path / "x")
        assert again.so_far == game.so_far
        np.testing.assert_array_equal(again.games["scores"], game.games["scores"])
        assert (again.show is None) == (game.show is None)
        if game.show:
            seen.add(game.show.counted)
            assert again.show.hand == game.show.hand
    assert seen == {0, 1, 2}


def test_muggins_ends_a_game_before_the_next_hand_is_counted(tmp_path):
    """The dealer misses points of the hand, and pone, who needs them, wins: the crib is not counted."""
    rng, n = np.random.default_rng(1), 0
    for seed in range(40):
        game = begin(tmp_path, seed, scores=(100, 112))
        while not game.is_over and not (
            game.show and game.show.hand.name == HANDS[1] and game.show.hand.owner == PERSON
        ):
            go_on(game, rng, 0)
        if game.is_over or game.show.hand.points + game.games["scores"][0, AGENT] < WIN:
            continue
        own, n = int(game.games["scores"][0, PERSON]), n + 1
        game.count(0)
        assert game.is_over
        assert game.games["scores"][0].tolist() == [own, WIN]
        record = game.record()
        assert record.missed[-1].hand == HANDS[1]
        record.check()
        assert reference_after(record).events[-1][2] == "muggins"
    assert n >= 3


def test_the_table_and_the_own_count_change_no_points(tmp_path):
    """With counting by hand alone nothing is lost, whatever is said; the cards are the same, and so are the scores."""
    records = [whole_by(tmp_path, counting) for counting in ("table", "hand")]
    assert records[0] == records[1]
    assert "missed" not in records[0].to_line()


def whole_by(folder, counting):
    game, rng = begin(folder, 5, counting=counting), np.random.default_rng(5)
    while not game.is_over:
        if game.show:
            assert game.show.hand.owner == PERSON
            game.count(0)
        elif game.turn == AGENT:
            game.play(game.agents_card())
        else:
            game.play(int(rng.choice(np.flatnonzero(game.view().action_mask[0]))))
    return game.record()


def test_levels_overlook_as_often_as_stated_and_always_the_same(tmp_path):
    missed, shown = dict.fromkeys((level.agent for level in LEVELS), 0), 0
    game, rng = begin(tmp_path, 7, scores=(0, 0)), np.random.default_rng(0)
    while not game.is_over:
        if game.show:
            hand = game.show.hand
            for level in LEVELS:
                for seed in range(50):
                    said = game.show.said_by(level.agent, seed)
                    assert said == game.show.said_by(level.agent, seed)
                    assert 0 <= said <= hand.points
                    missed[level.agent] += hand.points - said
            shown += 50 * hand.points
        go_on(game, rng, 0)
    for level in LEVELS:
        assert missed[level.agent] / shown == pytest.approx(level.overlooks, abs=0.02)
    assert missed["best"] == 0


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """A game in which both have missed something."""
    return whole(tmp_path_factory.mktemp("games"), 11).record()


def test_a_record_comes_back_from_its_line(record):
    assert record.missed
    assert GameRecord.of_line(record.to_line()) == record
    assert "missed" not in replace(record, missed=()).to_line()
    game = SavedGame(imported(record.to_line()), RandomAgent(0), None)
    assert game.games["scores"][0].tolist() == list(record.scores)
    assert game.so_far.missed == record.missed


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"points": 29}, "29 points of "),
        ({"points": 0, "claimed": 0}, "from 1 to 29 points are missed"),
        ({"claimed": 30}, "no more are claimed"),
        ({"claimed": -1}, "no more are claimed"),
        ({"hand": "nobs"}, "hand='nobs' is not allowed"),
        ({"deal": 0}, "is not allowed"),
        ({"deal": 99}, "points missed in deal 99"),
        ({"points": "2"}, "points='2' is not allowed"),
    ],
)
def test_nonsense_is_refused_by_name(record, change, fault):
    line = json.loads(record.to_line())
    line["missed"][0].update(change)
    with refused(fault):
        GameRecord.of_line(json.dumps(line)).check()


def test_a_hand_missed_twice_or_never_counted_is_refused(record, tmp_path):
    with pytest.raises(ValueError, match="cannot be missed"):
        replace(record, missed=(record.missed[0], *record.missed)).check()
    game = begin(tmp_path, 1)
    with pytest.raises(ValueError, match="has not been counted"):
        SavedGame(replace(game.so_far, missed=(Missed(1, HANDS[0], 2, 0),)), RandomAgent(0), tmp_path)


def test_what_is_missed_is_no_luck(record):
    """The luck of all deals up to the first in which anything was missed is that of exact counts; scores are not."""
    first = min(one.deal for one in record.missed)
    played = RecordedGames([record, replace(record, missed=())])
    meter, previous = LuckMeter(played.games), None
    for moment in played.moments():
        if previous is not None:
            meter.note(previous.rows)
        if (moment.deals >= first).any():  # the next deal; deals are from 0 here
            break
        previous = moment
    assert meter.luck[0].any()
    np.testing.assert_array_equal(meter.luck[0], meter.luck[1])
    assert played.games["scores"][0].tolist() != played.games["scores"][1].tolist()
