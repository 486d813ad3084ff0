"""``ismcts``: one search tree over information sets.

Single-observer information-set Monte-Carlo tree search of Cowling, Powley and Whitehouse (2012), "Information Set Monte
Carlo Tree Search", section IV, as used by Sharan and Pawar (2022), "Cribbage AI agent", section "SO-ISMCTS Agent": one
tree, new hidden cards for each iteration, availability counts in the selection formula, k = √2, a simulation to the end
of the deal, and the most visited move. The tree is in :mod:`crib_env.agents.tree_search.search`, the hidden cards are
in :mod:`crib_env.agents.tree_search.hidden_cards`.

Differences from Sharan and Pawar: they search only the play; this agent searches the discard as well. Their agent is
``ismcts:draw=uniform,show=drawn``, and ``exploration=0`` is their ablation. The defaults add two things:

* ``show=mean``: once the discards are made the show is settled, and summed over sampled hands it is mostly noise.
  So a search ends with the play and adds the mean value of the show: before the discard the exact means of hand and
  crib, after it nothing; with ``reward=win`` the win probability over sampled shows.
* ``draw=likelihood``: hands are sampled by how often a sensible opponent would have kept them and laid what it laid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.belief.rest_of_deal import habits
from crib_env.agents.tree_search.hidden_cards import known_games
from crib_env.agents.tree_search.search import Settings, TreeSearchAgent
from crib_env.tables.outlook import outlook


@dataclass(kw_only=True)
class ISMCTSAgent(TreeSearchAgent):
    """See the module, and for the other settings :class:`crib_env.agents.tree_search.search.TreeSearchAgent`."""

    name = "ismcts"

    draw: str = "likelihood"
    """``likelihood``, or ``uniform``: all hidden cards that agree with what is known are equally likely."""
    show: str = "mean"
    """``mean``, or ``drawn``: the show is counted with the hidden cards that were drawn."""

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
