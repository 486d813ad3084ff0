"""One process at a time in the folder of a run, a league or a reproduction, and at a file that is written often."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crib_env.files.whole_file import clear_parts

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOCK = ".lock"


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Locks a folder against other processes, and removes half-written files of a killed one.

    The lock is on the file ``.lock`` of the folder. The system releases it when a process ends, also by a kill.

    Raises:
        ValueError: another process works in the folder.
    """
    with _locked(folder / LOCK, folder):
        clear_parts(folder)
        yield


@contextmanager
def held_file(path: Path) -> Iterator[None]:
    """Locks a file, which need not exist yet, as :func:`held` does a folder; the lock is ``.NAME.lock`` beside it.

    Raises:
        ValueError: another process has locked it.
    """
    with _locked(lock_of(path), path):
        clear_parts(path.parent, path.name)
        yield


def lock_of(path: Path) -> Path:
    """The lock of a file."""
    return path.with_name(f".{path.name}{LOCK}")


@contextmanager
def _locked(lock: Path, what: Path) -> Iterator[None]:
    with open(lock, "a+", encoding="utf-8") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                holder = file.read().strip() or "another process"
                raise ValueError(f"{what} is in use by {holder}: one at a time may work in it") from None
            except OSError as error:  # a file system without locks
                print(f"{what} cannot be locked ({error.strerror}): let no other process work in it", file=sys.stderr)
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
        file.flush()
        yield
