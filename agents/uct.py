"""``uct-determinized`` and ``uct-cheating``: tree searches that take hidden cards for known.

Sharan and Pawar (2022), "Cribbage AI agent", section "Related Work", after Kelly (2017). Both are UCT (Kocsis and
Szepesvári 2006) on :mod:`agents.tree_search`: where a tree has one world, a move is available whenever its parent is
visited.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from agents.ismcts import ISMCTSAgent
from agents.tree_search import Settings, TreeSearchAgent
from crib_env import PlayerViews
from crib_env.engine import DEAL_EPISODE, PLAY_EPISODE


@dataclass(kw_only=True)
class DeterminizedUCTAgent(ISMCTSAgent):
    """Some worlds are drawn, each is searched as if it were known, and visits of the moves are added up.

    It plays each world differently, as it never could at the table (strategy fusion, which ``ismcts`` avoids).
    """

    name = "uct-determinized"

    determinizations: int = 20
    """How many worlds; they share ``iterations`` or ``milliseconds``."""

    def __post_init__(self) -> None:
        most = "" if self.milliseconds else f", up to iterations={self.iterations}"
        within = self.determinizations >= 1 and (self.milliseconds or self.determinizations <= self.iterations)
        self._check("determinizations", bool(within), f"give at least 1{most}")
        super().__post_init__()

    def _kernel_settings(self) -> Settings:
        return super()._kernel_settings()._replace(trees=self.determinizations)


@dataclass(kw_only=True)
class CheatingUCTAgent(TreeSearchAgent):
    """Sees every card, the starter and the opponent's hand: a benchmark for honest agents, and no player.

    It is handed whole games through :meth:`act_cheating`, which :func:`evaluate.match.play_match` alone calls.
    """

    name = "uct-cheating"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.name += " (sees every card)"
        warnings.warn("uct-cheating sees every card: it is for benchmarks only", stacklevel=3)

    def _kernel_settings(self) -> Settings:
        return super()._kernel_settings()._replace(trees=1, knows_all=True)

    def act_cheating(self, games: np.ndarray, game_ids: np.ndarray) -> np.ndarray:
        """One card for the seat to act in each of ``games`` (B,) GAME records, hidden cards and all: (B,) card ids.

        Args:
            games: copies; they are written to.
            game_ids: (B,) int64, keys of the random streams.
        """
        games["episode"] = np.where(games["episode"] == PLAY_EPISODE, PLAY_EPISODE, DEAL_EPISODE)
        return self._search(games, game_ids, games["decisions"])

    def act(self, views: PlayerViews) -> np.ndarray:
        """Refuses: views hold no hidden cards.

        Raises:
            ValueError: always.
        """
        raise ValueError("uct-cheating plays in matches alone, where it is handed what players may not see")
