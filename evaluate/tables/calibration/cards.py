"""Cards of the play: the chance to win that judges state, against the same deal played out after each rank."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.agents.choosing import lowest_of_rank
from crib_env.batch import GameBatch
from crib_env.engine import DEAL_EPISODE
from crib_env.evaluate.skill.positions import begin_all
from crib_env.evaluate.tables.calibration.scores import chances_after, draw_late_scores
from crib_env.kernels import streams
from crib_env.players.agent import Agent
from crib_env.players.turns import play_out
from crib_env.views import PlayerViews

_LAST_CHOICE = 7  # cards laid before the last card of a deal, which is no choice


def ranks_that_fit(views: PlayerViews) -> np.ndarray:
    """(B, 13) bool: the ranks that may be laid."""
    return np.asarray(views.action_mask.reshape(-1, 4, 13).any(axis=1))


def draw_choices(agent: Agent, rng: np.random.Generator, deals: int, lowest: int, highest: int) -> GameBatch:
    """Choices between ranks in the play, at most one in each deal: games whose player to act has one.

    The higher of the two scores before a deal is ``lowest`` to ``highest``. An agent plays both seats until a number of
    cards is laid, which is drawn; a deal in which the next card is no choice is left out.

    Args:
        agent: both players.
        deals: how many to begin.
    """
    cards = np.stack([rng.permutation(52)[:13] for _ in range(deals)])
    batch = GameBatch(streams(int(rng.integers(2**32)), deals), episode="deal")
    dealers, scores = rng.integers(2, size=deals), draw_late_scores(rng, deals, lowest, highest)
    begin_all(batch.games, cards, dealers, scores, DEAL_EPISODE)
    after, chosen = rng.integers(_LAST_CHOICE, size=deals), np.zeros(deals, bool)
    rows = batch.acting()
    while len(rows):
        views = batch.views(rows)
        there = ~views.is_discard & (np.count_nonzero(views.laid >= 0, axis=1) >= after[rows])
        chosen[rows[there]] = np.count_nonzero(ranks_that_fit(views[there]), axis=1) > 1
        batch.step(rows[~there], agent.act(views[~there]))
        rows = np.intersect1d(rows[~there], batch.acting(), assume_unique=True)
    return _of_games(batch.games[chosen])


def _of_games(games: np.ndarray) -> GameBatch:
    batch = GameBatch(streams(0, len(games)), episode="deal")
    batch.games[:] = games
    return batch


def play_out_ranks(agent: Agent, choices: GameBatch, win_table: np.ndarray) -> np.ndarray:
    """What each rank comes to, (B, 13), at B choices: 1 for a win in the deal, or the chance after it.

    It is NaN for ranks that do not fit.

    All ranks of a choice meet the same cards, those of its deal.

    Args:
        agent: plays everything that follows, in both seats.
        choices: all to act.
        win_table: (121, 121) the dealer's chance to win after the deal.
    """
    views = choices.views(np.arange(len(choices)))
    row, rank = ranks_that_fit(views).nonzero()
    batch = _of_games(choices.games[row])
    seats = batch.games["turn"].astype(np.int64)
    batch.step(np.arange(len(row)), lowest_of_rank(views[row], rank))
    play_out(batch, [agent])
    found = np.full((len(choices), 13), np.nan)
    found[row, rank] = chances_after(batch.games, seats, win_table)
    return found


class JudgedCards(NamedTuple):
    """How the chances that a judge states agree with those played, as sums over choices.

    Stated and played are centred: what a rank comes to above the mean of the ranks of its choice.
    """

    products: float
    """Of stated and played, over all ranks."""
    squares: float
    """Of stated."""
    errors: float
    """Squares of stated less played."""
    levels: float
    """Stated less played, the means of the ranks of a choice before they are centred."""
    best: float
    """Played, of the rank that the judge states to be best."""


def compare(stated: np.ndarray, played: np.ndarray) -> JudgedCards:
    """A judge's chances (B, 13) against those played (B, 13), which are NaN for ranks that do not fit."""
    fits = ~np.isnan(played)
    best = np.where(fits, stated, -np.inf).argmax(axis=1)
    means = [np.where(fits, values, 0.0).sum(axis=1) / fits.sum(axis=1) for values in (stated, played)]
    about = [np.where(fits, values - mean[:, None], 0.0) for values, mean in zip((stated, played), means)]
    return JudgedCards(
        float((about[0] * about[1]).sum()),
        float((about[0] ** 2).sum()),
        float(((about[0] - about[1]) ** 2).sum()),
        float((means[0] - means[1]).sum()),
        float(about[1][np.arange(len(best)), best].sum()),
    )
