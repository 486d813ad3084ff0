"""An episode as a model plays it by calling tools: what TRL's trainers take as ``environment_factory``."""

from __future__ import annotations

from typing import Any

from crib_env.evaluate.language.episode import Episode, Task, Unit


class CribbageTools:
    """Two tools, :meth:`discard` and :meth:`lay`; a row of the data names the episode. TRL itself is not needed.

    Args:
        opponent: an agent's name.
        unit: ``"points"`` or ``"chance"``, as for :class:`crib_env.evaluate.language.episode.Episode`.
    """

    def __init__(self, opponent: str = "careful", unit: Unit = "points") -> None:
        self._opponent, self._unit = opponent, unit

    def reset(self, task: Task, number: int, **row: Any) -> str:
        """Begins the episode of a row; the position in words.

        Args:
            task: ``"discards"``, ``"play"``, ``"deal"`` or ``"game"``.
            number: which position of the suite, or the seed of the deals.
            row: other columns, which are not used.

        Raises:
            ValueError: there is no such episode.
        """
        self._episode = Episode(task, number, self._opponent, self._unit)
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
