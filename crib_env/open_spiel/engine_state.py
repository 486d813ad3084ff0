"""What the games of OpenSpiel share: their type, and a state that is a record of the engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel

from crib_env.engine import GAME, OVER


def game_type(short_name: str, long_name: str, has_observations: bool, parameters: dict[str, Any]) -> Any:
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
