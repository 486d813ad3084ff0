"""The distribution: its version, and which extra brings a package that is not installed."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires
from typing import Any

__version__ = "1.0.0"  # read without importing this package when a wheel is built

# Modules that are not named as their distributions are.
_DISTRIBUTIONS = {"PIL": "pillow", "pygame": "pygame-ce"}


def extra_of(module: str | None) -> str | None:
    """The first extra in ``pyproject.toml`` that brings a module by itself; ``None`` if none does."""
    top = (module or "").partition(".")[0]
    wanted = _DISTRIBUTIONS.get(top, top).replace("_", "-")
    try:
        needs = requires("crib-env") or []
    except PackageNotFoundError:  # the sources are on Python's path, and not installed
        return None
    found = (re.match(r"([\w-]+).*extra == ['\"](\w+)", need.replace("_", "-")) for need in needs)
    return next((one[2] for one in found if one and one[1].lower() == wanted), None)


def missing(what: str, error: Any, extra: str | None = None) -> str:
    """A message for an error of an import: ``what`` needs the package that ``extra`` brings, or else the first extra
    that brings it by itself."""
    package = (error.name or "").partition(".")[0]
    extra = extra or extra_of(package)
    remedy = "which cannot be imported" if extra is None else f"install crib_env with its extra {extra!r}"
    return f"{what} needs {package}{', ' if extra is None else ': '}{remedy}"
