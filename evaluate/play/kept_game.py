"""A game between a person and an agent that outlives its process: it is written to a file after every card."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crib_env import GameBatch, PlayerViews, format_card, parse_card, streams
from crib_env.agents import Agent, make_agent
from crib_env.agents.registry import check_names_of_file, is_outside_agent
from crib_env.engine import OVER
from crib_env.files.json_text import read_json, typed
from crib_env.options import check_seed
from crib_env.picture.stages import stages
from crib_env.views import views_of
from evaluate.files import write_json
from evaluate.matches.game_records import GameRecord, Recorder
from evaluate.matches.observers import Observers

PERSON, AGENT = range(2)  # seats
_ROW = np.zeros(1, np.int64)


@dataclass(frozen=True)
class GameSoFar:
    """What the file of a game holds."""

    agent: str
    """As :func:`crib_env.agents.make_agent` takes it; it has seat 1."""
    seed: int
    """Of the deals."""
    first_dealer: int | None
    """A seat, or None for a cut."""
    scores: tuple[int, int]
    """At the start: the person's, the agent's."""
    cards: tuple[str, ...]
    """All that were discarded and laid, by both, in order."""


class KeptGame:
    """A game; :meth:`begin` and :meth:`resume` make one.

    Args:
        so_far: the game; its cards are played again.
        agent: the opponent.
        file: where it is kept.

    Raises:
        ValueError: a card is not legal.
    """

    def __init__(self, so_far: GameSoFar, agent: Agent, file: Path) -> None:
        check_seed(so_far.seed)
        self.file, self.agent, self._so_far = file, agent, so_far
        self._batch = GameBatch(streams(so_far.seed, 1), first_dealer=so_far.first_dealer, scores=so_far.scores)
        self._recorder = Recorder(self._batch)
        self._observers = Observers(self._batch, (agent, np.array([AGENT])))
        self._cards: list[str] = []
        for card in so_far.cards:
            if self.is_over:
                raise ValueError("there are cards after its end")
            if self.turn == AGENT:
                self.agents_card()  # it remembers what it has seen; its choice stands in the file
            self._play(parse_card(card))

    @classmethod
    def begin(cls, so_far: GameSoFar, file: Path) -> KeptGame:
        """A new game, kept from now on.

        Raises:
            ValueError: the agent cannot be made, an option is not allowed, or the file cannot be written.
        """
        game = cls(so_far, make_agent(so_far.agent), file)
        game._keep()
        return game

    @classmethod
    def resume(cls, file: Path, said: str | None) -> KeptGame:
        """The game in a file.

        Args:
            file: as it was kept.
            said: the agent that the user has named beside it. It must be the game's, and has to be named if it is code
                of the user's own (:func:`crib_env.agents.registry.check_names_of_file`).

        Raises:
            ValueError: it holds no such game.
        """

        def build(content: Any) -> KeptGame:
            so_far = typed(content, GameSoFar)
            if said is not None and said != so_far.agent:
                raise ValueError(f"its agent is {so_far.agent}")
            check_names_of_file([so_far.agent], {so_far.agent} & {said} if is_outside_agent(so_far.agent) else (), file)
            return cls(so_far, make_agent(so_far.agent), file)

        return read_json(file, f"{file} is not a game to go on with", build)

    @property
    def games(self) -> np.ndarray:
        """(1,) the record of the game."""
        return self._batch.games

    @property
    def turn(self) -> int:
        """The seat to act."""
        return int(self.games["turn"][0])

    @property
    def is_over(self) -> bool:
        """Whether somebody has won."""
        return bool(self.games["phase"][0] == OVER)

    @property
    def names(self) -> tuple[str, str]:
        """By seat."""
        return "you", self.agent.name

    def view(self) -> PlayerViews:
        """What the person sees, one decision."""
        return views_of(self.games, _ROW, np.array([PERSON]), self._batch.game_ids)

    def agents_card(self) -> int:
        """The agent's choice, where it is to act."""
        if cheats := getattr(self.agent, "act_cheating", None):  # of uct-cheating alone
            return int(cheats(self.games.copy(), self._batch.game_ids)[0])
        return int(self.agent.act(self._batch.views(_ROW))[0])

    def play(self, card: int) -> list[np.ndarray]:
        """Plays a card of whoever is to act, and keeps the game; its stages (:func:`crib_env.picture.stages.stages`).

        Raises:
            ValueError: the card is not legal; nothing has changed.
            OSError: the file cannot be written.
        """
        before = self.games.copy()
        self._play(card)
        self._keep()
        return list(stages(before, card))

    def _play(self, card: int) -> None:
        before, cards = self.games.copy(), np.array([card])
        legal = views_of(before, _ROW, np.array([self.turn]), self._batch.game_ids).action_mask[0]
        if not 0 <= card < len(legal) or not legal[card]:
            raise ValueError(f"{format_card(card)} is not legal")
        self._recorder.note(_ROW, cards)
        self._batch.step(_ROW, cards)
        self._cards.append(format_card(card))
        self._observers.tell(_ROW, before, cards)

    def _keep(self) -> None:
        write_json(self.file, {**asdict(self._so_far), "cards": self._cards})

    def record(self) -> GameRecord:
        """The finished game as matches record it."""
        return self._recorder.records(self._so_far.seed, [("human", self.agent.name)])[0]
