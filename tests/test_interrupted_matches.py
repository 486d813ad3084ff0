"""Matches in blocks: how large these are, what a match that is stopped or killed keeps, and how it goes on."""

import json
import os
import re
import signal

import numpy as np
import pytest

from crib_env.agents import make_agent
from crib_env.evaluate.commands import match as match_command
from crib_env.evaluate.commands.match import MatchArguments, match
from crib_env.evaluate.matches import mirrored
from crib_env.evaluate.matches.match import play_games
from crib_env.evaluate.matches.mirrored import Games, Pace, Shard
from tests.helpers.refusals import refused

NAMES = "halscrib", "random:seed=1"


def block_of(pairs, seconds_a_pair):
    """A block of games that took this long, each of 100 decisions; only the first 12 of a game were not timed."""
    decisions = np.array([44, 44]) * 2 * pairs
    seconds = decisions / decisions.sum() * seconds_a_pair * pairs * 88 / 100
    return Games(np.full((2 * pairs, 2), 121), 0, decisions, seconds)


def sizes(pace, seconds_a_pair, left):
    for block in pace.blocks(Shard.of(3, 0, left)):
        yield len(block.deals)
        pace.took(block_of(len(block.deals), seconds_a_pair))


def test_quick_players_get_the_same_blocks_at_any_speed():
    assert list(sizes(Pace(), 1e-6, 1_200)) == list(sizes(Pace(), 1e-2, 1_200)) == [1, 8, 64, 512, 512, 103]
    assert [len(part.deals) for part in Pace().blocks(Shard.of(3, 0, 100))] == [1, 8, 64, 27]


@pytest.mark.parametrize(("seconds_a_pair", "then"), [(0.1, [8, 64, 100, 100]), (2.0, [5] * 4), (60.0, [1] * 4)])
def test_a_block_of_slow_players_takes_ten_seconds_or_is_one_pair(seconds_a_pair, then):
    assert [size for size, _ in zip(sizes(Pace(), seconds_a_pair, 1_200), range(5))] == [1, *then]


def test_blocks_are_the_same_on_any_number_of_threads(monkeypatch):
    """So a network, which may round otherwise in another batch, decides alike."""
    monkeypatch.setattr(mirrored, "_MOST", 16)
    agents = make_agent("greedy"), make_agent("random")
    found = [[len(part.scores) for part in play_games(*agents, 100, 1, threads=threads)] for threads in (1, 3)]
    assert found == [[2, 16, 32, 32, 18]] * 2


class Stops:
    """Plays as another agent, until something happens in the games from 18 on."""

    def __init__(self, name, what):
        self._agent, self._what, self.name = make_agent(name), what, name

    def act(self, views):
        if views.game_ids.min() >= 18:
            self._what()
        return self._agent.act(views)


def fail():
    raise ZeroDivisionError("the agent's own")


def interrupt():
    raise KeyboardInterrupt


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


def asked(folder, **more):
    settings = {"games": 60, "seed": 4, "threads": 1, "luck_adjusted": True} | more
    return MatchArguments(*NAMES, json_file=folder / "match.json", record=folder / "games.jsonl", **settings)


def written(folder):
    """The record and the result, without the times of this launch."""
    result = json.loads((folder / "match.json").read_text())
    return (folder / "games.jsonl").read_bytes(), {**result, "seconds": 0, "microseconds_per_decision": 0}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    match(asked(folder))
    return written(folder)


@pytest.fixture
def stopped(tmp_path, monkeypatch, request):
    """A folder with a match that was stopped in its third block."""
    with monkeypatch.context() as patch:
        patch.setattr(match_command, "make_agent", lambda name: Stops(name, request.param))
        if request.param is kill:
            if not (child := os.fork()):
                match(asked(tmp_path))
            assert os.waitpid(child, 0)[1] == signal.SIGKILL
        else:
            with pytest.raises((ZeroDivisionError, KeyboardInterrupt)):
                match(asked(tmp_path))
    return tmp_path


@pytest.mark.parametrize("stopped", [fail, interrupt, kill], indirect=True)
def test_a_match_that_is_stopped_keeps_its_finished_pairs_and_goes_on(stopped, whole, capsys):
    record, result = written(stopped)
    assert record.count(b"\n") == 18
    assert result["games"] in (2, 18)  # where writing is slow, a kill finds the result of an earlier block
    assert whole[0].startswith(record)
    capsys.readouterr()
    match(asked(stopped))
    assert written(stopped) == whole
    shown = capsys.readouterr().out
    assert "60 mirrored games" in shown
    assert int(re.findall(r"(\d+) of 60", shown)[0]) >= 18
    assert [path.name for path in stopped.glob("*")] in (["games.jsonl", "match.json"], ["match.json", "games.jsonl"])


@pytest.mark.parametrize("cut_off", [1, 300, 3_000])
def test_half_a_line_and_a_game_without_its_pair_are_played_again(cut_off, whole, tmp_path):
    (tmp_path / "games.jsonl").write_bytes(whole[0][:-cut_off])
    match(asked(tmp_path))
    assert written(tmp_path) == whole


def test_a_whole_match_is_reported_again(whole, tmp_path, capsys):
    (tmp_path / "games.jsonl").write_bytes(whole[0])
    match(asked(tmp_path))
    assert written(tmp_path) == whole
    assert "µs a decision" not in capsys.readouterr().out


def test_a_match_may_become_longer(whole, tmp_path):
    match(asked(tmp_path, games=4))
    match(asked(tmp_path))
    assert written(tmp_path) == whole


def test_a_rule_stops_a_resumed_match_where_it_stops_a_whole_one(tmp_path):
    for name, resumed in (("alone", False), ("resumed", True)):
        (tmp_path / name).mkdir()
        if resumed:
            match(asked(tmp_path / name, games=30))
        match(asked(tmp_path / name, games=1_000, sprt=(-100.0, 0.0)))
    alone, again = (written(tmp_path / name) for name in ("alone", "resumed"))
    assert alone == again
    assert alone[1]["sprt"]["accepted"] == 0.0
    assert alone[1]["games"] < 1_000


def test_an_error_in_one_thread_keeps_the_blocks_before(monkeypatch):
    monkeypatch.setattr(mirrored, "_MOST", 8)
    parts, playing = [], play_games(Stops("greedy", fail), make_agent("random"), 100, 1, threads=3)
    with pytest.raises(ZeroDivisionError):
        parts.extend(len(part.scores) for part in playing)
    assert parts == [2, 16]


@pytest.mark.parametrize(
    ("change", "more", "says"),
    [
        (lambda text: text, {"seed": 5}, "line 1 is neither"),
        (lambda text: text.replace(b"random:seed=1", b"greedy"), {}, "line 1 is neither"),
        (lambda text: text, {"games": 20}, "holds more games than games=20: give as many, or more"),
        (lambda text: b"".join(text.splitlines(True)[2:]), {}, "line 1 is neither"),
        (lambda text: text.replace(b'"scores": [121', b'"scores": [122', 1), {}, "line 1: it was recorded as"),
        (lambda text: text.replace(b'"cards": ["', b'"cards": ["AC ', 1), {}, "line 1: "),
        (lambda text: text.replace(b'"deals"', b'"dials"', 1), {}, "line 1: it is not a recorded game"),
        (lambda text: b'{"my": "notes"}\n', {}, "line 1 is neither a game nor the beginning of game 0 of "),
        (lambda text: b'{"my": "notes"}', {}, "line 1 is neither a game nor the beginning of game 0 of "),
        (lambda text: b"\xff\xfe\n", {}, "line 1 is neither"),
        (lambda text: b"\n", {}, "line 1 is neither"),
        (lambda text: text.splitlines(True)[0], {"seed": 5}, "line 1 is neither"),
        (lambda text: text.splitlines(True)[0][:-9], {"seed": 5}, "line 1 is neither a game nor the beginning"),
        (lambda text: text[:-1] + b"\nmy notes", {"games": 62}, "line 61 is neither"),
        (lambda text: text + text.splitlines(True)[0], {"games": 62}, "line 61 is neither"),
        (lambda text: text.splitlines(True)[0] + b"notes", {}, "line 2 is neither a game nor the beginning of game 1"),
        (lambda text: text + b'{"game": 60', {}, "holds more games than games=60"),
    ],
)
def test_games_of_another_match_are_refused_and_stay(change, more, says, whole, tmp_path):
    file = tmp_path / "games.jsonl"
    file.write_bytes(before := change(whole[0]))
    with refused("games.jsonl", says):
        match(asked(tmp_path, **more))
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"until": 1.0, "sprt": (0.0, 5.0)}, "--until and --sprt each say when to stop"),
        ({"sprt": (5.0, 0.0)}, "sprt=5 0 is not allowed: give the smaller difference"),
        ({"games": 3}, "games=3 is not allowed"),
    ],
)
def test_options_that_do_not_go_together_are_named(more, says):
    with refused(says):
        match(MatchArguments(*NAMES, **more))
