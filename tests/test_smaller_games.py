"""The pegging game with two and three cards each: environments, solutions, and exploitability by plain enumeration."""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement, product
from math import comb

import gymnasium
import numpy as np
import pytest

import crib_env
from crib_env import GameBatch, streams
from crib_env.aec import raw_env
from crib_env.agents import make_agent
from crib_env.engine import DEALER, PONE
from crib_env.evaluate.skill.exploitability import VALUE_TO_DEALER, exploitability
from crib_env.options import OptionError
from crib_env.players.tabular import StatePolicy
from crib_env.solver.cfr import PlaySolver
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import start_of_play
from tests.helpers.refusals import refused
from tests.test_exploitability import HighestRank

PAIRS = list(combinations_with_replacement(range(13), 2))


@pytest.mark.parametrize("cards", [2, 3])
def test_so_many_cards_each_and_a_point_for_the_last(cards):
    env = raw_env(episode="pegging", cards=cards, events=True)
    for seed in range(20):
        env.reset(seed=seed)
        laid = 0
        assert [len(env.views(player).kept[0][env.views(player).kept[0] >= 0]) for player in env.agents] == [cards] * 2
        while not all(env.terminations.values()):
            agent = env.agent_selection
            env.step(env.observe(agent)["action_mask"].argmax())
            laid += 1
        assert laid == 2 * cards
        assert {"last card", "thirty-one"} & {event.kind for event in env.infos[agent]["events"]}


def test_all_environments_deal_so_many():
    deal = "5C 5D 5H KS"
    env = raw_env(episode="pegging", cards=2)
    env.reset(options={"first_dealer": 1, "deals": [deal]})
    assert env.views("player_0").hand[0].tolist() == [4, 17, -1, -1, -1, -1]
    assert env.views("player_1").opponent_cards[0] == 2
    assert (GameBatch(streams(1, 9), episode="pegging", cards=3).views(np.arange(9)).hand[:, 3:] == -1).all()
    several = gymnasium.make_vec("crib_env/CribbagePegging-v0", 4, cards=2, opponent="greedy")
    observation, _ = several.reset(seed=3)
    for _ in range(9):  # some games end here, and others begin
        assert (observation["observation"][:, 1:53].sum(axis=1) <= 2).all()
        observation, *_ = several.step(observation["action_mask"].argmax(axis=1))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"episode": "pegging", "cards": 5}, r"cards=5 is not allowed: give one of 2, 3, 4"),
        ({"episode": "deal", "cards": 3}, r"cards=3 is only for episode='pegging', not 'deal': give 4"),
    ],
)
def test_other_numbers_are_refused(options, says):
    with refused(says, error=OptionError):
        crib_env.env(**options)


@pytest.mark.parametrize(("cards", "iterations"), [(2, 16), (3, 16)])
def test_the_values_of_the_solved_games(cards, iterations):
    solver = PlaySolver(PlayGame(start=start_of_play(cards), threads=1))
    for _ in range(iterations):
        solver.iterate()
    found = solver.best_responses()
    assert -found.as_pone <= VALUE_TO_DEALER[cards] + 5e-5
    assert found.as_dealer >= VALUE_TO_DEALER[cards] - 5e-5
    assert found.nash_conv < 0.01


def lay_out(ranks):
    """Net points of pone when these ranks are laid by turns, in plain words: pone, dealer, pone, dealer."""
    net = count = 0
    pile = []
    for place, rank in enumerate(ranks):
        count, sign = count + min(rank + 1, 10), 1 - 2 * (place % 2)
        pile.append(rank)
        net += sign * (2 * (count == 15) + 2 * (count == 31))
        same = 1
        while same < len(pile) and pile[-1 - same] == rank:
            same += 1
        net += sign * same * (same - 1)
        latest = [sorted(pile[-n:]) for n in range(3, len(pile) + 1)]
        net += sign * max((len(run) for run in latest if run == list(range(run[0], run[0] + len(run)))), default=0)
    return net


@cache
def play_out(pone, dealer, lead, reply):
    """The same of a deal after a lead and a reply; whoever cannot lay says go, and the last card earns a point."""
    rest, answer = [rank for k, rank in enumerate(pone) if k != lead], [r for k, r in enumerate(dealer) if k != reply]
    laid = [pone[lead], dealer[reply]]
    count = sum(min(rank + 1, 10) for rank in laid)
    third, fourth = min(rest[0] + 1, 10), min(answer[0] + 1, 10)
    if count + third + fourth <= 31:
        net = lay_out([*laid, *rest, *answer])
        return net - (count + third + fourth != 31)
    return lay_out([*laid, *rest]) + 1 - 1  # go for pone, and the last card for the dealer


def by_enumeration(choose, role):
    """What a best response earns against a role that lays card ``k`` of its two with chance ``choose(…)[k]``."""
    net = dict[tuple, float]()
    for pone, dealer in product(PAIRS, PAIRS):
        held = [(*pone, *dealer).count(rank) for rank in range(13)]
        if max(held) > 4:
            continue
        ways = comb(4, pone.count(pone[0])) * (1 if pone[0] == pone[1] else 4)
        for rank in sorted({*dealer}):
            ways *= comb(4 - pone.count(rank), dealer.count(rank))
        for lead, reply in product(range(2), range(2)):
            points = play_out(pone, dealer, lead, reply) * ways
            if role == PONE:  # the dealer responds, and sees the lead
                key = dealer, pone[lead], reply
                points *= -choose(pone, ())[lead]
            else:
                key = pone, lead
                points *= choose(dealer, (pone[lead],))[reply]
            net[key] = net.get(key, 0.0) + points
    best = dict[tuple, float]()
    for (*state, _), points in net.items():
        best[tuple(state)] = max(best.get(tuple(state), -np.inf), points)
    return sum(best.values()) / (comb(52, 2) * comb(50, 2))


def highest(hand, laid):
    return (0.0, 1.0)


def evenly(hand, laid):
    return (0.5, 0.5)


@pytest.mark.parametrize(("agent", "choose"), [(HighestRank(), highest), (make_agent("random"), evenly)])
def test_two_cards_by_plain_enumeration(agent, choose):
    found = exploitability(agent, PlayGame(start=start_of_play(2), threads=1))
    value = VALUE_TO_DEALER[2]
    assert found.as_pone == pytest.approx(by_enumeration(choose, PONE) - value, abs=1e-6)
    assert found.as_dealer == pytest.approx(by_enumeration(choose, DEALER) + value, abs=1e-6)


def outsiders_policy(rng):
    """A policy of the two-card game as arrays: how likely the lower of two cards is laid, by the hand, and for the
    dealer by the lead too. A third of all choices are certain."""
    lead, reply = (rng.random(size).round(1) for size in (len(PAIRS), (len(PAIRS), 13)))

    def choose(hand, laid):
        lower = reply[(PAIRS.index(hand), *laid)] if laid else lead[PAIRS.index(hand)]
        return lower, 1 - lower

    return lead, reply, choose


def as_table(lead, reply):
    """The same arrays as lines of a table; a hand of one rank has no choice."""
    states, chances = [], []
    for (low, high), of_lead, of_reply in zip(PAIRS, lead, reply):
        hand = "A23456789TJQK"[low] + "A23456789TJQK"[high]
        lines = {f"p {hand}": of_lead} | {f"d {hand} p{r}": of_reply[k] for k, r in enumerate("A23456789TJQK")}
        for state, lower in lines.items() if low != high else ():
            states.append(state)
            chances.append(np.eye(13)[low] * lower + np.eye(13)[high] * (1 - lower))
    return dict(zip(states, chances))


def test_an_outsiders_policy_by_plain_enumeration():
    """A policy as an array over information states, written without this library, gets its exact exploitability."""
    lead, reply, choose = outsiders_policy(np.random.default_rng(1))
    table = as_table(lead, reply)
    found = exploitability(StatePolicy(table.__getitem__), PlayGame(start=start_of_play(2), threads=1))
    value = VALUE_TO_DEALER[2]
    assert found.decisions == len(table) == 78 * 14
    assert found.as_pone == pytest.approx(by_enumeration(choose, PONE) - value, abs=1e-6)
    assert found.as_dealer == pytest.approx(by_enumeration(choose, DEALER) + value, abs=1e-6)


def test_a_policy_without_a_card_to_lay_and_one_of_other_games_are_refused():
    agent = StatePolicy(lambda state: np.zeros(13))
    with refused("'p "):
        agent.act(GameBatch(streams(1, 9), episode="pegging", cards=2).views(np.arange(9)))
    with pytest.raises(ValueError, match="plays the pegging game alone"):
        agent.act(GameBatch(streams(1, 9)).views(np.arange(9)))


@pytest.mark.parametrize("name", ["expert:threads=1", "equilibrium"])
def test_players_whose_tables_are_of_four_cards_refuse_fewer(name):
    views = GameBatch(streams(1, 9), episode="pegging", cards=3).views(np.arange(9))
    with refused(name.partition(":")[0]):
        make_agent(name).act(views)
