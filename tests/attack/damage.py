"""Damaged files of every kind: each gives one error that names it, or, where nothing important was hit, is read."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from crib_env.agents import make_agent
from crib_env.agents.networks.weights_file import load_tensors
from tests.attack import Attempts, Sizes
from tests.helpers.files_of_users import HOSTILE, one_of_each_kind
from tests.helpers.players import NETWORKS, player
from tests.test_foreign_files import TABLES


def attack(sizes: Sizes, seed: int) -> Iterator[Attempts]:
    """JSON of every kind, tables and weights. A table or weights that are read must be those that were written."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kinds = [(path, read, None) for path, read in one_of_each_kind(folder).items()]
        kinds += [*tables(folder), *weights(folder)]
        for path, read, content in kinds[:: len(kinds) - 1] if sizes.most == 1 else kinds:
            draw, good = random.Random(f"{seed} {path.name}"), path.read_bytes()
            found = Attempts(
                f"damaged {path.parent.name if path.stem == 'config' else ''} {path.name} that came through"
            )
            for _ in range(sizes.damages):
                path.write_bytes(damaged(good, draw))
                found.make(refuse_or_read, path, read, content)
            path.write_bytes(good)
            yield found


def damaged(good: bytes, draw: random.Random) -> bytes:
    """The bytes of a file after one of seven accidents."""
    place = draw.randrange(len(good))
    size = draw.choice((1, 1, 10, 1_000))
    noise = draw.randbytes(size)
    return draw.choice(
        (
            good[:place],
            good[:place] + bytes([good[place] ^ 1 << draw.randrange(8)]) + good[place + 1 :],
            good[:place] + noise + good[place + size :],
            good[:place] + bytes(size) + good[place + size :],
            good[:place] + noise + good[place:],
            good[:place] + good[place + size :],
            draw.choice(list(HOSTILE.values())),
        )
    )


def refuse_or_read(path: Path, read: Callable[[], Any], content: dict[str, Any] | None) -> None:
    """Raises an error unless the file is refused by its name, or holds what it held."""
    try:
        found = read()
    except ValueError as error:
        if path.name not in str(error) and path.parent.name not in str(error):
            raise AssertionError(f"{path.name} is not named: {error}") from None
        return
    if content is not None:
        for name, expected in content.items():
            np.testing.assert_array_equal(found[name], expected)


def tables(folder: Path):
    """Tables that ship with the package."""
    for standard, kind, _ in TABLES.values():
        path, good = folder / f"{kind.__name__}.npz", standard()
        good.save(path)
        yield path, lambda kind=kind, path=path: vars(kind.load(path)), vars(good)


def weights(folder: Path):
    """Networks of all learners."""
    for name in NETWORKS:
        path = folder / f"{name}.safetensors"
        player(name).save(path)
        yield path, lambda name=name, path=path: loaded(name, path), loaded(name, path)


def loaded(name: str, path: Path) -> dict[str, np.ndarray]:
    """The weights in a file, which a player accepts."""
    make_agent(f"{name}:{path}")
    return {key: tensor.numpy() for key, tensor in load_tensors(path)[0].items()}
