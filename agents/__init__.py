"""Cribbage players: objects with a name and ``act(views)``."""

from agents.agent import Agent
from agents.registry import make_agent

__all__ = ["Agent", "make_agent"]
