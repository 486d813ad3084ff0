"""The discards of six cards, ranked for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, NamedTuple

import numpy as np
import tyro
from rich.box import SIMPLE_HEAD

from crib_env.agents.equilibrium import load_blueprint, pair_chances
from crib_env.cards import format_cards, parse_cards
from crib_env.engine import DEALER, PONE, WIN
from crib_env.evaluate.command_line import Score
from crib_env.evaluate.console import console, table_of
from crib_env.evaluate.play.reasons import why_discard
from crib_env.evaluate.skill.positions import batch_of, before_discards
from crib_env.exact.deal_classes import class_of, representatives
from crib_env.solver.deal.shows import choices_of as choices_of_deals
from crib_env.tables.analysis import analyse_discard
from crib_env.tables.shipped import standard_deals


class Choice(NamedTuple):
    """Discards that differ only in suits and have the same value."""

    row: np.void
    """The row of dtype ``ANALYSIS`` of the first of them."""
    pairs: list[list[int]]


def _by_rank(cards: Iterable[int]) -> str:
    in_order = sorted(cards, key=lambda card: (card % 13, card))
    return format_cards(in_order)


def choices_of(rows: np.ndarray) -> list[Choice]:
    """The rows of an analysis, in their order; pairs of the same ranks and the same values are one choice."""
    choices: dict[tuple[object, ...], Choice] = {}
    for row in rows:
        pair = row["discard"].tolist()
        shown = (row[name].round(6) for name in ("hand_mean", "hand_std", "crib_expected", "win_probability"))
        key = (*sorted(card % 13 for card in pair), *shown)
        choices.setdefault(key, Choice(row, [])).pairs.append(pair)
    return list(choices.values())


Cards = Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="CARD ...")]


def discard(cards: Cards, dealer: bool = False, scores: tuple[Score, Score] = (0, 0)) -> None:
    """Ranks the fifteen discards of six cards by the probability of winning at a score.

    Args:
        cards: Six cards, such as 5H 5C JD QS 2H 3D, or without spaces, 5h5cjdqs2h3d.
        dealer: Whether this player deals.
        scores: Own score and the opponent's.
    """
    text = " ".join(cards)
    rows = analyse_discard(text, dealer=dealer, scores=scores)
    held, choices = parse_cards(text), choices_of(rows)
    role = "dealer" if dealer else "pone"
    title = f"{_by_rank(held)} as {role} at {scores[0]}–{scores[1]}, to {WIN}"
    columns = ("discard", "keep", "hand", "from–to", "crib", "pegging", "total", "wins", "% points")
    table = table_of(title, columns, words=2, no_wrap=True, box=SIMPLE_HEAD, padding=0)
    for choice in choices:
        row = choice.row
        table.add_row(
            "\n".join(map(_by_rank, choice.pairs)),
            "\n".join(_by_rank(set(held) - set(pair)) for pair in choice.pairs),
            f"{row['hand_mean']:.2f}",
            f"{row['hand_min']}–{row['hand_max']}",
            f"{row['crib_expected'] if dealer else -row['crib_expected']:+.2f}",
            f"{row['pegging']:+.2f}",
            f"{row['total']:.2f}",
            f"{row['win_probability']:.2%}",
            f"{100 * (row['win_probability'] - rows['win_probability'][0]):+.2f}" if choice is not choices[0] else "",
        )
    console.print(table)
    best, second = choices[0].pairs[0], choices[1].pairs[0]
    game = batch_of(before_discards(np.array([held]), np.array([dealer]), np.array([scores])))
    console.print(f"{_by_rank(best)} rather than {_by_rank(second)}:")
    console.print(why_discard(game.views(np.zeros(1, np.int64)), best, second))
    console.print(in_equilibrium(held, dealer))
    console.print(
        f"hands are exact; crib and pegging are sampled: totals are known to ± {1.96 * rows['total_error'].max():.2f}"
    )


def in_equilibrium(held: Sequence[int], dealer: bool) -> str:
    """A line saying how often an equilibrium of whole deals discards each pair, and what the next best one loses."""
    six = np.sort(held)[None]
    pairs, chances = pair_chances(load_blueprint(), six, np.array([dealer]))
    totals = standard_deals().totals(DEALER if dealer else PONE, choices_of_deals(representatives()[class_of(six)[0]]))[
        0
    ]
    shares = chances[0] / chances[0].sum()
    order = np.lexsort((-totals, -shares)).tolist()
    names = [_by_rank(pair) for pair in pairs[0].tolist()]
    said = ", ".join(f"{names[k]} {shares[k]:.0%}" for k in order if shares[k] > 0)
    left = next(k for k in order if shares[k] == 0)
    return f"in equilibrium, for points: {said}; then {names[left]}, which loses {totals.max() - totals[left]:.2f}"
