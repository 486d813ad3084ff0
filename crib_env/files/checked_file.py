"""Named arrays in one file that is checked in full before use: NumPy's ``.npz`` with a kind, a version and a checksum.

The checksum covers every array. Nothing is unpickled.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar, get_origin, get_type_hints

import numpy as np
from numpy.typing import ArrayLike

from crib_env.files.whole_file import whole_file

S = TypeVar("S", bound="SavedArrays")
_ZIP = b"PK"  # how every .npz begins


class Column(NamedTuple):
    """The type and shape that an array of a file must have."""

    kind: str
    """The kind of its numbers, as NumPy's ``dtype.kind``: ``"f"``, ``"i"`` (never negative), or ``"U"`` for text."""
    shape: tuple[int, ...] = ()
    has_gaps: bool = False
    """Whether numbers may be NaN."""


_MARKS = ("kind", "version", "checksum")


def save_arrays(
    path: str | Path, kind: str, version: int, arrays: Mapping[str, ArrayLike], compressed: bool = True
) -> None:
    """Writes arrays, whole or not at all; an existing file is replaced.

    Args:
        kind: what the file is, in words that fit after "a", such as ``"win table"``; ``version`` is that of the format.
        arrays: by name, except ``kind``, ``version`` and ``checksum``; text and single numbers are arrays too.
        compressed: whether to compress; for large arrays of noise it is not worth the time.
    """
    content: dict[str, Any] = {name: np.asarray(array) for name, array in arrays.items()}
    with whole_file(path) as temporary, open(temporary, "wb") as file:
        save = np.savez_compressed if compressed else np.savez
        save(file, kind=kind, version=version, checksum=checksum_of(content), **content)


def load_arrays(
    path: str | Path, kind: str, version: int, columns: Mapping[str, Column] | None = None
) -> dict[str, np.ndarray]:
    """Reads what :func:`save_arrays` wrote.

    Args:
        columns: type and shape of each array, for a file from elsewhere; a kernel that reads an array that is too small
            would read past its end.

    Raises:
        ValueError: the file does not exist, is damaged, or is another than is said; the message names it.
    """
    found, checksum = _read(path, kind, version)
    if checksum != checksum_of(found):
        raise ValueError(f"{path} is damaged, its checksum is wrong: build it again")
    if columns is None:
        return found
    for name in sorted(found.keys() ^ columns.keys()):
        has = "no" if name in columns else "an unknown"
        raise ValueError(f"{path} is not a {kind} of this version: it has {has} array {name!r}")
    for name, column in columns.items():
        if fault := _fault(found[name], column):
            raise ValueError(f"{path} is not a {kind} of this version: {name} {fault}")
    return found


class SavedArrays:
    """A dataclass of arrays, text and numbers that is kept in a file, with ``kind`` and ``version`` of
    :func:`load_arrays` as keywords of the class statement. Fields are ``Annotated`` with their :class:`Column`."""

    _kind: ClassVar[str]
    _version: ClassVar[int]
    columns: ClassVar[Mapping[str, Column]]

    def __init_subclass__(cls, kind: str, version: int) -> None:
        cls._kind, cls._version = kind, version
        hints = get_type_hints(cls, include_extras=True)
        cls.columns = {name: hint.__metadata__[0] for name, hint in hints.items() if get_origin(hint) is Annotated}

    def save(self, path: str | Path) -> None:
        """Writes it, whole or not at all."""
        save_arrays(path, self._kind, self._version, {name: getattr(self, name) for name in self.columns})

    @classmethod
    def load(cls: type[S], path: str | Path) -> S:
        """Reads it; errors as of :func:`load_arrays`."""
        found = load_arrays(path, cls._kind, cls._version, cls.columns)
        return cls(**{name: value if value.ndim else value.item() for name, value in found.items()})


def check_kind(path: str | Path, kind: str, version: int) -> None:
    """Checks kind and version of a file, which may be large, and nothing else; errors as of :func:`load_arrays`."""
    _read(path, kind, version, only_marks=True)


def _read(path: str | Path, kind: str, version: int, only_marks: bool = False) -> tuple[dict[str, np.ndarray], str]:
    """All arrays of a file, or none, and the checksum that it states."""
    try:
        with open(path, "rb") as file:
            is_zip = file.read(len(_ZIP)) == _ZIP
    except OSError as error:
        raise ValueError(f"there is no {kind} {path} ({error.strerror})") from None
    if not is_zip:
        raise ValueError(f"{path} is not a {kind}")
    try:
        with np.load(path, allow_pickle=False) as archive:
            names = [name for name in archive.files if name in _MARKS or not only_marks]
            found: dict[str, np.ndarray] = {name: archive[name] for name in names}
    except Exception as error:  # a damaged archive raises errors of many kinds
        raise ValueError(f"{path} is damaged or cut short ({error}): build it again") from None
    marks = {name: str(found.pop(name, "")) for name in _MARKS}
    if marks["kind"] != kind:
        raise ValueError(f"{path} is not a {kind}")
    if marks["version"] != str(version):
        raise ValueError(f"{path} is a {kind} of version {marks['version']}, not {version}: build it again")
    return found, marks["checksum"]


def _fault(array: np.ndarray, column: Column) -> str | None:
    if array.dtype.kind != column.kind or array.shape != column.shape:
        return f"is of type {array.dtype} and shape {list(array.shape)}, not {column.kind!r} and {list(column.shape)}"
    if column.kind == "f" and not (np.isfinite(array) | (column.has_gaps & np.isnan(array))).all():
        return "holds infinities" if column.has_gaps else "holds NaN or infinities"
    if column.kind == "i" and (array < 0).any():
        return "holds numbers below 0"
    return None


def checksum_of(arrays: Mapping[str, np.ndarray]) -> str:
    """The checksum of names, types, shapes and bytes."""
    digest = hashlib.blake2b(digest_size=16)
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
