"""Finished runs in one table, on the screen and as Markdown."""

from __future__ import annotations

from crib_env.evaluate.commands.arguments import Runs, SomeFile
from crib_env.evaluate.console import console
from crib_env.evaluate.files import check_outputs, markdown_table, whole_text
from crib_env.evaluate.runs.table import CAPTION, read_runs, rows_of, tables_of


def runs(folders: Runs, markdown: SomeFile = None) -> None:
    """Shows finished runs in one table: training time, speed and strength.

    Args:
        folders: Folders of runs, or of runs of several seeds.
        markdown: Also write the table to this Markdown file.
    """
    check_outputs(markdown)
    if not folders:
        raise ValueError("there are no runs: give the folder of one, or of several")
    header, rows = rows_of([run for folder in folders for run in read_runs(folder)])
    try:
        if markdown is not None:
            with whole_text(markdown) as file:
                file.write(f"{markdown_table(header, rows)}\n{CAPTION}\n")
    finally:
        console.print(*tables_of(header, rows), CAPTION)
