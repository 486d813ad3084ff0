"""Which measure of strength a run has."""

from __future__ import annotations

from typing import Any

from train.loop import pegging_strength, strength
from train.loop.contracts import StrengthMeasure
from train.loop.settings import RunSettings


def measure_of(settings: RunSettings) -> StrengthMeasure[Any, Any]:
    """Pegging games for what is trained in them, else whole games of cribbage."""
    return pegging_strength if getattr(settings, "episode", "game") == "pegging" else strength
