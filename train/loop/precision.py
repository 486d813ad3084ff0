"""Number format of networks in training. Weights are float32 in any case."""

from __future__ import annotations

from typing import Literal

import torch

Precision = Literal["auto", "float32", "bfloat16"]


def precision(name: Precision) -> torch.autocast:
    """The context for computing; ``"auto"`` is bfloat16 if the processor has instructions for it."""
    fast = name == "auto" and torch.cpu._is_avx512_bf16_supported()
    return torch.autocast("cpu", torch.bfloat16, enabled=fast or name == "bfloat16")
