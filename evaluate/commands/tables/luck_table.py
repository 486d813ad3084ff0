"""The table behind luck-adjusted results: exact means of the values of cards, and results by score."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from rich.table import Table

from crib_env.agents import make_agent
from crib_env.evaluate.commands.arguments import AgentOption, File
from crib_env.evaluate.console import console
from crib_env.evaluate.files import check_outputs
from crib_env.evaluate.progress import progress_bar
from crib_env.evaluate.ranges import MOST_GAMES, Range, Seed
from crib_env.evaluate.skill.luck.exact_means import exact_means, steps_of_means
from crib_env.evaluate.skill.luck.table import LEAST_DEALS, RESULTS, solve_luck_table
from crib_env.evaluate.skill.luck.usual_deal import PARTS
from crib_env.tables.discard_values import standard_values


def luck_table(
    path: File,
    agent: AgentOption = "careful",
    deals: Annotated[int, Range(LEAST_DEALS, MOST_GAMES)] = 30_000,
    seed: Seed = 0,
) -> None:
    """Computes the table by which `match --luck-adjusted` measures luck; takes some minutes.

    Args:
        path: The file to write; an existing file is replaced.
        agent: The agent that plays the sampled deals against itself.
        deals: Number of deals to sample.
        seed: Random seed of the deals.
    """
    check_outputs(path)
    player, values = make_agent(agent), standard_values()
    with progress_bar() as progress:
        task = progress.add_task("exact means", total=steps_of_means())
        means = exact_means(values, lambda done: progress.update(task, advance=done))
        task = progress.add_task("results by score", total=None)
        solved = solve_luck_table(player, deals, seed, np.array(means, np.float64), values)
    solved.save(path)
    shown = Table(title=f"what twelve cards are worth, exact means over all deals; results by {player.name}: {path}")
    for column in ("", "mean, points", *(f"{result}, a point" for result in RESULTS)):
        shown.add_column(column, justify="left" if column == "" else "right")
    for k, part in enumerate(PARTS):
        shown.add_row(part, f"{solved.means[k]:.6f}", *(f"{slope:+.4f}" for slope in solved.slopes[0, 0, :, k]))
    console.print(shown)
