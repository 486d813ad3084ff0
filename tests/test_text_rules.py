"""Each sentence of the rules in words is held against the engine."""

import numpy as np
import pytest

from crib_env import parse_card, parse_cards, score_play, score_show
from crib_env.aec import raw_env
from crib_env.engine import EVENTS, MUGGINS, WIN
from crib_env.text.rules import CARDS, RULES, SENTENCES

PONE, DEALER = 0, 1  # seats, as deals are given here


def play(hands, cards, starter="2C", scores=(0, 0)):
    """The environment after cards are played, and all its events as (seat, kind, points). Pone has seat 0."""
    env = raw_env()
    deal = [*parse_cards(hands[0]), *parse_cards(hands[1]), parse_card(starter)]
    env.reset(options={"first_dealer": 1, "deals": [deal, deal], "scores": scores})
    events = []
    for card in parse_cards(cards):
        env.step(card)
        game = env.games[0]
        events += [
            (int(game["event_player"][k]), EVENTS[game["event_kind"][k]], int(game["event_points"][k]))
            for k in range(game["n_events"])
        ]
    return env, events


def legal(env):
    return set(np.flatnonzero(env.observe(env.agent_selection)["action_mask"]).tolist())


HIGH = ("KC KD QC QD 3H 4H", "KH KS QH QS 9D 8D")
THROWN = "3H 4H 9D 8D "
COURSE = "KC KH QC KS KD QH QD QS"


def game():
    env, events = play(HIGH, THROWN, starter="JC", scores=(0, WIN - 2))
    assert events == [(DEALER, "heels", 2)]
    assert all(env.terminations.values())
    assert env.games["scores"][0].tolist() == [0, WIN]


def deal():
    env, _ = play(HIGH, "")
    assert len(legal(env)) == 6
    first = int(env.games["dealer"][0])
    env, events = play(HIGH, THROWN + COURSE)
    assert int(env.games["dealer"][0]) == 1 - first
    assert [seat for seat, kind, _ in events if kind == "crib"] == [first]


def pone():
    env, _ = play(HIGH, "")
    assert env.agent_selection == "player_0"
    env, _ = play(HIGH, THROWN)
    assert env.agent_selection == "player_0"


def heels():
    assert play(HIGH, THROWN, starter="JC")[1] == [(DEALER, "heels", 2)]
    assert play(HIGH, THROWN)[1] == []


def values():
    for rank, value in zip("A23456789TJQK", (*range(1, 10), 10, 10, 10, 10)):
        fives = {15 - value: 2}.get(5, 0)
        assert score_play(f"5C {rank}D") == (2 if value == 5 else fives)
    assert score_play("AC 2C 3C") == 3
    assert score_play("QC KC AC") == 0


def the_play():
    env, _ = play(HIGH, THROWN + "KC")
    assert env.agent_selection == "player_1"
    assert env.games["count"][0] == 10
    env, _ = play(("KC KD AC 2D 3H 4H", HIGH[1]), THROWN + "KC KH KD")
    assert (env.agent_selection, legal(env)) == ("player_0", {parse_card("AC")})  # at 30


def go():
    hands = ("KC KD QC AD 3H 4H", "KH KS QH QS 9D 8D")
    env, _ = play(hands, THROWN + "KC KH QC")
    assert (env.agent_selection, legal(env)) == ("player_0", {parse_card("AD")})  # the dealer says go
    assert play(hands, THROWN + "KC KH QC AD")[1][1:] == [(PONE, "thirty-one", 2)]
    env, events = play(HIGH, THROWN + "KC KH QC")
    assert (env.agent_selection, int(env.games["count"][0]), events[-1]) == ("player_1", 0, (PONE, "go", 1))
    assert (DEALER, "last card", 1) in play(HIGH, THROWN + COURSE)[1]


def must():
    env, _ = play(HIGH, THROWN + "KC KH")
    assert legal(env) == set(parse_cards("KD QC QD"))  # and no way to pass


def fifteen():
    assert score_play("7C 8C") == score_play("KC QC 9C 2C") == 2


def pairs():
    assert [score_play(pile) for pile in ("4C 4D", "4C 4D 4H", "4C 4D 4H 4S", "4C 5C 4D")] == [2, 6, 12, 0]


def run():
    assert [score_play(pile) for pile in ("4C 2C 3C", "4C 2C 3C 5C", "KC 4C 2C 3C", "4C 2C 2D 3C")] == [3, 4, 3, 0]


def show():
    _, events = play(HIGH, THROWN + COURSE)
    assert [kind for _, kind, _ in events][-3:] == ["pone's hand", "dealer's hand", "crib"]
    assert events[-3][2] == score_show("KC KD QC QD", "2C")
    assert events[-1][2] == score_show("3H 4H 9D 8D", "2C", crib=True)


def show_fifteens():
    assert score_show("2C 3D TH JS", "9C") == 2 * 2 + 3  # 2+3+T, 2+3+J, and the run 9 T J


def show_pairs():
    assert score_show("2C 2D 2H KS", "KC") == 2 * (3 + 1)


def show_runs():
    assert score_show("AC 2D 3H 4S", "KC") == 4 + 2 + 2  # and no runs of three
    assert score_show("AC 2D 3H 3S", "KC") == 2 * 3 + 2 + 2 * 2


def flush():
    hand = "2C 4C 6C 8C"
    base = score_show("2C 4D 6C 8C", "QH")
    assert score_show(hand, "QH") == base + 4
    assert score_show(hand, "QC") == base + 5
    assert score_show(hand, "QH", crib=True) == base
    assert score_show(hand, "QC", crib=True) == base + 5


def nobs():
    for crib in (False, True):
        assert score_show("JC 2D 4H 8S", "QC", crib=crib) == score_show("JD 2C 4H 8S", "QC", crib=crib) + 1


CHECKS = {
    "game": game,
    "deal": deal,
    "pone": pone,
    "heels": heels,
    "values": values,
    "play": the_play,
    "must": must,
    "go": go,
    "fifteen": fifteen,
    "pairs": pairs,
    "run": run,
    "show": show,
    "show fifteens": show_fifteens,
    "show pairs": show_pairs,
    "show runs": show_runs,
    "flush": flush,
    "nobs": nobs,
}


def test_every_sentence_has_a_check():
    assert list(CHECKS) == list(SENTENCES)


@pytest.mark.parametrize("about", SENTENCES)
def test_the_engine_does_what_the_sentence_says(about):
    CHECKS[about]()


def test_the_rules_are_short_and_name_all_that_scores():
    assert len(RULES.split()) <= 300
    assert all(kind in RULES for kind in EVENTS[:MUGGINS])
    assert RULES.endswith(CARDS)
