"""``check_agent``: every agent of this project passes, and each check can fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

import crib_env
from crib_env.agents import make_agent
from crib_env.agents.best import BestAgent
from crib_env.agents.networks.ddqn import DDQNAgent
from crib_env.agents.networks.policy import PolicyAgent
from crib_env.testing import check_agent
from tests.helpers.players import NETWORKS, PLAYERS, player
from tests.helpers.refusals import refused

SLOW = {"equilibrium": 2, "minimax": 6, "uct-determinized": 6}
MANY = 60  # games: among their discards are ties, which the rounding of a network's sums must not decide


@pytest.mark.parametrize("name", PLAYERS)
def test_agents_are_what_they_declare(name):
    check_agent(player(name), games=MANY if name in NETWORKS else SLOW.get(name, 12), seed=7)


def average_policy(kind, observation, plays="sample"):
    torch.manual_seed(5)
    networks = DDQNAgent.new(kind, observation, "ranks", (32,))
    for network in networks.networks.values():  # so that cards differ in how likely they are
        torch.nn.init.normal_(network.cards.weight, std=2.0)
    return PolicyAgent("nfsp", networks, seed=3, plays=plays)


def drawn_policy():
    torch.manual_seed(5)
    agent = BestAgent({"pegging": (32,)})
    torch.nn.init.normal_(agent.policies["pegging"].ranks.weight, std=2.0)
    return agent


MIXED = {
    "best": (drawn_policy, "pegging"),
    "nfsp": (lambda: average_policy("one", "209"), "deal"),
    "nfsp with two networks": (lambda: average_policy("split", "board"), "deal"),
    "nfsp's mode": (lambda: average_policy("one", "209", plays="mode"), "deal"),
}


@pytest.mark.parametrize("name", MIXED)
def test_policies_that_mix_say_how(name):
    make, episode = MIXED[name]
    agent = make()
    check_agent(agent, games=12, episodes=(episode,))
    batch = crib_env.GameBatch(crib_env.streams(2, 40), episode=episode)
    said = agent.probabilities(batch.views(batch.acting())).max(axis=1)
    assert (said < 1).sum() == 0 if name == "nfsp's mode" else (said < 1).sum() > 10


class Planted:
    """An agent by its functions."""

    name = "planted"

    def __init__(self, act, probabilities=None, **powers):
        self.act, self.powers = act, crib_env.Powers(**powers)
        if probabilities:
            self.probabilities = probabilities


def lowest(views):
    return views.action_mask.argmax(axis=1)


def lowest_rank(views):
    return np.where(views.action_mask, 99 - np.arange(52) % 13 - np.arange(52) / 100, 0).argmax(axis=1)


def highest_or_lowest(is_high):
    """Lays the highest card where a function of the views says so, else the lowest."""

    def act(views):
        order = np.arange(52)
        high = np.asarray(is_high(views))[:, None]
        return np.where(views.action_mask, np.where(high, 1 + order, 99 - order), 0).argmax(axis=1)

    return act


def says(views):
    """The chances of an agent that lays its lowest card."""
    return np.eye(52)[lowest(views)]


def evenly(views):
    return views.action_mask / views.action_mask.sum(axis=1, keepdims=True)


class Counts(Planted):
    """Remembers how often it was asked in a game."""

    def __init__(self):
        super().__init__(self._act, suits="ties", remembers_discards=False)
        self.asked = {}

    def _act(self, views):
        for game in views.game_ids.tolist():
            self.asked[game] = self.asked.get(game, 0) + 1
        return highest_or_lowest(lambda views: [self.asked[game] % 2 == 0 for game in views.game_ids.tolist()])(views)


TIES = {"suits": "ties", "remembers_discards": False}
UNSEEN = {"suits": "unseen", "remembers_discards": False}
MIXES = {"mixes": "known", "remembers_discards": False}


@pytest.mark.parametrize(
    "agent", [Planted(lowest, **TIES), Planted(lowest_rank, **UNSEEN), Planted(lowest, says, **MIXES)]
)
def test_honest_agents_pass(agent):
    check_agent(agent)


FAULTS = {
    "in game 0: .* is not legal": lambda: Planted(lambda views: (views.action_mask == 0).argmax(axis=1), **TIES),
    "cards must be .* integers, not .* of float64": lambda: Planted(lambda views: lowest(views).astype(float), **TIES),
    "uses hidden cards|chooses other cards when asked the same again": lambda: Planted(
        highest_or_lowest(lambda views: np.random.default_rng().random(len(views)) < 0.5), **TIES
    ),
    "chooses by what else is in the batch": lambda: Planted(
        highest_or_lowest(lambda views: np.full(len(views), len(views) > 1)), **TIES
    ),
    "declares mixes='no', but draws its cards by game id": lambda: Planted(
        highest_or_lowest(lambda views: views.game_ids >= 1_000), **TIES
    ),
    "declares remembers=False, but chooses by what it saw before": Counts,
    "declares remembers_discards=False, but its play depends on them": lambda: Planted(
        highest_or_lowest(lambda views: views.discards.max(axis=1) % 2 == 0), **TIES
    ),
    "declares suits='unseen', but suits change the rank": lambda: Planted(lowest, suits="unseen"),
    "declares suits='ties', but suits change the rank": lambda: Planted(
        highest_or_lowest(lambda views: views.starter >= 26), **TIES
    ),
    "its probabilities say .* of 200 times": lambda: Planted(lowest, evenly, **MIXES),
    "its probabilities do not add up to 1": lambda: Planted(lowest, lambda views: 2 * says(views), **MIXES),
    "its probabilities are not 0 for cards that are not legal": lambda: Planted(
        lowest, lambda views: np.full((len(views), 52), 1 / 52), **MIXES
    ),
    "its probabilities are float32": lambda: Planted(lowest, lambda views: says(views).astype(np.float32), **MIXES),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_agent_that_is_not_what_it_says_is_caught(fault):
    with pytest.raises(AssertionError, match=f"agent 'planted'.*({fault})"):
        check_agent(FAULTS[fault]())


def test_an_agent_that_looks_at_hidden_cards_is_caught(monkeypatch):
    """By views that show the opponent's lowest card, as a leak would."""
    true_views = crib_env.testing.views_of

    def leaking(games, rows, seats, ids):
        hidden = games["hand"][rows, 1 - seats]
        views = true_views(games, rows, seats, ids)
        return replace(views, scores=np.stack([hidden % 7, hidden % 5], axis=1).astype(np.int16))

    peeks = Planted(highest_or_lowest(lambda views: views.scores[:, 0] % 2 == 1), **TIES)
    check_agent(peeks, episodes=("deal",))
    monkeypatch.setattr(crib_env.testing, "views_of", leaking)
    with refused("agent 'planted'", error=AssertionError):
        check_agent(peeks, episodes=("deal",))


def test_a_person_cannot_be_checked():
    with refused("agent 'human'"):
        check_agent(make_agent("human"))
