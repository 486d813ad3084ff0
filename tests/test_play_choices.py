"""What a person at the terminal is shown, and what may be typed."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest

import crib_env
from crib_env import parse_card, parse_cards
from crib_env.evaluate.play.terminal import ask, read_choice
from crib_env.picture.seen import table_lines
from tests.helpers.aec_play import act_randomly, is_over
from tests.helpers.refusals import refused

HAND = parse_cards("5H TD JC KS")
LEGAL = parse_cards("5H TD")


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


def test_the_table_fits_80_columns_and_shows_what_the_player_sees_alone():
    rng, longest = np.random.default_rng(0), 0
    env = crib_env.raw_env()
    for seed in range(20):
        env.reset(seed=seed)
        while not is_over(env):
            view = env.views(env.agent_selection)
            lines = table_lines(view)
            longest = max(longest, *map(len, lines))
            cards = {card for line in lines for card in re.findall(r"\b[A2-9TJQK][CDHS]\b", line)}
            seen = {*view.hand[0].tolist(), *view.discards[0].tolist(), *view.laid[0].tolist(), int(view.starter[0])}
            assert {parse_card(card) for card in cards} == seen - {-1}
            act_randomly(env, rng)
    assert 50 < longest <= 80


@pytest.mark.parametrize("stream", ["stdin", "stdout"])
def test_it_stops_where_a_shell_has_closed_input_or_output(stream, monkeypatch):
    monkeypatch.setattr(sys, stream, None)  # as Python has it after <&- or >&-
    with pytest.raises(KeyboardInterrupt):
        ask(crib_env.GameBatch(crib_env.streams(1, 1)).views(np.zeros(1, np.int64)))
