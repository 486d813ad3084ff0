"""A match as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.table import Table

from crib_env.batch import SOURCES
from crib_env.engine import ROLES
from crib_env.evaluate.console import table_of
from crib_env.evaluate.matches.match import LuckAdjusted, MatchResult
from crib_env.evaluate.statistics import half_width


def match_table(result: MatchResult) -> Table:
    """Win rate, margin and skunks of a match, and where the points came from."""
    table = Table(title=f"{result.a} against {result.b}: {result.games:,} mirrored games")
    table.add_column("")
    for name in (result.a, result.b):
        table.add_column(name, justify="right", overflow="fold")  # the paths of two run folders may begin alike
    _add_win_rate(table, "win rate", result)
    _add_mean(table, "net points a game", result.margin, result.margin_interval, 2)
    _add_counts(table, "match points", result.match_points)
    _add_mean(table, "  net, a game", result.net_match_points, result.net_match_points_interval, 3)
    _add_counts(table, "skunks given", result.skunks)
    _add_counts(table, "  double skunks", result.double_skunks)
    if result.luck_adjusted is not None:
        _add_less_luck(table, result.luck_adjusted)
    for role in ROLES:
        table.add_section()
        a, b = (result.points_per_deal[player][role] for player in ("a", "b"))
        table.add_row(f"points a deal as {role}", f"{sum(a.values()):.2f}", f"{sum(b.values()):.2f}")
        for source in SOURCES:
            if role == "dealer" or source not in ("heels", "crib"):
                table.add_row(f"  {source}", f"{a[source]:.2f}", f"{b[source]:.2f}")
    table.add_section()
    spent = result.microseconds_per_decision
    if spent:
        table.add_row("µs a decision", f"{spent['a']:.2f}", f"{spent['b']:.2f}")
    table.caption = f"{result.deals_per_game:.2f} deals a game, {result.seconds:.1f} s"
    return table


def _add_less_luck(table: Table, less: LuckAdjusted) -> None:
    """The same results without the luck of cards and starters, and how much less they vary."""
    table.add_section()
    _add_win_rate(table, "less luck: win rate", less)
    _add_mean(table, "  net points a game", less.margin, less.margin_interval, 2)
    _add_mean(table, "  net match points a game", less.net_match_points, less.net_match_points_interval, 3)
    for name, ratio in less.variance_ratio.items():
        table.add_row(f"  variance of {name}", f"÷ {ratio:.2f}", "")
        table.add_row("    of single games", f"÷ {less.single_variance_ratio[name]:.2f}", "")


def _add_win_rate(table: Table, name: str, result: MatchResult | LuckAdjusted) -> None:
    low, high = result.interval
    table.add_row(name, f"{result.win_rate:.2%}", f"{1 - result.win_rate:.2%}")
    table.add_row("  95 % interval", f"{low:.2%} to {high:.2%}", f"{1 - high:.2%} to {1 - low:.2%}")


def _add_mean(table: Table, name: str, mean: float, interval: tuple[float, float], digits: int) -> None:
    half = half_width(interval)
    table.add_row(name, f"{mean:+.{digits}f} ± {half:.{digits}f}", f"{-mean:+.{digits}f}")


def _add_counts(table: Table, name: str, counts: Mapping[str, int]) -> None:
    table.add_row(name, f"{counts['a']:,}", f"{counts['b']:,}")


def faults_in_words(faults: Iterable[tuple[str, Mapping[str, int]]]) -> list[str]:
    """A line for each agent, given by name, whose program or model gave answers that could not be used."""
    lines = []
    for name, counts in faults:
        if n := sum(counts.values()):
            kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(counts.items()))
            lines.append(f"{name}: {n:,} answer{'s' * (n != 1)} could not be used ({kinds})")
    return lines


def strength_table(name: str, results: dict[str, MatchResult]) -> Table:
    """One agent against several others, a row each."""
    rows = []
    for opponent, result in results.items():
        low, high = result.interval
        margin = f"{result.margin:+.2f} ± {half_width(result.margin_interval):.2f}"
        rate, interval = f"{result.win_rate:.2%}", f"{low:.2%} to {high:.2%}"
        rows.append((opponent, f"{result.games:,}", rate, interval, margin))
    columns = ("against", "games", "win rate", "95 % interval", "net points a game")
    return table_of(f"{name}, mirrored games", columns, rows)
