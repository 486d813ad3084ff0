"""All choices of a decision with their values in columns, the best first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.choosing import lowest_of_rank, six_dealt
from crib_env.evaluate.play.replies import Sight
from crib_env.evaluate.skill.analysis.judges import PlayJudge
from crib_env.tables.analysis import analyse_discard


class Row(NamedTuple):
    """One choice."""

    cards: tuple[int, ...]
    cells: tuple[str, ...]
    """A figure for each of the columns."""


class Choices(NamedTuple):
    """The choices of a decision."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def discard_choices(view: PlayerViews) -> Choices:
    """All fifteen discards: hand, crib and play in points on average, what they add up to, and the chance to win.

    Args:
        view: one decision, before the first card of the discard.
    """
    six, is_dealer, scores = six_dealt(view)[0].tolist(), bool(view.is_dealer[0]), view.scores[0].tolist()
    rows = []
    for row in analyse_discard(six, dealer=is_dealer, scores=(scores[0], scores[1])):
        crib = row["crib_expected"] if is_dealer else -row["crib_expected"]
        points = (f"{row['hand_mean']:.2f}", *(f"{points:+.2f}" for points in (crib, row["pegging"])))
        chance = f"{100 * row['win_probability']:.1f}"
        rows.append(Row(tuple(row["discard"].tolist()), (*points, f"{row['total']:.2f}", chance)))
    return Choices(("hand", "crib", "play", "points", "win %"), tuple(rows))


def card_choices(view: PlayerViews, judge: PlayJudge, chosen: int) -> Choices:
    """Each rank that may be laid: points at once, net points of the deal against the best, and the chance to win.

    Args:
        view: one decision in the play.
        judge: values them.
        chosen: the card that was laid, which is named for its rank.
    """
    worth, sight = judge.worth(view), Sight(view)
    chances, points = worth.chances[0], worth.points[0]
    ranks = [rank for rank in np.argsort(-chances, kind="stable").tolist() if np.isfinite(chances[rank])]
    most, rows = max(points[ranks]), []
    for rank in ranks:
        card = chosen if chosen % 13 == rank else int(lowest_of_rank(view, np.array([rank]))[0])
        cells = (str(sight.after(card).points), f"{points[rank] - most:+.2f}", f"{100 * chances[rank]:.1f}")
        rows.append(Row((card,), cells))
    return Choices(("at once", "by the end", "win %"), tuple(rows))
