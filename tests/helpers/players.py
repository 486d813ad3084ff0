"""One player of each name: searches with few iterations, networks with new weights."""

from __future__ import annotations

import torch

from crib_env.agents import make_agent
from crib_env.agents.mmd_tables import BUCKET, N_LEARNED, N_TABLES, TablesAgent
from crib_env.agents.networks.ddqn import DDQNAgent
from crib_env.agents.networks.drqn import DRQNAgent
from crib_env.agents.networks.policy import PolicyAgent
from crib_env.agents.networks.td import TDAgent
from crib_env.agents.registry import NAMES


def tables_agent():
    """Random tables with 64 buckets each."""
    return TablesAgent(torch.randn(N_TABLES, 64, 1, BUCKET), torch.randn(N_LEARNED), 0.5)


NETWORKS = {
    "ddqn": lambda: DDQNAgent.new("split", "board", "ranks", (16,)),
    "drqn": lambda: DRQNAgent.new(
        networks="one", observation="209", memory=8, hidden=(8,), direct=True, inputs="ranks", lasts="deal",
        skip_forced=True,
    ),
    "mmd": lambda: PolicyAgent("mmd", DDQNAgent.new("split", "209", "ranks", (16,))),
    "mmd-tables": tables_agent,
    "nfsp": lambda: PolicyAgent("nfsp", DDQNAgent.new("one", "209", "ranks", (16,))),
    "ppo": lambda: PolicyAgent("ppo", DDQNAgent.new("one", "209", "ranks", (16,))),
    "rnad": lambda: PolicyAgent("rnad", DDQNAgent.new("split", "209", "ranks", (16,))),
    "td": lambda: TDAgent.new("features", (16,)),
}  # fmt: skip
SETTINGS = {
    "equilibrium": "equilibrium:iterations=2",
    "expert": "expert:hands=5",
    "ismcts": "ismcts:iterations=30",
    "uct-determinized": "uct-determinized:iterations=30",
    "strategy-weights": "strategy-weights:random",
}
MORE = ["ismcts:iterations=30,draw=uniform,show=drawn", "best:scores=no"]
ASKS = {"human", "llm"}  # somebody else
PLAYERS = sorted({*NAMES, *MORE} - ASKS - {"search"})  # which plays the pegging game alone


def remembering(folder):
    """The text of an agent that remembers, with weights in a folder."""
    torch.manual_seed(1)
    NETWORKS["drqn"]().save(folder / "remembering.safetensors")
    return f"drqn:{folder / 'remembering.safetensors'}"


def player(name):
    if name in NETWORKS:
        torch.manual_seed(1)
        return NETWORKS[name]()
    return make_agent(SETTINGS.get(name, name))
