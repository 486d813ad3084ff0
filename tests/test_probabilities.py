"""Agents that mix give the probability of each card, and the choices of ``act`` have these frequencies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from crib_env.agents import make_agent
from crib_env.agents.best.agent import BestAgent
from crib_env.agents.halscrib.agent import HalscribAgent
from crib_env.agents.networks.ddqn import DDQNAgent
from crib_env.agents.networks.nfsp import NFSPAgent
from crib_env.batch import GameBatch
from crib_env.kernels import streams
from crib_env.players.agent import mixes

N_POSITIONS, N_GAMES = 12, 1_000  # positions of each of some rounds, and games in which each position occurs
SEARCHES = {"halscrib", "adaptive", "equilibrium"}  # slow: fewer games


def average_policy(kind, observation, greedy=False):
    torch.manual_seed(5)
    networks = DDQNAgent.new(kind, observation, "ranks", (32,))
    for network in networks.networks.values():  # so that cards differ in how likely they are
        torch.nn.init.normal_(network.cards.weight, std=2.0)
    return NFSPAgent(networks, seed=3, greedy=greedy)


def drawn_policy():
    torch.manual_seed(5)
    agent = BestAgent({"pegging": (32,)})
    torch.nn.init.normal_(agent.policies["pegging"].ranks.weight, std=2.0)
    return agent


AGENTS = {
    "best in pegging": drawn_policy,
    "random": lambda: make_agent("random:seed=4"),
    "halscrib": HalscribAgent,
    "equilibrium": lambda: make_agent("equilibrium:iterations=3"),
    "adaptive": lambda: HalscribAgent(adaptive=True),
    "nfsp": lambda: average_policy("one", "209"),
    "nfsp with two networks": lambda: average_policy("split", "board"),
    "nfsp greedy": lambda: average_policy("one", "209", greedy=True),
}


def positions(name):
    """Decisions of a deal, discards and play; of halscrib, who mixes only there, first and second cards of the play."""
    batch = GameBatch(streams(2, 400), episode="pegging" if name == "best in pegging" else "deal")
    found = []
    while len(rows := batch.acting()):
        views = batch.views(rows)
        early = (views.laid[:, 1] < 0) & ~views.is_discard & (views.laid_by[:, 0] != 0)
        wanted = early if name in SEARCHES else np.ones(len(views), bool)
        if len(found) < 12 and wanted.any():
            found.append(views[np.flatnonzero(wanted)[:N_POSITIONS]])
        batch.step(rows, batch.native_cards(rows, 1))
    return found


@pytest.mark.parametrize("name", AGENTS)
def test_act_chooses_as_often_as_probabilities_say(name):
    agent, n_mixed, n, n_games = AGENTS[name](), 0, 0, N_GAMES // 5 if name in SEARCHES else N_GAMES
    assert mixes(agent)
    for views in positions(name):
        said = agent.probabilities(views)
        assert said.shape == (len(views), 52)
        assert said.dtype == np.float64
        np.testing.assert_allclose(said.sum(axis=1), 1.0)
        assert (said[views.action_mask == 0] == 0).all()
        assert (said >= 0).all()
        # The same decisions in many games. The agent is made anew, for a game that it remembers is another position.
        many = views[np.repeat(np.arange(len(views)), n_games)]
        many = replace(many, game_ids=np.arange(len(many)) + 1_000_000)
        cards = AGENTS[name]().act(many).reshape(len(views), n_games)
        often = (cards[:, :, None] == np.arange(52)).mean(axis=1)
        allowed = 5.5 * np.sqrt(said * (1 - said) / n_games) + 1e-9
        assert (abs(often - said) <= allowed).all()
        n_mixed += (said.max(axis=1) < 1).sum()
        n += len(views)
    assert n >= 2 * N_POSITIONS
    assert n_mixed == 0 if name == "nfsp greedy" else n_mixed > 3


def test_halscrib_mixes_by_the_frequencies_of_its_table():
    said = np.concatenate([AGENTS["halscrib"]().probabilities(views).max(axis=1) for views in positions("halscrib")])
    assert set(np.round(said, 6)) <= {1.0, 0.65, 0.5}  # pairs led and pairs answered, at 0-0
    assert (said < 1).any()


def test_agents_that_do_not_mix_have_no_probabilities():
    for name in ("greedy", "careful", "heuristic", "minimax", "expert", "ismcts:iterations=10"):
        assert not mixes(make_agent(name))
