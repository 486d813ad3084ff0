"""Weights on disk: safetensors files with their own description. Nothing in them can be executed.

A description holds a checksum of itself and the tensors. A file without one, converted by another program, is accepted;
a wrong checksum is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import nn

from crib_env.files.json_text import parse_json
from crib_env.files.whole_file import whole_file

SUFFIX = ".safetensors"
_CHECKSUM = "checksum"  # in a description
_WEIGHTS = ("F16", "F32")  # the types of weights, as the format calls them
_LARGEST = 1_000_000  # of a weight: far larger ones would overflow in the network, and every choice be the same


def save_tensors(path: Path, tensors: dict[str, torch.Tensor], about: dict[str, Any]) -> None:
    """Writes tensors and their description, any JSON value, to a ``.safetensors`` file, whole or not at all.

    Raises:
        ValueError, OSError: the file cannot be written.
    """
    whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    # in one entry: safetensors writes several in another order in each process
    text = json.dumps({**about, _CHECKSUM: _checksum(whole, about)})
    with whole_file(path) as temporary:
        temporary.touch()
        mode = temporary.stat().st_mode  # as of any new file; safetensors makes one that nobody else may read
        try:
            save_file(whole, temporary, {"about": text})
            temporary.chmod(mode)
        except SafetensorError as error:  # a full disk
            raise OSError(f"{path} cannot be written ({error})") from None


def load_tensors(path: str | Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Reads a file of :func:`save_tensors`; the suffix ``.safetensors`` may be left out.

    Raises:
        ValueError: the file does not exist, is cut short, damaged or not written by this project; the message names it.
    """
    found = _found(path)
    with _naming(path, "is not a whole weights file of this project"):
        file = WeightsFile(found)
        return file.load(), file.about


class WeightsFile:
    """A weights file: its description, and its tensors, which are read on demand.

    Attributes:
        about: the description.
    """

    def __init__(self, path: Path) -> None:
        self._file: Any = safe_open(path, framework="pt")
        marks = self._file.metadata() or {}
        self.about: dict[str, Any] = dict(parse_json(marks["about"]))
        self._checksum = self.about.pop(_CHECKSUM, marks.get(_CHECKSUM))  # the latter in the file of `best`

    def load(self) -> dict[str, torch.Tensor]:
        """All tensors.

        Raises:
            ValueError: the checksum is wrong.
        """
        with torch.device("cpu"):
            tensors = {name: self._file.get_tensor(name) for name in self._file.keys()}  # noqa: SIM118 -- not a mapping
        if self._checksum is not None and self._checksum != _checksum(tensors, self.about):
            raise ValueError("its checksum is wrong")
        return tensors

    def load_weights(self, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, torch.Tensor]:
        """All tensors, as finite float32 numbers; they must have exactly these names and shapes.

        Raises:
            ValueError: names, shapes or types differ, or the checksum is wrong. The beginning of the file says them: if
                they are wrong, no memory is allocated for the tensors.
        """
        found = {name: self._file.get_slice(name) for name in self._file.keys()}  # noqa: SIM118 -- not a mapping
        for name in sorted(found.keys() ^ shapes.keys()):
            raise ValueError(f"it has no tensor {name}" if name in shapes else f"its tensor {name} has no place")
        for name, tensor in found.items():
            if tuple(tensor.get_shape()) != shapes[name]:
                raise ValueError(f"its tensor {name} has the shape {tensor.get_shape()}, not {list(shapes[name])}")
            if tensor.get_dtype() not in _WEIGHTS:
                raise ValueError(f"its tensor {name} is of type {tensor.get_dtype()}, not {' or '.join(_WEIGHTS)}")
        weights = {name: tensor.to(torch.float32, copy=True) for name, tensor in self.load().items()}
        for name, tensor in weights.items():
            if not (tensor.abs() <= _LARGEST).all():
                raise ValueError(f"its tensor {name} holds NaN or infinities or numbers beyond ±{_LARGEST:,}")
        return weights

    def fill(self, network: nn.Module) -> None:
        """Gives a network its weights; it was built inside :func:`reading_weights` and has had none so far.

        Raises:
            ValueError: as :meth:`load_weights`; the shapes must be those of the network.
        """
        weights = self.load_weights({name: tuple(tensor.shape) for name, tensor in network.state_dict().items()})
        network.load_state_dict(weights, assign=True)


@contextmanager
def reading_weights(path: str | Path, *learners: str) -> Iterator[WeightsFile]:
    """Opens the weights of an agent of one of these learners; errors inside name the file, in a ``ValueError``.

    Networks built inside take no memory until :meth:`WeightsFile.fill` loads their weights: a file may
    describe a network of any size, and memory is only allocated for tensors that it really holds.
    """
    found = _found(path)
    with _naming(path, "is not a whole weights file of this project"):
        file = WeightsFile(found)
    with _naming(path, f"does not hold the weights of a {' or '.join(learners)} agent"), torch.device("meta"):
        if file.about["learner"] not in learners:
            raise ValueError(f"weights of {file.about['learner']!r}")
        yield file


def _found(path: str | Path) -> Path:
    for file in (Path(path), Path(f"{path}{SUFFIX}")):
        if file.is_file():
            return file
    raise ValueError(f"there is no weights file {path}")


@contextmanager
def _naming(path: str | Path, fault: str) -> Iterator[None]:
    """Turns errors about the content of a file into a ``ValueError`` that names it."""
    try:
        yield
    except (SafetensorError, KeyError, TypeError, ValueError, RuntimeError, OverflowError, OSError) as error:
        raise ValueError(f"{path} {fault} ({' '.join(str(error).split())})") from None


def _checksum(tensors: Mapping[str, torch.Tensor], about: dict[str, Any]) -> str:
    """The checksum of the description, and of names, types, shapes and bytes."""
    digest = hashlib.blake2b(json.dumps(about).encode(), digest_size=16)
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {list(tensor.shape)} ".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
