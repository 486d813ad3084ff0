"""The powers that agents declare: checked where an agent is made, and given to those that declare none."""

from __future__ import annotations

import numpy as np
import pytest

import crib_env
from crib_env.agents import make_agent
from crib_env.evaluate.matches.mirrored import check_players
from crib_env.players.agent_from_text import as_agent
from tests.helpers.refusals import refused
from tests.helpers.vector_games import FirstCards


class Plain:
    name = "plain"

    def act(self, views):
        return views.action_mask.argmax(axis=1)


class Everything(Plain):
    """Has the methods of every power, and declares none."""

    def probabilities(self, views):
        return np.eye(52)[self.act(views)]

    def observe_deal(self, deals):
        raise NotImplementedError


class SaysItMixes(Plain):
    powers = crib_env.Powers(mixes="known")


class SaysItWatches(Plain):
    powers = crib_env.Powers(watches=True)


class Inherits(Plain):
    powers = crib_env.Powers()
    probabilities = Everything.probabilities


class SaysText(Plain):
    powers = "remembers"


class Closed:
    __slots__ = ()
    name = "closed"
    act = Plain.act


class Nameless:
    act = Plain.act


def test_an_object_without_powers_has_the_defaults():
    agent = Plain()
    assert as_agent(agent) is agent
    assert agent.powers == crib_env.Powers()


def test_an_object_without_powers_has_those_of_its_methods():
    agent = as_agent(Everything())
    assert agent.powers == crib_env.Powers(mixes="known", watches=True)


def test_an_object_without_a_name_has_that_of_its_class():
    assert as_agent(Nameless()).name == "Nameless"


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (SaysItMixes, "agent 'plain' has no probabilities, which mixes='known' needs"),
        (SaysItWatches, "agent 'plain' has no observe_deal, which watches=True needs"),
        (Inherits, "agent 'plain' has probabilities, but declares mixes='no'"),
        (SaysText, "agent 'plain' has powers='remembers': give crib_env.Powers"),
        (Closed, "Closed takes no attributes: give its class a powers"),
    ],
)
def test_powers_that_do_not_agree_with_the_methods_are_refused(kind, says):
    with refused(says):
        as_agent(kind())
    if kind is not Closed:
        with refused(says):
            make_agent(f"tests.test_powers:{kind.__name__}")


@pytest.mark.parametrize("bad", [{"mixes": True}, {"suits": "some"}, {"copyable": "no"}, {"watches": None}])
def test_a_value_that_no_power_has_is_refused(bad):
    (name,) = bad
    with refused(f"{name}={bad[name]!r}"):
        crib_env.Powers(**bad)


def test_a_player_of_single_decisions_declares_powers_too():
    player = FirstCards()
    assert as_agent(player).powers == crib_env.Powers()
    player.powers = crib_env.Powers(remembers=True, copyable=False)
    assert as_agent(player).powers == player.powers
    player.probabilities = None
    with refused("mixes='no'"):
        as_agent(player)
    player.powers = crib_env.Powers(mixes="known")
    with refused("OneAtATime"):
        as_agent(player)


def test_who_plays_once_is_kept_out_of_many_games():
    with refused("human", "cannot play many games"):
        check_players(["human"])
