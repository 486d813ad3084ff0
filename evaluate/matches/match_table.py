"""A match as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.table import Table

from crib_env.batch import SOURCES
from crib_env.engine import ROLES
from crib_env.evaluate.matches.match import LuckAdjusted, MatchResult
from crib_env.evaluate.statistics import half_width


def match_table(result: MatchResult) -> Table:
    """Win rate, margin and skunks of a match, and where the points came from."""
    table = Table(title=f"{result.a} against {result.b}: {result.games:,} mirrored games")
    table.add_column("")
    for name in (result.a, result.b):
        table.add_column(name, justify="right", overflow="fold")  # the paths of two run folders may begin alike

    def win_rate(name: str, of: MatchResult | LuckAdjusted) -> None:
        low, high = of.interval
        table.add_row(name, f"{of.win_rate:.2%}", f"{1 - of.win_rate:.2%}")
        table.add_row("  95 % interval", f"{low:.2%} to {high:.2%}", f"{1 - high:.2%} to {1 - low:.2%}")

    def mean(name: str, mean: float, interval: tuple[float, float], digits: int) -> None:
        shown = f"{mean:+.{digits}f} ± {half_width(interval):.{digits}f}"
        table.add_row(name, shown, f"{-mean:+.{digits}f}")

    def of_both(name: str, values: Mapping[str, float], digits: int = 0) -> None:
        table.add_row(name, *(f"{values[player]:,.{digits}f}" for player in ("a", "b")))

    win_rate("win rate", result)
    mean("net points a game", result.margin, result.margin_interval, 2)
    of_both("match points", result.match_points)
    mean("  net, a game", result.net_match_points, result.net_match_points_interval, 3)
    of_both("skunks given", result.skunks)
    of_both("  double skunks", result.double_skunks)
    if (less := result.luck_adjusted) is not None:
        table.add_section()
        win_rate("less luck: win rate", less)
        mean("  net points a game", less.margin, less.margin_interval, 2)
        mean("  net match points a game", less.net_match_points, less.net_match_points_interval, 3)
        for name, ratio in less.variance_ratio.items():
            table.add_row(f"  variance of {name}", f"÷ {ratio:.2f}", "")
            table.add_row("    of single games", f"÷ {less.single_variance_ratio[name]:.2f}", "")
    for role in ROLES:
        table.add_section()
        points = {player: of_player[role] for player, of_player in result.points_per_deal.items()}
        of_both(f"points a deal as {role}", {player: sum(of.values()) for player, of in points.items()}, 2)
        for source in SOURCES:
            if role == "dealer" or source not in ("heels", "crib"):
                of_both(f"  {source}", {player: of[source] for player, of in points.items()}, 2)
    table.add_section()
    if result.microseconds_per_decision:
        of_both("µs a decision", result.microseconds_per_decision, 2)
    table.caption = f"{result.deals_per_game:.2f} deals a game, {result.seconds:.1f} s"
    return table


def faults_in_words(faults: Iterable[tuple[str, Mapping[str, int]]]) -> list[str]:
    """A line for each agent, given by name, whose program or model gave answers that could not be used."""
    lines = []
    for name, counts in faults:
        if n := sum(counts.values()):
            kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(counts.items()))
            lines.append(f"{name}: {n:,} answer{'s' * (n != 1)} could not be used ({kinds})")
    return lines
