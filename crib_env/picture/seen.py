"""The table as one player sees it, or as a spectator, who sees both hands and the crib; and as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from crib_env.cards import by_rank, format_card, format_cards
from crib_env.engine import (
    CRIB,
    DEAL,
    DISCARD,
    DOUBLE_SKUNK,
    EVENTS,
    OVER,
    PEGGING_EPISODE,
    PLAY,
    PLAY_EPISODE,
    PONES_HAND,
    SKUNK,
    WIN,
    act,
)
from crib_env.kernels import kernel
from crib_env.scoring import COUNT_LIMIT, ShowItem, card_value, explain_show, score_play
from crib_env.views import PlayerViews, views_of

NAMES = ("player_0", "player_1")
HIDDEN = -1
"""A card that lies face down."""
_RANK_NAMES = ("ace", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king")
_SUIT_NAMES = ("clubs", "diamonds", "hearts", "spades")


def card_name(card: int) -> str:
    """A card as it is read aloud, for example ``five of hearts``."""
    return f"{_RANK_NAMES[card % 13]} of {_SUIT_NAMES[card // 13]}"


class Side(NamedTuple):
    """One player's side of the table."""

    name: str
    score: int
    rear_peg: int  # hole of the rear peg: the score before the last points; -1 before the first ones
    is_dealer: bool
    acts: bool
    says_go: bool
    hand: tuple[int, ...]  # card ids by rank, ``HIDDEN`` for each card that lies face down
    legal: tuple[int, ...]  # cards of this hand that may be discarded or laid now


@dataclass(frozen=True)
class Laid:
    """A card of the play."""

    card: int
    seat: int
    count: int  # with this card
    points: int  # that it earned, with those for a go or the last card
    is_past: bool  # whether it belongs to an earlier count than the last one


class Counted(NamedTuple):
    """A hand, or the crib, that is counted in the show."""

    seat: int
    kind: str  # of ``engine.EVENTS``: a hand or the crib
    cards: tuple[int, ...]  # by rank, without the starter
    items: tuple[ShowItem, ...]
    points: int
    pegged: int  # of these points; fewer where the peg reached 121 before


@dataclass(frozen=True)
class Table:
    """All that a picture shows. It holds no card that its viewer may not see."""

    sides: tuple[Side, Side]  # by seat
    below: int  # the seat drawn below
    crib: tuple[int, ...]
    starter: int | None  # ``HIDDEN`` until it is cut; None in the pegging episode, which has none
    laid: tuple[Laid, ...]
    count: int | None  # None while cards are discarded
    counted: Counted | None
    caption: str  # what has just happened, or what happens next


def see(games: np.ndarray, viewer: int | None, *, below: int = 0, names: Sequence[str] = NAMES) -> Table:
    """The table of a game.

    Args:
        games: (1,) ``GAME``, a game that has begun.
        viewer: the seat that sees the table, or None for a spectator, who sees both hands and the crib.
        below: the seat to draw below.
        names: of the players, by seat.
    """
    game, zero, own = games[0], np.zeros(1, np.int64), viewer or 0
    views = [views_of(games, zero, zero + seat, zero) for seat in (0, 1)]
    n = game["n_events"]
    events = [*zip(*(game[f"event_{name}"][:n].tolist() for name in ("player", "kind", "points")))]
    phase, dealer = int(game["phase"]), int(game["dealer"])
    is_over = phase in (DEAL, OVER)
    shown = [event for event in events if PONES_HAND <= event[1] <= CRIB] if is_over else []
    is_crib = any(kind == CRIB for _, kind, _ in shown)
    says_go = views[own].said_go[0] & (not is_over)

    def faces(cards: np.ndarray, is_seen: bool) -> tuple[int, ...]:
        return by_rank(cards) if is_seen else (HIDDEN,) * len(by_rank(cards))

    def side(seat: int) -> Side:
        view, is_seen = views[seat], viewer in (None, seat)
        acts = not is_over and int(game["turn"]) == seat
        # players pick their cards up again for the show
        hand = faces(view.kept[0] if shown else view.hand[0], is_seen or bool(shown))
        return Side(
            name=names[seat],
            score=int(game["scores"][seat]),
            rear_peg=int(game["pegged_from"][seat]) if game["scores"][seat] else -1,
            is_dealer=seat == dealer,
            acts=acts,
            says_go=bool(says_go[int(seat != own)]),
            hand=hand,
            legal=tuple(card for card in hand if acts and is_seen and view.action_mask[0, card]),
        )

    sides = side(0), side(1)
    crib = sum((faces(views[seat].discards[0], is_crib or viewer in (None, seat)) for seat in (1 - dealer, dealer)), ())
    counted = None
    starter = int(views[own].starter[0])
    if shown:
        seat, kind, pegged = shown[-1]
        cards = by_rank(crib) if is_crib else sides[seat].hand
        items = tuple(explain_show(cards, starter, crib=is_crib))
        counted = Counted(seat, EVENTS[kind], cards, items, sum(item.points for item in items), pegged)
    return Table(
        sides=sides,
        below=below,
        crib=crib if HIDDEN in crib else by_rank(crib),
        starter=None if game["episode"] == PEGGING_EPISODE else starter,
        laid=cards_laid(views[own], own),
        count=None if phase == DISCARD else int(views[own].count[0]),
        counted=counted,
        caption=_caption(sides, events, counted, phase),
    )


def cards_laid(view: PlayerViews, viewer: int = 0) -> tuple[Laid, ...]:
    """The play up to a decision, with counts and points; ``viewer`` is the seat of the player with this view."""
    cards = [card for card in view.laid[0].tolist() if card >= 0]
    piles: list[list[int]] = []
    count = COUNT_LIMIT
    for card in cards:
        count += card_value(card % 13)
        if count > COUNT_LIMIT:  # this card begins a new count: the player who leads could not lay it on the old one
            piles.append([])
            count = card_value(card % 13)
        piles[-1].append(card)
    laid, seats = [], iter(view.laid_by[0].tolist())
    all_laid = (view.hand[0] < 0).all() and view.opponent_cards[0] == 0
    is_closed = int(view.pile_start[0]) == len(cards) or all_laid
    for pile in piles:
        count, is_last = 0, pile is piles[-1]
        for k, card in enumerate(pile, start=1):
            count += card_value(card % 13)
            ends = k == len(pile) and (is_closed or not is_last)
            points = score_play(pile[:k]) + (ends and count != COUNT_LIMIT)
            laid.append(Laid(card, viewer ^ next(seats), count, points, not is_last))
    return tuple(laid)


def _caption(sides: tuple[Side, Side], events: Sequence[Sequence[int]], counted: Counted | None, phase: int) -> str:
    """The last points, the winner, or what the next player has to do."""
    said = []
    for seat, side in enumerate(sides):
        if earned := [f"{EVENTS[kind]} for {points}" for by, kind, points in events if by == seat]:
            said.append(f"{side.name}: {', '.join(earned)}")
    if counted and counted.pegged < counted.points:
        said[-1 if counted.seat else 0] += f" (of {counted.points}: the peg stops at {WIN})"
    loser, winner = sorted(sides, key=lambda side: side.score)
    if winner.score >= WIN:
        skunk = ", a double skunk" if loser.score <= DOUBLE_SKUNK else ", a skunk" if loser.score <= SKUNK else ""
        said.append(f"{winner.name} wins {winner.score} to {loser.score}{skunk}")
    elif phase == OVER:
        said.append("the episode is over")
    elif not said:
        said += [f"{side.name} {_TO_DO[phase]}" for side in sides if side.acts]
    return ". ".join(said)


_TO_DO = {DISCARD: "discards to the crib", PLAY: "is to lay a card"}


@kernel
def _act(games, card):
    act(games[0], card)


def stages(games: np.ndarray, card: int) -> Iterator[np.ndarray]:
    """A decision step by step: the game with the card discarded or laid, then with each hand of the show counted.

    Args:
        games: (1,) ``GAME``; it does not change.
        card: a legal card.

    Yields:
        (1,) ``GAME``, each a copy, with the events of its own step only. The last one is the game after ``engine.act``.
        In the steps of the show before it the phase is ``DEAL``, in which nobody acts.
    """
    after, step = games.copy(), games.copy()
    _act(after, card)
    step["episode"] = PLAY_EPISODE  # without the show
    _act(step, card)
    step["episode"] = games["episode"]
    shown = [k for k in range(after["n_events"][0]) if PONES_HAND <= after["event_kind"][0, k] <= CRIB]
    step["phase"] = DEAL if shown else after["phase"]
    yield step
    for k in shown:
        step = step.copy()
        step["n_events"] = 1
        for name in ("event_player", "event_kind", "event_points"):
            step[name][0, 0] = after[name][0, k]
        seat, points = after["event_player"][0, k], after["event_points"][0, k]
        if points:
            step["pegged_from"][0, seat] = step["scores"][0, seat]
        step["scores"][0, seat] += points
        if k == shown[-1]:
            step["phase"] = after["phase"]
        yield step


def table_lines(view: PlayerViews) -> list[str]:
    """The view of the player of one decision, in lines of at most 80 columns.

    The cards of the hand have numbers; those that do not fit the count have a dash. Beside each count are its points.
    """
    (own, other), n_cards = view.scores[0].tolist(), int(view.opponent_cards[0])
    starter = f"   starter {format_card(int(view.starter[0]))}" if view.starter[0] >= 0 else ""
    discards = by_rank(view.discards[0])
    discarded = f"   discarded {format_cards(discards)}" if discards else ""
    dealer = " (dealer)"
    lines = [
        f"you {own}{dealer if view.is_dealer[0] else ''}   opponent {other}{'' if view.is_dealer[0] else dealer}, "
        f"{n_cards} card{'s' * (n_cards != 1)}{starter}{discarded}"
    ]
    laid = cards_laid(view)
    if laid:
        for name, seat in (("opponent", 1), ("you", 0)):
            lines.append(_row(name, [format_card(card.card) if card.seat == seat else "" for card in laid]))
        counts = (f"{card.count}+{card.points}" if card.points else str(card.count) for card in laid)
        lines.append(_row("count", counts))
    hand = by_rank(view.hand[0])
    can = [str(k) if view.action_mask[0, card] else "-" for k, card in enumerate(hand, start=1)]
    return [*lines, _row("your hand", map(format_card, hand)), _row("", can)]


def _row(name: str, cells: Iterable[str]) -> str:
    return f"{name:<10}{''.join(f'{cell:<6}' for cell in cells)}".rstrip()
