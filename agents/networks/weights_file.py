"""Weights on disk: safetensors files with their own description. Nothing in them can be executed.

A file written by this project holds a checksum of its description and its tensors. A file without one, converted
by another program, is accepted; a wrong checksum is refused.
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
_WEIGHTS = ("F16", "F32")  # the types of weights, as the format calls them
_LARGEST = 1_000_000  # of a weight: far larger ones would overflow in the network, and every choice be the same
_LENGTH = 8  # bytes that hold the length of the header
_LONGEST = 10_000  # most characters of a description, which has only a few settings


def save_tensors(path: Path, tensors: dict[str, torch.Tensor], about: dict[str, Any]) -> None:
    """Writes tensors and their description, any JSON value, to a ``.safetensors`` file, whole or not at all.

    Raises:
        ValueError, OSError: the file cannot be written.
    """
    whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    text = json.dumps(about)
    with whole_file(path) as temporary:
        temporary.touch()
        mode = temporary.stat().st_mode  # as of any new file; safetensors makes one that nobody else may read
        try:
            save_file(whole, temporary, {"about": text, "checksum": _checksum(whole, text)})
            _sort_marks(temporary)
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
        self._about, self._checksum = marks["about"], marks.get("checksum")
        if len(self._about) > _LONGEST:
            raise ValueError(f"its description has {len(self._about):,} characters, more than {_LONGEST:,}")
        self.about: dict[str, Any] = dict(parse_json(self._about))

    def load(self) -> dict[str, torch.Tensor]:
        """All tensors.

        Raises:
            ValueError: the checksum is wrong.
        """
        with torch.device("cpu"):
            tensors = {name: self._file.get_tensor(name) for name in self._file.keys()}  # noqa: SIM118 -- not a mapping
        if self._checksum is not None and self._checksum != _checksum(tensors, self._about):
            raise ValueError("its checksum is wrong")
        return tensors

    def load_weights(self, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, torch.Tensor]:
        """All tensors, as finite float32 numbers; they must have exactly these names and shapes.

        Raises:
            ValueError: names, shapes or types differ, or the checksum is wrong. Names, shapes and types are at the
                beginning of the file: if they are wrong, no memory is allocated for the tensors.
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
            if not tensor.isfinite().all():
                raise ValueError(f"its tensor {name} holds NaN or infinities")
            if tensor.numel() and tensor.abs().max() > _LARGEST:
                raise ValueError(f"its tensor {name} holds numbers beyond ±{_LARGEST:,}")
        return weights

    def fill(self, network: nn.Module) -> None:
        """Gives a network its weights; it was built inside :func:`reading_weights` and has had none so far.

        Raises:
            ValueError: as :meth:`load_weights`; the shapes must be those of the network.
        """
        weights = self.load_weights({name: tuple(tensor.shape) for name, tensor in network.state_dict().items()})
        network.load_state_dict(weights, assign=True)


@contextmanager
def reading_weights(path: str | Path, learner: str) -> Iterator[WeightsFile]:
    """Opens the weights of a learner's agent; errors inside become a ``ValueError`` that names the file.

    Networks built inside take no memory until :meth:`WeightsFile.fill` loads their weights: a file may
    describe a network of any size, and memory is only allocated for tensors that it really holds.

    Args:
        learner: the learner that must have written them, ``about["learner"]``.
    """
    found = _found(path)
    with _naming(path, "is not a whole weights file of this project"):
        file = WeightsFile(found)
    with _naming(path, f"does not hold the weights of a {learner} agent"):
        if file.about["learner"] != learner:
            raise ValueError(f"weights of {file.about['learner']!r}")
        with torch.device("meta"):
            yield file


def _found(path: str | Path) -> Path:
    path = Path(path)
    if not path.is_file() and path.with_name(path.name + SUFFIX).is_file():
        path = path.with_name(path.name + SUFFIX)
    if not path.is_file():
        raise ValueError(f"there is no weights file {path}")
    return path


def _sort_marks(path: Path) -> None:
    """Sorts description and checksum in the header: safetensors writes them in another order in each process."""
    with open(path, "rb+") as file:
        length = int.from_bytes(file.read(_LENGTH), "little")
        header = json.loads(file.read(length))
        header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
        text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
        file.seek(_LENGTH)
        file.write(text.ljust(length))


@contextmanager
def _naming(path: str | Path, fault: str) -> Iterator[None]:
    """Turns errors about the content of a file into a ``ValueError`` that names it."""
    try:
        yield
    except (SafetensorError, KeyError, TypeError, ValueError, RuntimeError, OverflowError, OSError) as error:
        raise ValueError(f"{path} {fault} ({' '.join(str(error).split())})") from None


def _checksum(tensors: Mapping[str, torch.Tensor], about: str) -> str:
    """The checksum of the description, and of names, types, shapes and bytes."""
    digest = hashlib.blake2b(about.encode(), digest_size=16)
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {list(tensor.shape)} ".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
