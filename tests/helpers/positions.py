"""Positions of the play from games between native players, for tests that state the right choice in plain Python."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.batch import GameBatch
from crib_env.engine import PLAY
from crib_env.kernels import streams
from crib_env.players.policies import CAREFUL, GREEDY, RANDOM
from tests.helpers.hidden_cards import cards_of
from tests.helpers.plain_play import OPPONENT, OWN

PAIRINGS = [(GREEDY, GREEDY), (CAREFUL, CAREFUL), (GREEDY, CAREFUL), (RANDOM, CAREFUL), (RANDOM, RANDOM)]


class Position(NamedTuple):
    """What the player to act knows, and the opponent's hand."""

    is_dealer: bool
    held: list
    discards: list
    starter: int
    laid: list  # of (seat, card)
    pile_start: int
    hidden: list

    @property
    def own_laid(self):
        return [card for seat, card in self.laid if seat == OWN]

    @property
    def other_laid(self):
        return [card for seat, card in self.laid if seat == OPPONENT]

    @property
    def own_four(self):
        return [*self.held, *self.own_laid]

    @property
    def unseen(self):
        known = {*self.own_four, *self.discards, self.starter, *self.other_laid}
        return [card for card in range(52) if card not in known]

    @property
    def is_fresh(self):
        """Whether the count is zero again."""
        return 0 < len(self.laid) == self.pile_start


def positions_of(batch, rows):
    seen, turns = batch.views(rows), batch.games["turn"][rows]
    for b, row in enumerate(rows):
        n = int((seen.laid[b] >= 0).sum())
        yield Position(
            is_dealer=bool(seen.is_dealer[b]),
            held=[int(card) for card in seen.hand[b] if card >= 0],
            discards=seen.discards[b].tolist(),
            starter=int(seen.starter[b]),
            laid=list(zip(seen.laid_by[b, :n].tolist(), seen.laid[b, :n].tolist())),
            pile_start=int(seen.pile_start[b]),
            hidden=cards_of(batch.games["hand"][row][1 - turns[b]]),
        )


def batches_in_play(n, seed, pairing):
    """Deals between two native players, at each decision of the play, with the rows that act."""
    batch = GameBatch(streams(seed, n), episode="deal")
    while len(rows := batch.acting()):
        in_play = rows[batch.games["phase"][rows] == PLAY]
        if len(in_play):
            yield batch, in_play
        cards = np.empty(len(rows), np.int64)
        seats = batch.games["turn"][rows]
        for seat, policy in enumerate(pairing):
            cards[seats == seat] = batch.native_cards(rows[seats == seat], policy)
        batch.step(rows, cards)


def positions(n_deals, seed, pairing=(CAREFUL, RANDOM)):
    return [
        position for batch, rows in batches_in_play(n_deals, seed, pairing) for position in positions_of(batch, rows)
    ]


def mask(cards):
    return np.int64(sum(1 << card for card in cards))


def laid_arrays(position):
    laid, laid_by = np.full((2, 8), -1, np.int8)
    for k, (seat, card) in enumerate(position.laid):
        laid[k], laid_by[k] = card, seat
    return laid, laid_by
