"""Layout of TensorBoard's curves: first strength, then learning, then speed.

Its first tab, "Time Series", is sorted alphabetically (:mod:`crib_env.evaluate.runs.format`), its tab "Custom Scalars"
follows :func:`layout_of`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from crib_env.evaluate.runs.format import STRENGTH, band_of, title_of

# Titles and the prefixes of their tags; the last prefixes of learning and of speed are Stable-Baselines3's.
_GROUPS = {
    "evaluation (bands: 95 % intervals)": STRENGTH,
    "learning": ("learning/", "rollout/", "train/"),
    "speed": ("speed/", "time/"),
}


def layout_of(tags: Collection[str]) -> dict[str, dict[str, list[Any]]]:
    """A chart for each curve, with its band if it has one.

    TensorBoard merges the layouts of all runs that it shows: groups of one title, and charts that are equal. So every
    layout has every group, because TensorBoard would leave out those that the first run lacks. Charts depend on tags
    only.

    Args:
        tags: of the scalars that are written, in the order of the charts.

    Returns:
        The layout, in the form that ``SummaryWriter.add_custom_scalars`` takes.
    """
    layout: dict[str, dict[str, list[Any]]] = {}
    for title, beginnings in _GROUPS.items():
        curves = [tag for tag in tags if tag.startswith(beginnings)]
        banded = [tag for tag in curves if set(band_of(tag)) <= set(tags)]
        # TensorBoard 2.21 shows charts with bands in reverse order, and all others in the given order.
        layout[title] = {title_of(tag): ["Margin", [tag, *band_of(tag)]] for tag in reversed(banded)}
        layout[title] |= {title_of(tag): ["Multiline", [f"{re.escape(tag)}$"]] for tag in curves if tag not in banded}
    return layout
