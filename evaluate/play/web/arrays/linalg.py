"""See ``numpy.linalg``."""

from .functions import norm

__all__ = ["norm"]
