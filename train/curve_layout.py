"""How TensorBoard's tab "Custom Scalars" arranges curves: first strength, then learning, then speed."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

# Titles, and what their tags begin with; the last of learning and of speed are Stable-Baselines3's.
_GROUPS = {
    "strength (bands: 95 % intervals; of several seeds, their range)": ("strength/",),
    "learning": ("learning/", "rollout/", "train/"),
    "speed": ("speed/", "time/"),
}
_ENDS = (" low", " high")


def is_end(tag: str) -> bool:
    """Whether a tag is that of an end of a band."""
    return tag.endswith(_ENDS)


def band_of(tag: str) -> list[str]:
    """The tags of the ends of a curve's band."""
    return [tag + end for end in _ENDS]


def with_band(tag: str, value: float, low: float, high: float) -> dict[str, float]:
    """A value of a curve and of the two ends of its band, by their tags."""
    return dict(zip((tag, *band_of(tag)), (value, low, high)))


def layout_of(tags: Collection[str]) -> dict[str, dict[str, list[Any]]]:
    """A chart for each curve, with its band if it has one.

    TensorBoard merges the layouts of all runs that it shows: groups of one title, and charts that are equal. So every
    group is in every layout, else the first run would leave out those that it lacks, and charts follow from tags alone.

    Args:
        tags: of the scalars that are written, in the order of the charts.

    Returns:
        What ``SummaryWriter.add_custom_scalars`` takes.
    """
    layout: dict[str, dict[str, list[Any]]] = {}
    for title, beginnings in _GROUPS.items():
        layout[title] = {
            tag.removeprefix(beginnings[0]): ["Margin", [tag, *band_of(tag)]]
            if set(band_of(tag)) <= set(tags)
            else ["Multiline", [f"{re.escape(tag)}$"]]
            for tag in tags
            if tag.startswith(beginnings) and not is_end(tag)
        }
    return layout
