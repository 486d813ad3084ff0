"""The play of a deal as a zero-sum game: the hands that both roles may hold, and the values of policies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from crib_env.engine import DEALER, PONE, ROLES
from crib_env.hands import HAND_TABLES, HANDS, KING, N_HANDS, N_RANKS, ORDERINGS
from crib_env.kernels import kernel
from crib_env.solver import in_stretches
from crib_env.solver.endings import WIDTH, make_endings
from crib_env.solver.pairs import Pairs, fill_factors, pairs_dealt
from crib_env.solver.public_state import CARDS, start_of_play
from crib_env.solver.sweeps import (
    BEST_RESPONSE,
    EXPECTED,
    Blend,
    Game,
    Step,
    Weights,
    Workspace,
    fill_blend,
    make_workspace,
    walk_down,
    walk_up,
)
from crib_env.solver.tree import build_tree

SPLIT = 3  # the tree has 2,197 parts for threads to share
_NOTHING = np.zeros(0, np.float32)


class BestResponses(NamedTuple):
    """Net points a deal that an exact best response earns against each role of a policy."""

    as_pone: float  # of the responder as pone, against the policy's dealer
    as_dealer: float

    @property
    def nash_conv(self) -> float:
        """The sum of both: 0 in equilibrium. Half of it is the policy's exploitability."""
        return self.as_pone + self.as_dealer


class PlayGame:
    """The play from a public state to the last card; suits have no part in it.

    Args:
        prior: by role, (n,) the weight of each hand (:data:`crib_env.hands.HANDS`) of as many ranks as the
            role holds. The probability of two hands is proportional to the product of their weights and of 4 - n for
            each of their cards, where n cards of its rank are gone before. So two players never hold the same card. By
            default the cards are dealt at random.
        start: the public state (:mod:`crib_env.solver.public_state`). By default pone leads and both roles hold four
            cards: the pegging game.
        split: after how many steps the tree's parts begin, which threads share. After none, what follows from a node is
            one stretch of nodes.

    Attributes:
        tree, extent: the public tree, and how large it is.
        nodes: (N,) its nodes, NODE of :mod:`crib_env.solver.tree`.
        arrays: all that kernels walk.
        cards: how many cards pone holds at the start.
    """

    def __init__(
        self,
        prior: Sequence[np.ndarray] | None = None,
        start: np.ndarray | None = None,
        threads: int = 2,
        split: int = SPLIT,
    ) -> None:
        start = start_of_play() if start is None else start
        self._sizes = sizes = tuple(start[CARDS : CARDS + len(ROLES)].tolist())
        self.cards: int = sizes[PONE]
        self.prior = tuple(ORDERINGS[size] for size in sizes) if prior is None else tuple(prior)
        self.tree, self.extent, keys = build_tree(start, min(split, sum(sizes) - 4))
        self.nodes = self.tree.nodes
        self.arrays = Game(self.tree, make_endings(keys, threads), HAND_TABLES)
        self._deals = float(self.prior[PONE] @ pairs_dealt(start) @ self.prior[DEALER])
        self._top = make_workspace(self.extent)
        self._workspaces = [make_workspace(self.extent) for _ in range(threads)]

    def hand_values(self, weights: Weights, step: Step, prior: Sequence[np.ndarray], pairs: np.ndarray) -> np.ndarray:
        """Walks the whole tree once, where the two players' hands depend on each other by more than the ways to deal
        them; returns (n,) what each hand of ``step.role`` earns, net points.

        Args:
            prior: by role, how often it holds each hand; of the other role these are factors of ``pairs``.
            pairs: (n, m) float32. Beside a hand of ``step.role``, the other role holds each hand with a probability
                of ``pairs`` times its prior. These add up to 1, or to 0 for a hand that cannot be dealt.
        """
        factors, role = self._factors[step.role], step.role

        def fill(first: int, last: int) -> None:
            fill_factors(pairs, role, self._sizes, HAND_TABLES, first, last, factors)

        in_stretches(len(factors), len(self._workspaces), fill)
        game = self.arrays._replace(pairs=Pairs(self._laid, factors, self._sizes))
        return self._walk(game, prior, weights, step)

    @cached_property
    def _laid(self) -> np.ndarray:
        """(N, 2, 2) of :class:`crib_env.solver.pairs.Pairs`."""
        laid, n_laid = np.zeros((len(self.nodes), 2, 2), np.int16), np.zeros((len(self.nodes), 2), int)
        for step in self.histories.T:
            at = (step >= 0).nonzero()[0]
            role, rank = step[at] >> 4, step[at] & 15
            laid[at, role, 0] = HAND_TABLES.with_rank[n_laid[at, role], rank, laid[at, role, 0]]
            n_laid[at, role] += 1
        for role, size in enumerate(self._sizes):
            at = (n_laid[:, role] == size).nonzero()[0]
            hand = laid[at, role, 0]
            lowest = HANDS[size][hand, 0]
            laid[at, role, 0], laid[at, role, 1] = HAND_TABLES.without_rank[size, lowest, hand], KING - lowest
        return laid

    @cached_property
    def _factors(self) -> list[np.ndarray]:
        """Space for the factors of each role, (J, K, 13, 16) of :class:`crib_env.solver.pairs.Pairs`."""
        pone, dealer = (int(N_HANDS[size - 1, 0]) for size in self._sizes)
        of_pone = np.zeros((dealer, pone, N_RANKS, WIDTH), np.float32)
        return [of_pone, of_pone.reshape(pone, dealer, N_RANKS, WIDTH)]

    def earned(self, policy: np.ndarray, other: np.ndarray, role: int, mode: int) -> float:
        """Net points a deal that a role earns against another policy of the other role.

        Args:
            policy: of the role; see :meth:`expected`.
            role: ``PONE`` or ``DEALER``.
            mode: ``EXPECTED``, or ``BEST_RESPONSE`` to ask what the role would earn at best.
        """
        return self.walk(Weights(policy, other, _NOTHING), Step(role, mode))

    def expected(self, policy: np.ndarray) -> float:
        """Net points a deal that pone earns when both roles play a policy.

        Args:
            policy: (``extent.slots``,) float32 weights of choices: a hand's choices are made in proportion to those
                above 0, or evenly where none is.
        """
        return self.earned(policy, policy, PONE, EXPECTED)

    def best_responses(self, policy: np.ndarray) -> BestResponses:
        """Net points a deal that exact best responses earn against a policy (see :meth:`expected`)."""
        return BestResponses(*(self.earned(policy, policy, role, BEST_RESPONSE) for role in range(len(ROLES))))

    def best_response(self, policy: np.ndarray, role: int) -> tuple[float, np.ndarray]:
        """What an exact best response in a role earns against a policy, net points a deal, and its choices: (S,)
        float32, 1 for the best ones, 0 for the other role's."""
        choices = np.zeros(self.extent.slots, np.float32)
        return self.walk(Weights(policy, policy, choices), Step(role, BEST_RESPONSE)), choices

    def response_values(self, policy: np.ndarray, role: int) -> np.ndarray:
        """The values of hands of a role that best responds to a policy, at the nodes of the first three steps.

        Returns:
            (V,) float32. The hands of a node stand from its ``value_at`` on. Values are sums over the other role's
            hands, see :mod:`crib_env.solver.sweeps`.
        """
        self.walk(Weights(policy, policy, _NOTHING), Step(role, BEST_RESPONSE))
        return self._top.values.copy()

    @cached_property
    def histories(self) -> np.ndarray:
        """(N, 8) int8 what was laid before each node of the public tree, oldest first, then -1: ``rank`` by pone,
        ``16 + rank`` by the dealer."""
        laid = np.full((len(self.nodes), 8), -1, np.int8)
        _fill_histories(self.tree, laid)
        return laid

    def child(self, node: int, rank: int) -> int:
        """The node that laying a rank at a node leads to; below 0 where it is none (:mod:`crib_env.solver.tree`)."""
        here = self.nodes[node]
        return int(self.tree.links["to"][here["first_link"] + rank - here["floor"][here["actor"]]])

    def _begin(self, policy: np.ndarray, prior: Sequence[np.ndarray], top: Workspace) -> None:
        """Fills the reach of the nodes before the first part, and of the first node of each part."""
        reach = np.concatenate(prior)
        top.reach[: len(reach)] = reach
        walk_down(self.arrays, policy, 0, int(self.tree.parts[0]), top)

    @cached_property
    def _second(self) -> list[Workspace]:
        """Workspaces for a second policy: one for the top, and one for each thread."""
        return [make_workspace(self.extent) for _ in range(1 + len(self._workspaces))]

    def chances_at(self, policy: np.ndarray, node: int, hand: int) -> np.ndarray:
        """(13,) how likely a policy lays each rank of a hand at a node of its player."""
        n, at = HAND_TABLES.n_hands, self.nodes[node]
        role, low, slot = at["actor"], int(at["floor"][at["actor"]]), int(at["first_slot"])
        k = int(at["n_cards"][role])
        weights, playable = np.zeros(N_RANKS), np.zeros(N_RANKS)
        for rank in range(low, int(at["high"])):
            left = int(HAND_TABLES.without_rank[k, rank, hand])
            if left >= 0:
                playable[rank] = 1
                weights[rank] = max(float(policy[slot + (rank - low) * n[k - 1, low] + left]), 0.0)
        weights = weights if weights.any() else playable
        return weights / weights.sum()

    def node_at(self, laid: Sequence[tuple[int, int]], role: int, lowest: int) -> int:
        """The node at which a role is to lay a card.

        Args:
            laid: roles and ranks before, oldest first.
            role: who is to lay.
            lowest: the lowest rank that it holds; in this count, or in the next if that does not fit.
        """
        nodes, links, at = self.nodes, self.tree.links, 0
        for n, (actor, rank) in enumerate((*laid, (role, lowest))):
            while nodes[at]["actor"] != actor or rank >= nodes[at]["high"]:  # who is to act says go
                low, high = int(nodes[at]["floor"][nodes[at]["actor"]]), int(nodes[at]["high"])
                at = int(links[nodes[at]["first_link"] + max(high - low, 0)]["to"])
            if n < len(laid):
                at = int(links[nodes[at]["first_link"] + rank - int(nodes[at]["floor"][actor])]["to"])
        return at

    def walk(self, weights: Weights, step: Step) -> float:
        """Walks the whole tree once.

        Returns:
            The net points a deal that ``step.role`` earns, to the last bit the same for any number of threads.
        """
        values = self._walk(self.arrays, self.prior, weights, step)
        return float(values.astype(float) @ self.prior[step.role]) / self._deals

    def _walk(self, game: Game, prior: Sequence[np.ndarray], weights: Weights, step: Step) -> np.ndarray:
        """The values of the hands of ``step.role`` at the start, summed over those of the other one; a view."""
        top, role, tree = self._top, step.role, game.tree
        self._begin(weights.other, prior, top)

        def walk_part(first: int, last: int, workspace: Workspace) -> None:
            walk_down(game, weights.other, first, last, workspace)
            walk_up(game, weights, step, first, last, workspace)
            node = tree.nodes[first]
            values = slice(node["value_at"], node["value_at"] + N_HANDS[node["n_cards"][role], 0])
            top.values[values] = workspace.values[values]

        self._in_parts(walk_part, [top], [[workspace] for workspace in self._workspaces])
        walk_up(game, weights, step, 0, int(tree.parts[0]), top)
        return top.values[: len(prior[role])]

    def _in_parts(self, do: Callable[..., None], tops: list[Workspace], workspaces: list[list[Workspace]]) -> None:
        """Calls ``do(first node, last node + 1, *workspaces)`` for each part of the tree, in threads.

        Args:
            tops: workspaces with the reach of the first node of each part (:meth:`_begin`).
            workspaces: for each thread as many, which get this reach.
        """
        parts, free = self.tree.parts, workspaces.copy()
        for own in workspaces:
            for workspace, top in zip(own, tops):
                workspace.reach[: self.extent.top_reach] = top.reach[: self.extent.top_reach]

        def do_parts(start: int, stop: int) -> None:
            own = free.pop()
            for first, last in pairwise(parts[start : stop + 1].tolist()):
                do(first, last, *own)
            free.append(own)

        in_stretches(len(parts) - 1, len(workspaces), do_parts)

    def blend(
        self,
        policies: tuple[np.ndarray, np.ndarray],
        share: float,
        role: int,
        out: np.ndarray,
        average: np.ndarray = _NOTHING,
        weight: float = 0.0,
    ) -> None:
        """Fills ``out`` with the policy of a role when nobody knows which of two kinds of players it is.

        Args:
            policies: of both kinds, as :meth:`expected` takes them.
            share: how many players are of the first kind.
            average: the second policy is added to it, times the reach of its hands and ``weight``, if that is not 0.
        """
        both = Blend(policies, np.float32(share), role, out, average, np.float32(weight))

        def fill(first: int, last: int, *workspaces: Workspace) -> None:
            fill_blend(self.arrays, both, workspaces, first, last)

        def fill_part(first: int, last: int, *workspaces: Workspace) -> None:
            for policy, workspace in zip(policies, workspaces):
                walk_down(self.arrays, policy, first, last, workspace)
            fill(first, last, *workspaces)

        tops = [self._top, self._second[0]]
        for policy, top in zip(policies, tops):
            self._begin(policy, self.prior, top)
        fill(0, int(self.tree.parts[0]), *tops)
        self._in_parts(fill_part, tops, [list(two) for two in zip(self._workspaces, self._second[1:])])


@kernel
def _fill_histories(tree, laid):
    for at in range(len(tree.nodes)):
        node = tree.nodes[at]
        role = np.int64(node["actor"])
        low, high = np.int64(node["floor"][role]), np.int64(node["high"])
        n = 0
        while n < 8 and laid[at, n] >= 0:
            n += 1
        for rank in range(min(low, high), high + (high < N_RANKS)):
            child = tree.links[node["first_link"] + rank - min(low, high)]["to"]
            if child >= 0:
                laid[child] = laid[at]
                if rank < high:
                    laid[child, n] = 16 * role + rank
