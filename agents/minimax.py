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

from typing import Annotated

import numpy as np

from crib_env import PlayerViews, crib_distribution, discard_statistics
from crib_env.agents.choosing import by_phase, legal_ranks, lowest_of_rank, next_discard, six_dealt
from crib_env.agents.lookahead import MOST_CARDS, measure
from crib_env.players.agent import Powers
from crib_env.values import Range

SHORT = 5  # with so many cards in both hands together, or fewer, the search reaches the end


def crib_bounds(six: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and the highest crib of each discard of hands (N, 6), over all completions: (N, 15) points."""
    possible = crib_distribution(six) > 0
    return possible.argmax(axis=2), possible.shape[2] - 1 - possible[:, :, ::-1].argmax(axis=2)


class MinimaxAgent:
    """Minimax by Anderson et al.; see the module.

    Args:
        depth: how many cards of the play to search, the own card included.
    """

    name = "minimax"
    powers = Powers(suits="unseen")

    def __init__(self, depth: Annotated[int, Range(1, MOST_CARDS)] = 3) -> None:
        self.depth = depth

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        return by_phase(views, self._discard, self._lay)

    def _discard(self, views: PlayerViews) -> np.ndarray:
        six = six_dealt(views)
        statistics, (least, most), is_dealer = discard_statistics(six), crib_bounds(six), views.is_dealer[:, None]
        values = statistics["hand_mean"] + np.where(is_dealer, least, -most)
        return next_discard(views, values, np.where(is_dealer, 1, -1) * statistics["crib_mean"])

    def _lay(self, views: PlayerViews) -> np.ndarray:
        depths = np.where(MOST_CARDS - views.n_laid <= SHORT, MOST_CARDS, self.depth)
        expected = np.where(legal_ranks(views), measure(views, depths).expected, -np.inf)
        return lowest_of_rank(views, expected.argmax(axis=1))
