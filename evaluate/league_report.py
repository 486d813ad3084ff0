"""A league as tables for people, as files, and as a heat map; and the command that plays it."""

from __future__ import annotations

import csv
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from rich.box import SIMPLE_HEAD
from rich.table import Table

from evaluate.console import console, progress_bar
from evaluate.figures import GOOD_AND_BAD, new_figure, save_figure
from evaluate.files import markdown_table, whole_file
from evaluate.league import League, LeagueMatch
from evaluate.on_ray import connected
from evaluate.ratings import MEAN, Ratings, rate
from evaluate.statistics import half_width


class Cell(NamedTuple):
    """What a player did against another, from its side: shares of games with their 95 % interval, points a game."""

    win_rate: float
    low: float
    high: float
    margin: float
    net_match_points: float


@dataclass(frozen=True)
class Standings:
    """What came out of a league of A agents."""

    league: League
    ratings: Ratings
    cells: dict[tuple[int, int], Cell]
    """Of every two agents, both ways round."""
    microseconds: np.ndarray
    """(A,) of a decision, the mean over matches."""

    @classmethod
    def of(cls, league: League, matches: list[LeagueMatch]) -> Standings:
        """Reckons up a league's matches, in the order of its pairings."""
        n = len(league.agents)
        cells: dict[tuple[int, int], Cell] = {}
        microseconds = np.zeros(n)
        for (i, j), match in zip(league.pairings, matches):
            result = match.result
            low, high = result.interval
            cells[i, j] = Cell(result.win_rate, low, high, result.margin, result.net_match_points)
            cells[j, i] = Cell(1 - result.win_rate, 1 - high, 1 - low, -result.margin, -result.net_match_points)
            microseconds[i] += result.microseconds_per_decision["a"] / (n - 1)
            microseconds[j] += result.microseconds_per_decision["b"] / (n - 1)
        ratings = rate(n, league.pairings, np.stack([match.won for match in matches]))
        return cls(league, ratings, cells, microseconds)

    @property
    def order(self) -> list[int]:
        """The agents, the best first."""
        return np.argsort(-self.ratings.points, kind="stable").tolist()

    @property
    def misfit(self) -> float:
        """The largest difference between a win rate and what the ratings say of it."""
        return max(abs(cell.win_rate - self.ratings.chance(i, j)) for (i, j), cell in self.cells.items())

    def mean(self, player: int, name: str) -> float:
        """The mean over a player's opponents of a field of :class:`Cell`."""
        return float(np.mean([getattr(cell, name) for (i, _), cell in self.cells.items() if i == player]))


def standing_rows(standings: Standings) -> tuple[list[str], list[list[str]]]:
    """Header and rows of the table of ratings, the best agent first."""
    header = ["", "agent", "rating", "95 %", "wins", "net points", "net match points", "µs a decision"]
    rows = []
    for place, k in enumerate(standings.order, start=1):
        rows.append(
            [
                str(place),
                standings.league.agents[k],
                f"{standings.ratings.points[k]:.0f}",
                f"± {standings.ratings.half_widths[k]:.0f}",
                f"{standings.mean(k, 'win_rate'):.1%}",
                f"{standings.mean(k, 'margin'):+.2f}",
                f"{standings.mean(k, 'net_match_points'):+.3f}",
                f"{standings.microseconds[k]:,.2f}",
            ]
        )
    return header, rows


def matrix_rows(standings: Standings) -> tuple[list[str], list[list[str]]]:
    """Header and rows of the matrix: win rates in percent with half of their 95 % intervals, the best agent first."""
    names, order = standings.league.agents, standings.order
    rows = []
    for i in order:
        cells = (standings.cells.get((i, j)) for j in order)
        rows.append([names[i], *("" if cell is None else _percent(cell, " ± ") for cell in cells)])
    return ["wins of … against, %", *(names[j] for j in order)], rows


def _percent(cell: Cell, between: str) -> str:
    return f"{100 * cell.win_rate:.1f}{between}{100 * half_width((cell.low, cell.high)):.1f}"


def in_words(standings: Standings) -> str:
    """What the tables stand on."""
    league = standings.league
    return (
        f"{league.games:,} mirrored games of every two, seed {league.seed}; ratings by Bradley and Terry, mean "
        f"{MEAN:.0f}; they miss no win rate by more than {100 * standings.misfit:.1f} points of percent"
    )


def _standings_on_screen(standings: Standings) -> Table:
    table = Table(title="league")
    header, rows = standing_rows(standings)
    for column in header:
        table.add_column(column, justify="left" if column in ("", "agent") else "right")
    for row in rows:
        table.add_row(*row)
    return table


def _matrix_on_screen(standings: Standings) -> Table:
    """The matrix in whole percent, agents by their place: thirteen fit into 80 columns."""
    order = standings.order
    widest = 100 * max(half_width((cell.low, cell.high)) for cell in standings.cells.values())
    caption = f"each to within ± {widest:.1f} or less (95 %); intervals of each: league.md"
    table = Table(title="wins of the row against the column, %", caption=caption, box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("", justify="right", no_wrap=True, min_width=2)
    table.add_column("", overflow="ellipsis")
    for place in range(1, len(order) + 1):
        table.add_column(str(place), justify="right", no_wrap=True, min_width=3)
    for place, i in enumerate(order, start=1):
        rates = (f"{100 * standings.cells[i, j].win_rate:.0f}" if i != j else "" for j in order)
        table.add_row(str(place), standings.league.agents[i], *rates)
    return table


def draw_matrix(standings: Standings) -> Figure:
    """The matrix of win rates as a heat map, the best agent at the top and on the left."""
    names, order = standings.league.agents, standings.order
    figure = new_figure(2.2 + 0.75 * len(order), 1.6 + 0.6 * len(order))
    axes = figure.subplots()
    rates = np.full((len(order), len(order)), np.nan)
    for y, i in enumerate(order):
        for x, j in enumerate(order):
            if i != j:
                cell = standings.cells[i, j]
                rates[y, x] = 100 * cell.win_rate
                dark = abs(cell.win_rate - 0.5) > 0.35
                axes.text(
                    x, y, _percent(cell, "\n± "), ha="center", va="center", size=7, color="white" if dark else "black"
                )
    image = axes.imshow(rates, cmap=GOOD_AND_BAD, vmin=0, vmax=100)
    labels = [names[k] for k in order]
    axes.set_xticks(range(len(order)), labels, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(order)), labels)
    axes.set(xlabel="against", title=f"games won, %, of {standings.league.games:,}")
    figure.colorbar(image, ax=axes)
    return figure


def write_report(standings: Standings, folder: Path) -> None:
    """Writes ``ratings.csv``, ``win-rates.csv`` (a row for every two agents), ``league.md`` and ``heat-map``."""
    names, order = standings.league.agents, standings.order
    with whole_file(folder / "ratings.csv") as file:
        writer = csv.writer(file)
        writer.writerow(["agent", "rating", "half_width", "win_rate", "margin", "net_match_points", "microseconds"])
        for k in order:
            means = (standings.mean(k, name) for name in ("win_rate", "margin", "net_match_points"))
            ratings = standings.ratings
            writer.writerow([names[k], ratings.points[k], ratings.half_widths[k], *means, standings.microseconds[k]])
    with whole_file(folder / "win-rates.csv") as file:
        writer = csv.writer(file)
        writer.writerow(["agent", "opponent", "games", *Cell._fields])
        for i in order:
            writer.writerows(
                [names[i], names[j], standings.league.games, *standings.cells[i, j]] for j in order if j != i
            )
    with whole_file(folder / "league.md") as file:
        tables = (markdown_table(*standing_rows(standings)), markdown_table(*matrix_rows(standings)))
        file.write("\n".join([f"{in_words(standings)}.\n", *tables]))
    save_figure(draw_matrix(standings), folder / "heat-map")


def play_and_report(league: League, folder: Path, threads: int, ray: str | None = None) -> None:
    """Plays what is left of a league, on a cluster if one is given, prints the tables and writes the files."""
    with progress_bar() as progress, nullcontext() if ray is None else connected(ray) as cluster:
        task = progress.add_task("compiling, some seconds the first time", total=league.games * len(league.pairings))

        def on_progress(done: int, what: str) -> None:
            progress.update(task, advance=done, description=what)

        matches = league.play(folder, threads, on_progress, cluster)
    standings = Standings.of(league, matches)
    write_report(standings, folder)
    console.print(_standings_on_screen(standings))
    console.print(_matrix_on_screen(standings))
    console.print(f"{in_words(standings)}; files: {folder}")
