"""Every decision of recorded games compared with the best one, and the luck between them.

A discard is one decision about two cards. A card of the play is a decision if it is a choice between cards of different
ranks. A decision's loss of winning chance is the chance after the best choice minus the chance after the choice made,
both by what the player could see. Its loss of points is the same difference in points, but not less than 0: giving up
points in order to win more often is no loss.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crib_env import PlayerViews, parse_cards
from crib_env.agents.choosing import lowest_of_rank, six_dealt
from crib_env.agents.expert import ExpertAgent
from crib_env.cards import format_cards
from crib_env.engine import DEAL, GAME, GAME_EPISODE, OVER, begin_deal
from crib_env.evaluate.files import write_json
from crib_env.evaluate.matches.game_records import GameRecord
from crib_env.evaluate.rollout import Choice, rollout
from crib_env.evaluate.skill.analysis.judges import PlayJudge, Worth, discard_worth
from crib_env.evaluate.skill.luck.variates import RESULTS, LuckMeter, results
from crib_env.evaluate.skill.positions import act_all, begin_all
from crib_env.evaluate.statistics import Measured
from crib_env.exact.discard_statistics import PLACES
from crib_env.files.json_text import read_json
from crib_env.kernels import kernel
from crib_env.players.games import Z
from crib_env.values import typed
from crib_env.views import views_of

KINDS = ("discard", "play")
LEAST = 0.0005
"""Smaller chances to win are left out where an analysis is told in words."""
BLUNDERS = {"1 to 2 %": (0.01, 0.02), "2 to 5 %": (0.02, 0.05), "5 % or more": (0.05, math.inf)}
"""Sizes of blunders, by the chance to win that they lose."""
LATE = 95
"""Both scores from which a decision may be judged by rollouts: there tables say little of what a choice comes to."""
NEAR = 0.05
"""Choices that the judge has further behind the best one, in the chance to win, are not played out."""
SAME = 1e-9  # chances are sums of many products: smaller differences are rounding


class PlayedOut(NamedTuple):
    """What rollouts say of a decision."""

    best: tuple[int, ...]
    """The cards that win most often; those chosen if no others do."""
    chance: float
    """To win after them."""
    chance_lost: float
    """Their chance less that of the cards chosen. It can be negative, as both are known from a sample."""
    error: float
    """Standard error of ``chance_lost``."""


class Rollouts:
    """Rollouts of fixed size that judge late decisions of recorded games, made once and kept.

    The choices that the judge has near the best one, and the one made, are played on from the same hidden cards. Deals
    of one seed say which is best; those of the next seed say what it wins more than the choice made, so that no choice
    is favoured for its luck.

    Args:
        path: the JSON file that keeps them; it need not exist.
        deals: of each choice, rounded up to hundreds.
        agent: plays on in both seats.
        threads: number of threads; they do not change the result.

    Raises:
        ValueError: the file is not one of kept rollouts.
    """

    def __init__(self, path: Path, deals: int, agent: str = "best", threads: int = 2) -> None:
        self._path, self._agent = path, agent
        self._how: dict[str, Any] = {"deals": deals, "confidence": 1.0, "threads": threads}
        self._kept: dict[str, PlayedOut] = {}
        if path.exists():
            fault = f"{path} does not hold rollouts"
            self._kept = read_json(path, fault, lambda kept: typed(kept, dict[str, PlayedOut]))

    def judged(self, view: PlayerViews, choices: Sequence[tuple[int, ...]], chosen: tuple[int, ...]) -> PlayedOut:
        """What the choices of a late decision come to.

        Args:
            view: one decision.
            choices: cards of the choices near the best one.
            chosen: cards of the choice made.
        """
        made = tuple(sorted(chosen))
        compared = sorted({tuple(sorted(cards)) for cards in choices} | {made})
        asked = [self._agent, self._how["deals"], compared, made, view.games[0].tobytes().hex()]
        key = hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:32]
        if key not in self._kept:
            self._kept[key] = self._play_out(view, compared, made, int(key[:8], 16))
            write_json(self._path, self._kept)  # so that a stopped analysis goes on
        return self._kept[key]

    def _play_out(
        self, view: PlayerViews, choices: Sequence[tuple[int, ...]], made: tuple[int, ...], seed: int
    ) -> PlayedOut:
        def played(of: Sequence[tuple[int, ...]], seed: int) -> tuple[Choice, ...]:
            return rollout(view, [format_cards(cards) for cards in of], self._agent, seed=seed, **self._how).choices

        best = played(choices, seed)[0].cards if len(choices) > 1 else made
        first, *others = played([made] if best == made else [best, made], seed + 1)
        if not others:
            return PlayedOut(made, first.chance, 0.0, 0.0)
        behind, error = others[0].behind, others[0].behind_error
        if first.cards == best:
            return PlayedOut(best, first.chance, behind, error)
        return PlayedOut(best, others[0].chance, -behind, error)


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
    """Valid recorded games (:meth:`crib_env.evaluate.matches.game_records.GameRecord.check`), replayed from their first
    card.

    Attributes:
        games: (N,) records of dtype :data:`crib_env.engine.GAME`, in their current state.
        meter: the luck so far.
    """

    def __init__(self, records: Sequence[GameRecord]) -> None:
        self._deals = [[parse_cards(deal) for deal in record.deals] for record in records]
        self._cards = [[parse_cards(cards) for cards in record.cards] for record in records]
        self.games = np.zeros(len(records), GAME)
        first_dealers = np.array([record.first_dealer for record in records])
        scores = np.array([record.start_scores for record in records])
        begin_all(self.games, np.array([deals[0] for deals in self._deals]), first_dealers, scores, GAME_EPISODE)
        self.meter = LuckMeter(self.games)

    def moments(self) -> Iterator[Moment]:
        """Plays all games to their ends; yields each moment before its cards are played."""
        games, places = self.games, np.zeros(len(self.games), np.int64)
        while len(rows := np.flatnonzero(games["phase"] != OVER)):
            begun = rows[games["phase"][rows] == DEAL]
            for row in begun.tolist():
                games["cards"][row] = self._deals[row][games["n_deals"][row]]
            _deal(games, begun)
            places[begun] = 0
            deals = games["n_deals"][rows].astype(np.int64) - 1
            left = [self._cards[row][deal][place:] for row, deal, place in zip(rows, deals, places[rows])]
            cards, pairs = (np.array([one[k] if len(one) > k else -1 for one in left]) for k in range(2))
            seats = games["turn"][rows].astype(np.int64)
            yield Moment(rows, seats, views_of(games, rows, seats, rows), deals, places[rows], cards, pairs)
            after = games[rows]
            act_all(after, cards)
            games[rows] = after
            self.meter.note(rows)
            places[rows] += 1


def analyse(
    records: Sequence[GameRecord],
    judge: PlayJudge,
    on_progress: Callable[[int], None] = lambda done: None,
    threads: int = 2,
    rollouts: Rollouts | None = None,
) -> list[GameAnalysis]:
    """The decisions and the luck of recorded games that can be replayed.

    Args:
        on_progress: called with the number of further cards analysed.
        rollouts: judge decisions at late scores in place of the tables and of ``judge``.
    """
    played, analyst = RecordedGames(records), ExpertAgent(threads=threads)
    meter, games = played.meter, played.games
    decisions: list[list[Decision]] = [[] for _ in records]
    begun: list[list[tuple[np.ndarray, int, np.ndarray]]] = [[] for _ in records]  # scores, dealer, luck before
    for moment in played.moments():
        for row in moment.rows[moment.places == 0].tolist():
            begun[row].append(
                (games["scores"][row].astype(np.int64), int(games["dealer"][row]), meter.luck[row].copy())
            )
        for row, decision in decisions_at(moment, analyst, judge, rollouts):
            decisions[row].append(decision)
        on_progress(len(moment.rows))
    found = []
    for row, record in enumerate(records):
        scores, dealers, luck = zip(*begun[row])
        of_deals = np.diff([np.zeros_like(luck[0]), *luck[1:], meter.luck[row]], axis=0)
        found.append(GameAnalysis(record, tuple(decisions[row]), of_deals, np.stack(scores), dealers))
    return found


def decisions_at(
    moment: Moment, analyst: ExpertAgent, judge: PlayJudge, rollouts: Rollouts | None = None
) -> Iterator[tuple[int, Decision]]:
    """The decisions that are made at a moment, each with its game: discards that begin, and choices in the play."""
    views, laid = moment.views, moment.cards
    first = views.is_discard & (views.discards[:, 0] < 0)
    if first.any():
        sixes = six_dealt(views[first])
        pairs, at = sixes[:, PLACES], np.arange(len(sixes))
        made = np.sort(np.stack([laid[first], moment.pairs[first]], axis=1), axis=1)
        chosen = (pairs == made[:, None]).all(axis=2).argmax(axis=1)
        worth = discard_worth(analyst, views[first])
        yield from _compared(moment, first, worth, chosen, lambda choice: pairs[at, choice], rollouts)
    ranks = views.action_mask.reshape(-1, 4, 13).any(axis=1).sum(axis=1)
    is_choice = ~views.is_discard & (ranks > 1)
    if is_choice.any():
        views, laid = views[is_choice], laid[is_choice]

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
    """The D decisions of a moment, those that ``decides`` (B,) says, each with its game; their choices are worth (D, C)
    values, (D,) were chosen, and ``cards`` gives the cards (D, K) of choices (D,)."""
    at = np.arange(len(chosen))
    best = worth.chances.argmax(axis=1)
    best = np.where(worth.chances[at, chosen] >= worth.chances[at, best] - SAME, chosen, best)
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
            decision = decision._replace(points_lost=0.0, **found._asdict())
        yield row, decision


class ErrorRate(NamedTuple):
    """The mean losses of decisions of one kind; intervals are from the spread between games."""

    decisions: int
    chance_lost: Measured
    points_lost: Measured


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
    """The players of recorded games; one that plays itself in some game counts as two players, one for each seat."""
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

    return ErrorRate(
        int(counts.sum()),
        Measured.ratio([sum(decision.chance_lost for decision in decisions) for decisions in games], counts),
        Measured.ratio([sum(decision.points_lost for decision in decisions) for decisions in games], counts),
    )
