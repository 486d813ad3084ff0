"""The public tree of the play: what both players have seen, which is the ranks laid and who said go.

A node is a public state at which a player lays a card or says go. It holds no hands. The nodes of a tree stand in an
order in which every node comes before those that follow from it, and each part of the tree is one stretch of it, so a
kernel walks a part down by counting up, and up by counting down.

When neither player has more than one card left there is no choice any more: such an ending is not a node but a table of
points (:mod:`crib_env.solver.endings`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.engine import DEALER, PONE
from crib_env.hands import N_HANDS, N_RANKS
from crib_env.kernels import kernel, mix
from crib_env.solver.endings import ending_key
from crib_env.solver.public_state import (
    ACTOR,
    CARDS,
    COUNT,
    FLOOR,
    GONE,
    N_FIELDS,
    gone_of,
    lay_rank,
    n_playable_ranks,
    net_points,
    say_go,
)

TERMINAL = -1  # a link to the end of the play
NO_LINK = -2  # all four cards of the rank are gone
FIRST_ENDING = -3  # links at or below this one lead to an ending


NODE = np.dtype(
    [
        ("gone", "i8"),  # how many cards of each rank are known, see crib_env.solver.public_state
        ("first_slot", "i8"),
        ("first_link", "i4"),
        ("chance", "f4"),  # the product of 4 - n over the cards laid, n of whose rank were gone before
        ("reach_at", "i4", 2),  # where in a part's workspace the reach of each role's hands stands
        ("value_at", "i4"),  # where in a part's workspace the values of the hands stand
        ("actor", "i1"),  # PONE or DEALER
        ("n_cards", "i1", 2),  # cards held, by role
        ("floor", "i1", 2),  # the lowest rank that each role can hold
        ("high", "i1"),  # ranks below this fit under thirty-one; the actor may lay those from its floor on
    ],
    align=True,
)
"""A node has links, one for each rank that may be laid and then one for go if that is possible.

It has slots: for each rank that may be laid, each hand that may be left then. A slot is a choice. Where the actor has
one card left there is no choice, and no slot.
"""

LINK = np.dtype(
    [
        ("to", "i4"),  # the node, or TERMINAL, or NO_LINK, or FIRST_ENDING - 2 e - a for ending e, which role a begins
        ("net", "i1"),  # points of pone less those of the dealer, until then
    ],
    align=True,
)


class PublicTree(NamedTuple):
    """The tree as arrays; N nodes and L links."""

    nodes: np.ndarray
    """(N,) NODE. The nodes of the first few steps come first. Behind them lie the parts: what follows from one of these
    nodes, each by itself, so that threads may share them out."""
    links: np.ndarray
    """(L,) LINK."""
    parts: np.ndarray
    """(P + 1,) int32: the first node of each part, and N."""


class Extent(NamedTuple):
    """How large a tree is, and the workspace for its parts."""

    nodes: int
    links: int
    slots: int
    parts: int
    reach: int
    """Numbers in the reach of a workspace."""
    values: int
    """Numbers in the values of a workspace."""
    top_reach: int
    """How many of these belong to the nodes before the first part, and to the first nodes of parts."""


# --- Building -------------------------------------------------------------------------------------------------------


_PENDING = np.dtype(
    [
        ("state", "i8", N_FIELDS),
        ("link", "i8"),  # the one that leads there, or -1
        ("depth", "i8"),  # steps from the root
        ("reach_at", "i8", 2),
        ("value_at", "i8"),
        ("chance", "f4"),
    ],
    align=True,
)
"""A state that waits for its place in the tree, with what is known of it."""


@kernel
def _n_hands_of(s, role, n_hands):
    return n_hands[s[CARDS + role], s[FLOOR + role]]


@kernel
def _build(split, tree, keys, top, stack, n_hands):
    """Walks the tree below the state of ``top[0]`` and writes it to the arrays as far as there is room; finds its size.

    ``keys`` (L,) gets the key of each ending, and -1 for other links.
    """
    room, room_for_links = len(tree.nodes), len(tree.links) - (N_RANKS + 1)
    n_nodes, n_links, n_slots, n_parts = 0, 0, 0, 0
    root = top[0]["state"]
    n_pone, n_dealer = _n_hands_of(root, PONE, n_hands), _n_hands_of(root, DEALER, n_hands)
    top[0]["chance"], top[0]["link"], top[0]["depth"], top[0]["value_at"] = 1.0, -1, 0, 0
    top[0]["reach_at"][0], top[0]["reach_at"][1] = 0, n_pone
    reach, values = n_pone + n_dealer, max(n_pone, n_dealer)
    top_reach, top_values, max_reach, max_values = reach, values, reach, values
    state, child = np.empty(N_FIELDS, np.int64), np.empty(N_FIELDS, np.int64)
    # `top` is a queue for the first steps, breadth first. What stands in it at `split` steps is the root of a part,
    # which is walked depth first, by `stack`.
    head, tail, n_stack, in_parts = 0, 1, 0, False
    while True:
        if not in_parts and (head == tail or top[head]["depth"] == split):
            in_parts = True
            top_reach, top_values = reach, values
        if in_parts and not n_stack:
            max_reach, max_values = max(max_reach, reach), max(max_values, values)
            if head == tail:
                break
            reach, values = top_reach, top_values
            stack[0] = top[head]
            head += 1
            n_stack = 1
            tree.parts[n_parts] = n_nodes
            n_parts += 1
        here = stack[n_stack - 1] if in_parts else top[head]
        if in_parts:
            n_stack -= 1
        else:
            head += 1
        state[:] = here["state"]
        chance, depth, link_here, value_at = here["chance"], here["depth"], here["link"], here["value_at"]
        reach_of_pone, reach_of_dealer = here["reach_at"][0], here["reach_at"][1]
        actor = state[ACTOR]
        n_cards = state[CARDS + actor]
        low, high = state[FLOOR + actor], n_playable_ranks(state[COUNT])
        fits = n_nodes < room and n_links <= room_for_links
        if fits:
            if link_here >= 0:
                tree.links[link_here]["to"] = n_nodes
            node = tree.nodes[n_nodes]
            node["gone"], node["chance"], node["actor"], node["high"] = state[GONE], chance, actor, high
            node["first_link"], node["first_slot"], node["value_at"] = n_links, n_slots, value_at
            node["reach_at"][0], node["reach_at"][1] = reach_of_pone, reach_of_dealer
            for role in range(2):
                node["n_cards"][role], node["floor"][role] = state[CARDS + role], state[FLOOR + role]
        n_nodes += 1
        if n_cards >= 2 and high > low:
            n_slots += (high - low) * n_hands[n_cards - 1, low]
        for rank in range(min(low, high), high + (high < N_RANKS)):
            goes = rank == high
            link = n_links
            n_links += 1
            n_gone = gone_of(state[GONE], rank)
            if fits:
                keys[link] = -1
            if not goes and n_gone == 4:
                if fits:
                    tree.links[link]["to"] = NO_LINK
                continue
            is_ending = state[CARDS + actor] - (not goes) <= 1 and state[CARDS + 1 - actor] <= 1
            if is_ending and not fits:
                continue
            child[:] = state
            if goes:
                say_go(child)
            else:
                lay_rank(child, rank)
            if fits:
                tree.links[link]["net"] = net_points(child)
            if is_ending:
                ends = child[CARDS] + child[CARDS + 1] == 0
                tree.links[link]["to"] = TERMINAL if ends else FIRST_ENDING - child[ACTOR]
                keys[link] = -1 if ends else ending_key(child)
                continue
            there = stack[n_stack] if in_parts else top[tail]
            if in_parts:
                n_stack += 1
            else:
                tail += 1
            there["state"][:] = child
            there["chance"] = chance if goes else chance * np.float32(4 - n_gone)
            there["link"], there["depth"], there["value_at"] = link, depth + 1, values
            there["reach_at"][0], there["reach_at"][1] = reach_of_pone, reach_of_dealer
            there["reach_at"][actor] = reach
            n_pone, n_dealer = _n_hands_of(child, PONE, n_hands), _n_hands_of(child, DEALER, n_hands)
            reach += n_dealer if actor else n_pone
            values += max(n_pone, n_dealer)
    tree.parts[n_parts] = n_nodes
    return n_nodes, n_links, n_slots, n_parts, max_reach, max_values, top_reach


_WAITING = 1 + 13 + 13**2 + 13**3  # a queue of three steps; a stack never holds more than a few hundred states
_MOST_CARDS = 8
_NODES, _LINKS = 1 << 21, 1 << 24  # room for the pegging game; with each card less, for a fourth


def build_tree(root: np.ndarray, split: int) -> tuple[PublicTree, Extent, np.ndarray]:
    """The tree below a public state.

    Args:
        root: a public state (:mod:`crib_env.solver.public_state`) in which a player has at least two cards.
        split: after how many steps from the root its parts begin, 0 to 3.

    Returns:
        The tree, its extent, and (E,) int64 the keys of its endings (:func:`crib_env.solver.endings.make_endings`).
    """
    top, stack = np.zeros(_WAITING, _PENDING), np.zeros(_WAITING, _PENDING)
    top[0]["state"] = root
    fewer = 2 * (_MOST_CARDS - int(root[CARDS : CARDS + 2].sum()))
    n_nodes, n_links = _NODES >> fewer, _LINKS >> fewer
    while True:
        nodes, links = np.zeros(n_nodes, NODE), np.zeros(n_links + N_RANKS + 1, LINK)
        tree, keys = PublicTree(nodes, links, np.zeros(N_RANKS**split + 1, np.int32)), np.empty(len(links), np.int64)
        extent = Extent(*_build(split, tree, keys, top, stack, N_HANDS))
        if extent.nodes <= n_nodes and extent.links <= n_links:
            break
        n_nodes, n_links = extent.nodes, extent.links
    tree = PublicTree(nodes[: extent.nodes], links[: extent.links], tree.parts[: extent.parts + 1])
    return tree, extent, keys[: _number_endings(tree.links, keys[: extent.links])].copy()


@kernel
def _number_endings(links, keys):
    """Numbers the endings (L,) that links lead to in the order of their first use, so that tables that are used one
    after the other lie side by side. The first of ``keys`` become those of the endings; returns how many there are."""
    size = 1024
    while size < len(keys):
        size *= 2
    numbers, n = np.full(size, -1, np.int32), 0  # a table with open addresses
    for link in range(len(keys)):
        key = keys[link]
        if key < 0:
            continue
        place = np.int64(mix(np.uint64(key)) & np.uint64(size - 1))
        while numbers[place] >= 0 and keys[numbers[place]] != key:
            place = (place + 1) & (size - 1)
        if numbers[place] < 0:
            numbers[place] = n
            keys[n] = key
            n += 1
        links[link]["to"] -= 2 * numbers[place]
    return n
