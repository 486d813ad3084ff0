"""How fast the page of ``play`` is."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro

from crib_env.evaluate.console import console
from crib_env.evaluate.matches.mirrored import check_players
from crib_env.evaluate.play.page.server import page_files
from crib_env.evaluate.play.page.times import measure_replies, measure_start
from crib_env.evaluate.progress import progress_bar
from crib_env.evaluate.ranges import Amount, Seed


def page(
    agent: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="[AGENT]")] = "best",
    games: Amount = 10,
    seed: Seed = 0,
) -> None:
    """Measures how soon the page of `play` is ready, and how fast its server answers in whole games.

    The command is started twice: first without any compiled kernels, then with those of the first start.

    Args:
        agent: The opponent.
        games: Number of whole games, played by the coach's hints.
        seed: Random seed of the first game's deals.
    """
    check_players((agent,))
    with progress_bar() as progress, tempfile.TemporaryDirectory() as kernels:
        task = progress.add_task("games", total=games)
        found = measure_replies(agent, games, seed, lambda: progress.update(task, advance=1))
        starts = {what: measure_start(agent, Path(kernels)) for what in ("first start", "later start")}
    lines = [f"the page: {sum(map(len, page_files().values())):,} bytes"]
    for what, start in starts.items():
        lines.append(
            f"{what}: server up after {start.server:.1f} s, page there {start.page - start.server:.1f} s later, "
            f"all kernels ready after {start.warm:.0f} s ({start.processor:.0f} processor seconds)"
        )
    for title, times in (
        (f"a card of yours and the reply of {agent}", found.plays),
        ("the coach's notes", found.notes),
        ("a hint", found.hints),
    ):
        median, most = 1e3 * np.quantile(times, (0.5, 0.95))
        lines.append(f"{title}: median {median:.0f} ms, 95 % within {most:.0f} ms, {len(times):,} answers")
    console.print("\n".join(lines), highlight=False, soft_wrap=True)
