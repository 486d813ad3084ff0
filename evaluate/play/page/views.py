"""What is sent to the page: the table as the person sees it, moment by moment. Nothing hidden is in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from crib_env.cards import format_card
from crib_env.engine import CRIB, DISCARD, DOUBLE_SKUNK, EVENTS, SKUNK
from crib_env.evaluate.play.coach import Coach, Hint, Note
from crib_env.evaluate.play.saved_game import AGENT, PERSON, SavedGame
from crib_env.evaluate.play.show import Show
from crib_env.evaluate.play.words import tell_card, tell_deal, tell_missed
from crib_env.picture.board import hole_at
from crib_env.picture.cards import HIDDEN, card_name
from crib_env.picture.seen import Side, see
from crib_env.scoring import count_aloud


class Looker(NamedTuple):
    """Who looks at the page."""

    seat: int
    sees: bool
    """Whether the hand of this seat may be seen; not while the machine goes from one person to another."""


HUMAN = Looker(PERSON, True)
"""Who plays against an agent."""


def state(game: SavedGame, since: int, looker: Looker = HUMAN, then: Looker | None = None) -> dict[str, Any]:
    """The state of a game, and the moments since its card number ``since``.

    Args:
        game: the game.
        since: how many cards had been played then.
        looker: who sees these moments.
        then: who sees the present one, if it is another; a new deal is theirs too.
    """
    so_far, then = game.so_far, then or looker
    to_take = so_far.people and not then.sees
    return {
        "agent": so_far.agent,
        "you": game.names[looker.seat],
        "name": game.names[1 - looker.seat],
        "people": bool(so_far.people),
        "take": game.names[then.seat] if to_take else "",
        "seed": so_far.seed if game.is_over else None,  # all deals follow from it
        "practice": so_far.practice,
        "coach": so_far.coach,
        "counting": so_far.counting,
        "at": len(game.played),
        "choose": 0 if to_take else to_choose(game, then.seat),
        "over": game.is_over,
        "stopped": not game.is_over and not so_far.people and game.turn == AGENT,
        "skunk": _skunk(game),
        "frames": list(_frames(game, since, looker, Looker(looker.seat, then.sees))),
    }


def _skunk(game: SavedGame) -> str:
    """A sentence, where a finished game was one; otherwise empty."""
    loser = int(game.games["scores"].min())
    if not game.is_over or loser > SKUNK:
        return ""
    return "A double skunk. " if loser <= DOUBLE_SKUNK else "A skunk. "


def to_choose(game: SavedGame, seat: int) -> int:
    """How many cards the person in a seat is to choose now."""
    if game.is_over or game.turn != seat:
        return 0
    return 1 if game.games["phase"][0] != DISCARD else 2 - int(game.games["discards"][0, seat]).bit_count()


def _frames(game: SavedGame, since: int, looker: Looker, then: Looker) -> Iterator[dict[str, Any]]:
    """The moments from a card on. The last is the present, and the only one if no card was played."""
    after = [*(played.before for played in game.played[since + 1 :]), game.games]
    if since == len(game.played) and not game.show:
        yield {"at": since, **_deal(game.games, game.names, then)}
    said: list[str] = []
    for at, (played, following) in enumerate(zip(game.played[since:], after), start=since + 1):
        first, *show = game.stages(at - 1)
        said += tell_card(played, first, game.names, card_name, looker.seat)
        goes_on = following["turn"][0] == played.seat and following is not game.games
        if _is_first_discard(played.before, played.seat) and goes_on:
            continue  # both cards go to the crib together
        yield {"at": at, **_frame(first, game.names, said, played.seat, looker)}
        said = []
        for step in show:
            yield {"at": at, **_frame(step, game.names, (), played.seat, looker)}
        if following["n_deals"][0] != played.before["n_deals"][0]:
            yield {"at": at, **_deal(following, game.names, then)}
    if game.show:
        yield {"at": len(game.played), **_asked(game, game.show, looker)}
    if since < len(game.played) and then != looker:
        yield {"at": len(game.played), **moment_of(game.games, game.names, then)}


def whole_game(game: SavedGame) -> Iterator[dict[str, Any]]:
    """The moments of a finished game from its first deal on; ``at``: how many cards had been played."""
    yield {"at": 0, **_deal(game.played[0].before, game.names, HUMAN)}
    yield from _frames(game, 0, HUMAN, HUMAN)


def _is_first_discard(games: np.ndarray, seat: int) -> bool:
    return bool(games["phase"][0] == DISCARD and games["discards"][0, seat] == 0)


def moment_of(games: np.ndarray, names: tuple[str, str], looker: Looker = HUMAN) -> dict[str, Any]:
    """A game as it stands, without what led to it."""
    begun = games.copy()
    begun["n_events"] = 0  # these belong to the card before
    return _frame(begun, names, (), None, looker)


def _asked(game: SavedGame, show: Show, looker: Looker) -> dict[str, Any]:
    """A hand that the person is to count, or the agent's with what it says of it. What it is worth is not in it."""
    hand = show.hand
    is_own = hand.owner == looker.seat
    asks = {
        "seat": hand.owner ^ looker.seat,
        "crib": hand.is_crib,
        "said": None if is_own else game.agents_count(),
        "counted": show.counted,
    }
    return {**_frame(show.laid_open, game.names, (), None, looker), "counted": None, "caption": "", "asks": asks}


def _deal(games: np.ndarray, names: tuple[str, str], looker: Looker) -> dict[str, Any]:
    """A deal that has just begun, or a game that was opened."""
    return {**moment_of(games, names, looker), "said": [tell_deal(games, names)]}


def _frame(
    games: np.ndarray, names: tuple[str, str], said: Iterable[str], mover: int | None, looker: Looker
) -> dict[str, Any]:
    """A moment; seats are 0 for the looker, and 1 for the other."""
    own = looker.seat
    table = see(games, own, below=own, names=names)
    counted = table.counted
    covered = not looker.sees and not counted
    return {
        "deal": int(games["n_deals"][0]),
        "mover": None if mover is None else mover ^ own,
        "sides": [_side(table.sides[seat], seat == own, covered) for seat in (own, 1 - own)],
        "crib": [""] * len(table.crib) if covered else _cards(table.crib),
        "starter": None if table.starter is None else _card(table.starter),
        "laid": [
            {
                "card": _card(laid.card),
                "seat": laid.seat ^ own,
                "count": laid.count,
                "points": laid.points,
                "past": laid.is_past,
            }
            for laid in table.laid
        ],
        "count": table.count,
        "counted": counted
        and {
            "seat": counted.seat ^ own,
            "crib": counted.kind == EVENTS[CRIB],
            "points": counted.points,
            "pegged": counted.pegged,
            "missed": counted.missed,
            "told": tell_missed(counted, names),
            "items": [
                {"said": said, "kind": item.kind, "points": item.points, "cards": _cards(item.cards)}
                for item, said in zip(counted.items, count_aloud(counted.items))
            ],
        },
        "caption": table.caption,
        "said": list(said),
    }


def notes_as_json(coach: Coach) -> dict[str, Any]:
    """The coach's comments so far, and the line of the chance to win."""
    return {"notes": [note_as_json(note) for note in coach.notes()], "line": coach.line()}


def note_as_json(note: Note) -> dict[str, Any]:
    """A comment of the coach."""
    return {"at": note.at, "deal": note.deal, "size": note.size, "text": note.text, "why": note.why}


def hint_as_json(hint: Hint) -> dict[str, Any]:
    """What the coach would do."""
    return {"cards": _cards(hint.cards), "chance": hint.chance, "why": hint.why}


def _side(side: Side, is_below: bool, covered: bool) -> dict[str, Any]:
    rear = side.rear_peg if side.score else -1
    return {
        "score": side.score,
        "pegs": [hole_at(hole, is_below) for hole in (rear, side.score)],
        "dealer": side.is_dealer,
        "acts": side.acts,
        "go": side.says_go,
        "hand": [""] * len(side.hand) if covered else _cards(side.hand),
        "legal": [] if covered else _cards(side.legal),
    }


def _cards(cards: Iterable[int]) -> list[str]:
    return [_card(card) for card in cards]


def _card(card: int) -> str:
    """As text; empty for a card that lies face down."""
    return "" if card == HIDDEN else format_card(card)
