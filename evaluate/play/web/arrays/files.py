"""Arrays read from an ``.npz`` file."""

from __future__ import annotations

import ast
import zipfile
from array import array as memory
from collections.abc import Iterator
from typing import Any

from .dtypes import dtype, size_of
from .memory import ndarray
from .selecting import strides_of


class NpzFile:
    """The arrays of a file, by name; each is read when it is asked for."""

    def __init__(self, file: Any) -> None:
        self._archive = zipfile.ZipFile(file)
        self.files = [name.removesuffix(".npy") for name in self._archive.namelist()]

    def __enter__(self) -> NpzFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __contains__(self, name: object) -> bool:
        return name in self.files

    def keys(self) -> list[str]:
        """The names."""
        return self.files

    def __getitem__(self, name: str) -> ndarray:
        return _parsed(self._archive.read(f"{name}.npy"))


def load(file: Any, allow_pickle: bool = False) -> NpzFile:
    """See NumPy, for archives.

    Raises:
        ValueError: it is none.
    """
    try:
        return NpzFile(file)
    except zipfile.BadZipFile:
        raise ValueError(f"{file} is no archive") from None


def _parsed(content: bytes) -> ndarray:
    if content[:6] != b"\x93NUMPY":
        raise ValueError("not an array")
    wide = content[6] > 1
    start = 12 if wide else 10
    length = int.from_bytes(content[8:start], "little")
    about = ast.literal_eval(content[start : start + length].decode())
    kind, shape = _kind(about["descr"]), tuple(about["shape"])
    data = content[start + length : start + length + size_of(shape) * kind.itemsize]
    order = tuple(reversed(shape)) if about["fortran_order"] else shape
    made = ndarray(
        memory("Q", data + bytes(-len(data) % 8 or 8 * (not data))), 0, order, strides_of(order, kind.itemsize), kind
    )
    return made.T.copy() if about["fortran_order"] else made


def _kind(descr: Any) -> dtype:
    return dtype([tuple(field) for field in descr] if isinstance(descr, list) else descr)
