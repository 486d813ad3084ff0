"""What happens at the table, moment by moment and in words: for the page and the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from crib_env import describe_show
from crib_env.cards import by_rank, format_card, format_cards
from crib_env.engine import CRIB, EVENTS
from crib_env.evaluate.play.saved_game import PERSON, Played, SavedGame
from crib_env.picture.seen import see
from crib_env.scoring import ShowItem
from crib_env.views import views_of

_ONE = np.zeros(1, np.int64)


class Moment(NamedTuple):
    """A step of a game."""

    kind: Literal["deal", "card", "hand"]  # a new deal, cards discarded or laid, or a hand that is counted
    at: int  # how many cards have been played
    games: np.ndarray  # (1,) the record of the game
    seat: int | None  # who has played the card; None in a new deal
    said: tuple[str, ...]  # what has happened


def moments(
    game: SavedGame,
    since: int,
    viewer: int = PERSON,
    named: Callable[[int], str] = format_card,
) -> Iterator[Moment]:
    """What has happened in a game since so many cards were played; if nothing has, who deals.

    ``viewer`` is the seat of the reader, who is not told of cards that the other has discarded.
    """
    names, said = game.names, list[str]()
    if since == len(game.played):
        yield Moment("deal", since, game.games, None, (tell_deal(game.games, names),))
    after = [*(played.before for played in game.played[since + 1 :]), game.games]
    for at, (played, following) in enumerate(zip(game.played[since:], after), start=since + 1):
        first, *hands = played.stages()
        said += _tell_card(game, played, first, viewer, named)
        goes_on = following["turn"][0] == played.seat and following is not game.games
        if goes_on and played.is_discard and not played.is_second:
            continue  # both cards go to the crib together
        yield Moment("card", at, first, played.seat, tuple(said))
        for step in hands:
            yield Moment("hand", at, step, played.seat, tuple(_tell_hands(step, names)))
        said = []
        if following["n_deals"][0] != played.before["n_deals"][0]:
            yield Moment("deal", at, following, None, (tell_deal(following, names),))


def tell_deal(games: np.ndarray, names: tuple[str, str]) -> str:
    """Who deals."""
    dealer = names[int(games["dealer"][0])]
    return f"deal {int(games['n_deals'][0])}: {dealer} deal{'s' * (dealer != 'you')}"


def _tell_card(
    game: SavedGame, played: Played, step: np.ndarray, viewer: int, named: Callable[[int], str]
) -> Iterator[str]:
    """A card that was discarded or laid, the points it scored, and who then says go; ``step``: the game after it."""
    names, n = game.names, int(step["n_events"][0])
    table = see(step, viewer, names=names)
    points = zip(step["event_kind"][0, :n].tolist(), step["event_points"][0, :n].tolist())
    earned = "".join(f", {EVENTS[kind]} for {points}" for kind, points in points)
    if table.laid and table.laid[-1].card == played.card:
        yield f"{names[played.seat]}: {named(played.card)}, {table.laid[-1].count}{earned}"
    elif game.so_far.people and not game.is_over:  # another person reads the same screen
        if played.is_second:
            yield f"{names[played.seat]} has discarded"
    elif viewer == played.seat:
        yield f"you discard {named(played.card)}"
    if not table.laid and table.starter is not None and table.starter >= 0:
        yield f"the starter is {named(table.starter)}{earned}"
    before, after = (views_of(games, _ONE, _ONE + viewer, _ONE).said_go[0] for games in (played.before, step))
    for k, seat in enumerate((viewer, 1 - viewer)):
        if after[k] and not before[k]:
            yield f"{names[seat]}: go"


def _tell_hands(games: np.ndarray, names: tuple[str, str]) -> Iterator[str]:
    """The hand or crib that was counted by the last step of a game (1,), and how it is counted."""
    if hand := see(games, None).counted:
        starter, is_crib = int(games["cards"][0, 12]), hand.kind == EVENTS[CRIB]
        whose = f"{names[hand.seat]}, {'crib' if is_crib else 'hand'}"
        counted = describe_show(hand.cards, starter, crib=is_crib)
        yield f"{whose} {format_cards(hand.cards)} with {format_card(starter)}: {counted}"


def with_runs_together(items: Sequence[ShowItem]) -> list[ShowItem]:
    """A breakdown as players name it: several runs and the pairs within them are one double or triple run."""
    runs = [item for item in items if item.kind.startswith("run")]
    if len(runs) < 2:
        return [*items]
    own = [item for item in items if item in runs or item.kind in ("pair", "three of a kind")]
    times = {2: "double", 3: "triple", 4: "double double"}[len(runs)]
    cards = by_rank({card for item in own for card in item.cards})
    whole = ShowItem(f"{times} {runs[0].kind}", sum(item.points for item in own), cards)
    first = items.index(own[0])
    return [*items[:first], whole, *(item for item in items[first:] if item not in own)]
