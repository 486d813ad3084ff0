"""What happens at the table, in words: for the terminal, and for screen readers of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from crib_env import describe_show
from crib_env.cards import format_card, format_cards
from crib_env.engine import EVENTS
from crib_env.evaluate.matches.muggins import Hand, hands_counted, hands_shown
from crib_env.evaluate.play.saved_game import AGENT, PERSON, Played
from crib_env.evaluate.play.show import Count
from crib_env.picture.seen import Counted, see
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


def tell_hand(hand: Hand, names: tuple[str, str]) -> str:
    """Whose hand or crib it is, and its cards."""
    kind = "crib" if hand.is_crib else "hand"
    return f"{names[hand.owner]}, {kind} {format_cards(hand.cards)} with {format_card(hand.starter)}"


def tell_show(stages: Iterable[np.ndarray], names: tuple[str, str]) -> Iterator[str]:
    """Each hand that is counted at stages of a game, (1,) each, and how it is counted."""
    for games in stages:
        shown = {hand.name: hand for hand in hands_shown(games)}
        for hand in (shown[name] for name in hands_counted(games)):
            yield f"{tell_hand(hand, names)}: {describe_show(hand.cards, hand.starter, crib=hand.is_crib)}"


def tell_count(count: Count, names: tuple[str, str]) -> str:
    """What to say to a person who has counted a hand, or has heard the agent count its own."""
    own, points, agent = count.hand.owner == PERSON, count.hand.points, names[AGENT]
    if own and count.said > points:
        return f"{count.said} is too many: it is {points}"
    if own and count.said < points:
        pegs = f"{agent} pegs {count.claimed}" if count.claimed else f"you missed {count.missed}"
        return f"{'muggins! Y' if count.claimed else 'y'}ou counted {count.said} of {points}: {pegs}"
    if count.claimed:
        return f"muggins! {agent} counted {count.said} of {points}: you peg {count.claimed}"
    if count.missed:
        pegs = f"you asked for {count.asked} and peg nothing" if count.asked else "nobody pegs the rest"
        return f"{agent} counted {count.said} of {points}: {pegs}"
    return f"{count.said} is right" + ", so there is nothing to peg" * (count.asked > 0)


def tell_missed(counted: Counted, names: tuple[str, str]) -> str:
    """What was missed of a hand of the show; empty if it was nothing."""
    if not counted.missed:
        return ""
    who, other = names[counted.seat], names[1 - counted.seat]
    pegs = f"{other} peg{'s' * (other != 'you')} {counted.claimed}" if counted.claimed else "nobody pegs them"
    return f"{who} missed {counted.missed} of {counted.points}: {pegs}"
