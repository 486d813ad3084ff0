"""The win table of an agent: solved, shown at named positions, and drawn."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from rich.table import Table

from crib_env.agents import make_agent
from crib_env.engine import WIN
from crib_env.tables.win_table import WinTable, sample_outcomes, solve_win_table
from evaluate.commands.arguments import AgentOption, File, SomeFile, check_positive
from evaluate.console import console
from evaluate.figures import GOOD_AND_BAD, new_figure, save_figure
from evaluate.files import check_outputs, picture_paths
from evaluate.progress import progress_bar

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
    "a point each": (WIN - 1, WIN - 1),
    "one hole against five": (WIN - 5, WIN - 1),
    "five holes against one": (WIN - 1, WIN - 5),
}


def win_table(
    path: File,
    agent: AgentOption = "greedy",
    deals: int = 50_000,
    seed: int = 0,
    threads: int = 2,
    picture: SomeFile = None,
) -> None:
    """Computes the probability of winning from every pair of scores, between two copies of an agent.

    Args:
        path: The file to write; an existing file is replaced.
        agent: The agent in both seats.
        deals: Number of deals to sample.
        seed: Random seed of the deals.
        threads: Number of threads.
        picture: Also draw heat maps to this file, as PNG and as SVG.
    """
    check_outputs(path, *picture_paths(picture))
    check_positive(threads=threads)
    if deals < 10:
        raise ValueError(f"deals={deals} is not allowed: give at least 10")
    player = make_agent(agent)
    with progress_bar() as progress:
        task = progress.add_task(f"deals of {player.name}", total=3 * deals)
        outcomes = sample_outcomes(player, deals, seed)
        progress.update(task, advance=deals, description="the win table")
        solved = solve_win_table(outcomes, player.name, threads, lambda done: progress.update(task, advance=done))
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
        wins, half = solved.win_probability[dealer, pone], 1.96 * solved.win_error[dealer, pone]
        endings = solved.endings[dealer, pone]
        table.add_row(
            name,
            str(dealer),
            str(pone),
            f"{wins:.2%}",
            f"{wins - half:.2%} to {wins + half:.2%}",
            f"{solved.match_points[dealer, pone]:+.3f}",
            f"{endings[4:].sum():.2%}",
            f"{endings[1:3].sum():.2%}",
        )
    try:
        solved.save(path)
        if picture is not None:
            save_figure(draw_win_table(solved), picture)
    finally:
        console.print(table)
    if picture is not None:
        console.print(f"heat map: {' and '.join(map(str, picture_paths(picture)))}", soft_wrap=True)


def draw_win_table(win_table: WinTable) -> Figure:
    """Two heat maps over both scores: the dealer's chance to win, and its expected match points."""
    figure = new_figure(10, 4.4)
    pictures = (
        ("dealer wins", win_table.win_probability, 0, 1),
        ("dealer's net match points", win_table.match_points, -3, 3),
    )
    for axes, (title, values, low, high) in zip(figure.subplots(1, 2), pictures):
        image = axes.imshow(values, origin="lower", cmap=GOOD_AND_BAD, vmin=low, vmax=high)
        axes.contour(values, levels=np.linspace(low, high, 9)[1:-1], colors="black", linewidths=0.4)
        axes.set(title=title, xlabel="pone's score", ylabel="dealer's score")
        figure.colorbar(image, ax=axes)
    figure.suptitle(f"{win_table.agent} against itself, {win_table.deals:,} deals")
    return figure
