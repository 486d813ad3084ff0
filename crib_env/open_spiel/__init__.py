"""Games of OpenSpiel (``pip install open_spiel``): ``pyspiel.load_game("crib_pegging(cards=2)")``, and ``"crib_deal"``.

Importing this package registers both. Player 0 is pone, player 1 the dealer. Cards are laid by
:mod:`crib_env.engine`, so go, last card and points are those of every environment here. Returns are net points.

In the pegging games two chance nodes deal the hands of ranks, pone's first; their actions are numbers of
:data:`crib_env.hands.HANDS`. Players lay ranks, 0 for an ace to 12 for a king; suits have no part in this game, so the
cards of a rank are one action. Forced cards are laid at once. In the deal all actions are card ids
(:class:`DealGame`).

:class:`AgentPolicy` is an agent as a policy of OpenSpiel. :class:`PolicyAgent` is a table of OpenSpiel for the pegging
game as an agent, and :func:`save_table` keeps one in a file that is an agent without OpenSpiel. :func:`solution_table`
is the solver's equilibrium as a table of OpenSpiel.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from open_spiel.python import policy as spiel_policy

from crib_env.engine import DEALER, PONE
from crib_env.hands import N_RANKS, hand_number
from crib_env.open_spiel.games import DealGame, DealState, PeggingGame, PeggingState
from crib_env.players.agent import MixedAgent
from crib_env.players.tabular import StatePolicy, information_state
from crib_env.solver.cfr import PlaySolver
from crib_env.views import views_of

__all__ = [
    "AgentPolicy",
    "DealGame",
    "DealState",
    "PeggingGame",
    "PeggingState",
    "PolicyAgent",
    "information_state",
    "save_table",
    "solution_table",
]


class AgentPolicy(spiel_policy.Policy):  # type: ignore[misc]
    """An agent that knows its probabilities, as a policy of OpenSpiel. In the pegging games ``to_tabular()`` makes a
    table of it."""

    def __init__(self, game: PeggingGame | DealGame, agent: MixedAgent) -> None:
        super().__init__(game, [PONE, DEALER])
        self._agent = agent

    def action_probabilities(self, state: PeggingState | DealState, player_id: int | None = None) -> dict[int, float]:
        """How likely each action is, a rank or a card, see ``policy.Policy``."""
        role = state.current_player() if player_id is None else player_id
        views = views_of(state.games, np.zeros(1, np.int64), np.array([role]), np.zeros(1, np.int64))
        chances = self._agent.probabilities(views)[0]
        if isinstance(state, PeggingState):
            chances = chances.reshape(4, N_RANKS).sum(axis=0)
        return {action: float(chances[action]) for action in state.legal_actions()}


class PolicyAgent(StatePolicy):
    """A table of OpenSpiel for the pegging game, as an agent: in ``crib_env``'s measurements of exploitability, for
    instance.

    Args:
        table: has ``policy_for_key``, by information states.
        seed: of the cards that it draws.
    """

    name = "open-spiel"

    def __init__(self, table: spiel_policy.TabularPolicy, seed: int = 0) -> None:
        super().__init__(table.policy_for_key, seed)


def solution_table(game: PeggingGame, solver: PlaySolver) -> spiel_policy.TabularPolicy:
    """The average policy of :class:`crib_env.solver.cfr.PlaySolver`, for as many cards, as a table of OpenSpiel."""
    table = spiel_policy.TabularPolicy(game)
    for state, row in zip(table.states, table.action_probability_array):
        role, laid = state.current_player(), state.laid
        held = state.held(role)
        node = solver.game.node_at(laid, role, held[0])
        row[:] = solver.game.chances_at(solver.average, node, int(hand_number(held)))
    return table


def save_table(table: spiel_policy.TabularPolicy, path: Path) -> None:
    """Writes a table of OpenSpiel as a file that :class:`crib_env.players.tabular.TabularAgent` plays."""
    states = list(table.state_lookup)
    chances = np.array([table.policy_for_key(state) for state in states])
    np.savez(path, states=np.array(states), chances=chances)
