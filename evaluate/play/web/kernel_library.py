"""Kernels for the browser: their LLVM code, made for WebAssembly and linked into one shared library.

The library is what Pyodide loads as it loads C extensions: code for 32-bit addresses that shares the memory of Python.
The code is what Numba makes of the source of the kernels. Numbers in it keep their 64 bits, records keep their layout,
and only pointers are shorter. So Numba must not tidy the code up for this processor, with its longer pointers: another
process compiles it with NUMBA_OPT=0, and only then it is optimised for WebAssembly.

Each function takes one block of memory: eight bytes for every number and address of its arguments, then as many for its
result. ``browser/numba.py`` fills it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numba
import numpy as np
from numba.extending import intrinsic

from crib_env.files.whole_file import whole_file

types: Any = numba.types  # their attributes have no types
_TRIPLE, _FEATURES = "wasm32-unknown-emscripten", "+bulk-memory,+mutable-globals,+sign-ext,+nontrapping-fptoint"
# What Numba's own library does for arrays that a kernel makes, with the memory of Python. An array counts its uses in
# one place, which threads never share here. Lists, which grow, no kernel makes. The product of whole numbers, with a
# word on whether it fits, serves sizes of arrays only, and those are small.
_MEMORY = """
declare ptr @malloc(i32)
declare void @free(ptr)
define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) noinline {
  %short = trunc i64 %size to i32
  %more = add i32 %align, 32
  %whole = add i32 %short, %more
  %info = call ptr @malloc(i32 %whole)
  %start = ptrtoint ptr %info to i32
  %past = add i32 %start, %more
  %mask = sub i32 0, %align
  %first = and i32 %past, %mask
  %offset = sub i32 %first, %start
  %data = getelementptr i8, ptr %info, i32 %offset
  store i64 1, ptr %info
  %place = getelementptr {i64, ptr, ptr, ptr, i64}, ptr %info, i32 0, i32 3
  store ptr %data, ptr %place
  ret ptr %info
}
define ptr @NRT_MemInfo_alloc(i64 %size) {
  %info = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 8)
  ret ptr %info
}
define void @NRT_MemInfo_call_dtor(ptr %info) noinline {
  call void @free(ptr %info)
  ret void
}
define ptr @NRT_Allocate(i64 %size) {
  %short = trunc i64 %size to i32
  %data = call ptr @malloc(i32 %short)
  ret ptr %data
}
define void @NRT_Free(ptr %data) {
  call void @free(ptr %data)
  ret void
}
declare void @llvm.trap()
define ptr @NRT_MemInfo_new_varsize_dtor(i64 %size, ptr %end) {
  call void @llvm.trap()
  unreachable
}
define ptr @NRT_MemInfo_varsize_realloc(ptr %info, i64 %size) {
  call void @llvm.trap()
  unreachable
}
define {i64, i1} @size_of_array(i64 %n, i64 %bytes) {
  %size = mul i64 %n, %bytes
  %found = insertvalue {i64, i1} zeroinitializer, i64 %size, 0
  ret {i64, i1} %found
}
"""


class Entry(NamedTuple):
    """A kernel for certain types of arguments, which are described as ``browser/numba.py`` reads them: ``int64``,
    ``int8[2]`` for an array of two axes whose items lie one after the other, ``record152``, or a list for a tuple."""

    module: str
    kernel: str
    """Its name in the module."""
    number: int
    """In the library."""
    arguments: list[Any]
    returns: Any
    records: dict[str, np.dtype[Any]]
    """The structured types by their descriptions."""

    @property
    def name(self) -> str:
        """Of the function in the library."""
        return re.sub(r"\W", "_", f"{self.module}.{self.kernel}.{self.number}")


def _described(value: Any, records: dict[str, np.dtype[Any]]) -> Any:
    """The type of an argument; adds those of records."""
    if isinstance(value, tuple):
        return [_path(type(value)), *(_described(part, records) for part in value)]
    if not isinstance(value, (np.ndarray, np.void)):
        return str(numba.typeof(value))
    dtype = value.dtype
    item = f"record{dtype.itemsize}" if dtype.names else dtype.name
    if dtype.names and records.setdefault(item, dtype) != dtype:
        raise ValueError(f"two types of records have {dtype.itemsize} bytes: {dtype} and {records[item]}")
    return f"{item}[{value.ndim}]" if isinstance(value, np.ndarray) else item


def _described_type(made: Any) -> Any:
    """One of Numba's types, of a result."""
    if isinstance(made, types.BaseTuple):
        return [_path(getattr(made, "instance_class", tuple)), *map(_described_type, made.types)]
    return f"{made.dtype}[{made.ndim}]" if isinstance(made, types.Array) else str(made)


def _path(made: type) -> str:
    return "" if made is tuple else f"{made.__module__.removeprefix('crib_env.')}:{made.__name__}"


class _Noted:
    """A kernel that notes the arguments of all types with which Python calls it."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self.calls: dict[tuple[Any, ...], tuple[list[Any], dict[str, np.dtype[Any]]]] = {}

    def __call__(self, *arguments: Any) -> Any:
        made = tuple(map(numba.typeof, arguments))
        if made not in self.calls:
            records: dict[str, np.dtype[Any]] = {}
            self.calls[made] = [_described(value, records) for value in arguments], records
        return self._kernel(*arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kernel, name)


def called_in(play: Callable[[], None], kernels: Iterable[Any]) -> list[Entry]:
    """What Python calls of these kernels when it plays; a second time, when they are compiled, it is noted."""
    play()
    noted = {id(kernel): _Noted(kernel) for kernel in kernels}
    modules = [vars(module) for name, module in sys.modules.items() if name.partition(".")[0] == "crib_env"]
    found = [(module, name, one) for module in modules for name, one in module.items() if id(one) in noted]
    for module, name, one in found:
        module[name] = noted[id(one)]
    try:
        play()
    finally:
        for module, name, one in found:
            module[name] = one
    entries: dict[str, Entry] = {}  # arrays that differ for Numba may be alike here
    for one in noted.values():
        of, returns = one.py_func, {made.args: made.return_type for made in one.nopython_signatures}
        for made, (arguments, records) in one.calls.items():
            if made in returns:  # else numbers were converted
                path, result = (of.__module__, of.__qualname__), _described_type(returns[made])
                entries.setdefault(f"{path} {arguments}", Entry(*path, len(entries), arguments, result, records))
    return list(entries.values())


def described_kernels(entries: Sequence[Entry]) -> dict[str, list[dict[str, object]]]:
    """The ways to call each kernel, by its module and name, to be written as JSON; tuples become their parts."""
    found: dict[str, list[dict[str, object]]] = {}
    for one in entries:
        parts = {"arguments": [*_parts(one.arguments)], "results": [*_parts([one.returns])]}
        way = {"name": one.name, **parts, "returns": one.returns}
        found.setdefault(f"{one.module}:{one.kernel}", []).append(way)
    return found


def _parts(kinds: Iterable[Any]) -> Iterable[str]:
    for kind in kinds:
        yield from _parts(kind[1:]) if isinstance(kind, list) else (kind,)


def shared_library(entries: Sequence[Entry], linker: Sequence[str]) -> bytes:
    """The library.

    Args:
        entries: what is in it.
        linker: the command of ``wasm-ld``.

    Raises:
        subprocess.CalledProcessError: a kernel calls a function that is not there, or it cannot be linked.
    """
    with tempfile.TemporaryDirectory() as folder:
        program, compiled, library = (Path(folder, name) for name in ("doors.py", "kernels.o", "kernels.so"))
        with whole_file(program) as temporary, open(temporary, "w", encoding="utf-8") as file:
            file.write(_program(entries))
        plain = {**os.environ, "NUMBA_OPT": "0", "NUMBA_CACHE_DIR": folder, "CRIB_ENV_QUIET": "1"}
        subprocess.run([sys.executable, "-W", "ignore:Cannot cache", program, compiled], env=plain, check=True)
        exports = [f"--export={entry.name}" for entry in entries]
        options = ("-shared", "--experimental-pic", "--no-entry", "--strip-all")
        subprocess.run([*linker, *options, *exports, str(compiled), "-o", str(library)], check=True)
        return library.read_bytes()


def write_object_code(doors: Sequence[Callable[[int], int]], compiled: Path) -> None:
    """Writes the code of doors, for WebAssembly; a ValueError if a kernel calls what is not there."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(_TRIPLE).create_target_machine(
        opt=3, reloc="pic", codemodel="default", features=_FEATURES
    )
    whole = _for_machine(_MEMORY, machine)
    for door in doors:
        whole.link_in(_for_machine(_code(door), machine))
    whole.verify()
    names = {door.__name__ for door in doors}
    for value in (*whole.functions, *whole.global_variables):
        if not value.is_declaration and value.name not in names:
            value.linkage = "internal"
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    passes.getModulePassManager().run(whole, passes)
    unknown = {function.name for function in whole.functions if _is_missing(function)}
    # the address of a large array in the memory of this process
    unknown |= {value.name for value in whole.global_variables if value.name.startswith("numba.dynamic.globals")}
    if unknown:
        raise ValueError(f"kernels call what is not there: {', '.join(sorted(unknown))}")
    with whole_file(compiled) as temporary, open(temporary, "wb") as file:
        file.write(machine.emit_object(whole))


def _is_missing(function: Any) -> bool:
    """Whether a function is neither in the library nor a known one of Python's memory or of LLVM."""
    return function.is_declaration and not function.name.startswith(("llvm.", "malloc", "free", "PyErr_", "exp", "log"))


def _for_machine(code: str, machine: Any) -> Any:
    for pattern, here in (
        (re.escape("@llvm.smul.with.overflow.i64") + r"\b", "@size_of_array"),
        (r"(?m)^target .*$", ""),
        (r"(load ptr, ptr|store ptr) (.*), align 8", r"\1 \2"),  # pointers lie at multiples of 4 there
    ):
        code = re.sub(pattern, here, code)
    about = f'target triple = "{machine.triple}"\ntarget datalayout = "{machine.target_data}"\n'
    return llvm.parse_assembly(about + code)


# --- Doors: functions of a block of memory --------------------------------------------------------------------------


@intrinsic
def pointer(typing: Any, address: Any, dtype: Any) -> Any:
    """An address (int64) as a pointer to items of a type."""
    to = types.CPointer(dtype.dtype)
    return to(address, dtype), lambda context, builder, made, given: builder.inttoptr(
        given[0], context.get_value_type(to)
    )


@intrinsic
def keep(typing: Any, array: Any) -> Any:
    """The items of an array are never freed: Python copies them."""

    def generate(context: Any, builder: Any, made: Any, given: Any) -> Any:
        context.nrt.incref(builder, array, given[0])
        return context.get_dummy_value()

    return types.void(array), generate


class _Door:
    """The source of a function that reads a kernel's arguments from a block, calls it and writes its result there."""

    def __init__(self, entry: Entry) -> None:
        self._name, self._records, self._at, self._known = entry.name, entry.records, 0, list[str]()
        kernel = self._known_as(f"from {entry.module} import {entry.kernel} as")
        found = f"found = {kernel}({', '.join(map(self._read, entry.arguments))})"
        lines = [found, *self._write(entry.returns, "found"), "return 0"]
        for name, kind in {"words": "int64", "reals": "float64"}.items():
            dtype = self._dtype(kind)
            lines.insert(0, f"{name} = carray(pointer(block, {dtype}), ({self._at + 1},), {dtype})")
        self.source = "\n".join([*self._known, "\n    ".join([f"def {entry.name}(block):", *lines])])

    def _known_as(self, begun: str, end: str = "") -> str:
        name = f"known_{len(self._known)}_{self._name}"
        self._known.append(f"{begun} {name}" if not end else f"{name} {begun} {end}")
        return name

    def _dtype(self, item: str) -> str:
        if item not in self._records:
            return self._known_as("=", f"np.dtype({item!r})")
        modules = ((name, vars(module)) for name, module in sys.modules.items() if name.startswith("crib_env."))
        named = ((module, name, one) for module, known in modules for name, one in known.items())
        module, name = next((m, n) for m, n, one in named if isinstance(one, np.dtype) and one == self._records[item])
        return self._known_as(f"from {module} import {name} as")

    def _next(self, kind: str = "") -> str:
        self._at += 1
        return f"{'reals' if kind.startswith('float') else 'words'}[{self._at - 1}]"

    def _read(self, kind: Any) -> str:
        """An expression of the next value of a type."""
        if isinstance(kind, list):
            module, _, name = kind[0].partition(":")
            made = self._known_as(f"from crib_env.{module} import {name} as") if name else ""
            return f"{made}({''.join(f'{self._read(part)}, ' for part in kind[1:])})"
        item, _, axes = kind.rstrip("]").partition("[")
        if axes or item in self._records:
            dtype, start = self._dtype(item), self._next()
            shape = "".join(f"{self._next()}, " for _ in range(int(axes or 0))) or "1,"
            return f"carray(pointer({start}, {dtype}), ({shape}), {dtype}){'' if axes else '[0]'}"
        return f"({self._next()} != 0)" if kind == "bool" else f"np.{kind}({self._next(kind)})"

    def _write(self, kind: Any, value: str) -> Iterable[str]:
        """Statements that write a value of a type."""
        if isinstance(kind, list):
            for k, part in enumerate(kind[1:]):
                yield from self._write(part, f"{value}[{k}]")
        elif kind.endswith("]"):
            yield f"keep({value})"
            yield f"{self._next()} = {value}.ctypes.data"
            yield from (f"{self._next()} = {value}.shape[{axis}]" for axis in range(int(kind[:-1].partition("[")[2])))
        elif kind != "none":
            yield f"{self._next(kind)} = np.{'float64' if kind.startswith('float') else 'int64'}({value})"


def _program(entries: Sequence[Entry]) -> str:
    """The source of a program that writes the code of all entries to the file that it is given."""
    return "\n".join(
        [
            "import sys",
            "from pathlib import Path",
            "import numpy as np",
            "from numba import carray",
            f"from {__name__} import keep, pointer, write_object_code",
            *(_Door(entry).source for entry in entries),
            f"write_object_code([{', '.join(entry.name for entry in entries)}], Path(sys.argv[1]))\n",
        ]
    )


def _code(door: Callable[[int], int]) -> str:
    """The code of a door, with all it needs; the function returns 0 if there was no exception."""
    compiled: Any = numba.njit(door)
    compiled.compile((types.int64,))
    code = compiled.inspect_llvm((types.int64,))
    inner = next(iter(re.findall(r"(?m)^define i32 (@\S+?)\(", code)))
    unique = f"@door_of_{door.__name__}"  # the same name would stand for another function
    return f"""{code.replace(inner, unique)}
define i32 @{door.__name__}(ptr %block) {{
  %result = alloca i64
  %exception = alloca ptr
  %address = ptrtoint ptr %block to i64
  %status = call i32 {unique}(ptr %result, ptr %exception, i64 %address)
  ret i32 %status
}}
"""
