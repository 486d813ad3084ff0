"""What happens at the table, moment by moment and in words: for the page, the terminal and MCP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import numpy as np

from crib_env import describe_show
from crib_env.cards import format_card, format_cards
from crib_env.engine import DISCARD, EVENTS
from crib_env.evaluate.matches.muggins import Hand, hands_counted, hands_shown
from crib_env.evaluate.play.saved_game import AGENT, PERSON, Count, Played, SavedGame
from crib_env.picture.seen import Counted, see
from crib_env.views import views_of

_ONE = np.zeros(1, np.int64)


class Moment(NamedTuple):
    """A step of a game."""

    kind: Literal["deal", "card", "hand"]
    """A new deal, cards that were discarded or laid, or a hand that is counted."""
    at: int
    """How many cards have been played."""
    games: np.ndarray
    """(1,) the record of the game."""
    seat: int | None
    """Who has played the card; None in a new deal."""
    said: tuple[str, ...]
    """What has happened."""


def moments(
    game: SavedGame,
    place: tuple[int, int],
    viewer: int = PERSON,
    named: Callable[[int], str] = format_card,
) -> Iterator[Moment]:
    """What has happened in a game since a place (:attr:`SavedGame.place`); where it is the present one, the deal alone.

    Args:
        game: the game.
        place: cards that had been played, and stages of the next one that had been seen.
        viewer: the seat of the reader, who is not told of cards that the other has discarded.
        named: the name of a card.
    """
    since, seen = place
    if since == len(game.played) and not game.show:
        yield Moment("deal", since, game.games, None, (tell_deal(game.games, game.names),))
    after, said = [*(played.before for played in game.played[since + 1 :]), game.games], list[str]()
    for at, (played, following) in enumerate(zip(game.played[since:], after), start=since + 1):
        first, *_ = steps = game.stages(at - 1)
        said += tell_card(played, first, game.names, named, viewer)
        goes_on = following["turn"][0] == played.seat and following is not game.games
        if goes_on and played.before["phase"][0] == DISCARD and not played.before["discards"][0, played.seat]:
            continue  # both cards go to the crib together
        for k, step in enumerate(steps):
            if k >= seen:
                told = tell_show(step, game.names) if k else said
                yield Moment("hand" if k else "card", at, step, played.seat, tuple(told))
        said, seen = [], 0
        if following["n_deals"][0] != played.before["n_deals"][0]:
            yield Moment("deal", at, following, None, (tell_deal(following, game.names),))


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


def tell_show(games: np.ndarray, names: tuple[str, str]) -> Iterator[str]:
    """The hand that was counted by the last step of a game (1,), and how it is counted."""
    counted = hands_counted(games)
    for hand in hands_shown(games):
        if hand.name in counted:
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
