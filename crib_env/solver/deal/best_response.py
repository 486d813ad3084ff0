"""Exact best responses in whole deals: to how a player discards and plays.

The responder knows how its opponent discards and plays. It chooses its own discards of every six cards, and then plays
knowing all six, the starter and what has been laid. How likely the opponent holds each hand follows from the cards that
the responder and the starter take from the deck, by rank exactly. The opponent's discards are the mean over the suits
that a kind of six may have; what suits the responder holds does not change them
(:mod:`crib_env.solver.deal.kinds` says what that leaves out in the crib).

Responders with the same hand and other discards walk the same nodes, so one walk takes several of them side by side, as
*lanes*. Each has its own weights of the hands that the opponent may hold, and each chooses for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from crib_env.engine import DEALER, PONE, ROLES
from crib_env.exact.deal_classes import N_DEALS, class_sizes
from crib_env.exact.discard_means import STARTERS
from crib_env.hands import KING, N_FOURS, N_RANKS
from crib_env.kernels import kernel
from crib_env.solver import in_stretches
from crib_env.solver.deal.kinds import HEELS, by_choice, choices, crib_means, discard_totals, fill_hands, sixes
from crib_env.solver.endings import OF_ACTOR, OF_OTHER
from crib_env.solver.play_game import PlayGame
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
    """(5, 1820, LANES): by cards that the opponent still holds, the reach of its hands, one way down the tree."""
    values: np.ndarray
    """(depth, LANES) of the nodes on this way."""
    total: np.ndarray
    """(LANES,) to add up in."""
    best: np.ndarray
    """(LANES,) int64, the rank that each responder lays first, if it is to lay one."""
    steps: np.ndarray
    """(depth, 4) int64: of each node on the way, its number, the responder's hand, its cards, and the next rank."""


def make_lanes() -> Lanes:
    """Empty space for a walk."""
    return Lanes(
        np.zeros((5, N_FOURS, LANES), np.float32),
        np.zeros((_DEPTH, LANES), np.float32),
        np.zeros(LANES, np.float32),
        np.zeros(LANES, np.int64),
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
        chances: (S,) of the opponent's choices, :func:`fill_chances`.
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
    for h in range(n):
        for lane in range(LANES):
            if reach[k, h, lane] > _ZERO:
                return True
    return False


@kernel
def _lay(node, rank, hands, chances, reach, total):
    """The reach of the hands that are left when the opponent lays a rank; whether there is any."""
    actor = np.int64(node["actor"])
    k, low = np.int64(node["n_cards"][actor]), np.int64(node["floor"][actor])
    if k == 1:
        for lane in range(LANES):
            reach[0, 0, lane] = reach[1, KING - rank, lane]
        return _is_reached(reach, 0, 1)
    for lane in range(LANES):
        total[lane] = _ZERO
    n_left = hands.n_hands[k - 1, low]
    slot = node["first_slot"] + (rank - low) * n_left
    for left in range(n_left):
        h, chance = np.int64(hands.with_rank[k - 1, rank, left]), chances[slot + left]
        for lane in range(LANES):
            here = reach[k, h, lane] * chance
            reach[k - 1, left, lane] = here
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
        for lane in range(LANES):
            values[depth, lane] = net * reach[0, 0, lane]
        return
    ending = (FIRST_ENDING - child) >> 1
    side = OF_ACTOR if (FIRST_ENDING - child) & 1 == role else OF_OTHER
    for y in range(against[0]):
        points = np.float32(game.endings[ending, side, y, own]) + net
        for lane in range(LANES):
            values[depth, lane] += points * reach[against[1], y, lane]


class DealPolicy(NamedTuple):
    """How a player discards and plays."""

    discards: tuple[np.ndarray, np.ndarray]
    """By role (C,) how likely it makes each choice, if it is dealt the kind
    (:func:`crib_env.solver.deal.kinds.by_choice`)."""
    hands: tuple[float, float]
    """By role, mean points that its hand shows."""
    play: Callable[[int, int], np.ndarray]
    """Of a starter's rank and a role, (S,) float32: its play, as
    :meth:`crib_env.solver.play_game.PlayGame.expected` takes it, in the tree of four cards each without a starter."""

    @classmethod
    def of(cls, discards: Sequence[np.ndarray], play: Callable[[int, int], np.ndarray]) -> DealPolicy:
        """A policy, from its chances (962988, 15) to make each discard of a class, by role."""
        pone, dealer = (by_choice(of_role) for of_role in discards)
        hands = [float(class_sizes() @ (of_role * choices().hand).sum(axis=1).astype(float)) for of_role in discards]
        return cls((pone, dealer), (hands[PONE] / N_DEALS, hands[DEALER] / N_DEALS), play)


class DealResponse(NamedTuple):
    """An exact best response in one role."""

    value: float
    """What it earns, net points a deal."""
    cribs: np.ndarray
    """(C,) mean points of the crib after each choice, without what the suits of its own discards add."""
    play: np.ndarray
    """(C,) what each choice is worth to it in the play, net points."""


class DealResponses(NamedTuple):
    """Exact best responses against each role of a policy."""

    as_pone: DealResponse
    """Against the policy's dealer. The value of a deal to the dealer is at least minus what this earns."""
    as_dealer: DealResponse
    """Against the policy's pone. The value of a deal to the dealer is at most what this earns."""

    @property
    def nash_conv(self) -> float:
        """What both earn together: 0 in equilibrium. Half of it is the policy's exploitability."""
        return self.as_pone.value + self.as_dealer.value


def best_responses(
    game: PlayGame,
    policy: DealPolicy,
    threads: int = 2,
    on_progress: Callable[[int], None] = lambda starters: None,
) -> DealResponses:
    """The best responses in both roles to a policy in the other one.

    Args:
        game: the pegging game.
        policy: of the opponent.
        threads: how many; they do not change the result.
        on_progress: called with 1 after each of the thirteen starters, in each role.
    """
    lanes = [make_lanes() for _ in range(threads)]

    def respond_in(role: int) -> DealResponse:
        chances, play = policy.discards[1 - role], np.zeros(len(sixes().six))
        for starter in range(N_RANKS):
            laid = np.array(policy.play(starter, 1 - role), np.float32)
            to_chances(game, laid, 1 - role, threads)
            _add_play(game, chances, laid, (role, starter), lanes, play)
            on_progress(1)
        cribs = crib_means(chances, threads)
        totals = discard_totals(role, cribs, play, choices())
        own = float(class_sizes() @ totals.max(axis=1).astype(float)) / N_DEALS
        heels = HEELS if role == DEALER else -HEELS
        return DealResponse(own - policy.hands[1 - role] + heels, cribs, play)

    return DealResponses(*map(respond_in, range(len(ROLES))))


def to_chances(game: PlayGame, weights: np.ndarray, role: int, threads: int) -> None:
    """Changes the weights of a policy (S,) to how likely it makes each choice of a role."""

    def fill(first: int, last: int) -> None:
        fill_chances(game.arrays, weights, role, first, last, np.zeros((2, N_FOURS), np.float32), weights)

    in_stretches(len(game.nodes), threads, fill)


def _add_play(
    game: PlayGame, chances: np.ndarray, laid: np.ndarray, at: tuple[int, int], lanes: list[Lanes], play: np.ndarray
) -> None:
    """Adds to ``play`` (C,) what each choice of a role is worth beside one starter, times how often it is cut.

    Args:
        chances: (C,) of the opponent's discards.
        laid: (S,) of its play, :func:`fill_chances`.
        at: the role, and the starter's rank.
    """
    role, starter = at
    kinds, made = sixes(), chances.nonzero()[0]
    held = np.zeros((len(kinds.counts), N_FOURS), np.float32)
    free = lanes.copy()

    def fill_held(first: int, last: int) -> None:
        _fill_held(chances, made, starter, kinds, first, last, held)

    def fill_play(first: int, last: int) -> None:
        own = free.pop()
        for hand in range(first, last):
            _respond_with_hand(game.arrays, laid, (role, starter, hand), kinds, held, own, play)
        free.append(own)

    in_stretches(len(held), len(lanes), fill_held)
    in_stretches(N_FOURS, len(lanes), fill_play)


@kernel
def _fill_held(chances, made, starter, kinds, first, last, held):
    ways = np.empty(len(kinds.parts))
    for six in range(first, last):
        if kinds.counts[six, starter] < 4:
            fill_hands(chances, made, six, starter, kinds, ways, held[six])


@kernel
def _respond_with_hand(game, laid, part, kinds, held, lanes, play):
    """Adds what the choices are worth that keep a hand."""
    role, starter, hand = part
    reach = lanes.reach[4]
    reach[:, :] = np.float32(0)
    some = False
    for two in range(kinds.choice.shape[1]):
        six = _kind_of(kinds, hand, two, starter)
        if six >= 0:
            some = True
            total = 0.0
            for other in range(len(reach)):
                total += held[six, other]
            for other in range(len(reach)):
                reach[other, two] = held[six, other] / total
    if not some:
        return
    respond(game, laid, role, hand, lanes)
    for two in range(kinds.choice.shape[1]):
        six = _kind_of(kinds, hand, two, starter)
        if six >= 0:
            play[kinds.choice[hand, two]] += (4 - kinds.counts[six, starter]) / STARTERS * lanes.values[0, two]


@kernel
def _kind_of(kinds, hand, two, starter):
    """The kind of six that is a hand and two ranks, or -1 if there is none that leaves a starter of this rank."""
    choice = kinds.choice[hand, two]
    return kinds.six[choice] if choice >= 0 and kinds.counts[kinds.six[choice], starter] < 4 else np.int64(-1)
