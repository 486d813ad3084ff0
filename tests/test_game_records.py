"""Recorded games: they replay to the same result, in the environment and out of a file, and can be told."""

import json
from dataclasses import replace

import pytest

import crib_env
from crib_env.agents import make_agent
from crib_env.evaluate.matches.game_records import GameRecord, read_records
from crib_env.evaluate.matches.match import play_games
from crib_env.evaluate.matches.mirrored import Games
from tests.helpers.refusals import refused

GAMES = 60


@pytest.fixture(scope="module")
def games():
    agents = make_agent("random"), make_agent("greedy")
    return Games.merged(list(play_games(*agents, GAMES, seed=3, keep_records=True)))


@pytest.fixture
def file(games, tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_text("".join(record.to_line() + "\n" for record in games.records))
    return path


def test_every_game_is_recorded_in_order_with_its_result(games):
    assert [record.game for record in games.records] == list(range(GAMES))
    for k, record in enumerate(games.records):
        assert record.players == (("random", "greedy") if k % 2 == 0 else ("greedy", "random"))
        assert record.scores == tuple(games.scores[k] if k % 2 == 0 else games.scores[k, ::-1])
        assert len(record.deals) == len(record.cards)
    for one, two in zip(games.records[::2], games.records[1::2]):
        n = min(len(one.deals), len(two.deals))
        assert one.deals[:n] == two.deals[:n]
        assert one.first_dealer == two.first_dealer


def test_a_line_replays_in_the_environment_to_the_recorded_result(games):
    """With nothing but what stands in the line, and the public environment."""
    for record in games.records:
        line = json.loads(record.to_line())
        env = crib_env.env()
        env.reset(options={"deals": line["deals"], "first_dealer": line["first_dealer"]})
        assert env.dealer == line["first_dealer"]
        for deal in line["cards"]:
            for card in crib_env.parse_cards(deal):
                assert not any(env.terminations.values())
                env.step(card)
        assert all(env.terminations.values())
        assert list(env.scores) == line["scores"]


def test_games_are_read_back_from_their_file(games, file):
    assert read_records(file) == list(games.records)


def test_records_do_not_change_a_match(games):
    plain = Games.merged(list(play_games(make_agent("random"), make_agent("greedy"), GAMES, seed=3)))
    assert plain.records == ()
    assert (plain.scores == games.scores).all()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"scores": (121, 1)}, r"it was recorded as \(121, 1\), and leads to"),
        ({"first_dealer": 2}, r"options\['first_dealer'\]=2 is not allowed"),
        ({"deals": ("5H 5H",)}, "5H is given twice"),
        ({"cards": ("2C 2D",)}, "is not a legal action|leads to"),
    ],
)
def test_a_game_that_cannot_be_replayed_is_refused_by_file_and_line(games, tmp_path, change, says):
    path = tmp_path / "games.jsonl"
    path.write_text(games.records[0].to_line() + "\n" + replace(games.records[1], **change).to_line() + "\n")
    with pytest.raises(ValueError, match=rf"games.jsonl, line 2: .*({says})"):
        read_records(path)


@pytest.mark.parametrize(
    ("deals", "cards", "says"),
    [
        (0, ["AC"], "there are cards after the end of the game"),
        *((deals, cards, "and cards of ") for deals, cards in ((1, []), (0, [""]), (1, [""]))),
    ],
)
def test_what_follows_the_end_of_a_game_is_refused(games, deals, cards, says):
    record = games.records[0]
    with refused(says):
        replace(record, deals=record.deals + record.deals[:deals], cards=(*record.cards, *cards)).check()


@pytest.mark.parametrize("line", ["", "{}", "[]", "no game", '{"game": 1, "seed": 2}'])
def test_a_line_that_is_not_a_game_is_refused(line):
    with pytest.raises(ValueError, match="it is not a recorded game"):
        GameRecord.of_line(line)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with refused("none.jsonl"):
        read_records(tmp_path / "none.jsonl")
