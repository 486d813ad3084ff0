"""The policy network of the play: how likely each rank is laid, as in a solution of the play (:mod:`crib_env.solver`).

A solution knows who laid which ranks, who said go, the ranks in the own hand, and the starter. So these are the inputs,
coded in a form that is easy to learn from, and what follows from them: what each card would make now, and the mean that
the opponent's next card could then make. Scores and own discards are not among them, because the solution is one in
points and does not depend on them.
"""

from __future__ import annotations

import itertools

import numpy as np
import torch
from torch import nn

from crib_env import PlayerViews
from crib_env.engine import DEALER, PONE
from crib_env.hands import N_RANKS
from crib_env.kernels import kernel
from crib_env.scoring import COUNT_LIMIT, card_value, pile_points
from crib_env.solver.public_state import CARDS, COUNT, FLOOR, GONE, N_FIELDS, N_PILE, gone_of, start_of_play
from crib_env.solver.subgame import follow

_POINTS = np.array([2, 3, 4, 6, 8], np.int64)  # steps of the points that a card would make now
_ANSWERS = np.array([0.15, 0.3, 0.5, 0.8, 1.2])  # steps of the mean that the opponent's next card would make
_N_LATEST = 3  # cards of this count that are also coded by how late they were laid

# Where each kind of input begins; the last is how many there are.
(_DEALER, _HELD, _SEEN, _LAID, _LATEST, _COUNT, _THEIRS, _OWN, _FLOOR, _MAKES, _ANSWERED, _FITS, _STARTER, N_INPUTS) = (
    np.cumsum(
        [
            *(0, 1, 4 * N_RANKS, 4 * N_RANKS, 8 * (N_RANKS + 2), _N_LATEST * N_RANKS, COUNT_LIMIT, 5, 5, N_RANKS),
            *((1 + len(_POINTS)) * N_RANKS, len(_ANSWERS) * N_RANKS, N_RANKS, N_RANKS),
        ]
    ).tolist()
)
FITS = slice(_FITS, _STARTER)
"""The inputs that say which ranks can be laid."""
_START = start_of_play()


@kernel
def write_inputs(s, ranks, roles, n, held, role, starter, row):
    """Fills a row of zeros, (``N_INPUTS``,).

    Args:
        s: the public state (:mod:`crib_env.solver.public_state`); the role is to lay a card.
        ranks, roles: the ``n`` cards laid so far, and who laid them.
        held: (13,) cards of each rank in the own hand.
        role: the own one.
        starter: its rank, or -1.
        row: any type of number; all inputs are 0 or 1.
    """
    n_pile, count, floor = s[N_PILE], s[COUNT], s[FLOOR + 1 - role]
    row[_DEALER] = role
    row[_COUNT + count] = 1
    row[_THEIRS + s[CARDS + 1 - role]] = 1
    row[_OWN + s[CARDS + role]] = 1
    if starter >= 0:
        row[_STARTER + starter] = 1
    for k in range(n):
        at = _LAID + (N_RANKS + 2) * k
        row[at + ranks[k]] = 1
        row[at + N_RANKS] = roles[k] == role
        row[at + N_RANKS + 1] = k >= n - n_pile
    pile, n_hidden = np.empty(10, np.int64), 0
    for k in range(n_pile):
        pile[k] = s[k]
    for k in range(min(_N_LATEST, n_pile)):
        row[_LATEST + N_RANKS * k + s[n_pile - 1 - k]] = 1
    for rank in range(N_RANKS):
        known = gone_of(s[GONE], rank) + held[rank]
        for k in range(4):
            row[_HELD + 4 * rank + k] = held[rank] > k
            row[_SEEN + 4 * rank + k] = known > k
        row[_FLOOR + rank] = rank < floor
        n_hidden += 4 - known if rank >= floor else 0
    for rank in range(N_RANKS):
        now = count + card_value(rank)
        if now > COUNT_LIMIT:
            continue
        pile[n_pile] = rank
        at, points = _MAKES + (1 + len(_POINTS)) * rank, pile_points(pile, 0, n_pile + 1, now)
        row[at] = 1
        for k in range(len(_POINTS)):
            row[at + 1 + k] = points >= _POINTS[k]
        if not held[rank]:
            continue
        row[_FITS + rank] = 1
        begin, before = (n_pile + 1, 0) if now == COUNT_LIMIT else (0, now)
        answers = 0
        for answer in range(floor, N_RANKS):
            after, free = before + card_value(answer), 4 - gone_of(s[GONE], answer) - held[answer]
            if free and after <= COUNT_LIMIT:
                pile[n_pile + 1] = answer
                answers += free * pile_points(pile, begin, n_pile + 2, after)
        for k in range(len(_ANSWERS)):
            row[_ANSWERED + len(_ANSWERS) * rank + k] = answers > _ANSWERS[k] * n_hidden


@kernel
def _fill_inputs(views, start, out):
    s, held = np.empty(N_FIELDS, np.int64), np.empty(N_RANKS, np.int64)
    ranks, roles = np.empty(8, np.int64), np.empty(8, np.int64)
    for b in range(len(out)):
        role = DEALER if views.is_dealer[b] else PONE
        held[:] = 0
        lowest, n = np.int64(N_RANKS), 0
        for card in views.hand[b]:
            if card >= 0:
                held[card % N_RANKS] += 1
                lowest = min(lowest, np.int64(card) % N_RANKS)
        while n < 8 and views.laid[b, n] >= 0:
            ranks[n] = np.int64(views.laid[b, n]) % N_RANKS
            roles[n] = role if views.laid_by[b, n] == 0 else 1 - role
            n += 1
        s[:] = start
        starter = np.int64(-1)
        if views.starter[b] >= 0:
            starter = np.int64(views.starter[b]) % N_RANKS
            s[GONE] += np.int64(1) << (3 * starter)
        follow(s, ranks, roles, 0, n, role, lowest)
        write_inputs(s, ranks, roles, n, held, role, starter, out[b])


def policy_inputs(views: PlayerViews) -> np.ndarray:
    """Inputs at B decisions of the play, (B, ``N_INPUTS``) float32."""
    inputs = np.zeros((len(views), N_INPUTS), np.float32)
    _fill_inputs(views.arrays, _START, inputs)
    return inputs


class PolicyNetwork(nn.Module):
    """Inputs (B, ``N_INPUTS``) to the logits of the ranks, (B, 13); -inf for a rank that cannot be laid.

    Args:
        hidden: widths of the hidden layers.
    """

    def __init__(self, hidden: tuple[int, ...]) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for before, after in itertools.pairwise((N_INPUTS, *hidden)):
            layers += [nn.Linear(before, after), nn.ReLU()]
        self.body = nn.Sequential(*layers)
        self.ranks = nn.Linear(hidden[-1] if hidden else N_INPUTS, N_RANKS)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """See the class."""
        last = self.body(inputs)
        with torch.autocast("cpu", enabled=False):  # logits in full precision, whatever the layers below compute in
            return self.ranks(last.float()).masked_fill(inputs[:, FITS] == 0, -torch.inf)
