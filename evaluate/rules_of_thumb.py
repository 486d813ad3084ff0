"""Rules of thumb for the first cards of the play, measured against the equilibrium of the pegging game."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import comb
from typing import NamedTuple

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.table import Table

from crib_env.cards import RANKS
from crib_env.evaluate.console import table_of
from crib_env.hands import HANDS, N_RANKS
from crib_env.scoring import card_value
from crib_env.tables.shipped import Leads

_ranks = HANDS[4]  # (1820, 4) ranks, lowest first
_values = np.array([card_value(rank) for rank in range(N_RANKS)])[_ranks]
_held = (_ranks[:, :, None] == np.arange(N_RANKS)).sum(axis=1)  # by hand and rank, how many
_SETS = np.array(
    [np.prod([comb(4, int(n)) for n in held]) for held in _held], float
)  # of cards, for each hand of ranks
_IS_FIRST = np.c_[np.ones(len(_ranks), bool), np.diff(_ranks, axis=1) > 0]  # of its rank in the hand
_FIVE, _TEN = RANKS.index("5"), RANKS.index("T")


class Rule(NamedTuple):
    """A rule for a card to lay. ``keeps`` and ``breaks`` take the rank led, 0 to 12 (-1 for a lead), and give (1820, 4)
    bool: which cards of each hand keep the rule, and which break it. It applies to hands that have both."""

    says: str
    keeps: Callable[[int], np.ndarray]
    breaks: Callable[[int], np.ndarray]


class Tally(NamedTuple):
    """How a rule fares."""

    says: str
    applies: float
    """To this share of hands."""
    kept: float
    """How often the equilibrium keeps it then."""
    keeping: float
    """Points a deal that it then costs to keep it always, with the best card that does."""
    breaking: float
    """Points a deal that it then costs to break it always, with the best card that does."""


class Weighed(NamedTuple):
    """What an equilibrium does with some hands; N hands, or N by some leads, of c cards or discards each."""

    chances: np.ndarray
    """(N, c) how likely it makes each choice."""
    costs: np.ndarray
    """(N, c) points a deal that each choice loses to the best one."""
    weights: np.ndarray
    """(N,) how often each hand is held, in any unit."""


def tally(says: str, keeps: np.ndarray, breaks: np.ndarray, found: Weighed) -> Tally:
    """How a rule fares over hands.

    Args:
        says: what the rule says.
        keeps: (N, c) bool, the choices that keep it.
        breaks: (N, c) bool, those that break it. Hands without one of the two do not count.
    """
    weights = (found.weights * keeps.any(axis=-1) * breaks.any(axis=-1)).astype(float)
    kept = (found.chances * keeps).sum(axis=-1)
    keeping, breaking = (np.where(some, found.costs, np.inf).min(axis=-1) for some in (keeps, breaks))
    means = (float(np.average(np.where(weights > 0, one, 0), weights=weights)) for one in (kept, keeping, breaking))
    return Tally(says, float(weights.sum() / found.weights.sum()), *means)


def rules_table(title: str, tallies: Iterable[Tally]) -> Table:
    """Rules for people, a row each."""
    rows = (
        (one.says, f"{one.applies:.1%}", f"{one.kept:.0%}", f"{one.keeping:.3f}", f"{one.breaking:.3f}")
        for one in tallies
    )
    columns = ("rule", "applies", "kept", "cost of keeping", "of breaking")
    return table_of(title, columns, rows, no_wrap=True, box=SIMPLE_HEAD, padding=(0, 1, 0, 0))


def _always(says: str, keeps: Callable[[int], np.ndarray]) -> Rule:
    return Rule(says, keeps, lambda led: ~keeps(led))


def _pair_of(low: int, high: int) -> Callable[[int], np.ndarray]:
    """A card of a pair, or of three or four, of the ranks from ``low`` to ``high``."""
    is_paired = np.take_along_axis(_held, _ranks, axis=1) >= 2
    return lambda led: is_paired & (_ranks >= low) & (_ranks <= high)


def _one_of_two(total: int) -> Callable[[int], np.ndarray]:
    """A card beside which another makes a total."""
    adds = _values[:, :, None] + _values[:, None, :] == total
    return lambda led: (adds & ~np.eye(4, dtype=bool)).any(axis=2)


def _if_held(rank: int, keeps: np.ndarray) -> Callable[[int], np.ndarray]:
    return lambda led: keeps & (_held[:, rank] > 0)[:, None]


def _count(led: int) -> np.ndarray:
    return _values + card_value(led)


def _pairs(led: int) -> np.ndarray:
    return _ranks == led


def _makes_fifteen(led: int) -> np.ndarray:
    return _count(led) == 15


def _scores(led: int) -> np.ndarray:
    return _pairs(led) | _makes_fifteen(led)


LEADS = (
    _always("no five", lambda led: _ranks != _FIVE),
    _always("from a pair", _pair_of(0, 12)),
    _always("from a pair of aces to fours", _pair_of(0, 3)),
    _always("from a pair of fives", _pair_of(4, 4)),
    _always("from a pair of sixes to nines", _pair_of(5, 8)),
    _always("from a pair of ten-cards", _pair_of(9, 12)),
    _always("a card below five", lambda led: _ranks < _FIVE),
    _always("a four", lambda led: _ranks == 3),
    _always("no ace", lambda led: _ranks != 0),
    _always("the lowest card", lambda led: _ranks == _ranks[:, :1]),
    _always("one of two that make five", _one_of_two(5)),
    _always("one of two that make fifteen", _one_of_two(15)),
    Rule(
        "a ten-card, holding a five",
        _if_held(_FIVE, _ranks >= _TEN),
        _if_held(_FIVE, _ranks < _TEN),
    ),
)
ANSWERS = (
    _always("make fifteen", _makes_fifteen),
    _always("pair the lead", _pairs),
    Rule("fifteen before a pair", _makes_fifteen, lambda led: _pairs(led) & ~_makes_fifteen(led)),
    _always("score if you can", _scores),
    _always("leave no count of five", lambda led: _count(led) != 5),
    Rule(
        "without points, go past fifteen",
        lambda led: ~_scores(led) & (_count(led) > 15),
        lambda led: ~_scores(led) & (_count(led) < 15),
    ),
    Rule(
        "without points, none near the lead",
        lambda led: ~_scores(led) & (abs(_ranks - led) > 2),
        lambda led: ~_scores(led) & (abs(_ranks - led) <= 2),
    ),
)


def tally_leads(rule: Rule, leads: Leads) -> Tally:
    """How a rule for the lead fares over all hands of pone."""
    chances, costs = leads.lead_chance.astype(float), leads.lead_cost.astype(float)
    return tally(rule.says, rule.keeps(-1), rule.breaks(-1), Weighed(chances * _IS_FIRST, costs, _SETS))


def tally_answers(rule: Rule, leads: Leads) -> Tally:
    """How a rule for the answer fares over all leads and hands of the dealer."""
    keeps, breaks = (np.array([cards(led) for led in range(N_RANKS)]) for cards in (rule.keeps, rule.breaks))
    chances, costs = leads.answer_chance.astype(float), leads.answer_cost.astype(float)
    return tally(rule.says, keeps, breaks, Weighed(chances * _IS_FIRST, costs, leads.led * _SETS))


class RankLed(NamedTuple):
    """How a rank is led."""

    share: float
    """Of all leads."""
    when_held: float
    """How often it is led from a hand that has it and another rank."""
    cost: float
    """Mean points that leading it costs such a hand."""


def lead_habits(leads: Leads) -> Iterator[RankLed]:
    """How each rank is led over all hands."""
    chances, costs = leads.lead_chance.astype(float), leads.lead_cost.astype(float)
    for rank in range(N_RANKS):
        of_rank = (_ranks == rank) & _IS_FIRST
        chance, cost = ((numbers * of_rank).sum(axis=1) for numbers in (chances, costs))
        choice = _SETS * ((_held[:, rank] > 0) & (_held[:, rank] < 4))
        share = np.average(chance, weights=_SETS)
        yield RankLed(share, *(float(np.average(numbers, weights=choice)) for numbers in (chance, cost)))


class RankAnswered(NamedTuple):
    """How a lead is answered."""

    share: float
    """Of all leads."""
    pairs: float
    """How often the dealer pairs it, with that rank and another in hand."""
    fifteens: float
    """How often the dealer makes fifteen, where that is possible and not the only choice; NaN if it never is."""
    value: float
    """What the dealer earns net from there on, points."""


def answer_habits(leads: Leads) -> Iterator[RankAnswered]:
    """How each lead is answered over all hands."""
    for led in range(N_RANKS):
        weights = leads.led[led] * _SETS
        value = float(np.average(leads.answer_value[led], weights=weights))
        pairs, fifteens = (
            _how_often(cards(led), leads.answer_chance[led], weights) for cards in (_pairs, _makes_fifteen)
        )
        yield RankAnswered(float(weights.sum() / _SETS.sum()), pairs, fifteens, value)


def _how_often(cards: np.ndarray, chances: np.ndarray, weights: np.ndarray) -> float:
    weights = weights * cards.any(axis=1) * ~cards.all(axis=1)
    chosen = (chances.astype(float) * (cards & _IS_FIRST)).sum(axis=1)
    return float(np.average(chosen, weights=weights)) if weights.any() else float("nan")
