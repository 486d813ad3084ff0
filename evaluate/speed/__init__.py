"""Speed and memory, measured in one run, of this project's engine and environments and of others for comparison."""

from typing import Literal, get_args

Section = Literal[
    "games", "exact-values", "vector", "single", "pictures", "other-vectors", "openspiel", "start-up", "memory"
]
SECTIONS: tuple[Section, ...] = get_args(Section)
