"""Learners, and what a learner or a training script of one's own takes from them."""

from typing import Any

_PLACES = dict.fromkeys(("Descent", "Parts"), "shared.gradients") | dict.fromkeys(("Round", "Run"), "loop.run")
_PLACES |= dict.fromkeys(("ExploringSettings", "LearningSettings", "RunSettings"), "loop.settings")
__all__ = list(_PLACES)


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # on first use: torch takes seconds

    return getattr(import_module(f"crib_env.train.{_PLACES[name]}"), name)
