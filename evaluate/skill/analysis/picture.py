"""One game as a curve: the chance to win from deal to deal, with luck and errors marked on it."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from crib_env.cards import format_cards
from crib_env.evaluate.figures import BLUE, GREY, RED, new_figure
from crib_env.evaluate.skill.analysis.decisions import GameAnalysis
from crib_env.evaluate.skill.luck.table import WINS, standard_luck_table
from crib_env.evaluate.skill.luck.variates import CARDS, STARTER

_CARDS_AT, _STARTER_AT = 0.15, 0.4  # of a deal's width: when its cards are seen, and when its starter is cut
_LEAST = 0.005  # errors that lose less than this chance to win are not drawn
_LABELLED = 4  # number of errors with a label, the worst ones
_COLOURS, _MARKS = (BLUE, RED), ("v", "^")  # by seat; an error's triangle points away from the player who makes it


def draw_game(analysis: GameAnalysis) -> Figure:
    """Draws the chance to win of the player in seat 0.

    Within a deal the curve moves by the luck of its cards and of its starter, in the colour of the player they helped.
    Then it moves by the play, in grey, to the chance at the next deal's scores. Triangles mark errors; their size shows
    the loss.
    """
    names, n = analysis.record.names, len(analysis.scores)
    figure = new_figure(9, 4.2)
    axes = figure.subplots()
    before = [_chance(scores, dealer) for scores, dealer in zip(analysis.scores, analysis.dealers)]
    before.append(100.0 if analysis.record.scores[0] > analysis.record.scores[1] else 0.0)
    curve_x, curve_y = [], []
    for deal in range(n):
        cards, starter = 100 * analysis.luck[deal, CARDS, WINS], 100 * analysis.luck[deal, STARTER, WINS]
        x = np.array([deal, deal + _CARDS_AT, deal + _STARTER_AT, deal + 1]) + 1
        y = np.clip([before[deal], before[deal] + cards, before[deal] + cards + starter, before[deal + 1]], 0, 100)
        for k, luck in enumerate((cards, starter)):
            colour = _COLOURS[int(luck < 0)]
            axes.plot(x[k : k + 2], y[k : k + 2], color=colour, linewidth=2.5, solid_capstyle="round")
        axes.plot(x[2:], y[2:], color=GREY, linewidth=1.2)
        curve_x += x.tolist()
        curve_y += y.tolist()
    _draw_errors(axes, analysis, curve_x, curve_y)
    axes.set(xlim=(1, n + 1), ylim=(-8, 108), xlabel="deal", ylabel=f"chance of {names[0]} to win, %")
    axes.set_xticks(range(1, n + 1))
    axes.set_yticks(range(0, 101, 25))
    axes.axhline(50, color=GREY, linewidth=0.6, zorder=0)
    scores = "{} to {}".format(*analysis.record.scores)
    axes.set_title(f"{names[0]} against {names[1]}, {scores}")
    axes.legend(handles=_legend(names), loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3)
    return figure


def _draw_errors(axes: Axes, analysis: GameAnalysis, curve_x: list[float], curve_y: list[float]) -> None:
    """Marks errors on the curve through these points, and labels the worst."""
    errors = [decision for decision in analysis.decisions if decision.chance_lost >= _LEAST]
    worst = sorted(errors, key=lambda decision: -decision.chance_lost)[:_LABELLED]
    for decision in errors:
        last = max(d.place for d in analysis.decisions if d.deal == decision.deal)
        share = 0.25 if decision.kind == "discard" else _STARTER_AT + 0.5 * (decision.place - 3) / max(last - 3, 1)
        x = decision.deal + 1 + share
        y = float(np.interp(x, curve_x, curve_y))
        colour, marker = _COLOURS[decision.seat], _MARKS[decision.seat]
        size = 20 + 2_000 * decision.chance_lost
        axes.scatter(x, y, size, color=colour, marker=marker, edgecolors="white", linewidths=0.6, zorder=3)
        if decision in worst:
            cards = f"{format_cards(decision.chosen)} for {format_cards(decision.best)}"
            text = f"{cards}\n−{100 * decision.chance_lost:.1f} % points"
            above = 12 if decision.seat else -12
            align = "bottom" if decision.seat else "top"
            axes.annotate(text, (x, y), (0, above), textcoords="offset points", ha="center", va=align, size=7)


def _chance(scores: np.ndarray, dealer: int) -> float:
    """The chance in percent of seat 0 to win before a deal."""
    wins = standard_luck_table().expected[..., WINS]
    own, other = scores.tolist()
    return 100 * float(wins[own, other] if dealer == 0 else 1 - wins[other, own])


def _legend(names: tuple[str, str]) -> list[Line2D]:
    luck = [
        Line2D([], [], color=colour, linewidth=2.5, label=f"luck of {name}") for colour, name in zip(_COLOURS, names)
    ]
    errors = [
        Line2D([], [], color=colour, marker=marker, linestyle="", label=f"error of {name}")
        for colour, marker, name in zip(_COLOURS, _MARKS, names)
    ]
    return [*luck, Line2D([], [], color=GREY, label="the play and the show"), *errors]
