"""Rollouts: the same digits on any number of threads, known answers, no bias, and bad input."""

import numpy as np
import pytest

from crib_env.agents import make_agent
from crib_env.cards import format_cards
from crib_env.evaluate.rollout import position, rollout

DISCARD = position("5H 5C JD QS 2H 3D", dealer=True, scores=(100, 110))
LEAD = position("5H 5C JD QS 2H 3D", scores=(90, 95), discarded="2H 3D", starter="4C")
PLAY = position("5H 5C JD QS 2H 3D", dealer=True, scores=(90, 95), discarded="2H 3D", starter="4C", laid="8H")


@pytest.mark.parametrize("decision", [DISCARD, LEAD, PLAY])
@pytest.mark.parametrize("until", ["deal", "game"])
def test_the_same_seed_gives_the_same_digits_on_any_number_of_threads(decision, until):
    found = [rollout(decision, agent="greedy", until=until, deals=400, seed=3, threads=n) for n in (1, 3)]
    assert found[0] == found[1]
    assert found[0] != rollout(decision, agent="greedy", until=until, deals=400, seed=4)


def test_a_choice_gets_the_same_results_beside_any_others():
    """Which is what makes differences between choices small: the deals are the same."""
    both = rollout(DISCARD, ["2H 3D", "JD QS"], "greedy", deals=300, confidence=1.0)
    alone = rollout(DISCARD, ["JD QS"], "greedy", deals=300, confidence=1.0).choices[0]
    (same,) = [one for one in both.choices if one.cards == alone.cards]
    assert same[:5] == alone[:5]
    assert same.behind_error < np.hypot(same.chance_error, both.choices[0].chance_error)


def test_a_game_that_the_next_card_wins_is_won():
    """One card is left, and the last card counts a point, at 120–120."""
    last = position("5H 5C JD QS 2H 3D", True, (120, 120), discarded="2H 3D", starter="4C", laid="8H JD TC 5H KD 5C 7C")
    for until in ("deal", "game"):
        (choice,) = rollout(last, agent="greedy", until=until, deals=100).choices
        assert (choice.cards, choice.chance, choice.chance_error, choice.points) == ((50,), 1.0, 0.0, 1.0)


def test_a_worse_choice_is_given_up_and_the_best_is_decided():
    found = rollout(position("5H 5C JD 5S 2H 3D"), ["5H 5C", "2H 3D"], "greedy", deals=5_000)
    assert found.is_decided
    assert format_cards(found.choices[0].cards) == "3D 2H"
    assert found.choices[1].behind > 5 * found.choices[1].behind_error
    assert found.deals < 5_000


@pytest.mark.parametrize(
    ("cards", "how", "message"),
    [
        ("5H 5C JD QS 2H", {}, "give six cards"),
        ("5H 5C JD QS 2H 1X", {}, "'1X' is not a card"),
        ("5H 5C JD QS 2H 2H", {}, "2H is given twice"),
        ("5H 5C JD QS 2H 3D", {"scores": (121, 0)}, "a score of 121 is not allowed: give 0 to 120"),
        ("5H 5C JD QS 2H 3D", {"starter": "4C"}, "needs two of the six cards as discarded"),
        ("5H 5C JD QS 2H 3D", {"discarded": "5H 5C", "starter": "2H"}, "2H is given twice"),
        ("5H 5C JD QS 2H 3D", {"discarded": "2H 3D", "starter": "4C", "laid": "5H 5C"}, "5C cannot have been laid"),
        ("5H 5C JD QS 2H 3D", {"discarded": "2H 3D", "starter": "4C", "laid": "5H"}, "not this player's turn"),
    ],
)
def test_bad_positions_are_refused(cards, how, message):
    with pytest.raises(ValueError, match=message):
        position(cards, **how)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"choices": ["5H"]}, "5H is not a choice here: give two cards"),
        ({"choices": ["5H 6H"]}, "you do not hold 6H"),
        ({"choices": ["5H 5C", "5C 5H"]}, "is given twice"),
        ({"choices": []}, "there is no choice"),
        ({"agent": "human"}, "cannot play many deals"),
        ({"agent": "bestt"}, "there is no agent 'bestt'"),
        ({"until": "never"}, "until='never' is not allowed"),
        ({"hidden": "peek"}, "hidden='peek' is not allowed"),
        ({"confidence": 2.0}, "confidence=2.0 is not allowed"),
        ({"deals": 0}, "deals=0 is not allowed"),
    ],
)
def test_bad_arguments_are_refused(how, message):
    with pytest.raises(ValueError, match=message):
        rollout(DISCARD, **how)


def test_what_is_no_decision_is_refused():
    games = make_games()
    with pytest.raises(ValueError, match="give one decision"):
        rollout(games)
    games["phase"] = 3
    with pytest.raises(ValueError, match="the game is over"):
        rollout(games[0])


def make_games():
    from crib_env import GameBatch

    return GameBatch(np.arange(2, dtype=np.uint64), first_dealer=0).games


def test_a_record_and_a_view_are_the_same_decision():
    games = make_games()
    batch_view = rollout(games[0], agent="greedy", deals=100, seed=1)
    from crib_env.evaluate.skill.positions import batch_of

    view = batch_of(games[:1]).views(np.zeros(1, np.int64))
    assert rollout(view, agent=make_agent("greedy"), deals=100, seed=1) == batch_view
