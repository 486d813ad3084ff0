"""Decisions near the end of recorded games, judged by rollouts of fixed size that are made once and kept.

Where both need few points, tables say little of what a choice comes to. So the choices that the judge has near the best
one, and the one made, are played on from the same hidden cards (:mod:`crib_env.evaluate.rollout`). Deals of one seed
say which is best; those of the next seed say what it wins more than the choice made, so that no choice is favoured for
its luck.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from crib_env import PlayerViews
from crib_env.cards import format_cards
from crib_env.evaluate.files import write_json
from crib_env.evaluate.rollout import Choice, rollout
from crib_env.files.json_text import read_json
from crib_env.values import typed

LATE = 95
"""Both scores from which a decision is judged so."""
NEAR = 0.05
"""Choices that the judge has further behind the best one, in the chance to win, are not played out."""


class PlayedOut(NamedTuple):
    """What rollouts say of a decision."""

    best: tuple[int, ...]
    """The cards that win most often; those chosen if no others do."""
    chance: float
    """To win after them."""
    lost: float
    """Their chance less that of the cards chosen. It can be negative, as both are known from a sample."""
    error: float
    """Standard error of ``lost``."""


class Rollouts:
    """Rollouts of decisions, and those of earlier calls.

    Args:
        path: the JSON file that keeps them; it need not exist.
        deals: of each choice, rounded up to hundreds.
        agent: plays on in both seats.
        threads: number of threads; they do not change the result.

    Raises:
        ValueError: the file is not one of kept rollouts.
    """

    def __init__(self, path: Path, deals: int, agent: str = "best", threads: int = 2) -> None:
        self._path, self._deals, self._agent, self._threads = path, deals, agent, threads
        self._kept: dict[str, PlayedOut] = {}
        if path.exists():
            self._kept = read_json(
                path, f"{path} does not hold rollouts", lambda kept: typed(kept, dict[str, PlayedOut])
            )

    def judged(self, view: PlayerViews, choices: Sequence[tuple[int, ...]], chosen: tuple[int, ...]) -> PlayedOut:
        """What the choices of a late decision come to.

        Args:
            view: one decision.
            choices: cards of the choices near the best one.
            chosen: cards of the choice made.
        """
        made = tuple(sorted(chosen))
        compared = sorted({tuple(sorted(cards)) for cards in choices} | {made})
        asked = [self._agent, self._deals, compared, made, view.games[0].tobytes().hex()]
        key = hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:32]
        if key not in self._kept:
            self._kept[key] = self._play_out(view, compared, made, int(key[:8], 16))
            write_json(self._path, self._kept)  # so that a stopped analysis goes on
        return self._kept[key]

    def _play_out(
        self, view: PlayerViews, choices: Sequence[tuple[int, ...]], made: tuple[int, ...], seed: int
    ) -> PlayedOut:
        def played(of: Sequence[tuple[int, ...]], seed: int) -> tuple[Choice, ...]:
            names = [format_cards(cards) for cards in of]
            return rollout(
                view, names, self._agent, deals=self._deals, confidence=1.0, seed=seed, threads=self._threads
            ).choices

        best = played(choices, seed)[0].cards if len(choices) > 1 else made
        first, *others = played([made] if best == made else [best, made], seed + 1)
        if not others:
            return PlayedOut(made, first.chance, 0.0, 0.0)
        behind, error = others[0].behind, others[0].behind_error
        if first.cards == best:
            return PlayedOut(best, first.chance, behind, error)
        return PlayedOut(best, others[0].chance, -behind, error)
