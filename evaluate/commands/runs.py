"""Finished runs in one table, and their learning curves in one picture."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from crib_env.evaluate.command_line import Runs, SomeJson
from crib_env.evaluate.console import console
from crib_env.evaluate.files import check_outputs, picture_paths, write_json
from crib_env.evaluate.runs.format import read_config, runs_in
from crib_env.evaluate.runs.learning_curves import Over, curves_by_label, draw_curves, save_figure
from crib_env.evaluate.runs.table import runs_table


def runs(folders: Runs) -> None:
    """Shows finished runs in one table: episodes, seconds and strength. What cannot be read is a row that says so.

    Args:
        folders: Folders of runs, or of runs of several seeds.
    """
    console.print(runs_table(folders))


def curves(
    runs: Runs,
    picture: Path,
    against: Literal["greedy", "random", "best-response"] = "greedy",
    over: Over = "episodes",
    json_file: SomeJson = None,
) -> None:
    """Draws learning curves with 95 % intervals; those of several seeds in one folder as one curve, their mean.

    Args:
        runs: Folders of runs, or of runs of several seeds.
        picture: The picture file, written as PNG and as SVG.
        against: The baseline of the win rate; best-response draws exploitability in the pegging game.
        over: Draw over episodes, or processor seconds of training, which leave out other programs.
        json_file: Also write the curves to this file: they can be drawn again when the runs are gone.
    """
    check_outputs(json_file, *picture_paths(picture))
    found = curves_by_label(runs, against, over)
    if json_file is not None:
        processors = sorted({read_config(one).processor for folder in runs for one in runs_in(folder)})
        write_json(json_file, {"processors": processors, "against": against, "over": over, "curves": found})
    save_figure(draw_curves(found, against, over), picture)
    console.print(f"learning curves: {' and '.join(map(str, picture_paths(picture)))}")
