"""The baselines ``random`` and ``greedy``, and ``careful``, one step above them."""

from __future__ import annotations

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.choosing import cards_of, word_of
from crib_env.kernels import kernel, mask_of, streams
from crib_env.players.agent import Powers
from crib_env.players.policies import (
    CAREFUL,
    GREEDY,
    careful_discard,
    careful_play,
    greedy_discard,
    greedy_play,
    random_card,
)


@kernel
def _random_cards(action_mask, game_ids, decisions, seed, cards):
    for b in range(len(cards)):
        cards[b] = random_card(cards_of(action_mask[b]), word_of(seed, game_ids[b], decisions[b]))


class RandomAgent:
    """Any legal card, with equal probability.

    Args:
        seed: of its random stream; a choice depends only on it, the game's id and the decision's number.
    """

    name = "random"
    powers = Powers(mixes="known", suits="unseen", remembers_discards=False, sees_starter=False)

    def __init__(self, seed: int = 0) -> None:
        self._seed = streams(seed, 1)[0]

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        cards = np.empty(len(views), np.int64)
        _random_cards(views.action_mask, views.game_ids, views.decisions, self._seed, cards)
        return cards

    def probabilities(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.MixedAgent`."""
        return views.action_mask / views.action_mask.sum(axis=1, keepdims=True)


@kernel
def _fill_cards(policy, views, cards):
    for b in range(len(cards)):
        is_dealer = views.is_dealer[b]
        if views.hand[b, 4] >= 0:  # to discard two of six
            held, discarded = mask_of(views.hand[b]), mask_of(views.discards[b])
            if policy == GREEDY:
                cards[b] = greedy_discard(held, discarded, is_dealer)
            else:
                cards[b] = careful_discard(held, discarded, is_dealer)
            continue
        legal, laid, n_laid = cards_of(views.action_mask[b]), views.laid[b], np.int64(views.n_laid[b])
        start, count = np.int64(views.pile_start[b]), np.int64(views.count[b])
        if policy == GREEDY:
            cards[b] = greedy_play(legal, laid, start, n_laid, count)
        else:
            cards[b] = careful_play(legal, laid, start, n_laid, count, np.int64(views.opponent_cards[b]))


def _policy_cards(policy: int, views: PlayerViews) -> np.ndarray:
    cards = np.empty(len(views), np.int64)
    _fill_cards(policy, views.arrays, cards)
    return cards


class GreedyAgent:
    """The common baseline: the discard with the best exact mean, the card with the most points at once.

    Discards: mean of the kept four over the 46 starters, plus, as dealer, the mean of the crib against uniformly
    random opposing discards; ties go to the first pair in the order of ids. Play: ties go to the highest value,
    then the lowest id.
    """

    name = "greedy"
    powers = Powers(suits="ties", remembers_discards=False, sees_starter=False)

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        return _policy_cards(GREEDY, views)


class CarefulAgent:
    """Looks one card further than ``greedy``: it also considers the opponent's next card.

    Discards: the mean of the kept four, plus that of the crib as dealer, minus that of the crib as pone, against
    uniformly random opposing discards. Play: points at once, minus seven tenths of the expected reply of an
    opponent whose cards may be of any rank; ties go to the lowest id.
    """

    name = "careful"
    powers = Powers(suits="ties", remembers_discards=False, sees_starter=False)

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        return _policy_cards(CAREFUL, views)
