"""The folder in which Numba keeps compiled kernels: of one version of the sources, of one process, and checked.

Numba itself looks at the file of a kernel, but not at the files whose kernels are compiled into it, believes what it
reads, and lets two processes write one kernel at a time. So:

* The folder is named by a hash of all sources of kernels: a new version never reads what an old one wrote.
* Each process has a numbered folder in it for itself, the first that is free, and begins with what others have listed.
* At its end a process lists its files with their checksums. The next one removes what is not as listed, and what a
  killed process has left: these kernels are compiled anew.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import re
import shutil
import sys
import time
import warnings
import zlib
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import llvmlite
import numba

from crib_env.files.whole_file import whole_file

try:
    import fcntl
except ImportError:  # Windows: processes share a folder
    fcntl = None  # type: ignore[assignment]

_PACKAGE = Path(__file__).resolve().parent
_CONFIG: Any = numba.config
_LIST = "checksums"
_TOLD_FOR = 60  # seconds in which no other process says that kernels are being compiled


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
    """The folder of this process, checked.

    Attributes:
        path: of the folder; ``None`` if none can be written to, and then every process compiles its own kernels.
    """

    def __init__(self) -> None:
        versions = f"{_PACKAGE} {sys.version} {numba.__version__} {llvmlite.__version__}"
        prefix = f"kernels-{hashlib.sha256(versions.encode()).hexdigest()[:8]}-"
        name = prefix + source_hash()[:16]
        beside = _PACKAGE / "__pycache__"
        chosen = _CONFIG.CACHE_DIR  # of NUMBA_CACHE_DIR
        self.path: Path | None = None
        self._has_told = False
        for place in (Path(chosen),) if chosen else (beside, Path.home() / ".cache" / "crib_env"):
            try:
                self.path = self._take(place / name)
            except OSError as error:
                problem = error
                continue
            for former in place.glob(f"{prefix}*"):
                if former.name != name:
                    shutil.rmtree(former, ignore_errors=True)
            self._listed = self._checked()
            ahead = [] if chosen else [*(beside / name).glob("*")]  # there if it was compiled ahead
            self._borrow([*self.path.parent.iterdir(), *ahead])
            atexit.register(self._list, os.getpid())
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
                told = self.path.parent / "told"
                if told.exists() and time.time() - told.stat().st_mtime < _TOLD_FOR:
                    return
                told.touch()
        if os.environ.get("CRIB_ENV_QUIET", "0") in ("", "0"):
            line = "crib_env: compiling kernels, this once; it takes from seconds to a minute"
            print(line, file=sys.stderr, flush=True)

    def _take(self, folder: Path) -> Path:
        """The first numbered folder that no other process has; it is locked until this process ends."""
        for number in count():
            path = folder / str(number)
            path.mkdir(parents=True, exist_ok=True)
            self._lock = open(path / "lock", "ab")  # noqa: SIM115
            if fcntl is None:
                break
            with suppress(BlockingIOError):
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            self._lock.close()
        return path

    def _files(self) -> list[str]:
        """All files that Numba wrote, by their paths in the folder."""
        root = str(self.path)
        walked = [(at, names) for at, _, names in os.walk(root) if at != root]
        return [os.path.relpath(os.path.join(at, name), root) for at, names in walked for name in names]

    def _checked(self) -> dict[str, int]:
        """The checksums of all files, by path, after those that are not as listed were removed with their kernels."""
        assert self.path is not None
        listed, found = _listed(self.path), self._files()
        damaged = {path for path, checksum in listed.items() if _checksum(self.path / path) != checksum}
        bad = set(map(_kernel_of, damaged.union(() if fcntl is None else set(found) - set(listed))))
        for path in {*found, *listed}:
            if _kernel_of(path) in bad:
                shutil.rmtree(self.path / path, ignore_errors=True)  # a folder in the place of a file
                with suppress(OSError):
                    (self.path / path).unlink()
        sound = {path: checksum for path, checksum in listed.items() if _kernel_of(path) not in bad}
        if damaged:  # at the end of the process the same names may stand for other contents
            self._write_list(sound)
        return sound

    def _borrow(self, folders: list[Path]) -> None:
        """Copies kernels that other processes have listed, and that are as they listed them."""
        assert self.path is not None
        for folder in folders:
            mine = set(map(_kernel_of, self._listed))
            theirs = {path: checksum for path, checksum in _listed(folder).items() if _kernel_of(path) not in mine}
            changed = set()
            for path, checksum in theirs.items():
                with suppress(OSError):
                    (self.path / path).parent.mkdir(exist_ok=True)
                    shutil.copyfile(folder / path, self.path / path)
                if _checksum(self.path / path) != checksum:
                    changed.add(_kernel_of(path))
            self._listed |= {path: checksum for path, checksum in theirs.items() if _kernel_of(path) not in changed}
            for path in theirs.keys() - self._listed.keys():
                (self.path / path).unlink(missing_ok=True)

    def _list(self, process: int) -> None:
        """At the end of a process: lists its files, if there are others than before."""
        assert self.path is not None
        if os.getpid() == process and set(files := self._files()) != set(_listed(self.path)):  # not in a forked process
            self._write_list({path: _checksum(self.path / path) for path in files})

    def _write_list(self, checksums: dict[str, int]) -> None:
        assert self.path is not None
        with suppress(OSError, ValueError), whole_file(self.path / _LIST) as part, open(part, "wb") as file:
            file.write(json.dumps(checksums).encode())


def _listed(folder: Path) -> dict[str, int]:
    try:
        return dict(json.loads((folder / _LIST).read_bytes()))
    except (OSError, ValueError):
        return {}


def _checksum(path: Path) -> int:
    """Of the content of a file; -1 if it cannot be read."""
    try:
        return zlib.crc32(path.read_bytes())
    except OSError:
        return -1


def _kernel_of(path: str) -> str:
    """The index and the data of a kernel, and what was to become them, have this in common."""
    return re.sub(r"(\.\d+\.nbc|\.nbi)(\.tmp\..*)?$", "", path)
