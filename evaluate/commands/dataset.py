"""Writes games between two agents as a dataset."""

from __future__ import annotations

from typing import Annotated

import tyro

from crib_env.evaluate.command_line import Folder
from crib_env.evaluate.console import advancing, console, reported_errors
from crib_env.evaluate.files import held
from crib_env.evaluate.matches.dataset import Dataset, check_pyarrow, write_card
from crib_env.values import Amount, Seed, Threads


def dataset(
    folder: Folder,
    agents: Annotated[tuple[str, str], tyro.conf.arg(metavar="AGENT AGENT")] = ("best", "best"),
    games: Amount = 10_000,
    seed: Seed = 0,
    threads: Threads = 2,
) -> None:
    """Writes games between two agents as Parquet, one row a decision.

    A data card lies beside the files. A stopped command goes on when it is given again.

    Args:
        folder: Where to write it: a new folder, or one that the same command has begun.
        agents: Both players: names, names with settings after a colon, folders of runs, module:Class, or pipe:COMMAND.
        games: Number of games, each on its own deals.
        seed: Random seed of the deals.
        threads: Number of threads; they do not change the files.
    """
    check_pyarrow()
    plan = Dataset(agents, games, seed)
    plan.begin(folder)
    with (
        reported_errors("stopped; the same command goes on"),
        held(folder),
        advancing(f"{agents[0]} against {agents[1]}", games) as on_progress,
    ):
        manifest = plan.write(folder, threads, on_progress)
        write_card(folder, manifest)
    console.print(f"{games:,} games, {manifest.decisions:,} decisions; {folder / 'README.md'} has more")
