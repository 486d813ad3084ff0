"""The cache of compiled kernels: when an entry is valid, where it is saved, and one compiler a kernel.

Numba keeps compiled functions beside their source, or in the user's cache folder (``NUMBA_CACHE_DIR`` names another).
This module adds:

* a kernel stays valid until the content of a source file it may depend on changes, wherever the files are: an
  update never runs old rules, and a copied package keeps its kernels, even in a read-only folder;
* processes that need the same kernel wait for the first of them to compile it, and compile different ones side by
  side;
* one line on stderr says that kernels are being compiled, unless ``CRIB_ENV_QUIET=1``;
* if nothing is writable, each process compiles its own kernels, with one warning.

A kernel is kept as intermediate code, for kernels that call it, and also as machine code if Python calls it.
"""

from __future__ import annotations

import gc
import hashlib
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from llvmlite.binding import parse_bitcode
from numba.core import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, _CacheLocator
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import compile_result
from numba.core.compiler_lock import global_compiler_lock

from crib_env.compiling.kernel_sources import source_stamp

try:
    import fcntl
except ImportError:  # Windows: every process compiles
    fcntl = None  # type: ignore[assignment]

_ENTRY = "for Python"
_NOTE = (1, 0)  # length and offset of the byte that is locked around the message; each kernel has one behind it
_TOLD_FOR = 60  # seconds for which other processes of the group do not repeat the message


# --- Where the cache is ---------------------------------------------------------------------------------------------


class _NoFolder(_CacheLocator):
    """Numba's last choice, if neither ``NUMBA_CACHE_DIR``, the source's folder nor the home folder is writable."""

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        self._py_file, self._lineno = py_file, py_func.__code__.co_firstlineno

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _NoFolder:
        return cls(py_func, py_file)

    def get_cache_path(self) -> str:
        return _beside(self._py_file)

    def ensure_cache_path(self) -> None:
        raise OSError("no folder can be written")

    def get_source_stamp(self) -> str:
        return ""

    def get_disambiguator(self) -> str:
        return str(self._lineno)


def _beside(py_file: str) -> str:
    return os.path.join(os.path.dirname(py_file), "__pycache__")


class IntermediateCode(JITCodeLibrary):
    """A kernel and all that it calls, as LLVM code that is not optimised yet."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        """Without Numba's last step, which makes machine code."""
        self._finalize_dynamic_globals()
        self._finalized = True

    def kept(self) -> bytes:
        """The code, to be saved."""
        return bytes(self._get_module_for_linking().as_bitcode())

    @classmethod
    def load(cls, codegen: Any, name: str, code: bytes) -> IntermediateCode:
        """The library of code that was saved."""
        library = cls(codegen, name)
        library._shared_module = parse_bitcode(code)
        library._finalized = True
        return library


class _Implementation(CompileResultCacheImpl):
    _locator_classes = [*CompileResultCacheImpl._locator_classes, _NoFolder]

    def reduce(self, result: Any) -> Any:
        result.fndesc.typemap = result.fndesc.calltypes = None  # many, and of no use to callers
        code = result.library.name, result.library.kept(), result._find_referenced_environments()
        return *code, result.fndesc, result.environment, result.signature

    def rebuild(self, target_context: Any, data: Any) -> Any:
        name, code, environments, fndesc, environment, signature = data
        return compile_result(
            target_context=target_context,
            typing_context=target_context.typing_context,
            library=IntermediateCode.load(target_context.codegen(), name, code),
            fndesc=fndesc,
            environment=environment,
            referenced_envs=environments,
            signature=signature,
            objectmode=False,
        )


class _CacheFile(IndexDataCacheFile):
    def _load_index(self) -> dict[Any, str]:
        try:
            index: dict[Any, str] = super()._load_index()
        except (ImportError, AttributeError):  # it names a type of a module that has moved since: it is out of date
            return {}
        return index


class KernelCache(FunctionCache):
    """The cache of one kernel. It also reads the cache beside the source when new code must be saved elsewhere."""

    _impl_class = _Implementation
    _has_warned = False

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        source = function.__code__.co_filename
        stamp = source_stamp(Path(source).resolve())
        self._cache_file = _CacheFile(self.cache_path, self._impl.filename_base, stamp)
        self._files = [self._cache_file]
        folder = getattr(config, "CACHE_DIR", "")  # Numba sets its settings at run time
        chosen = folder and Path(folder) in Path(self.cache_path).parents
        if not chosen and self.cache_path != _beside(source):
            self._files.append(_CacheFile(_beside(source), self._impl.filename_base, stamp))
        if compiler_locks.path is None and not isinstance(self._impl.locator, _NoFolder):
            compiler_locks.path = Path(self.cache_path, "compiling.lock")

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        found = self._find(sig, target_context)
        if found is None and compiler_locks.wait(self._cache_file._index_path):
            found = self._find(sig, target_context)  # another process may have compiled it meanwhile
        if found is None:
            compiler_locks.tell()
        return found

    def _find(self, sig: Any, target_context: Any) -> Any:
        data = self._read(self._index_key(sig, target_context.codegen()))
        return None if data is None else self._impl.rebuild(target_context, data)

    def _read(self, key: Any) -> Any:
        for file in self._files:
            with suppress(OSError):  # a folder that cannot even be read
                if (data := file.load(key)) is not None:
                    return data
        return None

    def load_entry(self, sig: Any, result: Any, codegen: Any) -> Any:
        """The library by which Python calls a kernel, its constants and environments; ``None`` if there is none."""
        key = (_ENTRY, self._index_key(sig, codegen))
        data = self._read(key)
        if data is None and compiler_locks.wait(self._cache_file._index_path):
            data = self._read(key)
        if data is None or data[0] != result.fndesc.llvm_func_name:  # made for the same kernel, compiled before
            return None
        return codegen.unserialize_library(data[1]), data[2], data[3]

    def save_entry(self, sig: Any, result: Any, library: Any, environments: list[Any]) -> None:
        """Saves the library by which Python calls a kernel, and the environments of all kernels in it."""
        with self._warns_once():
            self._impl.locator.ensure_cache_path()
            key = (_ENTRY, self._index_key(sig, library.codegen))
            code = library.serialize_using_object_code()
            data = result.fndesc.llvm_func_name, code, result.environment.consts, environments
            self._cache_file.save(key, data)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Saves what Numba has just compiled, or warns once that it cannot."""
        with self._warns_once():
            super().save_overload(sig, data)

    @contextmanager
    def _warns_once(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if not KernelCache._has_warned:
                KernelCache._has_warned = True
                warnings.warn(
                    f"compiled kernels cannot be kept ({error}): every process compiles its own. "
                    "NUMBA_CACHE_DIR=FOLDER names a folder for them.",
                    RuntimeWarning,
                    stacklevel=2,
                )


# --- One process compiles a kernel, and says so ---------------------------------------------------------------------


class _CompilerLocks:
    """Locks between processes, one a kernel, each held while that kernel is compiled and saved.

    A process that compiles a kernel also compiles the kernels that it calls, and takes their locks meanwhile. No kernel
    calls itself through others, so no two processes wait for each other.

    Attributes:
        path: of the lock file; ``None`` if nothing is writable, and then nobody waits.
    """

    def __init__(self) -> None:
        self.path: Path | None = None
        self._file: int | None = None  # open while this process compiles: to close it releases all its locks
        self._held: list[int | None] = []  # for each kernel in work, from the outermost in: the byte that it locked
        self._has_told = False

    @contextmanager
    def at_work(self) -> Iterator[bool]:
        """Surrounds the compilation of a kernel, which may compile others; gives whether this is the outermost."""
        with global_compiler_lock:  # Numba's, for threads
            self._held.append(None)
            # Compilation makes many objects that live as long as it: looking through them takes a sixteenth of it.
            pauses = gc.isenabled()
            gc.disable()
            try:
                yield len(self._held) == 1
            finally:
                if pauses:
                    gc.enable()
                byte = self._held.pop()
                if self._file is not None and not self._held:
                    with suppress(OSError):
                        os.utime(self._file)
                    os.close(self._file)  # releases the lock, as the end of the process would
                    self._file = None
                elif self._file is not None and byte is not None:
                    fcntl.lockf(self._file, fcntl.LOCK_UN, 1, byte)

    def wait(self, index: str) -> bool:
        """Takes the lock of the kernel whose cache has this index file. Waits for its holder if necessary.

        Returns whether it took the lock.
        """
        if not self._held or self.path is None or fcntl is None:
            return False
        byte = 1 + int.from_bytes(hashlib.sha256(index.encode()).digest()[:6], "big")
        if byte in self._held:
            return False
        try:
            if self._file is None:
                self._file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
            except BlockingIOError:
                self.tell()
                fcntl.lockf(self._file, fcntl.LOCK_EX, 1, byte)
        except OSError:  # a file system without locks
            return False
        self._held[-1] = byte
        return True

    def tell(self) -> None:
        """Prints one line on stderr, once per process and once per group of processes started together."""
        if self._has_told:
            return
        self._has_told = True
        if os.environ.get("CRIB_ENV_QUIET", "0") not in ("", "0") or self._others_have_told():
            return
        print("crib_env: compiling kernels, this once; it takes from seconds to a minute", file=sys.stderr, flush=True)

    def _others_have_told(self) -> bool:
        """Whether another process of this group printed it recently; if not, notes that this one does."""
        if self._file is None:
            return False
        group = str(os.getpgrp()).encode()
        with suppress(OSError):
            fcntl.lockf(self._file, fcntl.LOCK_EX, *_NOTE)  # else two that start together would both print the line
            try:
                if os.pread(self._file, 32, 0) == group and time.time() - os.fstat(self._file).st_mtime < _TOLD_FOR:
                    return True
                os.ftruncate(self._file, 0)
                os.pwrite(self._file, group, 0)
            finally:
                fcntl.lockf(self._file, fcntl.LOCK_UN, *_NOTE)
        return False


compiler_locks = _CompilerLocks()
