"""The policy network of the play: how likely each rank is laid, as in a solution of the play (:mod:`crib_env.solver`).

A solution knows who laid which ranks, who said go, the ranks in the own hand, and the starter. So these are the inputs,
coded in a form that is easy to learn from, and what follows from them: what each card would make now, and the mean that
the opponent's next card could then make. Scores and own discards are not among them, because the solution is one in
points and does not depend on them.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from crib_env import PlayerViews
from crib_env.agents.networks.feed_forward import hidden_layers
from crib_env.engine import DEALER, PONE
from crib_env.hands import N_RANKS
from crib_env.kernels import kernel
from crib_env.ranks import answer_points, write_pile, write_steps
from crib_env.scoring import COUNT_LIMIT, card_value, fill_next_points
from crib_env.solver.public_state import ACTOR, CARDS, COUNT, FLOOR, GONE, N_FIELDS, N_PILE, gone_of, start_of_play
from crib_env.solver.subgame import follow

_POINTS = np.array([2, 3, 4, 6, 8], np.int64)  # steps of the points that a card would make now
_ANSWERS = np.array([0.15, 0.3, 0.5, 0.8, 1.2])  # steps of the mean that the opponent's next card would make

# Where each kind of input begins; the last is how many there are.
(_DEALER, _HELD, _SEEN, _LAID, _LATEST, _COUNT, _THEIRS, _OWN, _FLOOR, _MAKES, _ANSWERED, _FITS, _STARTER, N_INPUTS) = (
    np.cumsum(
        [
            *(0, 1, 4 * N_RANKS, 4 * N_RANKS, 8 * (N_RANKS + 2), 3 * N_RANKS, COUNT_LIMIT, 5, 5, N_RANKS),
            *((1 + len(_POINTS)) * N_RANKS, len(_ANSWERS) * N_RANKS, N_RANKS, N_RANKS),
        ]
    ).tolist()
)
FITS = slice(_FITS, _STARTER)
"""The inputs that say which ranks can be laid."""
_START = start_of_play()


@kernel
def write_inputs(s, ranks, roles, n, held, starter, inputs, row):
    """Fills a row of inputs (…, ``N_INPUTS``), which are 0.

    Args:
        s: the public state (:mod:`crib_env.solver.public_state`), whose actor is to lay a card.
        ranks, roles: the ``n`` cards laid so far, and who laid them.
        held: (13,) cards of each rank in the own hand.
        starter: its rank, or -1.
        inputs, row: of any type of number; all inputs are 0 or 1.
    """
    role = s[ACTOR]
    n_pile, count, floor = s[N_PILE], s[COUNT], s[FLOOR + 1 - role]
    inputs[row, _DEALER] = role
    inputs[row, _THEIRS + s[CARDS + 1 - role]] = 1
    inputs[row, _OWN + s[CARDS + role]] = 1
    if starter >= 0:
        inputs[row, _STARTER + starter] = 1
    for k in range(n):
        at = _LAID + (N_RANKS + 2) * k
        inputs[row, at + ranks[k]] = 1
        inputs[row, at + N_RANKS] = roles[k] == role
        inputs[row, at + N_RANKS + 1] = k >= n - n_pile
    pile, unseen, n_unseen = np.empty(10, np.int64), np.zeros(N_RANKS, np.int64), 0
    for k in range(n_pile):
        pile[k] = s[k]
    write_pile(pile, np.int64(0), n_pile, count, inputs, row, _COUNT, _LATEST)
    for rank in range(N_RANKS):
        known = gone_of(s[GONE], rank) + held[rank]
        for k in range(4):
            inputs[row, _HELD + 4 * rank + k] = held[rank] > k
            inputs[row, _SEEN + 4 * rank + k] = known > k
        inputs[row, _FLOOR + rank] = rank < floor
        if rank >= floor:
            unseen[rank] = 4 - known
            n_unseen += 4 - known
    earned, answered = np.empty(N_RANKS, np.int64), np.empty(N_RANKS, np.int64)
    fill_next_points(pile, np.int64(0), n_pile, count, earned)
    for rank in range(N_RANKS):
        points = earned[rank]
        if points < 0:
            continue
        at = _MAKES + (1 + len(_POINTS)) * rank
        inputs[row, at] = 1
        write_steps(points, _POINTS, inputs, row, at + 1)
        if held[rank]:
            inputs[row, _FITS + rank] = 1
            pile[n_pile] = rank
            answers = answer_points(pile, np.int64(0), n_pile + 1, count + card_value(rank), unseen, answered)
            for k in range(len(_ANSWERS)):
                inputs[row, _ANSWERED + len(_ANSWERS) * rank + k] = answers > _ANSWERS[k] * n_unseen


@kernel
def _fill_inputs(views, start, out):
    s, held = np.empty(N_FIELDS, np.int64), np.empty(N_RANKS, np.int64)
    ranks, roles = np.empty(8, np.int64), np.empty(8, np.int64)
    for b in range(len(out)):
        role = DEALER if views.is_dealer[b] else PONE
        held[:] = 0
        lowest, n = np.int64(N_RANKS), np.int64(views.n_laid[b])
        for card in views.hand[b]:
            if card >= 0:
                held[card % N_RANKS] += 1
                lowest = min(lowest, np.int64(card) % N_RANKS)
        for k in range(n):
            ranks[k] = np.int64(views.laid[b, k]) % N_RANKS
            roles[k] = role if views.laid_by[b, k] == 0 else 1 - role
        s[:] = start
        starter = np.int64(-1)
        if views.starter[b] >= 0:
            starter = np.int64(views.starter[b]) % N_RANKS
            s[GONE] += np.int64(1) << (3 * starter)
        follow(s, ranks, roles, np.int64(0), n, role, lowest)
        write_inputs(s, ranks, roles, n, held, starter, out, b)


def policy_inputs(views: PlayerViews) -> np.ndarray:
    """Inputs at B decisions of the play, (B, ``N_INPUTS``) float32."""
    inputs = np.zeros((len(views), N_INPUTS), np.float32)
    _fill_inputs(views.arrays, _START, inputs)
    return inputs


class PolicyNetwork(nn.Module):
    """Inputs (B, ``N_INPUTS``) to the logits of the ranks, (B, 13); -inf for a rank that cannot be laid."""

    def __init__(self, hidden: tuple[int, ...]) -> None:
        super().__init__()
        self.body, width = hidden_layers(N_INPUTS, hidden)
        self.ranks = nn.Linear(width, N_RANKS)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """See the class."""
        last = self.body(inputs)
        with torch.autocast("cpu", enabled=False):  # logits in full precision, whatever the layers below compute in
            return self.ranks(last.float()).masked_fill(inputs[:, FITS] == 0, -torch.inf)
