"""Rank counts of held and known cards. They follow from an observation, so a network need not learn them."""

from __future__ import annotations

import torch

from crib_env.observation import HAND, KNOWN, SLOTS

N_RANK_INPUTS = 5 * 13


def with_rank_counts(observation: torch.Tensor) -> torch.Tensor:
    """Observations (B, n), whose first 209 are the 209 bits, with 65 more inputs: (B, n + 65).

    For each rank whether at least 1, 2, 3, 4 cards of it are held, and how many others are known.
    """
    held = observation[:, HAND:KNOWN].unflatten(1, (4, 13)).sum(1)
    known = observation[:, KNOWN:SLOTS].unflatten(1, (4, 13)).sum(1)
    steps = [(held >= k).float() for k in range(1, 5)]
    return torch.cat([observation, *steps, known], dim=1)
