"""Finished runs in one table."""

from __future__ import annotations

from crib_env.evaluate.commands.arguments import Runs
from crib_env.evaluate.console import console
from crib_env.evaluate.runs.table import CAPTION, read_runs, rows_of, tables_of


def runs(folders: Runs) -> None:
    """Shows finished runs in one table: training time, speed and strength.

    Args:
        folders: Folders of runs, or of runs of several seeds.
    """
    if not folders:
        raise ValueError("there are no runs: give the folder of one, or of several")
    console.print(*tables_of(*rows_of([run for folder in folders for run in read_runs(folder)])), CAPTION)
