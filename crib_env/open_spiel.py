"""Games of OpenSpiel (``pip install open_spiel``): ``pyspiel.load_game("crib_pegging(cards=2)")``, and ``"crib_deal"``.

Importing this module registers both. Player 0 is pone, player 1 the dealer. Cards are laid by
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

from functools import cache
from math import comb, prod
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python import policy as spiel_policy

from crib_env.cards import RANKS, format_card, format_cards
from crib_env.engine import (
    DEAL_EPISODE,
    DEALER,
    DISCARD,
    GAME,
    OVER,
    PEGGING_EPISODE,
    PONE,
    WIN,
    act,
    begin_deal,
    begin_game,
    legal_cards,
)
from crib_env.hands import HANDS, N_RANKS, hand_number
from crib_env.observation import N_BITS, write_observation
from crib_env.players.agent import MixedAgent
from crib_env.players.tabular import StatePolicy, information_state
from crib_env.solver.cfr import PlaySolver
from crib_env.views import views_of

_DEALT = 12  # cards, six to each player
_MOST_POINTS = 61  # more than a player pegs with four cards


def _game_type(short_name: str, long_name: str, has_observations: bool, parameters: dict[str, Any]) -> Any:
    """A zero-sum game of two players with explicit chance; information states are text."""
    return pyspiel.GameType(
        short_name=short_name,
        long_name=long_name,
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=2,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=has_observations,
        provides_observation_tensor=has_observations,
        parameter_specification=parameters,
    )


class EngineState(pyspiel.State):  # type: ignore[misc]  # OpenSpiel has no types
    """A state whose cards are laid by the engine.

    Attributes:
        games: (1,) GAME, the engine's record of it; empty until all hands are dealt.
    """

    def __init__(self, game: pyspiel.Game) -> None:
        super().__init__(game)
        self._dealt: list[int] = []  # by chance, as it numbers its actions
        self.games = np.zeros(1, GAME)

    @property
    def _awaits_chance(self) -> bool:
        """Whether cards are to be dealt or cut."""
        raise NotImplementedError

    def current_player(self) -> int:
        """See ``pyspiel.State``."""
        if self._awaits_chance:
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


_PEGGING = _game_type("crib_pegging", "Cribbage, the play of a deal", False, {"cards": 4})
_DEAL = _game_type("crib_deal", "Cribbage, a deal", True, {})
_DEAL_INFORMATION = pyspiel.GameInfo(
    num_distinct_actions=52,
    max_chance_outcomes=52,
    num_players=2,
    min_utility=float(-WIN),
    max_utility=float(WIN),
    utility_sum=0.0,
    max_game_length=12,
)


class Observer:
    """What OpenSpiel asks for observations: information states as text; of the deal also observations of 209 bits
    (:mod:`crib_env.observation`), which are 0 until all cards are dealt."""

    def __init__(self, with_tensor: bool) -> None:
        self.tensor = np.zeros(N_BITS, np.float32) if with_tensor else None
        self.dict = {} if self.tensor is None else {"observation": self.tensor}

    def set_from(self, state: DealState, player: int) -> None:
        """Fills the tensor, if there is one."""
        if self.tensor is not None:
            self.tensor[:] = 0
            if state.is_dealt:
                write_observation(state.games[0], player, self.tensor[None], 0)

    def string_from(self, state: EngineState, player: int) -> str:
        """The information state."""
        return str(state.information_state_string(player))


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
        super().__init__(_PEGGING, information, {"cards": self.cards})

    def new_initial_state(self) -> PeggingState:
        """The state before the deal."""
        return PeggingState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer:
        """Without a tensor."""
        return Observer(with_tensor=False)


class PeggingState(EngineState):
    """A state of the pegging game.

    Attributes:
        games: (1,) the engine's record of it; empty before both hands are dealt.
        laid: role and rank of each card laid, oldest first.
    """

    def __init__(self, game: PeggingGame) -> None:
        super().__init__(game)
        self._cards = game.cards
        self.laid: list[tuple[int, int]] = []

    def held(self, role: int) -> list[int]:
        """The ranks that a role still holds, in ascending order."""
        ranks: list[int] = HANDS[self._cards][self._dealt[role]].tolist()
        for by, rank in self.laid:
            if by == role:
                ranks.remove(rank)
        return sorted(ranks)

    @property
    def _awaits_chance(self) -> bool:
        return len(self._dealt) < 2

    def _legal_actions(self, player: int) -> list[int]:
        return self._ranks()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Hands of ranks and their chances, see ``pyspiel.State``."""
        return _deals(self._cards, self._dealt[0] if self._dealt else None)

    def _apply_action(self, action: int) -> None:
        if len(self._dealt) < 2:
            self._dealt.append(action)
            if len(self._dealt) == 2:
                self._deal()
            return
        self._lay(action)

    def _ranks(self) -> list[int]:
        """The ranks that may be laid now."""
        legal = int(legal_cards(self.games[0]))
        ranks = legal | legal >> N_RANKS | legal >> 2 * N_RANKS | legal >> 3 * N_RANKS
        return [rank for rank in range(N_RANKS) if ranks >> rank & 1]

    def _lay(self, rank: int) -> None:
        """Lays a card of a rank, and then those of which there is no choice."""
        record = self.games[0]
        while True:
            legal = int(legal_cards(record))
            self.laid.append((int(record["turn"]), rank))
            act(record, next(card for card in range(rank, 52, N_RANKS) if legal >> card & 1))
            if record["phase"] == OVER or len(ranks := self._ranks()) > 1:
                return
            (rank,) = ranks

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
        if len(ranks := self._ranks()) == 1:
            self._lay(*ranks)

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


pyspiel.register_game(_PEGGING, PeggingGame)


def _cards(mask: int) -> list[int]:
    return [card for card in range(52) if int(mask) >> card & 1]


class DealGame(pyspiel.Game):  # type: ignore[misc]  # OpenSpiel has no types
    """One deal from 0-0. Actions are card ids: two discards each, pone's first, and then the cards of the play."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        super().__init__(_DEAL, _DEAL_INFORMATION, params or {})

    def new_initial_state(self) -> DealState:
        """The state before the first card is dealt."""
        return DealState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer:
        """With a tensor, unless information states are asked for."""
        return Observer(with_tensor=iig_obs_type is None or not iig_obs_type.perfect_recall)


class DealState(EngineState):
    """A state of the deal. Chance deals six cards to pone and six to the dealer, one by one, and cuts the starter.

    Attributes:
        games: (1,) the engine's record of it; empty until all are dealt.
    """

    def __init__(self, game: DealGame) -> None:
        super().__init__(game)
        self._last_discard = -1  # the dealer's second, until the starter is cut

    @property
    def is_dealt(self) -> bool:
        """Whether both players have their six cards."""
        return len(self._dealt) == _DEALT

    @property
    def _awaits_chance(self) -> bool:
        return not self.is_dealt or self._last_discard >= 0

    def _legal_actions(self, player: int) -> list[int]:
        return _cards(legal_cards(self.games[0]))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Cards that are not dealt, all as likely, see ``pyspiel.State``."""
        left = sorted({*range(52)}.difference(self._dealt))
        return [(card, 1 / len(left)) for card in left]

    def _apply_action(self, action: int) -> None:
        record = self.games[0]
        if not self.is_dealt:
            self._dealt.append(action)
            if self.is_dealt:
                record["cards"] = [*self._dealt, -1]
                begin_game(record, DEAL_EPISODE, DEALER, 0, 0, -1)
                begin_deal(record)
        elif self._last_discard >= 0:
            record["cards"][_DEALT] = action
            act(record, self._last_discard)
            self._last_discard = -1
        elif record["phase"] == DISCARD and record["turn"] == DEALER and record["discards"][DEALER]:
            self._last_discard = action
        else:
            act(record, action)

    def _action_to_string(self, player: int, action: int) -> str:
        return format_card(action)

    def information_state_string(self, player: int | None = None) -> str:
        """What a player knows: its role, the cards dealt to it, its discards, the starter, and who laid which card,
        oldest first. It may have made one discard of two."""
        role, record = self.current_player() if player is None else player, self.games[0]
        dealt = sorted(self._dealt[6 * role : 6 * role + 6])
        own = _cards(record["discards"][role])
        if role == DEALER and self._last_discard >= 0:
            own.append(self._last_discard)
        starter = record["cards"][_DEALT : _DEALT + self.is_dealt]
        laid = zip(record["laid_by"][: record["n_laid"]].tolist(), record["laid"].tolist())
        parts = ["pd"[role], *(format_cards(cards) for cards in (dealt, sorted(own), starter[starter >= 0].tolist()))]
        return " | ".join([*parts, " ".join("pd"[by] + format_card(card) for by, card in laid)])

    def __str__(self) -> str:
        return "\n".join(self.information_state_string(role) for role in (PONE, DEALER))


pyspiel.register_game(_DEAL, DealGame)


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
