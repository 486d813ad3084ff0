"""A player of exact best responses in whole deals, card by card, to see what they earn in the engine."""

import numpy as np

from crib_env import Powers
from crib_env.agents.choosing import lowest_of_rank, six_dealt
from crib_env.exact.deal_classes import class_of
from crib_env.exact.discard_statistics import PLACES
from crib_env.hands import HAND_TABLES, N_FOURS, N_HANDS, hand_number
from crib_env.solver.deal.holdings import fill_hands
from crib_env.solver.deal.responses import make_lanes, respond
from crib_env.solver.deal.sixes import number_of_six, sixes


class DealResponder:
    """Best responds to a policy.

    Args:
        game: the pegging game.
        chances: by the opponent's role (C,) of its choices.
        play: by the opponent's role (S,) how likely it lays each rank, for any starter.
        totals: by own role (962988, 15) what each discard is worth.
    """

    name = "deal-responder"
    powers = Powers()

    def __init__(self, game, chances, play, totals):
        self.game, self.chances, self.play, self.totals = game, chances, play, totals
        self._lanes = make_lanes()

    def act(self, views):
        cards = np.empty(len(views), np.int64)
        for row in range(len(views)):
            one = views[row : row + 1]
            cards[row] = self._discard(one) if views.is_discard[row] else self._lay(one)
        return cards

    def _discard(self, view):
        six = six_dealt(view)
        classes, renamed = class_of(six)
        pairs = six[0][renamed[0].argsort()][PLACES]
        discarded = view.discards[0, 0]
        values = self.totals[int(view.is_dealer[0])][classes[0]].copy()
        if discarded >= 0:
            values[~(pairs == discarded).any(axis=1)] = -np.inf
        pair = pairs[values.argmax()]
        return pair[1] if pair[0] == discarded else pair[0]

    def _lay(self, view):
        ranks = np.flatnonzero(view.action_mask[0].reshape(4, 13).any(axis=0))
        if len(ranks) == 1:
            return lowest_of_rank(view, ranks)[0]
        role = int(view.is_dealer[0])
        laid = [(int(card) % 13, int(by)) for card, by in zip(view.laid[0], view.laid_by[0]) if card >= 0]
        hand = [int(card) % 13 for card in view.hand[0] if card >= 0]
        six = hand + [rank for rank, by in laid if not by] + [int(card) % 13 for card in view.discards[0]]
        node, reach = self._follow(laid, role, min(hand), six, int(view.starter[0]) % 13)
        k = int(self.game.nodes[node]["n_cards"][1 - role])
        self._lanes.reach[:] = 0
        self._lanes.reach[k, 0, : len(reach), 0] = reach / reach.sum()
        respond(self.game.arrays, self.play[1 - role][None], role, int(hand_number(hand)), self._lanes, node)
        return lowest_of_rank(view, self._lanes.best[:1])[0]

    def _follow(self, laid, role, lowest, six, starter):
        """The node at which the player is to lay a card, and the weights of the opponent's hands there."""
        nodes, links, kinds = self.game.nodes, self.game.tree.links, sixes()
        held, at = np.zeros((1, N_FOURS)), 0
        chances = self.chances[1 - role]
        kind = number_of_six(np.array([six]))[0]
        groups, ways = np.zeros(len(chances), np.int8), np.zeros(len(kinds.counts))
        fill_hands(chances, chances.nonzero()[0], groups, kind, starter, kinds, ways, held)
        reach = held[0]
        for n, (rank, by) in enumerate([*laid, (lowest, 0)]):
            actor = role if by == 0 else 1 - role
            while nodes[at]["actor"] != actor or rank >= nodes[at]["high"]:
                node = nodes[at]
                low, high = int(node["floor"][node["actor"]]), int(node["high"])
                if node["actor"] != role:
                    reach[N_HANDS[node["n_cards"][1 - role], max(low, high)] :] = 0
                at = int(links[node["first_link"] + max(high - low, 0)]["to"])
            if n == len(laid):
                return at, reach
            node, k = nodes[at], int(nodes[at]["n_cards"][actor])
            low = int(node["floor"][actor])
            if actor != role:
                n_left = N_HANDS[k - 1, low]
                with_rank = HAND_TABLES.with_rank[k - 1, rank, :n_left]
                slot = node["first_slot"] + (rank - low) * n_left
                reach = reach[with_rank] * (self.play[actor][slot : slot + n_left] if k > 1 else 1)
            at = int(links[node["first_link"] + rank - low]["to"])
        raise AssertionError
