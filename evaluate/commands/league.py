"""A league: played, and reported as tables and files."""

from __future__ import annotations

from pathlib import Path

from crib_env.evaluate.command_line import AgentNames, SomeExecutor, SomeFolder
from crib_env.evaluate.console import console, progress_bar, reported_errors, table_of
from crib_env.evaluate.executors import check_executor, connected
from crib_env.evaluate.files import again, held, markdown_table, whole_text
from crib_env.evaluate.matches.league import MEAN, League, Standings
from crib_env.evaluate.statistics import half_width
from crib_env.values import Games, Seed, Threads


def league(
    agents: AgentNames,
    games: Games = 2_000,
    seed: Seed = 0,
    folder: SomeFolder = None,
    luck_adjusted: bool = False,
    threads: Threads = 2,
    executor: SomeExecutor = None,
) -> None:
    """Plays a match between every pair of several agents, and rates them.

    Args:
        agents: Names, names with settings after a colon, or folders of runs.
        games: Number of games a pair, even.
        seed: Random seed of the deals, which all pairings share.
        folder: Folder for matches and reports, by default runs/league/<time>; that of a stopped league goes on.
        luck_adjusted: Rate by results minus the luck of cards and starters; these results vary less.
        threads: Number of threads.
        executor: Play on workers in place of threads: processes, ray or dask, on the cores of this machine;
            ray:ADDRESS or dask:ADDRESS on a cluster.
    """
    if executor is not None:
        check_executor(executor)
    plan = League(agents, games, seed, luck_adjusted)
    folder = plan.begin(folder)
    with reported_errors(f"stopped; continue with: {again(folder)}"):
        play_and_report(plan, folder, threads, executor)


def standing_rows(standings: Standings) -> tuple[list[str], list[list[str]]]:
    """Header and rows of the table of ratings, the best agent first."""
    header = ["", "agent", "rating", "95 %", "wins", "net points", "net match points", "µs a decision"]
    rows = []
    for place, k in enumerate(standings.order, start=1):
        rating = f"{standings.ratings.points[k]:.0f}", f"± {standings.ratings.half_widths[k]:.0f}"
        rate, margin, net = (standings.mean(k, name) for name in ("win_rate", "margin", "net_match_points"))
        figures = f"{rate:.1%}", f"{margin:+.2f}", f"{net:+.3f}", f"{standings.microseconds[k]:,.2f}"
        rows.append([str(place), standings.league.agents[k], *rating, *figures])
    return header, rows


def matrix_rows(standings: Standings) -> tuple[list[str], list[list[str]]]:
    """Header and rows of the matrix: win rates in percent with half of their 95 % intervals, the best agent first."""
    names, order = standings.league.agents, standings.order
    shown = {
        two: f"{100 * cell.win_rate:.1f} ± {100 * half_width(cell.interval):.1f}"
        for two, cell in standings.cells.items()
    }
    rows = [[names[i], *(shown.get((i, j), "") for j in order)] for i in order]
    return ["wins of … against, %", *(names[j] for j in order)], rows


def in_words(standings: Standings) -> str:
    """How the tables were measured."""
    league = standings.league
    return (
        f"{league.games:,} mirrored games for each pair, seed {league.seed}"
        f"{', all results less luck' if league.luck_adjusted else ''}; Bradley-Terry ratings with mean "
        f"{MEAN:.0f}, which predict every win rate to within {100 * standings.misfit:.1f} percentage points"
    )


def play_and_report(league: League, folder: Path, threads: int, executor: str | None = None) -> None:
    """Plays the matches left to play, on a cluster if one is given, prints the tables and writes the files."""
    with held(folder), progress_bar() as progress, connected(executor) as cluster:
        task = progress.add_task("matches", total=league.games * len(league.pairings))

        def on_progress(done: int, what: str) -> None:
            progress.update(task, advance=done, description=what)

        standings = Standings.of(league, league.play(folder, threads, on_progress, cluster))
    rows, how = standing_rows(standings), in_words(standings)
    with whole_text(folder / "league.md") as file:
        file.write("\n".join([f"{how}.\n", markdown_table(*rows), markdown_table(*matrix_rows(standings))]))
    header, cells = rows
    titles = [title.replace(" ", "\n") for title in header]  # on one line they would leave no room for names
    console.print(table_of("league", titles, cells, words=2, no_wrap=True))
    console.print(f"{how}; files: {folder}", soft_wrap=True)
