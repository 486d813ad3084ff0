"""Decisions that differ in nothing but the scores. What depends on cards alone is computed once for all of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env import PlayerViews


class SameCards(NamedTuple):
    """B decisions in groups that differ in nothing but the scores."""

    rows: np.ndarray
    """(B,) int64, the decisions, group by group, and in a group by the scores of the dealer and of pone."""
    ends: np.ndarray
    """(G,) int64, where each group ends in ``rows``."""

    def parts(self, n: int) -> list[SameCards]:
        """The same, ``n`` groups at a time."""
        starts = np.concatenate([[0], self.ends[n - 1 :: n]])
        return [
            SameCards(self.rows[start:], self.ends[n * k : n * (k + 1)] - start)
            for k, start in enumerate(starts.tolist())
            if n * k < len(self.ends)
        ]

    @property
    def first(self) -> np.ndarray:
        """(G,) int64, a decision of each group."""
        return self.rows[np.concatenate([[0], self.ends[:-1]])]

    def spread(self, values: np.ndarray) -> np.ndarray:
        """What holds for each group, (G, …), for each decision, (B, …)."""
        out = np.empty((len(self.rows), *values.shape[1:]), values.dtype)
        out[self.rows] = np.repeat(values, np.diff(self.ends, prepend=0), axis=0)
        return out


def same_cards(views: PlayerViews, also: np.ndarray | None = None) -> SameCards:
    """Groups decisions by all that the player sees but the scores, and by ``also`` (B,) float64."""
    fields = [views.hand, views.discards, views.laid, views.laid_by]
    fields += [np.stack([views.starter, views.is_dealer, views.pile_start, views.opponent_cards], axis=1)]
    if also is not None:
        fields.append(also[:, None].view(np.int8))
    keys = np.concatenate(fields, axis=1, dtype=np.int8)
    scores = np.where(views.is_dealer[:, None], views.scores, views.scores[:, ::-1]).astype(np.int8)
    full = np.concatenate([keys, scores], axis=1)
    order = full.view(f"V{full.shape[1]}")[:, 0].argsort(kind="stable")
    is_last = np.ones(len(keys), np.bool_)
    is_last[:-1] = (keys[order[1:]] != keys[order[:-1]]).any(axis=1)
    return SameCards(order, np.flatnonzero(is_last) + 1)
