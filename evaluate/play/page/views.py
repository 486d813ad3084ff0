"""What is sent to the page: the table as the person sees it, moment by moment. Nothing hidden is in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from crib_env.cards import format_card
from crib_env.engine import CRIB, DISCARD, DOUBLE_SKUNK, EVENTS, SKUNK
from crib_env.evaluate.play.coach import Coach, Hint, Note
from crib_env.evaluate.play.saved_game import PERSON, SavedGame
from crib_env.evaluate.play.words import tell_card, tell_deal
from crib_env.picture.board import hole_at
from crib_env.picture.cards import HIDDEN, card_name
from crib_env.picture.seen import Side, see, stages
from crib_env.scoring import count_aloud


def state(game: SavedGame, since: int) -> dict[str, Any]:
    """The state of a game, and the moments since its card number ``since``."""
    so_far = game.so_far
    return {
        "agent": so_far.agent,
        "name": game.names[1],
        "seed": so_far.seed if game.is_over else None,  # all deals follow from it
        "practice": so_far.practice,
        "coach": so_far.coach,
        "counts": so_far.counts,
        "at": len(game.played),
        "choose": to_choose(game),
        "over": game.is_over,
        "stopped": not game.is_over and game.turn != PERSON,
        "skunk": _skunk(game),
        "frames": list(_frames(game, since)),
    }


def _skunk(game: SavedGame) -> str:
    """A sentence, where a finished game was one; otherwise empty."""
    loser = int(game.games["scores"].min())
    if not game.is_over or loser > SKUNK:
        return ""
    return "A double skunk. " if loser <= DOUBLE_SKUNK else "A skunk. "


def to_choose(game: SavedGame) -> int:
    """How many cards the person is to choose now."""
    if game.is_over or game.turn != PERSON:
        return 0
    return 1 if game.games["phase"][0] != DISCARD else 2 - int(game.games["discards"][0, PERSON]).bit_count()


def _frames(game: SavedGame, since: int) -> Iterator[dict[str, Any]]:
    """The moments from a card on. The last is the present, and the only one if no card was played."""
    after = [*(played.before for played in game.played[since + 1 :]), game.games]
    if since == len(game.played):
        yield {"at": since, **_deal(game.games, game.names)}
    said: list[str] = []
    for at, (played, then) in enumerate(zip(game.played[since:], after), start=since + 1):
        first, *show = stages(played.before, played.card)
        said += tell_card(played, first, game.names, card_name)
        if _is_first_discard(played.before, played.seat) and then["turn"][0] == played.seat and then is not game.games:
            continue  # both cards go to the crib together
        yield {"at": at, **_frame(first, game.names, said, played.seat)}
        said = []
        for step in show:
            yield {"at": at, **_frame(step, game.names, (), played.seat)}
        if then["n_deals"][0] != played.before["n_deals"][0]:
            yield {"at": at, **_deal(then, game.names)}


def whole_game(game: SavedGame) -> Iterator[dict[str, Any]]:
    """The moments of a finished game from its first deal on; ``at``: how many cards had been played."""
    yield {"at": 0, **_deal(game.played[0].before, game.names)}
    yield from _frames(game, 0)


def _is_first_discard(games: np.ndarray, seat: int) -> bool:
    return bool(games["phase"][0] == DISCARD and games["discards"][0, seat] == 0)


def moment_of(games: np.ndarray, names: tuple[str, str]) -> dict[str, Any]:
    """A game as it stands, without what led to it."""
    begun = games.copy()
    begun["n_events"] = 0  # these belong to the card before
    return _frame(begun, names, (), None)


def _deal(games: np.ndarray, names: tuple[str, str]) -> dict[str, Any]:
    """A deal that has just begun, or a game that was opened."""
    return {**moment_of(games, names), "said": [tell_deal(games, names)]}


def _frame(games: np.ndarray, names: Sequence[str], said: Iterable[str], mover: int | None) -> dict[str, Any]:
    table = see(games, PERSON, below=PERSON, names=names)
    counted = table.counted
    return {
        "deal": int(games["n_deals"][0]),
        "mover": mover,
        "sides": [_side(side, seat == PERSON) for seat, side in enumerate(table.sides)],
        "crib": _cards(table.crib),
        "starter": None if table.starter is None else _card(table.starter),
        "laid": [
            {
                "card": _card(laid.card),
                "seat": laid.seat,
                "count": laid.count,
                "points": laid.points,
                "past": laid.is_past,
            }
            for laid in table.laid
        ],
        "count": table.count,
        "counted": counted
        and {
            "seat": counted.seat,
            "crib": counted.kind == EVENTS[CRIB],
            "points": counted.points,
            "pegged": counted.pegged,
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


def _side(side: Side, is_below: bool) -> dict[str, Any]:
    rear = side.rear_peg if side.score else -1
    return {
        "score": side.score,
        "pegs": [hole_at(hole, is_below) for hole in (rear, side.score)],
        "dealer": side.is_dealer,
        "acts": side.acts,
        "go": side.says_go,
        "hand": _cards(side.hand),
        "legal": _cards(side.legal),
    }


def _cards(cards: Iterable[int]) -> list[str]:
    return [_card(card) for card in cards]


def _card(card: int) -> str:
    """As text; empty for a card that lies face down."""
    return "" if card == HIDDEN else format_card(card)
