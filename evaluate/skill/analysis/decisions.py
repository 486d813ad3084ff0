"""Every decision of recorded games compared with the best one, and the luck between them.

A discard is one decision about two cards. A card of the play is a decision if it is a choice between cards of different
ranks. A decision's loss of winning chance is the chance after the best choice minus the chance after the choice made,
both by what the player could see. Its loss of points is the same difference in points, but not less than 0: giving up
points in order to win more often is no loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from crib_env.agents.discards import lowest_of_rank, six_dealt
from crib_env.agents.expert.agent import ExpertAgent
from crib_env.evaluate.matches.game_records import GameRecord
from crib_env.evaluate.skill.analysis.judges import PlayJudge, Worth
from crib_env.evaluate.skill.analysis.recorded_games import Moment, RecordedGames
from crib_env.evaluate.skill.luck.table import RESULTS
from crib_env.evaluate.skill.luck.variates import CHANCES, LuckMeter
from crib_env.exact.discard_statistics import PLACES
from crib_env.tables.discard_values import discard_points

KINDS = ("discard", "play")
_SAME = 1e-9  # chances are sums of many products: smaller differences are rounding


class Decision(NamedTuple):
    """One decision of one game."""

    deal: int
    """Number of the deal, from 0."""
    place: int
    """Number of the card in its deal, from 0."""
    seat: int
    kind: str
    """One of ``KINDS``."""
    chosen: tuple[int, ...]
    """The cards discarded, or the card laid."""
    best: tuple[int, ...]
    """The cards with the best chance to win; the cards chosen if no others are better."""
    chance: float
    """The chance to win the game after the best choice."""
    chance_lost: float
    points_lost: float


class GameAnalysis(NamedTuple):
    """One game."""

    record: GameRecord
    decisions: tuple[Decision, ...]
    """In the order of the game."""
    luck: np.ndarray
    """(D, 3, 3) luck of seat 0 by deal, ``CHANCES`` and ``RESULTS``; the coin counts with the first deal."""
    scores: np.ndarray
    """(D, 2) scores before each deal."""
    dealers: tuple[int, ...]
    """Seat of the dealer of each deal."""


def analyse(
    records: Sequence[GameRecord],
    judge: PlayJudge,
    on_progress: Callable[[int], None] = lambda done: None,
    threads: int = 2,
) -> list[GameAnalysis]:
    """The decisions and the luck of recorded games.

    Args:
        records: games that can be replayed.
        judge: values the choices in the play.
        on_progress: called with the number of further cards analysed.
        threads: how many discards are valued in parallel.
    """
    played, analyst = RecordedGames(records), ExpertAgent(threads=threads)
    meter = LuckMeter(played.games)
    decisions: list[list[Decision]] = [[] for _ in records]
    luck = [np.zeros((len(record.deals), len(CHANCES), len(RESULTS))) for record in records]
    scores = [np.zeros((len(record.deals), 2), np.int64) for record in records]
    dealers: list[list[int]] = [[] for _ in records]
    before = np.zeros_like(meter.luck)
    previous: Moment | None = None

    def note_luck(moment: Moment) -> None:
        meter.note(moment.rows)
        for row, deal in zip(moment.rows.tolist(), moment.deals.tolist()):
            luck[row][deal] += meter.luck[row] - before[row]
        before[moment.rows] = meter.luck[moment.rows]

    for moment in played.moments():
        if previous is not None:
            note_luck(previous)
        for k in np.flatnonzero(moment.places == 0).tolist():
            row = int(moment.rows[k])
            scores[row][moment.deals[k]] = played.games["scores"][row]
            dealers[row].append(int(played.games["dealer"][row]))
        for row, decision in decisions_at(moment, analyst, judge):
            decisions[row].append(decision)
        on_progress(len(moment.rows))
        previous = moment
    if previous is not None:
        note_luck(previous)
    return [
        GameAnalysis(record, tuple(decisions[n]), luck[n], scores[n], tuple(dealers[n]))
        for n, record in enumerate(records)
    ]


def decisions_at(moment: Moment, analyst: ExpertAgent, judge: PlayJudge) -> Iterator[tuple[int, Decision]]:
    """The decisions that are made at a moment, each with its game.

    Args:
        moment: cards about to be played.
        analyst: values discards.
        judge: of the play.
    """
    yield from _discards(moment, analyst)
    yield from _cards_laid(moment, judge)


def _lost(worth: Worth, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The best choice of B decisions, and the chance to win and the points that the chosen one loses, each (B,)."""
    at = np.arange(len(chosen))
    best = worth.chances.argmax(axis=1)
    best = np.where(worth.chances[at, chosen] >= worth.chances[at, best] - _SAME, chosen, best)
    lost = worth.chances[at, best] - worth.chances[at, chosen]
    points = np.maximum(worth.points[at, best] - worth.points[at, chosen], 0.0)
    return best, lost, np.where(lost > 0, points, 0.0)


def _discards(moment: Moment, analyst: ExpertAgent) -> Iterator[tuple[int, Decision]]:
    """The discards that begin at this moment, with their games."""
    first = moment.views.is_discard & (moment.views.discards[:, 0] < 0)
    if not first.any():
        return
    views, cards = moment.views[first], np.stack([moment.cards[first], moment.pairs[first]], axis=1)
    sixes = six_dealt(views)
    pairs = sixes[:, PLACES]
    chosen = (pairs == np.sort(cards, axis=1)[:, None]).all(axis=2).argmax(axis=1)
    worth = Worth(analyst.discard_values(views), discard_points(sixes, views.is_dealer))
    best, chance_lost, points_lost = _lost(worth, chosen)
    for n, k in enumerate(np.flatnonzero(first)):
        yield (
            int(moment.rows[k]),
            Decision(
                int(moment.deals[k]),
                int(moment.places[k]),
                int(moment.seats[k]),
                "discard",
                tuple(pairs[n, chosen[n]].tolist()),
                tuple(pairs[n, best[n]].tolist()),
                float(worth.chances[n, best[n]]),
                float(chance_lost[n]),
                float(points_lost[n]),
            ),
        )


def _cards_laid(moment: Moment, judge: PlayJudge) -> Iterator[tuple[int, Decision]]:
    """The choices in the play at this moment, with their games."""
    ranks = moment.views.action_mask.reshape(-1, 4, 13).any(axis=1).sum(axis=1)
    choice = ~moment.views.is_discard & (ranks > 1)
    if not choice.any():
        return
    views = moment.views[choice]
    worth = judge.worth(views)
    best, chance_lost, points_lost = _lost(worth, moment.cards[choice] % 13)
    best_cards = lowest_of_rank(views, best)
    for n, k in enumerate(np.flatnonzero(choice)):
        card = int(moment.cards[k])
        yield (
            int(moment.rows[k]),
            Decision(
                int(moment.deals[k]),
                int(moment.places[k]),
                int(moment.seats[k]),
                "play",
                (card,),
                (card if best[n] == card % 13 else int(best_cards[n]),),
                float(worth.chances[n, best[n]]),
                float(chance_lost[n]),
                float(points_lost[n]),
            ),
        )
