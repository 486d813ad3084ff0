"""Speed and memory, measured in one run: this project's engine and environments, and other people's beside them."""

from typing import Literal, get_args

Section = Literal["games", "exact-values", "vector", "single", "other-vectors", "openspiel", "start-up", "memory"]
SECTIONS: tuple[Section, ...] = get_args(Section)
