"""Files that are written whole or not at all, and files to which lines are added: all lines of a call, or none."""

from __future__ import annotations

import errno
import glob
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
PART = ".part"  # suffix of a file that is not complete yet


def check_output(path: str | os.PathLike[str]) -> Path:
    """Checks that a file can be written, before hours of work go into its content; its path without symbolic links.

    Raises:
        ValueError: the folder does not exist or cannot be written to, or ``path`` is a folder, a device, a FIFO or a
            socket, or a link to one.
        OSError: its name is too long.
    """
    path = Path(path)
    target = Path(os.path.realpath(path))
    folder = target.parent if path.is_symlink() else path.parent  # for messages, in the user's own words
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder} to write {path.name} to")
    for file in (target, _part_of(target)):
        try:
            kind = stat.S_IFMT(file.lstat().st_mode)
        except FileNotFoundError:
            continue
        if kind != stat.S_IFREG:
            name = path if file == target else file
            what = "a folder" if kind == stat.S_IFDIR else "a FIFO" if kind == stat.S_IFIFO else "a device"
            raise ValueError(f"{name} is {what}: give the name of a file to write")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"the folder {folder} cannot be written to: give {path.name} another")
    return target


def clear_parts(folder: Path, name: str | None = None) -> None:
    """Removes the files that killed processes have left half written in a folder and those within it.

    Args:
        name: only those that would have become this file of the folder itself.
    """
    for part in folder.glob(f"{'**/*' if name is None else glob.escape(name)}.*{PART}"):
        process = part.name.removesuffix(PART).rpartition(".")[2]
        if process.isdecimal() and not is_alive(int(process)):
            part.unlink(missing_ok=True)


def is_alive(process: int) -> bool:
    """Whether a process runs; on other systems than POSIX, where the call below would end it, always."""
    try:
        if os.name == "posix":
            os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # of another user
        return True
    return True


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path to write to. At the end the file is renamed to ``path``; after an error it is deleted.

    Its name contains the process id, so that two processes can write the same file without mixing. A symbolic link
    stays a link: its target is replaced.

    Raises:
        ValueError, OSError: as :func:`check_output`, or the disk is full; the error names the file.
    """
    target = check_output(path)
    temporary = _part_of(target)
    try:
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        if error.errno in _FULL and error.filename is None:
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise
    finally:
        temporary.unlink(missing_ok=True)


def _part_of(target: Path) -> Path:
    return target.with_name(f"{target.name}.{os.getpid()}{PART}")


def add_lines(path: Path, lines: Iterable[str]) -> None:
    """Adds lines, each without its line feed, at the end of a file, or makes the file.

    Raises:
        ValueError, OSError: the file cannot be written (:func:`check_output`), or the disk is full: none is added.
    """
    target = check_output(path)
    left = memoryview("".join(f"{line}\n" for line in lines).encode())
    is_new = not target.exists()
    try:
        with open(target, "ab", buffering=0) as file:
            before = file.tell()
            try:
                while left:
                    left = left[file.write(left) :]
            except BaseException:
                file.truncate(before)
                raise
    except BaseException as error:
        if is_new:
            target.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise
