"""Kernels for the browser: their LLVM code, made for WebAssembly and linked into one shared library.

The library is what Pyodide loads as it loads C extensions: code for 32-bit addresses that shares the memory of Python.
The code is what Numba made of the source of the kernels. Numbers in it keep their 64 bits, records keep their layout,
and only pointers are shorter. So Numba must not have tidied the code up for this processor, with its longer pointers
(:func:`leave_code_plain`).

Each function takes one block of memory: eight bytes for every number and address of its arguments, then as many for its
result. ``browser/numba.py`` fills it.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import cgutils
from numba.core import types as numba_types
from numba.core.codegen import JITCodeLibrary
from numba.core.registry import CPUDispatcher
from numba.np import arrayobj

from crib_env.files.whole_file import whole_file

types: Any = numba_types  # their attributes have no types
_TRIPLE, _FEATURES = "wasm32-unknown-emscripten", "+bulk-memory,+mutable-globals,+sign-ext,+nontrapping-fptoint"
_WORD, _REAL, _PLACE = ir.IntType(64), ir.DoubleType(), ir.IntType(32)
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


called: dict[Any, dict[tuple[Any, ...], None]] = {}
"""By kernel: the types of arguments with which Python has called it, since :func:`leave_code_plain`."""


def leave_code_plain() -> None:
    """From now on Numba optimises a copy of its code; what kernels take over does not know how long a pointer is.

    Calls are noted. To be called before a kernel is compiled, with an empty folder of kept kernels.
    """
    library: Any = JITCodeLibrary
    dispatcher: Any = CPUDispatcher
    optimise, call = library._optimize_final_module, dispatcher.__call__

    def optimise_copy(one: Any) -> None:
        plain, one._final_module = one._final_module, one._final_module.clone()
        for function in plain.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = "linkonce_odr"  # as Numba does: several kernels take it over
        one._shared_module = plain
        optimise(one)

    def noted_call(kernel: Any, *arguments: Any) -> Any:
        called.setdefault(kernel, {})[tuple(map(kernel.typeof_pyval, arguments))] = None
        return call(kernel, *arguments)

    library._optimize_functions = lambda one, module: None
    library._optimize_final_module = optimise_copy
    dispatcher.__call__ = noted_call


class Entry(NamedTuple):
    """A kernel for certain types of arguments."""

    kernel: Any
    """One of :data:`crib_env.kernels.KERNELS`."""
    arguments: tuple[Any, ...]
    name: str
    """Of the function in the library."""

    @property
    def result(self) -> Any:
        """What Numba made."""
        return self.kernel.overloads[self.arguments]

    def described(self) -> dict[str, object]:
        """How it is called."""
        return {
            "name": self.name,
            "arguments": [_described(kind) for kind in self.arguments],
            "returns": _described(self.result.signature.return_type),
        }


def entries_of(kernels: Iterable[Any]) -> list[Entry]:
    """What Python has called of these kernels so far, but for calls whose numbers Numba converted."""
    return [
        Entry(one, arguments, re.sub(r"\W", "_", f"{one.py_func.__module__}.{one.py_func.__qualname__}.{k}"))
        for one in kernels
        for k, arguments in enumerate(called.get(one, ()))
        if arguments in one.overloads
    ]


def described_kernels(entries: Sequence[Entry]) -> dict[str, list[dict[str, object]]]:
    """The ways to call each kernel, by its module and name, to be written as JSON."""
    found: dict[str, list[dict[str, object]]] = {}
    for entry in entries:
        function = entry.kernel.py_func
        found.setdefault(f"{function.__module__}:{function.__qualname__}", []).append(entry.described())
    return found


def _described(kind: Any) -> object:
    """A type: ``int64``, ``int8[2]`` for an array of two axes, ``record152``, or a list for a tuple."""
    if isinstance(kind, types.Array):
        return f"{_described(kind.dtype)}[{kind.ndim}]"
    if isinstance(kind, types.Record):
        return f"record{kind.size}"
    if isinstance(kind, types.BaseNamedTuple):
        made = kind.instance_class
        return [f"{made.__module__.removeprefix('crib_env.')}:{made.__name__}", *map(_described, kind.types)]
    if isinstance(kind, types.BaseTuple):
        return ["", *map(_described, kind.types)]
    return str(kind)


def shared_library(entries: Sequence[Entry], linker: Sequence[str]) -> bytes:
    """The library.

    Args:
        entries: what is in it.
        linker: the command of ``wasm-ld``.

    Raises:
        ValueError: a kernel calls a function that is not there.
        subprocess.CalledProcessError: it cannot be linked.
    """
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(_TRIPLE).create_target_machine(
        opt=3, reloc="pic", codemodel="default", features=_FEATURES
    )
    whole = _for_machine(_MEMORY, machine)
    for entry in entries:
        whole.link_in(_for_machine(str(_door(entry)), machine))
    for entry in entries:
        whole.link_in(_for_machine(str(entry.result.library._get_module_for_linking()), machine))
    whole.verify()
    names = {entry.name for entry in entries}
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
    return _linked(machine.emit_object(whole), sorted(names), linker)


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


def _linked(code: bytes, names: Sequence[str], linker: Sequence[str]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        compiled, library = Path(folder, "kernels.o"), Path(folder, "kernels.so")
        with whole_file(compiled) as temporary, open(temporary, "wb") as file:
            file.write(code)
        exports = [f"--export={name}" for name in names]
        options = ("-shared", "--experimental-pic", "--no-entry", "--strip-all")
        subprocess.run([*linker, *options, *exports, str(compiled), "-o", str(library)], check=True)
        return library.read_bytes()


# --- Doors: functions of a block of memory --------------------------------------------------------------------------


class _Block:
    """The numbers and addresses in a block, one after the other."""

    def __init__(self, context: Any, builder: Any, start: Any) -> None:
        self._context, self._builder, self._start, self._at = context, builder, start, 0

    def _next(self, kind: Any) -> Any:
        place = self._builder.gep(self._start, [ir.Constant(_PLACE, 8 * self._at)])
        self._at += 1
        return self._builder.bitcast(place, kind.as_pointer())

    def read(self, kind: Any) -> Any:
        """A value of one of Numba's types."""
        context, builder = self._context, self._builder
        if isinstance(kind, types.BaseTuple):
            return context.make_tuple(builder, kind, [self.read(part) for part in kind.types])
        if isinstance(kind, types.Array):
            return self._read_array(kind)
        if isinstance(kind, types.Record):
            return builder.load(self._next(context.get_value_type(kind)))
        if isinstance(kind, types.Float):
            value = builder.load(self._next(_REAL))
            return value if kind.bitwidth == 64 else builder.fptrunc(value, ir.FloatType())
        value = builder.load(self._next(_WORD))
        width = 1 if isinstance(kind, types.Boolean) else kind.bitwidth
        return value if width == 64 else builder.trunc(value, ir.IntType(width))

    def _read_array(self, kind: Any) -> Any:
        """An array whose items lie one after the other: its address, and its shape."""
        context, builder = self._context, self._builder
        data = builder.load(self._next(context.get_data_type(kind.dtype).as_pointer()))
        shape = [builder.load(self._next(_WORD)) for _ in range(kind.ndim)]
        is_record = isinstance(kind.dtype, types.Record)
        size = kind.dtype.size if is_record else context.get_abi_sizeof(context.get_data_type(kind.dtype))
        step = item = context.get_constant(types.intp, size)
        strides: list[Any] = []
        for n in reversed(shape):
            strides.insert(0, step)
            step = builder.mul(step, n)
        array = arrayobj.make_array(kind)(context, builder)
        arrayobj.populate_array(array, data, shape, strides, item, meminfo=None)
        return array._getvalue()

    def write(self, kind: Any, value: Any) -> None:
        """A result of one of Numba's types."""
        context, builder = self._context, self._builder
        if isinstance(kind, types.BaseTuple):
            for k, part in enumerate(kind.types):
                self.write(part, builder.extract_value(value, k))
        elif isinstance(kind, types.Array):
            array = arrayobj.make_array(kind)(context, builder, value)
            for part in (array.data, *cgutils.unpack_tuple(builder, array.shape)):
                builder.store(part, self._next(part.type))
        elif isinstance(kind, types.Float):
            builder.store(value if kind.bitwidth == 64 else builder.fpext(value, _REAL), self._next(_REAL))
        elif kind is not types.none:
            is_signed = isinstance(kind, types.Integer) and kind.signed
            if value.type.width < _WORD.width:
                value = (builder.sext if is_signed else builder.zext)(value, _WORD)
            builder.store(value, self._next(_WORD))


def _door(entry: Entry) -> ir.Module:
    """The function of a block that calls a kernel; it returns Numba's code of the exception, 0 if there was none."""
    about, context = entry.result.fndesc, entry.kernel.targetctx
    module = context.create_module(entry.name)
    door = ir.Function(module, ir.FunctionType(_PLACE, [ir.IntType(8).as_pointer()]), entry.name)
    builder = ir.IRBuilder(door.append_basic_block())
    block = _Block(context, builder, door.args[0])
    arguments = [block.read(kind) for kind in about.argtypes]
    kernel = context.declare_function(module, about)
    status, value = context.call_conv.call_function(builder, kernel, about.restype, about.argtypes, arguments)
    block.write(about.restype, value)
    builder.ret(status.code)
    return module
