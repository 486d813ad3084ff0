"""The look of all pictures, and how they are saved. Draw with figures from here, which set matplotlib's options.

Colours are Paul Tol's "bright" scheme, which colour-blind people can tell apart (https://sronpersonalpages.nl/~pault).
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
from cycler import cycler
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from crib_env.evaluate.files import picture_paths
from crib_env.files.whole_file import whole_file

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
GOOD_AND_BAD = "RdBu"  # colour map for values with a middle; blue is good
AMOUNT = "gray_r"  # colour map for amounts; black is the whole

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
        "text.parse_math": False,  # $ in a name is no formula
        "svg.hashsalt": "crib_env",  # the same picture is the same file
    }
)


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of this size in inches."""
    return Figure(figsize=(width, height), layout="constrained")


def number_ticks(axis: Axis) -> None:
    """Labels the ticks of an axis by their numbers: 2.5, 50, 600,000, and from a million on in millions, 1.5 M."""
    axis.set_major_formatter(lambda value, _: f"{value:,.10g}" if value < 10**6 else f"{value / 10**6:,.10g} M")


def number_log_ticks(axis: Axis) -> None:
    """The same for a logarithmic axis: 0.01, 0.02, 0.05, 0.1 and so on."""
    number_ticks(axis)
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_minor_formatter(NullFormatter())


def save_figure(figure: Figure, path: Path) -> None:
    """Writes a figure as PNG and as SVG, see :func:`crib_env.evaluate.files.picture_paths`."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # it is laid out now; each file would do it again
    for file in picture_paths(path):
        is_svg = file.suffix == ".svg"
        with whole_file(file) as temporary:
            figure.savefig(temporary, format=file.suffix[1:], metadata={"Date": None} if is_svg else None)
