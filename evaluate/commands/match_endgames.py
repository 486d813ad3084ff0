"""How well a player plays to the score: games that begin at forty positions near the end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crib_env.agents import Agent, make_agent
from crib_env.engine import WIN
from crib_env.evaluate.command_line import AgentName
from crib_env.evaluate.console import console, table_of
from crib_env.evaluate.matches.blocks import Pace, play_pairs, working
from crib_env.evaluate.matches.match import check_games, pairs_less_luck
from crib_env.evaluate.matches.mirrored import Games, Shard, mean_of_pairs
from crib_env.evaluate.progress import advancing
from crib_env.evaluate.ranges import Games as GameCount
from crib_env.evaluate.ranges import Seed, Threads
from crib_env.evaluate.skill.luck.table import WINS
from crib_env.evaluate.statistics import rate_less_luck
from crib_env.players.win_rate import paired_rate_interval

_EVEN = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 20, 22, 25)
_APART = "1–5 2–6 3–8 4–10 6–10 8–14 10–15 12–18 14–16 15–20 16–24 18–22 20–25"
_UNEVEN = [tuple(map(int, pair.split("–"))) for pair in _APART.split()]
POSITIONS: tuple[tuple[int, int], ...] = (
    *((n, n) for n in _EVEN),
    *((fewer, more) for fewer, more in _UNEVEN),
    *((more, fewer) for fewer, more in _UNEVEN),
)
"""Holes that the dealer and pone still need: forty positions, in all of which both have more than 95."""


def play_endgames(
    a: Agent, b: Agent, games: int, seed: int, threads: int, measure_luck: bool = False
) -> dict[tuple[int, int], Games]:
    """Mirrored games of ``a`` against ``b`` from each of ``POSITIONS``.

    Raises:
        ValueError: ``games`` is not a positive even number.
    """
    check_games(games)
    found, pace = {}, Pace()
    with (
        advancing(f"{a.name} against {b.name}", len(POSITIONS) * games) as on_progress,
        working(a, b, threads, on_progress=on_progress) as playing,
    ):
        for number, (dealer, pone) in enumerate(POSITIONS):
            shard = Shard.of(seed + number, 0, games // 2, measure_luck=measure_luck)
            shard = replace(shard, position=(WIN - dealer, WIN - pone))
            found[dealer, pone] = Games.merged(list(play_pairs(playing, shard, pace)))
    return found


def endgames(
    a: AgentName,
    b: AgentName,
    games: GameCount = 2_000,
    seed: Seed = 0,
    luck_adjusted: bool = False,
    threads: Threads = 2,
) -> None:
    """Plays from forty positions near the end of a game, to measure who plays to the score.

    Args:
        a: An agent: a name, a name with settings after a colon, or the folder of a run.
        b: Its opponent.
        games: Number of games at each position, even; in half of them the first agent deals.
        seed: Random seed of the deals.
        luck_adjusted: Take luck out of the results.
        threads: Number of threads.
    """
    first, second = make_agent(a), make_agent(b)
    played = play_endgames(first, second, games, seed, threads, luck_adjusted)
    won = [mean_of_pairs(one.won) for one in played.values()]
    less_luck = [pairs_less_luck(one)[:, WINS] for one in played.values()] if luck_adjusted else None
    how = f"{games:,} mirrored games a position{', less luck' if luck_adjusted else ''}"
    title = f"{first.name} against {second.name} near the end, {how}"
    columns = ("dealer needs", "pone needs", "win rate", "95 % interval")
    table = table_of(title, columns, words=0, title_justify="left")
    for n, (dealer, pone) in enumerate(played):
        table.add_row(str(dealer), str(pone), *_rate(won[n : n + 1], less_luck and less_luck[n : n + 1]))
    table.add_section()
    table.add_row("all", "", *_rate(won, less_luck))
    console.print(table)


def _rate(won: list[np.ndarray], less_luck: list[np.ndarray] | None) -> tuple[str, str]:
    """The rate over some positions, and its interval; minus luck where that is given."""
    every = np.concatenate(won)
    if less_luck is None:
        rate, (low, high) = float(every.mean()), paired_rate_interval(every)
    else:
        rate, (low, high) = rate_less_luck(every, np.concatenate(less_luck))
    return f"{rate:.2%}", f"{low:.2%} to {high:.2%}"
