"""Named arrays in one file that is never half trusted: NumPy's ``.npz`` with a kind, a version and a checksum.

A file is renamed into its place only when it is whole, the checksum covers every array in it, and nothing is unpickled.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

_ZIP = b"PK"  # how every .npz begins
_MARKS = ("kind", "version", "checksum")


def save_arrays(path: str | Path, kind: str, version: int, arrays: Mapping[str, ArrayLike]) -> None:
    """Writes arrays, whole or not at all; a file that is there is replaced.

    Args:
        path: the file.
        kind: what the file is, in words that stand after "a", such as ``"board"``.
        version: of the format.
        arrays: by name, except ``kind``, ``version`` and ``checksum``; text and numbers are arrays too.
    """
    path = Path(path)
    content: dict[str, Any] = {name: np.asarray(array) for name, array in arrays.items()}
    temporary = path.with_name(path.name + ".part")
    with open(temporary, "wb") as file:
        np.savez_compressed(file, kind=kind, version=version, checksum=_checksum(content), **content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def load_arrays(path: str | Path, kind: str, version: int) -> dict[str, np.ndarray]:
    """Reads what :func:`save_arrays` wrote.

    Raises:
        ValueError: there is no such file, or it is damaged, cut short, of another version or of another kind; the
            message names the file.
    """
    try:
        with open(path, "rb") as file:
            is_zip = file.read(len(_ZIP)) == _ZIP
    except OSError as error:
        raise ValueError(f"there is no {kind} {path} ({error.strerror})") from None
    if not is_zip:
        raise ValueError(f"{path} is not a {kind}")
    try:
        with np.load(path, allow_pickle=False) as archive:
            found: dict[str, np.ndarray] = {name: archive[name] for name in archive.files}
    except Exception as error:  # a damaged archive fails in a dozen ways
        raise ValueError(f"{path} is damaged or cut short ({error}): build it anew") from None
    marks = {name: str(found.pop(name, "")) for name in _MARKS}
    if marks["kind"] != kind:
        raise ValueError(f"{path} is not a {kind}")
    if marks["version"] != str(version):
        raise ValueError(f"{path} is a {kind} of version {marks['version']}, not {version}: build it anew")
    if marks["checksum"] != _checksum(found):
        raise ValueError(f"{path} is damaged, its checksum is wrong: build it anew")
    return found


def _checksum(arrays: Mapping[str, np.ndarray]) -> str:
    """Of names, types, shapes and bytes."""
    digest = hashlib.blake2b(digest_size=16)
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
