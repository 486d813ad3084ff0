"""Cribbage players: objects with a name and ``act(views)``."""

from crib_env.agents.agent import Agent
from crib_env.agents.registry import make_agent

__all__ = ["Agent", "make_agent"]
