"""Deals for training ``best``: it plays both sides, and ``expert`` values every legal rank."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from crib_env.agents.best.agent import BestAgent, Ranks, is_searched
from crib_env.agents.best.inputs import N_PLAY_INPUTS
from crib_env.agents.discards import lowest_of_rank, six_dealt
from crib_env.agents.expert.agent import ExpertAgent
from crib_env.batch import GameBatch
from crib_env.engine import DISCARD, PEGGING_EPISODE, WIN
from crib_env.exact.discard_statistics import N_DISCARDS, PLACES
from train.loop.stopwatch import Stopwatch

_PERCENT = 100.0


class PlayAnswers(NamedTuple):
    """The M legal ranks of D decisions with at least two of them, and the expert's values."""

    decision: np.ndarray  # (M,) int64, the number of the decision, from 0 to D - 1, ascending
    seen: np.ndarray  # (M, N_PLAY_INPUTS) float32, with the card laid
    gain: np.ndarray  # (M,) float32, what the points of the card add to the probability of winning, percent
    worth: np.ndarray  # (M,) float32, what a point in this deal adds to it, percent
    chances: np.ndarray  # (M,) float32, the probability of winning the game, percent

    @property
    def n_decisions(self) -> int:
        """D."""
        return int(self.decision[-1]) + 1 if len(self.decision) else 0

    def batches(self, size: int, rng: np.random.Generator) -> Iterator[PlayAnswers]:
        """Batches of about ``size`` decisions, in random order."""
        n_batches = max(1, round(self.n_decisions / size))
        which = rng.permutation(self.n_decisions) % n_batches
        for k in range(n_batches):
            yield self.of(np.flatnonzero(which[self.decision] == k))

    def of(self, rows: np.ndarray) -> PlayAnswers:
        """These rows (m,), with decisions renumbered."""
        decision = self.decision[rows]
        numbers = np.cumsum(np.append(0, decision[1:] != decision[:-1])) if len(rows) else decision
        return PlayAnswers(numbers, *(column[rows] for column in self[1:]))

    @classmethod
    def joined(cls, parts: list[PlayAnswers]) -> PlayAnswers:
        """All parts joined."""
        first = np.cumsum([0] + [part.n_decisions for part in parts])
        shifted = [part._replace(decision=part.decision + n) for part, n in zip(parts, first)]
        return cls(*(np.concatenate(columns) for columns in zip(cls.none(), *shifted)))

    @classmethod
    def none(cls) -> PlayAnswers:
        """No answers."""
        seen = np.zeros((0, N_PLAY_INPUTS), np.float32)
        return cls(np.zeros(0, np.int64), seen, *(np.zeros(0, np.float32) for _ in range(3)))


def new_deals(seeds: np.ndarray, first_id: int, start_spread: int, episode: str) -> list[GameBatch]:
    """Episodes without forced decisions, one for each of ``seeds`` (n,): half at random scores, half at 0–0.

    Far from the end, good play does not depend on the scores, and its results are least noisy there. Scores are at most
    ``start_spread`` apart; ``first_id`` is the game id of the first; ``episode`` is ``"deal"`` or ``"pegging"``.
    """
    half = len(seeds) // 2
    parts = (0, seeds[:half], start_spread), (half, seeds[half:], None)
    return [
        GameBatch(its_seeds, episode=episode, start_spread=spread, skip_forced=True, first_id=first_id + first)
        for first, its_seeds, spread in parts
    ]


def with_some_near_the_end(batch: GameBatch, share: float, rng: np.random.Generator) -> None:
    """Gives a share of new deals scores near the end of a game: the leader has 92 to 120 points, the other 0 to 60
    fewer. The pegging episode has no scores."""
    if batch.games["episode"][0] == PEGGING_EPISODE:
        return
    n = len(batch)
    ahead = rng.integers(WIN - 29, WIN, size=n)
    scores = np.stack([ahead, ahead - rng.integers(0, 61, size=n)], axis=1)
    swapped, chosen = rng.random(n) < 0.5, rng.random(n) < share
    scores[swapped] = scores[swapped, ::-1]
    batch.games["scores"][chosen] = scores[chosen]


def discard(batch: GameBatch, agent: BestAgent, epsilon: float, rng: np.random.Generator, thinking: Stopwatch) -> None:
    """Makes all discards of new deals, for both players: the agent's best pair, or a random one with probability
    ``epsilon``.

    The agent's time is added to ``thinking``.
    """
    while len(rows := np.flatnonzero(batch.games["phase"] == DISCARD)):
        views = batch.views(rows)
        with thinking:
            pairs = agent.discard_values(views).argmax(axis=1)
        random_rows = np.flatnonzero(rng.random(len(rows)) < epsilon)
        pairs[random_rows] = rng.integers(N_DISCARDS, size=len(random_rows))
        for card in six_dealt(views)[np.arange(len(rows))[:, None], PLACES[pairs]].T:
            batch.step(rows, card)


def epsilon_greedy(ranks: Ranks, n: int, epsilon: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Chooses in each of ``n`` decisions the best of ``ranks``, or a random one with probability ``epsilon``.

    Returns:
        The indices in ``ranks`` of the chosen ones, (n,), and of the best ones, (n,).
    """
    first = np.searchsorted(ranks.after.decision, np.arange(n + 1))  # the ranks of a decision are consecutive
    highest = np.maximum.reduceat(ranks.values, first[:-1])
    is_best = np.flatnonzero(ranks.values == highest[ranks.after.decision])
    best = is_best[np.searchsorted(is_best, first[:-1])]
    any_one = first[:-1] + rng.integers(np.diff(first))
    return np.where(rng.random(n) < epsilon, any_one, best), best


def play_and_ask(
    batch: GameBatch,
    agent: BestAgent,
    expert: ExpertAgent,
    epsilon: float,
    rng: np.random.Generator,
    thinking: Stopwatch,
) -> PlayAnswers:
    """Plays deals from the first card on, and asks the expert about every decision, as far as the agent's values count:
    to the end, or to the first decision that it searches.

    Args:
        batch: deals after the discards, without forced decisions.
        agent: lays the best rank, or a random one with probability ``epsilon``.
        expert: values every decision over sampled hands.
        epsilon: probability of a random rank.
        rng: random generator for all samples.
        thinking: the time of agent and expert is added to it.
    """
    parts: list[PlayAnswers] = []
    while True:
        rows = batch.acting()
        rows = rows[~is_searched(batch.views(rows))]
        if not len(rows):
            return PlayAnswers.joined(parts)
        views = batch.views(rows)
        with thinking:
            ranks = agent.look_ahead(views)
            chances = _PERCENT * expert.rank_values(views, rng)
        after = ranks.after
        answers = PlayAnswers(
            after.decision,
            after.seen,
            after.gain,
            after.worth,
            chances[after.decision, after.rank].astype(np.float32),
        )
        # Where a card wins at once, the other cards have no value, and there is nothing to learn.
        is_valued = answers.chances >= 0
        is_choice = np.bincount(after.decision[is_valued], minlength=len(rows)) > 1
        parts.append(answers.of(np.flatnonzero(is_valued & is_choice[after.decision])))
        chosen, _ = epsilon_greedy(ranks, len(rows), epsilon, rng)
        batch.step(rows, lowest_of_rank(views, after.rank[chosen]))
