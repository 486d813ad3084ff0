"""Files that lines are added to: all lines of a call are added, or none."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from crib_env.files.whole_file import check_output


def add_lines(path: Path, lines: Iterable[str]) -> None:
    """Adds lines at the end of a file, or makes the file.

    Args:
        lines: each without its line feed.

    Raises:
        ValueError, OSError: the file cannot be written, see :func:`crib_env.files.whole_file.check_output`, or they do
            not fit on the disk; none of them is added.
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
