"""Deals for ``response``: a policy draws its cards in the play, and each decision is paid by the chance to win.

What a decision is paid is the change, up to the player's next one, of the chance to win if nothing more were pegged.
The shows to come are counted in full, though no player knows them: so their luck cancels, and the points pegged
remain, at what they are worth at this score. The unit is what a point is worth before the deal: a point may be the game
or hardly matter, and without it what is learned would be endings.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from agents import Agent
from agents.best import BestAgent
from agents.best_inputs import play_inputs
from agents.discards import is_discard, lowest_of_rank
from crib_env import PlayerViews
from crib_env.batch import GameBatch
from crib_env.engine import OVER, WIN, starter
from crib_env.exact.analysis import outlook
from crib_env.kernels import kernel
from crib_env.scoring import show_points
from train.replay import Columns

_LEAST_WORTH = 0.01  # of a point: else what hardly matters any more would outweigh all that does
N_HIDDEN = 4 * 13 + 2  # of what only the critic sees


@dataclass(frozen=True)
class Choices(Columns):
    """D decisions of the play, ordered by player and then by time."""

    seen: np.ndarray  # (D, N_PLAY_INPUTS) int8
    hidden: np.ndarray  # (D, N_HIDDEN) float32, what only a critic may know
    legal: np.ndarray  # (D, 13) bool
    rank: np.ndarray  # (D,) int64, laid
    log_chance: np.ndarray  # (D,) float32, of laying it
    chain: np.ndarray  # (D,) int64, 2 × game + seat
    standing: np.ndarray  # (D,) float64, chance to win if nothing more were pegged, in points' worth
    final: np.ndarray  # (D,) float64, the same when the deal is over


@kernel
def _dealers_chance(score, pones_score, hand, pones_hand, crib, board):
    """The chance of a dealer whose deal now comes to the show, pone's hand first."""
    if pones_score + pones_hand >= WIN:
        return 0.0
    if score + hand + crib >= WIN:
        return 1.0
    return 1.0 - board[pones_score + pones_hand, score + hand + crib]  # the deal passes


@kernel
def fill_standings(games, rows, seats, board, held, chances):
    """How games stand, in the play or when their deal is over, with all cards face up.

    Args:
        games, rows, seats: (N,) records, and B pairs of a row and the seat that it is seen from.
        board: (121, 121) the dealer's chance to win, by dealer's and pone's score.
        held: (B, 13) int64, filled with the opponent's cards by rank.
        chances: (B, 3) float64, filled with the seat's chance to win if nothing more were pegged; if only it made one
            point more; if only its opponent did.
    """
    for b in range(len(rows)):
        g, seat = games[rows[b]], np.int64(seats[b])
        dealer, cut = np.int64(g["dealer"]), starter(g)
        held[b] = 0
        for card in range(52):
            held[b, card % 13] += (g["hand"][1 - seat] >> card) & 1
        hand, pones_hand, crib = 0, 0, 0  # once the deal is over they are in the scores
        if g["phase"] != OVER:
            hand = show_points(g["kept"][dealer], cut, False)
            pones_hand = show_points(g["kept"][1 - dealer], cut, False)
            crib = show_points(g["discards"][0] | g["discards"][1], cut, True)
        for k in range(3):
            own, other = np.int64(g["scores"][seat]), np.int64(g["scores"][1 - seat])
            own, other = own + (k == 1), other + (k == 2)
            if own >= WIN or other >= WIN:
                chances[b, k] = 1.0 if own >= WIN else 0.0
            elif seat == dealer:
                chances[b, k] = _dealers_chance(own, other, hand, pones_hand, crib, board)
            else:
                chances[b, k] = 1.0 - _dealers_chance(other, own, hand, pones_hand, crib, board)


def point_worth(games: np.ndarray) -> np.ndarray:
    """(N,) what a point more, or one less for the opponent, adds to a player's chance to win, before the deal."""
    board, rows = outlook().board, np.arange(len(games))
    scores, dealer = games["start_scores"], games["dealer"]
    own, other = scores[rows, dealer], scores[rows, 1 - dealer]
    worth = (board[np.minimum(own + 1, WIN - 1), other] - board[own, np.minimum(other + 1, WIN - 1)]) / 2
    return np.maximum(worth, _LEAST_WORTH)


def standings(games: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """:func:`fill_standings` by the standard board: cards (B, 13), chances (B, 3) in points' worth."""
    held, chances = np.empty((len(rows), 13), np.int64), np.empty((len(rows), 3))
    fill_standings(games, rows, seats, outlook().board, held, chances)
    return held, chances / point_worth(games[rows])[:, None]


def legal_log_chances(values: torch.Tensor, legal: torch.Tensor, temperature: float) -> torch.Tensor:
    """Logarithms (B, 13) of the chances that a policy lays each rank: softmax of values over the legal ones."""
    return torch.log_softmax((values / temperature).masked_fill(~legal, -torch.inf), dim=1)


def play_deals(
    batch: GameBatch, agent: BestAgent, opponent: Agent | None, temperature: float, rng: np.random.Generator
) -> Choices:
    """Plays every deal of a new batch to its end; the agent's decisions in the play.

    Args:
        batch: of deals, without forced decisions.
        agent: throws what it thinks best, and draws its cards in the play by the softmax of its values.
        opponent: has seat 1 in games of even number and seat 0 in the others; ``None`` is the agent itself, of whom
            both seats' decisions are then kept.
        temperature: of the softmax.
        rng: draws.
    """
    games, parts = batch.games, []
    while len(rows := batch.acting()):
        views, seats = batch.views(rows), games["turn"][rows].astype(np.int64)
        is_own = np.full(len(rows), opponent is None) | (seats == rows % 2)
        drawn = is_own & ~is_discard(views)
        cards = np.empty(len(rows), np.int64)
        for player, whose in ((agent, is_own & ~drawn), (opponent, ~is_own)):
            if player is not None and whose.any():
                cards[whose] = player.act(views[whose])
        if drawn.any():
            choices = _draw(agent, views[drawn], temperature, rng, games, rows[drawn], seats[drawn])
            cards[drawn] = lowest_of_rank(views[drawn], choices.rank)
            parts.append(choices)
        batch.step(rows, cards)
    choices = Choices(*(np.concatenate(columns) for columns in zip(*(vars(part).values() for part in parts))))
    choices = choices[np.argsort(choices.chain, kind="stable")]
    choices.final[:] = standings(games, choices.chain // 2, choices.chain % 2)[1][:, 0]
    return choices


def _draw(
    agent: BestAgent,
    views: PlayerViews,
    temperature: float,
    rng: np.random.Generator,
    games: np.ndarray,
    rows: np.ndarray,
    seats: np.ndarray,
) -> Choices:
    """Decisions of the play, made; their ``final`` is not known yet."""
    seen, legal = play_inputs(views), np.any(views.action_mask.reshape(-1, 4, 13), axis=1)
    with torch.inference_mode():
        values = agent.play(torch.from_numpy(seen).float())
        logs = legal_log_chances(values, torch.from_numpy(legal), temperature).numpy()
    rank = (logs + rng.gumbel(size=logs.shape)).argmax(axis=1)
    held, chances = standings(games, rows, seats)
    steps = (held[:, :, None] > np.arange(4)).reshape(len(held), -1)
    worth = chances[:, 1:] - chances[:, :1]
    return Choices(
        seen=seen,
        hidden=np.concatenate([steps, worth], axis=1).astype(np.float32),
        legal=legal,
        rank=rank,
        log_chance=logs[np.arange(len(rank)), rank],
        chain=2 * rows + seats,
        standing=chances[:, 0],
        final=np.zeros(len(rank)),
    )


@kernel
def _fill_advantages(chain, standing, final, values, trace, out):
    for k in range(len(chain) - 1, -1, -1):
        if k + 1 < len(chain) and chain[k + 1] == chain[k]:
            out[k] = standing[k + 1] - standing[k] + values[k + 1] - values[k] + trace * out[k + 1]
        else:
            out[k] = final[k] - standing[k] - values[k]


def advantages(choices: Choices, values: np.ndarray, trace: float) -> np.ndarray:
    """What each decision earned beyond what was to be expected (GAE, Schulman et al. 2016, without discount).

    Args:
        choices: D decisions.
        values: (D,) float64, what a critic expects of what is still to be earned.
        trace: λ.

    Returns:
        (D,) in points' worth.
    """
    out = np.empty(len(choices))
    _fill_advantages(choices.chain, choices.standing, choices.final, values, trace, out)
    return out
