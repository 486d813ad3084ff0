"""Solves the rest of a play during the game: from a public state on, for the hands that both players may hold there.

The stakes say what points are worth: near 121 the chance to win the game depends on the shows and on who gets there
first.
Both players' ranges at the root are taken as given, as in "unsafe" subgame solving (Brown and Sandholm 2017, "Safe and
nested subgame solving for imperfect-information games", section 4).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.engine import PONE
from crib_env.hands import HAND_TABLES, N_RANKS, hand_number
from crib_env.kernels import kernel
from crib_env.solver.cfr import DISCOUNTS, discounted
from crib_env.solver.endings import OF_ACTOR, OF_OTHER, WIDTH, ending_points
from crib_env.solver.public_state import ACTOR, CARDS, COUNT, GOAL, N_FIELDS, POINTS, lay_rank, n_playable_ranks, say_go
from crib_env.solver.sweeps import (
    BEST_RESPONSE,
    UPDATE_REGRETS,
    Game,
    Step,
    Weights,
    fill_rank_values,
    make_workspace,
    walk_down,
    walk_up,
)
from crib_env.solver.tree import FIRST_ENDING, NO_LINK, build_tree


class Stakes(NamedTuple):
    """The value of the end of a play to pone; to the dealer it is the negative."""

    worth: np.ndarray
    """(A, B) float64 by pone's points in play and show together, and by the dealer's; the last entries stand for
    more, too."""
    shows: np.ndarray
    """(2, n) int64 points in the show, by role and hand (:data:`crib_env.hands.HANDS`)."""


WON = 1.0
"""The value to pone of reaching its goal (``GOAL``) in the play. It is 0 if the dealer does so first, and half if
both reach it with their last cards."""


class Subgame:
    """The game that follows from a public state.

    Args:
        root: the public state, in which the actor holds at least two cards; its points count from the start of the
            play.
        laid: the ranks that pone and the dealer have laid so far.
        prior: by role, (n,) the weight of each hand that its goes allow (``FLOOR``), as in
            :class:`crib_env.solver.play_game.PlayGame`.

    Attributes:
        tree: the public tree below the root.
        policy: (S,) float32 weights of choices, see :meth:`solve`.
    """

    def __init__(
        self,
        root: np.ndarray,
        laid: tuple[list[int], list[int]],
        stakes: Stakes,
        prior: tuple[np.ndarray, np.ndarray],
    ) -> None:
        tree, extent, keys = build_tree(root, 0)
        points = ending_points(keys)
        links = tree.links.copy()
        endings = np.zeros((np.count_nonzero(links["to"] <= FIRST_ENDING), 2, N_RANKS, WIDTH), np.float32)
        before = np.array([[hand_number(ranks) for ranks in laid], [len(ranks) for ranks in laid]])
        _stake(root, before, tree, points, stakes, HAND_TABLES, links, endings)
        self.tree = tree._replace(links=links)
        self.policy = np.zeros(extent.slots, np.float32)
        self._game = Game(self.tree, endings, HAND_TABLES)
        self._prior = np.concatenate(prior).astype(np.float32)
        self._work = make_workspace(extent)

    def solve(self, iterations: int) -> None:
        """Fills :attr:`policy` with the average of some iterations (:class:`crib_env.solver.cfr.PlaySolver`)."""
        self.policy[:] = 0
        regrets = np.zeros_like(self.policy)
        _iterate(self._game, Weights(regrets, regrets, self.policy), self._prior, iterations, self._work)

    def policy_of(self, role: int, hand: int) -> HandPolicy:
        """What the policy lays with a role's hand (its number at the root)."""
        nodes = self.tree.nodes
        codes = np.zeros(len(nodes), np.int64)
        chances = np.zeros((len(nodes), N_RANKS), np.float32)
        n = _fill_policy(self.tree, self.policy, role, hand, HAND_TABLES, codes, chances)
        order = codes[:n].argsort()
        return HandPolicy(codes[order], chances[order])

    def rank_values(self, role: int, hand: int, code: int) -> np.ndarray:
        """What each rank is worth to a role at one of its choices, (13,); -inf for ranks that it cannot lay.

        The opponent plays the policy, and the role goes on as well as it can against that. Where the policy never leads
        to the choice, it is NaN.

        Args:
            role: ``PONE`` or ``DEALER``.
            hand: the number of its hand at the root.
            code: the path to the choice, as :func:`follow` numbers it.

        Raises:
            ValueError: the path leads to an end of the tree, where no player has a choice any more.
        """
        nodes, links = self.tree.nodes, self.tree.links
        path = [int(digit, 16) for digit in f"{code:x}"[1:]]
        at = 0
        for step in path:
            node = nodes[at]
            actor = int(node["actor"])
            high = int(node["high"])
            rank, low = high if step == N_RANKS else step, min(int(node["floor"][actor]), high)
            if actor == role and step < N_RANKS:
                hand = int(HAND_TABLES.without_rank[node["n_cards"][role], rank, hand])
            at = int(links[node["first_link"] + rank - low]["to"])
            if at < 0:
                raise ValueError(f"code={code:x} is not allowed: there is no choice any more after {path}")
        values, work, n = np.empty(N_RANKS), self._work, len(nodes)
        work.reach[: len(self._prior)] = self._prior
        walk_down(self._game, self.policy, 0, n, work)
        weights = Weights(self.policy, self.policy, np.zeros(0, np.float32))
        walk_up(self._game, weights, Step(role, BEST_RESPONSE), 0, n, work)
        fill_rank_values(self._game, at, hand, work, values)
        return values


@kernel
def _stake(root, laid, tree, points, stakes, hands, links, endings):
    """Gives each link that leads to an ending its own table of values.

    ``laid`` (2, 2) is the number of the hand of ranks that each role laid before the root, and below it their number.
    """
    nodes = tree.nodes
    states, numbers = np.empty((len(nodes), N_FIELDS), np.int64), np.empty((len(nodes), 2), np.int64)
    states[0], numbers[0] = root, laid[0]
    sizes = laid[1]
    s, number = np.empty(N_FIELDS, np.int64), np.empty(2, np.int64)
    n = 0
    for at in range(len(nodes)):
        node = nodes[at]
        actor = np.int64(node["actor"])
        low, high = np.int64(node["floor"][actor]), np.int64(node["high"])
        for rank in range(min(low, high), high + (high < N_RANKS)):
            link = links[node["first_link"] + rank - min(low, high)]
            to = link["to"]
            if to == NO_LINK:
                continue
            s[:], number[:] = states[at], numbers[at]
            if rank == high:
                say_go(s)
            else:
                n_laid = sizes[actor] + root[CARDS + actor] - s[CARDS + actor]
                number[actor] = hands.with_rank[n_laid, rank, number[actor]]
                lay_rank(s, rank)
            if to >= 0:
                states[to], numbers[to] = s, number
            elif to <= FIRST_ENDING:
                _fill_ending(s, number, sizes, root, points[(FIRST_ENDING - to) >> 1], stakes, hands, endings[n])
                link["to"], link["net"] = FIRST_ENDING - 2 * n - ((FIRST_ENDING - to) & 1), 0
                n += 1


@kernel
def _fill_ending(s, number, sizes, root, points, stakes, hands, out):
    actor = s[ACTOR]
    pone_first = actor == PONE
    shows = np.empty((2, N_RANKS), np.int64)
    for role in range(2):
        n_laid = sizes[role] + root[CARDS + role] - s[CARDS + role]
        for x in range(N_RANKS if s[CARDS + role] else 1):
            hand = hands.with_rank[n_laid, N_RANKS - 1 - x, number[role]] if s[CARDS + role] else number[role]
            shows[role, x] = stakes.shows[role, hand]
    most_a, most_b = stakes.worth.shape[0] - 1, stakes.worth.shape[1] - 1
    for x in range(N_RANKS if s[CARDS] else 1):
        for y in range(N_RANKS if s[CARDS + 1] else 1):
            if pone_first:
                pone, dealer = s[POINTS] + points[0, x, y], s[POINTS + 1] + points[1, x, y]
            else:
                pone, dealer = s[POINTS] + points[1, y, x], s[POINTS + 1] + points[0, y, x]
            if s[POINTS] >= s[GOAL]:
                value = WON
            elif s[POINTS + 1] >= s[GOAL + 1]:
                value = 0.0
            elif pone >= s[GOAL]:
                value = WON / 2 if dealer >= s[GOAL + 1] else WON
            elif dealer >= s[GOAL + 1]:
                value = 0.0
            else:
                value = stakes.worth[min(pone + shows[0, x], most_a), min(dealer + shows[1, y], most_b)]
            out[OF_ACTOR if pone_first else OF_OTHER, y, x] = value
            out[OF_OTHER if pone_first else OF_ACTOR, x, y] = -value


@kernel
def _iterate(game, weights, prior, iterations, work):
    n, size = len(game.tree.nodes), len(prior)
    for t in range(iterations):
        weight, positive, negative = discounted(t, DISCOUNTS)
        for role in range(2):
            work.reach[:size] = prior
            walk_down(game, weights.other, 0, n, work)
            walk_up(game, weights, Step(role, UPDATE_REGRETS, weight, positive, negative), 0, n, work)


class HandPolicy(NamedTuple):
    """What a policy lays with one hand at each of its C choices."""

    codes: np.ndarray  # (C,) int64, sorted: the paths from the root of the subgame, as :func:`follow` numbers them
    chances: np.ndarray  # (C, 13) float32, by rank


@kernel
def follow(s, ranks, roles, first, n, role, lowest):
    """Moves a public state to the decision of a player, and numbers the path.

    Args:
        s: the public state before card ``first``.
        ranks, roles: all that was laid in this play, and by whom; ``n`` cards.
        role, lowest: of the player to lay now, and the lowest rank it holds, which fits.
    """
    code = np.int64(1)
    for k in range(first, n + 1):
        by, rank = (roles[k], ranks[k]) if k < n else (role, lowest)
        while s[ACTOR] != by or rank >= n_playable_ranks(s[COUNT]):
            say_go(s)
            code = code * 16 + N_RANKS
        if k < n:
            lay_rank(s, rank)
            code = code * 16 + rank
    return code


@kernel
def _fill_policy(tree, policy, role, hand, hands, codes, chances):
    """Fills :class:`HandPolicy` of a role's hand, not sorted; returns how many."""
    nodes = tree.nodes
    code_of, hand_of = np.zeros(len(nodes), np.int64), np.full(len(nodes), -1, np.int64)
    code_of[0], hand_of[0] = 1, hand
    n = 0
    for at in range(len(nodes)):
        h = hand_of[at]
        if h < 0:
            continue
        node = nodes[at]
        actor = np.int64(node["actor"])
        k, low, high = np.int64(node["n_cards"][actor]), np.int64(node["floor"][actor]), np.int64(node["high"])
        if actor == role and k >= 2 and hands.n_playable[k, high, h] >= 2:
            codes[n] = code_of[at]
            n_left = hands.n_hands[k - 1, low]
            for rank in range(low, high):
                left = hands.without_rank[k, rank, h]
                if left >= 0:
                    chances[n, rank] = max(policy[node["first_slot"] + (rank - low) * n_left + left], np.float32(0))
            total = chances[n].sum()
            for rank in range(low, high):
                if total > 0:
                    chances[n, rank] /= total
                elif hands.without_rank[k, rank, h] >= 0:
                    chances[n, rank] = 1 / hands.n_playable[k, high, h]
            n += 1
        for rank in range(min(low, high), high + (high < N_RANKS)):
            to = tree.links[node["first_link"] + rank - min(low, high)]["to"]
            if to >= 0:
                goes = rank == high
                code_of[to] = code_of[at] * 16 + (N_RANKS if goes else rank)
                if actor != role:
                    hand_of[to] = h
                elif goes:
                    hand_of[to] = -1 if hands.n_playable[k, high, h] else h
                else:
                    hand_of[to] = hands.without_rank[k, rank, h]
    return n
