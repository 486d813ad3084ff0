"""The pegging game in OpenSpiel (``pip install open_spiel``): ``pyspiel.load_game("crib_pegging(cards=2)")``.

Importing this module registers it. Player 0 is pone, player 1 the dealer. Two chance nodes deal the hands of ranks,
pone's first; their actions are numbers of :data:`crib_env.hands.HANDS`. Players lay ranks, 0 for an ace to 12 for a
king; suits have no part in this game, so the cards of a rank are one action. Forced cards are laid at once.
:mod:`crib_env.engine` lays the cards, so go, last card and points are those of every environment here. Returns are net
points.

:class:`AgentPolicy` is an agent as a policy of OpenSpiel. The other way, ``StatePolicy(table.policy_for_key)`` is a
table of OpenSpiel as an agent (:class:`crib_env.players.tabular.StatePolicy`).
"""

from __future__ import annotations

from functools import cache
from math import comb, prod
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python import policy as spiel_policy

from crib_env.cards import RANKS
from crib_env.engine import DEALER, GAME, OVER, PEGGING_EPISODE, PONE, act, begin_deal, begin_game, legal_cards
from crib_env.hands import HANDS, N_RANKS, ranks_in
from crib_env.players.agent import MixedAgent
from crib_env.players.tabular import information_state
from crib_env.views import views_of

_MOST_POINTS = 61  # more than a player pegs with four cards
_TYPE = pyspiel.GameType(
    short_name="crib_pegging",
    long_name="Cribbage, the play of a deal",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=2,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=False,
    provides_observation_string=False,
    provides_observation_tensor=False,
    parameter_specification={"cards": 4},
)


@cache
def _deals(cards: int, before: int | None) -> list[tuple[int, float]]:
    """Hands of ranks and their chances, when the other player holds the hand of this number."""
    gone = [0] * N_RANKS if before is None else np.bincount(HANDS[cards][before], minlength=N_RANKS).tolist()
    total = comb(52 - sum(gone), cards)
    ways = [
        prod(comb(4 - gone[rank], n) for rank, n in enumerate(np.bincount(ranks, minlength=N_RANKS).tolist()))
        for ranks in HANDS[cards]
    ]
    return [(hand, way / total) for hand, way in enumerate(ways) if way]


class PeggingGame(pyspiel.Game):  # type: ignore[misc]  # OpenSpiel has no types
    """The pegging game with ``cards`` of each player: 2, 3 or 4."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        self.cards = int((params or {}).get("cards", 4))
        if self.cards not in (2, 3, 4):
            raise pyspiel.SpielError(f"cards={self.cards} is not allowed: give 2, 3 or 4")
        information = pyspiel.GameInfo(
            num_distinct_actions=N_RANKS,
            max_chance_outcomes=len(HANDS[self.cards]),
            num_players=2,
            min_utility=float(-_MOST_POINTS),
            max_utility=float(_MOST_POINTS),
            utility_sum=0.0,
            max_game_length=2 * self.cards,
        )
        super().__init__(_TYPE, information, {"cards": self.cards})

    def new_initial_state(self) -> PeggingState:
        """The state before the deal."""
        return PeggingState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> SimpleNamespace:
        """What OpenSpiel asks for observations: information states as text, without a tensor."""
        say = PeggingState.information_state_string
        return SimpleNamespace(tensor=None, dict={}, set_from=lambda state, player: None, string_from=say)


class PeggingState(pyspiel.State):  # type: ignore[misc]  # OpenSpiel has no types
    """A state of the pegging game.

    Attributes:
        games: (1,) the engine's record of it; empty before both hands are dealt.
        laid: role and rank of each card laid, oldest first.
    """

    def __init__(self, game: PeggingGame) -> None:
        super().__init__(game)
        self._cards = game.cards
        self._dealt: list[int] = []  # numbers of hands
        self.games = np.zeros(1, GAME)
        self.laid: list[tuple[int, int]] = []

    def current_player(self) -> int:
        """See ``pyspiel.State``."""
        if len(self._dealt) < 2:
            return int(pyspiel.PlayerId.CHANCE)
        record = self.games[0]
        return int(pyspiel.PlayerId.TERMINAL if record["phase"] == OVER else record["turn"])

    def is_terminal(self) -> bool:
        """See ``pyspiel.State``."""
        return self.current_player() == pyspiel.PlayerId.TERMINAL

    def returns(self) -> list[float]:
        """Net points of pone and of the dealer; 0 until the end."""
        if not self.is_terminal():
            return [0.0, 0.0]
        pone, dealer = self.games[0]["scores"].tolist()
        return [float(pone - dealer), float(dealer - pone)]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Hands of ranks and their chances, see ``pyspiel.State``."""
        return _deals(self._cards, self._dealt[0] if self._dealt else None)

    def _apply_action(self, action: int) -> None:
        if len(self._dealt) < 2:
            self._dealt.append(action)
            if len(self._dealt) == 2:
                self._deal()
        else:
            self._lay([action])

    def _legal_actions(self, player: int) -> list[int]:
        ranks = int(ranks_in(legal_cards(self.games[0])))
        return [rank for rank in range(N_RANKS) if ranks >> rank & 1]

    def _lay(self, ranks: list[int]) -> None:
        """Lays a card as long as there is only one rank to choose."""
        record = self.games[0]
        while len(ranks) == 1:
            legal = int(legal_cards(record))
            self.laid.append((int(record["turn"]), ranks[0]))
            act(record, next(card for card in range(ranks[0], 52, N_RANKS) if legal >> card & 1))
            ranks = [] if record["phase"] == OVER else self._legal_actions(PONE)

    def _deal(self) -> None:
        """Gives both players cards of their ranks, the lowest suits first."""
        record, given = self.games[0], [0] * N_RANKS
        record["fewer"] = 4 - self._cards
        for role, hand in enumerate(self._dealt):
            for k, rank in enumerate(HANDS[self._cards][hand].tolist()):
                record["cards"][6 * role + k] = N_RANKS * given[rank] + rank
                given[rank] += 1
        begin_game(record, PEGGING_EPISODE, DEALER, 0, 0, -1)
        begin_deal(record)
        self._lay(self._legal_actions(PONE))

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"deal {''.join(RANKS[rank] for rank in HANDS[self._cards][action])}"
        return RANKS[action]

    def information_state_string(self, player: int | None = None) -> str:
        """See :func:`information_state`."""
        role = self.current_player() if player is None else player
        if len(self._dealt) <= role:
            return "pd"[role]
        return information_state(role, HANDS[self._cards][self._dealt[role]].tolist(), self.laid)

    def __str__(self) -> str:
        hands = " ".join("".join(RANKS[rank] for rank in HANDS[self._cards][hand]) for hand in self._dealt)
        return f"{hands} {self.information_state_string(PONE)}"


pyspiel.register_game(_TYPE, PeggingGame)


class AgentPolicy(spiel_policy.Policy):  # type: ignore[misc]
    """An agent that knows its probabilities, as a policy of OpenSpiel; ``to_tabular()`` makes a table of it."""

    def __init__(self, game: PeggingGame, agent: MixedAgent) -> None:
        super().__init__(game, [PONE, DEALER])
        self._agent = agent

    def action_probabilities(self, state: PeggingState, player_id: int | None = None) -> dict[int, float]:
        """How likely each rank is, see ``policy.Policy``."""
        role = state.current_player() if player_id is None else player_id
        views = views_of(state.games, np.zeros(1, np.int64), np.array([role]), np.zeros(1, np.int64))
        chances = self._agent.probabilities(views)[0].reshape(4, N_RANKS).sum(axis=0)
        return {action: float(chances[action]) for action in state.legal_actions()}
