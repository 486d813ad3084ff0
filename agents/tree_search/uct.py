"""``uct-determinized`` and ``uct-cheating``: tree searches that treat hidden cards as known.

Sharan and Pawar (2022), "Cribbage AI agent", section "Related Work", after Kelly (2017). Both are UCT (Kocsis and
Szepesvári 2006) on :mod:`crib_env.agents.tree_search.search`: if a tree has one world, a move is available whenever its
parent is visited.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.tree_search.ismcts import ISMCTSAgent
from crib_env.agents.tree_search.search import MOST_ITERATIONS, Settings, TreeSearchAgent
from crib_env.engine import DEAL_EPISODE
from crib_env.players.agent import Powers


@dataclass(kw_only=True)
class DeterminizedUCTAgent(ISMCTSAgent):
    """Samples some worlds, searches each as if it were known, and adds up the visits of the moves.

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


@dataclass(kw_only=True)
class CheatingUCTAgent(TreeSearchAgent):
    """Sees every card, the starter and the opponent's hand: a benchmark for fair agents, not a player.

    It receives whole games through :meth:`act_cheating`, which only :func:`crib_env.evaluate.matches.match.play_match`
    calls.
    """

    name = "uct-cheating"
    powers = Powers(mixes="unknown", cheats=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.name += " (sees every card)"
        warnings.warn("uct-cheating sees every card: it is for benchmarks only", stacklevel=3)

    def _kernel_settings(self) -> Settings:
        return super()._kernel_settings()._replace(trees=1, knows_all=True)

    def act_cheating(self, games: np.ndarray, game_ids: np.ndarray) -> np.ndarray:
        """One card for the seat to act in each of ``games`` (B,) GAME records, with all hidden cards: (B,) card ids.

        Args:
            games: copies; they will be changed.
            game_ids: (B,) int64, keys of the random streams.
        """
        games["episode"] = np.maximum(games["episode"], DEAL_EPISODE)  # only this deal of a game is searched
        return self._search(games, game_ids, games["decisions"])

    def act(self, views: PlayerViews) -> np.ndarray:
        """Raises an error, because views hold no hidden cards.

        Raises:
            ValueError: always.
        """
        raise ValueError("uct-cheating plays only in matches, which give it the hidden cards")
