"""The ids of the environments in Gymnasium and PettingZoo."""

from __future__ import annotations

import gymnasium
import pettingzoo


def register_all() -> None:
    """Registers the four Gymnasium ids, and the PettingZoo id if PettingZoo has a registry (from 1.27)."""
    gymnasium.register(
        "crib_env/Cribbage-v0",
        entry_point="crib_env.single_agent:SingleAgentCribbage",
        vector_entry_point="crib_env.vector.environments:CribbageVectorEnv",
    )
    for name, episode in (("CribbagePlay", "play"), ("CribbagePegging", "pegging")):
        gymnasium.register(
            f"crib_env/{name}-v0",
            entry_point="crib_env.single_agent:SingleAgentCribbage",
            vector_entry_point="crib_env.vector.environments:CribbageVectorEnv",
            kwargs={"episode": episode},
        )
    gymnasium.register(
        "crib_env/CribbageDiscard-v0",
        entry_point="crib_env.discard_game:DiscardGame",
    )
    if hasattr(pettingzoo, "register"):
        pettingzoo.register("aec", "crib_env/cribbage-v0", "crib_env:env")
