"""Strategy graphs as Lang (2018, section 4.1) drew them: white is no weight for a strategy, black is all of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from crib_env.agents.strategy_weights import StrategyWeightsAgent
from crib_env.engine import DEALER, PONE, ROLES
from crib_env.evaluate.figures import AMOUNT, new_figure
from crib_env.tables.lang_strategies import STRATEGIES


def _draw(axes: Any, square: np.ndarray) -> None:
    """One strategy's weights (121, 121): own score down, opponent's across, 0–0 at the top left."""
    axes.imshow(square, cmap=AMOUNT, vmin=0, vmax=1, interpolation="nearest")
    axes.set(xticks=[], yticks=[])


def draw_strategies(weights: np.ndarray) -> Figure:
    """A square for each strategy as dealer and as pone, of weights (121, 121, 2, 8)."""
    figure = new_figure(16, 4.8)
    rows = figure.subplots(2, len(STRATEGIES))
    for role, row in zip((DEALER, PONE), rows):
        for k, axes in enumerate(row):
            _draw(axes, weights[:, :, role, k])
        row[0].set_ylabel(f"{ROLES[role]}: own score ↓")
    for axes, name in zip(rows[0], STRATEGIES):
        axes.set_title(name, fontsize=9)
    for axes in rows[1]:
        axes.set_xlabel("opponent's score →", fontsize=8)
    return figure


def draw_history(snapshots: list[Path]) -> Figure:
    """The dealer's squares over training: a row for each strategy, a column for each snapshot, oldest first."""
    figure = new_figure(1.3 * len(snapshots) + 2.5, 11)
    columns = figure.subplots(len(STRATEGIES), len(snapshots), squeeze=False).T
    for path, column in zip(snapshots, columns):
        weights = StrategyWeightsAgent.load(path).weights
        for k, axes in enumerate(column):
            _draw(axes, weights[:, :, DEALER, k])
        column[0].set_title(f"{int(path.stem.rpartition('-')[2]):,}", fontsize=8)
    for axes, name in zip(columns[0], STRATEGIES):
        axes.set_ylabel(name, fontsize=7, rotation=0, ha="right", va="center")
    return figure
