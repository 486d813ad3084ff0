"""The learning curve of a run as a picture: strength against the baselines over episodes."""

from __future__ import annotations

from pathlib import Path

from evaluate.figures import BLUE, GREY, RED, new_figure, save_figure
from evaluate.learning_curves import read_scalars
from train.strength import BASELINES

_COLOURS = {"random": BLUE, "greedy": RED}


def draw_learning_curve(folder: Path, title: str) -> Path:
    """Draws ``learning-curve.png`` and ``.svg`` into a run folder: win rates with their 95 % intervals; the former."""
    figure = new_figure(7, 3.6)
    axes = figure.subplots()
    for name in BASELINES:
        tag = f"strength/win rate against {name}"
        steps, rates = read_scalars(folder, tag)
        low, high = (read_scalars(folder, f"{tag} {end}")[1] for end in ("low", "high"))
        axes.plot(steps, [100 * rate for rate in rates], color=_COLOURS[name], label=f"against {name}")
        axes.fill_between(
            steps, [100 * rate for rate in low], [100 * rate for rate in high], color=_COLOURS[name], alpha=0.25, lw=0
        )
    axes.axhline(50, color=GREY, lw=0.8, ls=":")
    axes.set(xlabel="episodes", ylabel="games won, %, with 95 % interval", title=title, ylim=(0, 100))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.legend(loc="lower right")
    path = folder / "learning-curve.png"
    save_figure(figure, path)
    return path
