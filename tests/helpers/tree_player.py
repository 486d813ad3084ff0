"""Plays a policy of the public tree in the engine."""

import numpy as np

from crib_env.hands import HAND_TABLES
from crib_env.kernels import GOLDEN, below, bit, kernel, lowest, mix, popcount


@kernel
def _number_of(ranks, hands):
    number = np.int64(0)
    for k in range(len(ranks)):
        number = np.int64(hands.with_rank[k, ranks[k], number])
    return number


@kernel
def _cards(tree, policy, hands, views, cards):
    ranks = np.empty(4, np.int64)
    for b in range(len(cards)):
        role = 1 if views.is_dealer[b] else 0
        lowest_held = np.int64(12)
        for j in range(6):
            if views.hand[b, j] >= 0:
                lowest_held = min(lowest_held, np.int64(views.hand[b, j]) % 13)
        at, k = 0, 0
        while True:
            node = tree.nodes[at]
            high, low = np.int64(node["high"]), np.int64(node["floor"][node["actor"]])
            laid = k < 8 and views.laid[b, k] >= 0
            by = 1 - role if laid and views.laid_by[b, k] else role
            rank = np.int64(views.laid[b, k]) % 13 if laid else lowest_held
            goes = by != node["actor"] or rank >= high
            if not laid and not goes:
                break
            at = tree.links[node["first_link"] + (high if goes else rank) - min(low, high)]["to"]
            if at < 0:
                break
            k += not goes
        word = mix(np.uint64(views.game_ids[b]) * GOLDEN + np.uint64(views.decisions[b]))
        legal, best, best_weight = np.int64(0), np.int64(-1), np.float32(-1)
        for card in range(52):
            if views.action_mask[b, card]:
                legal |= bit(card)
        if at >= 0 and node["n_cards"][role] > 1:
            n = node["n_cards"][role]
            n_left, rest = hands.n_hands[n - 1, low], legal
            while rest:
                rank, m, skipped = lowest(rest) % 13, 0, False
                for j in range(n):
                    other = np.int64(views.hand[b, j]) % 13
                    if other == rank and not skipped:
                        skipped = True
                        continue
                    ranks[m] = other
                    m += 1
                weight = policy[node["first_slot"] + (rank - low) * n_left + _number_of(ranks[:m], hands)]
                if weight > best_weight:
                    best, best_weight = rank, weight
                rest &= rest - 1
            rest = legal
            while rest:
                if lowest(rest) % 13 != best:
                    legal ^= rest & -rest
                rest &= rest - 1
        for _ in range(below(word, popcount(legal))):  # any suit
            legal &= legal - 1
        cards[b] = lowest(legal)


class TreePlayer:
    """Lays the rank with the highest weight at each node, in any of its suits."""

    name = "tree"

    def __init__(self, game, weights):
        self.game, self.weights = game, weights

    def act(self, views):
        cards = np.empty(len(views), np.int64)
        _cards(self.game.tree, self.weights, HAND_TABLES, views.arrays, cards)
        return cards
