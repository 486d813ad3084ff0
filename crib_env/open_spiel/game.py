"""The pegging game of OpenSpiel, laid by the engine of this project."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import comb, prod
from types import MappingProxyType
from typing import Any

import numpy as np
import pyspiel

from crib_env.cards import RANKS
from crib_env.engine import DEALER, OVER, PEGGING_EPISODE, PONE, act, begin_deal, begin_game, legal_cards
from crib_env.hands import HANDS, N_RANKS
from crib_env.open_spiel.engine_state import EngineState, game_type
from crib_env.players.tabular import information_state

_MOST_POINTS = 61  # more than a player pegs with four cards
_TYPE = game_type("crib_pegging", "Cribbage, the play of a deal", False, {"cards": 4})


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

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> _Observer:
        """What OpenSpiel asks for information states."""
        return _Observer()


class _Observer:
    """Gives information states as text; there is no tensor."""

    tensor = None
    dict: Mapping[str, np.ndarray] = MappingProxyType({})

    def set_from(self, state: PeggingState, player: int) -> None:
        """There is no tensor to fill."""

    def string_from(self, state: PeggingState, player: int) -> str:
        """See :func:`information_state`."""
        return state.information_state_string(player)


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


pyspiel.register_game(_TYPE, PeggingGame)
