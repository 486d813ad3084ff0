"""``best``: this project's strongest player that takes microseconds; and ``erring``, who misjudges its values.

``best`` is the networks of ``agents/data/best.safetensors``, ``best:PATH`` are others. ``best:scores=no`` plays every
deal like the first of a game, to measure the value of playing to the score. :mod:`crib_env.train.best`
describes their training.

It discards by the exact analysis, as ``expert`` does. In the play it has two policy networks, which have learned
solutions of the play in points (:mod:`crib_env.solver`). In the pegging episode it draws its cards from the one, so
that hardly anybody can exploit it; in deals it lays the rank that the other makes most likely. Near the end of a game
points do not stand for the chance to win. There, from the second card of the play on, it searches as ``expert`` does,
over fewer hands.

A solution knows who laid which ranks, who said go, the ranks in the own hand, and the starter. So these are the inputs
of a policy network, coded in a form that is easy to learn from, and what follows from them: what each card would make
now, and the mean that the opponent's next card could then make. Scores and own discards are not among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
from torch import nn

from crib_env import PlayerViews
from crib_env.agents.choosing import (
    by_phase,
    card_chances,
    chances_of_pairs,
    draw,
    draw_rank,
    near_end,
    pairs_open,
    read_play,
    same_cards,
    six_dealt,
    uniforms,
    without_rare,
)
from crib_env.agents.expert import ExpertAgent
from crib_env.agents.networks.feed_forward import hidden_layers, in_few_sizes
from crib_env.agents.networks.weights_file import reading_weights, save_tensors
from crib_env.exact.discard_statistics import PLACES
from crib_env.hands import N_RANKS
from crib_env.kernels import kernel, streams
from crib_env.observation import N_ACTIONS
from crib_env.players.agent import Powers
from crib_env.ranks import answer_points, write_pile, write_steps
from crib_env.scoring import COUNT_LIMIT, card_value, fill_next_points
from crib_env.solver.public_state import ACTOR, CARDS, COUNT, FLOOR, GONE, N_FIELDS, N_PILE, gone_of, start_of_play
from crib_env.solver.subgame import follow
from crib_env.tables.outlook import discard_points
from crib_env.values import Range

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
        role, lowest_held = read_play(views, b, ranks, roles)
        n, starter = np.int64(views.n_laid[b]), np.int64(-1)
        held[:] = 0
        for card in views.hand[b]:
            if card >= 0:
                held[card % N_RANKS] += 1
        s[:] = start
        if views.starter[b] >= 0:
            starter = np.int64(views.starter[b]) % N_RANKS
            s[GONE] += np.int64(1) << (3 * starter)
        follow(s, ranks, roles, np.int64(0), n, role, lowest_held)
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


SHIPPED = Path(__file__).parent / "data" / "best.safetensors"

GAMES = ("deals", "pegging")
"""The games that a policy is for: deals with a crib, and the pegging episode."""

_HANDS = 40  # that a search covers at most; with the 100 of `expert` it wins no more


class BestAgent:
    """Discards by the exact analysis, lays cards by its policies, and searches near the end of a game.

    Without a policy for a game it searches every card there.

    Args:
        hidden: widths of the hidden layers of the policy networks, by game (``GAMES``).
        scores: whether it plays to the score; otherwise as at the start of a game.
        win_table: the file of another win table than the one that ships with the package.

    Attributes:
        policies: the policy networks, by game.
        name: shown in tables.
    """

    def __init__(
        self, hidden: Mapping[str, tuple[int, ...]], scores: bool = True, win_table: Path | None = None
    ) -> None:
        self.policies = {game: PolicyNetwork(widths) for game, widths in hidden.items()}
        self.hidden, self.name, self._sees_scores = dict(hidden), "best", scores
        self._seed, self._expert = streams(0, 1)[0], ExpertAgent(_HANDS, 1, win_table)
        # the search near the end of a game depends on own discards, the policies do not
        searches = scores or "deals" not in self.policies
        self.powers = Powers(mixes="known", suits="unseen", remembers_discards=searches)

    @classmethod
    def load(cls, path: str | Path = SHIPPED, scores: bool = True, win_table: Path | None = None) -> BestAgent:
        """The agent whose weights a file holds.

        Raises:
            ValueError: a file is missing, damaged or holds something else; the message names it.
        """
        with reading_weights(path, "best") as file:
            hidden = {game: tuple(widths) for game, widths in dict(file.about["hidden"]).items() if game in GAMES}
            agent = cls(hidden, scores, win_table)
            file.fill(agent.networks())
        return agent

    def save(self, path: Path) -> None:
        """Writes the weights, whole or not at all, as 16-bit numbers: this rounding changes hardly any decision."""
        about = {"learner": "best", "hidden": self.hidden}
        save_tensors(path, {key: tensor.half() for key, tensor in self.state_dict().items()}, about)

    def networks(self) -> nn.ModuleDict:
        """The policy networks."""
        return nn.ModuleDict({"policies": nn.ModuleDict(self.policies)})

    def state_dict(self) -> dict[str, torch.Tensor]:
        """All weights under the names ``policies.game.layer``."""
        return self.networks().state_dict()

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        return by_phase(self._seen(views), self._expert.discards, self._lay)

    def probabilities(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.MixedAgent`: it draws in the pegging episode, and nowhere else."""
        discards = self._expert.discards
        return card_chances(self._seen(views), lambda some: np.eye(N_ACTIONS)[discards(some)], self.rank_chances)

    def _seen(self, views: PlayerViews) -> PlayerViews:
        return views if self._sees_scores else replace(views, scores=np.zeros_like(views.scores))

    def rank_logits(self, views: PlayerViews) -> np.ndarray:
        """The logits of the networks for each rank, (B, 13) float64, at B decisions of the play; -inf for one that
        cannot be laid."""
        logits, is_pegging = np.empty((len(views), N_RANKS)), views.starter < 0
        for game, is_part in zip(GAMES, (~is_pegging, is_pegging)):
            if is_part.any():
                logits[is_part] = self._logits(game, views[is_part])
        return logits

    def rank_chances(self, views: PlayerViews) -> np.ndarray:
        """How likely each rank is laid, (B, 13), at B decisions of the play."""
        chances = np.zeros((len(views), N_RANKS))
        is_pegging, is_left = views.starter < 0, np.ones(len(views), np.bool_)
        is_searched = near_end(views) & (views.n_laid > 0)
        for game, is_part in (("pegging", is_pegging), ("deals", ~is_pegging & ~is_searched)):
            rows = np.flatnonzero(is_part)
            if game in self.policies and len(rows):
                logits = self._logits(game, views[rows])
                if game == "pegging":
                    found = without_rare(np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True)))
                else:
                    found = np.eye(N_RANKS)[logits.argmax(axis=1)]
                chances[rows], is_left[rows] = found, False
        rows = np.flatnonzero(is_left)
        if len(rows):
            chances[rows, self._expert.best_ranks(views[rows])] = 1.0
        return chances

    @torch.inference_mode()
    def _logits(self, game: str, views: PlayerViews) -> np.ndarray:
        same = same_cards(views)
        inputs = torch.from_numpy(policy_inputs(views[same.first]))
        return same.spread(in_few_sizes(self.policies[game], inputs).numpy())

    def _lay(self, views: PlayerViews) -> np.ndarray:
        return draw_rank(views, self.rank_chances(views), self._seed)


_PER_POINT = 1.5  # logits of the network that are worth about a point


class ErringAgent:
    """``erring``: the values of ``best:scores=no``, misjudged as people do; near the end of a game as at its start.

    It values discards by their exact points, and cards of the play by the network of ``best`` for deals. It chooses by
    a logit choice (McFadden, Conditional Logit Analysis of Qualitative Choice Behavior, 1974): the better of two
    choices is the likelier, the more so the more points lie between them. Small errors are frequent, large ones rare.

    Args:
        errs: points by which it misjudges: of two choices that lie ``errs`` apart it takes the better one with
            probability e / (1 + e) = 0.73. With 0 it takes the best.
        seed: of its random stream; a choice depends only on it, the game's id and the decision's number.
    """

    name = "erring"
    powers = Powers(mixes="known", suits="unseen", remembers_discards=False)

    def __init__(self, errs: Annotated[float, Range(0)] = 1.0, seed: int = 0) -> None:
        self._errs, self._seed, self._best = errs, streams(seed, 1)[0], BestAgent.load(scores=False)

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        return draw(self.probabilities(views), uniforms(self._seed, views))

    def probabilities(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.MixedAgent`."""
        return card_chances(views, self._discards, lambda play: self._choice(self._best.rank_logits(play) / _PER_POINT))

    def _discards(self, views: PlayerViews) -> np.ndarray:
        """How likely each card is discarded next: either card of a pair first, then the pairs that hold it are left."""
        six = six_dealt(views)
        values = np.where(pairs_open(views, six), discard_points(six, views.is_dealer), -np.inf)
        return chances_of_pairs(views, six[:, PLACES], self._choice(values))

    def _choice(self, values: np.ndarray) -> np.ndarray:
        """How likely each of the choices is, (B, n), from their values in points; -inf for what cannot be chosen."""
        below = values - values.max(axis=1, keepdims=True)
        if not self._errs:
            return np.eye(values.shape[1])[below.argmax(axis=1)]
        weights = np.exp(below / self._errs)
        return weights / weights.sum(axis=1, keepdims=True)
