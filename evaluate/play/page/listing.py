"""The games of a folder, as the first screen lists them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from crib_env.agents.baselines import RandomAgent
from crib_env.evaluate.play.levels import Level, Rate, level_of
from crib_env.evaluate.play.saved_game import GameSoFar, SavedGame, read_game

GAME_ID = re.compile(r"\d{8}-\d{6}(-\d+)?")
_LISTED = 30


def listed(folder: Path) -> list[dict[str, Any]]:
    """The latest games of a folder; files that are not games are skipped."""
    files = [file for file in sorted(folder.glob("*.json"), reverse=True) if GAME_ID.fullmatch(file.stem)]
    return list(islice(_rows(files), _LISTED))


def _rows(files: Sequence[Path]) -> Iterator[dict[str, Any]]:
    for file in files:
        with suppress(OSError):  # a link to nothing, or it has just been deleted
            if row := _row(file, file.stat().st_mtime_ns):
                yield row


@lru_cache(maxsize=1_000)
def _row(file: Path, changed: int) -> dict[str, Any]:
    """What is listed of a game, empty if it is none; ``changed``: when the file was written."""
    try:
        so_far = read_game(file)
        scores, deal = _standing(so_far)
    except (ValueError, IndexError):
        return {}
    level = level_of(so_far.opponent or so_far.agent)
    return {
        "game": file.stem,
        "agent": so_far.agent,
        "name": " and ".join(so_far.people) or (level.name if level else so_far.opponent or so_far.agent),
        "imported": bool(so_far.deals),
        "scores": scores,
        "deal": deal,
        "practice": so_far.practice,
    }


def _standing(so_far: GameSoFar) -> tuple[list[int], int]:
    """The scores, and the number of the deal."""
    game = SavedGame(so_far, RandomAgent(0), Path())
    return game.games["scores"][0].tolist(), int(game.games["n_deals"][0])


def level_row(level: Level) -> dict[str, str]:
    """A level as the first screen shows it."""
    rates = {"greedy": level.against_greedy, "best": level.against_best}
    told = [f"{_rate(rate)} of {rate.games:,} games against {name}" for name, rate in rates.items() if rate]
    return {
        "name": level.name,
        "agent": level.agent,
        "says": f"{level.says}; {level.words}",
        "figures": f"wins {', '.join(told)}",
    }


def _rate(rate: Rate) -> str:
    return f"{100 * rate.rate:.1f} ± {50 * (rate.high - rate.low):.1f} %"
