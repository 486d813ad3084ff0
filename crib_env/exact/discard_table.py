"""The statistics of all 20,358,520 deals in one memory-mapped file, one row for each class of equal deals up to suits.

The file has a header of 4,096 bytes (a line of JSON: format, version, sizes, checksum). For each of the 962,988
classes in order, fifteen records of ``discard_statistics.TOTALS`` follow: 173 MB of whole numbers. The checksum
is verified whenever the file is opened.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from crib_env.exact.deal_classes import N_CLASSES, cards_of, class_of
from crib_env.exact.discard_statistics import N_DISCARDS, PLACES, TOTALS, fill_totals, six_cards, to_statistics
from crib_env.files.json_text import parse_json, typed
from crib_env.files.whole_file import check_output, whole_file

VERSION = 1
_FORMAT = "crib_env discard table"
_HEADER = 4_096
_CHUNK = 8_192  # classes
FILE_SIZE = _HEADER + N_CLASSES * N_DISCARDS * TOTALS.itemsize  # bytes

# The discard of two places of six sorted cards, by its number.
_NUMBER = np.full((6, 6), -1)
_NUMBER[PLACES[:, 0], PLACES[:, 1]] = _NUMBER[PLACES[:, 1], PLACES[:, 0]] = np.arange(N_DISCARDS)


def build_table(path: Path, threads: int = 2, on_progress: Callable[[int], None] = lambda done: None) -> None:
    """Computes the whole table and writes it to ``path``, whole or not at all.

    Args:
        on_progress: called with the number of classes done since the last call.

    Raises:
        ValueError, OSError: the file cannot be written or does not fit on the disk. Both are checked before the work.
    """
    check_output(path, FILE_SIZE)
    totals = np.zeros((N_CLASSES, N_DISCARDS), TOTALS)

    def fill(first: int) -> int:
        rows = np.arange(first, min(first + _CHUNK, N_CLASSES))
        fill_totals(cards_of(rows), totals[rows[0] : rows[-1] + 1])
        return len(rows)

    fill(0)  # compiles before the threads start
    with ThreadPoolExecutor(threads) as pool:
        for done in pool.map(fill, range(0, N_CLASSES, _CHUNK)):
            on_progress(done)
    header = {
        "format": _FORMAT,
        "version": VERSION,
        "classes": N_CLASSES,
        "bytes": totals.nbytes,
        "checksum": _checksum(totals),
    }
    with whole_file(path) as temporary, open(temporary, "wb") as file:
        file.write(json.dumps(header).encode().ljust(_HEADER))
        file.write(totals.data)


class DiscardTable:
    """A table that :func:`build_table` wrote.

    Attributes:
        totals: (962988, 15) of ``TOTALS``, mapped read-only.

    Raises:
        ValueError: the file does not exist, is cut short or damaged, has another version or is not such a table.
    """

    def __init__(self, path: str | Path) -> None:
        try:
            with open(path, "rb") as file:
                start = file.read(_HEADER)
        except OSError as error:
            raise ValueError(f"there is no discard table {path} ({error.strerror})") from None
        try:
            header = typed(parse_json(start), dict[str, Any])
            found = header["format"]
        except (ValueError, KeyError):
            found = None
        if found != _FORMAT:
            raise ValueError(f"{path} is not a discard table")
        if header.get("version") != VERSION:
            raise ValueError(
                f"{path} is a discard table of version {header.get('version')}, not {VERSION}: build it again"
            )
        if os.path.getsize(path) != FILE_SIZE:
            raise ValueError(f"{path} has {os.path.getsize(path)} bytes, not {FILE_SIZE}: build it again")
        self.totals = np.memmap(path, TOTALS, "r", _HEADER, (N_CLASSES, N_DISCARDS))
        if _checksum(self.totals) != header.get("checksum"):
            raise ValueError(f"{path} is damaged, its checksum is wrong: build it again")

    def statistics(self, hands: ArrayLike | str) -> np.ndarray:
        """The same as :func:`crib_env.discard_statistics`, (N, 15), looked up in the table.

        Raises:
            ValueError: as :func:`crib_env.discard_statistics`.
        """
        cards = six_cards(hands)
        classes, renamed = class_of(cards)
        place = np.argsort(np.argsort(renamed, axis=1), axis=1)  # of each card in the sorted representative
        numbers = _NUMBER[place[:, PLACES[:, 0]], place[:, PLACES[:, 1]]]
        return to_statistics(np.take_along_axis(self.totals[classes], numbers, axis=1), cards)


def _checksum(totals: np.ndarray) -> str:
    return hashlib.blake2b(np.ascontiguousarray(totals).data.cast("B"), digest_size=16).hexdigest()
