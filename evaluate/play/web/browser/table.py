"""The table in the browser: it answers the messages of the page, as the server of ``crib-env play`` does.

Before the modules of the table are imported, it puts others in the place of what the browser does not have: Gymnasium,
PettingZoo, filelock, threads, command lines, and the module that reads weights.
"""

from __future__ import annotations

import concurrent.futures
import json
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

_GAMES = Path("/games")


class Nothing:
    """A space, an environment or a lock, which the page imports and hardly uses: a lock is always free, because one
    page has the browser's games."""

    def __init__(self, *_: object, **__: object) -> None: ...

    def __class_getitem__(cls, _: object) -> Any:
        return cls

    def acquire(self) -> None:
        """See filelock."""

    def release(self) -> None:
        """See filelock."""


class AtOnce:
    """A pool whose work is done when it is given: the browser has no threads here."""

    def __init__(self, *_: object) -> None: ...

    def __enter__(self) -> AtOnce:
        return self

    def __exit__(self, *_: object) -> None: ...

    def map(self, function: Callable[..., Any], *arguments: Iterable[Any]) -> Iterator[Any]:
        """See :class:`concurrent.futures.Executor`."""
        return iter([*map(function, *arguments)])


class WeightsFile:
    """See :class:`crib_env.agents.networks.weights_file.WeightsFile`."""

    def __init__(self, path: Path) -> None:
        content = path.read_bytes()
        start = 8 + int.from_bytes(content[:8], "little")
        header = json.loads(content[8:start])
        self.about = json.loads(header.pop("__metadata__")["about"])
        self._tensors = {
            name: np.frombuffer(content[start + one["data_offsets"][0] : start + one["data_offsets"][1]], np.float16)
            .reshape(one["shape"])
            .astype(np.float32)
            for name, one in header.items()
        }

    def fill(self, network: Any) -> None:
        """Gives networks their weights."""
        for name, weights in self._tensors.items():
            *path, which = name.split(".")
            layer = network
            for part in path:
                if isinstance(layer, dict):
                    layer = layer[part]
                else:
                    layer = layer.layers[int(part)] if part.isdigit() else getattr(layer, part)
            setattr(layer, which, weights)


@contextmanager
def reading_weights(path: Path, *learners: str) -> Iterator[WeightsFile]:
    """See :func:`crib_env.agents.networks.weights_file.reading_weights`."""
    yield WeightsFile(path)


_gymnasium = SimpleNamespace(Space=Nothing, Box=Nothing, Dict=Nothing, Discrete=Nothing, Env=Nothing)
_gymnasium.register = lambda *_, **__: None
_gymnasium.DependencyNotInstalled = ImportError
_gymnasium.spaces = _gymnasium.error = _gymnasium
_in_place: dict[str, Any] = {
    **dict.fromkeys(("gymnasium", "gymnasium.spaces", "gymnasium.error"), _gymnasium),
    "pettingzoo": SimpleNamespace(AECEnv=Nothing),
    "filelock": SimpleNamespace(FileLock=Nothing, Timeout=TimeoutError),
    "crib_env.evaluate.command_line": SimpleNamespace(SomePositive=None),
    "crib_env.agents.networks.weights_file": SimpleNamespace(
        WeightsFile=WeightsFile, reading_weights=reading_weights, save_tensors=None
    ),
}
sys.modules.update(_in_place)
threading.Thread.start = threading.Thread.run  # type: ignore[method-assign]
concurrent.futures.ThreadPoolExecutor = AtOnce  # type: ignore[assignment, misc]

from crib_env.evaluate.play.levels import FIRST  # noqa: E402
from crib_env.evaluate.play.page.games import READY, Games, answered  # noqa: E402
from crib_env.evaluate.play.saved_game import GameSoFar  # noqa: E402
from crib_env.evaluate.play.web import NAMED  # noqa: E402

__all__ = ["answered", "make_games"]


def make_games() -> Games:
    """The games of this browser; its files are kept by the page."""
    _GAMES.mkdir(exist_ok=True)
    offered = GameSoFar(FIRST.agent, 0, None, (0, 0), ())
    games = Games(_GAMES, _GAMES / "games.jsonl", offered, opponents=NAMED, others=False)
    games.warm = READY
    return games
