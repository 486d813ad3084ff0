"""Games of OpenSpiel (``pip install open_spiel``): ``pyspiel.load_game("crib_pegging(cards=2)")``, and ``"crib_deal"``.

Importing this package registers both. Player 0 is pone, player 1 the dealer. Cards are laid by
:mod:`crib_env.engine`, so go, last card and points are those of every environment here. Returns are net points.

In the pegging games two chance nodes deal the hands of ranks, pone's first; their actions are numbers of
:data:`crib_env.hands.HANDS`. Players lay ranks, 0 for an ace to 12 for a king; suits have no part in this game, so the
cards of a rank are one action. Forced cards are laid at once. In the deal all actions are card ids
(:mod:`crib_env.open_spiel.deal`).

:class:`AgentPolicy` is an agent as a policy of OpenSpiel. :class:`PolicyAgent` is a table of OpenSpiel for the pegging
game as an agent, and :func:`save_table` keeps one in a file that is an agent without OpenSpiel. :func:`solution_table`
is the solver's equilibrium as a table of OpenSpiel.
"""

from crib_env.open_spiel.deal import DealGame, DealState
from crib_env.open_spiel.game import PeggingGame, PeggingState
from crib_env.open_spiel.policies import AgentPolicy, PolicyAgent, save_table, solution_table
from crib_env.players.tabular import information_state

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
