"""Minimax: discards by the worst or best crib there can be, and a search of the play a few cards deep.

After Anderson, Amiri, Sharan and Ding (2022), "Cribbage Project", section "Minimax".

Discards, by their text: as dealer the hand plus the least that the crib can be worth, as pone the hand less the most.
The hand is taken at its exact mean over the 46 starters, least and most are over all completions of the crib; pairs of
equal value are told apart by the exact mean of the crib. No completion is left out, and none is drawn up singly: they
come from :func:`crib_env.crib_distribution`.

The play: MAX lays to make its points less the opponent's as many as can be, MIN to make them few. Chance has dealt the
opponent any of the hands that the unseen cards allow, each as likely as there are ways to draw it, less those that a go
has ruled out. For each such hand (at most 1,820 by ranks) the next ``depth`` cards are searched with alpha-beta
pruning, and the card with the best mean over the hands is laid. When at most ``SHORT`` cards are held by both together
the search goes to the end of the play.

Where this differs: the text describes minimax with chance nodes, the code printed beside it averages the opponent's
points over single unseen cards and never reaches a third card. This is the text: a whole hand is drawn at the chance
node, so that MIN chooses among cards that it can hold, and goes are said when they must be. From then on both sides see
both hands, which lets MAX adapt to cards that it cannot see; at depth 3 that concerns only its one answer. Neither the
score of the game nor 121 is looked at, there as here. Star pruning of the chance node (Ballard 1983) was tried and
saved nothing: at these depths a probe of every hand costs as much as it spares.
"""

from __future__ import annotations

import numpy as np

from agents.belief.lookahead import (
    FREE,
    MOST_CARDS,
    N_HANDS,
    Pile,
    least_value,
    look_ahead,
    lowest_of_rank,
    new_levels,
    packed,
    possible_hands,
    read_laid,
    that_fit,
    unseen_by,
    without_rank,
)
from agents.discards import by_phase, next_thrown, six_dealt
from crib_env import PlayerViews, crib_distribution, discard_statistics
from crib_env.kernels import kernel, lowest

SHORT = 5  # cards in both hands together from which on the end is reached


@kernel
def _best_cards(views, depth, levels, weights, cards):
    ranks = np.empty(MOST_CARDS, np.int64)
    for b in range(len(cards)):
        n = read_laid(views.laid[b], ranks)
        start, now = np.int64(views.pile_start[b]), np.int64(views.count[b])
        own = packed(views.hand[b])
        choices = that_fit(own, now)
        best, best_total, found = lowest(choices) >> 2, np.int64(0), False
        if without_rank(choices, best):  # else nothing is to be decided
            unseen = unseen_by(views.hand[b], views.discards[b], views.starter[b], views.laid[b])
            least = least_value(views.laid[b], views.laid_by[b], start, n)
            n_hands = possible_hands(unseen, least, np.int64(views.opponent_cards[b]), levels[0]["rest"], weights)
            cards_ahead = MOST_CARDS if MOST_CARDS - n <= SHORT else depth
            pile, net = Pile(ranks, start, n, now), levels[0]["net"]
            while choices:
                rank = lowest(choices) >> 2
                choices = without_rank(choices, rank)
                look_ahead(pile, own, rank, FREE, cards_ahead, n_hands, levels)
                total = np.int64(0)
                for k in range(n_hands):
                    total += weights[k] * net[k]
                if not found or total > best_total:
                    best, best_total, found = rank, total, True
        cards[b] = lowest_of_rank(views.action_mask[b], best)


class MinimaxAgent:
    """Minimax by Anderson et al.; see the module.

    Args:
        depth: how many cards of the play to search, 1 to 8, the own card included.

    Raises:
        ValueError: ``depth`` is out of range.
    """

    def __init__(self, depth: int = 3) -> None:
        if not 1 <= depth <= MOST_CARDS:
            raise ValueError(f"agent 'minimax': depth={depth} is not allowed: give 1 to {MOST_CARDS}")
        self.depth = depth
        self.name = "minimax" if depth == 3 else f"minimax:depth={depth}"

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`agents.agent.Agent`."""
        return by_phase(views, self._discard, self._play)

    def _discard(self, views: PlayerViews) -> np.ndarray:
        six = six_dealt(views)
        statistics, cribs = discard_statistics(six), crib_distribution(six) > 0
        least, most = cribs.argmax(axis=2), cribs.shape[2] - 1 - cribs[:, :, ::-1].argmax(axis=2)
        is_dealer = views.is_dealer[:, None]
        values = statistics["hand_mean"] + np.where(is_dealer, least, -most)
        return next_thrown(views, values, np.where(is_dealer, 1, -1) * statistics["crib_mean"])

    def _play(self, views: PlayerViews) -> np.ndarray:
        cards = np.empty(len(views), np.int64)
        levels, weights = new_levels(), np.empty(N_HANDS, np.int64)
        _best_cards(views.arrays, self.depth, levels, weights, cards)
        return cards
