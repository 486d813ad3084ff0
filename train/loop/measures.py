"""The choice of the measure of strength for a run."""

from __future__ import annotations

from typing import Any

from train.loop import pegging_strength, strength
from train.loop.contracts import StrengthMeasure
from train.loop.settings import RunSettings


def measure_of(settings: RunSettings) -> StrengthMeasure[Any, Any]:
    """Pegging games for players trained in pegging, else whole games of cribbage."""
    return pegging_strength if getattr(settings, "episode", "game") == "pegging" else strength
