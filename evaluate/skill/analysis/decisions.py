"""Every decision of recorded games compared with the best one, and the luck between them.

A discard is one decision about two cards. A card of the play is a decision if it is a choice between cards of different
ranks. A decision's loss of winning chance is the chance after the best choice minus the chance after the choice made,
both by what the player could see. Its loss of points is the same difference in points, but not less than 0: giving up
points in order to win more often is no loss.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from crib_env import PlayerViews, parse_cards
from crib_env.agents.choosing import lowest_of_rank, six_dealt
from crib_env.agents.expert import ExpertAgent
from crib_env.cards import format_cards
from crib_env.engine import DEAL, GAME, GAME_EPISODE, OVER, begin_deal
from crib_env.evaluate.matches.game_records import GameRecord
from crib_env.evaluate.matches.muggins import write_missed
from crib_env.evaluate.skill.analysis.judges import PlayJudge, Worth, discard_worth
from crib_env.evaluate.skill.analysis.played_out import LATE, NEAR, Rollouts
from crib_env.evaluate.skill.luck.variates import CHANCES, NET_POINTS, RESULTS, WINS, LuckMeter, results
from crib_env.evaluate.skill.positions import act_all, begin_all
from crib_env.evaluate.statistics import Measured
from crib_env.exact.discard_statistics import PLACES
from crib_env.kernels import kernel
from crib_env.players.games import Z
from crib_env.views import views_of

KINDS = ("discard", "play")
LEAST = 0.0005
"""Smaller chances to win are left out where an analysis is told in words."""
BLUNDERS = {"1 to 2 %": (0.01, 0.02), "2 to 5 %": (0.02, 0.05), "5 % or more": (0.05, math.inf)}
"""Sizes of blunders, by the chance to win that they lose."""
_ENOUGH = 10  # decisions; nobody but the judge itself agrees with it in so many
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
    error: float = 0.0
    """Standard error of ``chance_lost``, if rollouts have judged the decision."""

    def told(self) -> str:
        """Names the better choice: ``"5C 5H is better: +1.20 points, +2.3 % points to win"``."""
        points = f"+{self.points_lost:.2f} points, " if self.points_lost >= 0.005 else ""
        error = f" (± {100 * Z * self.error:.1f}, played out)" if self.error else ""
        return f"{format_cards(self.best)} is better: {points}+{_to_win(self.chance_lost)}{error}"


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

    def told_luck(self, deal: int) -> list[str]:
        """The luck of a deal, a line for each chance that brought any."""
        lines = []
        for name, luck in zip(CHANCES, self.luck[deal]):
            if abs(luck[WINS]) >= LEAST:
                seat = 0 if luck[WINS] > 0 else 1
                points = luck[NET_POINTS] * (1 if seat == 0 else -1)
                brought = f"{points:+.1f} points, +{_to_win(abs(luck[WINS]))}"
                lines.append(f"luck of the {name}: {self.record.names[seat]} {brought}")
        return lines

    def told_losses(self, deal: int) -> dict[int, str]:
        """The decisions of a deal that lost something in words, by the number of the card in the deal."""
        lost = (one for one in self.decisions if one.deal == deal and one.chance_lost >= LEAST)
        return {decision.place: decision.told() for decision in lost}


def _to_win(chance: float) -> str:
    return f"{100 * chance:.1f} % points to win"


@kernel
def _deal(games, rows):
    for i in rows:
        begin_deal(games[i])


class Moment(NamedTuple):
    """A card about to be discarded or laid in each of B games."""

    rows: np.ndarray
    """(B,) int64, the index of each game."""
    seats: np.ndarray
    """(B,) int64, the seat that acts."""
    views: PlayerViews
    """What they see."""
    deals: np.ndarray
    """(B,) int64, number of the deal, from 0."""
    places: np.ndarray
    """(B,) int64, number of the card in its deal, from 0."""
    cards: np.ndarray
    """(B,) int64, the card."""
    pairs: np.ndarray
    """(B,) int64, the next card of the same deal, which after a first discard is the second one; or -1."""


class RecordedGames:
    """Recorded games, replayed from their first card.

    Args:
        records: valid games (:meth:`crib_env.evaluate.matches.game_records.GameRecord.check`).

    Attributes:
        games: (N,) records of dtype :data:`crib_env.engine.GAME`, in their current state.
    """

    def __init__(self, records: Sequence[GameRecord]) -> None:
        self._deals = [[parse_cards(deal) for deal in record.deals] for record in records]
        self._cards = [[parse_cards(cards) for cards in record.cards] for record in records]
        self._missed = [record.missed for record in records]
        self.games = np.zeros(len(records), GAME)
        first_dealers = np.array([record.first_dealer for record in records])
        scores = np.array([record.start_scores for record in records])
        begin_all(self.games, np.array([deals[0] for deals in self._deals]), first_dealers, scores, GAME_EPISODE)
        self._overlook(range(len(records)))

    def _overlook(self, rows: Iterable[int]) -> None:
        for row in (row for row in rows if self._missed[row]):
            write_missed(self.games[row : row + 1], self._missed[row])

    def moments(self) -> Iterator[Moment]:
        """Plays all games to their ends; yields each moment before its cards are played."""
        games, places = self.games, np.zeros(len(self.games), np.int64)
        while len(rows := np.flatnonzero(games["phase"] != OVER)):
            begun = rows[games["phase"][rows] == DEAL]
            for row in begun.tolist():
                games["cards"][row] = self._deals[row][games["n_deals"][row]]
            _deal(games, begun)
            self._overlook(begun.tolist())
            places[begun] = 0
            deals = games["n_deals"][rows].astype(np.int64) - 1
            left = [self._cards[row][deal][place:] for row, deal, place in zip(rows, deals, places[rows])]
            cards, pairs = (np.array([one[k] if len(one) > k else -1 for one in left]) for k in range(2))
            seats = games["turn"][rows].astype(np.int64)
            yield Moment(rows, seats, views_of(games, rows, seats, rows), deals, places[rows], cards, pairs)
            after = games[rows]
            act_all(after, cards)
            games[rows] = after
            places[rows] += 1


def analyse(
    records: Sequence[GameRecord],
    judge: PlayJudge,
    on_progress: Callable[[int], None] = lambda done: None,
    threads: int = 2,
    rollouts: Rollouts | None = None,
) -> list[GameAnalysis]:
    """The decisions and the luck of recorded games.

    Args:
        records: games that can be replayed.
        on_progress: called with the number of further cards analysed.
        threads: how many discards are valued in parallel.
        rollouts: judge decisions at late scores in place of the tables and of ``judge``.
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
        for row, decision in decisions_at(moment, analyst, judge, rollouts):
            decisions[row].append(decision)
        on_progress(len(moment.rows))
        previous = moment
    if previous is not None:
        note_luck(previous)
    return [
        GameAnalysis(record, tuple(decisions[n]), luck[n], scores[n], tuple(dealers[n]))
        for n, record in enumerate(records)
    ]


def decisions_at(
    moment: Moment, analyst: ExpertAgent, judge: PlayJudge, rollouts: Rollouts | None = None
) -> Iterator[tuple[int, Decision]]:
    """The decisions that are made at a moment, each with its game.

    Args:
        moment: cards about to be played.
    """
    yield from _discards(moment, analyst, rollouts)
    yield from _cards_laid(moment, judge, rollouts)


def _discards(moment: Moment, analyst: ExpertAgent, rollouts: Rollouts | None) -> Iterator[tuple[int, Decision]]:
    """The discards that begin at this moment, with their games."""
    first = moment.views.is_discard & (moment.views.discards[:, 0] < 0)
    if not first.any():
        return
    views, cards = moment.views[first], np.stack([moment.cards[first], moment.pairs[first]], axis=1)
    sixes = six_dealt(views)
    pairs, at = sixes[:, PLACES], np.arange(len(sixes))
    chosen = (pairs == np.sort(cards, axis=1)[:, None]).all(axis=2).argmax(axis=1)
    worth = discard_worth(analyst, views)
    yield from _compared(moment, first, worth, chosen, lambda choice: pairs[at, choice], rollouts)


def _cards_laid(moment: Moment, judge: PlayJudge, rollouts: Rollouts | None) -> Iterator[tuple[int, Decision]]:
    """The choices in the play at this moment, with their games."""
    ranks = moment.views.action_mask.reshape(-1, 4, 13).any(axis=1).sum(axis=1)
    is_choice = ~moment.views.is_discard & (ranks > 1)
    if not is_choice.any():
        return
    views, laid = moment.views[is_choice], moment.cards[is_choice]

    def cards(rank: np.ndarray) -> np.ndarray:
        return np.where(rank == laid % 13, laid, lowest_of_rank(views, rank))[:, None]

    yield from _compared(moment, is_choice, judge.worth(views), laid % 13, cards, rollouts)


def _compared(
    moment: Moment,
    decides: np.ndarray,
    worth: Worth,
    chosen: np.ndarray,
    cards: Callable[[np.ndarray], np.ndarray],
    rollouts: Rollouts | None,
) -> Iterator[tuple[int, Decision]]:
    """The D decisions of a moment, each with its game.

    Args:
        decides: (B,) bool, which of them are these decisions.
        worth: (D, C) values of the choices.
        chosen: (D,) choices made.
        cards: the cards (D, K) of choices (D,).
    """
    at = np.arange(len(chosen))
    best = worth.chances.argmax(axis=1)
    best = np.where(worth.chances[at, chosen] >= worth.chances[at, best] - _SAME, chosen, best)
    lost = worth.chances[at, best] - worth.chances[at, chosen]
    points = np.where(lost > 0, np.maximum(worth.points[at, best] - worth.points[at, chosen], 0.0), 0.0)
    columns = (
        *(column[decides].tolist() for column in (moment.rows, moment.deals, moment.places, moment.seats)),
        *(cards(choice).tolist() for choice in (chosen, best)),
        *(column.tolist() for column in (worth.chances[at, best], lost, points)),
    )
    views = moment.views[decides]
    kind = KINDS[0] if views.is_discard[0] else KINDS[1]
    for k, (row, deal, place, seat, made, better, *values) in enumerate(zip(*columns)):
        decision = Decision(deal, place, seat, kind, tuple(made), tuple(better), *values)
        if rollouts is not None and (views.scores[k] >= LATE).all():
            near = np.flatnonzero(worth.chances[k] >= worth.chances[k, best[k]] - NEAR)
            choices = [tuple(cards(np.full(len(at), choice))[k].tolist()) for choice in near]
            found = rollouts.judged(views[k : k + 1], choices, decision.chosen)
            decision = decision._replace(best=found.best, chance=found.chance, chance_lost=found.lost)
            decision = decision._replace(points_lost=0.0, error=found.error)
        yield row, decision


class ErrorRate(NamedTuple):
    """The mean losses of decisions of one kind; intervals are from the spread between games."""

    decisions: int
    chance_lost: Measured
    points_lost: Measured
    is_own_judge: bool
    """Whether none of many decisions lost anything: the player chooses by what judges it, and has no errors by this
    construction."""


class PlayerSummary(NamedTuple):
    """One player over all games in which it played."""

    name: str
    games: int
    errors: dict[str, ErrorRate]
    """By ``KINDS``; a kind without any decision is left out."""
    blunders: dict[str, int]
    """By ``BLUNDERS``."""
    luck: dict[str, float]
    """Mean luck of a game, by ``RESULTS``."""
    result: dict[str, float]
    """Mean result of a game, by ``RESULTS``."""


def summarise_players(analyses: Sequence[GameAnalysis]) -> list[PlayerSummary]:
    """The players of recorded games, in the order in which they first appear.

    A player that plays itself in some game counts as two players, one for each seat.
    """
    sides: dict[str, list[tuple[GameAnalysis, int]]] = {}
    for analysis in analyses:
        for seat, name in enumerate(analysis.record.names):
            sides.setdefault(name, []).append((analysis, seat))
    return [_summarise(name, played) for name, played in sides.items()]


def _summarise(name: str, played: list[tuple[GameAnalysis, int]]) -> PlayerSummary:
    own = [[d for d in analysis.decisions if d.seat == seat] for analysis, seat in played]
    lost = np.array([decision.chance_lost for decisions in own for decision in decisions])
    scores = np.array([np.roll(analysis.record.scores, -seat) for analysis, seat in played])
    luck = np.array([(-1 if seat else 1) * analysis.luck.sum(axis=(0, 1)) for analysis, seat in played])
    result = results(scores)
    rates = {kind: _error_rate([[d for d in decisions if d.kind == kind] for decisions in own]) for kind in KINDS}
    return PlayerSummary(
        name,
        len(played),
        {kind: rate for kind, rate in rates.items() if rate is not None},
        {size: int(((lost >= low) & (lost < high)).sum()) for size, (low, high) in BLUNDERS.items()},
        dict(zip(RESULTS, luck.mean(axis=0).tolist())),
        dict(zip(RESULTS, result.mean(axis=0).tolist())),
    )


def _error_rate(games: list[list[Decision]]) -> ErrorRate | None:
    """The error rate over the decisions of N games; ``None`` if there are no decisions."""
    counts = np.array([len(decisions) for decisions in games])
    if not counts.sum():
        return None

    def mean(totals: list[float]) -> Measured:
        # A ratio of sums over games: decisions of one game need not be independent.
        values = np.array(totals)
        rate = float(values.sum() / counts.sum())
        return Measured(rate, Measured.of((values - rate * counts) / counts.mean()).half_width, int(counts.sum()))

    return ErrorRate(
        int(counts.sum()),
        mean([sum(decision.chance_lost for decision in decisions) for decisions in games]),
        mean([sum(decision.points_lost for decision in decisions) for decisions in games]),
        int(counts.sum()) >= _ENOUGH and not any(decision.chance_lost for decisions in games for decision in decisions),
    )
