"""Strength of a player of the discard game: the exact mean of the hands it keeps, over random deals.

The player's average loss to the best discard, by exact means, is subtracted from the mean of the best player over
all deals (:data:`crib_env.exact.discard_means.EXACT_MEANS`). This removes the luck of deals and starters,
and the interval is that of the loss alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from crib_env.agents.networks.discard_game import DiscardPlayer
from crib_env.engine import GAME, shuffle
from crib_env.evaluate.console import table_of
from crib_env.evaluate.runs.format import POINTS_A_HAND, with_band
from crib_env.evaluate.statistics import half_width, mean_interval
from crib_env.exact.discard_means import EXACT_MEANS, STARTERS, hand_total
from crib_env.kernels import bit, kernel, mask_of

SAMPLE = "hands"  # what ``games`` counts
_IDEAL = float(EXACT_MEANS["ideal"])
_AT_ONCE = 2_000  # hands


@kernel
def _deal(games, hands):
    for n in range(len(hands)):
        shuffle(games[0])
        hands[n] = games[0]["cards"][:6]


def random_hands(rng: np.random.Generator, n: int) -> np.ndarray:
    """Six random cards for each of ``n`` hands, (n, 6) int64, sorted."""
    games, hands = np.zeros(1, GAME), np.empty((n, 6), np.int64)
    games["deal_stream"] = rng.integers(2**64, dtype=np.uint64)
    _deal(games, hands)
    return np.sort(hands, axis=1)


@kernel
def _fill_hand_totals(hands, out):
    for n in range(len(hands)):
        six, k = mask_of(hands[n]), 0
        for i in range(6):
            for j in range(i + 1, 6):
                out[n, k] = hand_total(six ^ bit(hands[n, i]) ^ bit(hands[n, j]), six)
                k += 1


def hand_totals(hands: np.ndarray) -> np.ndarray:
    """Points of the kept four over all 46 starters, for every discard of hands (N, 6): (N, 15) int64, ordered by id."""
    out = np.empty((len(hands), 15), np.int64)
    _fill_hand_totals(hands, out)
    return out


@dataclass(frozen=True)
class Result:
    """A player's mean points a hand, with a 95 % interval, and the number of hands."""

    mean: float
    interval: tuple[float, float]
    hands: int


def total(games: int) -> int:
    """How many hands :func:`measure` uses in all."""
    return games


def measure(
    agent: DiscardPlayer, games: int, seed: int, on_progress: Callable[[int], None] = lambda done: None
) -> Result:
    """A player's mean points over ``games`` hands; ``on_progress`` receives the number of further hands done."""
    rng, short = np.random.default_rng(seed), np.empty(games)
    for first in range(0, games, _AT_ONCE):
        hands = random_hands(rng, min(_AT_ONCE, games - first))
        totals, each = hand_totals(hands), np.arange(len(hands))
        short[first : first + len(hands)] = (totals.max(axis=1) - totals[each, agent.discards(hands)]) / STARTERS
        on_progress(len(hands))
    low, high = mean_interval(short)
    return Result(_IDEAL - float(short.mean()), (_IDEAL - high, _IDEAL - low), games)


def in_words(result: Result) -> str:
    """The mean and half of its 95 % interval, in a line."""
    return f"{result.mean:.3f} ± {half_width(result.interval):.3f} points a hand"


def scalars(result: Result) -> dict[str, float]:
    """The result under the tags that TensorBoard shows."""
    return with_band(POINTS_A_HAND, result.mean, *result.interval)


def as_json(result: Result) -> dict[str, Any]:
    """The result for ``summary.json``."""
    return asdict(result)


def table(name: str, result: Result) -> Table:
    """A table of the player among O'Connor's three."""
    low, high = result.interval
    rows = [(player, f"{float(mean):.4f}", "exact") for player, mean in EXACT_MEANS.items()]
    rows.insert(1, (name, f"{result.mean:.4f}", f"{low:.4f} to {high:.4f}"))
    title = f"the discard game, points a hand ({result.hands:,} deals; the others over all deals)"
    return table_of(title, ("player", "mean", "95 % interval"), rows)


def draw(folder: Path, title: str, summary: dict[str, Any]) -> Path:
    """Draws points a hand over hands dealt into a run folder, as ``learning-curve.png`` and ``.svg``; the path."""
    from crib_env.evaluate.figures import BLUE, GREY, new_figure  # matplotlib takes half a second
    from crib_env.train.loop.strength import draw_tag, saved

    figure = new_figure(7, 3.6)
    axes = figure.subplots()
    draw_tag(axes, folder, summary, POINTS_A_HAND, BLUE, "")
    for player, mean in EXACT_MEANS.items():
        axes.axhline(float(mean), color=GREY, lw=0.8, ls=":")
        axes.annotate(player, (1.01, float(mean)), xycoords=("axes fraction", "data"), va="center")
    axes.set(xlabel="hands", ylabel="points a hand, exact means, with 95 % interval")
    return saved(figure, folder, title, SAMPLE)
