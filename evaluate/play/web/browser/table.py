"""The table in the browser: it answers the messages of the page, as the server of ``crib-env play`` does.

Before the modules of the table are imported, it puts others in the place of what the browser does not have: Gymnasium,
PettingZoo, filelock, threads, command lines, and the module that reads weights. Tables were computed beforehand
(:mod:`crib_env.evaluate.play.web.prepared`): a cached function of them finds its result here.
"""

from __future__ import annotations

import concurrent.futures
import functools
import json
import lzma
import math
import sys
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.memory import strides_of

_FOLDER, _GAMES = Path("/table"), Path("/games")
_KNOWN = json.loads((_FOLDER / "tables.json").read_text())


def prepared(name: str) -> Any:
    """One of the results that were kept."""
    file = _FOLDER / _KNOWN[name]["file"]
    content = file.read_bytes()
    return _built(_KNOWN[name]["made"], lzma.decompress(content) if file.suffix == ".xz" else content)


def _built(value: Any, content: bytes) -> Any:
    if not isinstance(value, dict):
        return value
    if "dtype" in value:
        kind, shape = np.dtype(value["dtype"]), tuple(value["shape"])
        n, size = math.prod(shape), kind.itemsize
        items = bytearray(n * size + (-n * size % 8 or 8))
        for k in range(size):  # first bytes of all items come first
            start = value["start"] + k * n
            items[k : n * size : size] = content[start : start + n]
        return np.ndarray(array("Q", bytes(items)), 0, shape, strides_of(shape, size), kind)
    parts = [_built(part, content) for part in value["parts"]]
    module, _, name = value["class"].partition(":")
    return parts if module == "builtins" else getattr(sys.modules[f"crib_env.{module}"], name)(*parts)


def cache(function: Callable[..., Any]) -> Callable[..., Any]:
    """:func:`functools.cache`, but that tables are not computed."""
    name = f"{function.__module__}:{function.__name__}"
    return _cached(function if name not in _KNOWN else lambda *_: prepared(name))


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
    """The shipped weights of ``best``."""

    def __init__(self) -> None:
        (about, _), *self._tensors = prepared("weights")
        self.about = json.loads(about)

    def fill(self, networks: Any) -> None:
        """Gives networks their weights."""
        for name, weights in self._tensors:
            *path, which = name.split(".")
            layer = networks["policies"]
            for part in path:
                if isinstance(layer, dict):
                    layer = layer[part]
                else:
                    layer = layer.layers[int(part)] if part.isdigit() else getattr(layer, part)
            setattr(layer, which, weights)


@contextmanager
def reading_weights(path: object, learner: str) -> Iterator[WeightsFile]:
    """See :func:`crib_env.agents.networks.weights_file.reading_weights`; there is one file."""
    yield WeightsFile()


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
_cached, functools.cache = functools.cache, cache  # type: ignore[assignment]
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
