"""In the place of PettingZoo in the browser: the class that recorded games replay in."""

from __future__ import annotations

from typing import Any


class AECEnv:
    """See PettingZoo."""

    def __class_getitem__(cls, _: object) -> Any:
        return cls
