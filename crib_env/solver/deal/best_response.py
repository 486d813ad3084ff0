"""Exact best responses in whole deals: to how a player discards and plays.

In the play the player may remember to which of a few groups its own discards belong, and no more of them.

The responder knows how its opponent discards and plays. It chooses its own discards of every six cards, and then plays
knowing all six, the starter and what has been laid. How likely the opponent holds each hand follows from the cards that
the responder and the starter take from the deck, by rank exactly. The opponent's discards are the mean over the suits
that a kind of six may have; what suits the responder holds does not change them
(:mod:`crib_env.solver.deal.shows` says what that leaves out in the crib).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from crib_env.engine import DEALER, PONE, ROLES
from crib_env.exact.deal_classes import N_DEALS, class_sizes
from crib_env.exact.discard_means import STARTERS
from crib_env.hands import N_FOURS, N_RANKS
from crib_env.kernels import kernel
from crib_env.solver import in_stretches
from crib_env.solver.deal.holdings import by_choice, fill_hands
from crib_env.solver.deal.responses import Lanes, fill_chances, make_lanes, respond
from crib_env.solver.deal.shows import HEELS, choices, crib_means, discard_totals
from crib_env.solver.deal.sixes import N_CHOICES, N_PAIRS, sixes
from crib_env.solver.play_game import PlayGame

OnFirst = Callable[[int, int, np.ndarray], None]


class DealPolicy(NamedTuple):
    """How a player discards and plays."""

    discards: tuple[np.ndarray, np.ndarray]
    """By role (C,) how likely it makes each choice, if it is dealt the kind
    (:func:`crib_env.solver.deal.holdings.by_choice`)."""
    hands: tuple[float, float]
    """By role, mean points that its hand shows."""
    play: Callable[[int, int], np.ndarray]
    """Of a starter's rank and a role, (G, S) float32 by the group of its discards: its play, as
    :meth:`crib_env.solver.play_game.PlayGame.expected` takes it, in the tree of four cards each without a starter."""
    groups: np.ndarray
    """(2, 13, C) int8 by role and starter: the group of each choice's discards, all 0 if the play forgets them."""

    @classmethod
    def of(
        cls,
        discards: Sequence[np.ndarray],
        play: Callable[[int, int], np.ndarray],
        groups: np.ndarray | None = None,
    ) -> DealPolicy:
        """A policy, from its chances (962988, 15) to make each discard of a class, by role."""
        if groups is None:
            groups = np.zeros((len(ROLES), N_RANKS, N_CHOICES), np.int8)
        pone, dealer = (by_choice(of_role) for of_role in discards)
        hands = [float(class_sizes() @ (of_role * choices().hand).sum(axis=1).astype(float)) for of_role in discards]
        return cls((pone, dealer), (hands[PONE] / N_DEALS, hands[DEALER] / N_DEALS), play, groups)


class DealResponse(NamedTuple):
    """An exact best response in one role."""

    value: float
    """What it earns, net points a deal."""
    cribs: np.ndarray
    """(C,) mean points of the crib after each choice, without what the suits of its own discards add."""
    play: np.ndarray
    """(C,) what each choice is worth to it in the play, net points."""


def best_response(
    game: PlayGame,
    policy: DealPolicy,
    role: int,
    threads: int = 2,
    on_progress: Callable[[int], None] = lambda starters: None,
    on_first: OnFirst = lambda starter, hand, first: None,
) -> DealResponse:
    """The best response in a role to a policy in the other one.

    Args:
        game: the pegging game.
        policy: of the opponent.
        role: the responder's, ``PONE`` or ``DEALER``.
        threads: how many; they do not change the result.
        on_progress: called with 1 after each of the thirteen starters.
        on_first: called in threads for each starter and hand of the responder with (13, 13, 91), what each rank earns
            that it lays first: by the rank that the opponent led before, or 0, this rank, and its own discards.
    """
    kinds, chances = sixes(), policy.discards[1 - role]
    play = np.zeros(len(kinds.six))
    lanes: list[Lanes] = []
    for starter in range(N_RANKS):
        laid = np.array(policy.play(starter, 1 - role), np.float32)
        for of_group in laid:
            to_chances(game, of_group, 1 - role, threads)
        lanes = lanes or [make_lanes(len(laid)) for _ in range(threads)]
        against = Against(chances, policy.groups[1 - role, starter], laid)
        _add_play(game, against, (role, starter), lanes, play, on_first)
        on_progress(1)
    cribs = crib_means(chances, threads)
    own = float(class_sizes() @ discard_totals(role, cribs, play, choices()).max(axis=1).astype(float)) / N_DEALS
    heels = HEELS if role == DEALER else -HEELS
    return DealResponse(own - policy.hands[1 - role] + heels, cribs, play)


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
    on_first: Callable[[int, int, int, np.ndarray], None] = lambda role, starter, hand, first: None,
) -> DealResponses:
    """Best responses in both roles to a policy; see :func:`best_response`. ``on_first`` gets the role first."""
    return DealResponses(
        *(
            best_response(game, policy, role, threads, on_progress, partial(on_first, role))
            for role in range(len(ROLES))
        )
    )


def to_chances(game: PlayGame, weights: np.ndarray, role: int, threads: int) -> None:
    """Changes the weights of a policy (S,) to how likely it makes each choice of a role."""

    def fill(first: int, last: int) -> None:
        fill_chances(game.arrays, weights, role, first, last, np.zeros((2, N_FOURS), np.float32), weights)

    in_stretches(len(game.nodes), threads, fill)


class Against(NamedTuple):
    """How the opponent discards and plays beside a starter."""

    discards: np.ndarray  # (C,) of DealPolicy
    groups: np.ndarray  # (C,) of its discards
    play: np.ndarray  # (G, S) how likely it makes each choice


def _add_play(
    game: PlayGame,
    against: Against,
    at: tuple[int, int],
    lanes: list[Lanes],
    play: np.ndarray,
    on_first: OnFirst,
) -> None:
    """Adds to ``play`` (C,) what each choice of a role is worth beside one starter, times how often it is cut."""
    role, starter = at
    kinds, made = sixes(), against.discards.nonzero()[0]
    held = np.zeros((len(kinds.counts), len(against.play), N_FOURS), np.float32)
    free = lanes.copy()

    def fill_held(first: int, last: int) -> None:
        _fill_held(against, made, starter, kinds, first, last, held)

    def fill_play(first: int, last: int) -> None:
        own = free.pop()
        for hand in range(first, last):
            own.first[:] = 0
            _respond_with_hand(game.arrays, against.play, (role, starter, hand), kinds, held, own, play)
            on_first(starter, hand, own.first[..., :N_PAIRS])
        free.append(own)

    in_stretches(len(held), len(lanes), fill_held)
    in_stretches(N_FOURS, len(lanes), fill_play)


@kernel
def _fill_held(against, made, starter, kinds, first, last, held):
    ways = np.empty(len(kinds.parts))
    for six in range(first, last):
        if kinds.counts[six, starter] < 4:
            fill_hands(against.discards, made, against.groups, six, starter, kinds, ways, held[six])


@kernel
def _respond_with_hand(game, laid, part, kinds, held, lanes, play):
    """Adds what the choices are worth that keep a hand. ``lanes.first`` is in points too, if not 0."""
    role, starter, hand = part
    reach = lanes.reach[4]
    reach[:, :, :] = np.float32(0)
    some = False
    for two in range(kinds.choice.shape[1]):
        choice = kinds.choice[hand, two]
        if choice >= 0 and kinds.counts[kinds.six[choice], starter] < 4:
            some = True
            total = 0.0
            for group in range(len(reach)):
                for other in range(reach.shape[1]):
                    total += held[kinds.six[choice], group, other]
            for group in range(len(reach)):
                for other in range(reach.shape[1]):
                    reach[group, other, two] = held[kinds.six[choice], group, other] / total
    if not some:
        return
    respond(game, laid, role, hand, lanes)
    for two in range(kinds.choice.shape[1]):
        choice = kinds.choice[hand, two]
        if choice >= 0 and kinds.counts[kinds.six[choice], starter] < 4:
            cut = (4 - kinds.counts[kinds.six[choice], starter]) / STARTERS
            play[choice] += cut * lanes.values[0, two]
