"""The whole deal as a game of OpenSpiel, discards and play with suits, laid by the engine of this project."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel

from crib_env.cards import format_card, format_cards
from crib_env.engine import DEAL_EPISODE, DEALER, DISCARD, PONE, WIN, act, begin_deal, begin_game, legal_cards
from crib_env.observation import N_BITS, write_observation
from crib_env.open_spiel.engine_state import EngineState, game_type

_DEALT = 12  # cards, six to each player
_TYPE = game_type("crib_deal", "Cribbage, a deal", True, {})
_INFORMATION = pyspiel.GameInfo(
    num_distinct_actions=52,
    max_chance_outcomes=52,
    num_players=2,
    min_utility=float(-WIN),
    max_utility=float(WIN),
    utility_sum=0.0,
    max_game_length=12,
)


def _cards(mask: int) -> list[int]:
    return [card for card in range(52) if int(mask) >> card & 1]


class DealGame(pyspiel.Game):  # type: ignore[misc]  # OpenSpiel has no types
    """One deal from 0-0. Actions are card ids: two discards each, pone's first, and then the cards of the play."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        super().__init__(_TYPE, _INFORMATION, params or {})

    def new_initial_state(self) -> DealState:
        """The state before the first card is dealt."""
        return DealState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> _Observer:
        """What OpenSpiel asks for observations."""
        return _Observer(with_tensor=iig_obs_type is None or not iig_obs_type.perfect_recall)


class _Observer:
    """Gives information states as text, and observations of 209 bits (:mod:`crib_env.observation`)."""

    def __init__(self, with_tensor: bool) -> None:
        self.tensor = np.zeros(N_BITS, np.float32) if with_tensor else None
        self.dict = {} if self.tensor is None else {"observation": self.tensor}

    def set_from(self, state: DealState, player: int) -> None:
        """Fills the tensor; it is 0 until all cards are dealt."""
        if self.tensor is not None:
            self.tensor[:] = 0
            if state.is_dealt:
                write_observation(state.games[0], player, self.tensor[None], 0)

    def string_from(self, state: DealState, player: int) -> str:
        """See :meth:`DealState.information_state_string`."""
        return state.information_state_string(player)


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


pyspiel.register_game(_TYPE, DealGame)
