"""The coach: what each decision of the person cost, what was best and why, from what the person could see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.choosing import lowest_of_rank, six_dealt
from crib_env.agents.expert import ExpertAgent
from crib_env.cards import format_cards
from crib_env.engine import WIN
from crib_env.evaluate.play.levels import LEVELS, Level
from crib_env.evaluate.play.reasons import Reason, are_alike, why_card, why_discard
from crib_env.evaluate.play.saved_game import PERSON, SavedGame
from crib_env.evaluate.skill.analysis.decisions import (
    LEAST,
    Decision,
    GameAnalysis,
    Moment,
    analyse,
    decisions_at,
    summarise_players,
)
from crib_env.evaluate.skill.analysis.judges import PlayJudge, discard_worth
from crib_env.evaluate.skill.luck.variates import NET_POINTS, RESULTS
from crib_env.exact.discard_statistics import PLACES
from crib_env.tables.shipped import standard_win_table

HOW = (
    "Each discard is valued exactly at the score, each card of the play by how the rest of it can go on, from what you "
    "could see."
)
"""How the coach judges."""
_ROW = np.zeros(1, np.int64)
_COSTLIEST = 3
BLUNDER = 0.02
"""Of the chance to win: who loses so much by a decision is told where the coach speaks after blunders only."""


class Note(NamedTuple):
    """The coach's comment on a decision."""

    at: int  # its index in SavedGame.played
    deal: int  # from 1
    decision: Decision
    text: str  # what was chosen, and what it cost
    why: Reason | None  # why something else was better, if something was

    @property
    def size(self) -> str:
        """``"best"``, which what is about as good is too, ``"error"`` or ``"blunder"``, by what it lost."""
        lost = self.decision.chance_lost
        if are_alike(lost, self.decision.points_lost):
            return "best"
        return "blunder" if lost >= BLUNDER else "error"


class Hint(NamedTuple):
    """What the coach would do."""

    cards: tuple[int, ...]
    chance: float  # to win the game
    why: Reason


class Coach:
    """Watches a game from the person's seat; each decision is judged once, when its comment is first needed.

    The judge values the cards of the play. Discards are valued by the exact analysis at the score.
    """

    def __init__(self, game: SavedGame, judge: PlayJudge) -> None:
        self.game, self.judge, self._analyst = game, judge, ExpertAgent()
        self._notes: list[Note] = []
        self._analysis: GameAnalysis | None = None
        self._next = 0  # index of the next card to look at
        self._deal_began = 0

    def notes(self) -> list[Note]:
        """The comments that may be shown now, as the setting asks (``COACHING``)."""
        coach = self.game.so_far.coach
        if coach == "off" and not self.game.is_over:
            return []
        self._catch_up()
        if self.game.is_over or coach in ("on", "before"):
            return self._notes
        if coach == "blunders":
            return [note for note in self._notes if note.size == "blunder"]
        return [note for note in self._notes if note.deal < self.game.games["n_deals"][0]]

    def costliest(self) -> list[Note]:
        """The decisions that lost the most chance to win, at most three, of those in :meth:`notes`."""
        lost = [note for note in self.notes() if note.size != "best"]
        return sorted(lost, key=lambda note: -note.decision.chance_lost)[:_COSTLIEST]

    def line(self) -> list[tuple[float, float, int]]:
        """The person's chance to win: at the start of each deal, after each decision, and at the end.

        Each point has the deals played, with the share of the present one; the chance; and how many cards were played.
        """
        game = self.game
        if not (notes := self.notes()) and game.so_far.coach == "off" and not game.is_over:
            return []
        points, after = list[tuple[float, float, int]](), {note.at: note.decision for note in notes}
        last = None
        for k, games in enumerate((*(played.before for played in game.played), game.games)):
            deal = int(games["n_deals"][0])
            if deal != last and not (k == len(game.played) and game.is_over):
                points.append((deal - 1, chance_before_deal(games["scores"][0], int(games["dealer"][0])), k))
                last = deal
            if decision := after.get(k):
                share = 0.1 if decision.kind == "discard" else 0.2 + 0.07 * decision.place
                points.append((deal - 1 + min(share, 0.95), decision.chance - decision.chance_lost, k))
        if game.is_over:
            own, other = game.games["scores"][0].tolist()
            chance = float(own > other) if WIN in (own, other) else points[-1][1]
            points.append((int(game.games["n_deals"][0]), chance, len(game.played)))
        return points

    def hint(self) -> Hint:
        """The best choice now, and why it is better than the second best; a ValueError if it is another's turn."""
        game = self.game
        if game.is_over or game.turn != PERSON:
            raise ValueError("there is nothing to choose now")
        view, is_discard = game.view(), bool(game.view().is_discard[0])
        worth = discard_worth(self._analyst, view) if is_discard else self.judge.worth(view)
        best, *others = [
            k for k in np.argsort(-worth.chances[0], kind="stable").tolist() if np.isfinite(worth.chances[0, k])
        ]
        chance = float(worth.chances[0, best])
        if is_discard:
            pairs = six_dealt(view)[0, PLACES].tolist()
            ranks = [sorted(card % 13 for card in pair) for pair in pairs]
            other = next((k for k in others if ranks[k] != ranks[best]), best)
            still = tuple(card for card in pairs[best] if card in view.hand[0])
            return Hint(still, chance, why_discard(view, pairs[best], pairs[other]))
        if not others:
            only = f"No other card fits the count of {view.count[0]}."
            return Hint((int(lowest_of_rank(view, np.array([best]))[0]),), chance, Reason("only card", only, ""))
        card, other = (int(lowest_of_rank(view, np.array([rank]))[0]) for rank in (best, others[0]))
        points, gained = (float(values[0, best] - values[0, others[0]]) for values in (worth.points, worth.chances))
        return Hint((card,), chance, why_card(view, card, other, points, gained))

    def analysis(self) -> GameAnalysis:
        """The finished game, both sides and the luck between them."""
        if self._analysis is None:
            self._analysis = analyse([self.game.record()], self.judge)[0]
        return self._analysis

    def _catch_up(self) -> None:
        played = self.game.played
        while self._next < len(played):
            now = played[self._next]
            if not now.before["discards"][0].any():
                self._deal_began = self._next
            if now.seat == PERSON and not now.is_second:
                if now.is_discard and self._next + 1 == len(played):
                    return  # the second card is still to come
                pair = played[self._next + 1].card if self._next + 1 < len(played) else -1
                numbers = int(now.before["n_deals"][0]) - 1, self._next - self._deal_began, now.card, pair
                moment = Moment(_ROW, _ROW + PERSON, now.view(), *(np.array([n]) for n in numbers))
                self._notes += notes_on(self._next, moment, self._analyst, self.judge)
            self._next += 1


def notes_on(at: int, moment: Moment, analyst: ExpertAgent, judge: PlayJudge) -> Iterator[Note]:
    """The coach's comment on a card about to be played, the ``at``-th of a game, if it is a choice."""
    for _, decision in decisions_at(moment, analyst, judge):
        note = Note(at, decision.deal + 1, decision, _tell(decision), None)
        yield note if note.size == "best" else note._replace(why=_why(moment.views, decision))


def chance_before_deal(scores: Sequence[int], dealer: int) -> float:
    """The person's chance to win before a deal, by the scores of both seats and the dealer's seat, if both are equally
    strong."""
    own, other = scores
    wins = standard_win_table().win_probability
    return float(wins[own, other] if dealer == PERSON else 1 - wins[other, own])


def _tell(decision: Decision) -> str:
    chose = f"{'You discard' if decision.kind == 'discard' else 'You lay'} {format_cards(decision.chosen)}"
    if decision.chance_lost < LEAST:
        return f"{chose}: nothing is better, {100 * decision.chance:.1f} % to win."
    if are_alike(decision.chance_lost, decision.points_lost):
        return f"{chose}: {format_cards(decision.best)} is about as good."
    return f"{chose}, but {decision.told()}."


def _why(view: PlayerViews, decision: Decision) -> Reason:
    if decision.kind == "discard":
        return why_discard(view, decision.best, decision.chosen)
    return why_card(view, decision.best[0], decision.chosen[0], decision.points_lost, decision.chance_lost)


def review_rows(analysis: GameAnalysis, level: Level | None = None) -> Iterator[tuple[str, ...]]:
    """The figures of one game in words, each for the person and for the agent; a single game has no intervals.

    The chance to win is an account: start, errors and luck add up to the result in the digits shown. Luck is what
    errors leave of it.
    """
    players = summarise_players([analysis])
    for kind, title, one in (
        ("discard", "discards", "a discard"),
        ("play", "choices in the play", "a choice in the play"),
    ):
        rates = [player.errors.get(kind) for player in players]
        lost = [f"{100 * rate.chance_lost.mean:.2f}" if rate else "" for rate in rates]
        yield title, *(str(rate.decisions) if rate else "0" for rate in rates)
        yield f"{one} loses, % points to win", *lost
    yield "luck, points", *(f"{player.luck[RESULTS[NET_POINTS]]:+.1f}" for player in players)
    yours, others = (
        round(100 * sum(rate.decisions * rate.chance_lost.mean for rate in player.errors.values()), 1)
        for player in players
    )
    start = round(100 * chance_before_deal(analysis.scores[0].tolist(), analysis.dealers[0]), 1)
    won = 100.0 * (analysis.record.scores[PERSON] == WIN)
    yield "at the start, between equals, % to win", f"{start:.1f}", f"{100 - start:.1f}"
    for title, gained in (
        ("your errors, % points", -yours),
        ("your opponent's errors, % points", others),
        ("luck of the deals, % points", won - start + yours - others),
    ):
        yield title, f"{gained:+.1f}", f"{0.0 - gained:+.1f}"
    yield "result, %", f"{won:.0f}", f"{100 - won:.0f}"
    if level is not None and level is not LEVELS[-1]:
        theirs = 100 * level.against_best
        yield f"for Best against {level.name}, % to win", f"{100 - theirs:.1f}", f"{theirs:.1f}"
