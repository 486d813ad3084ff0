"""Writes games between two agents as a dataset."""

from __future__ import annotations

from typing import Annotated

import tyro

from crib_env.evaluate.command_line import Folder
from crib_env.evaluate.console import console
from crib_env.evaluate.ending import reported_errors
from crib_env.evaluate.job import held
from crib_env.evaluate.matches.dataset.dataset import Dataset, write_card
from crib_env.evaluate.matches.dataset.minari_episodes import load_minari, write_episodes
from crib_env.evaluate.matches.dataset.rows import load_pyarrow
from crib_env.evaluate.progress import advancing
from crib_env.evaluate.ranges import Amount, Seed, Threads


def dataset(
    folder: Folder,
    agents: Annotated[tuple[str, str], tyro.conf.arg(metavar="AGENT AGENT")] = ("best", "best"),
    games: Amount = 10_000,
    seed: Seed = 0,
    losses: bool = False,
    minari: bool = False,
    threads: Threads = 2,
) -> None:
    """Writes games between two agents as Parquet, one row a decision, or as a Minari dataset.

    A data card lies beside the Parquet files. A stopped command goes on when it is given again.

    Args:
        folder: Where to write it: a new folder, or one that the same command has begun.
        agents: Both players: names, names with settings after a colon, folders of runs, module:Class, or pipe:COMMAND.
        games: Number of games, each on its own deals.
        seed: Random seed of the deals.
        losses: Also compare each choice with the best, which takes far longer than to play.
        minari: Write a Minari dataset of the first agent in crib_env/Cribbage-v0 against the second instead.
        threads: Number of threads, for Parquet; they do not change the files.
    """
    if minari:
        load_minari()
        if losses:
            raise ValueError("losses=True is not allowed with --minari, whose episodes have no place for them")
    load_pyarrow()
    plan = Dataset(agents, games, seed, losses, "minari" if minari else "parquet")
    plan.begin_or_go_on(folder)
    with (
        reported_errors("stopped; the same command goes on"),
        held(folder),
        advancing(f"{agents[0]} against {agents[1]}", games) as on_progress,
    ):
        if minari:
            path = write_episodes(folder, agents, games, seed, on_progress)
        else:
            manifest = plan.write(folder, threads, on_progress)
            write_card(folder, manifest)
    if minari:
        console.print(f'{games:,} episodes; minari.MinariDataset("{path}") reads them', soft_wrap=True)
    else:
        console.print(f"{games:,} games, {manifest.decisions:,} decisions; {folder / 'README.md'} has more")
