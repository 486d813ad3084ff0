"""What a next card of each rank earns, all ranks at once, is what the last card of a pile earns."""

from __future__ import annotations

import numpy as np

from crib_env.kernels import kernel
from crib_env.scoring import COUNT_LIMIT, card_value, fill_next_points, pile_points


@kernel
def _one_by_one(pile, n, count, points):
    for rank in range(13):
        pile[n] = rank
        now = count + card_value(rank)
        points[rank] = pile_points(pile, 0, n + 1, now) if now <= COUNT_LIMIT else -1


def test_all_ranks_at_once():
    """After random piles; low cards come often, so that runs of up to seven and four of a kind are among them."""
    rng, longest, most = np.random.default_rng(0), 0, 0
    for _ in range(20_000):
        pile, n, count = rng.integers(rng.choice([4, 7, 13]), size=9), 0, 0
        while n < 7 and count + min(pile[n] + 1, 10) <= COUNT_LIMIT and rng.random() < 0.9:
            count += min(int(pile[n]) + 1, 10)
            n += 1
        found, expected = np.zeros(13, np.int64), np.zeros(13, np.int64)
        fill_next_points(pile, 0, n, count, found)
        _one_by_one(pile, n, count, expected)
        assert found.tolist() == expected.tolist()
        longest, most = max(longest, n), max(most, int(found.max()))
    assert longest == 7
    assert most >= 12
