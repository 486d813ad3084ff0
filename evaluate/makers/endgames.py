"""Endgames of the suite: positions in which one rank wins for certain.

A search finds them: the opponent's cards are not dealt but chosen as they are laid, from all that the player has not
seen and that the opponent's goes allow. A strategy that wins against this opponent wins against every hand and every
reply, and the other way round. The rules of the play are those of :mod:`crib_env.solver.public_state`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from crib_env import score_show
from crib_env.batch import GameBatch
from crib_env.engine import DEALER, PLAY, PONE, WIN, act
from crib_env.evaluate.skill.positions import NO_CARD
from crib_env.evaluate.skill.suite.endgames import Endgames, N
from crib_env.evaluate.skill.suite.task import SEED
from crib_env.hands import N_RANKS
from crib_env.players.policies import CAREFUL
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

_NEAREST, _FARTHEST = 1, 14  # points that the players of an endgame still need
_CHOICES = 3  # at least so many ranks to choose from, one of which wins for certain
_WINS_AT_ONCE = 4  # endgames in which a card reaches 121
_MOST_IN_CRIB = 29


def make_endgames(on_progress: Callable[[int, int], None]) -> Endgames:
    """Positions of deals that two ``careful`` players played near the end, where one rank wins for certain."""
    made = Endgames(
        np.zeros((N, 13), np.int8),
        np.zeros(N, np.int8),
        np.zeros((N, 2), np.int8),
        np.full((N, 11), NO_CARD, np.int8),
        np.zeros((N, N_RANKS), np.int8),
    )
    n, at_once, rng = 0, 0, np.random.default_rng(SEED)
    while n < N:
        start = WIN - rng.integers(_NEAREST, _FARTHEST + 1, 2)
        batch = GameBatch(rng.integers(2**63, size=1).astype(np.uint64), scores=(int(start[0]), int(start[1])))
        done: list[int] = []
        while len(rows := batch.acting()) and batch.games["n_deals"][0] == 1:
            g = batch.games[0]
            if g["phase"] == PLAY and g["n_laid"] >= 1:
                found = sure_cards_of(g)
                here = any(_wins_at_once(g, rank) for rank in found)
                one_wins = Counter(found.values()) == {True: 1, False: len(found) - 1}
                if len(found) >= _CHOICES and one_wins and at_once + here <= _WINS_AT_ONCE:
                    at_once += here
                    made.deals[n], made.dealers[n], made.scores[n] = g["cards"], g["dealer"], start
                    made.cards[n, : len(done)] = done
                    made.best[n, [rank for rank, sure in found.items() if sure]] = 1
                    n += 1
                    on_progress(n, N)
                    break
            (card,) = batch.native_cards(rows, CAREFUL)
            done.append(int(card))
            batch.step(rows, np.array([card]))
    return made


def sure_cards_of(g: np.void) -> dict[int, bool | None]:
    """Whether each rank wins for certain that the player to act in a game may lay (:func:`sure_cards`)."""
    seat, pone = int(g["turn"]), 1 - int(g["dealer"])
    by_role = [pone, 1 - pone]
    return sure_cards(
        Known(
            by_role.index(seat),
            _cards(g["kept"][seat]),
            _cards(g["discards"][seat]),
            int(g["cards"][12]),
            tuple((by_role.index(int(by)), int(card)) for by, card in zip(g["laid_by"], g["laid"]) if card >= 0),
            (int(g["scores"][pone]), int(g["scores"][1 - pone])),
        )
    )


def _wins_at_once(g: np.void, rank: int) -> bool:
    after, seat = np.array([g]), int(g["turn"])
    act(after[0], next(card for card in _cards(g["hand"][seat]) if card % N_RANKS == rank))
    return bool(after["scores"][0, seat] >= WIN)


def _cards(mask: int) -> tuple[int, ...]:
    return tuple(card for card in range(52) if int(mask) >> card & 1)


class _UnclearError(Exception):
    """Whether a card wins for certain depends on suits or on the crib, which the search leaves out."""


class Known(NamedTuple):
    """What the player knows of a deal in the play."""

    role: int
    """The player's, ``PONE`` or ``DEALER``."""
    kept: tuple[int, ...]
    """Its four cards."""
    discards: tuple[int, ...]
    starter: int
    laid: tuple[tuple[int, int], ...]
    """Roles and cards laid, oldest first."""
    scores: tuple[int, int]
    """By role, now."""


class _Position(NamedTuple):
    state: np.ndarray
    scores: tuple[int, int]
    own: tuple[int, ...]
    """How many cards of each rank the player holds."""
    unseen: tuple[int, ...]
    """The same for the cards that the player has not seen."""
    others: tuple[int, ...]
    """Ranks that the opponent has laid."""


def sure_cards(known: Known) -> dict[int, bool | None]:
    """Whether each rank that the player may lay now wins for certain; ``None`` where the search cannot tell."""
    search = _Search(known)
    here = search.begin()
    return {rank: search.wins_after(here, rank) for rank in search.playable(here)}


class _Search:
    def __init__(self, known: Known) -> None:
        self._known, self._me = known, known.role
        self._seen = {*known.kept, *known.discards, known.starter, *(card for _, card in known.laid)}

    def begin(self) -> _Position:
        """The present position."""
        state = start_of_play()
        for role, card in self._known.laid:
            self._until(state, role, card % N_RANKS)
            lay_rank(state, card % N_RANKS)
        own_laid = {card for role, card in self._known.laid if role == self._me}
        self._until(state, self._me, min(card % N_RANKS for card in self._known.kept if card not in own_laid))
        return _Position(
            state,
            self._known.scores,
            _counts(card for card in self._known.kept if card not in own_laid),
            _counts(card for card in range(52) if card not in self._seen),
            tuple(card % N_RANKS for role, card in self._known.laid if role != self._me),
        )

    def _until(self, state: np.ndarray, role: int, rank: int) -> None:
        """Says go until a role can lay a rank."""
        while state[ACTOR] != role or rank >= n_playable_ranks(state[COUNT]):
            say_go(state)

    def playable(self, at: _Position) -> list[int]:
        """The ranks that the player may lay."""
        return [rank for rank in range(n_playable_ranks(at.state[COUNT])) if at.own[rank]]

    def wins_after(self, at: _Position, rank: int) -> bool | None:
        """Whether the player wins for certain once it has laid a rank; ``None`` if that is unclear."""
        try:
            return self._wins_after(at, rank)
        except _UnclearError:
            return None

    def _wins_after(self, at: _Position, rank: int) -> bool:
        state = at.state.copy()
        lay_rank(state, rank)
        return self._wins(_scored(at._replace(state=state, own=_less(at.own, rank)), at.state))

    def _wins(self, at: _Position) -> bool:
        if at.scores[self._me] >= WIN:
            return True
        if at.scores[1 - self._me] >= WIN:
            return False
        state = at.state
        if state[CARDS] + state[CARDS + 1] == 0:
            return self._wins_show(at)
        if state[ACTOR] == self._me:
            ranks = self.playable(at)
            return any(self._wins_after(at, rank) for rank in ranks) if ranks else self._wins(self._gone(at))
        return all(self._wins(reply) for reply in self._replies(at))

    def _replies(self, at: _Position) -> list[_Position]:
        """What the opponent may do, where it can hold the cards to do it."""
        state, other = at.state, 1 - self._me
        n, floor, high = int(state[CARDS + other]), int(state[FLOOR + other]), int(n_playable_ranks(state[COUNT]))
        replies = []
        for rank in range(high - 1, floor - 1, -1):
            if at.unseen[rank] and sum(at.unseen[floor:]) >= n:
                after = state.copy()
                lay_rank(after, rank)
                laid = at._replace(state=after, unseen=_less(at.unseen, rank), others=(*at.others, rank))
                replies.append(_scored(laid, state))
        if sum(at.unseen[max(floor, high) :]) >= n:
            replies.append(self._gone(at))
        return replies

    def _gone(self, at: _Position) -> _Position:
        state = at.state.copy()
        say_go(state)
        return _scored(at._replace(state=state), at.state)

    def _wins_show(self, at: _Position) -> bool:
        """After the last card, by what may be shown."""
        known, deals = self._known, self._me == DEALER
        own = at.scores[self._me] + score_show(list(known.kept), known.starter)
        theirs = self._opponents_hands(at.others) if deals else {0}
        winners = {winner_by_hands(own, at.scores[1 - self._me] + points, deals) for points in theirs}
        if len(winners) > 1 or (deals and winners == {-1} and own + _MOST_IN_CRIB >= WIN):
            raise _UnclearError
        return winners == {1}

    def _opponents_hands(self, ranks: Sequence[int]) -> set[int]:
        """Points that the opponent's four cards of these ranks may count, by their suits."""
        faceup = [card for role, card in self._known.laid if role != self._me]
        later = ranks[len(faceup) :]
        suits = [[13 * suit + rank for suit in range(4) if 13 * suit + rank not in self._seen] for rank in later]
        hands = ([*faceup, *cards] for cards in product(*suits))
        return {score_show(hand, self._known.starter) for hand in hands if len(set(hand)) == 4}


def _counts(cards: Iterable[int]) -> tuple[int, ...]:
    counts = [0] * N_RANKS
    for card in cards:
        counts[card % N_RANKS] += 1
    return tuple(counts)


def _less(counts: tuple[int, ...], rank: int) -> tuple[int, ...]:
    return (*counts[:rank], counts[rank] - 1, *counts[rank + 1 :])


def _scored(at: _Position, before: np.ndarray) -> _Position:
    """Adds the points of the last step."""
    pone, dealer = (at.state[POINTS : POINTS + 2] - before[POINTS : POINTS + 2]).tolist()
    return at._replace(scores=(at.scores[PONE] + pone, at.scores[DEALER] + dealer))
