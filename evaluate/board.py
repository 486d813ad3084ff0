"""The board of an agent: solved, shown at named positions, and drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.table import Table

from agents import make_agent
from crib_env.exact.board import Board, sample_outcomes, solve_board
from evaluate.console import console, progress_bar
from evaluate.figures import GOOD_AND_BAD, new_figure, save_figure
from evaluate.files import picture_paths

# Dealer's score, pone's score.
POSITIONS = {
    "the first deal": (0, 0),
    "halfway": (60, 60),
    "a skunk behind": (60, 91),
    "a skunk ahead": (91, 60),
    "two deals to go": (95, 95),
    "one deal to go": (105, 105),
    "dealer must hold": (116, 110),
    "pone counts first": (111, 111),
    "a point each": (120, 120),
    "one hole against five": (116, 120),
    "five holes against one": (120, 116),
}


def solve_and_report(agent: str, deals: int, seed: int, threads: int, path: Path, picture: Path | None) -> None:
    """Samples, solves with a progress bar, saves, prints the named positions, and draws if asked."""
    player = make_agent(agent)
    with progress_bar() as progress:
        task = progress.add_task(f"deals of {player.name}", total=3 * deals)
        outcomes = sample_outcomes(player, deals, seed)
        progress.update(task, advance=deals, description="the board")
        board = solve_board(outcomes, player.name, threads, lambda done: progress.update(task, advance=done))
    board.save(path)
    table = Table(title=f"{player.name} against itself, {deals:,} deals sampled: {path}")
    for column in (
        "position",
        "dealer",
        "pone",
        "dealer wins",
        "95 % interval",
        "match points",
        "skunked: dealer",
        "pone",
    ):
        table.add_column(column, justify="left" if column == "position" else "right")
    for name, (dealer, pone) in POSITIONS.items():
        wins, half = board.win_probability[dealer, pone], 1.96 * board.win_error[dealer, pone]
        endings = board.endings[dealer, pone]
        table.add_row(
            name,
            str(dealer),
            str(pone),
            f"{wins:.2%}",
            f"{wins - half:.2%} to {wins + half:.2%}",
            f"{board.match_points[dealer, pone]:+.3f}",
            f"{endings[4:].sum():.2%}",
            f"{endings[1:3].sum():.2%}",
        )
    console.print(table)
    if picture is not None:
        draw_board(board, picture)
        console.print(f"heat map: {' and '.join(map(str, picture_paths(picture)))}")


def draw_board(board: Board, path: Path) -> None:
    """Two heat maps over both scores: the dealer's chance to win, and the match points it may expect."""
    figure = new_figure(10, 4.4)
    pictures = (("dealer wins", board.win_probability, 0, 1), ("dealer's net match points", board.match_points, -3, 3))
    for axes, (title, values, low, high) in zip(figure.subplots(1, 2), pictures):
        image = axes.imshow(values, origin="lower", cmap=GOOD_AND_BAD, vmin=low, vmax=high)
        axes.contour(values, levels=np.linspace(low, high, 9)[1:-1], colors="black", linewidths=0.4)
        axes.set(title=title, xlabel="pone's score", ylabel="dealer's score")
        figure.colorbar(image, ax=axes)
    figure.suptitle(f"{board.agent} against itself, {board.deals:,} deals")
    save_figure(figure, path)
