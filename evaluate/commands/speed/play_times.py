"""How fast the page of ``play`` is."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import tyro

from evaluate.commands.arguments import check_positive
from evaluate.console import console
from evaluate.play.page.reply_times import measure_replies
from evaluate.progress import progress_bar


def play_times(
    agent: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="AGENT")] = "best",
    games: int = 10,
    seed: int = 0,
) -> None:
    """Measures how fast the page of `play` is there, and how fast its server answers in whole games.

    Args:
        agent: The opponent.
        games: Number of whole games, played by the coach's hints.
        seed: Random seed of the first game's deals.
    """
    check_positive(games=games)
    with progress_bar() as progress:
        task = progress.add_task("games", total=games)
        found = measure_replies(agent, games, seed, lambda: progress.update(task, advance=1))
    lines = [f"the page: {found.page_bytes:,} bytes, there {found.page:.2f} s after the server's start"]
    for title, times in (
        (f"a card of yours and the reply of {agent}", found.plays),
        ("the coach's notes", found.notes),
        ("a hint", found.hints),
    ):
        median, most = 1e3 * np.quantile(times, (0.5, 0.95))
        lines.append(f"{title}: median {median:.0f} ms, 95 % within {most:.0f} ms, {len(times):,} answers")
    console.print("\n".join(lines), highlight=False, soft_wrap=True)
