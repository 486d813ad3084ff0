"""The format of numbers in which networks train, by what the processor can do; weights are always float32."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Literal

import llvmlite.binding as llvm
import torch

Precision = Literal["auto", "float32", "bfloat16"]

# Instructions on which digits or times depend, as LLVM calls them.
_INSTRUCTIONS = {"neon": "NEON", "avx2": "AVX2", "avx512f": "AVX-512", "avx512bf16": "bfloat16", "amx-bf16": "AMX"}


@cache
def _instructions() -> tuple[str, ...]:
    found = llvm.get_host_cpu_features()
    return tuple(name for key, name in _INSTRUCTIONS.items() if found.get(key))


def processor() -> str:
    """The name of this processor's kind, and those of its instructions on which digits or times depend."""
    return " with ".join(filter(None, [llvm.get_host_cpu_name(), ", ".join(_instructions())]))


def chosen(name: Precision) -> Literal["float32", "bfloat16"]:
    """The format of a setting; that of ``"auto"`` is bfloat16 if the processor has instructions for it."""
    if name != "auto":
        return name
    return "bfloat16" if "bfloat16" in _instructions() else "float32"


def is_emulated(name: Precision) -> bool:
    """Whether the processor has no instructions for the format of a setting, and computes in float32."""
    return chosen(name) == "bfloat16" != chosen("auto")


@contextmanager
def precision(name: Precision, device: str = "cpu") -> Iterator[None]:
    """The context for computing in the format of a setting, on a processor or a GPU, ``"cuda"``."""
    onednn: Any = torch.backends.mkldnn
    before = onednn.enabled
    onednn.enabled = before and not is_emulated(name)  # it has an LSTM in bfloat16 only for the newer instructions
    try:
        with torch.autocast(device, torch.bfloat16, enabled=chosen(name) == "bfloat16"):
            yield
    finally:
        onednn.enabled = before
