"""Tables that are computed or sampled from deals: cribs, points in the play, all discards, and luck."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from rich.box import SIMPLE_HEAD

from crib_env.agents import make_agent
from crib_env.cards import RANKS
from crib_env.engine import DEALER, PONE, ROLES
from crib_env.evaluate.commands.arguments import AgentOption, File
from crib_env.evaluate.console import console, table_of
from crib_env.evaluate.files import check_outputs
from crib_env.evaluate.progress import advancing, progress_bar
from crib_env.evaluate.ranges import MOST_GAMES, Amount, Range, Seed, Threads
from crib_env.evaluate.skill.luck.exact_means import exact_means, steps_of_means
from crib_env.evaluate.skill.luck.table import LEAST_DEALS, RESULTS, solve_luck_table
from crib_env.evaluate.skill.luck.usual_deal import PARTS
from crib_env.exact.deal_classes import N_CLASSES, N_DEALS
from crib_env.exact.discard_game_means import discard_game_means
from crib_env.exact.discard_table import DiscardTable, build_table
from crib_env.hands import HANDS, N_FOURS, hand_number
from crib_env.tables.crib_tables import CribTables, solve_crib_tables
from crib_env.tables.discard_values import standard_values
from crib_env.tables.pegging import GAINED, GIVEN, simulate_pegging

PolicyName = Annotated[str, tyro.conf.arg(metavar="POLICY")]
# Kept cards that `pegging` shows, by ranks, lowest first.
_HANDS = ("A 4 5 J", "A 2 3 4", "2 3 7 8", "4 4 5 6", "5 5 J Q", "5 5 5 J", "6 7 8 9", "7 7 8 8", "T J Q K", "3 3 3 3")


def cribs(
    path: Annotated[Path | None, tyro.conf.Positional, tyro.conf.arg(metavar="[FILE]", help_behavior_hint="")] = None,
    draws: Amount = 40_000,
    rounds: Amount = 5,
    seed: Seed = 0,
    threads: Threads = 2,
) -> None:
    """Solves for the mean crib by the ranks discarded, when both players discard by hand and crib.

    Args:
        path: Optional file for the tables; an existing file is replaced.
        draws: Opposing hands for each pair of ranks in the last round.
        rounds: Iterations, each of which updates both tables.
        seed: Random seed of the samples.
        threads: Number of threads.
    """
    check_outputs(path)
    with advancing("mean cribs", rounds * 2 * len(HANDS[2])) as on_progress:
        tables = solve_crib_tables(rounds=rounds, draws=draws, seed=seed, threads=threads, on_progress=on_progress)
    try:
        if path is not None:
            tables.save(path)
    finally:
        print_tables(tables, draws)
    if path is not None:
        console.print(f"saved: {path}")


def print_tables(tables: CribTables, draws: int) -> None:
    """Prints both tables, solved with ``draws`` opposing hands for each pair of ranks, and their errors."""
    for role in (DEALER, PONE):
        title = f"mean points of the crib by the ranks that the {ROLES[role]} discards"
        rows = [(rank, *(f"{mean:.2f}" for mean in row)) for rank, row in zip(RANKS, tables.mean[role])]
        look: dict[str, Any] = {"box": SIMPLE_HEAD, "padding": 0}  # or numbers are cut
        console.print(table_of(title, ("", *RANKS), rows, words=0, no_wrap=True, **look))
    worst = np.nanmax(tables.error)
    by_pone, by_dealer = (average_crib(tables, role) for role in (PONE, DEALER))
    console.print(
        f"standard errors at most {worst:.3f} ({draws:,} opposing hands a pair); "
        f"largest change in the last round {tables.change:.3f}; "
        f"average crib {by_dealer:.3f} by the dealer's discards, {by_pone:.3f} by pone's"
    )


def average_crib(tables: CribTables, role: int) -> float:
    """The mean crib over all deals. Both players discard to the same crib, so both roles' tables must agree on it."""
    return float((np.triu(tables.share[role]) * tables.mean[role]).sum())


def pegging(
    path: File,
    policy: PolicyName = "greedy",
    against: PolicyName = "greedy",
    standard_error: Annotated[float, Range(0.001, 1)] = 0.02,
    seed: Seed = 0,
    threads: Threads = 2,
) -> None:
    """Simulates the points that every four kept cards gain and concede in the play, as pone and as dealer.

    Args:
        path: The file to write; an existing file is replaced.
        policy: Policy of the kept cards: random, greedy or another native policy.
        against: Policy of the opponent's discards and play.
        standard_error: Standard error of every mean, in points; halving it takes four times as long.
        seed: Random seed of the deals.
        threads: Number of threads.
    """
    check_outputs(path)
    started = time.perf_counter()
    settings: dict[str, Any] = {"standard_error": standard_error, "threads": threads, "seed": seed}
    with advancing(f"{policy} against {against}", len(ROLES) * N_FOURS) as on_progress:
        records = simulate_pegging(policy, against, **settings, on_progress=on_progress)
    seconds = time.perf_counter() - started
    columns = ("kept", *(f"{role}: {what}" for role in ROLES for what in ("deals", "gained", "given")))
    table = table_of(f"points in the play, {policy} against {against}: mean ± standard error", columns)
    n, mean, error = records.n, records.mean, records.standard_error
    for hand in _HANDS:
        kept = hand_number([RANKS.index(rank) for rank in hand.split()])
        cells = [hand]
        for role in range(len(ROLES)):
            cells.append(f"{n[role, kept]:,}")
            for side in (GAINED, GIVEN):
                cells.append(f"{mean[role, kept, side]:.2f} ± {error[role, kept, side]:.3f}")
        table.add_row(*cells)
    try:
        records.save(path)
    finally:
        console.print(table)
    console.print(
        f"{path}: {n.sum():,} deals, largest standard error {error.max():.4f}, "
        f"{path.stat().st_size:,} bytes, {seconds:.1f} s"
    )


def discards(path: File, threads: Threads = 2) -> None:
    """Computes the exact statistics of all 20,358,520 deals, and from them the means of the discard game.

    Args:
        path: The file to write, 173 MB; an existing file is replaced.
        threads: Number of threads.
    """
    check_outputs(path)
    started = time.perf_counter()
    with advancing("classes of deals", N_CLASSES) as on_progress:
        build_table(path, threads, on_progress)
    seconds = time.perf_counter() - started
    table = DiscardTable(path)
    console.print(f"{path}: {N_DEALS:,} deals in {N_CLASSES:,} classes, {path.stat().st_size:,} bytes, {seconds:.1f} s")
    rows = [
        (player, f"{float(mean):.6f}", f"{mean.numerator:,}", f"{mean.denominator:,}")
        for player, mean in discard_game_means(table, threads).items()
    ]
    title = "the discard game: points a hand, exact over all deals and starters"
    console.print(table_of(title, ("player", "mean", "numerator", "denominator"), rows))


def luck(
    path: File,
    agent: AgentOption = "careful",
    deals: Annotated[int, Range(LEAST_DEALS, MOST_GAMES)] = 30_000,
    seed: Seed = 0,
) -> None:
    """Computes the values of cards over all deals, by which `match --luck-adjusted` measures luck, in some minutes.

    Args:
        path: The file to write; an existing file is replaced.
        agent: The agent that plays the sampled deals against itself.
        deals: Number of deals to sample.
        seed: Random seed of the deals.
    """
    check_outputs(path)
    player, values = make_agent(agent), standard_values()
    with progress_bar() as progress:
        task = progress.add_task("exact means", total=steps_of_means())
        means = exact_means(values, lambda done: progress.update(task, advance=done))
        task = progress.add_task("results by score", total=None)
        solved = solve_luck_table(player, deals, seed, np.array(means, np.float64), values)
    solved.save(path)
    title = f"what twelve cards are worth, exact means over all deals; results by {player.name}: {path}"
    rows = [
        (part, f"{solved.means[k]:.6f}", *(f"{slope:+.4f}" for slope in solved.slopes[0, 0, :, k]))
        for k, part in enumerate(PARTS)
    ]
    console.print(table_of(title, ("", "mean, points", *(f"{result}, a point" for result in RESULTS)), rows))
