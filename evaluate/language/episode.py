"""Cribbage as text with exact rewards: the player is told its position and loses what its choice loses.

What a choice loses is the value of the best one less its own, by what the player could see, so no luck is in it.
Discards are valued by the exact analysis, cards by a judge of the play, and the cards of ``play`` by the equilibrium.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from crib_env import Decision, GameBatch, PlayerViews, decisions, streams
from crib_env.agents import make_agent
from crib_env.agents.choosing import six_dealt
from crib_env.agents.expert import ExpertAgent
from crib_env.engine import OVER
from crib_env.evaluate.matches.mirrored import check_players
from crib_env.evaluate.skill.analysis.judges import ExpertJudge, discard_worth
from crib_env.evaluate.skill.positions import after_cards, batch_of, before_discards
from crib_env.evaluate.skill.suite import discards, play
from crib_env.exact.discard_statistics import PLACES
from crib_env.players.games import Observers
from crib_env.players.text import how_to_answer, in_words, read_answer
from crib_env.values import Range, check_values

Task = Literal["discards", "play", "deal", "game"]
"""One of the suite's hands before the discard; one of its positions before a card of the pegging game; a deal; a game.
A choice loses points, and in a game chance to win."""
_SIZES = {"discards": discards.N, "play": play.N}
_ASKS = 3  # answers to a decision
_PLAYER = 0  # its seat in a deal and a game
_ROW = np.zeros(1, np.int64)


class Choice(NamedTuple):
    """What may be chosen, and what it loses."""

    cards: tuple[int, ...]
    """Two to discard, ascending, or one to lay."""
    loss: float


class Episode:
    """A decision, a deal or a game, told and answered in words.

    A card that is the only legal one is laid without being asked for.

    Args:
        task: see :data:`Task`.
        number: of the position in the suite, or the seed of the deals. The suite's tier ``text`` asks the first 400
            discards and the first 400 cards: train on others.
        opponent: an agent's name, for a deal or a game.

    Attributes:
        choices: what has been chosen so far.
        illegal: how many answers named no legal cards.
    """

    def __init__(self, task: Task, number: int, opponent: str = "careful") -> None:
        numbers = Annotated[int, Range(0, _SIZES.get(task, math.inf) - 1)]
        check_values({"task": task, "number": number}, {"task": Task, "number": numbers})
        check_players([opponent])
        self._batch, self._known = _begin(task, number)
        self._unit, self._is_one = "chances" if task == "game" else "points", task in _SIZES
        self._opponent = make_agent(opponent)
        self._told = Observers(self._batch, (self._opponent, np.array([1 - _PLAYER])))
        self.choices: list[Choice] = []
        self.illegal = self._faults = 0
        self._go_on()

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to decide."""
        return bool(self._batch.games["phase"][0] == OVER or (self._is_one and self.choices))

    @property
    def view(self) -> Decision:
        """The decision, as the player sees it."""
        return next(decisions(self._views()))

    def words(self) -> str:
        """The position in words, or that it is over, and the score, the player's first."""
        if not self.is_over:
            return in_words(self.view)
        if self._is_one:
            return "This was the only decision."
        return "It is over. The score is {}–{}.".format(*self._batch.games["scores"][0])

    def losses(self) -> list[Choice]:
        """All that may be chosen now, in the order of cards."""
        views = self._views()
        if views.is_discard[0]:
            sets = six_dealt(views)[0, PLACES].tolist()
            values = getattr(discard_worth(_analyst(), views), self._unit)[0]
        else:
            sets = [[card] for card in np.flatnonzero(views.action_mask[0]).tolist()]
            ranks = [card % 13 for (card,) in sets]
            if self._known is not None:
                return [Choice(tuple(cards), float(self._known[rank])) for cards, rank in zip(sets, ranks)]
            values = getattr(_judge().worth(views), self._unit)[0, ranks]
        return [Choice(tuple(cards), float(values.max() - value)) for cards, value in zip(sets, values)]

    def answer(self, text: str) -> str:
        """Reads an answer (:func:`crib_env.players.text.read_answer`) and plays it, on to the next decision; returns
        :meth:`words`, or why it cannot be played. The third answer to a decision that names no legal cards gives up."""
        if self.is_over:
            return self.words()
        try:
            cards = tuple(sorted(read_answer(text, self.view)))
        except ValueError as error:
            self.illegal += 1
            self._faults += 1
            if self._faults == _ASKS:
                self.give_up()
            return f"That cannot be played: {error}."
        self._faults = 0
        self._choose(next(choice for choice in self.losses() if choice.cards == cards))
        return self.words()

    def asked(self, told: str) -> str:
        """What has been told, and how to answer in text, unless it is over."""
        return told if self.is_over else f"{told}\n{how_to_answer(self.view)}"

    def give_up(self) -> None:
        """Ends the episode as badly as possible: all choices that are left are the worst ones."""
        while not self.is_over:
            self._choose(max(self.losses(), key=lambda choice: choice.loss))

    def reward(self) -> float:
        """Minus all that the choices have lost."""
        return 0.0 - sum(choice.loss for choice in self.choices)

    def _views(self) -> PlayerViews:
        return self._batch.views(_ROW)

    def _choose(self, choice: Choice) -> None:
        self.choices.append(choice)
        if not self._is_one:
            for card in choice.cards:
                self._step(card)
            self._go_on()

    def _go_on(self) -> None:
        """Plays until there is something to ask for."""
        while not self.is_over:
            views = self._views()
            legal = np.flatnonzero(views.action_mask[0])
            if not self._is_one and self._batch.games["turn"][0] != _PLAYER:
                self._step(int(self._opponent.act(views)[0]))
            elif len(legal) == 1:
                self._step(int(legal[0]))
            else:
                return

    def _step(self, card: int) -> None:
        before, cards = self._batch.games.copy(), np.array([card])
        self._batch.step(_ROW, cards)
        self._told.tell(_ROW, before, cards)


def _begin(task: Task, number: int) -> tuple[GameBatch, np.ndarray | None]:
    """The game, and the losses (13,) of ranks where they are known."""
    zeros, row = np.zeros((1, 2), np.int64), slice(number, number + 1)
    if task == "discards":
        hands = discards.standard()
        return batch_of(before_discards(hands.sixes[row].astype(np.int64), hands.deals[row] == 1, zeros)), None
    if task == "play":
        known = play.standard()
        games = after_cards(known.deals[row], known.dealers[row], zeros, known.cards[row])
        return batch_of(games), known.losses[number].astype(float)
    return GameBatch(streams(number, 1), episode=task), None


@cache
def _analyst() -> ExpertAgent:
    return ExpertAgent(threads=1)


@cache
def _judge() -> ExpertJudge:
    return ExpertJudge(threads=1)


class CribbageTools:
    """An episode as a model plays it by calling tools: what TRL's trainers take as ``environment_factory``.

    The tools are :meth:`discard` and :meth:`lay`; a row of the data names the episode. TRL itself is not needed.

    Args:
        opponent: as for :class:`Episode`.
    """

    def __init__(self, opponent: str = "careful") -> None:
        self._opponent = opponent

    def reset(self, task: Task, number: int, **row: Any) -> str:
        """Begins the episode of a row; the position in words.

        Args:
            task, number: as for :class:`Episode`, with its errors.
            row: other columns, which are not used.
        """
        self._episode = Episode(task, number, self._opponent)
        return self._episode.words()

    def discard(self, a: str, b: str) -> str:
        """Discards two cards to the crib.

        Args:
            a: A card that you hold, such as 5H.
            b: Another one, such as TC.

        Returns:
            What you see then, or why these cards cannot be discarded.
        """
        return self._episode.answer(f"{a} {b}")

    def lay(self, card: str) -> str:
        """Lays a card in the play.

        Args:
            card: A card that you may lay, such as 7D.

        Returns:
            What you see then, or why this card cannot be laid.
        """
        return self._episode.answer(card)

    def get_reward(self) -> float:
        """Minus all that the choices have lost. What is left undecided is decided as badly as possible."""
        self._episode.give_up()
        return self._episode.reward()
