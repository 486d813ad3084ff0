"""Deals for training a response: each card it lays, and how its probability of winning changed from there on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crib_env.agents import Agent
from crib_env.agents.belief.prospects import worth_of_pegging
from crib_env.agents.discards import lowest_of_rank
from crib_env.agents.values.agent import Ranks, ValueAgent
from crib_env.agents.values.inputs import N_PLAY_INPUTS
from crib_env.batch import GameBatch
from crib_env.engine import DISCARD, OVER, PEGGING_EPISODE, WIN, pone, show
from crib_env.kernels import kernel
from crib_env.tables.analysis import outlook
from crib_env.train.experience.replay import Columns
from crib_env.train.loop.stopwatch import Stopwatch
from crib_env.train.td.returns import lambda_returns

_PERCENT = 100.0
_POINT = 2.0  # percent of win probability that a point is worth at 0–0


@dataclass(frozen=True)
class Plays(Columns):
    """M cards laid that did not win at once."""

    seen: np.ndarray  # (M, N_PLAY_INPUTS) float32, with the card laid
    target: np.ndarray  # (M,) float32, the λ-return minus the gain from the points of the card, in points of this deal
    weight: np.ndarray  # (M,) float32, at most 1; smaller where a point is worth little


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


def discard(batch: GameBatch, agent: Agent, thinking: Stopwatch) -> None:
    """Makes all discards of new deals, for both players, as the agent makes them.

    The agent's time is added to ``thinking``.
    """
    while len(rows := np.flatnonzero(batch.games["phase"] == DISCARD)):
        views = batch.views(rows)
        with thinking:
            cards = agent.act(views)
        batch.step(rows, cards)


@kernel
def _fill_chances(games, rows, seats, win_table, out):
    shown = games[:1].copy()
    for b in range(len(rows)):
        shown[0] = games[rows[b]]
        g, seat = shown[0], seats[b]
        if g["phase"] != OVER:  # else the show has been counted, or was not needed
            g["n_events"] = 0
            show(g)
        own, other = np.int64(g["scores"][seat]), np.int64(g["scores"][1 - seat])
        if own >= WIN or other >= WIN:
            out[b] = _PERCENT if own >= WIN else 0.0
        elif g["episode"] == PEGGING_EPISODE:
            out[b] = _PERCENT * worth_of_pegging(own, other)
        elif seat == pone(g):  # pone deals next
            out[b] = _PERCENT * win_table[own, other]
        else:
            out[b] = _PERCENT * (1.0 - win_table[other, own])


def chances_to_win(games: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
    """(B,) win probabilities of ``seats`` (B,) in games ``rows`` (B,), percent, if nobody pegs any more in this deal.

    They come from the win table. Hands and crib are counted from the actual cards, so only the play changes these
    probabilities. In the pegging episode they are :func:`crib_env.agents.belief.prospects.worth_of_pegging`.
    """
    out = np.empty(len(rows))
    _fill_chances(games, rows, seats, outlook().win_table, out)
    return out


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


def play(
    batch: GameBatch,
    agent: ValueAgent,
    opponent: Agent | None,
    epsilon: float,
    td_lambda: float,
    rng: np.random.Generator,
    thinking: Stopwatch,
) -> Plays:
    """Plays deals to their end, from the first card on.

    Args:
        batch: deals whose discards are made, without forced decisions.
        agent: lays the rank that it values most, or a random one with probability ``epsilon``.
        opponent: plays seat 1 in games of even number, else seat 0. ``None`` is self-play: the agent plays both seats
            and learns from both.
        td_lambda: λ.
        rng: random generator.
        thinking: the time that the agent and the opponent take is added to it.
    """
    rounds = []
    while len(rows := batch.acting()):
        seats = batch.games["turn"][rows].astype(np.int64)
        if opponent is not None:
            is_own = seats == rows % 2
            theirs = rows[~is_own]
            if len(theirs):
                views = batch.views(theirs)
                with thinking:
                    cards = opponent.act(views)
                batch.step(theirs, cards)
            rows, seats = rows[is_own], seats[is_own]
        if not len(rows):
            continue
        views, now = batch.views(rows), chances_to_win(batch.games, rows, seats)
        with thinking:
            ranks = agent.look_ahead(views)
        chosen, best = epsilon_greedy(ranks, len(rows), epsilon, rng)
        rounds.append(
            (
                rows * 2 + seats,
                now,
                np.minimum(ranks.values[best], _PERCENT - now),  # a card that wins gains no more than the rest to 100
                chosen != best,
                ranks.after.worth[chosen],
                ranks.after.gain[chosen],
                ranks.values[chosen] < np.inf,
                ranks.after.seen[chosen],
            )
        )
        batch.step(rows, lowest_of_rank(views, ranks.after.rank[chosen]))

    if not rounds:
        return Plays(np.zeros((0, N_PLAY_INPUTS), np.float32), *np.zeros((2, 0), np.float32))
    chain, now, ahead, explored, worth, gain, goes_on, seen = (np.concatenate(column) for column in zip(*rounds))
    order = np.argsort(chain, kind="stable")
    chain, now = chain[order], now[order]
    ends = np.append(chain[1:] != chain[:-1], True)
    after = np.where(ends, chances_to_win(batch.games, chain // 2, chain % 2), np.append(now[1:], 0.0))
    returns = lambda_returns(after - now, ends, ahead[order], explored[order], td_lambda)
    kept = goes_on[order]
    worth = worth[order]
    target = ((returns - gain[order]) / worth).astype(np.float32)
    weight = np.minimum(1.0, worth / _POINT) ** 2
    return Plays(seen[order][kept], target[kept], weight[kept])
