"""Why one choice is better than another, in the words of players, from what the player sees.

A reason has a name, a sentence and figures. A card of the play: the largest of what it makes at once, what the
opponent may answer, what follows then, and what is left. A discard: the part of the deal that brings most of the chance
to win.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.belief import MOST_HANDS, Hands, habits, posterior
from crib_env.agents.choosing import six_dealt
from crib_env.cards import N_CARDS, format_card, format_cards
from crib_env.engine import DEALER, PONE, WIN
from crib_env.evaluate.skill.analysis.decisions import LEAST
from crib_env.kernels import mask_of
from crib_env.scoring import COUNT_LIMIT, card_value, pile_points, score_show
from crib_env.tables.analysis import analyse_discard, win_shares

N_RANKS = 13
_MADE = {15: "fifteen", 31: "thirty-one"}
_ALIKE = {2: "a pair", 6: "three of a kind", 12: "four of a kind"}
_BITS = 4  # of a packed hand for each rank


class After(NamedTuple):
    """What follows from a card laid."""

    card: int
    pile: list[int]  # the ranks of the count with this card
    points: int  # scored at once
    alone: int
    """The most points to the end of the count, this card included, if the opponent does not lay any more; without cards
    of the opponent, to the end of the play."""
    replies: dict[int, int]
    """The points that the opponent would score at once, by the rank that it lays; without those that score nothing."""
    reply: float = 0.0  # its best reply's points, on average over the hands that it may hold
    silent: float = 0.0  # the chance that it has no card that fits the count
    follows: int = 0  # how many unseen cards, laid next by the opponent, let this player score
    followed: float = 0.0  # the points of the best such follower, on average over the unseen cards

    @property
    def name(self) -> str:
        """The card as text."""
        return format_card(self.card)

    @property
    def total(self) -> int:
        """The count with this card."""
        return _count(self.pile)


class Sight:
    """What a player sees before it lays a card.

    Attributes:
        go_at: the count at which the opponent said go, if it did in this count.
        why_held: what the chances of its cards are founded on, in words.
    """

    def __init__(self, view: PlayerViews) -> None:
        self._view = view
        self.held = [card for card in view.hand[0].tolist() if card >= 0]
        laid, laid_by = ([one for one in of[0].tolist() if one >= 0] for of in (view.laid, view.laid_by))
        start = int(view.pile_start[0])
        self.pile = [card % N_RANKS for card in laid[start:]]
        self._own = np.concatenate([view.kept[0], view.discards[0]]).astype(np.int64)
        seen = {*self._own.tolist(), *laid, int(view.starter[0])}
        self.unseen = [card for card in range(N_CARDS) if card not in seen]
        self.opponents_cards = int(view.opponent_cards[0])
        self.go_at = _go_at(self.pile, laid_by[start:]) if view.said_go[0, 1] else None
        others = [card for card, by in zip(laid, laid_by) if by == 1]
        self.why_held = f", as it has laid {format_cards(others)}" if others else ", by what players keep"

    @property
    def is_alone(self) -> bool:
        """Whether the opponent lays no more in this count."""
        return self.go_at is not None or not self.opponents_cards

    @cached_property
    def _likely(self) -> tuple[np.ndarray, np.ndarray]:
        """The hands (N, 13) that the opponent may hold, as numbers of ranks, and their probabilities."""
        view = self._view
        hands = Hands(*(np.zeros(MOST_HANDS, kind) for kind in (np.int64, np.float64, np.int64, np.int64)))
        n = int((view.laid[0] >= 0).sum())
        size = posterior(
            mask_of(self._own),
            np.int64(view.starter[0]),
            view.laid[0],
            view.laid_by[0],
            np.int64(n),
            n > 0 and int(view.pile_start[0]) == n,
            habits().keeping[DEALER if view.is_dealer[0] else PONE],
            hands,
        )
        ranks = hands.held[:size, None] >> (_BITS * np.arange(N_RANKS)) & (2**_BITS - 1)
        return ranks, hands.weights[:size]

    def chance_of(self, ranks: Sequence[int]) -> float:
        """The chance that the opponent holds a card of one of these ranks."""
        hands, weights = self._likely
        return float(weights[hands[:, list(ranks)].any(axis=1)].sum())

    def after(self, card: int) -> After:
        """What follows from laying a card."""
        pile, rest = [*self.pile, card % N_RANKS], [other % N_RANKS for other in self.held if other != card]
        found = After(card, pile, _points(pile), _alone(pile, rest, self.opponents_cards == 0), {})
        if self.is_alone or found.total >= COUNT_LIMIT:
            return found
        fits = _fit(pile, range(N_RANKS))
        replies = {other: points for other in fits if (points := _points([*pile, other]))}
        bests = {other: _best([*pile, other], rest) for other in fits}
        followers = [bests[other % N_RANKS] for other in self.unseen if other % N_RANKS in bests]
        hands, weights = self._likely
        scores = np.array([replies.get(other, 0) for other in range(N_RANKS)])
        return found._replace(
            replies=replies,
            reply=float(weights @ ((hands > 0) * scores).max(axis=1)),
            silent=float(weights[~hands[:, fits].any(axis=1)].sum()),
            follows=sum(map(bool, followers)),
            followed=sum(followers) / len(self.unseen),
        )


def _go_at(pile: Sequence[int], laid_by: Sequence[int]) -> int:
    """The count at which the opponent has said go: before all but the first of the cards laid alone since."""
    alone = next((k for k, by in enumerate(reversed(laid_by)) if by == 1), len(pile))
    return _count(pile[: len(pile) - max(alone - 1, 0)])


def _count(pile: Sequence[int]) -> int:
    return sum(map(card_value, pile))


def _points(pile: Sequence[int]) -> int:
    """The points of the last rank of a pile."""
    return int(pile_points(np.array(pile, np.int8), 0, len(pile), _count(pile)))


def _named(pile: Sequence[int]) -> str:
    """What the last rank of a pile makes."""
    points, count = _points(pile), _count(pile)
    names = [_MADE[count]] if count in _MADE else []
    if rest := points - 2 * len(names):
        names.append(f"a run of {rest}" if pile[-1] != pile[-2] else _ALIKE[rest])
    return f"{' and '.join(names)} for {points}"


def _fit(pile: Sequence[int], ranks: Iterable[int]) -> list[int]:
    left = COUNT_LIMIT - _count(pile)
    return [rank for rank in ranks if card_value(rank) <= left]


def _best(pile: Sequence[int], ranks: Sequence[int]) -> int:
    """The most points that one of these ranks makes on a pile."""
    return max((_points([*pile, rank]) for rank in _fit(pile, ranks)), default=0)


def _alone(pile: Sequence[int], rest: Sequence[int], goes_on: bool) -> int:
    """The most points of the pile's last card and of the rest laid alone after it, with the point for the last one.

    ``goes_on``: another count follows, in which the player is alone too.
    """
    points, fitting, start = _points(pile), _fit(pile, rest), [*pile]
    if not fitting:
        points += _count(pile) < COUNT_LIMIT
        fitting, start = [*rest] if goes_on else [], []
    left = {rank: [*rest] for rank in fitting}
    for rank, others in left.items():
        others.remove(rank)
    return points + max((_alone([*start, rank], others, goes_on) for rank, others in left.items()), default=0)


class Reason(NamedTuple):
    """Why one choice is better than another."""

    name: str  # of REASONS
    said: str  # in one sentence, as a player says it
    figures: str  # what it rests on, in sentences with figures

    def __str__(self) -> str:
        return f"{self.said} {self.figures}".rstrip()


REASONS = (
    *("points now", "answer invited", "five led", "pair to trap", "trap", "go", "alone", "low card", "five", "later"),
    *("hand", "your crib", "opponent's crib", "play"),  # of discards
    *("score", "alike", "only card"),  # "score": points alone would choose the other
)
"""The names of reasons. What decides is the part of the difference that is largest."""

_ALIKE_CHANCE, _ALIKE_POINTS = 0.002, 0.1  # below both, two choices are told to be alike
_NEAR = 31  # points to the end, from which on a player thinks of what both need


def are_alike(chance: float, points: float) -> bool:
    """Whether a choice that wins so much more often, and brings so many more points, is told to be no better."""
    return chance < LEAST or (chance < _ALIKE_CHANCE and abs(points) < _ALIKE_POINTS)


def _needs(view: PlayerViews) -> str:
    own, opponents = view.scores[0].tolist()
    counts = "your opponent counts" if view.is_dealer[0] else "you count"
    return f"You need {WIN - own}, your opponent {WIN - opponents}, and {counts} first"


# The play

_NOTICED_IN_PLAY = 0.03  # points on average below which nothing is said
_TENS, _FIVE, _LOW = range(9, 13), 4, 4  # a low card: its value at most
_NAMES = ("an ace", *(f"a {number}" for number in range(2, 8)), "an 8", "a 9", "a 10", "a jack", "a queen", "a king")
_PLURALS = ("aces", *(f"{number}s" for number in range(2, 11)), "jacks", "queens", "kings")


class _Cause(NamedTuple):
    """A part of the difference between two cards; with words if it speaks for the first."""

    name: str
    points: float
    said: str = ""
    figures: str = ""


def why_card(view: PlayerViews, better: int, other: int, points: float, chance: float) -> Reason:
    """Why to lay one card rather than another.

    Args:
        view: one decision in the play.
        better, other: the cards.
        points, chance: net points of the deal, and chance to win, that the better one brings more. The points are 0 or
            less where it wins more often all the same.
    """
    sight = Sight(view)
    first, second = sight.after(better), sight.after(other)
    own, opponents = view.scores[0].tolist()
    gained = first.points - second.points
    causes = list(_causes(sight, first, second))
    told = max(causes, key=lambda cause: cause.points)
    figures = [*_at_once(first, second)]
    if gained < 0 < points:
        brings = f"by the end of the play {first.name} brings {points:.2f} more all the same"
        figures[0] = f"{figures[0].removesuffix('.')}, but {brings}."
    elif points <= 0:
        often = f"{first.name} wins {100 * chance:.1f} % points more often, though not by more points."
        figures.append(f"At {own} to {opponents} {often}")
    if told.points >= max(_NOTICED_IN_PLAY, gained):
        figures.append(told.figures)
    if not figures:
        figures.append(f"By the end of the play {first.name} brings {points:.2f} points more.")
    by_score = points <= 0  # then points say nothing of what is left
    rest = 0.0 if by_score else points - sum(cause.points for cause in causes) - gained
    if are_alike(chance, points):
        name, said = "alike", f"{first.name} and {second.name} are about as good."
    elif gained > 0 and gained >= max(told.points, rest):
        name, said = "points now", f"{first.name} makes {_named(first.pile)} now."
    elif told.points >= max(_NOTICED_IN_PLAY, rest):
        name, said = told.name, told.said
    else:
        name, said = _later(first, second)
    if by_score and name != "alike" and min(WIN - own, WIN - opponents) <= _NEAR:
        lower = said if said.startswith((first.name, second.name)) else f"{said[0].lower()}{said[1:]}"
        name, said = "score", f"{_needs(view)}: {lower}"
    return Reason(name, said, " ".join(map(_capital, figures)))


def _capital(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"


def _later(first: After, second: After) -> tuple[str, str]:
    """What speaks for keeping the second card, where nothing that comes next does."""
    rank = second.card % N_RANKS
    if rank == _FIVE:
        return "five", f"Keep {second.name}: a ten-card makes it worth 2 later."
    if card_value(rank) <= _LOW < card_value(first.card % N_RANKS):
        return "low card", f"Keep {second.name}: a low card often wins a go."
    return "later", f"Keep {second.name}: it is worth more later in the play."


def _at_once(first: After, second: After) -> Iterator[str]:
    if first.points == second.points > 0:
        yield f"{first.name} and {second.name} both make {first.points} at once."
    elif first.points > second.points:
        yield f"{first.name} makes {first.points} at once, {second.name} {second.points or 'nothing'}."
    elif second.points:
        yield f"{second.name} makes {second.points} at once, {first.name} {first.points or 'nothing'}."


def _causes(sight: Sight, first: After, second: After) -> Iterator[_Cause]:
    """What speaks for the better card beside points at once, and how much it brings, roughly."""
    if sight.is_alone:
        yield _laying_alone(sight, first, second)
        return
    yield _answer_invited(sight, first, second)
    if COUNT_LIMIT not in (first.total, second.total):  # after 31 nobody says go
        chances = f"{100 * first.silent:.0f} %, and for {second.total} of {100 * second.silent:.0f} %{sight.why_held}"
        yield _Cause(
            "go",
            first.silent - second.silent,
            f"{first.name} makes {first.total}: your opponent will more often have to say go.",
            f"your opponent has nothing for {first.total} with a chance of {chances}: then the go is yours.",
        )
    if first.follows > second.follows:
        yield _trap(sight, first, second)


def _laying_alone(sight: Sight, first: After, second: After) -> _Cause:
    if sight.go_at is None:
        why = knows = "has no cards left"
    else:
        why, knows = "has said go", f"said go at {sight.go_at} and holds nothing that fits this count"
    makes = f"laying on alone you make {first.alone} with {first.name} first, {second.alone} with {second.name}"
    return _Cause(
        "alone",
        first.alone - first.points - (second.alone - second.points),
        f"Your opponent {why}: with {first.name} first, the rest scores more.",
        f"your opponent {knows}: {makes}.",
    )


def _answer_invited(sight: Sight, first: After, second: After) -> _Cause:
    name, points = "answer invited", second.reply - first.reply
    if points <= 0:
        return _Cause(name, points)
    groups: list[tuple[int, ...]] = [(rank,) for rank in second.replies]
    if len(tens := tuple(rank for rank in _TENS if second.replies.get(rank) == 2)) == len(_TENS):
        groups.append(tens)

    def denied(ranks: tuple[int, ...]) -> float:
        return sight.chance_of(ranks) * min(second.replies[rank] - first.replies.get(rank, 0) for rank in ranks)

    ranks = max(groups, key=denied)
    answer = "a ten-card" if len(ranks) > 1 else _NAMES[ranks[0]]
    makes = _named([*second.pile, ranks[0]])
    left = sum(card % N_RANKS in ranks for card in sight.unseen)
    unseen = f"{left} of {len(sight.unseen)} unseen cards {'is' if left == 1 else 'are'} one"
    held = f"Your opponent holds one with a chance of {100 * sight.chance_of(ranks):.0f} %{sight.why_held}"
    best = f"The best reply makes {second.reply:.2f} on average, after {first.name} {first.reply:.2f}."
    if not sight.pile and second.card % N_RANKS == _FIVE:
        name = "five led"
    said = f"{second.name} invites {answer}: {makes}."
    return _Cause(
        name,
        points,
        said,
        f"{second.name} leaves {second.total}, where {answer} makes {makes}; {unseen}. {held}. {best}",
    )


def _trap(sight: Sight, first: After, second: After) -> _Cause:
    """The answer that lets this player score most, weighed by how many such cards are unseen, and its own card then."""
    rest, unseen = [card for card in sight.held if card != first.card], [card % N_RANKS for card in sight.unseen]
    _, answer, card = max(
        (_points([*first.pile, rank, card % N_RANKS]) * unseen.count(rank), rank, card)
        for rank in _fit(first.pile, range(N_RANKS))
        for card in rest
        if card % N_RANKS in _fit([*first.pile, rank], range(N_RANKS))
    )
    made = _named([*first.pile, answer, card % N_RANKS])
    if answer == first.card % N_RANKS and _ALIKE[6] in made:
        name, said = "pair to trap", f"Lay one of your {_PLURALS[answer]}: if it is paired, you make {made}."
    else:
        name, said = "trap", f"If {_NAMES[answer]} answers {first.name}, your {format_card(card)} makes {made}."
    lays = f"if your opponent lays one of {first.follows} of the {len(unseen)} unseen cards, you score in answer"
    figures = f"After {first.name}, {lays}; after {second.name}, of {second.follows}."
    return _Cause(name, first.followed - second.followed, said, figures)


# Discards

_NOTICED_IN_DISCARDS = 0.05  # points on average below which people see no difference


def why_discard(view: PlayerViews, better: Sequence[int], other: Sequence[int]) -> Reason:
    """Why to discard one pair of six cards rather than another, before the first or the second card of the discard.

    The part of the deal that brings most of the chance to win is named: hand, crib or play
    (:func:`crib_env.tables.analysis.win_shares`).
    """
    six, is_dealer = six_dealt(view)[0].tolist(), bool(view.is_dealer[0])
    own, opponents = view.scores[0].tolist()
    rows = {
        tuple(sorted(row["discard"].tolist())): row
        for row in analyse_discard(six, dealer=is_dealer, scores=(own, opponents))
    }
    first, second = rows[tuple(sorted(better))], rows[tuple(sorted(other))]
    shares = win_shares(six, first, second, dealer=is_dealer, scores=(own, opponents))._asdict()
    part = max(shares, key=lambda name: shares[name])
    points, chance, hand, crib, pegging = (
        float(first[name] - second[name])
        for name in ("total", "win_probability", "hand_mean", "crib_expected", "pegging")
    )
    kept, counts = _by_rank(card for card in six if card not in better), f"counts {first['crib_expected']:.1f} points"
    if part == "hand":
        name, whose, gain, said = "hand", "your hand", hand, f"keep {kept}, the better hand."
        figures = f"the hand that you keep counts {first['hand_mean']:.1f} points on average, {hand:.1f} more"
    elif part == "pegging":
        name, whose, gain, said = "play", "the play", pegging, f"keep {kept}, which play better."
        figures = f"the cards that you keep win {pegging:.1f} points more in the play"
    elif is_dealer:
        name, whose, gain, said = "your crib", "your crib", crib, f"your crib gets {_given(better)}."
        figures = f"your crib {counts} on average, {crib:.1f} more"
    else:
        name, whose, gain = "opponent's crib", "your opponent's crib", -crib
        said = f"do not give your opponent's crib {_given(other)}."
        figures = f"your opponent's crib {counts} on average, {-crib:.1f} fewer"
    if gain < _NOTICED_IN_DISCARDS:
        figures = f"{whose} then brings {100 * shares[part]:.1f} % points more to win"
        if part == "hand":
            figures = _more_often(six, better, other) or figures
    if are_alike(chance, points):
        pairs = f"{format_cards(sorted(better))} and {format_cards(sorted(other))}"
        return Reason("alike", f"To discard {pairs} is about as good.", f"{_capital(figures)}.")
    if points < 0:  # fewer points, and more wins
        figures = f"At {own} to {opponents} points alone do not decide: {figures}"
        if min(WIN - own, WIN - opponents) <= _NEAR:
            return Reason("score", f"{_needs(view)}: {said}", f"{figures}.")
    return Reason(name, _capital(said), f"{_capital(figures)}.")


def _by_rank(cards: Iterable[int]) -> str:
    ordered: list[int] = sorted(cards, key=lambda card: card % N_RANKS)
    return format_cards(ordered)


def _given(pair: Sequence[int]) -> str:
    """What two cards are to a crib."""
    low, high = sorted(card % N_RANKS for card in pair)
    cards = _by_rank(pair)
    if low == high:
        return f"the pair {cards}"
    if card_value(low) + card_value(high) == 15:
        return f"the fifteen {cards}"
    if _FIVE in (low, high):
        return f"a five, {cards}"
    if card_value(low) + card_value(high) == 5:
        return f"{cards}, which make five"
    return f"{cards}, close to a run" if high - low <= 2 else cards


def _more_often(six: Sequence[int], better: Sequence[int], other: Sequence[int]) -> str:
    """The number of points that the better hand reaches with most more starters; empty if it reaches none with more."""
    starters = [card for card in range(N_CARDS) if card not in six]
    first, second = (
        np.array([score_show([card for card in six if card not in pair], starter) for starter in starters])
        for pair in (better, other)
    )
    reached = [(int((first >= points).sum()), int((second >= points).sum()), points) for points in range(1, 30)]
    many, fewer, points = max(reached, key=lambda one: one[0] - one[1])
    if many <= fewer:
        return ""
    return f"your hand then counts {points} or more with {many} of {len(starters)} starters, and otherwise with {fewer}"
