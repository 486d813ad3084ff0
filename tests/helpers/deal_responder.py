"""A player of exact best responses in whole deals, to see what they earn in the engine."""

from itertools import pairwise

import numpy as np

from crib_env import Powers
from crib_env.agents.choosing import lowest_of_rank, six_dealt
from crib_env.exact.deal_classes import class_of
from crib_env.exact.discard_statistics import PLACES
from crib_env.hands import HAND_TABLES, N_FOURS, N_HANDS, hand_number
from crib_env.solver.deal.best_response import LANES, make_lanes, respond
from crib_env.solver.deal.kinds import fill_hands, sixes

NOTHING_LAID = 13


def number_of_six(ranks):
    """The kinds (N,) of six ranks (N, 6)."""
    kinds = sixes()
    return kinds.six[kinds.choice[hand_number(ranks[:, :4]), hand_number(ranks[:, 4:])]]


class DealResponder:
    """Best responds to a policy. Decisions at one node with one hand are made in one walk of what is below it.

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
        self._made = [of_role.nonzero()[0] for of_role in chances]
        self._ways = np.zeros(len(sixes().counts))
        self._lanes = make_lanes()
        self._held = {}

    def act(self, views):
        fits = views.action_mask.reshape(-1, 4, 13).any(axis=1)
        ranks = fits.argmax(axis=1)
        chosen = ~views.is_discard & (fits.sum(axis=1) > 1)
        ranks[chosen] = self._lay(views[chosen])
        cards = lowest_of_rank(views, ranks)
        cards[views.is_discard] = self._discard(views[views.is_discard])
        return cards

    def _discard(self, views):
        six = six_dealt(views)
        classes, renamed = class_of(six)
        pairs = np.take_along_axis(six, renamed.argsort(axis=1), axis=1)[:, PLACES]
        first = views.discards[:, 0]
        values = np.where(views.is_dealer[:, None], self.totals[1][classes], self.totals[0][classes])
        values = np.where((first < 0)[:, None] | (pairs == first[:, None, None]).any(axis=2), values, -np.inf)
        pair = pairs[np.arange(len(six)), values.argmax(axis=1)]
        return np.where(pair[:, 0] == first, pair[:, 1], pair[:, 0])

    def _lay(self, views):
        """(N,) ranks, of at least two that fit."""
        laid = np.where(views.laid >= 0, views.laid.astype(np.int64) % 13, NOTHING_LAID)
        mine = np.where((views.laid >= 0) & (views.laid_by == 0), laid, -1)
        hand = np.where(views.hand >= 0, views.hand.astype(np.int64) % 13, -1)
        dealt = np.sort(np.concatenate([hand, mine, views.discards.astype(np.int64) % 13], axis=1), axis=1)[:, -6:]
        keys = (
            number_of_six(dealt) * 13 + views.starter % 13,  # what the opponent cannot hold
            np.where(hand >= 0, 1 << 3 * hand, 0).sum(axis=1),
            ((laid << 4 * np.arange(8)).sum(axis=1) * 256 + (mine >= 0) @ (1 << np.arange(8))) * 2 + views.is_dealer,
        )
        order = np.lexsort(keys)
        known, hands, course = (key[order] for key in keys)
        starts = np.ones(len(order), bool)
        starts[1:] = (hands[1:] != hands[:-1]) | (course[1:] != course[:-1])
        alike = np.append(starts.nonzero()[0], len(order))
        ranks = np.empty(len(order), np.int64)
        for first, last in pairwise(alike):
            row, others = order[first], np.unique(known[first:last], return_inverse=True)
            held = hand[row][hand[row] >= 0]
            n = int((laid[row] < NOTHING_LAID).sum())
            done = list(zip(laid[row, :n].tolist(), (mine[row, :n] < 0).tolist()))
            ranks[order[first:last]] = self._respond(int(views.is_dealer[row]), held, done, others[0])[others[1]]
        return ranks

    def _respond(self, role, held, laid, known):
        """(K,) what a hand lays after these cards, by what the opponent cannot hold."""
        reach = np.stack([self._may_hold(role, *divmod(int(one), 13)) for one in known])
        node, reach = self._follow(laid, role, int(held.min()), reach)
        k = int(self.game.nodes[node]["n_cards"][1 - role])
        ranks = np.empty(len(known), np.int64)
        for first in range(0, len(known), LANES):
            some = reach[first : first + LANES]
            self._lanes.reach[k] = 0
            self._lanes.reach[k, : some.shape[1], : len(some)] = (some / some.sum(axis=1, keepdims=True)).T
            respond(self.game.arrays, self.play[1 - role], role, int(hand_number(held)), self._lanes, node)
            ranks[first : first + LANES] = self._lanes.best[: len(some)]
        return ranks

    def _may_hold(self, role, six, starter):
        """(1820,) in how many deals the opponent holds each hand."""
        if (role, six, starter) not in self._held:
            hands = np.zeros(N_FOURS, np.float32)
            chances, made = self.chances[1 - role], self._made[1 - role]
            fill_hands(chances, made, six, starter, sixes(), self._ways, hands)
            self._held[role, six, starter] = hands
        return self._held[role, six, starter]

    def _follow(self, laid, role, lowest, reach):
        """The node at which the player is to lay a card, and the weights (K, N) of the opponent's hands there."""
        nodes, links, at = self.game.nodes, self.game.tree.links, 0
        for n, (rank, by) in enumerate([*laid, (lowest, 0)]):
            actor = role if by == 0 else 1 - role
            while nodes[at]["actor"] != actor or rank >= nodes[at]["high"]:
                node = nodes[at]
                low, high = int(node["floor"][node["actor"]]), int(node["high"])
                if node["actor"] != role:
                    reach[:, N_HANDS[node["n_cards"][1 - role], max(low, high)] :] = 0
                at = int(links[node["first_link"] + max(high - low, 0)]["to"])
            if n == len(laid):
                return at, reach
            node, k = nodes[at], int(nodes[at]["n_cards"][actor])
            low = int(node["floor"][actor])
            if actor != role:
                n_left = N_HANDS[k - 1, low]
                with_rank = HAND_TABLES.with_rank[k - 1, rank, :n_left]
                slot = node["first_slot"] + (rank - low) * n_left
                reach = reach[:, with_rank] * (self.play[actor][slot : slot + n_left] if k > 1 else 1)
            at = int(links[node["first_link"] + rank - low]["to"])
        raise AssertionError
