"""The games of a folder, as the first screen lists them."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from crib_env import GameBatch, parse_card, streams
from crib_env.evaluate.play.levels import level_of
from crib_env.evaluate.play.saved_game import GameSoFar, read_game

GAME_ID = re.compile(r"\d{8}-\d{6}(-\d+)?")
_LISTED = 30
_ROW = np.zeros(1, np.int64)


def listed(folder: Path) -> list[dict[str, Any]]:
    """The latest games of a folder; files that are not games are skipped."""
    files = [file for file in sorted(folder.glob("*.json"), reverse=True) if GAME_ID.fullmatch(file.stem)]
    found = (_row(file, file.stat().st_mtime_ns) for file in files[:_LISTED])
    return [row for row in found if row]


@lru_cache(maxsize=1_000)
def _row(file: Path, changed: int) -> dict[str, Any]:
    """What is listed of a game, empty if it is none; ``changed``: when the file was written."""
    try:
        so_far = read_game(file)
        scores, deal = _standing(so_far)
    except (ValueError, IndexError):
        return {}
    level = level_of(so_far.agent)
    return {
        "game": file.stem,
        "agent": so_far.agent,
        "name": level.name if level else so_far.agent,
        "scores": scores,
        "deal": deal,
        "practice": so_far.practice,
    }


def _standing(so_far: GameSoFar) -> tuple[list[int], int]:
    """The scores, and the number of the deal."""
    batch = GameBatch(streams(so_far.seed, 1), first_dealer=so_far.first_dealer, scores=so_far.scores)
    for card in so_far.cards:
        batch.step(_ROW, np.array([parse_card(card)]))
    return batch.games["scores"][0].tolist(), int(batch.games["n_deals"][0])
