"""Stated chances to win against played ones: at pairs of scores, and after discards."""

from __future__ import annotations

from typing import Annotated

from crib_env.agents import make_agent
from crib_env.engine import WIN
from crib_env.evaluate.commands.arguments import AgentOption, File, SomeFile
from crib_env.evaluate.console import console, table_of
from crib_env.evaluate.figures import save_figure
from crib_env.evaluate.files import check_outputs, picture_paths
from crib_env.evaluate.progress import progress_bar
from crib_env.evaluate.ranges import MOST_GAMES, Amount, Range, Seed, Threads
from crib_env.evaluate.tables.calibration.making import BANDS, Calibration, Plan, calibrate
from crib_env.evaluate.tables.calibration.report import (
    CARDS_HEADER,
    HEADER,
    about_scores,
    draw_calibration,
    rows_of_cards,
    rows_of_losses,
)


def calibration(
    path: File,
    agent: AgentOption = "best",
    *,
    pairs: Annotated[int, Range(1, WIN * WIN // 3)] = 60,
    games: Amount = 20_000,
    positions: Annotated[int, Range(3, 10_000)] = 100,
    deals: Amount = 20_000,
    cards: Annotated[int, Range(1_000, MOST_GAMES)] = 10_000,
    seed: Seed = 0,
    threads: Threads = 2,
    picture: SomeFile = None,
) -> None:
    """Compares stated chances to win, at scores and after discards, with games that are played out.

    The win table at random pairs of scores, against whole games of the agent against itself. And what the second and
    the fourth best discard lose by the analysis, against deals played out with the same hidden cards. And what a rank
    comes to in the play by two judges, against the same deal played out. `FILE` keeps what is finished, so the same
    command continues what was interrupted.

    Args:
        path: The JSON file of the results.
        agent: The agent in both seats.
        pairs: Number of pairs of scores, two thirds of them with a score above 100.
        games: Number of games at each pair.
        positions: Number of positions before a discard, in each of three bands of scores.
        deals: Number of deals in each position, for each discard.
        cards: Number of deals for choices of the play, in each of three bands of scores.
        seed: Random seed.
        threads: Number of threads.
        picture: Also draw stated against played to this file, as PNG and as SVG.
    """
    check_outputs(path, *picture_paths(picture))
    make_agent(agent)
    plan = Plan(agent, pairs, games, positions, deals, cards, seed)
    found = Calibration.of(plan, path)
    with progress_bar() as progress:
        task = progress.add_task("played", total=pairs + (positions + plan.blocks_of_cards()) * len(BANDS))
        progress.update(task, completed=found.parts())
        for found in calibrate(plan, path, threads):
            progress.update(task, completed=found.parts())
    console.print(about_scores(found))
    lost = f"What a discard loses, stated and played ({deals:,} deals a position)"
    console.print(table_of(lost, HEADER, rows_of_losses(found), words=2))
    comes_to = "What a rank comes to in the play, stated and played, in percentage points"
    console.print(table_of(comes_to, CARDS_HEADER, rows_of_cards(found), words=3))
    if picture is not None:
        save_figure(draw_calibration(found), picture)
        console.print(f"picture: {' and '.join(map(str, picture_paths(picture)))}", soft_wrap=True)
