"""``ismcts`` and ``uct-determinized``: agents that search a tree.

The tree is in :mod:`crib_env.agents.tree_search.search`, the hidden cards are in
:mod:`crib_env.agents.tree_search.hidden_cards`.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.belief.rest_of_deal import habits
from crib_env.agents.choosing import word_of
from crib_env.agents.tree_search.hidden_cards import known_games
from crib_env.agents.tree_search.search import (
    MOST_NODES,
    Settings,
    begin_decision,
    begin_tree,
    choose_all,
    chosen_card,
    end_tree,
    new_work,
    only_card,
    search,
)
from crib_env.hands import N_FOURS
from crib_env.kernels import kernel, streams
from crib_env.players.agent import Powers
from crib_env.players.policies import NATIVE
from crib_env.tables.outlook import outlook

_SLICE = 50  # iterations between two checks of the clock
MOST_ITERATIONS = 10_000_000  # some ten seconds a decision
_CHUNK = 32  # decisions that a thread takes at once


@kernel
def _fill_random_words(seed, game_ids, decisions, random_words):
    for b in range(len(random_words)):
        random_words[b] = word_of(seed, game_ids[b], decisions[b])


@dataclass(kw_only=True)
class TreeSearchAgent:
    """Shared part of the agents that search a tree; ``name`` is the class's, followed by settings that differ from
    its own.

    Raises:
        ValueError: a setting is not allowed; the message names it.
    """

    name = "tree search"
    powers = Powers(mixes="unknown")

    iterations: int = 1000
    """Iterations per decision, over all its trees."""
    milliseconds: float = 0.0
    """If not 0, time per decision, in place of ``iterations``; choices are then not reproducible."""
    exploration: float = 2.0**0.5
    """k of the selection formula, in points."""
    rollout: str = "random"
    """Rollout policy, a native one: ``random``, ``greedy`` or another."""
    reward: str = "points"
    """``points``: made in this deal, minus the opponent's; ``win``: the probability of winning the game after it. In
    the pegging episode both are points."""
    seed: int = 0
    """Random seed; a choice depends only on it, the game's id and the decision's number."""
    threads: int = 2
    """How many decisions of a batch are searched in parallel."""

    def __post_init__(self) -> None:
        self._check("iterations", 1 <= self.iterations <= MOST_ITERATIONS, f"give 1 to {MOST_ITERATIONS}")
        self._check("milliseconds", 0 <= self.milliseconds < np.inf, "give 0 or more")
        self._check("exploration", 0 <= self.exploration < np.inf, "give 0 or more")
        self._check("rollout", self.rollout in NATIVE, f"choose one of {', '.join(NATIVE)}")
        self._check("reward", self.reward in ("points", "win"), "choose one of points, win")
        self._check("threads", self.threads >= 1, "give at least 1")
        self.name = self._name_with_settings()
        self._seed = streams(self.seed, 1)[0]
        self._settings = self._kernel_settings()

    def _name_with_settings(self) -> str:
        """The name for :func:`crib_env.agents.make_agent`, with settings that differ from the defaults and affect the
        choices."""
        changed = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        given = [f"{setting}={value}" for setting, value in changed.items() if setting != "threads"]
        return f"{self.name}:{','.join(given)}" if given else self.name

    def _check(self, setting: str, allowed: bool, what: str) -> None:
        if not allowed:
            value = getattr(self, setting)
            raise ValueError(f"agent {self.name!r}: {setting}={value} is not allowed, {what}")

    def _kernel_settings(self) -> Settings:
        return Settings(
            iterations=self.iterations,
            exploration=float(self.exploration),
            rollout=NATIVE.index(self.rollout),
            trees=0,
            mean_show=False,
            likely=np.zeros((0, N_FOURS)),
            crib_shift=np.zeros((2, 13, 13)),
            win=outlook().win_table if self.reward == "win" else np.zeros((0, 0)),
        )

    def _search(self, roots: np.ndarray, game_ids: np.ndarray, decisions: np.ndarray) -> np.ndarray:
        """The cards (B,) for ``roots`` (B,) GAME, see :func:`begin_decision`."""
        cards, random_words = np.empty(len(roots), np.int64), np.empty(len(roots), np.uint64)
        _fill_random_words(self._seed, game_ids, decisions, random_words)
        choose = self._choose_in_time if self.milliseconds else self._choose
        chunks = [slice(first, first + _CHUNK) for first in range(0, len(roots), _CHUNK)]
        if len(chunks) == 1:
            choose(roots, random_words, cards)
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                list(pool.map(lambda chunk: choose(roots[chunk], random_words[chunk], cards[chunk]), chunks))
        return cards

    def _choose(self, roots: np.ndarray, random_words: np.ndarray, cards: np.ndarray) -> None:
        choose_all(new_work(min(self.iterations + 1, MOST_NODES)), self._settings, roots, random_words, cards)

    def _choose_in_time(self, roots: np.ndarray, random_words: np.ndarray, cards: np.ndarray) -> None:
        work, n_trees = new_work(MOST_NODES), max(self._settings.trees, 1)
        for b in range(len(cards)):
            cards[b] = only_card(roots[b])
            if cards[b] < 0:
                began = time.perf_counter()
                begin_decision(work, self._settings, roots[b], random_words[b])
                for tree in range(n_trees):
                    begin_tree(work, self._settings)
                    search(work, self._settings, _SLICE)
                    while time.perf_counter() - began < self.milliseconds / 1000 * (tree + 1) / n_trees:
                        search(work, self._settings, _SLICE)
                    end_tree(work)
                cards[b] = chosen_card(work)


@dataclass(kw_only=True)
class ISMCTSAgent(TreeSearchAgent):
    """One search tree over information sets.

    Single-observer information-set Monte-Carlo tree search of Cowling, Powley and Whitehouse (2012), "Information Set
    Monte Carlo Tree Search", section IV, as used by Sharan and Pawar (2022), "Cribbage AI agent", section "SO-ISMCTS
    Agent": one tree, new hidden cards for each iteration, availability counts in the selection formula, k = √2, a
    simulation to the end of the deal, and the most visited move. They search only the play; this agent searches the
    discard as well. Their agent is ``ismcts:draw=uniform,show=drawn``, and ``exploration=0`` is their ablation.
    """

    name = "ismcts"

    draw: str = "likelihood"
    """``likelihood``: hands are sampled by how often a sensible opponent would have kept them and laid what it laid;
    or ``uniform``: all hidden cards that agree with what is known are equally likely."""
    show: str = "mean"
    """``drawn``: the show is counted with the hidden cards that were drawn. Once the discards are made it is settled,
    and summed over sampled hands mostly noise. So with ``mean`` a search ends with the play and adds the mean value of
    the show: before the discard the exact means of hand and crib, after it nothing; with ``reward=win`` the chance to
    win over sampled shows."""

    def __post_init__(self) -> None:
        self._check("draw", self.draw in ("uniform", "likelihood"), "choose one of uniform, likelihood")
        self._check("show", self.show in ("mean", "drawn"), "choose one of mean, drawn")
        super().__post_init__()

    def _kernel_settings(self) -> Settings:
        settings = super()._kernel_settings()._replace(mean_show=self.show == "mean")
        if self.draw == "uniform":
            return settings
        return settings._replace(likely=habits().keeping, crib_shift=outlook().cribs)

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        return self._search(known_games(views), views.game_ids, views.decisions)


@dataclass(kw_only=True)
class DeterminizedUCTAgent(ISMCTSAgent):
    """Samples some worlds, searches each as if it were known, and adds up the visits of the moves.

    Sharan and Pawar (2022), section "Related Work", after Kelly (2017): UCT (Kocsis and Szepesvári 2006). If a tree has
    one world, a move is available whenever its parent is visited.
    It plays each world differently, which is impossible at the table (strategy fusion, which ``ismcts`` avoids).
    """

    name = "uct-determinized"

    determinizations: int = 20
    """How many worlds; they share ``iterations`` or ``milliseconds``."""

    def __post_init__(self) -> None:
        most = MOST_ITERATIONS if self.milliseconds else self.iterations
        self._check("determinizations", 1 <= self.determinizations <= most, f"give 1 to {most}, one iteration each")
        super().__post_init__()

    def _kernel_settings(self) -> Settings:
        return super()._kernel_settings()._replace(trees=self.determinizations)
