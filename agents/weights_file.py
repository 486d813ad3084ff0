"""Weights on disk: safetensors files with a description inside. Nothing in them can be executed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

SUFFIX = ".safetensors"


def save_tensors(path: Path, tensors: dict[str, torch.Tensor], about: dict[str, Any]) -> None:
    """Writes a file whole: under a temporary name first, so that no reader ever meets half of it.

    Args:
        path: where to, ending in ``.safetensors``.
        tensors: what to keep.
        about: what describes them; anything JSON can say.
    """
    temporary = path.with_name(path.name + ".part")
    whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    save_file(whole, temporary, {"about": json.dumps(about)})
    with open(temporary, "rb") as file:
        os.fsync(file.fileno())
    os.replace(temporary, path)


def load_tensors(path: str | Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Reads what :func:`save_tensors` wrote; the ending ``.safetensors`` may be left out.

    Raises:
        ValueError: there is no such file, or it is cut short, damaged or not one of ours; the message names it.
    """
    path = Path(path)
    if not path.is_file() and path.with_name(path.name + SUFFIX).is_file():
        path = path.with_name(path.name + SUFFIX)
    if not path.is_file():
        raise ValueError(f"there is no weights file {path}")
    try:
        with safe_open(path, framework="pt") as file:
            about = json.loads((file.metadata() or {})["about"])
            return {name: file.get_tensor(name) for name in file.keys()}, about  # noqa: SIM118 -- not a mapping
    except (SafetensorError, KeyError, ValueError, OSError) as error:
        raise ValueError(f"{path} is not a whole weights file of this project ({error})") from None


@contextmanager
def reading_weights(path: str | Path, learner: str) -> Iterator[tuple[dict[str, torch.Tensor], dict[str, Any]]]:
    """Reads the weights of a learner's agent; inside, what fails over them is a ``ValueError`` that names the file.

    Args:
        path: as :func:`load_tensors` has it.
        learner: that must have written them, ``about["learner"]``.
    """
    tensors, about = load_tensors(path)
    try:
        if about["learner"] != learner:
            raise ValueError(f"weights of {about['learner']!r}")
        yield tensors, about
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{path} does not hold the weights of a {learner} agent ({reason})") from None
