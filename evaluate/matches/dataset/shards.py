"""Shards of a dataset: Parquet files of rows, and how to read them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crib_env.evaluate.matches.dataset.rows import BOARD_BYTES, Rows
from crib_env.files.whole_file import whole_file
from crib_env.observation import N_ACTIONS, OBSERVATIONS

if TYPE_CHECKING:
    import pyarrow


def load_pyarrow() -> Any:
    """The module ``pyarrow.parquet``.

    Raises:
        ValueError: it is not installed.
    """
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ValueError(f"datasets need pyarrow ({error}): install crib_env with its extra 'datasets'") from None
    return pyarrow.parquet


def write_rows(path: Path, rows: Rows) -> None:
    """Writes a shard, whole or not at all."""
    parquet = load_pyarrow()
    import pyarrow

    columns = dict(zip(Rows._fields, rows))
    packed = pyarrow.FixedSizeBinaryArray.from_buffers(
        pyarrow.binary(BOARD_BYTES),
        len(rows.game),
        [None, pyarrow.py_buffer(np.ascontiguousarray(rows.observation))],
    )
    arrays = {name: pyarrow.array(column) for name, column in columns.items() if name not in ("observation", "loss")}
    arrays |= {"observation": packed, "loss": pyarrow.array(rows.loss, from_pandas=True)}  # NaN becomes null
    table = pyarrow.table({name: arrays[name] for name in Rows._fields})
    with whole_file(path) as temporary:
        parquet.write_table(table, temporary, compression="zstd")


def read_rows(path: Path) -> Rows:
    """Reads what :func:`write_rows` wrote.

    Raises:
        ValueError: it is not a whole shard; the message names it.
    """
    parquet = load_pyarrow()
    try:
        table = parquet.read_table(path, columns=list(Rows._fields))
        columns = {name: table[name].combine_chunks() for name in Rows._fields}
        observation = _bytes_of(columns.pop("observation"))
        found = {name: column.to_numpy(zero_copy_only=False) for name, column in columns.items()}
    except Exception as error:  # a damaged file fails in a dozen ways
        raise ValueError(f"{path} is not a whole shard of a dataset ({' '.join(str(error).split())})") from None
    return Rows(**found, observation=observation)


def _bytes_of(column: pyarrow.FixedSizeBinaryArray) -> np.ndarray:
    if column.type.byte_width != BOARD_BYTES or column.null_count:
        raise ValueError(f"its observations have not {BOARD_BYTES} bytes")
    flat = np.frombuffer(column.buffers()[1], np.uint8)
    return flat[column.offset * BOARD_BYTES :][: len(column) * BOARD_BYTES].reshape(-1, BOARD_BYTES)


def observations(rows: Rows, observation: str = "209") -> np.ndarray:
    """(N, 209 or 659) int8 observations, ``"209"`` or ``"board"``.

    Raises:
        ValueError: it is another observation, which the rows do not hold.
    """
    if observation not in ("209", "board"):
        raise ValueError(f"observation={observation!r} is not allowed: a dataset holds '209' and 'board'")
    return np.unpackbits(rows.observation, axis=1, count=OBSERVATIONS[observation].size).astype(np.int8)


def action_masks(rows: Rows) -> np.ndarray:
    """(N, 52) int8, 1 for each legal card."""
    return ((rows.mask[:, None] >> np.arange(N_ACTIONS, dtype=np.uint64)) & np.uint64(1)).astype(np.int8)


def hash_of(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
