"""Cards that win an endgame for certain, whatever the opponent holds and lays.

A search finds them: the opponent's cards are not dealt but chosen as they are laid, from all that the player has not
seen and that the opponent's goes allow. A strategy that wins against this opponent wins against every hand and every
reply, and the other way round. The rules of the play are those of :mod:`crib_env.solver.public_state`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from crib_env import score_show
from crib_env.engine import DEALER, PONE, WIN
from crib_env.hands import N_RANKS
from crib_env.solver.public_state import (
    ACTOR,
    CARDS,
    COUNT,
    FLOOR,
    POINTS,
    lay_rank,
    n_playable_ranks,
    say_go,
    start_of_play,
)
from crib_env.tables.deal_chances import winner_by_hands
from tests.helpers.hidden_cards import cards_of

_MOST_IN_CRIB = 29


class _UnclearError(Exception):
    """Whether a card wins for certain depends on suits or on the crib, which the search leaves out."""


class _Position(NamedTuple):
    state: np.ndarray
    """Of :mod:`crib_env.solver.public_state`."""
    scores: tuple[int, int]
    """By role."""
    own: tuple[int, ...]
    """How many cards of each rank the player holds."""
    unseen: tuple[int, ...]
    """The same for the cards that the player has not seen."""
    others: tuple[int, ...]
    """Ranks that the opponent has laid."""


def sure_cards_of(g: np.void) -> dict[int, bool | None]:
    """Whether each rank wins for certain that the player to act in a game may lay; ``None`` where the search cannot
    tell."""
    return _Search(g).sure_cards()


class _Search:
    def __init__(self, g: np.void) -> None:
        by_role = [1 - int(g["dealer"]), int(g["dealer"])]
        self._me = by_role.index(int(g["turn"]))
        self._kept, self._starter = cards_of(g["kept"][g["turn"]]), int(g["cards"][12])
        self._laid = [(by_role.index(int(by)), int(card)) for by, card in zip(g["laid_by"], g["laid"]) if card >= 0]
        self._seen = {
            *self._kept,
            *cards_of(g["discards"][g["turn"]]),
            self._starter,
            *(card for _, card in self._laid),
        }
        held = [card % N_RANKS for card in cards_of(g["hand"][g["turn"]])]
        state = start_of_play()
        for role, card in self._laid:
            self._until(state, role, card % N_RANKS)
            lay_rank(state, card % N_RANKS)
        self._until(state, self._me, min(held))
        self._start = _Position(
            state,
            (int(g["scores"][by_role[PONE]]), int(g["scores"][by_role[DEALER]])),
            _counts(held),
            _counts(card % N_RANKS for card in range(52) if card not in self._seen),
            tuple(card % N_RANKS for role, card in self._laid if role != self._me),
        )

    def _until(self, state: np.ndarray, role: int, rank: int) -> None:
        """Says go until a role can lay a rank."""
        while state[ACTOR] != role or rank >= n_playable_ranks(state[COUNT]):
            say_go(state)

    def sure_cards(self) -> dict[int, bool | None]:
        """See :func:`sure_cards_of`."""
        found: dict[int, bool | None] = {}
        for rank in self._playable(self._start):
            try:
                found[rank] = self._wins_after(self._start, rank)
            except _UnclearError:
                found[rank] = None
        return found

    def _playable(self, at: _Position) -> list[int]:
        return [rank for rank in range(n_playable_ranks(at.state[COUNT])) if at.own[rank]]

    def _wins_after(self, at: _Position, rank: int) -> bool:
        """Whether the player wins for certain once it has laid a rank."""
        return self._wins(_after(at._replace(own=_less(at.own, rank)), rank))

    def _wins(self, at: _Position) -> bool:
        if max(at.scores) >= WIN:
            return at.scores[self._me] >= WIN
        state = at.state
        if state[CARDS] + state[CARDS + 1] == 0:
            return self._wins_show(at)
        if state[ACTOR] == self._me:
            ranks = self._playable(at)
            return any(self._wins_after(at, rank) for rank in ranks) if ranks else self._wins(_after(at))
        return all(self._wins(reply) for reply in self._replies(at))

    def _replies(self, at: _Position) -> list[_Position]:
        """What the opponent may do, where it can hold the cards to do it."""
        state, other = at.state, 1 - self._me
        n, floor, high = int(state[CARDS + other]), int(state[FLOOR + other]), int(n_playable_ranks(state[COUNT]))
        replies = []
        for rank in range(high - 1, floor - 1, -1):
            if at.unseen[rank] and sum(at.unseen[floor:]) >= n:
                replies.append(_after(at._replace(unseen=_less(at.unseen, rank), others=(*at.others, rank)), rank))
        if sum(at.unseen[max(floor, high) :]) >= n:
            replies.append(_after(at))
        return replies

    def _wins_show(self, at: _Position) -> bool:
        """After the last card, by what may be shown."""
        deals = self._me == DEALER
        own = at.scores[self._me] + score_show(self._kept, self._starter)
        theirs = self._opponents_hands(at.others) if deals else {0}
        winners = {winner_by_hands(own, at.scores[1 - self._me] + points, deals) for points in theirs}
        if len(winners) > 1 or (deals and winners == {-1} and own + _MOST_IN_CRIB >= WIN):
            raise _UnclearError
        return winners == {1}

    def _opponents_hands(self, ranks: Sequence[int]) -> set[int]:
        """Points that the opponent's four cards of these ranks may count, by their suits."""
        faceup = [card for role, card in self._laid if role != self._me]
        later = ranks[len(faceup) :]
        suits = [[13 * suit + rank for suit in range(4) if 13 * suit + rank not in self._seen] for rank in later]
        hands = ([*faceup, *cards] for cards in product(*suits))
        return {score_show(hand, self._starter) for hand in hands if len(set(hand)) == 4}


def _counts(ranks: Iterable[int]) -> tuple[int, ...]:
    found = Counter(ranks)
    return tuple(found[rank] for rank in range(N_RANKS))


def _less(counts: tuple[int, ...], rank: int) -> tuple[int, ...]:
    return (*counts[:rank], counts[rank] - 1, *counts[rank + 1 :])


def _after(at: _Position, rank: int | None = None) -> _Position:
    """A position once a rank is laid, or go is said."""
    state = at.state.copy()
    if rank is None:
        say_go(state)
    else:
        lay_rank(state, rank)
    pone, dealer = (state[POINTS : POINTS + 2] - at.state[POINTS : POINTS + 2]).tolist()
    return at._replace(state=state, scores=(at.scores[PONE] + pone, at.scores[DEALER] + dealer))
