"""``ismcts`` and ``uct-determinized``: agents that search a tree.

The tree is in :mod:`crib_env.agents.tree_search.search`, the hidden cards are in
:mod:`crib_env.agents.tree_search.hidden_cards`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.belief.rest_of_deal import habits
from crib_env.agents.choosing import on_threads
from crib_env.agents.tree_search.search import Settings, choose_all, new_work
from crib_env.hands import N_FOURS
from crib_env.kernels import streams
from crib_env.players.agent import Powers
from crib_env.tables.outlook import outlook

MOST_ITERATIONS = 10_000_000  # some ten seconds a decision
_MOST_NODES = 1 << 18  # of a tree
_CHUNK = 32  # decisions that a thread takes at once


@dataclass(kw_only=True)
class ISMCTSAgent:
    """One search tree over information sets.

    Single-observer information-set Monte-Carlo tree search of Cowling, Powley and Whitehouse (2012), "Information Set
    Monte Carlo Tree Search", section IV, as used by Sharan and Pawar (2022), "Cribbage AI agent", section "SO-ISMCTS
    Agent": one tree, new hidden cards for each iteration, availability counts in the selection formula, k = √2, a
    simulation to the end of the deal, and the most visited move. They search only the play; this agent searches the
    discard as well. Their agent is ``ismcts:draw=uniform,show=drawn``, and ``exploration=0`` is their ablation.

    Rewards are the points of this deal minus the opponent's.

    Raises:
        ValueError: a setting is not allowed; the message names it.
    """

    name = "ismcts"
    powers = Powers(mixes="unknown")

    iterations: int = 1000
    """Iterations per decision, over all its trees."""
    exploration: float = 2.0**0.5
    """k of the selection formula, in points."""
    draw: str = "likelihood"
    """``likelihood``: hands are sampled by how often a sensible opponent would have kept them and laid what it laid;
    or ``uniform``: all hidden cards that agree with what is known are equally likely."""
    show: str = "mean"
    """``drawn``: the show is counted with the hidden cards that were drawn. Once the discards are made it is settled,
    and summed over sampled hands mostly noise. So with ``mean`` a search ends with the play and adds the mean value of
    the show: before the discard the exact means of hand and crib, after it nothing."""
    seed: int = 0
    """Random seed; a choice depends only on it, the game's id and the decision's number."""
    threads: int = 2
    """How many decisions of a batch are searched in parallel."""

    def __post_init__(self) -> None:
        self._check("iterations", 1 <= self.iterations <= MOST_ITERATIONS, f"give 1 to {MOST_ITERATIONS}")
        self._check("exploration", 0 <= self.exploration < np.inf, "give 0 or more")
        self._check("draw", self.draw in ("uniform", "likelihood"), "choose one of uniform, likelihood")
        self._check("show", self.show in ("mean", "drawn"), "choose one of mean, drawn")
        self._check("threads", self.threads >= 1, "give at least 1")
        self._seed = streams(self.seed, 1)[0]
        weighs = self.draw == "likelihood"
        self._settings = Settings(
            iterations=self.iterations,
            exploration=float(self.exploration),
            trees=self._trees(),
            mean_show=self.show == "mean",
            likely=habits().keeping if weighs else np.zeros((0, N_FOURS)),
            crib_shift=outlook().cribs if weighs else np.zeros((2, 13, 13)),
        )

    def _check(self, setting: str, allowed: bool, what: str) -> None:
        if not allowed:
            value = getattr(self, setting)
            raise ValueError(f"agent {self.name!r}: {setting}={value} is not allowed, {what}")

    def _trees(self) -> int:
        return 0

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        roots, cards = views.games.copy(), np.empty(len(views), np.int64)

        def choose(part: slice) -> None:
            work, about = new_work(min(self.iterations + 1, _MOST_NODES)), (views.game_ids[part], views.decisions[part])
            choose_all(work, self._settings, roots[part], self._seed, *about, cards[part])

        on_threads(self.threads, choose, [slice(first, first + _CHUNK) for first in range(0, len(roots), _CHUNK)])
        return cards


@dataclass(kw_only=True)
class DeterminizedUCTAgent(ISMCTSAgent):
    """Samples some worlds, searches each as if it were known, and adds up the visits of the moves.

    Sharan and Pawar (2022), section "Related Work", after Kelly (2017): UCT (Kocsis and Szepesvári 2006). If a tree has
    one world, a move is available whenever its parent is visited.
    It plays each world differently, which is impossible at the table (strategy fusion, which ``ismcts`` avoids).
    """

    name = "uct-determinized"

    determinizations: int = 20
    """How many worlds; they share ``iterations``."""

    def _trees(self) -> int:
        allowed, most = 1 <= self.determinizations <= self.iterations, self.iterations
        self._check("determinizations", allowed, f"give 1 to {most}, one iteration each")
        return self.determinizations
