"""A person as an agent: what is shown, what may be typed, and where it can sit."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import crib_env
from crib_env import parse_cards
from crib_env.agents import make_agent
from crib_env.agents.human import HumanAgent, ask, read_choice
from crib_env.evaluate.matches.match import play_match
from tests.helpers.refusals import refused

HAND = parse_cards("5H TD JC KS")
LEGAL = parse_cards("5H TD")


@pytest.fixture
def typed(monkeypatch):
    """The first card that may be chosen, again and again; the prompts in a list."""
    prompts = []

    def read(prompt):
        prompts.append(prompt)
        return "1"

    monkeypatch.setattr("builtins.input", read)
    return prompts


@pytest.mark.parametrize(
    ("said", "cards"),
    [("5h", "5H"), ("1", "5H"), (" 10d ", "TD"), ("2", "TD"), ("5h TD", "5H TD"), ("2,1", "TD 5H"), ("TD 1", "TD 5H")],
)
def test_cards_are_named_by_text_or_by_number(said, cards):
    assert read_choice(said, HAND, LEGAL, 2) == tuple(parse_cards(cards))


@pytest.mark.parametrize(
    ("said", "most", "fault"),
    [
        ("", 1, "name one card of 5H TD, or their numbers"),
        ("1 2", 1, "name one card of 5H TD"),
        ("1 2 3", 2, "name one or 2 cards of 5H TD"),
        ("0", 1, "there is no card 0: name one of 5H TD, or a number from 1 to 4"),
        ("5", 1, "there is no card 5"),
        ("7h", 1, "you do not hold 7H: choose one of 5H TD"),
        ("ks", 1, "KS would take the count over 31: choose one of 5H TD"),
        ("4", 1, "KS would take the count over 31"),
        ("1 5h", 2, "5H is named twice"),
        ("?", 1, "is not a card"),
        ("٣", 1, "JC would take"),
    ],
)
def test_a_bad_line_says_what_may_be_typed(said, most, fault):
    with refused(fault):
        read_choice(said, HAND, LEGAL, most)


def test_an_empty_line_names_the_only_card():
    assert read_choice(" ", HAND, LEGAL[:1], 1) == (HAND[0],)


def test_a_person_plays_in_a_pettingzoo_loop(typed, capsys):
    players = {"player_0": HumanAgent(), "player_1": make_agent("greedy")}
    env = crib_env.env(episode="deal")
    env.reset(seed=4)
    for name in env.agent_iter():
        _, _, terminated, _, _ = env.last()
        env.step(None if terminated else int(players[name].act(env.views(name))[0]))
    assert len(typed) == 6
    assert typed[0] == "discard 2: "
    assert capsys.readouterr().out.count("your hand") == 6


def test_both_discards_may_be_named_at_once(monkeypatch):
    said = iter(["1 2"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(said))
    env = crib_env.raw_env()
    env.reset(seed=5)
    player, person = env.agent_selection, HumanAgent()
    hand = env.views(player).hand[0].tolist()
    chosen = []
    for _ in range(2):
        chosen.append(int(person.act(env.views(player))[0]))
        env.step(chosen[-1])
    assert chosen == sorted(hand, key=lambda card: (card % 13, card))[:2]


def test_a_person_plays_no_mirrored_games(typed):
    with refused("agent 'human'", "no mirrored games"):
        play_match(HumanAgent(), make_agent("random"), 2)
    assert typed == []


def test_no_more_input_stops(monkeypatch):
    def end(prompt):
        raise EOFError

    monkeypatch.setattr("builtins.input", end)
    with pytest.raises(KeyboardInterrupt):
        HumanAgent().act(crib_env.GameBatch(crib_env.streams(1, 1)).views(np.zeros(1, np.int64)))


@pytest.mark.parametrize("stream", ["stdin", "stdout"])
def test_it_stops_where_a_shell_has_closed_input_or_output(stream, monkeypatch):
    monkeypatch.setattr(sys, stream, None)  # as Python has it after <&- or >&-
    with pytest.raises(KeyboardInterrupt):
        ask(crib_env.GameBatch(crib_env.streams(1, 1)).views(np.zeros(1, np.int64)))
