"""The choice of the measure of strength for a run."""

from __future__ import annotations

from typing import Any

from crib_env.train.loop import pegging_strength, strength
from crib_env.train.loop.contracts import StrengthMeasure
from crib_env.train.loop.settings import RunSettings


def measure_of(settings: RunSettings) -> StrengthMeasure[Any, Any]:
    """Pegging games for players trained in pegging, else whole games of cribbage."""
    return pegging_strength if getattr(settings, "episode", "game") == "pegging" else strength
