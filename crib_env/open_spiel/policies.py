"""Agents as policies of OpenSpiel, and the other way."""

from __future__ import annotations

import numpy as np
from open_spiel.python import policy as spiel_policy

from crib_env.engine import DEALER, PONE
from crib_env.hands import N_RANKS
from crib_env.open_spiel.game import PeggingGame, PeggingState, information_state
from crib_env.players.agent import MixedAgent, Powers
from crib_env.views import PlayerViews, views_of


def _state_of(views: PlayerViews, row: int, role: int) -> str:
    """The information state of a decision of views of the pegging game."""
    hand, laid = views.hand[row], views.laid[row]
    n = int((laid >= 0).sum())
    is_own = views.laid_by[row][:n] == 0
    ranks = (laid[:n] % N_RANKS).tolist()
    dealt = (hand[hand >= 0] % N_RANKS).tolist() + [rank for rank, own in zip(ranks, is_own) if own]
    return information_state(role, dealt, [(role if own else 1 - role, rank) for own, rank in zip(is_own, ranks)])


class AgentPolicy(spiel_policy.Policy):  # type: ignore[misc]
    """An agent that knows its probabilities, as a policy of OpenSpiel; ``to_tabular()`` makes a table of it."""

    def __init__(self, game: PeggingGame, agent: MixedAgent) -> None:
        super().__init__(game, [PONE, DEALER])
        self._agent = agent

    def action_probabilities(self, state: PeggingState, player_id: int | None = None) -> dict[int, float]:
        """How likely each rank is laid, see ``policy.Policy``."""
        role = state.current_player() if player_id is None else player_id
        views = views_of(state.games, np.zeros(1, np.int64), np.array([role]), np.zeros(1, np.int64))
        by_rank = self._agent.probabilities(views)[0].reshape(4, N_RANKS).sum(axis=0)
        return {rank: float(by_rank[rank]) for rank in state.legal_actions()}


class PolicyAgent:
    """A table of OpenSpiel for the pegging game, as an agent: in ``crib_env``'s measurements of exploitability, for
    instance.

    Args:
        table: has ``policy_for_key``, by the information states of :func:`information_state`.
        seed: of the cards that it draws.
    """

    def __init__(self, table: spiel_policy.TabularPolicy, seed: int = 0) -> None:
        self.name, self.powers = "open-spiel", Powers(mixes="known", suits="unseen")
        self._table, self._rng = table, np.random.default_rng(seed)

    def probabilities(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.MixedAgent`."""
        chances = np.zeros((len(views), 52))
        legal = views.action_mask.reshape(-1, 4, N_RANKS)
        for row in range(len(views)):
            by_rank = self._table.policy_for_key(_state_of(views, row, DEALER if views.is_dealer[row] else PONE))
            for rank in legal[row].any(axis=0).nonzero()[0]:
                chances[row, N_RANKS * legal[row, :, rank].argmax() + rank] = by_rank[rank]
        return chances / chances.sum(axis=1, keepdims=True)

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        chances = self.probabilities(views).cumsum(axis=1)
        return (chances > self._rng.random((len(views), 1))).argmax(axis=1)
