"""One walk over a part of the public tree: reach of hands on the way down, their values on the way up.

For each node the *reach* of a role's hand is the chance that this role plays to the node with it. The *value* of a hand
is what it earns from the node on, summed over the opponent's hands, each times its reach and the number of ways to deal
the two (counterfactual values: Zinkevich et al. 2007, "Regret minimization in games with incomplete information"). All
hands of a node are treated together, as vectors (Johanson et al. 2011, "Accelerating best response calculation in large
extensive games").
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.engine import PONE
from crib_env.hands import KING, N_HANDS, N_RANKS, HandTables
from crib_env.kernels import kernel
from crib_env.solver.endings import OF_ACTOR, OF_OTHER, WIDTH
from crib_env.solver.pairs import ONLY_WAYS, Pairs, hands_laid
from crib_env.solver.public_state import gone_of
from crib_env.solver.tree import FIRST_ENDING, NO_LINK, TERMINAL, Extent, PublicTree

_ZERO, _ONE = np.float32(0), np.float32(1)

# What a walk up does at the nodes of the role whose values it computes.
UPDATE_REGRETS, BEST_RESPONSE, EXPECTED = range(3)


class Game(NamedTuple):
    """All that does not change while a game is solved."""

    tree: PublicTree
    endings: np.ndarray  # (E, 2, 13, 16) int8, see :func:`crib_env.solver.endings.make_endings`
    hands: HandTables
    pairs: Pairs = ONLY_WAYS


class Weights(NamedTuple):
    """One number a slot: a policy chooses in proportion to those above 0, or evenly where none is."""

    policy: np.ndarray
    """(S,) float32 what the role plays by whose values are computed; its regrets, while these are updated."""
    other: np.ndarray
    """(S,) float32 what the other role plays by; often the same array, since each slot belongs to one role."""
    average: np.ndarray
    """(S,) float32, to which the policies of iterations are added; a best response writes its choices there, 1 for the
    best ones, and ``EXPECTED`` the value of each choice, as values of hands are. Empty if none of this is wanted."""


class Step(NamedTuple):
    """What a walk is for."""

    role: int  # whose values are computed; the other role's policy is added to the average
    mode: int  # ``UPDATE_REGRETS``, ``BEST_RESPONSE`` or ``EXPECTED``
    average: np.float32 = _ZERO  # weight of the policy in the average
    positive: np.float32 = _ONE  # factor of earlier regrets above 0
    negative: np.float32 = _ONE  # factor of earlier regrets below 0


class Workspace(NamedTuple):
    """Vectors of one thread, float32."""

    reach: np.ndarray
    values: np.ndarray
    policy: np.ndarray  # (2, 1820): the factors of :func:`policy_at`
    by_rank: np.ndarray  # (2, 13, 1820): by rank laid and hand, ``SENT`` the reach and ``EARNED`` the values
    small: np.ndarray  # (3, 16)


_SENT, _EARNED = range(2)
_SCALE, _EVEN = range(2)
_LEAST = np.finfo(np.float32).tiny  # with a smaller sum of weights, a share of it would be no finite number
_WAYS, _WEIGHTED, _SUMS = range(3)


def make_workspace(extent: Extent) -> Workspace:
    """An empty workspace for the parts of a tree."""
    n = N_HANDS[4, 0]
    shapes = (extent.reach,), (extent.values,), (2, n), (2, N_RANKS, n), (3, WIDTH)
    return Workspace(*(np.zeros(shape, np.float32) for shape in shapes))


@kernel
def policy_at(node, hands, weights, policy):
    """A node's policy: a choice with weight w has probability ``max(w, 0) * scale + even`` in hand h. Hands that are as
    good as never held there choose evenly.

    ``policy[_SCALE, h]`` and ``policy[_EVEN, h]`` get the two factors. See :func:`chosen`.
    """
    role = node["actor"]
    k, low, high = node["n_cards"][role], node["floor"][role], node["high"]
    n, n_left = hands.n_hands[k, low], hands.n_hands[k - 1, low]
    for h in range(n):
        policy[_SCALE, h] = _ZERO
    slot = node["first_slot"]
    for rank in range(low, high):
        for left in range(n_left):
            policy[_SCALE, hands.with_rank[k - 1, rank, left]] += max(weights[slot + left], _ZERO)
        slot += n_left
    for h in range(n):
        total = policy[_SCALE, h]
        some = total >= _LEAST
        policy[_SCALE, h] = _ONE / total if some else _ZERO
        policy[_EVEN, h] = _ZERO if some else _ONE / np.float32(max(hands.n_playable[k, high, h], 1))


@kernel
def chosen(weight, policy, h):
    """How likely a choice of this weight is made in hand ``h``, by the factors of :func:`policy_at`."""
    return max(weight, _ZERO) * policy[_SCALE, h] + policy[_EVEN, h]


@kernel
def _send(node, hands, weights, work):
    """The reach of the hands that are left when the actor lays a rank, for all ranks: ``work.by_rank[_SENT]``."""
    role = node["actor"]
    k, low, high, own = node["n_cards"][role], node["floor"][role], node["high"], node["reach_at"][role]
    reach, policy, by_rank = work.reach, work.policy, work.by_rank
    if k == 1:
        for rank in range(low, high):
            by_rank[_SENT, rank, 0] = reach[own + KING - rank]
        return
    policy_at(node, hands, weights, policy)
    n_left, slot = hands.n_hands[k - 1, low], node["first_slot"]
    for rank in range(low, high):
        for left in range(n_left):
            h = hands.with_rank[k - 1, rank, left]
            by_rank[_SENT, rank, left] = reach[own + h] * chosen(weights[slot + left], policy, h)
        slot += n_left


@kernel
def walk_down(game, policy, first, last, work):
    """Fills the reach at all nodes that follow from nodes ``first`` to ``last - 1``."""
    nodes, links, hands, reach, by_rank = game.tree.nodes, game.tree.links, game.hands, work.reach, work.by_rank
    for at in range(first, last):
        node = nodes[at]
        role = node["actor"]
        k, low, high = node["n_cards"][role], node["floor"][role], node["high"]
        if high > low and (k >= 3 or node["n_cards"][1 - role] >= 2):  # else what follows are endings
            _send(node, hands, policy, work)
            n_left = hands.n_hands[k - 1, low]
            for rank in range(low, high):
                child = links[node["first_link"] + rank - low]["to"]
                if child >= 0:
                    to = nodes[child]["reach_at"][role]
                    for left in range(n_left):
                        reach[to + left] = by_rank[_SENT, rank, left]
        if high < N_RANKS:  # go: the hands without a rank that fits come first
            child = links[node["first_link"] + max(high - low, 0)]["to"]
            own, to = node["reach_at"][role], nodes[child]["reach_at"][role]
            for h in range(hands.n_hands[k, max(low, high)]):
                reach[to + h] = reach[own + h]


@kernel
def _go_on(nodes, child, n_values, values, earned):
    """The values of hands after a rank that ends nothing: those at the node that follows, or 0 without one."""
    for x in range(n_values):
        earned[x] = values[nodes[child]["value_at"] + x] if child >= 0 else _ZERO


@kernel
def _earn(game, here, role, work):
    """The values of the hands of ``role`` after each rank the actor may lay: ``work.by_rank[_EARNED]``.

    Where that leads to an ending, the opponent's reach is in ``work.by_rank[_SENT]``, at the rank if the opponent is
    the actor, else at 0.
    """
    if len(game.pairs.laid):
        _earn_by_pairs(game, here, role, work)
        return
    nodes, links, endings = game.tree.nodes, game.tree.links, game.endings
    values, by_rank, small, node = work.values, work.by_rank, work.small, nodes[here]
    actor = np.int64(node["actor"])
    low = np.int64(node["floor"][actor])
    n_own = np.int64(node["n_cards"][role]) - (actor == role)
    n_other = np.int64(node["n_cards"][1 - role]) - (actor != role)
    n_values = game.hands.n_hands[n_own, node["floor"][role]]
    n_against = game.hands.n_hands[n_other, node["floor"][1 - role]]
    for rank in range(N_RANKS):
        small[_WAYS, KING - rank] = 4 - gone_of(node["gone"], rank)
    for rank in range(low, node["high"]):
        link = links[node["first_link"] + rank - low]
        child = link["to"]
        if child >= 0 or child == NO_LINK:
            _go_on(nodes, child, n_values, values, by_rank[_EARNED, rank])
            continue
        net = np.float32(link["net"] if role == PONE else -link["net"])
        against = 0 if actor == role else rank
        chance = node["chance"] * small[_WAYS, KING - rank]
        if child == TERMINAL:
            by_rank[_EARNED, rank, 0] = chance * net * by_rank[_SENT, against, 0]
            continue
        small[_WAYS, KING - rank] -= _ONE
        ending = (FIRST_ENDING - child) >> 1
        side = OF_ACTOR if (FIRST_ENDING - child) & 1 == role else OF_OTHER
        total = _ZERO
        for x in range(WIDTH):
            small[_SUMS, x] = _ZERO
        for y in range(n_against):
            weighted = by_rank[_SENT, against, y] * (small[_WAYS, y] if n_other else _ONE)
            total += weighted
            for x in range(WIDTH):
                small[_SUMS, x] += np.float32(endings[ending, side, y, x]) * weighted
        for x in range(n_values):
            value = small[_SUMS, x] + net * total
            if n_own:
                if n_other and x < n_against:  # two cards of one rank can be dealt in n (n - 1) ways
                    value -= (np.float32(endings[ending, side, x, x]) + net) * by_rank[_SENT, against, x]
                value *= small[_WAYS, x]
            by_rank[_EARNED, rank, x] = chance * value
        small[_WAYS, KING - rank] += _ONE


@kernel
def _earn_by_pairs(game, here, role, work):
    """:func:`_earn` where the pairs of hands have factors of their own."""
    nodes, links, endings, hands = game.tree.nodes, game.tree.links, game.endings, game.hands
    values, by_rank, sums, factors = work.values, work.by_rank, work.small[_SUMS], game.pairs.factors
    node = nodes[here]
    actor = np.int64(node["actor"])
    low = np.int64(node["floor"][actor])
    acts = actor == role
    n_own = np.int64(node["n_cards"][role]) - acts
    n_other = np.int64(node["n_cards"][1 - role]) - (not acts)
    n_values = hands.n_hands[n_own, node["floor"][role]]
    n_against = hands.n_hands[n_other, node["floor"][1 - role]]
    sign = np.int64(1 if role == PONE else -1)
    for rank in range(low, node["high"]):
        link = links[node["first_link"] + rank - low]
        child = link["to"]
        if child >= 0 or child == NO_LINK:
            _go_on(nodes, child, n_values, values, by_rank[_EARNED, rank])
            continue
        net = np.float32(sign * link["net"])
        own, own_last, other, other_last = hands_laid(game.pairs, hands, here, node, role, rank)
        against = 0 if acts else rank
        if child == TERMINAL:
            by_rank[_EARNED, rank, 0] = net * by_rank[_SENT, against, 0] * factors[other, own, other_last, own_last]
            continue
        ending = (FIRST_ENDING - child) >> 1
        side = OF_ACTOR if (FIRST_ENDING - child) & 1 == role else OF_OTHER
        if n_own == 0:
            total = _ZERO
            for y in range(n_against):
                weighted = by_rank[_SENT, against, y] * factors[other, own, y, own_last]
                total += (np.float32(endings[ending, side, y, 0]) + net) * weighted
            by_rank[_EARNED, rank, 0] = total
            continue
        for x in range(WIDTH):
            sums[x] = _ZERO
        for y in range(n_against):
            reach = by_rank[_SENT, against, y]
            if reach > _ZERO:
                row = y if n_other else other_last
                for x in range(WIDTH):
                    sums[x] += (np.float32(endings[ending, side, y, x]) + net) * (reach * factors[other, own, row, x])
        for x in range(n_values):
            by_rank[_EARNED, rank, x] = sums[x]


@kernel
def walk_up(game, weights, step, first, last, work):
    """Fills the values of hands of ``step.role`` at the nodes from ``last - 1`` down to ``first``."""
    for at in range(last - 1, first - 1, -1):
        node = game.tree.nodes[at]
        role = step.role
        actor = node["actor"]
        value, n = node["value_at"], game.hands.n_hands[node["n_cards"][role], node["floor"][role]]
        for h in range(n):
            work.values[value + h] = _ZERO
        if node["high"] < N_RANKS:
            _after_go(game, node, role, work)
        if node["high"] > node["floor"][actor]:
            if actor == role:
                _own_choice(game, weights.policy, weights.average, step, at, work)
            else:
                _opponents_choice(game, weights, step, at, work)


@kernel
def _after_go(game, node, role, work):
    actor, values = node["actor"], work.values
    low, high = node["floor"][actor], node["high"]
    child = game.tree.nodes[game.tree.links[node["first_link"] + max(high - low, 0)]["to"]]
    value, came = node["value_at"], child["value_at"]
    for h in range(game.hands.n_hands[child["n_cards"][role], child["floor"][role]]):
        values[value + h] = values[came + h]


@kernel
def _own_choice(game, weights, average, step, here, work):
    hands, values, by_rank, policy = game.hands, work.values, work.by_rank, work.policy
    role, node = step.role, game.tree.nodes[here]
    k, low, high = node["n_cards"][role], node["floor"][role], node["high"]
    value, n_left = node["value_at"], hands.n_hands[k - 1, low]
    n_other = node["n_cards"][1 - role]
    if n_other <= 1 and k <= 2:
        against = node["reach_at"][1 - role]
        for y in range(hands.n_hands[n_other, node["floor"][1 - role]]):
            by_rank[_SENT, 0, y] = work.reach[against + y]
    _earn(game, here, role, work)
    if k == 1:
        for rank in range(low, high):
            values[value + KING - rank] = by_rank[_EARNED, rank, 0]
        return
    if step.mode == BEST_RESPONSE:
        n_going = hands.n_hands[k, max(low, high)] if high < N_RANKS else 0
        for h in range(n_going, hands.n_hands[k, low]):
            values[value + h] = -np.inf
        for rank in range(low, high):
            for left in range(n_left):
                at = value + hands.with_rank[k - 1, rank, left]
                values[at] = max(values[at], by_rank[_EARNED, rank, left])
        if len(average):
            _note_best(node, hands, values, by_rank, average)
        return
    policy_at(node, hands, weights, policy)
    slot, is_noted = node["first_slot"], step.mode == EXPECTED and len(average) > 0
    for rank in range(low, high):
        for left in range(n_left):
            h = hands.with_rank[k - 1, rank, left]
            values[value + h] += chosen(weights[slot + left], policy, h) * by_rank[_EARNED, rank, left]
            if is_noted:
                average[slot + left] = by_rank[_EARNED, rank, left]
        slot += n_left
    if step.mode == UPDATE_REGRETS:
        slot = node["first_slot"]
        for rank in range(low, high):
            for left in range(n_left):
                gain = by_rank[_EARNED, rank, left] - values[value + hands.with_rank[k - 1, rank, left]]
                regret = weights[slot + left]
                weights[slot + left] = regret * (step.positive if regret > _ZERO else step.negative) + gain
            slot += n_left


@kernel
def _note_best(node, hands, values, by_rank, chosen):
    """Sets the slot of each hand's best choice to 1, and its others to 0."""
    k, low = node["n_cards"][node["actor"]], node["floor"][node["actor"]]
    n_left, slot = hands.n_hands[k - 1, low], node["first_slot"]
    for rank in range(low, node["high"]):
        for left in range(n_left):
            is_best = by_rank[_EARNED, rank, left] == values[node["value_at"] + hands.with_rank[k - 1, rank, left]]
            chosen[slot + left] = _ONE if is_best else _ZERO
        slot += n_left


@kernel
def _opponents_choice(game, weights, step, here, work):
    hands, values, by_rank, average = game.hands, work.values, work.by_rank, weights.average
    node = game.tree.nodes[here]
    role, actor = step.role, node["actor"]
    k, low, high = node["n_cards"][actor], node["floor"][actor], node["high"]
    n_left = hands.n_hands[k - 1, low]
    _send(node, hands, weights.other, work)
    if k >= 2 and step.average > _ZERO:
        slot = node["first_slot"]
        for rank in range(low, high):
            for left in range(n_left):
                average[slot + left] += step.average * by_rank[_SENT, rank, left]
            slot += n_left
    _earn(game, here, role, work)
    value, n = node["value_at"], hands.n_hands[node["n_cards"][role], node["floor"][role]]
    for rank in range(low, high):
        for h in range(n):
            values[value + h] += by_rank[_EARNED, rank, h]


@kernel
def fill_rank_values(game, at, h, work, out):
    """Fills ``out`` (13,) with what the actor of a node earns net after each rank, -inf where hand ``h`` has none.

    Points a deal, from the start of the play on, if what follows is valued in ``work`` for the actor, and the reach of
    the opponent's hands stands in it: the node has been walked down and up.
    """
    node, hands, by_rank = game.tree.nodes[at], game.hands, work.by_rank
    role = np.int64(node["actor"])
    k, n_other = node["n_cards"][role], node["n_cards"][1 - role]
    n_against, against = hands.n_hands[n_other, node["floor"][1 - role]], node["reach_at"][1 - role]
    if n_other <= 1 and k <= 2:
        for y in range(n_against):
            by_rank[_SENT, 0, y] = work.reach[against + y]
    _earn(game, at, role, work)
    total = 0.0
    for y in range(n_against):
        if work.reach[against + y] > _ZERO:
            ways = float(node["chance"])
            for rank in range(N_RANKS):
                left = 4 - gone_of(node["gone"], rank)
                for n in range(_of_rank(hands, k, h, rank) + _of_rank(hands, n_other, y, rank)):
                    ways *= left - n
            total += work.reach[against + y] * ways
    for rank in range(N_RANKS):
        out[rank] = -np.inf
        if node["floor"][role] <= rank < node["high"] and hands.without_rank[k, rank, h] >= 0:
            out[rank] = by_rank[_EARNED, rank, hands.without_rank[k, rank, h]] / total


@kernel
def _of_rank(hands, k, h, rank):
    """How many cards of a rank hand ``h`` of ``k`` cards has."""
    n = 0
    while k and hands.without_rank[k, rank, h] >= 0:
        h = np.int64(hands.without_rank[k, rank, h])
        k -= 1
        n += 1
    return n


class Blend(NamedTuple):
    """What :meth:`crib_env.solver.play_game.PlayGame.blend` is given, numbers as float32."""

    policies: tuple[np.ndarray, np.ndarray]
    share: np.float32
    role: int
    out: np.ndarray
    average: np.ndarray
    weight: np.float32


@kernel
def fill_blend(game, blend, workspaces, first, last):
    """Fills the slots of a :class:`Blend` at nodes ``first`` to ``last - 1``.

    A choice weighs as much as players of both kinds make it, together: each kind's share, times how likely it plays to
    the node with the hand, times how likely it then makes the choice.

    Args:
        workspaces: two, with the reach of these nodes by the first and by the second policy.
    """
    (of_first, of_second), share, role, out, average, weight = blend
    hands, (one, two) = game.hands, workspaces
    for at in range(first, last):
        node = game.tree.nodes[at]
        k, low, high = node["n_cards"][role], node["floor"][role], node["high"]
        if node["actor"] != role or k < 2:
            continue
        policy_at(node, hands, of_first, one.policy)
        policy_at(node, hands, of_second, two.policy)
        slot, own, n_left = node["first_slot"], node["reach_at"][role], hands.n_hands[k - 1, low]
        for rank in range(low, high):
            for left in range(n_left):
                h = hands.with_rank[k - 1, rank, left]
                by_first = one.reach[own + h] * chosen(of_first[slot + left], one.policy, h)
                by_second = two.reach[own + h] * chosen(of_second[slot + left], two.policy, h)
                out[slot + left] = share * by_first + (_ONE - share) * by_second
                if weight > _ZERO:
                    average[slot + left] += weight * by_second
            slot += n_left
