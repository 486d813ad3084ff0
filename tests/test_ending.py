"""How commands end: SIGTERM like Ctrl-C, closed output, terminals without some characters, control characters."""

import io
import json
import os
import signal
import sys

import pytest

from crib_env.agents import make_agent
from crib_env.evaluate import __main__ as evaluate_main
from crib_env.evaluate.commands import match as match_command
from crib_env.evaluate.commands.match import MatchArguments, match
from crib_env.evaluate.console import console, printable, reported_errors
from crib_env.evaluate.matches import mirrored
from crib_env.evaluate.matches.game_records import read_records
from crib_env.train.loop.run import put_off_interrupts

SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143}  # and the exit status of each


def send(number):
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_a_command_with_one_line(number, capsys):
    handlers = [signal.getsignal(one) for one in SIGNALS]
    with pytest.raises(SystemExit) as ended, reported_errors("stopped; go on"):
        send(number)
    assert ended.value.code == SIGNALS[number]
    assert capsys.readouterr().err == "stopped; go on\n"
    assert [signal.getsignal(one) for one in SIGNALS] == handlers


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_waits_for_a_complete_state(number):
    done = []

    def work():
        with put_off_interrupts() as interrupts:
            assert not interrupts
            send(number)
            done.append(len(interrupts) == 1)

    with pytest.raises(SystemExit) as ended, reported_errors():
        work()
    assert done == [True]
    assert ended.value.code == SIGNALS[number]


@pytest.mark.parametrize("number", SIGNALS)
def test_a_second_signal_does_not_wait(number):
    def work():
        with put_off_interrupts():
            send(number)
            send(number)
            pytest.fail("it went on")

    with pytest.raises(SystemExit) as ended, reported_errors():
        work()
    assert ended.value.code == SIGNALS[number]


class Signalling:
    """Plays at random, and sends a signal in the second part of a match."""

    name = "signalling"

    def __init__(self, number):
        self.agent, self.number = make_agent("random"), number

    def act(self, views):
        if views.game_ids.min() >= 18:
            send(self.number)
        return self.agent.act(views)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_match_that_is_stopped_keeps_the_games_before(tmp_path, monkeypatch, capsys, number):
    monkeypatch.setattr(mirrored, "_MOST", 8)
    monkeypatch.setattr(match_command, "make_agent", lambda name: Signalling(number))
    record, result = tmp_path / "games.jsonl", tmp_path / "match.json"
    with pytest.raises(SystemExit) as ended, reported_errors():
        match(MatchArguments("one", "other", games=64, threads=1, json_file=result, record=record))
    assert ended.value.code == SIGNALS[number]
    assert len(record.read_text().splitlines()) == json.loads(result.read_text())["games"] == 18
    assert read_records(record)[17].game == 17
    assert "18 mirrored games" in capsys.readouterr().out


def test_a_command_whose_output_nobody_reads_ends(monkeypatch, capfd):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        monkeypatch.setattr(console, "quiet", False)  # rich changes it
        with pytest.raises(SystemExit) as ended, reported_errors():
            match(MatchArguments("random", "greedy", games=4, threads=1))
    assert ended.value.code == 1
    assert capfd.readouterr().err == ""  # head has what it wants


def test_a_command_works_where_a_shell_has_closed_the_output(tmp_path, monkeypatch, capsys):
    file = tmp_path / "result.json"
    monkeypatch.setattr(sys, "argv", ["evaluate", "match", "greedy", "random", "--games", "2", "--json", str(file)])
    monkeypatch.setattr(sys, "stdout", None)  # as Python has it after >&-
    evaluate_main.main()
    assert json.loads(file.read_text())["games"] == 2
    assert capsys.readouterr().err == ""


def shown_in(encoding, monkeypatch, call):
    """What a call prints to a terminal of an encoding."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    with reported_errors():
        call()
    return stream.buffer.getvalue().decode(encoding)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_what_a_terminal_cannot_show_is_replaced(encoding, monkeypatch):
    shown = shown_in(encoding, monkeypatch, lambda: print("µs, – and ±"))
    assert shown == {"ascii": "?s, ? and ?\n", "latin-1": "µs, ? and ±\n"}[encoding]
    assert "win rate" in shown_in(encoding, monkeypatch, lambda: match(MatchArguments("random", "greedy", games=4)))


HOSTILE = "\x1b]0;owned\x07\x1b[31mred\x9b2J\u202e"


def test_control_characters_are_escaped():
    assert printable(HOSTILE) == r"\x1b]0;owned\x07\x1b[31mred\x9b2J\u202e"
    assert printable("τ µs ± 2–3\n") == "τ µs ± 2–3\n"


def test_an_error_cannot_control_the_terminal(capsys):
    with pytest.raises(SystemExit) as ended, reported_errors():
        raise ValueError(f"{HOSTILE} is not allowed")
    assert ended.value.code == 2
    assert capsys.readouterr().err == rf"error: {printable(HOSTILE)} is not allowed" + "\n"
