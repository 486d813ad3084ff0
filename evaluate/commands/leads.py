"""What the equilibrium of the pegging game leads or answers, for people: from one hand, or over all hands."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Annotated

import numpy as np
import tyro
from rich.box import SIMPLE_HEAD
from rich.table import Table

from crib_env.cards import RANKS, format_cards, parse_cards
from crib_env.evaluate.console import console, table_of
from crib_env.evaluate.rules_of_thumb import (
    ANSWERS,
    LEADS,
    answer_habits,
    lead_habits,
    rules_table,
    tally_answers,
    tally_leads,
)
from crib_env.hands import hand_number
from crib_env.tables.shipped import Leads, standard_leads

_NEVER = 0.0005  # a lead so rare is none in equilibrium, which leaves open how it is answered

Cards = Annotated[
    tuple[str, ...],
    tyro.conf.Positional,
    tyro.conf.arg(metavar="[CARD ...]", help_behavior_hint="by default all hands"),
]


def leads(cards: Cards = (), dealer: bool = False) -> None:
    """Shows what the equilibrium leads as pone, or answers as dealer, how often, and what each card costs.

    The pegging game: eight cards dealt at random, four each, no crib and no starter. A card costs what its player loses
    to the end of the play, in points, against an opponent who plays the equilibrium. Without cards: how often each rank
    is laid over all hands, and what rules of thumb gain or lose.

    Args:
        cards: Four cards, such as 4C 4D 5H 6S, or without spaces, 4c4d5h6s. Suits do not matter.
        dealer: Answers to each lead, in place of leads.
    """
    table = standard_leads()
    if not cards:
        _show_all_answers(table) if dealer else _show_all_leads(table)
    else:
        hand = [int(card) for card in parse_cards(" ".join(cards))]
        if len(hand) != 4:
            raise ValueError(f"{' '.join(cards)} is not allowed: give four cards")
        hand.sort(key=lambda card: (card % 13, card))
        name, ranks = format_cards(hand), [card % 13 for card in hand]
        _show_answers(table, name, ranks) if dealer else _show_leads(table, name, ranks)
    console.print(
        f"points in equilibrium of the pegging game, known to ± {float(table.nash_conv):.3f} in the mean of all deals"
    )


def _new_table(title: str, columns: Sequence[str]) -> Table:
    return table_of(title, columns, no_wrap=True, box=SIMPLE_HEAD, padding=(0, 1, 0, 0))


def _show_leads(leads: Leads, name: str, ranks: list[int]) -> None:
    h = hand_number(ranks)
    shown = _new_table(f"leads from {name}", ("lead", "how often", "net points", "cost"))
    for k in _by_chance(leads.lead_chance[h], ranks):
        cost = float(leads.lead_cost[h, k])
        shown.add_row(
            RANKS[ranks[k]],
            f"{float(leads.lead_chance[h, k]):.0%}",
            f"{leads.lead_value[h] - cost:+.2f}",
            _cost(cost),
        )
    console.print(shown)


def _show_answers(leads: Leads, name: str, ranks: list[int]) -> None:
    h = hand_number(ranks)
    own = [k for k in range(4) if ranks[k] not in ranks[:k]]
    shown = _new_table(
        f"answers from {name}: how often, and what each card costs",
        ("lead", "led", "net points", *(RANKS[ranks[k]] for k in own)),
    )
    for led in range(13):
        if ranks.count(led) == 4:
            continue
        if leads.led[led, h] < _NEVER:
            shown.add_row(RANKS[led], "never")
            continue
        cells = (
            f"{float(leads.answer_chance[led, h, k]):.0%} {_cost(float(leads.answer_cost[led, h, k])):>4}" for k in own
        )
        shown.add_row(RANKS[led], f"{leads.led[led, h]:.1%}", f"{leads.answer_value[led, h]:+.2f}", *cells)
    console.print(shown)


def _by_chance(chances: np.ndarray, ranks: list[int]) -> list[int]:
    """The places of the different ranks of a hand, the most frequent choice first."""
    places = [k for k in range(4) if ranks[k] not in ranks[:k]]
    return sorted(places, key=lambda k: -float(chances[k]))


def _cost(points: float) -> str:
    return f"{points:.2f}" if points >= 0.005 else "0"


def _show_all_leads(leads: Leads) -> None:
    shown = _new_table("leads over all hands", ("rank", "of all leads", "when held", "mean cost"))
    for rank, (share, chance, cost) in zip(RANKS, lead_habits(leads)):
        shown.add_row(rank, f"{share:.1%}", f"{chance:.1%}", _cost(cost))
    console.print(shown)
    console.print(rules_table("rules for the lead", (tally_leads(rule, leads) for rule in LEADS)))


def _show_all_answers(leads: Leads) -> None:
    columns = ("lead", "led", "paired", "made fifteen", "dealer's net")
    shown = _new_table("answers over all hands; paired and made fifteen: where it is possible", columns)
    for rank, (share, pairs, fifteens, value) in zip(RANKS, answer_habits(leads)):
        if share < _NEVER:
            shown.add_row(rank, "never")
            continue
        shown.add_row(
            rank, f"{share:.1%}", f"{pairs:.0%}", "" if isnan(fifteens) else f"{fifteens:.0%}", f"{value:+.2f}"
        )
    console.print(shown)
    console.print(rules_table("rules for the answer", (tally_answers(rule, leads) for rule in ANSWERS)))
