"""In the place of Gymnasium in the browser, where nobody makes an environment by name."""

from __future__ import annotations

import sys
from typing import Any


def register(*_: object, **__: object) -> None:
    """See Gymnasium; nothing is kept."""


class Space:
    """See Gymnasium; it knows nothing of its values."""

    def __init__(self, *_: object, **__: object) -> None: ...

    def __class_getitem__(cls, _: object) -> Any:
        return cls


Box = Dict = Discrete = Space
Env = Space
DependencyNotInstalled = ImportError
for name in ("spaces", "error"):
    sys.modules[f"{__name__}.{name}"] = globals()[name] = sys.modules[__name__]
