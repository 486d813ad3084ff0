"""The discards of six cards, ranked for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, NamedTuple

import numpy as np
import tyro
from rich.box import SIMPLE_HEAD

from crib_env.agents.equilibrium.blueprint import load_blueprint, pair_chances
from crib_env.cards import format_cards, parse_cards
from crib_env.engine import DEALER, PONE, WIN
from crib_env.evaluate.command_line import Score
from crib_env.evaluate.console import console, table_of
from crib_env.evaluate.play.reasons_of_discards import why_discard
from crib_env.evaluate.rules_for_discards import overall, pairs_discarded, solved, tally_discards
from crib_env.evaluate.rules_of_thumb import rules_table
from crib_env.evaluate.skill.positions import batch_of, before_discards
from crib_env.exact.deal_classes import class_of, representatives
from crib_env.solver.deal.shows import choices_of as choices_of_deals
from crib_env.tables.analysis import analyse_discard
from crib_env.tables.shipped import standard_deals, standard_win_table

_NAMED = 4  # pairs that the sentence names
_PAIRS_SHOWN = 20
_SHOWN = 0.0001  # rounding of the chances to win that are shown


class Choice(NamedTuple):
    """Discards that differ only in suits and have the same value."""

    row: np.void
    """The row of dtype ``ANALYSIS`` of the first of them."""
    pairs: list[list[int]]

    @property
    def name(self) -> str:
        """The first of its pairs as text."""
        return _by_rank(self.pairs[0])


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


Cards = Annotated[
    tuple[str, ...],
    tyro.conf.Positional,
    tyro.conf.arg(metavar="[CARD ...]", help_behavior_hint="by default all deals"),
]


def discard(cards: Cards = (), dealer: bool = False, scores: tuple[Score, Score] = (0, 0)) -> None:
    """Ranks the fifteen discards of six cards by the probability of winning at a score.

    Without cards: what an equilibrium of whole deals discards, for points, and what rules of thumb gain or lose.

    Args:
        cards: Six cards, such as 5H 5C JD QS 2H 3D, or without spaces, 5h5cjdqs2h3d.
        dealer: Whether this player deals.
        scores: Own score and the opponent's.
    """
    if not cards:
        _show_all(DEALER if dealer else PONE)
        return
    text = " ".join(cards)
    rows = analyse_discard(text, dealer=dealer, scores=scores)
    held, choices = parse_cards(text), choices_of(rows)
    close = too_close(choices, dealer, scores)
    role = "dealer" if dealer else "pone"
    title = f"{_by_rank(held)} as {role} at {scores[0]}–{scores[1]}, to {WIN}"
    columns = ("", "discard", "keep", "hand", "from–to", "crib", "pegging", "total", "wins", "% points")
    table = table_of(title, columns, words=3, no_wrap=True, box=SIMPLE_HEAD, padding=0)
    for choice in choices:
        row = choice.row
        table.add_row(
            "≈" if choice in close else "",
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
    if close:
        console.print(tie(close))
    else:
        first, second = choices[:2]
        game = batch_of(before_discards(np.array([held]), np.array([dealer]), np.array([scores])))
        console.print(f"{first.name} rather than {second.name}:")
        console.print(why_discard(game.views(np.zeros(1, np.int64)), first.pairs[0], second.pairs[0]))
    console.print(in_equilibrium(held, dealer))
    console.print(
        f"hands are exact; crib and pegging are sampled: totals are known to ± {1.96 * rows['total_error'].max():.2f}"
    )


def _show_all(role: int) -> None:
    """How often an equilibrium discards each two ranks, and how rules of thumb fare."""
    values = standard_deals()
    found = solved(values, load_blueprint().discards[role], role)
    name = "dealer" if role == DEALER else "pone"
    of_pairs = ("discard", "of all", "when held", "mean crib")
    shown = table_of(f"discards of {name}, over all deals", of_pairs, no_wrap=True, box=SIMPLE_HEAD, padding=0)
    for row in pairs_discarded(role, found, values)[:_PAIRS_SHOWN]:
        shown.add_row(row.ranks, f"{row.share:.1%}", f"{row.when_held:.0%}", f"{row.crib:.2f}")
    console.print(shown)
    console.print(rules_table(f"rules for {name}'s discards", tally_discards(role, found)))
    made = overall(role, found, values)
    console.print(
        f"one discard is made at least 97 % of the time in {made.pure:.0%} of deals; the hand shows {made.hand:.2f} "
        f"points and the crib {made.crib:.2f}; these discards lose {made.loss:.4f} a deal to the best ones"
    )
    console.print(
        f"points of a deal in equilibrium, known to ± {values.responses.sum():.2f} in the mean of all deals; "
        f"a deal is worth {-values.responses[PONE]:.2f} to {values.responses[DEALER]:.2f} points to the dealer"
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


def too_close(choices: Sequence[Choice], dealer: bool, scores: tuple[int, int]) -> list[Choice]:
    """The first choice and the choices that may win as often, within the tables' error; empty if there are none.

    The error of a difference is the error of the points times the value of a point by the win table. The win table's
    own error moves all choices together.
    """
    wins = standard_win_table().win_probability
    own, other = scores
    fewer, more = max(own - 1, 0), min(own + 1, WIN - 1)
    worse, better = (wins[(score, other) if dealer else (other, score)] for score in (fewer, more))
    a_point = abs(float(better) - float(worse)) / (more - fewer)
    first = choices[0].row

    def is_close(choice: Choice) -> bool:
        error = a_point * np.hypot(choice.row["total_error"], first["total_error"])
        return bool(first["win_probability"] - choice.row["win_probability"] <= max(1.96 * error, _SHOWN / 2))

    close = [choice for choice in choices if is_close(choice)]
    return close if len(close) > 1 else []


def tie(close: Sequence[Choice]) -> str:
    """A line saying that these choices are too close to call."""
    names = ", ".join(choice.name for choice in close[:_NAMED])
    more = f" and {len(close) - _NAMED} more" if len(close) > _NAMED else ""
    return f"too close to call: {names}{more} differ by less than the error of the tables"
