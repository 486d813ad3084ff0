"""What best responses earn in the play when they know their own six cards: many of them in one walk of the tree.

A responder holds one hand, and has discarded two cards that its opponent cannot hold. Responders with the same hand and
other discards walk the same nodes, so one walk takes several of them side by side, as *lanes*. Each has its own weights
of the hands that the opponent may hold, and each chooses for itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.engine import PONE
from crib_env.hands import KING, N_HANDS, N_RANKS
from crib_env.kernels import kernel
from crib_env.solver.endings import OF_ACTOR, OF_OTHER
from crib_env.solver.sweeps import chosen, policy_at
from crib_env.solver.tree import FIRST_ENDING, NO_LINK, TERMINAL

LANES = 96
"""Responders that are walked side by side: one for each two ranks discarded, and padding that suits vector registers.
Most of the time of a walk goes into finding its nodes in memory, so all of them take little longer than one."""
_DEPTH = 24  # more steps than a play has
_ZERO = np.float32(0)


class Lanes(NamedTuple):
    """Space for one walk, float32."""

    reach: np.ndarray
    """(5, G, 1820, LANES): by cards that the opponent still holds and by the group of its discards, the reach of its
    hands, one way down the tree."""
    values: np.ndarray
    """(depth, LANES) of the nodes on this way."""
    total: np.ndarray
    """(LANES,) to add up in."""
    best: np.ndarray
    """(LANES,) int64, the rank that each responder lays first, if it is to lay one."""
    first: np.ndarray
    """(13, 13, LANES) what each rank earns that the responder lays first, by the rank that the opponent led before,
    or 0."""
    steps: np.ndarray
    """(depth, 4) int64: of each node on the way, its number, the responder's hand, its cards, and the next rank."""


def make_lanes(groups: int = 1) -> Lanes:
    """Empty space for a walk, against an opponent that remembers to which of so many groups its discards belong."""
    n = N_HANDS[4, 0]
    return Lanes(
        np.zeros((5, groups, n, LANES), np.float32),
        np.zeros((_DEPTH, LANES), np.float32),
        np.zeros(LANES, np.float32),
        np.zeros(LANES, np.int64),
        np.zeros((N_RANKS, N_RANKS, LANES), np.float32),
        np.zeros((_DEPTH, 4), np.int64),
    )


@kernel
def fill_chances(game, weights, role, first, last, policy, chances):
    """Fills the slots of a role at nodes ``first`` to ``last - 1`` with how likely a policy makes each choice.

    Args:
        weights: (S,) of the policy, see :class:`crib_env.solver.sweeps.Weights`.
        policy: (2, 1820) float32 to work in.
        chances: (S,) float32; may be ``weights`` itself.
    """
    hands = game.hands
    for at in range(first, last):
        node = game.tree.nodes[at]
        if node["actor"] != role or node["n_cards"][role] < 2:
            continue
        policy_at(node, hands, weights, policy)
        k, low = node["n_cards"][role], node["floor"][role]
        slot, n_left = node["first_slot"], hands.n_hands[k - 1, low]
        for rank in range(low, node["high"]):
            for left in range(n_left):
                h = hands.with_rank[k - 1, rank, left]
                chances[slot + left] = chosen(weights[slot + left], policy, h)
            slot += n_left


@kernel
def respond(game, chances, role, hand, lanes, first=0):
    """Walks the tree below a node for responders that all hold one hand; ``lanes.values[0]`` gets what each earns, and
    ``lanes.best`` what each lays.

    ``lanes.reach`` holds, for as many cards as the opponent has at the node, the weights of its hands there. Values are
    net points of the whole play, times these weights, summed over the hands.

    Args:
        chances: (G, S) of the opponent's choices, :func:`fill_chances`, by the group of its discards.
        role: of the responders.
        hand: its number among those of its size.
        lanes: :class:`Lanes`.
        first: the node.
    """
    nodes, hands, steps = game.tree.nodes, game.hands, lanes.steps
    depth = 0
    _enter(nodes[first], first, role, hand, np.int64(nodes[first]["n_cards"][role]), 0, lanes)
    while True:
        node = nodes[steps[depth, 0]]
        actor = np.int64(node["actor"])
        rank = steps[depth, 3]
        if rank > N_RANKS:  # all that may follow has been walked
            if depth == 0:
                return
            depth -= 1
            _take(nodes[steps[depth, 0]]["actor"] == role, depth + 1, depth, lanes)
            continue
        low, high = np.int64(node["floor"][actor]), np.int64(node["high"])
        own, n_own = steps[depth, 1], steps[depth, 2]
        if rank >= high:  # go
            steps[depth, 3] = N_RANKS + 1
            if high < N_RANKS:
                k = n_own if actor == role else np.int64(node["n_cards"][actor])
                n_going = hands.n_hands[k, max(low, high)]  # hands without a rank that fits come first
                if own < n_going if actor == role else _is_reached(lanes.reach, k, n_going):
                    child = np.int64(game.tree.links[node["first_link"] + max(high - low, 0)]["to"])
                    depth += 1
                    _enter(nodes[child], child, role, own, n_own, depth, lanes)
            continue
        steps[depth, 3] = rank + 1
        if actor == role:
            left = np.int64(hands.without_rank[n_own, rank, own])
            if left < 0:
                continue
            own, n_own = left, n_own - 1
        elif not _lay(node, rank, hands, chances, lanes.reach, lanes.total):
            continue
        link = game.tree.links[node["first_link"] + rank - low]
        child = np.int64(link["to"])
        if child >= 0:
            depth += 1
            _enter(nodes[child], child, role, own, n_own, depth, lanes)
        elif child != NO_LINK:
            n_other = np.int64(node["n_cards"][1 - role]) - (actor != role)
            n_against = hands.n_hands[n_other, node["floor"][1 - role]]
            net = np.float32(link["net"] if role == PONE else -link["net"])
            _end(game, child, net, role, own, (n_against, n_other), lanes, depth + 1)
            _take(actor == role, depth + 1, depth, lanes)


@kernel
def _enter(node, at, role, own, n_own, depth, lanes):
    lanes.steps[depth, 0], lanes.steps[depth, 1], lanes.steps[depth, 2] = at, own, n_own
    actor = node["actor"]
    lanes.steps[depth, 3] = min(np.int64(node["floor"][actor]), np.int64(node["high"]))
    start = np.float32(-np.inf) if actor == role else _ZERO
    for lane in range(LANES):
        lanes.values[depth, lane] = start


@kernel
def _take(chooses, found, depth, lanes):
    values = lanes.values
    if chooses and depth <= 1:
        rank, led = lanes.steps[depth, 3] - 1, lanes.steps[0, 3] - 1 if depth else 0
        if rank < N_RANKS and led < N_RANKS:
            for lane in range(LANES):
                lanes.first[led, rank, lane] = values[found, lane]
    if chooses and depth == 0:
        for lane in range(LANES):
            if values[found, lane] > values[0, lane]:
                lanes.best[lane] = lanes.steps[0, 3] - 1
    if chooses:
        for lane in range(LANES):
            if values[found, lane] > values[depth, lane]:
                values[depth, lane] = values[found, lane]
    else:
        for lane in range(LANES):
            values[depth, lane] += values[found, lane]


@kernel
def _is_reached(reach, k, n):
    for group in range(reach.shape[1]):
        for h in range(n):
            for lane in range(LANES):
                if reach[k, group, h, lane] > _ZERO:
                    return True
    return False


@kernel
def _lay(node, rank, hands, chances, reach, total):
    """The reach of the hands that are left when the opponent lays a rank; whether there is any."""
    actor = np.int64(node["actor"])
    k, low = np.int64(node["n_cards"][actor]), np.int64(node["floor"][actor])
    if k == 1:
        for group in range(reach.shape[1]):
            for lane in range(LANES):
                reach[0, group, 0, lane] = reach[1, group, KING - rank, lane]
        return _is_reached(reach, 0, 1)
    for lane in range(LANES):
        total[lane] = _ZERO
    n_left = hands.n_hands[k - 1, low]
    slot = node["first_slot"] + (rank - low) * n_left
    for group in range(reach.shape[1]):
        for left in range(n_left):
            h, chance = np.int64(hands.with_rank[k - 1, rank, left]), chances[group, slot + left]
            for lane in range(LANES):
                here = reach[k, group, h, lane] * chance
                reach[k - 1, group, left, lane] = here
                total[lane] += here
    most = _ZERO
    for lane in range(LANES):
        most = max(most, total[lane])
    return most > _ZERO


@kernel
def _end(game, child, net, role, own, against, lanes, depth):
    """What responders earn where neither player has a choice any more; ``against`` is how many hands the opponent may
    hold, and of how many cards."""
    reach, values = lanes.reach, lanes.values
    for lane in range(LANES):
        values[depth, lane] = _ZERO
    if child == TERMINAL:
        for group in range(reach.shape[1]):
            for lane in range(LANES):
                values[depth, lane] += net * reach[0, group, 0, lane]
        return
    ending = (FIRST_ENDING - child) >> 1
    side = OF_ACTOR if (FIRST_ENDING - child) & 1 == role else OF_OTHER
    for y in range(against[0]):
        points = np.float32(game.endings[ending, side, y, own]) + net
        for group in range(reach.shape[1]):
            for lane in range(LANES):
                values[depth, lane] += points * reach[against[1], group, y, lane]
