"""Learners, and what a learner or a training script of one's own takes from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crib_env.train.loop.contracts import Parts
    from crib_env.train.loop.learning import Descent, ExploringSettings, LearningSettings, RunSettings
    from crib_env.train.loop.recording import Run
    from crib_env.train.loop.rounds import Round

__all__ = ["Descent", "ExploringSettings", "LearningSettings", "Parts", "Round", "Run", "RunSettings"]
_PLACES = {"Parts": "contracts", "Round": "rounds", "Run": "recording"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # on first use: torch takes seconds

    return getattr(import_module(f"crib_env.train.loop.{_PLACES.get(name, 'learning')}"), name)
