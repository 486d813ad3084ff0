"""What the equilibrium of the pegging game leads or answers from one hand, for people."""

from __future__ import annotations

from typing import Annotated

import tyro
from rich.box import SIMPLE_HEAD

from crib_env.cards import RANKS, format_cards, parse_cards
from crib_env.evaluate.console import console, table_of
from crib_env.hands import hand_number
from crib_env.tables.shipped import standard_leads

_NEVER = 0.0005  # a lead so rare is none in equilibrium, which leaves open how it is answered
Cards = Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="CARD ...")]


def leads(cards: Cards, dealer: bool = False) -> None:
    """Shows what the equilibrium leads as pone, or answers as dealer, how often, and what each card costs.

    The pegging game: eight cards dealt at random, four each, no crib and no starter. A card costs what its player loses
    to the end of the play, in points, against an opponent who plays the equilibrium.

    Args:
        cards: Four cards, such as 4C 4D 5H 6S, or without spaces, 4c4d5h6s. Suits do not matter.
        dealer: Answers to each lead, in place of leads.
    """
    hand = sorted((int(card) for card in parse_cards(" ".join(cards))), key=lambda card: (card % 13, card))
    if len(hand) != 4:
        raise ValueError(f"{' '.join(cards)} is not allowed: give four cards")
    found, name, ranks = standard_leads(), format_cards(hand), [card % 13 for card in hand]
    h, own = hand_number(ranks), [k for k in range(4) if ranks[k] not in ranks[:k]]
    rows: list[tuple[str, ...]] = []
    if dealer:
        title = f"answers from {name}: how often, and what each card costs"
        columns: tuple[str, ...] = ("lead", "led", "net points", *(RANKS[ranks[k]] for k in own))
        for led in (led for led in range(13) if ranks.count(led) < 4):
            if found.led[led, h] < _NEVER:
                rows.append((RANKS[led], "never"))
                continue
            chances, costs = found.answer_chance[led, h].astype(float), found.answer_cost[led, h].astype(float)
            cells = (f"{chances[k]:.0%} {_cost(costs[k]):>4}" for k in own)
            rows.append((RANKS[led], f"{found.led[led, h]:.1%}", f"{found.answer_value[led, h]:+.2f}", *cells))
    else:
        title, columns = f"leads from {name}", ("lead", "how often", "net points", "cost")
        chances, costs = found.lead_chance[h].astype(float), found.lead_cost[h].astype(float)
        for k in sorted(own, key=lambda k: -chances[k]):
            value = f"{found.lead_value[h] - costs[k]:+.2f}"
            rows.append((RANKS[ranks[k]], f"{chances[k]:.0%}", value, _cost(costs[k])))
    console.print(table_of(title, columns, rows, no_wrap=True, box=SIMPLE_HEAD, padding=(0, 1, 0, 0)))
    console.print(
        f"points in equilibrium of the pegging game, known to ± {float(found.nash_conv):.3f} in the mean of all deals"
    )


def _cost(points: float) -> str:
    return f"{points:.2f}" if points >= 0.005 else "0"
