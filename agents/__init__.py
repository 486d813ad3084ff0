"""Cribbage players: objects with a name, powers and ``act(views)``."""

from crib_env.agents.registry import make_agent
from crib_env.players.agent import Agent

__all__ = ["Agent", "make_agent"]
