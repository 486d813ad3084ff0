"""Rollouts: what each choice of a decision comes to when one agent plays on in both seats, from the same hidden cards.

    from crib_env.evaluate.rollout import position, rollout

    found = rollout(position("5H 5C JD QS 2H 3D", dealer=True, scores=(100, 110)), deals=2_000, seed=1)
    found.choices[0].cards, found.choices[0].chance, found.choices[0].chance_error

A decision is :class:`crib_env.PlayerViews` of one decision, a game record (:data:`crib_env.engine.GAME`), or
:func:`position` of cards as text. With ``confidence=1`` no choice is given up, and all play the same number of deals.

Before the play nothing is known of the opponent's six cards. They are drawn at random, and if the opponent has
discarded, the agent has done so for it. In the play its hand is drawn by how likely a sensible player holds it
(:mod:`crib_env.agents.belief`), and its discards by how often each pair of ranks is discarded; with
``hidden="uniform"`` all cards that agree with what was laid and every go are equally likely.

The k-th deal is the same for all choices. Results are less the luck of the starter, if it is still to be cut, and of
later deals, as those of matches are (:mod:`crib_env.evaluate.skill.luck.variates`).

At fixed numbers of deals all choices are compared with the best one. A choice is given up if it is worse with a
confidence that is shared out among all looks (the j-th has a part of 1 / j²) and all rivals, so that the chance to give
up the best one stays below ``1 - confidence``.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from statistics import NormalDist
from typing import Any, Literal, NamedTuple, get_type_hints

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.belief import MOST_HANDS, habits
from crib_env.agents.choosing import six_dealt
from crib_env.agents.tree_search import draw_hidden, unseen_cards, weigh_hands
from crib_env.batch import GameBatch
from crib_env.cards import format_cards, parse_card, parse_cards
from crib_env.engine import DEAL_EPISODE, DEALER, GAME, GAME_EPISODE, PEGGING_EPISODE, PLAY, PONE, WIN
from crib_env.evaluate.command_line import SomePositive
from crib_env.evaluate.executors import Tell, shared
from crib_env.evaluate.skill.luck.variates import NET_POINTS, WINS, LuckMeter, Measure, less_luck, standard_luck_table
from crib_env.evaluate.skill.positions import act_all, after_cards, batch_of, before_discards, begin_all, cards_of
from crib_env.hands import N_FOURS
from crib_env.kernels import mask_of
from crib_env.players.agent import Agent
from crib_env.players.agent_from_text import as_agent
from crib_env.players.games import turns
from crib_env.players.one_at_a_time import decisions
from crib_env.players.text import answers, read_answer
from crib_env.tables.shipped import standard_win_table
from crib_env.values import Amount, Seed, Share, Threads, check_values
from crib_env.views import views_of

_BLOCK = 100  # deals side by side, the same for any number of threads: networks round differently in other batches
_LOOKS = 1.25  # factor from one look to the next
_ROW = np.zeros(1, np.int64)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How to roll out, and when to stop; ``ValueError`` names a value that is not allowed."""

    until: Literal["deal", "game"] = "deal"
    """Play to the end of the deal, then the win table counts; or to the end of the game."""
    hidden: Literal["belief", "uniform"] = "belief"
    """Draw the opponent's cards in the play by what a sensible player would hold, or all alike."""
    deals: Amount = 10_000
    """Most deals of each choice, rounded up to hundreds."""
    seconds: SomePositive = None
    """Stop after so many seconds; the digits then depend on the machine."""
    confidence: Share = 0.95
    """Give up choices that are worse than the best with this confidence, and stop when one is left; 1 gives up none."""
    error: SomePositive = None
    """Stop when the standard error of each chance to win is at most this, as in 0.002."""
    seed: Seed = 0
    """Random seed."""
    threads: Threads = 2
    """Number of threads; they do not change the result."""

    def __post_init__(self) -> None:
        check_values(vars(self), get_type_hints(Plan, include_extras=True))


class Choice(NamedTuple):
    """What a choice comes to for its player; errors are standard errors."""

    cards: tuple[int, ...]
    """The two discarded, or the one that is left to discard, or the card laid."""
    chance: float
    """To win the game."""
    chance_error: float
    points: float
    """Own points less the opponent's, from the decision to the end of the deal, or of the game."""
    points_error: float
    behind: float
    """The chance of the best choice less this one's, over the deals that both have played."""
    behind_error: float
    deals: int


class Rollout(NamedTuple):
    """A rollout."""

    choices: tuple[Choice, ...]
    """The best first."""
    is_decided: bool
    """Whether all but one were given up."""
    deals: int
    """Deals that the choices which were not given up have played."""
    variance_ratio: float
    """Of the chance of the best choice, with luck by without: luck saves this factor of deals."""


def position(
    cards: str | Sequence[str],
    dealer: bool = False,
    scores: tuple[int, int] = (0, 0),
    *,
    discarded: str | Sequence[str] = (),
    starter: str | None = None,
    laid: str | Sequence[str] = (),
) -> PlayerViews:
    """A decision from text.

    Args:
        cards: the six cards dealt to the player.
        dealer: whether this player deals.
        scores: its own and the opponent's, now.
        discarded: the two of the six, if they are discarded.
        starter: the card, if the two are discarded.
        laid: the play so far, oldest first; those that are not of the six are the opponent's.

    Raises:
        ValueError: a card or a score is not allowed, or the cards cannot have been laid so; the message names it.
    """
    six, gone, played = parse_cards(cards), parse_cards(discarded), parse_cards(laid)
    if len(six) != 6:
        raise ValueError(f"{format_cards(six) or 'no card'} is not allowed: give six cards")
    for score in scores:
        if not 0 <= score < WIN:
            raise ValueError(f"a score of {score} is not allowed: give 0 to {WIN - 1}")
    if not gone and starter is None and not played:
        return batch_of(before_discards(np.array([six]), np.array([dealer]), np.array([scores]))).views(_ROW)
    if len(gone) != 2 or not set(gone) <= set(six) or starter is None:
        raise ValueError("a position in the play needs two of the six cards as discarded, and the starter")
    cut, theirs = parse_card(starter), [card for card in played if card not in six]
    if again := [card for card in (cut, *gone) if card in played or (card == cut and card in six)]:
        raise ValueError(f"{format_cards(again[:1])} is given twice: a deck holds every card once")
    # Of all cards, those of value ten can be laid least often. So they agree with every go, if anything does.
    tens = [card for card in np.argsort(-(np.arange(52) % 13), kind="stable").tolist() if card not in (*six, cut)]
    fill = [card for card in tens if card not in played]
    others = (theirs + fill)[:4] + fill[-2:]
    deal = np.array([[*six, *others, cut]])
    batch = batch_of(_replayed(deal, dealer, [gone, others[4:]], []))
    for card in played:
        try:
            batch.step(_ROW, np.array([card]))
        except ValueError:
            raise ValueError(f"{format_cards([card])} cannot have been laid there: {format_cards(played)}") from None
    if batch.games["phase"][0] != PLAY or batch.games["turn"][0] != 0:
        raise ValueError(f"after {format_cards(played)} it is not this player's turn")
    batch.games["scores"] = scores
    return batch.views(_ROW)


def _replayed(deals: np.ndarray, dealer: bool, discards: Sequence[Any], laid: Sequence[int]) -> np.ndarray:
    """Games (N,) of deals (N, 13) after both players' ``discards`` (2,) or (N, 2), seat 0's first, and cards laid."""
    pairs = [np.broadcast_to(pair, (len(deals), 2)) for pair in discards]
    both = pairs[::-1] if dealer else pairs  # pone discards first
    cards = np.concatenate([*both, np.broadcast_to(np.array(laid, np.int64), (len(deals), len(laid)))], axis=1)
    return after_cards(deals, np.full(len(deals), 0 if dealer else 1), np.zeros((len(deals), 2), np.int64), cards)


class _Worlds:
    """Draws what a player does not see in one decision, and plays every choice on from there."""

    def __init__(self, view: PlayerViews, plan: Plan) -> None:
        self._view, self._plan = view, plan
        self._dealer, self._scores = bool(view.is_dealer[0]), view.scores[0].astype(np.int64)
        self._laid = view.laid[0, : view.n_laid[0]].tolist()
        self._episode = DEAL_EPISODE if plan.until == "deal" else GAME_EPISODE
        self._wins = standard_win_table().win_probability.astype(float)
        self._measure = Measure.of(standard_luck_table())
        if plan.until == "deal":  # what the deal is worth at its end
            holes = np.arange(WIN)
            worth = [self._wins, holes[:, None] - holes, np.zeros_like(self._wins)]
            self._measure = self._measure._replace(expected=np.stack(worth, axis=2).astype(float))
        if not view.is_discard[0]:
            likely = habits().keeping if plan.hidden == "belief" else np.zeros((0, N_FOURS))
            hands, totals = np.zeros(MOST_HANDS, np.int64), np.zeros(MOST_HANDS)
            n = weigh_hands(view.games[0], likely, hands, totals)
            if not n or not totals[n - 1]:
                raise ValueError(f"no hand of the opponent agrees with {format_cards(self._laid)} laid")
            self._hands, self._totals = hands[:n], totals[:n]

    def _before_discard(self, players: Sequence[Agent], rng: np.random.Generator) -> np.ndarray:
        six = six_dealt(self._view)
        rest = np.setdiff1d(np.arange(52), six)
        others = rng.permuted(np.tile(rest, (_BLOCK, 1)), axis=1)[:, :7]
        games = np.zeros(_BLOCK, GAME)
        deals = np.concatenate([np.repeat(six, _BLOCK, axis=0), others], axis=1)
        scores = np.tile(self._scores, (_BLOCK, 1))
        begin_all(games, deals, np.full(_BLOCK, 0 if self._dealer else 1), scores, GAME_EPISODE)
        if self._dealer:
            batch = batch_of(games)
            for turn in islice(turns(batch, players), 2):
                turn.play()
            games = batch.games
        if (first := self._view.discards[0, 0]) >= 0:
            act_all(games, np.full(_BLOCK, first, np.int64))
        return games

    def _in_play(self, rng: np.random.Generator) -> np.ndarray:
        view = self._view
        known = np.repeat(view.games, _BLOCK)
        unseen = unseen_cards(known[0])
        shown = mask_of(view.laid[0][view.laid_by[0] == 1])
        pairs, shares = np.empty((_BLOCK, 2), np.int64), habits().discarding[DEALER if self._dealer else PONE]
        for k, word in enumerate(rng.integers(2**64, size=_BLOCK, dtype=np.uint64)):
            draw_hidden(known[k], unseen, self._hands, self._totals, word)
            if self._plan.hidden == "uniform":
                pairs[k] = cards_of(known["discards"][k : k + 1, 1], 2)[0]
                continue
            rest = int(unseen) & ~int(known["hand"][k, 1])
            left = np.array(list(combinations(cards_of(np.array([rest]), rest.bit_count())[0], 2)))
            chances = shares[left[:, 0] % 13, left[:, 1] % 13]
            pairs[k] = left[rng.choice(len(left), p=chances / chances.sum())]
        own = np.sort(np.concatenate([view.kept, view.discards], axis=1), axis=1).astype(np.int64)
        kept = cards_of(known["hand"][:, 1] | shown, 4)
        deals = np.concatenate(
            [np.repeat(own, _BLOCK, axis=0), kept, pairs, np.full((_BLOCK, 1), view.starter[0])], axis=1
        )
        return _replayed(deals, self._dealer, [view.discards[0], pairs], self._laid)

    def play(self, players: Sequence[Agent], block: int, found: _Results, tell: Tell) -> np.ndarray:
        """The results and the luck of the deals of a block, (K, N, 2, 3) by ``RESULTS``, for the choices that are left;
        match points are left out."""
        rng, choices = np.random.default_rng([self._plan.seed, block]), found.choices[found.left]
        games = self._before_discard(players, rng) if self._view.is_discard[0] else self._in_play(rng)
        games["scores"], games["episode"] = self._scores, self._episode
        games["deal_stream"] = rng.integers(2**64, size=_BLOCK, dtype=np.uint64)
        batch = GameBatch(np.zeros(_BLOCK * len(choices), np.uint64))
        batch.games[:] = np.repeat(games, len(choices))
        batch.game_ids = ((_BLOCK * block + np.arange(_BLOCK))[:, None] * len(found.choices) + found.left).ravel()
        meter = LuckMeter(batch.games, by_coin=False, known=batch.games["n_deals"], measure=self._measure)
        rows = np.arange(len(batch))
        for cards in choices.T:
            batch.step(rows, np.tile(cards, _BLOCK))
            meter.note(rows)
        for turn in turns(batch, players):
            tell(0)
            turn.play()
            meter.note(turn.rows)
        own, other = batch.games["scores"][:, 0].astype(np.int64), batch.games["scores"][:, 1].astype(np.int64)
        played = np.zeros((_BLOCK, len(choices), 2, 3))
        of_games = played.reshape(-1, 2, 3)
        of_games[:, 0, WINS] = self._chance(own, other)
        of_games[:, 0, NET_POINTS] = own - other - (self._scores[0] - self._scores[1])
        of_games[:, 1] = meter.luck.sum(axis=1)
        return played.swapaxes(0, 1)

    def _chance(self, own: np.ndarray, other: np.ndarray) -> np.ndarray:
        a, b = np.minimum(own, WIN - 1), np.minimum(other, WIN - 1)
        chance = 1 - self._wins[b, a] if self._dealer else self._wins[a, b]
        return np.where(own >= WIN, 1.0, np.where(other >= WIN, 0.0, chance))


class _Results:
    """What the choices have come to so far; ``left`` are those not given up."""

    def __init__(self, choices: np.ndarray) -> None:
        self.choices, self.left = choices, np.arange(len(choices))
        self._parts: list[list[np.ndarray]] = [[] for _ in choices]

    def add(self, found: np.ndarray) -> None:
        """Notes a block of those that are left, of :meth:`_Worlds.play`."""
        for k, part in zip(self.left.tolist(), found):
            self._parts[k].append(part)

    def _less_luck(self) -> list[np.ndarray]:
        """The results of each choice less luck, (N, 3)."""
        all_parts = map(np.concatenate, self._parts)
        return [less_luck(part[:, 0], part[:, 1], between_equals=True) for part in all_parts]

    def give_up(self, part: float) -> None:
        """Leaves out choices that are worse, each wrongly with a chance of ``part`` at most."""
        values = self._less_luck()
        best = max(self.left.tolist(), key=lambda k: values[k][:, WINS].mean())
        limit = NormalDist().inv_cdf(1 - part) if part > 0 else math.inf

        def stays(k: int) -> bool:
            behind, error = _behind(values[best], values[k])
            return k == best or behind <= limit * error

        self.left = np.array([k for k in self.left.tolist() if stays(k)])

    def largest_error(self) -> float:
        """The largest standard error of a chance to win of those that are left."""
        values = self._less_luck()
        return max(_chance(values[k][:, WINS])[1] for k in self.left.tolist())

    def rollout(self) -> Rollout:
        """The rollout so far."""
        values = self._less_luck()
        order = sorted(range(len(values)), key=lambda k: (k not in self.left, -values[k][:, WINS].mean()))
        best, found = order[0], []
        for k in order:
            figures = *_chance(values[k][:, WINS]), *_mean(values[k][:, NET_POINTS]), *_behind(values[best], values[k])
            found.append(Choice(tuple(self.choices[k].tolist()), *figures, len(values[k])))
        before, after = np.concatenate(self._parts[best])[:, 0, WINS].var(), values[best][:, WINS].var()
        ratio = float(before / after) if after > 1e-20 else 1.0
        return Rollout(tuple(found), len(self.left) == 1 < len(self.choices), found[0].deals, ratio)


def _mean(values: np.ndarray) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))


def _behind(best: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """How far a choice is behind in the chance to win, and the standard error, from results (N, 3) of both."""
    return _mean(best[: len(other), WINS] - other[:, WINS])


def _chance(values: np.ndarray) -> tuple[float, float]:
    """A chance and its standard error: at least one deal of them, as one that always won may lose yet."""
    mean, error = _mean(values)
    return mean, max(error, 1 / len(values))


def _view_of(decision: Any) -> PlayerViews:
    """The view of a decision; ``ValueError`` if it is none, or its game is over or not a whole deal."""
    view = decision
    if isinstance(decision, (np.void, np.ndarray)) and decision.dtype == GAME and decision.size == 1:
        games = np.atleast_1d(np.array(decision))
        if games["phase"][0] > PLAY:
            raise ValueError("there is nothing to choose: the game is over, or the next deal is due")
        view = views_of(games, _ROW, games["turn"].astype(np.int64), _ROW)
    if not isinstance(view, PlayerViews) or len(view) != 1:
        raise ValueError("give one decision: PlayerViews, a game record, or position(…) of cards as text")
    if bad := [int(score) for score in view.scores[0] if not 0 <= score < WIN]:
        raise ValueError(f"a score of {bad[0]} is not allowed: give 0 to {WIN - 1}")
    if not view.is_discard[0] and view.games["episode"][0] == PEGGING_EPISODE:
        raise ValueError("the pegging episode has no rollouts: give a decision of a deal with a starter")
    return view


def _choices_of(view: PlayerViews, named: Sequence[str] | None) -> np.ndarray:
    """The choices (K, C) of one decision; by default all, in the play one card of each rank. ``ValueError`` names one
    that is not legal, or is given twice."""
    (decision,) = decisions(view)
    found = [tuple(sorted(read_answer(text, decision))) for text in (answers(decision) if named is None else named)]
    if named is None and not view.is_discard[0]:
        found = [cards for k, cards in enumerate(found) if cards[0] % 13 not in [one % 13 for (one,) in found[:k]]]
    if not found:
        raise ValueError("there is no choice to roll out: name one, or leave them out for all")
    if again := [cards for cards in found if found.count(cards) > 1]:
        raise ValueError(f"{format_cards(again[0])} is given twice")
    return np.array(found)


def rollout(
    decision: PlayerViews | np.ndarray | np.void,
    choices: Sequence[str] | None = None,
    agent: Agent | str = "best",
    on_progress: Callable[[int, Callable[[], Rollout]], None] = lambda done, so_far: None,
    **how: Any,
) -> Rollout:
    """What each choice of a decision comes to. The same seed gives the same digits, with any number of threads.

    Args:
        decision: one decision, seen by its player; of a game record, the player to act.
        choices: those to compare, such as ``["5H 5C", "JD QS"]`` or ``["7H"]``; by default all.
        agent: plays on in both seats.
        on_progress: called with the further deals done, and with a function that tells what is known so far.
        how: the fields of :class:`Plan`.

    Raises:
        ValueError: an argument is not allowed, or the agent chose an illegal card; the message names it.
    """
    plan = Plan(**how)
    view, player = _view_of(decision), as_agent(agent)
    if player.powers.plays_once:
        raise ValueError(f"agent {player.name!r} cannot play many deals: give another")
    found, worlds = _Results(_choices_of(view, choices)), _Worlds(view, plan)
    began, done, most, looks = time.monotonic(), 0, -(-plan.deals // _BLOCK), 0
    with shared([player], plan.threads) as each:
        while done < most and not (looks and len(found.left) == 1 < len(found.choices)):
            blocks = range(done, min(max(done + 1, math.ceil(_LOOKS * done)), most))
            for part in each(lambda players, block, tell: worlds.play(players, block, found, tell), blocks):
                found.add(part)
                done += 1
                on_progress(_BLOCK, found.rollout)
                if plan.seconds is not None and time.monotonic() - began > plan.seconds:
                    return found.rollout()
            looks += 1
            if plan.confidence < 1:
                found.give_up((1 - plan.confidence) * 6 / (math.pi * looks) ** 2 / max(len(found.choices) - 1, 1))
            if plan.error is not None and found.largest_error() <= plan.error:
                break
    return found.rollout()
