"""What networks compute in while they train. Weights are float32 all the same."""

from __future__ import annotations

from typing import Literal

import torch

Precision = Literal["auto", "float32", "bfloat16"]


def precision(name: Precision) -> torch.autocast:
    """The context to compute in; ``"auto"`` is bfloat16 where the processor has instructions for it."""
    fast = name == "auto" and torch.cpu._is_avx512_bf16_supported()
    return torch.autocast("cpu", torch.bfloat16, enabled=fast or name == "bfloat16")
