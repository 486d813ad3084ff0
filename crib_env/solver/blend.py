"""A population of two kinds of players, seen by an opponent who does not know which kind it meets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.kernels import kernel
from crib_env.solver.sweeps import chosen, policy_at

_ZERO = np.float32(0)


class Blend(NamedTuple):
    """Two policies, (S,) float32 as :meth:`crib_env.solver.play_game.PlayGame.expected` takes them."""

    first: np.ndarray
    share: np.float32
    """How many of the population play by the first one, from 0 to 1."""
    second: np.ndarray


class Blended(NamedTuple):
    """What is made of a blend; see :meth:`crib_env.solver.play_game.PlayGame.blend`."""

    out: np.ndarray
    """(S,) float32 the policy of a player of unknown kind."""
    average: np.ndarray
    """(S,) float32, to which the second policy is added, times the reach of its hands."""
    weight: np.float32
    """Of the second policy in the average; at 0 nothing is added."""


@kernel
def fill_blend(game, blend, workspaces, role, first, last, into):
    """Fills the slots of a role at nodes ``first`` to ``last - 1``; see
    :meth:`crib_env.solver.play_game.PlayGame.blend`.

    A choice weighs as much as players of both kinds make it, together: each kind's share, times how likely it plays to
    the node with the hand, times how likely it then makes the choice.

    Args:
        workspaces: two, with the reach of these nodes by the first and by the second policy.
        into: :class:`Blended`.
    """
    hands, (one, two), (out, average, weight) = game.hands, workspaces, into
    for at in range(first, last):
        node = game.tree.nodes[at]
        k, low, high = node["n_cards"][role], node["floor"][role], node["high"]
        if node["actor"] != role or k < 2:
            continue
        policy_at(node, hands, blend.first, one.policy)
        policy_at(node, hands, blend.second, two.policy)
        slot, own, n_left = node["first_slot"], node["reach_at"][role], hands.n_hands[k - 1, low]
        for rank in range(low, high):
            for left in range(n_left):
                h = hands.with_rank[k - 1, rank, left]
                by_first = one.reach[own + h] * chosen(blend.first[slot + left], one.policy, h)
                by_second = two.reach[own + h] * chosen(blend.second[slot + left], two.policy, h)
                out[slot + left] = blend.share * by_first + (np.float32(1) - blend.share) * by_second
                if weight > _ZERO:
                    average[slot + left] += weight * by_second
            slot += n_left
