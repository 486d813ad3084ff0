"""A network agent decides alike whether it is asked about one decision or about many at once.

Float32 sums come out a little different in a batch of another size; ties must not be decided by that.
"""

import numpy as np
import pytest
import torch

from crib_env.agents import make_agent
from crib_env.agents.networks.ddqn import DDQNAgent
from crib_env.agents.networks.drqn import DRQNAgent
from crib_env.agents.networks.nfsp import NFSPAgent
from crib_env.agents.networks.ppo import PPOAgent
from crib_env.agents.networks.td import TDAgent
from crib_env.batch import GameBatch
from crib_env.kernels import streams

GAMES = 250
DRQN = {
    "networks": "split",
    "observation": "209",
    "memory": 16,
    "hidden": (32,),
    "direct": True,
    "inputs": "ranks",
    "lasts": "deal",
    "skip_forced": True,
}


def ddqn():
    return DDQNAgent.new("split", "209", "ranks", (64, 64))


AGENTS = {
    "best": lambda: make_agent("best"),
    "td": lambda: TDAgent.new("features", (64, 64)),
    "ddqn": ddqn,
    "drqn": lambda: DRQNAgent.new(**DRQN),
    "nfsp": lambda: NFSPAgent(ddqn()),
    "ppo": lambda: PPOAgent.new("209", (64, 64)),
}


@pytest.mark.parametrize("name", AGENTS)
def test_one_decision_and_many_at_once_are_decided_alike(name):
    agents = []
    for _ in range(2):  # of which each remembers its own games
        torch.manual_seed(0)
        agents.append(AGENTS[name]())
    at_once, one_by_one = agents
    batch = GameBatch(streams(7, GAMES))
    for decision in range(8):
        rows = batch.acting()
        views = batch.views(rows)
        cards = at_once.act(views)
        asked = range(GAMES if decision < 4 else 25)  # four discards, where ties are, and the beginning of the play
        np.testing.assert_array_equal([one_by_one.act(views[[k]])[0] for k in asked], cards[: len(asked)])
        batch.step(rows, cards)
