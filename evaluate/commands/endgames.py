"""How well a player plays to the score: games that begin at twenty close positions near the end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from rich.table import Table

from crib_env.agents import Agent, make_agent
from crib_env.engine import WIN
from evaluate.commands.arguments import AgentName
from evaluate.console import console
from evaluate.matches.blocks import Pace, play_pairs, working
from evaluate.matches.mirrored import Shard, mean_of_pairs
from evaluate.progress import progress_bar
from evaluate.ranges import Games, Seed, Threads
from evaluate.statistics import paired_rate_interval

# Holes that the dealer and pone still need.
POSITIONS = {
    "a hole each": (1, 1),
    "two holes each": (2, 2),
    "four holes each": (4, 4),
    "dealer one, pone five": (1, 5),
    "dealer five, pone one": (5, 1),
    "six holes each": (6, 6),
    "dealer three, pone eight": (3, 8),
    "dealer eight, pone three": (8, 3),
    "pone counts first, ten each": (10, 10),
    "dealer ten, pone six": (10, 6),
    "dealer six, pone ten": (6, 10),
    "pone needs an average hand": (15, 10),
    "dealer needs hand and crib": (14, 16),
    "fifteen each": (15, 15),
    "dealer must hold pone": (18, 12),
    "pone must hold the dealer": (12, 18),
    "dealer a deal away": (20, 26),
    "pone a deal away": (26, 20),
    "twenty-five each": (25, 25),
    "dealer thirty, pone twenty-five": (30, 25),
}


def play_endgames(a: Agent, b: Agent, games: int, seed: int, threads: int) -> dict[str, np.ndarray]:
    """The share of games that ``a`` wins of each mirrored pair, (games / 2,), by position: one as dealer, one as pone.

    Raises:
        ValueError: ``games`` is not a positive even number.
    """
    if games < 2 or games % 2:
        raise ValueError(f"games={games} is not allowed: mirrored games come in pairs, give a positive even number")
    won, pace = {}, Pace()
    with progress_bar() as progress:
        task = progress.add_task(f"{a.name} against {b.name}", total=len(POSITIONS) * games)

        def on_progress(done: int) -> None:
            progress.update(task, advance=done)

        with working(a, b, threads, on_progress=on_progress) as workers:
            for number, (name, (dealer, pone)) in enumerate(POSITIONS.items()):
                shard = replace(Shard.of(seed + number, 0, games // 2), position=(WIN - dealer, WIN - pone))
                played = play_pairs(workers, shard, pace)
                won[name] = mean_of_pairs(np.concatenate([part.won for part in played]))
    return won


def endgames(
    a: AgentName,
    b: AgentName,
    games: Games = 2_000,
    seed: Seed = 0,
    threads: Threads = 2,
) -> None:
    """Plays from twenty close positions near the end of a game, to measure who plays to the score.

    Args:
        a: An agent: a name, a name with settings after a colon, or the folder of a run.
        b: Its opponent.
        games: Number of games at each position, even; in half of them the first agent deals.
        seed: Random seed of the deals.
        threads: Number of threads.
    """
    first, second = make_agent(a), make_agent(b)
    won = play_endgames(first, second, games, seed, threads)
    table = Table(title=f"{first.name} against {second.name} near the end, {games:,} mirrored games a position")
    for column in ("position", "dealer needs", "pone needs", "win rate", "95 % interval"):
        table.add_column(column, justify="left" if column == "position" else "right")
    for name, values in won.items():
        table.add_row(name, *map(str, POSITIONS[name]), *_rate(values))
    table.add_section()
    table.add_row("all", "", "", *_rate(np.concatenate(list(won.values()))))
    console.print(table)


def _rate(values: np.ndarray) -> tuple[str, str]:
    low, high = paired_rate_interval(values)
    return f"{values.mean():.2%}", f"{low:.2%} to {high:.2%}"
