"""Bad input of every kind gives one clear error, which names it and lists what is allowed, and changes nothing."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

import crib_env
from crib_env import format_card, parse_card
from crib_env.aec import PLAYERS
from crib_env.options import OptionError
from tests.helpers.refusals import refused

DEAL = "AC 2C 3C 4C 5C 6C 7D 8D 9D TD JD QD KH"  # player_0's six, player_1's six, the starter
CARDS = DEAL.split()


def legal_ids(env):
    return np.flatnonzero(env.observe(env.agent_selection)["action_mask"]).tolist()


def state_of(env):
    """Everything that a refused call must leave as it was."""
    infos = {agent: dict(info) for agent, info in env.infos.items()}
    accounts = dict(env.rewards), dict(env._cumulative_rewards), dict(env.terminations)
    return env.games.tobytes(), env.agent_selection, list(env.agents), env.scores, infos, accounts


def begun(make=crib_env.raw_env, **options):
    env = make(**options)
    env.reset(seed=1, options={"deals": [DEAL], "first_dealer": 1})
    return env


@pytest.mark.parametrize(
    ("option", "allowed"),
    [
        ("episode", ["'game'", "'deal'", "'play'"]),
        ("reward", ["'points'", "'win'", "'match'"]),
        ("observation", ["'209'", "'board'", "'ranks'"]),
        ("dtype", ["'int8'", "'float32'"]),
        ("mask", ["'observation'", "'info'"]),
        ("illegal", ["'raise'", "'end'"]),
        ("render_mode", ["None", "'human'", "'ansi'", "'rgb_array'"]),
        ("events", []),
        ("start_spread", ["give "]),
    ],
)
def test_the_error_for_a_bad_value_lists_what_is_allowed(option, allowed):
    bad = ["", "Game", "rgb", 1.5, 209, -1, 10**30, float("nan"), ["game"], {}, object, np.array(["a", "b"])]
    bad += [None] * (option not in ("render_mode", "start_spread")) + [True] * (option != "events")
    for value in bad:
        with pytest.raises(ValueError, match=re.escape(f"{option}={value!r}")) as error:
            crib_env.env(**{option: value})
        assert isinstance(error.value, TypeError)  # the error after which Stable-Baselines3 and TorchRL retry
        assert all(name in str(error.value) for name in allowed)


def test_the_error_for_an_unknown_option_lists_all_options():
    with pytest.raises(OptionError, match="unexpected keyword argument 'rewards'") as error:
        crib_env.env(rewards="points")
    for option in ("episode", "reward", "observation", "mask", "events", "illegal", "start_spread", "render_mode"):
        assert option in str(error.value)


BAD_FIRST_DEALERS = [2, -1, 1.0, "0", True, [0], np.array([0, 1])]
BAD_SCORES = [
    5, "12", b"12", (1,), (1, 2, 3), (0, 121), (-1, 0), (10**30, 0), (0.0, 1), (None, 0), (True, 0), ("0", "0"), {0, 1},
    {0: 1, 1: 2}, np.array(5), np.array([0.0, 1.0]), np.zeros((2, 2), int),
]  # fmt: skip
BAD_RESETS = [
    *((value, "options=", "give None or a dict") for value in ([1], "deals", 5, ("deals",), True)),
    *(({"first_dealer": value}, "options['first_dealer']=", "give one of 0, 1") for value in BAD_FIRST_DEALERS),
    ({"score": (0, 0)}, "options has no 'score': did you mean 'scores'?", "'first_dealer', "),
    ({"reset_mask": 1}, "options has no 'reset_mask': the options of reset are", "'first_dealer', 'scores'"),
    *(({"scores": value}, "options['scores']=", "give ") for value in BAD_SCORES),
    *(({"deals": value}, "options['deals']=", "a sequence of deals") for value in (5, 1.5, DEAL, np.array(5))),
    *(({"deals": value}, "options['deals'][0]=", "13 cards") for value in ([5], [None], range(13), [np.array(5)])),
    ({"deals": [CARDS[:12]]}, "options['deals'][0] has 12 cards", "6 for player_0, 6 for player_1, the starter"),
    ({"deals": [DEAL + " 2H"]}, "options['deals'][0] has 14 cards", "6 for player_0, 6 for player_1, the starter"),
    ({"deals": [DEAL, CARDS[:12]]}, "options['deals'][1] has 12 cards", "6 for player_0"),
    ({"deals": [""]}, "options['deals'][0] has 0 cards", "6 for player_0"),
    ({"deals": CARDS}, "options['deals'][0] has 1 cards", "6 for player_0"),
    ({"deals": [[*CARDS[:12], "AC"]]}, "options['deals'][0]: AC is given twice", "a deck holds every card once"),
    ({"deals": [DEAL, DEAL.replace("KH", "10d")]}, "options['deals'][1]: TD is given twice", ""),
    ({"deals": [[*CARDS[:12], "1C"]]}, "options['deals'][0]: '1C' is not a card", "as in 5H"),
    *(
        ({"deals": [[*range(2, 14), value]]}, f"options['deals'][0]: {value!r} is not a card", "0 to 51")
        for value in (52, -1, 1.0, None, True)
    ),
]  # fmt: skip


def test_a_bad_reset_option_is_named_and_the_game_goes_on_as_before():
    env = crib_env.env()
    env.reset(seed=1)
    env.step(legal_ids(env)[0])
    before = state_of(env)
    for options, named, allowed in BAD_RESETS:
        with pytest.raises(ValueError, match=re.escape(named)) as error:
            env.reset(seed=2, options=options)
        assert allowed in str(error.value)
        assert state_of(env) == before
    for seed in (-1, 1.0, "1", True, [1, 2], np.array(1)):
        with refused(f"seed={seed!r}"):
            env.reset(seed=seed)
        assert state_of(env) == before


# In the game below player_0 is to discard a card and holds AC … 6C, the ids 0 … 5.
ILLEGAL = [
    6, 51, -1, -52, 52, 255, 10**30, -(10**30), 2**63, 2**64, np.int8(-1), np.uint64(2**64 - 1), np.int64(30),
    np.array([6]), np.array([[51]]), np.array(52),
]  # fmt: skip
NO_INTEGERS = [
    3.5, 0.0, np.float64(0), float("nan"), float("inf"), 1j,
    True, False, np.True_,
    None, "0", "AC", b"0", "", [], [0], (0,), {0}, {"action": 0}, range(3), object, ...,
    np.zeros(0), np.array(0.0), np.array([0.0]), np.array([True]), np.array([0, 1]), np.array(["0"]),
]  # fmt: skip
LEGAL = [
    2, np.int8(2), np.uint8(2), np.int32(2), np.uint64(2), np.array(2), np.array(2, np.int8), np.array([2]),
    np.array([[2]], np.int8), torch.tensor([2]),
]  # fmt: skip


@pytest.mark.parametrize("action", LEGAL, ids=repr)
def test_a_legal_card_may_come_as_any_integer_or_integer_array_of_one_element(action):
    env = begun()
    env.step(action)
    assert legal_ids(env) == [0, 1, 3, 4, 5]


@pytest.mark.parametrize("illegal", ["raise", "end"])
def test_an_action_that_is_not_an_integer_raises_and_changes_nothing(illegal):
    env = begun(illegal=illegal)
    before = state_of(env)
    for action in NO_INTEGERS:
        with refused(repr(action), error=TypeError):
            env.step(action)
        assert state_of(env) == before


def test_raw_env_refuses_an_illegal_card_and_nothing_has_changed():
    env = begun()
    before = state_of(env)
    for action in ILLEGAL:
        card = int(np.asarray(action).item())
        name = f"{format_card(card)} (action {card})" if 0 <= card < 52 else str(card)
        with refused(f"{name} is not a legal action of player_0: give the id of one of AC 2C 3C 4C 5C 6C"):
            env.step(action)
        assert state_of(env) == before
    env.step(0)
    assert env.agent_selection == "player_0"


@pytest.mark.parametrize(("reward", "loss"), [("points", -121.0), ("win", -1.0), ("match", -3.0)])
@pytest.mark.parametrize("action", ILLEGAL, ids=repr)
def test_env_ends_the_game_at_an_illegal_card_which_costs_as_much_as_the_worst_loss(action, reward, loss):
    env = begun(crib_env.env, reward=reward, events=True)
    env.step(action)
    assert env.rewards == {"player_0": loss, "player_1": -loss}
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.truncations == {"player_0": False, "player_1": False}
    for agent in PLAYERS:
        assert "is not a legal action of player_0: give the id of one of AC 2C" in env.infos[agent]["illegal_reason"]
        assert env.infos[agent]["illegal_action"] is True
        assert not env.observe(agent)["action_mask"].any()
    received = {}
    for agent in env.agent_iter():
        received[agent] = env.last()[1]
        env.step(None)
    assert received == {"player_0": loss, "player_1": -loss}
    env.reset()
    assert env.infos["player_0"]["illegal_action"] is False


@pytest.mark.parametrize("text", ["9C", "KC", "JD", "TD", "2S", "6S"])
def test_the_play_refuses_a_card_that_passes_31_or_is_not_in_hand(text):
    """9C would make 39; KC and JD are laid, TD is the opponent's, 2S is in the crib, 6S is the starter."""
    card = parse_card(text)
    env = crib_env.raw_env(episode="play")
    env.reset(options={"deals": ["KC QC AC 9C 2S 3S JD TD TH QH 4S 5S 6S"], "first_dealer": 1})
    for laid in ("KC", "JD", "QC"):
        env.step(parse_card(laid))
    before = state_of(env)
    with refused(f"{text} (action {card})", "one of AC"):
        env.step(card)
    assert state_of(env) == before


def test_the_offender_may_be_player_1():
    env = crib_env.env(events=True)
    env.reset(options={"deals": [DEAL], "first_dealer": 0})
    env.step(0)
    assert env.rewards == {"player_0": 121.0, "player_1": -121.0}
    assert "AC (action 0) is not a legal action of player_1" in env.infos["player_0"]["illegal_reason"]


def test_the_opponent_keeps_points_made_before_an_illegal_action():
    """last() returns a sum since the agent's last act: here two for a pair and 121 for the illegal card."""
    env = crib_env.env(episode="play", events=True)
    env.reset(options={"deals": ["KC QC AC 9C 2S 3S KD TD TH QH 4S 5S 6S"], "first_dealer": 1})
    for card in ("KC", "KD", "TD"):  # a card, its pair, and a card that player_0 does not hold
        env.step(parse_card(card))
    assert env.rewards == {"player_0": -121.0, "player_1": 121.0}
    assert env._cumulative_rewards == {"player_0": -121.0, "player_1": 123.0}
    assert env.infos["player_0"]["events"] == ()
    assert env.infos["player_1"]["events"] == ((1, 2, "pair"),)


def test_the_starter_stays_hidden_when_an_illegal_discard_ends_the_game():
    env = begun(crib_env.env, observation="board", render_mode="ansi")
    env.step(51)
    starter = parse_card("KH")
    for agent in PLAYERS:
        assert not env.observe(agent)["observation"][[53 + starter, 600 + starter]].any()
        assert env.views(agent).starter[0] == -1
    assert "KH" not in env.render()


CALLS = {
    "step": lambda env: env.step(0),
    "last": lambda env: env.last(),
    "observe": lambda env: env.observe("player_0"),
    "views": lambda env: env.views("player_0"),
    "render": lambda env: env.render(),
    "picture": lambda env: env.picture(),
    "agent_iter": lambda env: list(env.agent_iter()),
    **{
        name: lambda env, name=name: getattr(env, name)
        for name in ("agents", "num_agents", "agent_selection", "rewards", "terminations", "infos", "scores", "dealer")
    },
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_call_before_reset_says_so(call):
    with pytest.raises(AttributeError, match=r"before reset\(\): call it first"):
        call(crib_env.env(render_mode="ansi"))


@pytest.mark.parametrize("name", ["step", "last", "observe", "views", "render", "picture", "agent_iter"])
def test_after_close_too_until_the_next_reset(name):
    env = crib_env.env(render_mode="ansi")
    env.reset(seed=1)
    for _ in range(2):
        env.close()
    with pytest.raises(AttributeError, match=r"before reset\(\): call it first, and after close"):
        CALLS[name](env)
    env.reset(seed=1)
    env.step(legal_ids(env)[0])


def test_an_unknown_attribute_is_an_ordinary_error():
    with refused("'score'", error=AttributeError):
        crib_env.env().score  # noqa: B018


def test_after_the_end_a_player_can_only_step_with_none_and_then_nothing_but_reset():
    env = crib_env.env(episode="play")
    env.reset(seed=1)
    while not all(env.terminations.values()):
        env.step(legal_ids(env)[0])
    for n_left in (2, 1):
        before = state_of(env)
        for action in (0, -1, "x", False):
            with refused("the only valid action is None"):
                env.step(action)
        assert state_of(env) == before
        assert len(env.agents) == n_left
        env.step(None)
    for action in (None, 0, "x"):
        with refused("over for both players: call reset()", error=RuntimeError):
            env.step(action)


@pytest.mark.parametrize("method", ["observe", "views", "observation_space", "action_space"])
def test_the_error_for_an_unknown_agent_lists_the_agents(method):
    env = begun()
    for agent in ("player_2", "Player_0", "", 0, None, ("player_0",)):
        with refused(repr(agent), *map(repr, PLAYERS)):
            getattr(env, method)(agent)


def test_render_needs_a_render_mode():
    with refused("render_mode="):
        begun().render()
