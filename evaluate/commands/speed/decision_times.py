"""Decision times of players as a table, beside the figures of Anderson et al. (2022)."""

from __future__ import annotations

from rich import box
from rich.table import Table

from crib_env.evaluate.commands.arguments import AgentNames
from crib_env.evaluate.console import console
from crib_env.evaluate.matches.mirrored import check_players
from crib_env.evaluate.progress import progress_bar
from crib_env.evaluate.ranges import Amount, Seed
from crib_env.evaluate.speed.decision_times import measure_decisions


def _seconds(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.3g} s" if value >= 1 else f"{1e3 * value:.3g} ms" if value >= 1e-3 else f"{1e6 * value:.3g} µs"


def _ratio(published: float | None, value: float | None) -> str:
    if published is None or value is None:
        return ""
    return f"{published / value:,.0f}" if published > 100 * value else f"{published / value:.2f}"


def decision_times(
    agents: AgentNames = ("random", "greedy", "heuristic", "minimax", "halscrib"),
    deals: Amount = 100,
    seed: Seed = 0,
) -> None:
    """Measures decision times of players, and compares them with Anderson et al. (2022).

    Args:
        agents: The players: names, names with settings after a colon, or folders of runs. By default random, greedy,
            heuristic, minimax and halscrib.
        deals: Number of deals each plays against itself, one decision at a time.
        seed: Random seed of the deals.
    """
    check_players(agents)
    with progress_bar() as progress:
        task = progress.add_task("decisions", total=len(agents) + 1)
        rows = measure_decisions(
            agents, deals, seed, on_progress=lambda name: progress.update(task, advance=1, description=name)
        )
    table = Table(title=f"mean time of a decision, {deals:,} deals", box=box.SIMPLE, pad_edge=False, padding=(0, 1))
    for column in ("player", "discard", "paper", "ratio", "play", "paper", "ratio"):
        is_name = column == "player"
        table.add_column(column, justify="left" if is_name else "right", no_wrap=not is_name, overflow="fold")
    for row in rows:
        table.add_row(
            row.name,
            _seconds(row.discard),
            _seconds(row.published_discard),
            _ratio(row.published_discard, row.discard),
            _seconds(row.play),
            _seconds(row.published_play),
            _ratio(row.published_play, row.play),
        )
    console.print(table)
    console.print("paper: Anderson et al. (2022); ratio: their time by ours")
