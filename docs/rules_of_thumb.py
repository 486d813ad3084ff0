"""Rules of thumb measured against equilibria: leads and answers of the pegging game, and discards of whole deals.

A rule applies to hands in which some choices keep it and some break it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import comb
from typing import Annotated, Literal, NamedTuple

import numpy as np
import tyro
from rich.box import SIMPLE_HEAD

from crib_env.agents.equilibrium import load_blueprint
from crib_env.cards import RANKS
from crib_env.engine import DEALER, PONE
from crib_env.evaluate.console import console, table_of
from crib_env.evaluate.makers import run
from crib_env.exact.deal_classes import N_DEALS, class_sizes
from crib_env.hands import FOURS, HANDS, N_RANKS
from crib_env.scoring import card_value
from crib_env.solver.deal.kinds import choices, sixes
from crib_env.tables.shipped import DealValues, Leads, standard_deals, standard_leads

_ranks = HANDS[4]  # (1820, 4) ranks, lowest first
_value = np.array([card_value(rank) for rank in range(N_RANKS)])
_held = (_ranks[:, :, None] == np.arange(N_RANKS)).sum(axis=1)  # by hand and rank, how many
_SETS = np.array([np.prod([comb(4, int(n)) for n in held]) for held in _held], float)  # of cards, by hand of ranks
_IS_FIRST = np.c_[np.ones(len(_ranks), bool), np.diff(_ranks, axis=1) > 0]  # of its rank in the hand
_FIVE, _NINE, _TEN = map(RANKS.index, "59T")
_UNLIKELY = 1e-6
_PURE = 0.97


class Tally(NamedTuple):
    """How a rule fares."""

    says: str
    applies: float  # to this share of hands
    kept: float  # how often the equilibrium keeps it then
    keeping: float  # points a deal that it then costs to keep it always, with the best choice that does
    breaking: float  # points a deal that it then costs to break it always, with the best choice that does


class Weighed(NamedTuple):
    """What an equilibrium does with some hands; N hands, or N by some leads, of c cards or discards each."""

    chances: np.ndarray  # (N, c) how likely it makes each choice
    costs: np.ndarray  # (N, c) points a deal that each choice loses to the best one
    weights: np.ndarray  # (N,) how often each hand is held, in any unit


Rule = tuple[str, np.ndarray, np.ndarray]
"""What a rule says, and (N, c) bool, which choices keep it and which break it."""


def tally(rules: Iterable[Rule], found: Weighed) -> Iterator[Tally]:
    """How rules fare over hands; those in which no choice keeps a rule, or none breaks it, do not count."""
    for says, keeps, breaks in rules:
        weights = (found.weights * keeps.any(axis=-1) * breaks.any(axis=-1)).astype(float)
        kept = (found.chances * keeps).sum(axis=-1)
        costs = (np.where(some, found.costs, np.inf).min(axis=-1) for some in (keeps, breaks))
        means = (float(np.average(np.where(weights > 0, one, 0), weights=weights)) for one in (kept, *costs))
        yield Tally(says, float(weights.sum() / found.weights.sum()), *means)


def leads_found(leads: Leads) -> Weighed:
    """What the equilibrium of the pegging game leads, by the hands of pone."""
    return Weighed(leads.lead_chance.astype(float) * _IS_FIRST, leads.lead_cost.astype(float), _SETS)


def answers_found(leads: Leads) -> Weighed:
    """What it answers, by the rank led and the hands of the dealer."""
    return Weighed(leads.answer_chance.astype(float) * _IS_FIRST, leads.answer_cost.astype(float), leads.led * _SETS)


def rules_for_leads() -> Iterator[Rule]:
    """Rules for (1820, 4) leads."""
    paired = np.take_along_axis(_held, _ranks, axis=1) >= 2
    adds = _value[_ranks][:, :, None] + _value[_ranks][:, None, :]
    others = ~np.eye(4, dtype=bool)
    with_five = (_held[:, _FIVE] > 0)[:, None]
    for says, keeps in (
        ("no five", _ranks != _FIVE),
        ("from a pair", paired),
        ("from a pair of aces to fours", paired & (_ranks < _FIVE)),
        ("from a pair of fives", paired & (_ranks == _FIVE)),
        ("from a pair of sixes to nines", paired & (_ranks > _FIVE) & (_ranks <= _NINE)),
        ("from a pair of ten-cards", paired & (_ranks >= _TEN)),
        ("a card below five", _ranks < _FIVE),
        ("a four", _ranks == _FIVE - 1),
        ("no ace", _ranks != 0),
        ("the lowest card", _ranks == _ranks[:, :1]),
        ("one of two that make five", ((adds == 5) & others).any(axis=2)),
        ("one of two that make fifteen", ((adds == 15) & others).any(axis=2)),
    ):
        yield says, keeps, ~keeps
    yield "a ten-card, holding a five", with_five & (_ranks >= _TEN), with_five & (_ranks < _TEN)


_led = np.arange(N_RANKS)[:, None, None]
_pairs = _ranks == _led  # (13, 1820, 4), by the rank led
_count = _value[_ranks] + _value[_led]
_fifteen = _count == 15


def rules_for_answers() -> Iterator[Rule]:
    """Rules for (13, 1820, 4) answers to each rank led."""
    scores = _pairs | _fifteen
    yield "make fifteen", _fifteen, ~_fifteen
    yield "pair the lead", _pairs, ~_pairs
    yield "fifteen before a pair", _fifteen, _pairs & ~_fifteen
    yield "score if you can", scores, ~scores
    yield "leave no count of five", _count != 5, _count == 5
    yield "without points, go past fifteen", ~scores & (_count > 15), ~scores & (_count < 15)
    near = abs(_ranks - _led) <= 2
    yield "without points, none near the lead", ~scores & ~near, ~scores & near


def lead_habits(leads: Leads) -> Iterator[tuple[float, float, float]]:
    """Of each rank: its share of all leads; how often it is led from a hand that has it and another rank; and the mean
    points that leading it costs such a hand."""
    found = leads_found(leads)
    for rank in range(N_RANKS):
        of_rank = (_ranks == rank) & _IS_FIRST
        chance, cost = ((numbers * of_rank).sum(axis=1) for numbers in (found.chances, found.costs))
        choice = _SETS * ((_held[:, rank] > 0) & (_held[:, rank] < 4))
        often, mean_cost = (float(np.average(numbers, weights=choice)) for numbers in (chance, cost))
        yield float(np.average(chance, weights=_SETS)), often, mean_cost


def answer_habits(leads: Leads) -> Iterator[tuple[float, float, float, float]]:
    """Of each lead: its share; how often the dealer pairs it, and makes fifteen, each where it is possible and not the
    only choice, NaN if it never is; and what the dealer earns net from there on, points."""
    found = answers_found(leads)
    for led in range(N_RANKS):
        often = []
        for cards in (_pairs[led], _fifteen[led]):
            weights = found.weights[led] * cards.any(axis=1) * ~cards.all(axis=1)
            chosen = (found.chances[led] * cards).sum(axis=1)
            often.append(float(np.average(chosen, weights=weights)) if weights.any() else float("nan"))
        value = float(np.average(leads.answer_value[led], weights=found.weights[led]))
        yield float(found.weights[led].sum() / _SETS.sum()), often[0], often[1], value


def discards_found(values: DealValues, chances: np.ndarray, role: int) -> Weighed:
    """What a role discards in a solution, of each class of six cards, by chances (962988, 15) in any unit, and what
    each discard costs it if the player goes on as well as it can."""
    totals = values.totals(role, choices())
    made = chances / chances.sum(axis=1, keepdims=True, dtype=np.float32)
    return Weighed(made, totals.max(axis=1, keepdims=True) - totals, class_sizes())


def rules_for_discards(role: int) -> Iterator[Rule]:
    """Rules of a role for the (962988, 15) discards of all classes."""
    low, high = HANDS[2][sixes().discards].T
    adds, of_classes = _value[low] + _value[high], choices()
    held = (FOURS[:, :, None] == np.arange(15)).any(axis=1)
    is_run = (held[:, :-2] & held[:, 1:-1] & held[:, 2:]).any(axis=1)
    kinds = {
        "five": (low == _FIVE) | (high == _FIVE),
        "pair": low == high,
        "two in a row": high - low == 1,
        "two that make five": adds == 5,
        "two that make fifteen": adds == 15,
    }
    rules = {f"no {kind}": ~made for kind, made in kinds.items()}
    if role == DEALER:
        rules = {kind if " " in kind else f"a {kind}": made for kind, made in kinds.items()}
    else:
        rules["two that cannot be in a run"] = high - low >= 5
    rules["a king or queen with six to nine"] = (high >= 11) & (low > _FIVE) & (low <= _NINE)
    rules["keep three in a row"] = is_run[sixes().kept]
    for says, made in rules.items():
        keeps = made[of_classes.choice]
        yield says, keeps, ~keeps
    most = of_classes.hand >= of_classes.hand.max(axis=1, keepdims=True) - _UNLIKELY
    yield "keep the hand of most points", most, ~most


def overall(role: int, found: Weighed, values: DealValues) -> dict[str, float]:
    """How a role discards in a solution, over all deals: points a deal lost to the best discards, the share of deals in
    which it makes one discard at least 97 % of the time, and mean points of its hand and of the crib."""
    of_classes = choices()
    crib = values.cribs[role][of_classes.choice] + of_classes.suited
    loss, hand, crib = ((found.chances * one).sum(axis=1) for one in (found.costs, of_classes.hand, crib))
    parts = {"loss": loss, "pure": found.chances.max(axis=1) >= _PURE, "hand": hand, "crib": crib}
    return {name: float(found.weights @ one.astype(float)) / N_DEALS for name, one in parts.items()}


class PairDiscarded(NamedTuple):
    """How two ranks are discarded."""

    ranks: str
    share: float  # of all discards
    when_held: float  # how often they are discarded from six cards that have both
    crib: float  # mean points of the crib with them, over the deals in which they are


def pairs_discarded(role: int, found: Weighed, values: DealValues) -> list[PairDiscarded]:
    """All 91 sets of two ranks, the most frequent first."""
    of_classes, kinds, made = choices(), sixes(), found.chances * found.weights[:, None].astype(float)
    by_choice, suited = (
        np.bincount(of_classes.choice.ravel(), one.ravel(), len(kinds.six)) for one in (made, made * of_classes.suited)
    )
    share, held = np.bincount(kinds.discards, by_choice), np.bincount(kinds.discards, kinds.ways()[kinds.six])
    cribs = np.bincount(kinds.discards, by_choice * values.cribs[role] + suited)
    means = np.divide(cribs, share, out=np.full(len(share), np.nan), where=share > _UNLIKELY)
    names = [" ".join(RANKS[rank] for rank in pair) for pair in HANDS[2]]
    rows = map(PairDiscarded, names, share / N_DEALS, share / held, means)
    return sorted(rows, key=lambda row: -row.share)


def rules_of_thumb(of: Annotated[Literal["leads", "discards"], tyro.conf.Positional], dealer: bool = False) -> None:
    """Shows what equilibria lead, answer and discard over all hands, and what rules of thumb gain or lose.

    Args:
        of: The first cards of the pegging game, or discards of whole deals.
        dealer: Of the dealer, which answers to leads, in place of pone.
    """
    role = DEALER if dealer else PONE
    if of == "discards":
        values = standard_deals()
        found = discards_found(values, load_blueprint().discards[role], role)
        console.print(*(f"{name} {value:.4f}" for name, value in overall(role, found, values).items()))
        pairs, tallies = pairs_discarded(role, found, values)[:20], tally(rules_for_discards(role), found)
        _show(("discard", "of all", "when held", "mean crib"), "{} {:.1%} {:.0%} {:.2f}", ([*pair] for pair in pairs))
    elif dealer:
        tallies = tally(rules_for_answers(), answers_found(standard_leads()))
        rows = ([rank, *row] for rank, row in zip(RANKS, answer_habits(standard_leads())))
        _show(("lead", "led", "paired", "made fifteen", "dealer's net"), "{} {:.1%} {:.0%} {:.0%} {:+.2f}", rows)
    else:
        tallies = tally(rules_for_leads(), leads_found(standard_leads()))
        rows = ([rank, *row] for rank, row in zip(RANKS, lead_habits(standard_leads())))
        _show(("rank", "of all leads", "when held", "mean cost"), "{} {:.1%} {:.1%} {:.2f}", rows)
    columns = ("rule", "applies", "kept", "cost of keeping", "of breaking")
    _show(columns, "{} {:.1%} {:.0%} {:.3f} {:.3f}", ([*one] for one in tallies))


def _show(columns: tuple[str, ...], forms: str, rows: Iterable[Sequence[object]]) -> None:
    cells = ([form.format(value) for form, value in zip(forms.split(), row)] for row in rows)
    console.print(table_of("", columns, cells, no_wrap=True, box=SIMPLE_HEAD, padding=(0, 1, 0, 0)))


if __name__ == "__main__":
    run(rules_of_thumb)
