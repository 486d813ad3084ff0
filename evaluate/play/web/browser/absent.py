"""In the place of Gymnasium, PettingZoo and filelock in the browser, which the page imports and hardly uses."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any


class Space:
    """A space or an environment; it knows nothing of its values."""

    def __init__(self, *_: object, **__: object) -> None: ...

    def __class_getitem__(cls, _: object) -> Any:
        return cls


class FileLock:
    """Is always free: one page has the browser's games."""

    def __init__(self, *_: object, **__: object) -> None: ...

    def acquire(self) -> None:
        """See filelock."""

    def release(self) -> None:
        """See filelock."""


_gymnasium = SimpleNamespace(Space=Space, Box=Space, Dict=Space, Discrete=Space, Env=Space)
_gymnasium.register = lambda *_, **__: None
_gymnasium.DependencyNotInstalled = ImportError
_gymnasium.spaces = _gymnasium.error = _gymnasium
_pettingzoo = SimpleNamespace(AECEnv=Space)
_filelock = SimpleNamespace(FileLock=FileLock, Timeout=TimeoutError)
for _name, _module in {
    **dict.fromkeys(("gymnasium", "gymnasium.spaces", "gymnasium.error"), _gymnasium),
    "pettingzoo": _pettingzoo,
    "filelock": _filelock,
}.items():
    sys.modules[_name] = _module  # type: ignore[assignment]
