"""What is sent to the page, as JSON has it. Nothing in it is hidden from the person who looks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.choosing import lowest_of_rank, six_dealt
from crib_env.cards import format_card
from crib_env.engine import CRIB, DISCARD, EVENTS, OVER
from crib_env.evaluate.play.coach import Note
from crib_env.evaluate.play.levels import Level
from crib_env.evaluate.play.reasons import Sight
from crib_env.evaluate.play.saved_game import PERSON, SavedGame, Show, read_game
from crib_env.evaluate.play.sitting import Looker
from crib_env.evaluate.play.words import moments, tell_deal, tell_missed, with_runs_together
from crib_env.evaluate.skill.analysis.judges import PlayJudge
from crib_env.picture.seen import HIDDEN, Side, card_name, see
from crib_env.scoring import count_aloud
from crib_env.tables.analysis import analyse_discard

_HUMAN = Looker(PERSON, True)  # who plays against an agent
GAME_ID = re.compile(r"\d{8}-\d{6}(-\d+)?")
_LISTED = 30


def state(game: SavedGame, place: tuple[int, int], looker: Looker, then: Looker) -> dict[str, Any]:
    """The state of a game, and the moments since a place (:attr:`SavedGame.place`).

    Args:
        game: the game.
        place: what the page has seen.
        looker: who sees the moments up to the present one.
        then: who sees that, and a new deal.
    """
    so_far = game.so_far
    to_take = so_far.people and not then.sees
    return {
        "agent": so_far.agent,
        "you": game.names[looker.seat],
        "name": game.names[1 - looker.seat],
        "people": bool(so_far.people),
        "take": game.names[then.seat] if to_take else "",
        "seed": so_far.seed if game.is_over else None,  # all deals follow from it
        "practice": so_far.practice,
        "day": so_far.day,
        "undo": game.last_choice() is not None,
        "coach": so_far.coach,
        "counting": so_far.counting,
        "cut": _cut(game, looker.seat),
        "at": len(game.played),
        "choose": 0 if to_take else to_choose(game, then.seat),
        "over": game.is_over,
        "frames": list(_frames(game, place, looker, then._replace(seat=looker.seat))),
    }


def _cut(game: SavedGame, seat: int) -> list[int]:
    """Two cards cut for the first deal, as ids, the looker's first, until a card is played: the lower one deals."""
    if game.played or game.so_far.first_dealer is not None:
        return []
    cut = Random(f"cut {game.so_far.seed}")  # the engine tosses a coin, which these cards only show
    low, high = sorted(cut.sample(range(13), 2))
    cards = [rank + 13 * suit for rank, suit in zip((low, high), cut.choices(range(4), k=2))]
    return cards if game.games["dealer"][0] == seat else cards[::-1]


def to_choose(game: SavedGame, seat: int) -> int:
    """How many cards the person in a seat is to choose now."""
    if game.is_over or game.turn != seat:
        return 0
    return 1 if game.games["phase"][0] != DISCARD else 2 - int(game.games["discards"][0, seat]).bit_count()


def _frames(game: SavedGame, place: tuple[int, int], looker: Looker, then: Looker) -> Iterator[dict[str, Any]]:
    """The moments since a place. The last is the present, and the only one if nothing has happened."""
    n = len(game.played)
    for kind, at, games, seat, said in moments(game, place, looker.seat, card_name):
        if kind == "deal":
            yield {"at": at, **moment_of(games, game.names, then), "said": list(said)}
        else:
            yield {"at": at, **_frame(games, game.names, () if kind == "hand" else said, seat, looker)}
    if game.show:
        yield {"at": n, **_asked(game, game.show, looker)}
    if place[0] < n and then != looker:
        yield {"at": n, **moment_of(game.games, game.names, then)}


def whole_game(game: SavedGame) -> list[dict[str, Any]]:
    """The moments of a finished game from its first deal on; ``at``: how many cards had been played."""
    first = game.played[0].before
    start = {"at": 0, **moment_of(first, game.names), "said": [tell_deal(first, game.names)]}
    return [start, *_frames(game, (0, 0), _HUMAN, _HUMAN)]


def moment_of(games: np.ndarray, names: tuple[str, str], looker: Looker = _HUMAN) -> dict[str, Any]:
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


def _frame(
    games: np.ndarray, names: tuple[str, str], said: Iterable[str], mover: int | None, looker: Looker
) -> dict[str, Any]:
    """A moment; seats are 0 for the looker, and 1 for the other."""
    own = looker.seat
    # At the end all cards are laid open.
    table = see(games, None if games["phase"][0] == OVER else own, below=own, names=names)
    counted = table.counted
    items = with_runs_together(counted.items) if counted else []
    covered = not looker.sees and not counted
    hides_crib = covered or not (looker.is_alone or counted)
    return {
        "deal": int(games["n_deals"][0]),
        "mover": None if mover is None else mover ^ own,
        "sides": [_side(table.sides[seat], covered) for seat in (own, 1 - own)],
        "crib": [""] * len(table.crib) if hides_crib else cards_as_text(table.crib),
        "starter": None if table.starter is None else _card(table.starter),
        "laid": [asdict(laid) | {"card": _card(laid.card), "seat": laid.seat ^ own} for laid in table.laid],
        "count": table.count,
        "counted": counted
        and counted._asdict()
        | {
            "seat": counted.seat ^ own,
            "crib": counted.kind == EVENTS[CRIB],
            "told": tell_missed(counted, names),
            "items": [
                item._asdict() | {"said": said, "cards": cards_as_text(item.cards)}
                for item, said in zip(items, count_aloud(items))
            ],
        },
        "caption": table.caption.replace("you wins", "you win").replace("the episode is", "the deal is"),
        "said": list(said),
    }


def note_as_json(note: Note) -> dict[str, Any]:
    """A comment of the coach."""
    said = {"why": note.why.said, "figures": note.why.figures} if note.why else {"why": "", "figures": ""}
    return {"at": note.at, "deal": note.deal, "size": note.size, "text": note.text, **said}


def _side(side: Side, covered: bool) -> dict[str, Any]:
    return side._asdict() | {
        "rear_peg": side.rear_peg if side.score else -1,
        "hand": [""] * len(side.hand) if covered else cards_as_text(side.hand),
        "legal": [] if covered else cards_as_text(side.legal),
    }


def cards_as_text(cards: Iterable[int]) -> list[str]:
    """Cards as text."""
    return [_card(card) for card in cards]


def _card(card: int) -> str:
    """As text; empty for a card that lies face down."""
    return "" if card == HIDDEN else format_card(card)


def choices_as_json(view: PlayerViews, chosen: Sequence[int], judge: PlayJudge) -> dict[str, Any]:
    """All choices of a decision with figures in columns, the best first.

    Of a discard: hand, crib and play in points on average, what they add up to, and the chance to win. Of the play, for
    each rank: points at once, net points of the deal against the best, and the chance to win.

    Args:
        view: one decision, before the first card of a discard.
        chosen: the cards discarded, or the card laid, which is named for its rank.
        judge: values cards of the play.
    """
    of_discard = bool(view.is_discard[0])
    rows = _discards(view) if of_discard else _cards_to_lay(view, judge, chosen[0])
    return {
        "columns": ["hand", "crib", "play", "points", "win %"] if of_discard else ["at once", "by the end", "win %"],
        "rows": [
            {"cards": cards_as_text(of), "cells": list(cells), "chosen": {*of} == {*chosen}} for of, cells in rows
        ],
    }


def _discards(view: PlayerViews) -> Iterator[tuple[list[int], tuple[str, ...]]]:
    six, is_dealer, scores = six_dealt(view)[0].tolist(), bool(view.is_dealer[0]), view.scores[0].tolist()
    for row in analyse_discard(six, dealer=is_dealer, scores=(scores[0], scores[1])):
        crib = row["crib_expected"] if is_dealer else -row["crib_expected"]
        points = (f"{row['hand_mean']:.2f}", *(f"{points:+.2f}" for points in (crib, row["pegging"])))
        yield row["discard"].tolist(), (*points, f"{row['total']:.2f}", f"{100 * row['win_probability']:.1f}")


def _cards_to_lay(view: PlayerViews, judge: PlayJudge, chosen: int) -> Iterator[tuple[list[int], tuple[str, ...]]]:
    worth, sight = judge.worth(view), Sight(view)
    chances, points = worth.chances[0], worth.points[0]
    ranks = [rank for rank in np.argsort(-chances, kind="stable").tolist() if np.isfinite(chances[rank])]
    most = max(points[ranks])
    for rank in ranks:
        card = chosen if chosen % 13 == rank else int(lowest_of_rank(view, np.array([rank]))[0])
        yield [card], (str(sight.after(card).points), f"{points[rank] - most:+.2f}", f"{100 * chances[rank]:.1f}")


def latest_first(*folders: Path) -> list[Path]:
    """The files of folders that are named as games are, by the time and the number of their names."""
    files = [file for folder in folders for file in folder.glob("*.json") if GAME_ID.fullmatch(file.stem)]
    return sorted(files, key=lambda file: (file.stem[:15], int(file.stem[16:] or 1)), reverse=True)


def listed(folder: Path) -> list[dict[str, Any]]:
    """The latest games of a folder; files that are not games are skipped."""
    rows: list[dict[str, Any]] = []
    for file in latest_first(folder):
        if len(rows) < _LISTED:
            with suppress(ValueError):  # it is no game, a link to nothing, or it has just been deleted
                so_far = read_game(file)
                row = {"game": file.stem, "agent": so_far.agent, "name": " and ".join(so_far.people) or so_far.other}
                state = {"scores": so_far.standing, "deal": so_far.deal, "practice": so_far.practice}
                rows.append({**row, **state, "day": so_far.day, "imported": bool(so_far.deals)})
    return rows


def level_row(level: Level) -> dict[str, str]:
    """A level as the first screen shows it."""
    return {"name": level.name, "agent": level.agent, "says": level.says}
