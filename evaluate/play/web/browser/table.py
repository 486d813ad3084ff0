"""The table in the browser: it answers the messages of the page, as the server of ``crib-env play`` does."""

from __future__ import annotations

import concurrent.futures
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import absent  # noqa: F401  # before the modules that import what is not here
import tables  # noqa: F401  # before the modules whose tables it knows


class _AtOnce:
    """A pool whose work is done when it is given: the browser has no threads here."""

    def __init__(self, *_: object) -> None: ...

    def __enter__(self) -> _AtOnce:
        return self

    def __exit__(self, *_: object) -> None: ...

    def map(self, function: Callable[..., Any], *arguments: Iterable[Any]) -> Iterator[Any]:
        """See :class:`concurrent.futures.Executor`."""
        return iter([*map(function, *arguments)])


threading.Thread.start = threading.Thread.run  # type: ignore[method-assign]
concurrent.futures.ThreadPoolExecutor = _AtOnce  # type: ignore[assignment, misc]

from crib_env.evaluate.play.levels import FIRST  # noqa: E402
from crib_env.evaluate.play.page.games import Games, answered  # noqa: E402
from crib_env.evaluate.play.page.warming import READY  # noqa: E402
from crib_env.evaluate.play.saved_game import GameSoFar  # noqa: E402
from crib_env.evaluate.play.web import NAMED  # noqa: E402

__all__ = ["answered", "make_games"]
_FOLDER = Path("/games")


def make_games() -> Games:
    """The games of this browser; its files are kept by the page."""
    _FOLDER.mkdir(exist_ok=True)
    offered = GameSoFar(FIRST.agent, 0, None, (0, 0), ())
    games = Games(_FOLDER, _FOLDER / "games.jsonl", offered, opponents=NAMED, others=False)
    games.warm = READY
    return games
