"""Minimax: discards by the worst or best possible crib, and a search of the play a few cards deep.

After Anderson, Amiri, Sharan and Ding (2022), "Cribbage Project", section "Minimax".

Discards, by their text: the dealer adds the lowest possible crib to the hand, pone subtracts the highest. Here the hand
is its exact mean over the 46 starters, and the lowest and highest cribs are over all completions. The exact mean of the
crib breaks ties. All completions count, without enumerating them: :func:`crib_env.crib_distribution` gives them.

The play: MAX maximises its points minus the opponent's, MIN minimises them. The chance node deals the opponent every
hand that the unseen cards allow and no go has ruled out, weighted by the number of ways to draw it. For each such hand
(at most 1,820 by ranks) alpha-beta searches the next ``depth`` cards, and the card with the best mean over the
hands is laid. With at most ``SHORT`` cards in both hands together, the search goes to the end of the play.

Differences: the text describes minimax with chance nodes, but the code printed beside it averages the opponent's
points over single unseen cards and never reaches a third card. This module follows the text. The chance node deals a
whole hand, so MIN chooses only among cards that it can hold, and go is said when it must be. Below that node both sides
see both hands, so MAX adapts to cards that it cannot see; at depth 3 this affects only its one answer. Like theirs, it
ignores the score of the game and the end at 121. We tried star pruning of the chance node (Ballard 1983), and it was
no faster: at these depths, probing every hand costs as much as it saves.
"""

from __future__ import annotations

import numpy as np

from crib_env import PlayerViews, crib_distribution, discard_statistics
from crib_env.agents.choosing import by_phase, next_discard, six_dealt
from crib_env.agents.lookahead import (
    MOST_CARDS,
    N_HANDS,
    decision_of,
    look_ahead,
    lowest_of_rank,
    new_levels,
    without_rank,
)
from crib_env.kernels import kernel, lowest
from crib_env.players.agent import Powers

SHORT = 5  # with so many cards in both hands together, or fewer, the search reaches the end


@kernel
def _best_cards(views, depth, levels, weights, cards):
    for b in range(len(cards)):
        pile, own, choices, _, _, n_hands = decision_of(views, b, levels, weights)
        best, best_total, found = lowest(choices) >> 2, np.int64(0), False
        if n_hands:
            cards_ahead, net = MOST_CARDS if MOST_CARDS - pile.n <= SHORT else depth, levels[0]["net"]
            while choices:
                rank = lowest(choices) >> 2
                choices = without_rank(choices, rank)
                look_ahead(pile, own, rank, cards_ahead, n_hands, levels)
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

    name = "minimax"
    powers = Powers(suits="unseen")

    def __init__(self, depth: int = 3) -> None:
        if not 1 <= depth <= MOST_CARDS:
            raise ValueError(f"agent 'minimax': depth={depth} is not allowed: give 1 to {MOST_CARDS}")
        self.depth = depth

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        return by_phase(views, self._discard, self._play)

    def _discard(self, views: PlayerViews) -> np.ndarray:
        six = six_dealt(views)
        statistics, cribs = discard_statistics(six), crib_distribution(six) > 0
        least, most = cribs.argmax(axis=2), cribs.shape[2] - 1 - cribs[:, :, ::-1].argmax(axis=2)
        is_dealer = views.is_dealer[:, None]
        values = statistics["hand_mean"] + np.where(is_dealer, least, -most)
        return next_discard(views, values, np.where(is_dealer, 1, -1) * statistics["crib_mean"])

    def _play(self, views: PlayerViews) -> np.ndarray:
        cards = np.empty(len(views), np.int64)
        levels, weights = new_levels(), np.empty(N_HANDS, np.int64)
        _best_cards(views.arrays, self.depth, levels, weights, cards)
        return cards
