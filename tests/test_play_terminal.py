"""A game in the terminal: a whole one through a pseudo-terminal, nothing hidden, nothing lost."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from crib_env import format_card
from crib_env.engine import PLAY
from crib_env.evaluate.commands.play import play
from crib_env.evaluate.matches.game_records import read_records
from crib_env.evaluate.play.saved_game import PERSON, GameSoFar, SavedGame
from crib_env.evaluate.play.terminal import play_in_terminal
from crib_env.evaluate.skill.analysis.judges import ExpertJudge
from tests.helpers.hidden_cards import cards_of
from tests.helpers.players import remembering
from tests.helpers.refusals import refused

ROOT = Path(__file__).parents[1]
CARD = re.compile(r"\b[A2-9TJQK][CDHS]\b")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / "runs" / "play"


def first_cards(prompt):
    """The numbers of the first cards of the hand, as many as are asked for."""
    return "1 2" if prompt == "discard 2: " else "1"


def stop_after(monkeypatch, n):
    """A person who types ``n`` lines and then presses Ctrl-C."""
    left = [n]

    def read(prompt):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return first_cards(prompt)

    monkeypatch.setattr("builtins.input", read)


@pytest.mark.slow
def test_a_whole_game_through_a_pseudo_terminal(tmp_path):
    """In 80 columns and without colour; every prompt is answered by the first cards."""
    master, slave = pty.openpty()
    variables = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "TERM": "xterm", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "evaluate", "play", "greedy", "--terminal", "--seed", "3", "--scores", "90", "95"]
    process = subprocess.Popen(command, cwd=tmp_path, env=variables, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    said, answered, end = "", 0, time.monotonic() + 120
    while time.monotonic() < end:
        if not select.select([master], [], [], 1)[0]:
            continue
        try:
            said += os.read(master, 65536).decode()
        except OSError:  # it has ended
            break
        prompts = re.findall(r"(?:discard \d|lay): ", said)
        if len(prompts) > answered:
            os.write(master, f"{first_cards(prompts[-1])}\n".encode())
            answered += 1
    assert process.wait(10) == 0
    os.close(master)
    assert "\x1b[" not in said
    lines = said.replace("\r", "").splitlines()
    assert max(map(len, lines)) <= 80
    record = read_records(tmp_path / "runs" / "play" / "games.jsonl")[0]
    assert record.players == ("human", "greedy")
    assert record.start_scores == (90, 95)
    own, other = record.scores
    assert f"you {'win' if own == 121 else 'lose'} {own} to {other}" in lines
    assert {path.name for path in (tmp_path / "runs" / "play").iterdir()} == {"games.jsonl", "finished"}
    notes = [line for line in lines if line.startswith("coach: You ")]
    assert len([line for line in notes if "You discard" in line]) == len(record.deals)
    assert any(line.startswith("luck of the deals, % points") for line in lines)
    assert re.search(r"^chance +\d+\.\d % to win$", said.replace("\r", ""), re.MULTILINE)


def test_nothing_hidden_is_printed(folder, monkeypatch, capsys):
    """Before each choice: of this deal only cards that the person holds, has discarded, or that lie face up."""
    folder.mkdir(parents=True)
    game = SavedGame.begin_in(GameSoFar("greedy", 5, None, (60, 60), ()), folder)
    seen, n_checked = {}, 0

    def read(prompt):
        nonlocal n_checked
        record = game.games[0]
        known = cards_of(record["hand"][PERSON]) + cards_of(record["discards"][PERSON])
        known += [card for card in record["laid"].tolist() if card >= 0]
        known += [int(record["cards"][12])] if record["phase"] == PLAY else []
        out = capsys.readouterr().out
        this_deal = out[out.rfind("\ndeal ") + 1 :] if "\ndeal " in out else out
        shown = set(CARD.findall(this_deal))
        assert shown <= {format_card(card) for card in known}
        n_checked += len(shown)
        seen.setdefault(int(record["n_deals"]), set()).update(shown)
        return first_cards(prompt)

    monkeypatch.setattr("builtins.input", read)
    play_in_terminal(game, ExpertJudge(), folder / "games.jsonl")
    assert n_checked > 100
    assert game.is_over


def test_ctrl_c_keeps_the_game_and_resume_goes_on_with_it(folder, monkeypatch, capsys):
    """It ends as without a break, the agent's memory included."""
    agent = remembering(folder.parents[1])
    stop_after(monkeypatch, 10_000)
    play(agent, terminal=True, seed=8, scores=(95, 90))
    whole = read_records(folder / "games.jsonl")[0]
    assert whole.start_scores == (95, 90)
    for pieces in (1, 9):
        stop_after(monkeypatch, pieces)
        with pytest.raises(KeyboardInterrupt):
            play(agent, terminal=True, seed=8, scores=(95, 90))
        (kept,) = folder.glob("2*.json")
        assert f"--resume runs/play/{kept.name}" in capsys.readouterr().out
        n_cards = len(json.loads(kept.read_text())["cards"])
        assert n_cards >= pieces
        stop_after(monkeypatch, 5)
        with pytest.raises(KeyboardInterrupt):
            play(terminal=True, resume=kept)
        assert len(json.loads(kept.read_text())["cards"]) >= n_cards + 5
        stop_after(monkeypatch, 10_000)
        play(terminal=True, resume=kept)
        assert not kept.exists()
    games = (folder / "games.jsonl").read_text().splitlines()
    assert games == [whole.to_line()]


def test_a_hint_and_the_review(folder, monkeypatch, capsys):
    script = iter(["?"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(script, first_cards(prompt)))
    play("greedy", terminal=True, seed=3, scores=(95, 95), dealer="agent", practice=True)
    out = capsys.readouterr().out
    assert " ".join(out.split()).count("% to win. ") >= 1
    assert out.count("deal 1: greedy deals") == 1
    assert "the costliest moments:" in out
    assert max(map(len, out.splitlines())) <= 80
    assert not (folder / "games.jsonl").exists()


@pytest.mark.parametrize(("coach", "notes_early"), [("deal", False), ("off", False), ("on", True)])
def test_the_coach_speaks_when_it_is_asked_to(coach, notes_early, folder, monkeypatch, capsys):
    stop_after(monkeypatch, 3)
    with pytest.raises(KeyboardInterrupt):
        play("greedy", terminal=True, seed=3, coach=coach)
    assert ("coach: You discard" in capsys.readouterr().out) == notes_early
    stop_after(monkeypatch, 9)
    with pytest.raises(KeyboardInterrupt):
        play("greedy", terminal=True, seed=3, coach=coach)
    assert ("coach: You discard" in capsys.readouterr().out) == (coach != "off")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"cards": ["ZZ"]}, "is not a card"),
        ({"cards": ["KS", "KH", "KD"]}, "is not legal"),
        ({"scores": [130, 0]}, "scores"),
        ({"agent": "nobody"}, "there is no agent 'nobody'"),
        ({"agent": "my_file:Agent"}, "give the name beside --resume"),
        ({"seed": -1}, "seed"),
        ({"first_dealer": 7}, "first_dealer"),
        ({"deals": ["5H 6H"]}, "deals: '5H 6H' is not allowed: a deal has 13 cards"),
    ],
)
def test_a_file_that_is_no_game_is_refused_by_name(change, fault, tmp_path):
    path = tmp_path / "game.json"
    content = asdict(GameSoFar("random", 1, 0, (0, 0), ()))
    path.write_text(json.dumps({**content, **change}))
    with pytest.raises(ValueError, match=rf"game\.json .*{fault}"):
        SavedGame.resume(path, None)


def test_an_illegal_card_changes_nothing(tmp_path):
    game = SavedGame.begin_in(GameSoFar("random", 1, 1, (0, 0), ()), tmp_path)
    before, kept = game.games.copy(), game.file.read_bytes()
    foreign = next(card for card in range(52) if card not in cards_of(game.games["hand"][0, PERSON]))
    for card in (foreign, -1, 52):
        with pytest.raises(ValueError, match=r"is not legal|no card|not a card"):
            game.play(card)
    np.testing.assert_array_equal(game.games, before)
    assert game.file.read_bytes() == kept


def test_a_finished_game_is_not_gone_on_with(folder, monkeypatch):
    stop_after(monkeypatch, 10_000)
    play("greedy", terminal=True, seed=8, scores=(119, 119), practice=True)
    (finished,) = (folder / "finished").glob("*.json")
    assert not (folder / "games.jsonl").exists()
    with refused(finished):
        play(terminal=True, resume=finished)
