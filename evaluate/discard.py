"""All fifteen discards of six cards, ranked for people."""

from __future__ import annotations

import numpy as np
from rich.table import Table

from crib_env.cards import format_cards
from crib_env.exact.analysis import analyse_discard
from crib_env.exact.standard import standard_board
from evaluate.console import console


def show_discards(cards: str, dealer: bool, scores: tuple[int, int]) -> None:
    """Prints the ranking, and in one line why the first is first, or that it is too close to call."""
    rows = analyse_discard(cards, dealer=dealer, scores=scores)
    error = win_error(rows, dealer, scores)
    close = (rows["win_probability"][0] - rows["win_probability"]) < 1.96 * error
    role = "dealer" if dealer else "pone"
    table = Table(title=f"{cards.upper()} as {role} at {scores[0]}–{scores[1]}, to 121")
    for heading in ("", "discard", "hand", "from–to", "crib", "pegging", "total", "wins", "change"):
        table.add_column(heading, justify="left" if heading in ("", "discard") else "right", no_wrap=True)
    for row, mark in zip(rows, close):
        table.add_row(
            "≈" if mark and close.sum() > 1 else "",
            format_cards(row["discard"].tolist()),
            f"{row['hand_mean']:.2f}",
            f"{row['hand_min']}–{row['hand_max']}",
            f"{row['crib_expected'] if dealer else -row['crib_expected']:+.2f}",
            f"{row['pegging']:+.2f}",
            f"{row['total']:.2f}",
            f"{row['win_probability']:.2%}",
            f"{row['win_probability'] - rows['win_probability'][0]:+.2%}",
        )
    console.print(table)
    console.print(reason(rows, close))
    console.print(
        f"hands are exact; crib and pegging are sampled: totals are known to ± {1.96 * rows['total_error'].max():.2f}"
    )


def win_error(rows: np.ndarray, dealer: bool, scores: tuple[int, int]) -> np.ndarray:
    """(15,) standard error of each difference in the chance to win from the first row.

    The points' error, at what a point is worth on this board; the board's own error moves all fifteen together.
    """
    wins = standard_board().win_probability
    own, other = scores
    more = min(own + 2, 120)
    place, better = ((own, other), (more, other)) if dealer else ((other, own), (other, more))
    a_point = abs(float(wins[better]) - float(wins[place])) / max(more - own, 1)
    return a_point * np.hypot(rows["total_error"], rows["total_error"][0])


def reason(rows: np.ndarray, close: np.ndarray) -> str:
    """What speaks for the first of the rows, in one line."""
    first = rows[0]
    if close.sum() > 1:
        names = ", ".join(format_cards(row["discard"].tolist()) for row in rows[close])
        return f"too close to call: {names} differ by less than the tables are sure of"
    best_total = rows[np.argmax(rows["total"])]
    if first["total"] < best_total["total"] - 0.05:
        more = best_total["total"] - first["total"]
        return (
            f"{format_cards(first['discard'].tolist())} wins most often at this score, though "
            f"{format_cards(best_total['discard'].tolist())} expects {more:.2f} points more"
        )
    second = rows[1]
    parts = {
        "the hand": first["hand_mean"] - second["hand_mean"],
        "the play": first["pegging"] - second["pegging"],
    }
    parts["the crib"] = (first["total"] - second["total"]) - sum(parts.values())
    most = max(parts, key=lambda part: parts[part])
    return (
        f"{format_cards(first['discard'].tolist())} leads {format_cards(second['discard'].tolist())} by "
        f"{first['total'] - second['total']:.2f} points, most of all in {most} ({parts[most]:+.2f})"
    )
