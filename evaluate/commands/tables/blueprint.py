"""Makes the blueprint of ``equilibrium`` from solutions of the play."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import tyro

from crib_env.agents.equilibrium.blueprint import NO_STARTER, Blueprint
from crib_env.agents.equilibrium.first_cards import FirstCards, first_cards
from crib_env.engine import ROLES
from crib_env.evaluate.commands.arguments import File
from crib_env.evaluate.commands.solve_play import PEGGING_GAME, after_discards
from crib_env.evaluate.console import console
from crib_env.evaluate.files import check_outputs
from crib_env.evaluate.progress import progress_bar
from crib_env.evaluate.ranges import Share
from crib_env.hands import N_RANKS, ORDERINGS
from crib_env.solver.cfr import check_solution, load_solution
from crib_env.solver.play_game import SPLIT
from crib_env.solver.public_state import start_of_play
from crib_env.solver.tree import build_tree
from crib_env.tables.prior import prior_of_discards


def blueprint(
    path: File,
    pegging: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="PEGGING")],
    discards: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DISCARDS")],
    simple_players: Share = 0.0,
) -> None:
    """Keeps the first three cards of solved plays, which `equilibrium` plays by.

    Args:
        path: The file of the blueprint; an existing file is replaced.
        pegging: The file of `solve-play`, for the pegging game.
        discards: The folder of `solve-play --prior discards`, with a file for each of the thirteen starters.
        simple_players: Share of simple players in these thirteen.
    """
    check_outputs(path)
    files = [after_discards(discards, starter, simple_players) for starter in range(NO_STARTER)]
    files.append((pegging, PEGGING_GAME))
    for file, about in files:
        check_solution(file, about)
    found: list[FirstCards] = []
    weights = []
    with progress_bar() as progress:
        task = progress.add_task("solutions", total=N_RANKS + 1)
        for starter, (file, about) in enumerate(files):
            is_pegging = starter == NO_STARTER
            tree, extent, _ = build_tree(start_of_play(starter=None if is_pegging else starter), SPLIT)
            found.append(first_cards(tree, load_solution(file, about, extent.slots)["average"]))
            weights.append([ORDERINGS[4]] * len(ROLES) if is_pegging else prior_of_discards(starter))
            progress.update(task, advance=1)
    Blueprint(np.array(weights, np.float32), *(np.stack(arrays) for arrays in zip(*found))).save(path)
    console.print(f"{path}: {path.stat().st_size:,} bytes")
