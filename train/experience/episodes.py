"""Episodes played for a learner: many games in lockstep, and the decisions taken in them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from crib_env.agents import Agent
from crib_env.batch import SOURCES, GameBatch
from crib_env.engine import DISCARD, PEGGING_EPISODE
from crib_env.exact.discard_means import COMPLETIONS, best_discard_and_total
from crib_env.kernels import kernel

# (observations (B, n), masks (B, 52), whether each is a discard (B,), which player of which game decides (B,), as in
# ``Decisions.chain``) -> cards (B,)
Policy = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Decisions:
    """D decisions of the learner, ordered by game, then seat, then time.

    Standings are the learner's minus the opponent's. ``points`` is the difference of scores. ``settled`` is
    without the luck that no decision controls: points of the play, plus the exact value of the player's six cards
    in the show after the best discard that is still possible (:func:`discards_worth`); from the second discard
    on, after the discard made. The reward between two decisions is the difference of the standings.
    """

    observation: np.ndarray  # (D, n) int8
    mask: np.ndarray  # (D, 52) int8
    card: np.ndarray  # (D,) int64
    chain: np.ndarray  # (D,) int64, which player of which game decides; equal numbers are consecutive
    is_discard: np.ndarray  # (D,) bool
    points: np.ndarray  # (D,) float64, when the decision is taken
    settled: np.ndarray  # (D,) float64
    final_points: np.ndarray  # (D,) float64, at the end of the episode
    final_settled: np.ndarray  # (D,) float64


@dataclass(frozen=True)
class Episodes:
    """The result of a round of play."""

    decisions: Decisions
    net_points: np.ndarray | None  # (N,) of the learner against its opponent; in self-play the difference is luck alone
    simulation_seconds: float  # spent on rules, observations and native opponents, not in networks


@kernel
def _discards_worth(games, rows, seats, out):
    for b in range(len(rows)):
        g, seat = games[rows[b]], seats[b]
        if g["episode"] == PEGGING_EPISODE:
            out[b] = 0.0
            continue
        kept = g["kept"][seat] if g["kept"][seat] else g["hand"][seat]
        discarded = g["discards"][seat]
        crib_sign = 1 if seat == g["dealer"] else -1
        out[b] = best_discard_and_total(kept | discarded, discarded, crib_sign)[1] / COMPLETIONS


def discards_worth(games: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
    """Value of the six cards of ``seats`` in games ``rows`` in the show, (B,) float64.

    Exact means of the hand kept, plus the crib for the dealer and minus it for pone, after the best discard that
    includes the cards discarded so far; the opponent's discards are assumed random, as ``greedy`` does. It is 0 in the
    pegging episode, which has no show.
    """
    out = np.empty(len(rows))
    _discards_worth(games, rows, seats, out)
    return out


def play_episodes(batch: GameBatch, policy: Policy, opponent: Agent | None, observation: str) -> Episodes:
    """Plays every game of a new batch to its end.

    Args:
        batch: the games.
        policy: the learner's choices, exploration included.
        opponent: plays the other seat; ``None`` is self-play, where the learner's policy plays both. Otherwise the
            learner sits in seat 0 of even games and in seat 1 of odd ones.
        observation: ``"209"`` or ``"board"``.
    """
    started, in_policy = time.perf_counter(), 0.0
    rounds: list[tuple[np.ndarray, ...]] = []
    while len(rows := batch.acting()):
        seats = batch.games["turn"][rows]
        if opponent is not None:
            is_learner = seats == rows % 2
            theirs = rows[~is_learner]
            if len(theirs):
                batch.step(theirs, opponent.act(batch.views(theirs)))
            rows, seats = rows[is_learner], seats[is_learner]
        if not len(rows):
            continue
        seen, masks = batch.observe(rows, observation)
        is_discard = batch.games["phase"][rows] == DISCARD
        chain = rows * 2 + seats
        before = time.perf_counter()
        cards = policy(seen, masks, is_discard, chain)
        in_policy += time.perf_counter() - before
        rounds.append((seen, masks, cards, chain, is_discard, *_standings(batch, rows, seats)))
        batch.step(rows, cards)

    seen, masks, cards, chain, is_discard, points, settled = (np.concatenate(column) for column in zip(*rounds))
    order = np.argsort(chain, kind="stable")
    chain = chain[order]
    final_points, final_settled = _standings(batch, chain // 2, chain % 2)
    decisions = Decisions(
        seen[order],
        masks[order],
        cards[order],
        chain,
        is_discard[order],
        points[order],
        settled[order],
        final_points,
        final_settled,
    )
    everyone = np.arange(len(batch))
    net_points = _standings(batch, everyone, everyone % 2)[0] if opponent is not None else None
    return Episodes(decisions, net_points, time.perf_counter() - started - in_policy)


def _standings(batch: GameBatch, rows: np.ndarray, seats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``points`` and ``settled`` of ``seats`` in games ``rows``, see :class:`Decisions`."""
    made = (batch.games["scores"][rows] - batch.games["start_scores"][rows]).astype(np.float64)
    pegged = batch.tally[rows, :, :, SOURCES.index("play")].sum(axis=2)
    each = np.arange(len(rows))
    pegging = pegged[each, seats] - pegged[each, 1 - seats]
    return made[each, seats] - made[each, 1 - seats], pegging + discards_worth(batch.games, rows, seats)
