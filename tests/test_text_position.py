"""Positions in words and in notation, and answers read back."""

import contextlib
import itertools
import json
import math
import time

import numpy as np
import pytest

from crib_env import Decision, decisions, parse_card, parse_cards
from crib_env.cards import format_cards
from crib_env.players.text import in_words, read_answer
from tests.helpers.hidden_cards import batches, views


def cards(text):
    return tuple(parse_cards(text))


def decision(**changed):
    plain = {
        "hand": cards("AS"),
        "legal": cards("AS"),
        "discards": cards("KD 8S"),
        "kept": cards("4D 7D 2H AS"),
        "starter": cards("9H")[0],
        "laid": cards("6C 7D 5D 4D 3S 2H"),
        "laid_by": (1, 0, 1, 0, 1, 0),
        "pile_ranks": (5, 6, 4, 3, 2, 1),
        "count": 27,
        "said_go": (False, True),
        "scores": (10, 8),
        "is_dealer": False,
        "opponent_cards": 1,
        "game_id": 0,
        "decision": 10,
    }
    return Decision(**plain | changed)


NOTHING_LAID = {"laid": (), "laid_by": (), "pile_ranks": (), "count": 0, "said_go": (False, False)}
DISCARD = decision(
    hand=cards("5C JD 5H 2H QS KS"), legal=(), discards=(), kept=(), starter=None, is_dealer=True, **NOTHING_LAID
)
LAY = decision(hand=cards("5H KS"), legal=cards("5H"), count=25)


def test_the_play_in_words():
    assert in_words(decision()) == (
        "You are pone, and the crib is your opponent's. The score is 10 for you and 8 for your opponent.\n"
        "The starter is 9H. You discarded KD 8S.\n"
        "Laid so far, with the count after each card: opponent 6C (6), you 7D (13), opponent 5D (18), you 4D (22), "
        "opponent 3S (25), you 2H (27), opponent go. The count is 27.\n"
        "Your opponent holds one card and has said go.\nYou hold AS.\nLay one card. You may lay AS."
    )


def test_a_new_count_and_the_pegging_episode():
    new = decision(
        starter=None,
        discards=(),
        laid=cards("KC KD 8C"),
        laid_by=(1, 0, 1),
        pile_ranks=(),
        count=0,
        said_go=(False, False),
        hand=cards("4D 2H AS"),
        opponent_cards=2,
    )
    assert "deal is played without starter" in in_words(new)
    laid = decision(laid=cards("KC KD 8C 4D"), laid_by=(0, 1, 0, 1), pile_ranks=(3,), count=4, said_go=(False, False))
    assert "8C (28), opponent go; new count: opponent 4D (4). The count is 4." in in_words(laid)
    assert "Nothing is laid yet" in in_words(decision(**NOTHING_LAID, starter=None, hand=cards("4D 7D 2H AS")))


def test_positions_of_games_name_all_that_their_player_knows():
    kinds = set()
    for batch, rows in batches():
        for view in decisions(views(batch.games, rows[:5], batch.games["turn"][rows[:5]])):
            words = in_words(view)
            known = {*view.hand, *view.laid, *view.discards, *(() if view.starter is None else (view.starter,))}
            assert {parse_card(word.strip(".,'")) for word in words.split() if is_card(word)} == known
            kinds.add((len(view.hand), view.starter is None, view.said_go))
            wanted = view.hand[: len(view.hand) - 4] if len(view.hand) > 4 else view.legal[-1:]
            assert read_answer(format_cards(wanted), view) == wanted
    assert len(kinds) > 10


def is_card(word):
    word = word.strip(".,'")
    return len(word) == 2 and word[0] in "A23456789TJQK" and word[1] in "CDHS"


@pytest.mark.parametrize(
    "said",
    [
        "5H 5C",
        "5h,5c",
        "5♥ 5♣",
        "5H5C.",
        "**5H 5C**",
        "discard 5H and 5C",
        "I keep the run as it is. Discard 5h and 5c!",
        "Keeping JD QS KS is worth 3. Answer: 5H 5C",
        "Answer: JD QS\nNo: that gives up the run.\n**Answer:** 5H and 5C.\nGood luck",
        '{"cards": ["5H", "5C"]}',
        '{"name": "discard", "arguments": {"a": "5H", "b": "5C"}}',
        '```json\n{"name": "discard", "arguments": "{\\"a\\": \\"5H\\", \\"b\\": \\"5C\\"}"}\n```',
        json.dumps({"name": "discard", "arguments": {"cards": ["5H", "5C"], "why": ["they", 5]}}),
        "5H, five, and 5C: cards",
    ],
)
def test_an_answer_is_read(said):
    assert read_answer(said, DISCARD) == cards("5H 5C")


def test_one_card_is_read_where_one_is_left():
    assert read_answer("5H", LAY) == cards("5H")
    assert read_answer('{"name": "lay", "arguments": {"card": "5H"}}', LAY) == cards("5H")
    begun = decision(hand=cards("5C JD 5H 2H QS"), legal=(), discards=cards("KS"), **NOTHING_LAID, starter=None)
    assert "You have discarded KS." in in_words(begun)
    assert "Discard one card to the crib." in in_words(begun)
    assert read_answer("I choose 5H.", begun) == cards("5H")


@pytest.mark.parametrize(
    ("view", "said", "fault"),
    [
        (DISCARD, "", "you named no card: name exactly two cards of 5C JD 5H 2H QS KS$"),
        (DISCARD, "I cannot help with gambling.", "you named no card"),
        (DISCARD, "As you like", "you named no card"),
        (DISCARD, "5H", "you named 5H: name exactly two"),
        (DISCARD, "5H 5C JD", "you named 5H 5C JD: name exactly two"),
        (DISCARD, "keep 2H JD QS KS and throw 5H 5C", "you named 2H JD QS KS 5H 5C: name exactly two"),
        (DISCARD, "5H 5H", "you named 5H: name exactly two"),
        (DISCARD, "5H 9D", "you do not hold 9D: choose one of 5C JD 5H 2H QS KS"),
        (DISCARD, '{"cards": ["5H", "XX"]}', "you named 5H: name exactly two"),
        (DISCARD, '{"arguments": 5}', "you named no card"),
        (LAY, "KS", "KS would take the count over 31: choose one of 5H"),
        (LAY, "5H KS", "you named 5H KS: name exactly one card of 5H$"),
    ],
)
def test_a_bad_answer_says_what_to_answer(view, said, fault):
    with pytest.raises(ValueError, match=fault):
        read_answer(said, view)


def test_any_text_is_read_or_refused_in_one_line():
    rng, faults = np.random.default_rng(0), []
    letters = np.array(list('5HJQKAS {}[]":,answer\n♥'))
    for _ in range(500):
        said = "".join(rng.choice(letters, 30))
        try:
            assert set(read_answer(said, DISCARD)) < set(DISCARD.hand)
        except ValueError as error:
            faults.append(str(error))
    assert faults
    assert not [fault for fault in faults if "\n" in fault]


LONGEST = 1 << 16
FILLERS = [
    "```", "``` ", "```\n", " ", "\n", "answer", "answer: ", "Answer:\n", ":", "*", "5H", "5h, ", "A", "a ", "\u2665",
    "{", "[", "{}", '{"a":', '{"a": ["', '"', "\\", "\ud800",
]  # fmt: skip
BEGINNINGS = ["", "```json", "Answer: ", '{"card": ["5H", "', "5H "]


@pytest.mark.parametrize("filler", FILLERS)
def test_the_longest_answers_are_read_in_a_moment(filler):
    for beginning, end in itertools.product(BEGINNINGS, ["", "```", "\nAnswer: 5H"]):
        room = LONGEST - len(beginning + end)
        said, quickest = beginning + (filler * room)[:room] + end, math.inf
        for _ in range(9):  # beside other programs it takes longer
            began = time.process_time()
            with contextlib.suppress(ValueError):
                assert read_answer(said, LAY) == cards("5H")
            quickest = min(quickest, time.process_time() - began)
            if quickest < 0.05:
                break
        assert quickest < 0.05, (beginning, end)  # 2 ms; what is not linear takes seconds
