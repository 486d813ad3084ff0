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
from crib_env.evaluate.play.saved_game import PERSON, SavedGame, read_game
from crib_env.evaluate.play.sitting import Looker
from crib_env.evaluate.play.words import moments, tell_deal, with_runs_together
from crib_env.evaluate.skill.analysis.judges import PlayJudge
from crib_env.picture.seen import HIDDEN, Counted, card_name, see
from crib_env.scoring import count_aloud, score_play
from crib_env.tables.analysis import analyse_discard

_HUMAN = Looker(PERSON, True)  # who plays against an agent
GAME_ID = re.compile(r"\d{8}-\d{6}(-\d+)?")
_LISTED = 30


def state(game: SavedGame, since: int, looker: Looker, then: Looker) -> dict[str, Any]:
    """The state of a game, and the moments since the page has seen so many cards played.

    ``looker`` sees the moments up to the present one, and ``then`` that and a new deal.
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
        "cut": _cut(game, looker.seat),
        "at": len(game.played),
        "choose": 0 if to_take else to_choose(game, then.seat),
        "over": game.is_over,
        "frames": list(_frames(game, since, looker, then._replace(seat=looker.seat))),
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


def _frames(game: SavedGame, since: int, looker: Looker, then: Looker) -> Iterator[dict[str, Any]]:
    """The moments since a place. The last is the present, and the only one if nothing has happened."""
    for kind, at, games, seat, said in moments(game, since, looker.seat, card_name):
        if kind == "deal":
            yield {**moment_of(games, game.names, then), "at": at, "said": said}
        else:
            yield {**_frame(games, game.names, looker, seat), "at": at, "said": said if kind == "card" else ()}
    if since < len(game.played) and then != looker:
        yield {**moment_of(game.games, game.names, then), "at": len(game.played)}


def whole_game(game: SavedGame) -> list[dict[str, Any]]:
    """The moments of a finished game from its first deal on; ``at``: how many cards had been played."""
    first = game.played[0].before
    start = {**moment_of(first, game.names), "at": 0, "said": [tell_deal(first, game.names)]}
    return [start, *_frames(game, 0, _HUMAN, _HUMAN)]


def moment_of(games: np.ndarray, names: tuple[str, str], looker: Looker = _HUMAN) -> dict[str, Any]:
    """A game as it stands, without what led to it."""
    begun = games.copy()
    begun["n_events"] = 0  # these belong to the card before
    return {**_frame(begun, names, looker), "said": ()}


def _frame(games: np.ndarray, names: tuple[str, str], looker: Looker, mover: int | None = None) -> dict[str, Any]:
    """A moment; seats are 0 for the looker, and 1 for the other."""
    own = looker.seat
    # At the end all cards are laid open.
    table = see(games, None if games["phase"][0] == OVER else own, below=own, names=names)
    covered = not looker.sees and not table.counted
    hides_crib = covered or not (looker.is_alone or table.counted)
    return {
        "deal": int(games["n_deals"][0]),
        "mover": None if mover is None else mover ^ own,
        "sides": [
            side._asdict()
            | {
                "hand": [""] * len(side.hand) if covered else cards_as_text(side.hand),
                "legal": [] if covered else cards_as_text(side.legal),
            }
            for side in (table.sides[own], table.sides[1 - own])
        ],
        "crib": [""] * len(table.crib) if hides_crib else cards_as_text(table.crib),
        "starter": None if table.starter is None else cards_as_text([table.starter])[0],
        "laid": [asdict(laid) | {"card": format_card(laid.card), "seat": laid.seat ^ own} for laid in table.laid],
        "count": table.count,
        "counted": table.counted and _counted(table.counted, own),
        "caption": table.caption.replace("you wins", "you win").replace("the episode is", "the deal is"),
    }


def _counted(hand: Counted, own: int) -> dict[str, Any]:
    items = with_runs_together(hand.items)
    lines = [
        {"points": item.points, "said": said, "cards": cards_as_text(item.cards)}
        for item, said in zip(items, count_aloud(items))
    ]
    totals = {"points": hand.points, "pegged": hand.pegged}
    return {"seat": hand.seat ^ own, "crib": hand.kind == EVENTS[CRIB], "items": lines, **totals}


def note_as_json(note: Note) -> dict[str, Any]:
    """A comment of the coach."""
    said = {"why": note.why.said, "figures": note.why.figures} if note.why else {"why": "", "figures": ""}
    return {"at": note.at, "deal": note.deal, "size": note.size, "text": note.text, **said}


def cards_as_text(cards: Iterable[int]) -> list[str]:
    """Cards as text, empty for each that lies face down."""
    return ["" if card == HIDDEN else format_card(card) for card in cards]


def choices_as_json(view: PlayerViews, chosen: Sequence[int], judge: PlayJudge) -> dict[str, Any]:
    """All choices of a decision with figures in columns, the best first.

    Of a discard: hand, crib and play in points on average, what they add up to, and the chance to win. Of the play, for
    each rank: points at once, net points of the deal against the best, and the chance to win.
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
    worth, pile = judge.worth(view), [card for card in view.laid[0].tolist()[int(view.pile_start[0]) :] if card >= 0]
    chances, points = worth.chances[0], worth.points[0]
    ranks = [rank for rank in np.argsort(-chances, kind="stable").tolist() if np.isfinite(chances[rank])]
    most = max(points[ranks])
    for rank in ranks:
        card = chosen if chosen % 13 == rank else int(lowest_of_rank(view, np.array([rank]))[0])
        yield [card], (str(score_play([*pile, card])), f"{points[rank] - most:+.2f}", f"{100 * chances[rank]:.1f}")


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
                row = {"game": file.stem, "name": " and ".join(so_far.people) or so_far.other, "day": so_far.day}
                state = {"scores": so_far.standing, "deal": so_far.deal, "practice": so_far.practice}
                rows.append({**row, **state, "imported": bool(so_far.deals)})
    return rows
