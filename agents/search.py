"""``search``: another agent's policy of the pegging game, its blueprint, improved at each decision by a search.

The search is of a public state, for all hands that both players may hold there, each as likely as it is by the chances
of the blueprint (the ranges). What follows is evaluated exactly. An update is a step of magnetic mirror descent for
every decision that follows, of both players, with the blueprint as the magnet (Sokota et al. 2023, "The
update-equivalence framework for decision-time planning"); with the names of :mod:`crib_env.train.mmd`::

    π_(t+1) = argmax over π of   ⟨Q_t, π⟩  −  α KL(π, blueprint)  −  1/η KL(π, π_t)

π_0 is the blueprint. At the next decision the search begins again. An opponent may gain by all this: it may come to a
state with other hands than its range says.

The safe search changes the decision alone, and plays by the blueprint after it, against an opponent who does its best
there. A hand that would gain by the change weighs more in the next update, as in the gadget of safe subgame solving
(Brown and Sandholm 2017, "Safe and nested subgame solving for imperfect-information games"). At last the policy moves
back to the blueprint until no hand gains more than ``_TOLERANCE``. So a best response to the player gains at most that
much more than one to the blueprint, for each decision that a player has in a deal.

What it finds of a public state is kept, but follows from the blueprint and the settings alone. With four cards each
the lead's search would take minutes.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from crib_env import PlayerViews
from crib_env.agents import make_agent
from crib_env.agents.asked import check_can_be_asked, child, policy_of
from crib_env.agents.choosing import card_chances, draw, legal_ranks, read_play, uniforms
from crib_env.engine import PONE, ROLES
from crib_env.hands import HAND_TABLES, N_HANDS, N_RANKS, hand_of_mask
from crib_env.kernels import kernel, mask_of, streams
from crib_env.players.agent import Agent, Powers, mixes
from crib_env.solver.pairs import pairs_dealt
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import CARDS, GONE, N_FIELDS, start_of_play
from crib_env.solver.sweeps import (
    BEST_RESPONSE,
    EXPECTED,
    Game,
    Step,
    Weights,
    make_workspace,
    walk_down,
    walk_up,
)
from crib_env.values import Amount, Positive

_ANY_CARD = 0.01
"""How often the blueprint is taken to lay any legal card instead: so it comes to all decisions, with all hands."""
_TOLERANCE = 0.001
"""Points that a best response may gain by a change that is called safe."""
_FIRMNESS = 100.0
"""How much a hand's share of all weight grows for each point that it gains by a change, in the safe search."""
_LEAST = np.float32(1e-6)  # of the chances of choices: what was given up can come back
_LEAST_MET = 1e-12  # weights of hands below it are rounding
_NOTHING = np.zeros(0, np.float32)


@dataclass(kw_only=True)
class Settings:
    """Those of a search."""

    updates: Amount = 10
    """Most updates of a decision."""
    ms: Positive | None = None
    """Milliseconds after which no further update of a decision begins. What is found then depends on the machine."""
    temperature: Positive = 0.05
    """α in points."""
    step_size: Positive = 3.0
    """η for each point."""
    ranges: Literal["blueprint", "search"] = "blueprint"
    """Whose policy has led to a state: the blueprint, or the player's own, and an opponent who searches too."""
    safe: bool = False
    """Whether to search safely, see the module; then there is no α, and the player's own range is by its policy."""


class MirrorStep(NamedTuple):
    """A step of mirror descent."""

    rate: np.float32  # of the values
    pull: np.float32  # towards the blueprint, 0 to 1
    values: np.ndarray  # (S,) of choices, sums over the other role's hands, each weighted
    met: np.ndarray  # the sums of these weights, in the places of a workspace's values
    blueprint: np.ndarray  # (S,) the chances of choices


class _Erring:
    """An agent as the search takes it: it lays any legal card once in a hundred times."""

    def __init__(self, agent: Agent) -> None:
        self.name, self.act, self._agent = agent.name, agent.act, agent
        self.powers = Powers(mixes="known", suits=agent.powers.suits, remembers=agent.powers.remembers)

    def probabilities(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.MixedAgent`."""
        agent, legal = self._agent, views.action_mask
        chances = agent.probabilities(views) if mixes(agent) else np.eye(legal.shape[1])[agent.act(views)]
        return (1 - _ANY_CARD) * chances + _ANY_CARD * legal / legal.sum(axis=1, keepdims=True)


class Search:
    """Improves an agent's policy of the pegging game, one public state at a time.

    Attributes:
        game: the pegging game; what follows from a node of its tree is one stretch of nodes.
        blueprint: (S,) float32 the agent's policy, as :meth:`crib_env.solver.play_game.PlayGame.expected` takes it.
        policy: (S,) float32 that of the player at nodes that were searched, and the blueprint elsewhere.
    """

    def __init__(self, agent: Agent, cards: int, settings: Settings) -> None:
        self.game = game = PlayGame(start=start_of_play(cards), threads=1, split=0)
        self._settings, n = settings, len(game.nodes)
        # Where there is no choice, nobody is asked, and any number does.
        self.blueprint = np.maximum(policy_of(_Erring(agent), game), np.finfo(np.float32).tiny)
        links = game.tree.links.copy()
        links["net"] = 1
        # With one point at every end, the value of a hand is the weight of all that it may meet.
        self._ones = Game(game.tree._replace(links=links), np.zeros_like(game.arrays.endings), HAND_TABLES)
        self._work, self._by_policy, *self._met = (make_workspace(game.extent) for _ in range(4))
        self._values, self._replies, self._now = (np.zeros_like(self.blueprint) for _ in range(3))
        for role in range(len(ROLES)):  # without values, this makes chances of what was counted
            self._now[:] = self.blueprint
            self._update(role, 0, n, 0.0, 0.0)
            self.blueprint[:] = self._now
        self.policy = self.blueprint.copy()
        self._parents, self._ends, self._is_known = np.zeros(n, int), np.arange(1, n + 1), np.zeros(n, np.bool_)
        _fill_relations(game.tree, self._parents, self._ends)
        prior = np.concatenate(game.prior)
        self._by_policy.reach[: len(prior)] = self._work.reach[: len(prior)] = prior
        walk_down(game.arrays, self.blueprint, 0, n, self._work)
        self._by_blueprint = self._work.reach.copy()
        self._weigh(0, n, self._by_blueprint)

    def search(self, at: int) -> None:
        """Finds the policy of a node, for all hands of its player."""
        slots, settings = self._slots(at), self._settings
        if self._is_known[at] or slots.start == slots.stop:
            return
        own = int(self.game.nodes["actor"][at])
        ranges = [self._by_policy.reach if settings.ranges == "search" else self._by_blueprint] * len(ROLES)
        if settings.safe:
            ranges[own] = self._by_policy.reach
        if settings.safe or settings.ranges == "search":
            self._come_to(at)
        for role, reach in enumerate(ranges):
            hands = self._hands(at, role)
            self._work.reach[hands] = reach[hands]
        (self._change_safely if settings.safe else self._descend)(at, own)
        self.policy[slots] = self._now[slots]
        after = int(self._ends[at])
        changed = slice(slots.start, self._slots(after).start if after < len(self._ends) else None)
        self._now[changed] = self.blueprint[changed]
        self._is_known[at] = True

    def _come_to(self, at: int) -> None:
        """Finds the policy of all nodes before a node, and how likely it comes to the node with each hand."""
        path = [at]
        while path[-1]:
            path.append(int(self._parents[path[-1]]))
        for before in path[:0:-1]:
            self.search(before)
            walk_down(self.game.arrays, self.policy, before, before + 1, self._by_policy)

    def _descend(self, at: int, own: int) -> None:
        """Mirror descent in all that follows; the last update is of the decision alone."""
        settings, last, until = self._settings, int(self._ends[at]), self._deadline()
        rate = 1 / (settings.temperature + 1 / settings.step_size)
        if settings.ranges == "search" and at:  # else the ranges are the blueprint's
            walk_down(self.game.arrays, self._now, at, last, self._work)
            self._weigh(at, last, self._work.reach)
        for update in range(1, settings.updates + 1):
            is_last = update == settings.updates or time.perf_counter() >= until
            roles = [own] if is_last else list(range(len(ROLES)))
            walk_down(self.game.arrays, self._now, at, last, self._work)
            for role in roles:
                self._hand_values(at, role, EXPECTED, self._now, self._values)
            for role in roles:
                self._update(role, at, at + 1 if is_last else last, rate, settings.temperature * rate)
            if is_last:
                return

    def _weigh(self, first: int, last: int, reach: np.ndarray) -> None:
        """Finds the weight of all that each hand may meet at nodes ``first`` to ``last - 1``."""
        for role, met in enumerate(self._met):
            met.reach[:] = reach
            walk_up(self._ones, Weights(self._now, self._now, _NOTHING), Step(role, EXPECTED), first, last, met)

    def _change_safely(self, at: int, own: int) -> None:
        """Changes the decision alone, so that no hand of the opponent gains more than a little."""
        settings, now, replies, work, until = self._settings, self._now, self._replies, self._work, self._deadline()
        theirs, slots, first = self._hands(at, 1 - own), self._slots(at), int(self.game.nodes["value_at"][at])
        pairs = self.pairs(at, own)
        met = work.reach[self._hands(at, own)] @ pairs  # by each hand of the opponent
        per_met = np.divide(1, met, out=np.zeros(len(met)), where=met > _LEAST_MET)
        likely = work.reach[theirs] / max(work.reach[theirs] @ met, _LEAST_MET)
        blueprint, average, extra = now[slots].copy(), np.zeros(slots.stop - slots.start), np.zeros(len(met))

        def at_best() -> np.ndarray:
            """What the opponent's hands earn at best; notes its replies."""
            walk_down(self.game.arrays, now, at, int(self._ends[at]), work)
            return self._hand_values(at, 1 - own, BEST_RESPONSE, now, replies).astype(float)

        before = at_best()
        for update in range(1, settings.updates + 1):
            work.reach[theirs] = likely + extra
            walk_down(self.game.arrays, replies, at, int(self._ends[at]), work)
            self._hand_values(at, own, EXPECTED, replies, self._values)
            self._met[own].values[first : first + len(pairs)] = pairs @ (likely + extra)
            self._update(own, at, at + 1, settings.step_size / update**0.5, 0.0)
            average += (now[slots] - average) * 2 / (update + 1)  # later updates count more
            extra = np.maximum(extra + _FIRMNESS * (at_best() - before) * per_met**2 / len(met), 0)
            if time.perf_counter() >= until:
                break
        now[slots] = average
        gains = at_best() - before
        share = min(1.0, _TOLERANCE / max(float((gains * per_met).max()), _TOLERANCE)) if likely @ gains < 0 else 0.0
        now[slots] = share * average + (1 - share) * blueprint

    def pairs(self, at: int, own: int) -> np.ndarray:
        """(n, m) the ways to deal each hand of a role with each of the other's, at a node that both may hold there."""
        node, state = self.game.nodes[at], np.zeros(N_FIELDS, np.int64)
        state[CARDS : CARDS + len(ROLES)], state[GONE] = node["n_cards"], node["gone"]
        n_pone, n_dealer = (N_HANDS[node["n_cards"][role], node["floor"][role]] for role in range(len(ROLES)))
        ways = pairs_dealt(state)[:n_pone, :n_dealer] * node["chance"]
        return ways if own == PONE else ways.T

    def _deadline(self) -> float:
        return math.inf if self._settings.ms is None else time.perf_counter() + self._settings.ms / 1000

    def _hands(self, at: int, role: int) -> slice:
        """Where the reach of a role's hands at a node stands."""
        node = self.game.nodes[at]
        first = int(node["reach_at"][role])
        return slice(first, first + int(N_HANDS[node["n_cards"][role], node["floor"][role]]))

    def _slots(self, at: int) -> slice:
        """Where the choices of a node stand."""
        node = self.game.nodes[at]
        k, low, first = int(node["n_cards"][node["actor"]]), int(node["floor"][node["actor"]]), int(node["first_slot"])
        return slice(first, first + (max(int(node["high"]) - low, 0) * int(N_HANDS[k - 1, low]) if k > 1 else 0))

    def _hand_values(self, at: int, role: int, mode: int, other: np.ndarray, noted: np.ndarray) -> np.ndarray:
        """The values of a role's hands at a node whose reach, and that of what follows, is known; notes choices."""
        walk_up(
            self.game.arrays, Weights(self._now, other, noted), Step(role, mode), at, int(self._ends[at]), self._work
        )
        hands, first = self._hands(at, role), int(self.game.nodes["value_at"][at])
        values: np.ndarray = self._work.values[first : first + hands.stop - hands.start]
        return values

    def _update(self, role: int, first: int, last: int, rate: float, pull: float) -> None:
        """A step of mirror descent for a role's decisions at nodes ``first`` to ``last - 1``, by the noted values."""
        step = MirrorStep(np.float32(rate), np.float32(pull), self._values, self._met[role].values, self.blueprint)
        _mirror(self.game.tree, HAND_TABLES, role, first, last, step, self._now, self._work.policy)


@dataclass(kw_only=True)
class SearchAgent(Settings):
    """See the module.

    Raises:
        ValueError: the blueprint cannot be made, or draws its cards by unknown chances.
    """

    name = "search"
    powers = Powers(mixes="known", suits="unseen", remembers_discards=False, sees_starter=False, copyable=False)

    policy: str
    """The text of the blueprint (:func:`crib_env.make_agent`). If suits matter to it, they are drawn."""
    seed: int = 0
    """Of the draws, which depend only on it, the game's id and the decision's number."""

    def __post_init__(self) -> None:
        self._blueprint, self._seed = make_agent(self.policy), streams(self.seed, 1)[0]
        check_can_be_asked(self._blueprint)
        self._searches: dict[int, Search] = {}

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        return draw(self.probabilities(views), uniforms(self._seed, views))

    def probabilities(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.MixedAgent`.

        Raises:
            ValueError: a decision is not one of the pegging game with two or three cards each.
        """
        if views.is_discard.any() or (views.starter >= 0).any() or (views.kept[:, 0] >= 0).any():
            raise ValueError("agent 'search' plays the pegging games with two and three cards each alone")
        return card_chances(views, lambda _: np.zeros(0), self._rank_chances)

    def _rank_chances(self, views: PlayerViews) -> np.ndarray:
        """How likely each rank is laid, (B, 13)."""
        chances, dealt = legal_ranks(views).astype(float), (views.kept >= 0).sum(axis=1)
        choices = chances.sum(axis=1) > 1
        for cards in np.unique(dealt[choices]).tolist():
            if cards not in self._searches:
                self._searches[cards] = Search(self._blueprint, cards, self)
            search, rows = self._searches[cards], np.flatnonzero(choices & (dealt == cards))
            nodes, found = np.empty(len(rows), np.int64), np.zeros((len(rows), N_RANKS))
            _find(search.game.tree, views.arrays, rows, nodes)
            for node in np.unique(nodes).tolist():
                search.search(node)
            _read(search.game.tree, HAND_TABLES, search.policy, views.arrays, rows, nodes, found)
            chances[rows] = found
        return chances / chances.sum(axis=1, keepdims=True)


@kernel
def _fill_relations(tree, parents, ends):
    """Fills the node that each node follows, and the first node after all that follows from it (N,)."""
    for at in range(len(tree.nodes) - 1, -1, -1):
        node = tree.nodes[at]
        low, high = node["floor"][node["actor"]], node["high"]
        for rank in range(min(low, high), high + (high < N_RANKS)):
            to = tree.links[node["first_link"] + rank - min(low, high)]["to"]
            if to >= 0:
                parents[to], ends[at] = at, max(ends[at], ends[to])


@kernel
def _mirror(tree, hands, role, first, last, step, now, work):
    """Sets a role's chances (S,) to now^(1 - pull) blueprint^pull exp(rate Q), in proportion, at nodes ``first`` to
    ``last - 1``; ``work`` is (2, 1820)."""
    rate, pull, values, met, blueprint = step
    best, total = work[0], work[1]
    for at in range(first, last):
        node = tree.nodes[at]
        k, low, high = node["n_cards"][role], node["floor"][role], node["high"]
        if node["actor"] != role or k < 2:
            continue
        n_left = hands.n_hands[k - 1, low]
        for h in range(hands.n_hands[k, low]):
            best[h], total[h] = -np.inf, 0
        for sweep in range(3):
            slot = node["first_slot"]
            for rank in range(low, high):
                for left in range(n_left):
                    h = hands.with_rank[k - 1, rank, left]
                    if sweep == 0:
                        weight = abs(met[node["value_at"] + h])
                        logit = (1 - pull) * np.log(now[slot + left]) + pull * np.log(blueprint[slot + left])
                        now[slot + left] = logit + (rate * values[slot + left] / weight if weight > 0 else 0)
                        best[h] = max(best[h], now[slot + left])
                    elif sweep == 1:
                        now[slot + left] = max(np.exp(now[slot + left] - best[h]), _LEAST)
                        total[h] += now[slot + left]
                    else:
                        now[slot + left] /= total[h]
                slot += n_left


@kernel
def _find(tree, views, rows, nodes):
    """Fills the node of each of these rows of views, at which the player is to lay a card."""
    ranks, roles = np.empty(8, np.int64), np.empty(8, np.int64)
    for i in range(len(rows)):
        n, at = np.int64(views.n_laid[rows[i]]), np.int64(0)
        roles[n], ranks[n] = read_play(views, rows[i], ranks, roles)
        for k in range(n + 1):
            while tree.nodes[at]["actor"] != roles[k] or ranks[k] >= tree.nodes[at]["high"]:
                at = np.int64(child(tree, tree.nodes[at], tree.nodes[at]["high"]))
            if k < n:
                at = np.int64(child(tree, tree.nodes[at], ranks[k]))
        nodes[i] = at


@kernel
def _read(tree, hands, policy, views, rows, nodes, out):
    """Fills how likely each rank is laid (R, 13) at rows of views, at these nodes."""
    for i in range(len(rows)):
        node, number = tree.nodes[nodes[i]], hand_of_mask(mask_of(views.hand[rows[i]]))
        k, low = node["n_cards"][node["actor"]], np.int64(node["floor"][node["actor"]])
        for rank in range(low, node["high"]):
            left = hands.without_rank[k, rank, number]
            if left >= 0:
                out[i, rank] = policy[node["first_slot"] + (rank - low) * hands.n_hands[k - 1, low] + left]
