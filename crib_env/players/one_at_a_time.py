"""Agents that decide one hand at a time, with two methods: ``throw`` and ``lay``.

    class MyPlayer:
        name = "my player"

        def throw(self, view):           # six cards in view.hand
            return view.hand[:2]         # two of them, for the crib

        def lay(self, view):
            return view.legal[0]         # one card

    agent = crib_env.OneAtATime(MyPlayer())

Cards may be ids or text: ``(4, 10)``, ``["5C", "JC"]`` or ``"5C JC"``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

import numpy as np

from crib_env.cards import Card, format_cards, parse_cards
from crib_env.players.agent import NEEDS, declared
from crib_env.scoring import COUNT_LIMIT, card_value
from crib_env.views import PlayerViews


@dataclass(frozen=True)
class Decision:
    """One decision from its player's point of view. Cards are ids, ``13 * suit + rank``, lowest first unless stated
    otherwise."""

    hand: tuple[int, ...]
    """Cards held: six before the first discard, then up to four."""
    legal: tuple[int, ...]
    """The cards that may be laid."""
    discards: tuple[int, ...]
    """The player's own discards, once both are made."""
    kept: tuple[int, ...]
    """The four cards kept, once both discards are made."""
    starter: int | None
    laid: tuple[int, ...]
    """The play of this deal, oldest first."""
    laid_by: tuple[int, ...]
    """Who laid each card: 0 this player, 1 the opponent."""
    pile_ranks: tuple[int, ...]
    """The ranks (0 ace to 12 king) laid in this count, oldest first."""
    count: int
    said_go: tuple[bool, bool]
    """Who has said go in this count: this player, the opponent."""
    scores: tuple[int, int]
    """Own score, and the opponent's."""
    is_dealer: bool
    opponent_cards: int
    """How many cards the opponent holds."""
    game_id: int
    """Key for the player's memory of a game."""
    decision: int
    """Decisions taken in the game before this one, by both players."""

    @property
    def pile(self) -> tuple[int, ...]:
        """The cards laid in this count, oldest first."""
        return self.laid[len(self.laid) - len(self.pile_ranks) :]

    @property
    def history(self) -> tuple[tuple[int, int | None], ...]:
        """The play of this deal, oldest first: by whom (0 this player, 1 the opponent), and the card; ``None`` is a go.

        A player without cards does not say go.
        """
        left = [len(self.hand) + self.laid_by.count(0), self.opponent_cards + self.laid_by.count(1)]
        told: list[tuple[int, int | None]] = []
        count, has_gone = 0, False
        acts = 0 if self.legal else 1
        for card, by, next_card, next_by in zip(
            self.laid, self.laid_by, (*self.laid[1:], None), (*self.laid_by[1:], acts)
        ):
            told.append((by, card))
            left[by] -= 1
            count += card_value(card % 13)
            # A card that would still fit belongs to this count: its player had to lay it.
            is_over = not self.pile_ranks if next_card is None else count + card_value(next_card % 13) > COUNT_LIMIT
            if count < COUNT_LIMIT and left[1 - by] and not has_gone and (is_over or next_by == by):
                told.append((1 - by, None))
                has_gone = True
            if is_over:
                count, has_gone = 0, False
        return tuple(told)


class OneDecisionPlayer(Protocol):
    """A player for :class:`OneAtATime`. It may declare ``powers`` as an agent does."""

    name: str

    def throw(self, view: Decision) -> str | Iterable[Card]:
        """Two of the six cards of ``view.hand``, for the crib."""

    def lay(self, view: Decision) -> Card:
        """One of the cards of ``view.legal``."""


class OneAtATime:
    """An agent that asks a player for one decision at a time, and remembers the second card of a discard.

    Args:
        player: has a name, ``throw(view)`` and ``lay(view)``, and may declare its :class:`crib_env.Powers`. If it
            watches, it has ``observe_deal`` as an agent has it.
    """

    def __init__(self, player: OneDecisionPlayer) -> None:
        missing = [method for method in ("throw", "lay") if not callable(getattr(player, method, None))]
        if missing or not isinstance(getattr(player, "name", None), str):
            lacks = f"method {missing[0]}(view)" if missing else "name"
            raise ValueError(f"{type(player).__name__} is no player for OneAtATime: it has no {lacks}")
        self.player, self.name, self.powers = player, player.name, declared(player)
        if self.powers.mixes == "known":
            raise ValueError(f"agent {self.name!r}: a player for OneAtATime has no probabilities")
        for power, name in NEEDS.items():
            if getattr(self.powers, power) is True:
                setattr(self, name, getattr(player, name))
        self._begun: dict[int, list[int]] = {}  # by game: two discards of which the first is made

    def act(self, views: PlayerViews) -> np.ndarray:
        """One legal card for each of B decisions, (B,) int64; ``ValueError`` names an answer that is not allowed."""
        return np.array([self._card(view) for view in decisions(views)], np.int64)

    def _card(self, view: Decision) -> int:
        if len(view.hand) <= 4:
            return self._ask("lay", view, view.legal, 1)[0]
        thrown = view.discards
        pair = self._begun.pop(view.game_id, []) if thrown else []
        if not set(thrown) < set(pair) <= {*view.hand, *thrown}:  # not what this player has begun
            hand = tuple(sorted(view.hand + thrown))
            pair = self._ask("throw", replace(view, hand=hand, discards=()), hand, 2, thrown)
        if not thrown:
            self._begun[view.game_id] = pair
        return pair[1] if pair[0] in thrown else pair[0]

    def _ask(self, method: str, view: Decision, allowed: Sequence[int], n: int, among: Sequence[int] = ()) -> list[int]:
        """The cards that the player answers: ``n`` of those allowed, ``among`` them those thrown before."""
        given, fault = getattr(self.player, method)(view), ""
        try:
            cards = parse_cards(given if n > 1 or isinstance(given, str) else [given])
        except (ValueError, TypeError) as error:
            cards, fault = [], f" ({error})"
        if len(cards) != n or not set(among) <= set(cards) <= set(allowed):
            position = f"with {format_cards(view.hand)} at {view.scores[0]}–{view.scores[1]}"
            if view.laid:
                position += f" after {format_cards(view.laid)}, a count of {view.count}"
            wanted = f"{n} of {format_cards(allowed)}" + (f", with {format_cards(among)}" if among else "")
            gave = f"{format_cards(cards) or repr(given)}{fault}"
            raise ValueError(
                f"agent {self.name!r} in game {view.game_id}, {position}: {method} gave {gave}, give {wanted}"
            )
        return cards


_OF_VIEWS = {"game_id": "game_ids", "decision": "decisions"}  # fields of a decision that views call by another name
_NAMES = [field.name for field in fields(Decision) if field.name != "legal"]


def decisions(views: PlayerViews) -> Iterator[Decision]:
    """The decisions of a batch one by one, with cards as plain numbers: what :class:`OneAtATime` gives to a player."""
    columns = [getattr(views, _OF_VIEWS.get(name, name)).tolist() for name in _NAMES]
    for mask, *row in zip(views.action_mask, *columns):
        values: dict[str, Any] = {
            name: tuple(item for item in value if item != -1) if isinstance(value, list) else value
            for name, value in zip(_NAMES, row)
        }
        values["starter"] = None if values["starter"] < 0 else values["starter"]
        yield Decision(legal=tuple(mask.nonzero()[0].tolist()), **values)
