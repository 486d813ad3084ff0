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
from crib_env.agents.networks.policy import NFSPAgent
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
    return NFSPAgent(networks, seed=3, plays=plays)


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


# --- planted faults -------------------------------------------------------------------------------------------------


class Lowest:
    """Lays its lowest card."""

    name = "planted"
    powers = crib_env.Powers(remembers_discards=False, suits="ties")

    def act(self, views):
        return views.action_mask.argmax(axis=1)


class LowestRank(Lowest):
    powers = crib_env.Powers(remembers_discards=False, suits="unseen")

    def act(self, views):
        return np.where(views.action_mask, 99 - np.arange(52) % 13 - np.arange(52) / 100, 0).argmax(axis=1)


class Illegal(Lowest):
    def act(self, views):
        return (views.action_mask == 0).argmax(axis=1)


class Floats(Lowest):
    def act(self, views):
        return super().act(views).astype(float)


class Highest(Lowest):
    @staticmethod
    def either(views, is_high):
        order = np.arange(52)
        return np.where(views.action_mask, np.where(is_high[:, None], 1 + order, 99 - order), 0).argmax(axis=1)


class Dice(Highest):
    """Draws from a generator that nobody has seeded."""

    def act(self, views):
        return self.either(views, np.random.default_rng().random(len(views)) < 0.5)


class ByBatch(Highest):
    def act(self, views):
        return self.either(views, np.full(len(views), len(views) > 1))


class ByGame(Highest):
    def act(self, views):
        return self.either(views, views.game_ids >= 1_000)


class Counts(Highest):
    """Remembers how often it was asked in a game."""

    def __init__(self):
        self.asked = {}

    def act(self, views):
        for game in views.game_ids.tolist():
            self.asked[game] = self.asked.get(game, 0) + 1
        return self.either(views, np.array([self.asked[game] % 2 == 0 for game in views.game_ids.tolist()]))


class ByDiscards(Highest):
    def act(self, views):
        return self.either(views, views.discards.max(axis=1) % 2 == 0)


class BySuit(Lowest):
    powers = crib_env.Powers(suits="unseen")


class ByStarter(Highest):
    def act(self, views):
        return self.either(views, views.starter >= 26)


class Mixes(Lowest):
    powers = crib_env.Powers(mixes="known", remembers_discards=False)

    def probabilities(self, views):
        return np.eye(52)[self.act(views)]


class SaysAnother(Mixes):
    def probabilities(self, views):
        return views.action_mask / views.action_mask.sum(axis=1, keepdims=True)


class SaysTooMuch(Mixes):
    def probabilities(self, views):
        return 2 * super().probabilities(views)


class SaysIllegal(Mixes):
    def probabilities(self, views):
        return np.full((len(views), 52), 1 / 52)


class SaysSingles(Mixes):
    def probabilities(self, views):
        return super().probabilities(views).astype(np.float32)


@pytest.mark.parametrize("agent", [Lowest(), LowestRank(), Mixes()], ids=lambda agent: type(agent).__name__)
def test_honest_agents_pass(agent):
    check_agent(agent)


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (Illegal, "in game 0: .* is not legal"),
        (Floats, "cards must be .* integers, not .* of float64"),
        (Dice, "uses hidden cards|chooses other cards when asked the same again"),
        (ByBatch, "chooses by what else is in the batch"),
        (ByGame, "declares mixes='no', but draws its cards by game id"),
        (Counts, "declares remembers=False, but chooses by what it saw before"),
        (ByDiscards, "declares remembers_discards=False, but its play depends on them"),
        (BySuit, "declares suits='unseen', but suits change the rank"),
        (ByStarter, "declares suits='ties', but suits change the rank"),
        (SaysAnother, "its probabilities say .* of 200 times"),
        (SaysTooMuch, "its probabilities do not add up to 1"),
        (SaysIllegal, "its probabilities are not 0 for cards that are not legal"),
        (SaysSingles, "its probabilities are float32"),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_an_agent_that_is_not_what_it_says_is_caught(kind, says):
    with pytest.raises(AssertionError, match=f"agent 'planted'.*{says}"):
        check_agent(kind())


def test_an_agent_that_looks_at_hidden_cards_is_caught(monkeypatch):
    """By views that show the opponent's lowest card, as a leak would."""
    true_views = crib_env.testing.views_of

    def leaking(games, rows, seats, ids):
        hidden = games["hand"][rows, 1 - seats]
        views = true_views(games, rows, seats, ids)
        return replace(views, scores=np.stack([hidden % 7, hidden % 5], axis=1).astype(np.int16))

    class Peeks(Highest):
        def act(self, views):
            return self.either(views, views.scores[:, 0] % 2 == 1)

    check_agent(Peeks(), episodes=("deal",))
    monkeypatch.setattr(crib_env.testing, "views_of", leaking)
    with refused("agent 'planted'", error=AssertionError):
        check_agent(Peeks(), episodes=("deal",))


def test_a_person_cannot_be_checked():
    with refused("agent 'human'"):
        check_agent(make_agent("human"))
