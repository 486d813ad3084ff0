"""A rollout behind the page, which asks for it again and again, and can stop it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from threading import Event
from typing import Any

from crib_env import PlayerViews
from crib_env.cards import format_card
from crib_env.evaluate.play.sitting import in_thread
from crib_env.evaluate.rollout import Rollout, rollout
from crib_env.players.games import Z

_SECONDS = 60.0


class Rolling:
    """All choices of a decision, played on by ``best`` in both seats until one is best, or for a minute.

    ``of``: the game and the moment; ``chosen``: the cards discarded, or the card laid, which is named for its rank.
    """

    def __init__(self, of: tuple[str, int], view: PlayerViews, chosen: Sequence[int]) -> None:
        self.of = of
        self._chosen, self._stopped = sorted(chosen), Event()
        self._found: Rollout | None = None
        self._made = in_thread(partial(rollout, view, on_progress=self._tell, seconds=_SECONDS))

    def _tell(self, _: int, so_far: Any) -> None:
        self._found = so_far()
        if self._stopped.is_set():
            raise InterruptedError

    def stop(self) -> None:
        """Ends it soon."""
        self._stopped.set()

    def as_json(self) -> dict[str, Any]:
        """What is known so far, with 95 % intervals, as :func:`choices_as_json` has it; and whether it goes on."""
        goes_on = not (self._made.done() or self._stopped.is_set())
        if self._made.done() and not self._stopped.is_set():
            self._found = self._made.result()
        rows = [
            {
                "cards": [format_card(card) for card in one.cards],
                "cells": [
                    f"{100 * one.chance:.1f} ± {100 * Z * one.chance_error:.1f}",
                    f"{one.points:+.2f} ± {Z * one.points_error:.2f}",
                    f"{one.deals:,}",
                ],
                "chosen": [*one.cards] == self._chosen or [card % 13 for card in one.cards] == [self._chosen[0] % 13],
            }
            for one in (self._found.choices if self._found else ())
        ]
        return {"columns": ["win %", "net points", "deals"], "rows": rows, "goes_on": goes_on}
