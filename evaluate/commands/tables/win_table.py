"""The win table of an agent: solved, shown at named positions, and drawn."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from matplotlib.figure import Figure

from crib_env.agents import make_agent
from crib_env.engine import WIN
from crib_env.evaluate.commands.arguments import AgentOption, File, SomeFile
from crib_env.evaluate.console import console, table_of
from crib_env.evaluate.figures import GOOD_AND_BAD, new_figure, save_figure
from crib_env.evaluate.files import check_outputs, picture_paths
from crib_env.evaluate.progress import progress_bar
from crib_env.evaluate.ranges import Amount, Seed, Threads
from crib_env.evaluate.tables.win_table.making import LAST, LEAST_DEALS, NEAR, Plan, make_win_table
from crib_env.tables.win_table import WinTable

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

HEADER = (
    "position",
    "dealer",
    "pone",
    "dealer wins",
    "95 % interval",
    "match points",
    "skunked: dealer",
    "pone",
)


def win_table(
    path: File,
    agent: AgentOption = "best",
    deals: Amount = 60_000,
    rounds: Amount = 3,
    seed: Seed = 0,
    threads: Threads = 2,
    picture: SomeFile = None,
) -> None:
    """Computes the probability of winning from every pair of scores, between two copies of an agent.

    Deals are played at each pair of scores near the end, in rounds: an agent that plays to the score uses the table of
    the round before. `FILE.deals` keeps them, so the same command continues what was interrupted.

    Args:
        path: The file to write; an existing file is replaced.
        agent: The agent in both seats.
        deals: Number of deals of the last round at each of the last scores; a round before has a quarter of the next
            one's.
        rounds: Number of rounds.
        seed: Random seed of the deals.
        threads: Number of threads.
        picture: Also draw heat maps to this file, as PNG and as SVG.
    """
    check_outputs(path, *picture_paths(picture))
    if deals < LEAST_DEALS:
        raise ValueError(f"deals={deals} is not allowed: give at least {LEAST_DEALS}")
    make_agent(agent)
    plan = Plan(agent, deals, rounds, seed)
    folder = path.with_name(f"{path.name}.deals")
    with progress_bar() as progress:
        task = progress.add_task(f"deals of {agent}", total=plan.steps())

        def advance(done: int, what: str) -> None:
            progress.update(task, advance=done, description=f"deals of {agent}, {what}")

        tables = list(make_win_table(plan, folder, threads, advance))
    solved = tables[-1]
    title = f"{agent} against itself, {deals:,} deals at each pair from {LAST}–{LAST} up: {path}"
    shown = table_of(title, HEADER, rows_of(solved))
    try:
        solved.save(path)
        if picture is not None:
            save_figure(draw_win_table(solved), picture)
    finally:
        console.print(shown)
    _print_errors(tables)
    if picture is not None:
        console.print(f"heat map: {' and '.join(map(str, picture_paths(picture)))}", soft_wrap=True)


def _print_errors(tables: list[WinTable]) -> None:
    """How much each round has changed, and how narrow the last one's intervals are."""
    for number, (before, after) in enumerate(pairwise(tables), start=2):
        change = (after.win_probability - before.win_probability)[NEAR:, NEAR:]
        noise = np.hypot(after.win_error, before.win_error)[NEAR:, NEAR:]
        console.print(
            f"round {number}: {100 * np.sqrt((change**2).mean()):.2f} % points rms change from {NEAR}–{NEAR} up, "
            f"of which {100 * np.sqrt((noise**2).mean()):.2f} is noise"
        )
    near = 1.96 * tables[-1].win_error[NEAR:, NEAR:]
    console.print(
        f"intervals from {NEAR}–{NEAR} up: ± {100 * near.mean():.2f} % points on average, "
        f"± {100 * near.max():.2f} at most"
    )


def rows_of(win_table: WinTable) -> list[list[str]]:
    """What it says of ``POSITIONS``, a row each; see ``HEADER``."""
    rows = []
    for name, (dealer, pone) in POSITIONS.items():
        wins, half = win_table.win_probability[dealer, pone], 1.96 * win_table.win_error[dealer, pone]
        endings = win_table.endings[dealer, pone]
        rows.append(
            [
                name,
                str(dealer),
                str(pone),
                f"{wins:.2%}",
                f"{max(wins - half, 0):.2%} to {min(wins + half, 1):.2%}",
                f"{win_table.match_points[dealer, pone]:+.3f}",
                f"{endings[4:].sum():.2%}",
                f"{endings[1:3].sum():.2%}",
            ]
        )
    return rows


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
