"""How all pictures look, and how they are saved. Whoever draws takes figures from here, and matplotlib's rules with it.

Colours are Paul Tol's "bright" scheme, which colour-blind people can tell apart (https://sronpersonalpages.nl/~pault).
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
from cycler import cycler
from matplotlib.figure import Figure

from evaluate.files import picture_paths

matplotlib.use("Agg")

BLUE, RED, GREEN, YELLOW, CYAN, PURPLE, GREY = COLOURS = (
    "#4477AA",
    "#EE6677",
    "#228833",
    "#CCBB44",
    "#66CCEE",
    "#AA3377",
    "#BBBBBB",
)
GOOD_AND_BAD = "RdBu"  # colour map of what has a middle: blue is good
AMOUNT = "gray_r"  # colour map of what has none: black is all

matplotlib.rcParams.update(
    {
        "axes.prop_cycle": cycler(color=COLOURS[:-1]),
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlesize": "medium",
        "font.size": 9,
        "legend.frameon": False,
        "savefig.dpi": 150,
        "svg.fonttype": "none",  # text stays text
        "svg.hashsalt": "crib_env",  # the same picture is the same file
    }
)


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of so many inches."""
    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: Figure, path: Path) -> None:
    """Writes a figure as PNG and as SVG, see :func:`evaluate.files.picture_paths`."""
    for file in picture_paths(path):
        figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)
