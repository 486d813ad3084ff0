"""The figures of a benchmark as tables for people, as JSON, and as a picture."""

from __future__ import annotations

from matplotlib.figure import Figure
from rich.table import Table

from crib_env.evaluate.console import table_of
from crib_env.evaluate.figures import GREEN, GREY, new_figure
from crib_env.evaluate.speed.engine import ENGINE
from crib_env.evaluate.speed.measuring import ROUNDS, Rates
from crib_env.evaluate.speed.others import ENVPOOL, FAST, REPLAYED, SAMPLED
from crib_env.evaluate.speed.single import ONE_GAME
from crib_env.evaluate.speed.vector import COPIES, ONE_THREAD, TWO_THREADS, YARDSTICK, YARDSTICK_OF_TWO, ZERO_COPY

# The pairs of speeds whose ratio is shown, if both were measured.
_RATIOS = (
    (TWO_THREADS, ONE_THREAD),
    (YARDSTICK_OF_TWO, YARDSTICK),
    (ENGINE, SAMPLED),
    (ENGINE, FAST),
    (ENGINE, REPLAYED),
    (ONE_GAME, SAMPLED),
    (ONE_GAME, FAST),
)
_THEIRS = ("OpenSpiel", "CartPole", "EnvPool", "tictactoe", "connect_four")
# What speeds count, by words in their names; all others count the steps of a learner.
_UNITS = {
    "whole games": ("full games",),
    "decisions of either player": ("decisions", "turns"),
    "exact results, as each row says,": ("discard", "crib distributions", "crib means", "histogram"),
}
_STEPS = "steps of a learner"


def ratios(rates: dict[str, Rates]) -> dict[str, Rates]:
    """Ratios of some speeds, round by round, by ``"one / other"``."""
    pairs = [pair for pair in _RATIOS if set(pair) <= rates.keys()]
    others = [name for name in rates if name.startswith(ENVPOOL)]
    if others and COPIES in rates:
        fastest = max(others, key=lambda name: rates[name].median)
        pairs += [(COPIES, fastest), (ZERO_COPY, fastest)]
    return {f"{one} / {other}": rates[one].over(rates[other]) for one, other in pairs}


def speed_table(rates: dict[str, Rates]) -> Table:
    """Speeds in units a second, a row each."""
    rows = [(name, f"{rate.median:,.1f}", rate.range(",.1f"), _time(1 / rate.median)) for name, rate in rates.items()]
    columns = ("one core, unless stated otherwise", "a second", "range", "one takes")
    return table_of(f"a second: median of {ROUNDS} rounds (lowest to highest)", columns, rows)


def ratio_table(rates: dict[str, Rates]) -> Table:
    """Ratios, a row each; the ratio of the yardstick is the gain that a second thread could bring at that time."""
    rows = [(name, f"{ratio.median:.2f}", ratio.range(".2f")) for name, ratio in rates.items()]
    return table_of("times as fast, in the same rounds", ("one / other", "times", "range"), rows)


def start_table(times: dict[str, list[float]]) -> Table:
    """Start-up times in seconds."""
    rows = [(name, f"{Rates(each).median:.2f}", Rates(each).range(".2f")) for name, each in times.items()]
    return table_of("start-up: median (lowest to highest)", ("", "seconds", "range"), rows)


def memory_tables(by_games: dict[int, tuple[int, int]], over_steps: dict[int, int]) -> list[Table]:
    """Memory of the vector environment, by the number of its games and over many steps."""
    of_games = [
        (f"{n:,}", f"{before / 1e6:,.1f}", f"{peak / 1e6:,.1f}", f"{(peak - before) / n:,.0f}")
        for n, (before, peak) in by_games.items()
    ]
    columns = ("games", "MB without them", "MB with them, at most", "bytes a game")
    of_steps = [(f"{n:,}", f"{resident / 1e6:,.1f}") for n, resident in over_steps.items()]
    return [
        table_of("memory of a process with a vector environment", columns, of_games, words=0),
        table_of("memory over steps of a vector environment", ("learner's steps", "MB"), of_steps, words=0),
    ]


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.2f} {unit}"
    return f"{seconds / 1e-9:.1f} ns"


def unit_of(name: str) -> str:
    """What a speed counts, by the words in its name."""
    return next((unit for unit, words in _UNITS.items() if any(word in name for word in words)), _STEPS)


def draw_speeds(rates: dict[str, Rates]) -> Figure:
    """A mark for each speed with the range of the rounds, a panel for each unit; speeds of other projects are grey.

    Axes are logarithmic, where the length of a bar would mean nothing.
    """
    panels = {unit: [name for name in reversed(rates) if unit_of(name) == unit] for unit in (*_UNITS, _STEPS)}
    shown = {unit: [name for name in names if not name.startswith("yardstick")] for unit, names in panels.items()}
    shown = {unit: names for unit, names in shown.items() if names}
    heights = [len(names) for names in shown.values()]
    figure = new_figure(10, 0.75 * len(shown) + 0.26 * sum(heights))
    places = figure.subplots(len(shown), 1, squeeze=False, height_ratios=heights)[:, 0]
    for axes, (unit, names) in zip(places, shown.items()):
        medians = [rates[name].median for name in names]
        ranges = [
            [rates[name].median - min(rates[name].values) for name in names],
            [max(rates[name].values) - rates[name].median for name in names],
        ]
        colours = [GREY if any(word in name for word in _THEIRS) else GREEN for name in names]
        axes.errorbar(medians, names, xerr=ranges, fmt="none", ecolor="black", elinewidth=0.8, zorder=3)
        axes.scatter(medians, names, color=colours, zorder=4)
        for name in names:
            place = (rates[name].median, name)
            axes.annotate(f"{place[0]:,.0f}", place, (0, 5), textcoords="offset points", ha="center", fontsize=7)
        axes.set(xscale="log")
        axes.grid(lw=0.4)
        axes.set_title(f"{unit} a second", loc="left", fontweight="bold")
        axes.set_ylim(-0.6, len(names) - 0.2)
    return figure
