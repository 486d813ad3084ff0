"""What happens at the table, in words: for the terminal, and for screen readers of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from crib_env import describe_show
from crib_env.cards import format_card, format_cards
from crib_env.engine import CRIB, EVENTS
from crib_env.evaluate.play.saved_game import PERSON, Played
from crib_env.picture.seen import see
from crib_env.views import views_of

_ONE = np.zeros(1, np.int64)


def tell_deal(games: np.ndarray, names: tuple[str, str]) -> str:
    """Who deals."""
    dealer = names[int(games["dealer"][0])]
    return f"deal {int(games['n_deals'][0])}: {dealer} deal{'s' * (dealer != 'you')}"


def tell_card(
    played: Played,
    step: np.ndarray,
    names: tuple[str, str],
    named: Callable[[int], str] = format_card,
    viewer: int = PERSON,
) -> Iterator[str]:
    """A card that was discarded or laid, and the points it scored; discards of the viewer's opponent are left out.

    Args:
        played: the card.
        step: (1,) the game after it, the first of its stages.
        names: by seat.
        named: the name of a card.
        viewer: the seat of who is told.
    """
    table, earned = see(step, viewer, names=names), _earned(step)
    if table.laid and table.laid[-1].card == played.card:
        yield f"{names[played.seat]}: {named(played.card)}, {table.laid[-1].count}{earned}"
    elif played.seat == viewer:
        yield f"you discard {named(played.card)}"
    if not table.laid and table.starter is not None and table.starter >= 0:
        yield f"the starter is {named(table.starter)}{earned}"
    before, after = (views_of(games, _ONE, _ONE + viewer, _ONE).said_go[0] for games in (played.before, step))
    for k, seat in enumerate((viewer, 1 - viewer)):
        if after[k] and not before[k]:
            yield f"{names[seat]}: go"


def _earned(games: np.ndarray) -> str:
    n = int(games["n_events"][0])
    earned = zip(games["event_kind"][0, :n].tolist(), games["event_points"][0, :n].tolist())
    return "".join(f", {EVENTS[kind]} for {points}" for kind, points in earned)


class Shown(NamedTuple):
    """A hand of the show."""

    seat: int
    points: int
    whose: str
    """Whose hand or crib, and its cards."""
    counted: str
    """How it is counted."""


def shown_in(games: np.ndarray, names: tuple[str, str]) -> Shown | None:
    """The hand that is counted at a stage of a game (1,), if any."""
    table = see(games, PERSON, names=names)
    counted = table.counted
    if counted is None or table.starter is None:
        return None
    is_crib = counted.kind == EVENTS[CRIB]
    hand, kind = (table.crib, "crib") if is_crib else (table.sides[counted.seat].hand, "hand")
    whose = f"{names[counted.seat]}, {kind} {format_cards(hand)} with {format_card(table.starter)}"
    return Shown(counted.seat, counted.points, whose, describe_show(hand, table.starter, crib=is_crib))


def tell_muggins(said: int, points: int) -> str:
    """What to say to a person who has counted a hand."""
    if said == points:
        return f"{said} is right"
    if said > points:
        return f"{said} is too many: it is {points}"
    return f"muggins! You counted {said} of {points}, and missed {points - said}"
