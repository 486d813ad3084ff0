"""Why one card of the play is better than another, in the words of players: points at once first, then what follows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from crib_env import PlayerViews
from crib_env.cards import format_card, format_cards
from crib_env.evaluate.play.replies import After, Sight
from crib_env.scoring import COUNT_LIMIT

_NOTICED = 0.03  # points on average below which nothing is said
_TENS = range(9, 13)
_NAMES = ("an ace", *(f"a {number}" for number in range(2, 8)), "an 8", "a 9", "a 10", "a jack", "a queen", "a king")


class Margin(NamedTuple):
    """By how much the better card is better."""

    points: float
    """Net points of the deal; 0 or less where it wins more often all the same."""
    chance: float
    """To win the game."""


class _Reason(NamedTuple):
    """One thing that speaks for the better card."""

    points: float
    """How much it brings, roughly."""
    tell: Callable[[], str]


def why_card(view: PlayerViews, better: int, other: int, margin: Margin) -> str:
    """Why to lay one card rather than another.

    Args:
        view: one decision in the play.
        better, other: the cards.
        margin: between them.
    """
    sight = Sight(view)
    first, second = sight.after(better), sight.after(other)
    own, opponents = view.scores[0].tolist()
    reason = max(_reasons(sight, first, second), key=lambda one: one.points)
    said = [*_at_once(first, second)]
    gained = first.points - second.points
    if gained < 0 < margin.points:
        brings = f"by the end of the play {_named(first)} brings {margin.points:.2f} more all the same"
        said[0] = f"{said[0].removesuffix('.')}, but {brings}."
    elif margin.points <= 0:
        often = f"{_named(first)} wins {_percents(margin.chance)} more often, though not by more points."
        said.append(f"At {own} to {opponents} {often}")
    if reason.points >= max(_NOTICED, gained):
        said.append(reason.tell())
    if not said:
        said.append(f"By the end of the play {_named(first)} brings {margin.points:.2f} points more.")
    return " ".join(f"{one[0].upper()}{one[1:]}" for one in said)


def _named(after: After) -> str:
    return format_card(after.card)


def _percents(chance: float) -> str:
    return f"{100 * chance:.1f} % points"


def _at_once(first: After, second: After) -> Iterator[str]:
    if first.points == second.points > 0:
        yield f"{_named(first)} and {_named(second)} both make {first.points} at once."
    elif first.points > second.points:
        yield f"{_named(first)} makes {first.points} at once, {_named(second)} {second.points or 'nothing'}."
    elif second.points:
        yield f"{_named(second)} makes {second.points} at once, {_named(first)} {first.points or 'nothing'}."


def _reasons(sight: Sight, first: After, second: After) -> Iterator[_Reason]:
    if sight.is_alone:
        gained = first.alone - first.points - (second.alone - second.points)
        yield _Reason(gained, lambda: _tell_alone(sight, first, second))
        return
    yield _Reason(second.reply - first.reply, lambda: _tell_reply(sight, first, second))
    if COUNT_LIMIT not in (first.total, second.total):  # after 31 nobody says go
        yield _Reason(first.silent - second.silent, lambda: _tell_silent(sight, first, second))
    if first.follows > second.follows:
        yield _Reason(first.followed - second.followed, lambda: _tell_followers(sight, first, second))


def _tell_alone(sight: Sight, first: After, second: After) -> str:
    why = (
        "has no cards left"
        if sight.go_at is None
        else f"said go at {sight.go_at} and holds nothing that fits this count"
    )
    makes = f"laying on alone you make {first.alone} with {_named(first)} first, {second.alone} with {_named(second)}"
    return f"your opponent {why}: {makes}."


def _tell_reply(sight: Sight, first: After, second: After) -> str:
    """The reply that the better card denies most."""
    groups: list[tuple[int, ...]] = [(rank,) for rank in second.replies]
    if len(tens := tuple(rank for rank in _TENS if second.replies.get(rank) == 2)) == len(_TENS):
        groups.append(tens)

    def denied(ranks: tuple[int, ...]) -> float:
        return sight.chance_of(ranks) * min(second.replies[rank] - first.replies.get(rank, 0) for rank in ranks)

    ranks = max(groups, key=denied)
    name = "a ten-card" if len(ranks) > 1 else _NAMES[ranks[0]]
    left = sum(card % 13 in ranks for card in sight.unseen)
    held = f"your opponent holds one with {100 * sight.chance_of(ranks):.0f} %{_why_held(sight)}"
    unseen = f"{left} of {len(sight.unseen)} unseen cards {'is' if left == 1 else 'are'}"
    leaves = f"{_named(second)} leaves {second.total} for {name}, {sight.name_reply(second, ranks[0])}"
    best = f"The best reply makes {second.reply:.2f} on average, after {_named(first)} {first.reply:.2f}."
    return f"{leaves}: {unseen}, and {held}. {best}"


def _why_held(sight: Sight) -> str:
    laid = sight.others_laid
    return f", as it has laid {format_cards(laid)}" if laid else ", by what players keep"


def _tell_silent(sight: Sight, first: After, second: After) -> str:
    chances = f"{100 * first.silent:.0f} %, and {second.total} with {100 * second.silent:.0f} %"
    return f"your opponent has nothing for {first.total} with {chances}{_why_held(sight)}: then the go is yours."


def _tell_followers(sight: Sight, first: After, second: After) -> str:
    keeps = format_cards([card for card in sight.held if card != first.card])
    of = f"of {len(sight.unseen)} unseen cards {first.follows}, laid next, let you score with {keeps}"
    return f"{of}; after {_named(second)} {second.follows}."
