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

both_environments = pytest.mark.parametrize("make", [crib_env.env, crib_env.raw_env], ids=["env", "raw_env"])

DEAL = "AC 2C 3C 4C 5C 6C 7D 8D 9D TD JD QD KH"  # player_0's six, player_1's six, the starter
CARDS = DEAL.split()


def legal_ids(env):
    return np.flatnonzero(env.observe(env.agent_selection)["action_mask"]).tolist()


def state_of(env):
    """Everything that a refused call must leave as it was."""
    infos = {agent: dict(info) for agent, info in env.infos.items()}
    accounts = dict(env.rewards), dict(env._cumulative_rewards), dict(env.terminations)
    return env.games.tobytes(), env.agent_selection, list(env.agents), env.scores, infos, accounts


# ----------------------------------------------------------------------------------------------- constructor options


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
    ],
)
@pytest.mark.parametrize(
    "value", ["", "Game", "rgb", 0, 209, True, ["game"], {}, object, np.array(["a", "b"])], ids=repr
)
@both_environments
def test_the_error_for_a_bad_value_lists_the_allowed_values(make, option, allowed, value):
    with pytest.raises(ValueError, match=re.escape(f"{option}={value!r} is not allowed")) as error:
        make(**{option: value})
    assert isinstance(error.value, TypeError)  # the error after which Stable-Baselines3 and TorchRL retry
    assert all(name in str(error.value) for name in allowed)


@pytest.mark.parametrize("option", ["episode", "reward", "observation", "dtype", "mask", "illegal", "events"])
def test_none_is_not_a_value(option):
    with refused(f"{option}=None"):
        crib_env.env(**{option: None})


@pytest.mark.parametrize("value", [-1, 121, 10**30, 60.0, float("nan"), "60", True, (0, 60), np.array([60])], ids=repr)
@both_environments
def test_a_bad_start_spread_is_named_with_its_range(make, value):
    with pytest.raises(ValueError, match=re.escape(f"start_spread={value!r} is not allowed")) as error:
        make(start_spread=value)
    assert "give " in str(error.value)


@pytest.mark.parametrize("value", [0, 1, "yes", np.array([True])], ids=repr)
@both_environments
def test_events_are_on_or_off(make, value):
    with refused(f"events={value!r}", error=OptionError):
        make(events=value)


@both_environments
def test_the_error_for_an_unknown_option_lists_all_options(make):
    with pytest.raises(ValueError, match="unexpected keyword argument 'rewards'") as error:
        make(rewards="points")
    assert isinstance(error.value, TypeError)
    for option in ("episode", "reward", "observation", "mask", "events", "illegal", "start_spread", "render_mode"):
        assert option in str(error.value)


# ------------------------------------------------------------------------------------------------------------- reset

BAD_FIRST_DEALERS = [2, -1, 1.0, "0", True, [0], np.array([0, 1])]
BAD_SCORES = [
    5, "12", b"12", (1,), (1, 2, 3), (0, 121), (-1, 0), (10**30, 0), (0.0, 1), (None, 0), (True, 0), ("0", "0"), {0, 1},
    {0: 1, 1: 2}, np.array(5), np.array([0.0, 1.0]), np.zeros((2, 2), int),
]  # fmt: skip
BAD_RESETS = [
    *((value, "options=", "give None or a dict") for value in ([1], "deals", 5, ("deals",), True)),
    *(({"first_dealer": value}, "options['first_dealer']=", "give 0 or 1") for value in BAD_FIRST_DEALERS),
    ({"score": (0, 0)}, "options has no 'score': did you mean 'scores'?", "'first_dealer', "),
    ({"reset_mask": 1}, "options has no 'reset_mask': the options of reset are", "'first_dealer', 'scores'"),
    *(({"scores": value}, "options['scores']=", "give a pair of 0 to 120") for value in BAD_SCORES),
    *(({"deals": value}, "options['deals']=", "a sequence of deals") for value in (5, 1.5, DEAL, np.array(5))),
    *(({"deals": value}, "options['deals'][0]=", "13 cards") for value in ([5], [None], range(13), [np.array(5)])),
    ({"deals": [CARDS[:12]]}, "options['deals'][0] has 12 cards", "six for player_0, six for player_1, the starter"),
    ({"deals": [DEAL + " 2H"]}, "options['deals'][0] has 14 cards", "six for player_0, six for player_1, the starter"),
    ({"deals": [DEAL, CARDS[:12]]}, "options['deals'][1] has 12 cards", "six for player_0"),
    ({"deals": [""]}, "options['deals'][0] has 0 cards", "six for player_0"),
    ({"deals": CARDS}, "options['deals'][0] has 1 cards", "six for player_0"),
    ({"deals": [[*CARDS[:12], "AC"]]}, "options['deals'][0]: AC is given twice", "a deck holds every card once"),
    ({"deals": [DEAL, DEAL.replace("KH", "10d")]}, "options['deals'][1]: TD is given twice", ""),
    ({"deals": [[0] * 13]}, "options['deals'][0]: AC is given twice", ""),
    ({"deals": [[*CARDS[:12], "1C"]]}, "options['deals'][0]: '1C' is not a card", "as in 5H"),
    *(
        ({"deals": [[*range(2, 14), value]]}, f"options['deals'][0]: {value!r} is not a card", "0 to 51")
        for value in (52, -1, 1.0, None, True)
    ),
]  # fmt: skip


@pytest.mark.parametrize(("options", "named", "allowed"), BAD_RESETS, ids=lambda value: repr(value)[:60])
@both_environments
def test_a_bad_reset_option_is_named_and_the_game_goes_on_as_before(make, options, named, allowed):
    env = make()
    env.reset(seed=1)
    env.step(legal_ids(env)[0])
    before = state_of(env)
    with pytest.raises(ValueError, match=re.escape(named)) as error:
        env.reset(seed=2, options=options)
    assert allowed in str(error.value)
    assert state_of(env) == before


@pytest.mark.parametrize("seed", [-1, 1.0, "1", True, [1, 2], np.array(1)], ids=repr)
@both_environments
def test_a_bad_seed_is_named_and_the_game_goes_on_as_before(make, seed):
    env = make()
    env.reset(seed=1)
    before = state_of(env)
    with refused(f"seed={seed!r}"):
        env.reset(seed=seed)
    assert state_of(env) == before


# ----------------------------------------------------------------------------------------------------------- actions

# In the game below player_0 is to discard a card and holds AC … 6C, the ids 0 … 5.
ILLEGAL = [
    6, 51, 12, -1, -52, 52, 255, 10**30, -(10**30), 2**63, 2**64, np.int8(-1), np.uint64(2**64 - 1), np.int64(30),
    np.array([6]), np.array([[51]]), np.array(52),
]  # fmt: skip
NO_INTEGERS = [
    3.5, 0.0, np.float64(0), float("nan"), float("inf"), 1j,
    True, False, np.True_,
    None, "0", "AC", b"0", "", [], [0], (0,), {0}, {"action": 0}, range(3), object, ...,
    np.zeros(0), np.array(0.0), np.array([0.0]), np.array([True]), np.array([0, 1]), np.array(["0"]),
]  # fmt: skip
LEGAL = [2, np.int8(2), np.uint64(2), np.array(2), np.array([2]), np.array([[2]], np.int8), torch.tensor([2])]


def begun(make, **options):
    env = make(**options)
    env.reset(seed=1, options={"deals": [DEAL], "first_dealer": 1})
    return env


@pytest.mark.parametrize("action", LEGAL, ids=repr)
@both_environments
def test_a_legal_card_may_come_as_any_integer_or_integer_array_of_one_element(make, action):
    env = begun(make)
    env.step(action)
    assert legal_ids(env) == [0, 1, 3, 4, 5]


@pytest.mark.parametrize("action", NO_INTEGERS, ids=repr)
@both_environments
def test_an_action_that_is_not_an_integer_raises_and_changes_nothing(make, action):
    env = begun(make)
    before = state_of(env)
    with refused(repr(action), error=TypeError):
        env.step(action)
    assert state_of(env) == before


@pytest.mark.parametrize("action", ILLEGAL, ids=repr)
def test_raw_env_refuses_an_illegal_card_and_nothing_has_changed(action):
    env = begun(crib_env.raw_env)
    before = state_of(env)
    with pytest.raises(ValueError, match="is not a legal action of player_0") as error:
        env.step(action)
    card = int(np.asarray(action).item())
    name = f"{format_card(card)} (action {card})" if 0 <= card < 52 else str(card)
    assert str(error.value) == f"{name} is not a legal action of player_0: give the id of one of AC 2C 3C 4C 5C 6C"
    assert state_of(env) == before
    env.step(0)
    assert env.agent_selection == "player_0"


WORST_LOSS = {"points": -121.0, "win": -1.0, "match": -3.0}


@pytest.mark.parametrize(("reward", "loss"), WORST_LOSS.items())
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


def test_env_and_raw_env_accept_both_values_of_illegal():
    with pytest.raises(ValueError, match="is not a legal action of player_0"):
        begun(crib_env.env, illegal="raise").step(51)
    env = begun(crib_env.raw_env, illegal="end")
    env.step(51)
    assert env.terminations == {"player_0": True, "player_1": True}


@pytest.mark.parametrize("text", ["9C", "KC", "JD", "TD", "2S", "6S"])
def test_the_play_refuses_a_card_that_passes_31_or_is_not_in_hand(text):
    """9C would make 39; KC and JD are laid, TD is the opponent's, 2S is in the crib, 6S is the starter."""
    card = parse_card(text)
    raw, env = crib_env.raw_env(episode="play"), crib_env.env(episode="play")
    for one in (raw, env):
        one.reset(options={"deals": ["KC QC AC 9C 2S 3S JD TD TH QH 4S 5S 6S"], "first_dealer": 1})
        for laid in ("KC", "JD", "QC"):
            one.step(parse_card(laid))
    before = state_of(raw)
    with refused(f"{text} (action {card})", "one of AC"):
        raw.step(card)
    assert state_of(raw) == before

    env.step(card)
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.rewards == {"player_0": -121.0, "player_1": 121.0}
    assert env.scores == raw.scores


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
    env = begun(crib_env.env, observation="board")
    env.step(51)
    starter = parse_card("KH")
    for agent in PLAYERS:
        assert not env.observe(agent)["observation"][[53 + starter, 600 + starter]].any()
        assert env.views(agent).starter[0] == -1


def test_the_table_hides_the_starter_when_an_illegal_discard_ends_the_game():
    env = begun(crib_env.env, render_mode="ansi")
    env.step(51)
    assert "the episode is over" in env.render()
    assert "KH" not in env.render()


# ----------------------------------------------------------------------------------------------------- order of calls


CALLS = {
    "step": lambda env: env.step(0),
    "last": lambda env: env.last(),
    "observe": lambda env: env.observe("player_0"),
    "views": lambda env: env.views("player_0"),
    "render": lambda env: env.render(),
    "picture": lambda env: env.picture(),
    "agent_iter": lambda env: list(env.agent_iter()),
}
ATTRIBUTES = ["agents", "num_agents", "agent_selection", "rewards", "terminations", "infos", "scores", "dealer"]


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@both_environments
def test_a_call_before_reset_says_so(make, call):
    with pytest.raises(AttributeError, match=r"before reset\(\): call it first"):
        call(make(render_mode="ansi"))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@both_environments
def test_after_close_too_until_the_next_reset(make, call):
    env = make(render_mode="ansi")
    env.reset(seed=1)
    for _ in range(2):
        env.close()
    with pytest.raises(AttributeError, match=r"before reset\(\): call it first, and after close"):
        call(env)
    env.reset(seed=1)
    env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))


@pytest.mark.parametrize("name", ATTRIBUTES)
@both_environments
def test_attributes_set_by_reset_do_not_exist_before(make, name):
    env = make()
    with pytest.raises(AttributeError, match=r"before reset\(\): call it first"):
        getattr(env, name)
    env.reset()
    assert getattr(env, name) is not None


def test_an_unknown_attribute_is_an_ordinary_error():
    for env in (crib_env.env(), crib_env.raw_env()):
        assert not hasattr(env, "score")
        with refused("'score'", error=AttributeError):
            env.score  # noqa: B018


def over(make):
    env = make(episode="play")
    env.reset(seed=1)
    while not all(env.terminations.values()):
        env.step(legal_ids(env)[0])
    return env


@both_environments
def test_a_step_after_the_end_says_to_reset(make):
    env = over(make)
    env.step(None)
    env.step(None)
    for action in (None, 0, "x"):
        with pytest.raises(RuntimeError, match=r"over for both players: call reset\(\)"):
            env.step(action)


@pytest.mark.parametrize("action", [0, -1, "x", False], ids=repr)
@both_environments
def test_a_terminated_player_can_only_step_with_none(make, action):
    env = over(make)
    for n_left in (2, 1):
        before = state_of(env)
        with pytest.raises(ValueError, match="the only valid action is None"):
            env.step(action)
        assert state_of(env) == before
        assert len(env.agents) == n_left
        env.step(None)


@pytest.mark.parametrize("agent", ["player_2", "Player_0", "", 0, None, ("player_0",)], ids=repr)
@pytest.mark.parametrize("method", ["observe", "views", "observation_space", "action_space"])
@both_environments
def test_the_error_for_an_unknown_agent_lists_the_agents(make, method, agent):
    env = make()
    env.reset(seed=1)
    with refused(repr(agent), *map(repr, PLAYERS)):
        getattr(env, method)(agent)


@both_environments
def test_render_needs_a_render_mode(make):
    env = make()
    env.reset(seed=1)
    with refused("render_mode="):
        env.render()
