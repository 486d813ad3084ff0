"""Rollouts: the same digits on any number of threads, known answers, no bias, and bad input."""

import json
from itertools import islice

import numpy as np
import pytest

from crib_env import GameBatch, parse_cards, streams
from crib_env.agents import make_agent
from crib_env.cards import format_cards
from crib_env.engine import GAME_EPISODE, OVER, WIN
from crib_env.evaluate import rollout as of_rollouts
from crib_env.evaluate.__main__ import run
from crib_env.evaluate.commands import analyse as command
from crib_env.evaluate.console import reported_errors
from crib_env.evaluate.makers.suite import rolled_out
from crib_env.evaluate.rollout import position, rollout
from crib_env.evaluate.skill.positions import begin_all
from crib_env.evaluate.skill.suite import endgames
from crib_env.players.games import play_out, turns

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
        assert (choice.cards, choice.chance, choice.chance_error, choice.points) == ((50,), 1.0, 0.01, 1.0)


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
        ({"choices": ["5H"]}, "you named 5H: name exactly two cards"),
        ({"choices": ["5H 6H"]}, "you do not hold 6H"),
        ({"choices": ["5H 5C", "5C 5H"]}, "is given twice"),
        ({"choices": []}, "name one, or leave them out"),
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
    games = GameBatch(np.arange(2, dtype=np.uint64), first_dealer=0).games
    with pytest.raises(ValueError, match="give one decision"):
        rollout(games)
    games["phase"] = OVER
    with pytest.raises(ValueError, match="the game is over"):
        rollout(games[0])


def test_a_record_and_a_view_are_the_same_decision():
    batch = GameBatch(np.arange(1, dtype=np.uint64))
    of_record = rollout(batch.games[0], agent="greedy", deals=100, seed=1)
    assert rollout(batch.views(batch.acting()), agent=make_agent("greedy"), deals=100, seed=1) == of_record


@pytest.mark.parametrize("until", ["deal", "game"])
def test_luck_saves_deals_and_has_mean_zero(until, monkeypatch):
    how = {"choices": ["2H 3D"], "agent": "greedy", "until": until, "deals": 4_000}
    (less,) = rollout(DISCARD, **how).choices
    monkeypatch.setattr(of_rollouts, "less_luck", lambda results, luck, between_equals: results)
    (with_luck,) = rollout(DISCARD, **how).choices
    for value, error in (("chance", "chance_error"), ("points", "points_error")):
        of_luck = np.sqrt(getattr(with_luck, error) ** 2 - getattr(less, error) ** 2)
        assert of_luck > 0.4 * getattr(with_luck, error)
        assert abs(getattr(with_luck, value) - getattr(less, value)) < 4 * of_luck


def test_a_rollout_agrees_with_games_that_are_played_out():
    n, rng, six = 4_000, np.random.default_rng(5), np.sort(parse_cards("5H 5C JD QS 2H 3D"))
    rest = np.setdiff1d(np.arange(52), six)
    hidden = rng.permuted(np.tile(rest, (n, 1)), axis=1)[:, :7]
    batch = GameBatch(streams(5, n), first_dealer=0, scores=(100, 110))
    cards = np.concatenate([np.tile(six, (n, 1)), hidden], axis=1)
    begin_all(batch.games, cards, np.zeros(n, np.int64), np.tile([100, 110], (n, 1)), GAME_EPISODE)
    for turn in islice(turns(batch, ["greedy"]), 2):  # pone discards
        turn.play()
    for card in parse_cards("2H 3D"):
        batch.step(np.arange(n), np.full(n, card))
    play_out(batch, ["greedy"])
    won = (batch.games["scores"][:, 0] == WIN).mean()
    (choice,) = rollout(DISCARD, ["2H 3D"], "greedy", until="game", deals=n).choices
    assert abs(choice.chance - won) < 4 * np.hypot(choice.chance_error, np.sqrt(won * (1 - won) / n))


def test_the_command_writes_standard_errors_and_prints_a_table(tmp_path, capsys):
    file = tmp_path / "rollout.json"
    main(
        ["analyse", "rollout", "5H5CJDQS2H3D", "--choices", "2H 3D", "JD QS", "--agent", "greedy", "--json", str(file)]
    )
    found = json.loads(file.read_text())
    assert found["is_decided"]
    assert found["choices"][0]["chance_error"] > 0
    assert "is best, with a confidence of 95%" in capsys.readouterr().out


def test_ctrl_c_prints_what_is_known_so_far(monkeypatch, capsys):
    def interrupted(decision, choices, agent, on_progress, **how):
        on_progress(100, lambda: rollout(decision, choices, "greedy", deals=100))
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "rollout", interrupted)
    with pytest.raises(SystemExit) as ended:
        main(["analyse", "rollout", "5H5CJDQS2H3D", "--agent", "greedy"])
    assert ended.value.code == 130
    assert "net points" in capsys.readouterr().out


def test_endgames_of_the_suite_are_labelled_with_the_error_asked_for():
    """The card that wins for certain wins every time, whatever the error."""
    found, pinned = rolled_out(1, agent="greedy", error=0.05), endgames.standard()
    legal = np.isfinite(pinned.chance)
    assert (np.isfinite(found.chance) == legal).all()
    assert (found.error[legal] <= 0.05).all()
    assert (found.chance[pinned.best == 1] > 0.9).all()


def main(words):
    with reported_errors():
        run(words[0], words[1:])
