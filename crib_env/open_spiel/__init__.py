"""The pegging games as games of OpenSpiel (extra ``openspiel``): ``pyspiel.load_game("crib_pegging(cards=2)")``.

Importing this package registers the game. Player 0 is pone, player 1 the dealer. Two chance nodes deal the hands of
ranks, pone's first; their actions are numbers of :data:`crib_env.hands.HANDS`. Players lay ranks, 0 for an ace to 12
for a king; suits have no part in this game, so the cards of a rank are one action. The cards are laid by
:mod:`crib_env.engine`, so go, last card and points are those of every environment here, and forced cards are laid at
once. Returns are net points.

:class:`AgentPolicy` is an agent as a policy of OpenSpiel, :class:`PolicyAgent` a policy of OpenSpiel as an agent, and
:func:`save_table` keeps one in a file that is an agent without OpenSpiel.
"""

from crib_env.open_spiel.game import NAME, PeggingGame, PeggingState
from crib_env.open_spiel.policies import AgentPolicy, PolicyAgent, save_table
from crib_env.players.tabular import information_state

__all__ = ["NAME", "AgentPolicy", "PeggingGame", "PeggingState", "PolicyAgent", "information_state", "save_table"]
