"""The stand-in for NumPy in the browser does what NumPy does, on what the table needs of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crib_env.evaluate.play.web import arrays

PLAY = Path(arrays.__file__).parents[2]
_RECORD = [("small", "i1", 2), ("real", "f8"), ("wide", "i2")]


def _records(x, align):
    made = x.zeros((2, 3), x.dtype(_RECORD, align=align))
    made["real"] = x.arange(6).reshape(2, 3) / 2
    made["small"] = [1, -2]
    made["wide"][1] = 7
    return [made["real"], made["small"][0], made[made["real"] > 1]["wide"], made[1][0]["small"], made.dtype.itemsize]


def _added(x):
    total = x.zeros((2, 4))
    x.add.at(total, (x.arange(2)[:, None], x.array([[1, 1], [0, 3]])), x.array([[1.0, 2.0], [3.0, 4.0]]))
    return [total]


CASES = {
    "views": lambda x, a: [
        a[1],
        a[:, ::-1],
        a[..., 1:],
        a.T,
        a[:, None, 1],
        a.reshape(4, -1)[1:3],
        a.transpose(1, 2, 0),
    ],
    "lists": lambda x, a: [a[:, [0, 2], 1:3], a[x.arange(2), :, [1, 2]], a[[1, 0]], a[0][a[0] > 4], a[a[:, 0, 0] > 1]],
    "sums": lambda x, a: [
        a.sum(axis=(0, 2)),
        a.max(axis=1, keepdims=True),
        a.argmax(axis=2),
        (a % 5).any(axis=1),
        a.sum(axis=1, dtype=x.int16),
    ],
    "means": lambda x, a: [a.mean(), a.mean(axis=0), (a / 3).std(), a.cumsum(axis=1), a.min(), a.prod(axis=1)],
    "sorting": lambda x, a: [x.sort(-a, axis=0), x.argsort(-a % 7, kind="stable"), x.lexsort((a[0, 0], a[0, 1] % 2))],
    "kinds": lambda x, a: [a.astype(x.int8) * 100, a * 0.5, a // 4, ~(a > 3), a << 2, 2 ** a[0, 0], -a, 1 - a, a >= 7],
    "choices": lambda x, a: [x.where(a > 5, a, x.int8(-1)), x.flatnonzero(a % 3), x.maximum(a, 9)],
    "joined": lambda x, a: [
        x.concatenate([a, a], axis=1),
        x.stack([a[0], a[1]], axis=2),
        x.repeat(a[0], [1, 0, 2], axis=0),
    ],
    "counted": lambda x, a: [
        x.bincount(a[0, 0], minlength=9),
        x.diff(a[0, 0]),
        x.diff(a, axis=1),
        x.diff(a),
    ],
    "products": lambda x, a: [a @ x.arange(4), x.tril(a, -1), x.indices((2, 3))],
    "pieces": lambda x, a: [x.insert(a[0], 4, 9, axis=1), x.delete(a[0], 1, axis=1), x.roll(a[0, 0], 1), x.eye(3)],
    "records": lambda x, a: _records(x, False),
    "aligned records": lambda x, a: _records(x, True),
    "counted places": lambda x, a: _added(x),
    "seeds": lambda x, a: [x.random.SeedSequence(seed).generate_state(3, x.uint64) for seed in (0, 7, 2**70)],
}


@pytest.mark.parametrize("case", CASES)
def test_the_same_as_numpy(case):
    found, expected = ([*CASES[case](x, x.arange(24).reshape(2, 3, 4))] for x in (arrays, np))
    assert len(found) == len(expected) > 0
    for one, other in zip(found, expected):
        assert np.shape(other) == getattr(one, "shape", ())
        if hasattr(one, "dtype"):
            assert one.dtype.name == other.dtype.name
        np.testing.assert_allclose(one.tolist() if hasattr(one, "tolist") else one, other, rtol=1e-12)


def test_what_does_not_fit_is_refused():
    array = arrays.zeros((2, 3))
    for key in (2, (0, 3), ([0, 5],)):
        with pytest.raises(IndexError):
            array[key]
    with pytest.raises(ValueError, match="broadcast"):
        array + arrays.zeros(4)


def test_only_the_link_to_the_server_is_another_file_on_the_site():
    """The site has its own files beside those of the page, under names of their own."""
    page = {path.name for path in (PLAY / "page" / "static").iterdir()}
    assert {path.name for path in (PLAY / "web" / "browser").glob("*.js")} & page == {"server_link.js"}
