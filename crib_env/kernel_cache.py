"""The folder in which Numba keeps compiled kernels: of one version of the sources, of one process, and checked.

Numba itself looks at the file of a kernel, but not at the files whose kernels are compiled into it, believes what it
reads, and lets two processes write one kernel at a time. So:

* The folder is named by a hash of all sources of kernels: a new version never reads what an old one wrote.
* Each process works in a folder of its own within it, which is gone when it ends. It begins with links to the files
  that are as their checksums say.
* At its end a process adds the files of the kernels that it has compiled, whose names end in their checksums: those of
  two processes do not mix. It replaces the list of all. The next process compiles anew what is damaged.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
import time
import warnings
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import llvmlite
import numba

from crib_env.files.whole_file import is_alive, whole_file

_PACKAGE = Path(__file__).resolve().parent
_CONFIG: Any = numba.config
_TOLD_FOR = 60  # seconds in which no other process says that kernels are being compiled
_CHECKSUMS = "checksums"


def source_hash() -> str:
    """A hash of all source files that define kernels, or constants of kernels: those with the word in them."""
    # In a checkout the other packages stand beside this one, in an installation in it.
    beside = [_PACKAGE.parent / name for name in ("agents", "evaluate", "train") if not (_PACKAGE / name).is_dir()]
    files = [os.path.join(at, name) for root in (_PACKAGE, *beside) for at, _, names in os.walk(root) for name in names]
    found = hashlib.sha256()
    for file in sorted(files):
        if file.endswith(".py") and b"kernel" in (content := Path(file).read_bytes()):
            found.update(content)
    return found.hexdigest()


class KernelCache:
    """The folder of this process.

    Attributes:
        path: ``None`` if none can be written to, and then every process compiles its own kernels.
    """

    path: Path | None = None

    def __init__(self) -> None:
        versions = f"{_PACKAGE} {sys.version} {numba.__version__} {llvmlite.__version__}"
        prefix = f"kernels-{hashlib.sha256(versions.encode()).hexdigest()[:8]}-"
        name = prefix + source_hash()[:16]
        beside, self._has_told = _PACKAGE / "__pycache__", False
        for place in [Path(_CONFIG.CACHE_DIR)] if _CONFIG.CACHE_DIR else [beside, Path.home() / ".cache" / "crib_env"]:
            try:
                self._shared = place / name
                self._shared.mkdir(parents=True, exist_ok=True)
                self.path = Path(tempfile.mkdtemp(f".{os.getpid()}", "process-", self._shared))
            except OSError as error:
                problem = error
                continue
            for left in (*place.glob(f"{prefix}*"), *self._shared.glob("process-*")):
                process = left.suffix[1:]
                if left != self._shared and not (process.isdecimal() and is_alive(int(process))):
                    shutil.rmtree(left, ignore_errors=True)
            for ahead in {self._shared} if _CONFIG.CACHE_DIR else {beside / name, self._shared}:
                self._link(ahead)
            self._linked = self._times()
            atexit.register(self._share, os.getpid())
            return
        warnings.warn(
            f"compiled kernels cannot be kept ({problem}): every process compiles its own. "
            "NUMBA_CACHE_DIR=FOLDER names a folder for them.",
            RuntimeWarning,
            stacklevel=2,
        )

    def kept(self, function: Callable[..., Any], compiled: Callable[..., Any]) -> Any:
        """``compiled(function)``, a function of Numba that it keeps in this folder."""
        made = compiled(function)
        if self.path is None:
            return made
        chosen = _CONFIG.CACHE_DIR  # read by the call below: other functions than kernels keep theirs
        try:
            _CONFIG.CACHE_DIR = str(self.path)
            with suppress(RuntimeError):  # no folder can be written to any more
                made.enable_caching()
        finally:
            _CONFIG.CACHE_DIR = chosen
        # Where a folder cannot be made in this one, Numba takes another, with whatever is in it.
        kept = made.stats.cache_path
        return made if kept is None or Path(kept).is_relative_to(self.path) else compiled(function)

    def tell(self) -> None:
        """Says on stderr that kernels are being compiled, once for all processes that start together."""
        if self._has_told:
            return
        self._has_told = True
        with suppress(OSError):
            if self.path is not None:
                told = self._shared / "told"
                if told.exists() and time.time() - told.stat().st_mtime < _TOLD_FOR:
                    return
                told.touch()
        if os.environ.get("CRIB_ENV_QUIET", "0") in ("", "0"):
            line = "crib_env: compiling kernels, this once; it takes from seconds to a minute"
            print(line, file=sys.stderr, flush=True)

    def _link(self, folder: Path) -> None:
        """Takes over all kernels of a shared folder whose files are as their checksums say."""
        assert self.path is not None
        for files in _read_checksums(folder).values():
            for file, checksum in files.items():
                with suppress(OSError):
                    _place(folder / f"{file}.{checksum}", self.path / file)
            if any(_checksum(self.path / file) != checksum for file, checksum in files.items()):
                for file in files:
                    (self.path / file).unlink(missing_ok=True)

    def _times(self) -> dict[str, int]:
        """When each file of this process was written."""
        assert self.path is not None
        return {str(file.relative_to(self.path)): file.stat().st_mtime_ns for file in self.path.glob("*/*.nb?")}

    def _share(self, process: int) -> None:
        """At the end of a process: shares the kernels that it has compiled, and removes its folder."""
        assert self.path is not None
        if os.getpid() != process:  # a fork
            return
        with suppress(OSError, ValueError):
            times = self._times()
            compiled = {_kernel_of(file) for file, time in times.items() if self._linked.get(file) != time}
            checksums = _read_checksums(self._shared) | {kernel: {} for kernel in compiled}
            for file in (file for file in times if _kernel_of(file) in compiled):
                checksums[_kernel_of(file)][file] = checksum = _checksum(self.path / file)
                _place(self.path / file, self._shared / f"{file}.{checksum}")
            if compiled:
                with whole_file(self._shared / _CHECKSUMS) as part, open(part, "w", encoding="utf-8") as listed:
                    listed.write(json.dumps(checksums))
        shutil.rmtree(self.path, ignore_errors=True)


def _place(source: Path, target: Path) -> None:
    """Puts a file in the place of another, or of a folder."""
    target.parent.mkdir(exist_ok=True)
    if target.is_dir():
        shutil.rmtree(target)
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:  # of another file system
        shutil.copyfile(source, target)


def _read_checksums(folder: Path) -> dict[str, dict[str, int]]:
    """By kernel and file; nothing if there is no whole list."""
    try:
        return dict(json.loads((folder / _CHECKSUMS).read_bytes()))
    except (OSError, ValueError):
        return {}


def _checksum(path: Path) -> int:
    """Of the content of a file; -1 if it cannot be read."""
    try:
        return zlib.crc32(path.read_bytes())
    except OSError:
        return -1


def _kernel_of(file: str) -> str:
    """The index and the data of a kernel have this in common."""
    return re.sub(r"(\.\d+\.nbc|\.nbi)$", "", file)
