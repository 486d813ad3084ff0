"""What the kernels of :mod:`crib_env.vector.kernels` do, in the order in which tensors need it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from crib_env.kernels import kernel, variant
from crib_env.observation import write_bits, write_observation, writing
from crib_env.vector.kernels import against, learners_mask, show_all, step_all


@kernel
def seed_all(table, rows, states, is_seeded, alternates):
    """Sets the streams of the games with a flag in ``is_seeded`` (N,), and the seats of the next episode."""
    for i in rows:
        if is_seeded[i]:
            table.games[i]["episode_stream"] = states[i]
        if alternates:
            table.seats[i] = 0 if is_seeded[i] else 1 - table.seats[i]


@kernel
def step_rows(table, rows, cards, to_begin, rules, out):
    """A step of all games on a processor; games that end begin anew at the next one."""
    step_all(table, rows, cards, to_begin, rules, out.rewards, out.over, out.illegal)
    show_all(table, rows, out)
    for i in rows:
        to_begin[i] = out.over[i]


@kernel
def step_one(table, i, cards, to_begin, rules, out):
    """The same of game i, for a thread of a GPU, without observation and mask."""
    step_all(table, (i,), cards, to_begin, rules, out.rewards, out.over, out.illegal)
    g = table.games[i]
    out.scores[i, 0], out.scores[i, 1] = g["scores"][0], g["scores"][1]
    out.dealers[i] = g["dealer"]
    to_begin[i] = out.over[i]


@kernel
def show_one(table, i, observation, mask, row):
    """Writes observation and mask of game i to a row of other arrays."""
    g, seat = table.games[i], np.int64(table.seats[i])
    write_observation(g, seat, observation, row)
    write_bits(learners_mask(g, seat), mask, row, np.int64(0))


class Kernels(NamedTuple):
    """The kernels of an environment against a native opponent."""

    begin_all: Any
    show_all: Any
    step_rows: Any
    step_one: Any
    show_one: Any


def kernels_of(policy: np.int64, write: Any) -> Kernels:
    """The kernels for a native opponent and an observation.

    Args:
        policy: of the opponent; see :class:`crib_env.vector.kernels.Rules`.
        write: the kernel that writes observations.
    """
    begin, step = against(policy)
    show = writing(show_all, write)
    rows = variant(variant(step_rows, "step_all", step), "show_all", show)
    return Kernels(begin, show, rows, variant(step_one, "step_all", step), writing(show_one, write))
