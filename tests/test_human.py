"""A person as an agent: what is shown, what may be typed, and where it can sit."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

import crib_env
from crib_env import parse_cards
from crib_env.agents import make_agent
from crib_env.agents.human import ask
from crib_env.evaluate.matches.match import play_match
from tests.helpers.refusals import refused


def decision(**changed):
    env = crib_env.raw_env(episode="pegging")
    env.reset(seed=5)
    (view,) = crib_env.decisions(env.views(env.agent_selection))
    return replace(view, **changed)


HAND = tuple(parse_cards("5H TD JC KS"))
VIEW = decision(hand=HAND, legal=HAND[:2])
SIX = decision(hand=tuple(parse_cards("2C 5H TD JC QS KS")))


@pytest.fixture
def typed(monkeypatch):
    """The first cards that may be chosen, again and again; the prompts in a list."""
    prompts = []

    def read(prompt):
        prompts.append(prompt)
        return "1 2" if prompt == "discard 2: " else "1"

    monkeypatch.setattr("builtins.input", read)
    return prompts


@pytest.mark.parametrize(
    ("view", "said", "cards"),
    [
        (VIEW, "5h", "5H"),
        (VIEW, "1", "5H"),
        (VIEW, " 10d ", "TD"),
        (VIEW, "2", "TD"),
        (SIX, "5h TD", "5H TD"),
        (SIX, "2,1", "5H 2C"),
        (SIX, "TD 1", "TD 2C"),
        (replace(VIEW, legal=HAND[:1]), " ", "5H"),
    ],
)
def test_cards_are_named_by_text_or_by_number(view, said, cards, monkeypatch):
    monkeypatch.setattr("builtins.input", lambda prompt: said)
    assert ask(view) == tuple(parse_cards(cards))


@pytest.mark.parametrize(
    ("view", "said", "fault"),
    [
        (VIEW, "", "you named no card: name exactly one card of 5H TD"),
        (VIEW, "1 2", "you named 5H TD: name exactly one card of 5H TD"),
        (SIX, "1", "you named 2C: name exactly two cards of"),
        (VIEW, "5", "you named no card"),
        (VIEW, "7h", "you do not hold 7H: choose one of 5H TD"),
        (VIEW, "4", "KS would take the count over 31: choose one of 5H TD"),
        (SIX, "1 2c", "you named 2C"),
    ],
)
def test_a_bad_line_says_what_may_be_typed_and_asks_again(view, said, fault, monkeypatch, capsys):
    lines = iter([said, "1 2" if view is SIX else "1"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(lines))
    assert ask(view) == view.hand[: 2 if view is SIX else 1]
    assert fault in capsys.readouterr().out


def test_a_person_plays_in_a_pettingzoo_loop(typed, capsys):
    players = {"player_0": make_agent("human"), "player_1": make_agent("greedy")}
    env = crib_env.env(episode="deal")
    env.reset(seed=4)
    for name in env.agent_iter():
        _, _, terminated, _, _ = env.last()
        env.step(None if terminated else int(players[name].act(env.views(name))[0]))
    assert len(typed) == 5
    assert typed[0] == "discard 2: "
    assert capsys.readouterr().out.count("You hold") == 5


def test_a_person_plays_no_mirrored_games(typed):
    with refused("agent 'human'", "no mirrored games"):
        play_match(make_agent("human"), make_agent("random"), 2)
    assert typed == []


def test_no_more_input_stops(monkeypatch):
    def end(prompt):
        raise EOFError

    monkeypatch.setattr("builtins.input", end)
    with pytest.raises(KeyboardInterrupt):
        ask(VIEW)


@pytest.mark.parametrize("stream", ["stdin", "stdout"])
def test_it_stops_where_a_shell_has_closed_input_or_output(stream, monkeypatch):
    monkeypatch.setattr(sys, stream, None)  # as Python has it after <&- or >&-
    with pytest.raises(KeyboardInterrupt):
        ask(VIEW)
