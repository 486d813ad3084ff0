"""Why one choice is better than another, in the words of players, from what the player sees.

A reason has a name, a sentence and figures. A card of the play: the largest of what it makes at once, what the
opponent may answer, what follows then, and what is left. A discard: the part of the deal that brings most of the chance
to win.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
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
    total: int
    """The count with this card."""
    points: int
    """Scored at once."""
    replies: dict[int, int]
    """The points that the opponent would score at once, by the rank that it lays; without those that score nothing."""
    reply: float
    """Its best reply's points, on average over the hands that it may hold."""
    silent: float
    """The chance that it has no card that fits the count."""
    follows: int
    """How many unseen cards, laid next by the opponent, let this player score."""
    followed: float
    """The points of the best such follower, on average over the unseen cards."""
    alone: int
    """The most points to the end of the count, this card included, if the opponent does not lay any more; without cards
    of the opponent, to the end of the play."""

    @property
    def name(self) -> str:
        """The card as text."""
        return format_card(self.card)


class Sight:
    """What a player sees before it lays a card.

    Args:
        view: one decision in the play.
    """

    def __init__(self, view: PlayerViews) -> None:
        self._view = view
        self.held = [card for card in view.hand[0].tolist() if card >= 0]
        self.laid = [card for card in view.laid[0].tolist() if card >= 0]
        start = int(view.pile_start[0])
        self._pile = [card % N_RANKS for card in self.laid[start:]]
        self.count = int(view.count[0])
        seen = {int(card) for cards in (view.hand, view.discards, view.laid, view.starter) for card in np.ravel(cards)}
        self.unseen = [card for card in range(N_CARDS) if card not in seen]
        self.opponents_cards = int(view.opponent_cards[0])
        laid_by = view.laid_by[0, start : len(self.laid)].tolist()
        self.go_at = _go_at(self._pile, laid_by) if view.said_go[0, 1] else None
        """The count at which the opponent said go, if it did in this count."""

    @property
    def is_alone(self) -> bool:
        """Whether the opponent lays no more in this count."""
        return self.go_at is not None or not self.opponents_cards

    @property
    def others_laid(self) -> list[int]:
        """The cards that the opponent has laid in this deal."""
        return [card for card, by in zip(self.laid, self._view.laid_by[0].tolist()) if by == 1]

    @cached_property
    def _likely(self) -> tuple[np.ndarray, np.ndarray]:
        """The hands (N, 13) that the opponent may hold, as numbers of ranks, and their probabilities."""
        view = self._view
        hands = Hands(*(np.zeros(MOST_HANDS, kind) for kind in (np.int64, np.float64, np.int64, np.int64)))
        own = [card for card, by in zip(self.laid, view.laid_by[0].tolist()) if by == 0]
        thrown = [card for card in view.discards[0].tolist() if card >= 0]
        keeping = habits().keeping[DEALER if view.is_dealer[0] else PONE]
        n = len(self.laid)
        size = posterior(
            mask_of(np.array(self.held + own + thrown)),
            np.int64(view.starter[0]),
            view.laid[0],
            view.laid_by[0],
            np.int64(n),
            n > 0 and int(view.pile_start[0]) == n,
            keeping,
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
        rank = card % N_RANKS
        pile, rest = [*self._pile, rank], [other % N_RANKS for other in self.held if other != card]
        total, follows, followed, reply, silent = self.count + card_value(rank), 0, 0, 0.0, 0.0
        replies: dict[int, int] = {}
        if not self.is_alone and total < COUNT_LIMIT:
            fits = _fit(pile, range(N_RANKS))
            replies = {other: points for other in fits if (points := _points([*pile, other]))}
            bests = {other: _best([*pile, other], rest) for other in fits}
            followers = [bests[other % N_RANKS] for other in self.unseen if other % N_RANKS in bests]
            follows, followed = sum(map(bool, followers)), sum(followers)
            hands, weights = self._likely
            scores = np.array([replies.get(other, 0) for other in range(N_RANKS)])
            reply = float(weights @ ((hands > 0) * scores).max(axis=1))
            silent = float(weights[~hands[:, fits].any(axis=1)].sum())
        alone = _alone(pile, rest, self.opponents_cards == 0)
        return After(card, total, _points(pile), replies, reply, silent, follows, followed / len(self.unseen), alone)

    def name_points(self, after: After) -> str:
        """What a card makes at once, as in ``"fifteen and a run of 3 for 5"``."""
        return _named([*self._pile, after.card % N_RANKS])

    def name_reply(self, after: After, rank: int) -> str:
        """What the opponent would score with a rank."""
        return _named([*self._pile, after.card % N_RANKS, rank])

    def best_trap(self, after: After) -> tuple[int, int, str]:
        """The rank whose answer to a card lets this player score most, weighed by how many are unseen; the card that
        does, and what it makes."""
        pile, rest = [*self._pile, after.card % N_RANKS], [card for card in self.held if card != after.card]
        unseen = [card % N_RANKS for card in self.unseen]
        traps = [
            (_points([*pile, rank, card % N_RANKS]) * unseen.count(rank), rank, card)
            for rank in _fit(pile, range(N_RANKS))
            for card in rest
            if card % N_RANKS in _fit([*pile, rank], range(N_RANKS))
        ]
        _, rank, card = max(traps)
        return rank, card, _named([*pile, rank, card % N_RANKS])


def _go_at(pile: Sequence[int], laid_by: Sequence[int]) -> int:
    """The count at which the opponent has said go: before all but the first of the cards that this player laid since.

    Args:
        pile: the ranks of the count.
        laid_by: who laid each.
    """
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
    """The most points of the pile's last card and of cards laid alone after it, with the point for the last one.

    Args:
        pile: the ranks of the count.
        rest: the ranks still held.
        goes_on: whether another count follows, in which the player is alone too.
    """
    points, fitting = _points(pile), _fit(pile, rest)
    if fitting:
        return points + max(_alone([*pile, rank], _without(rest, rank), goes_on) for rank in fitting)
    points += _count(pile) < COUNT_LIMIT
    if goes_on and rest:
        points += max(_alone([rank], _without(rest, rank), goes_on) for rank in rest)
    return points


def _without(ranks: Sequence[int], rank: int) -> list[int]:
    left = list(ranks)
    left.remove(rank)
    return left


class Reason(NamedTuple):
    """Why one choice is better than another."""

    name: str
    """A key of ``REASONS``."""
    said: str
    """In one sentence, as a player says it."""
    figures: str
    """What it rests on, in sentences with figures."""

    def __str__(self) -> str:
        return f"{self.said} {self.figures}".rstrip()


REASONS = {
    "points now": "it scores more at once",
    "answer invited": "the other card invites an answer that scores",
    "five led": "the same, and the other card is a five that begins a count",
    "pair to trap": "a pair in answer is met by the third card",
    "trap": "an answer lets this player score",
    "go": "the opponent will more often have to say go",
    "alone": "the opponent lays no more in this count, or none at all",
    "low card": "the other card is low, and wins a go later",
    "five": "the other card is a five, which ten-cards bring points for later",
    "later": "what follows in the play, beyond the next two cards",
    "hand": "the four cards kept",
    "your crib": "the player's own crib",
    "opponent's crib": "the opponent's crib",
    "play": "what the four cards kept bring in the play",
    "score": "points alone would choose the other: what counts is who needs what, and who counts first",
    "alike": "hardly anything",
    "only card": "no other card may be laid",
}
"""The reasons by name, and what each means: what decides is the part of the difference that is largest."""

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
    """A part of the difference between two cards."""

    name: str
    points: float
    said: Callable[[], str]
    figures: Callable[[], str]


def why_card(view: PlayerViews, better: int, other: int, points: float, chance: float) -> Reason:
    """Why to lay one card rather than another.

    Args:
        view: one decision in the play.
        better, other: the cards.
        points: net points of the deal that the better one brings more; 0 or less where it wins more often all the same.
        chance: to win the game, that it brings more.
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
        figures.append(told.figures())
    if not figures:
        figures.append(f"By the end of the play {first.name} brings {points:.2f} points more.")
    by_score = points <= 0  # then points say nothing of what is left
    rest = 0.0 if by_score else points - sum(cause.points for cause in causes) - gained
    if are_alike(chance, points):
        name, said = "alike", f"{first.name} and {second.name} are about as good."
    elif gained > 0 and gained >= max(told.points, rest):
        name, said = "points now", f"{first.name} makes {sight.name_points(first)} now."
    elif told.points >= max(_NOTICED_IN_PLAY, rest):
        is_five_led = not sight.count and other % N_RANKS == _FIVE and told.name == "answer invited"
        name, said = "five led" if is_five_led else told.name, told.said()
    else:
        name, said = _later(first, second)
    if by_score and name != "alike" and min(WIN - own, WIN - opponents) <= _NEAR:
        lower = said if said.startswith((first.name, second.name)) else f"{said[0].lower()}{said[1:]}"
        name, said = "score", f"{_needs(view)}: {lower}"
    return Reason(name, said, " ".join(f"{one[0].upper()}{one[1:]}" for one in figures))


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
        gained = first.alone - first.points - (second.alone - second.points)
        why = "has no cards left" if sight.go_at is None else "has said go"
        said = f"Your opponent {why}: with {first.name} first, the rest scores more."
        yield _Cause("alone", gained, lambda: said, lambda: _tell_alone(sight, first, second))
        return
    yield _Cause(
        "answer invited",
        second.reply - first.reply,
        lambda: _say_answer(sight, first, second),
        lambda: _tell_reply(sight, first, second),
    )
    if COUNT_LIMIT not in (first.total, second.total):  # after 31 nobody says go
        said = f"{first.name} makes {first.total}: your opponent will more often have to say go."
        yield _Cause("go", first.silent - second.silent, lambda: said, lambda: _tell_silent(sight, first, second))
    if first.follows > second.follows:
        answer, _, made = sight.best_trap(first)
        yield _Cause(
            "pair to trap" if answer == first.card % N_RANKS and _ALIKE[6] in made else "trap",
            first.followed - second.followed,
            lambda: _say_trap(sight, first),
            lambda: _tell_followers(sight, first, second),
        )


def _say_answer(sight: Sight, first: After, second: After) -> str:
    ranks, name = _most_denied(sight, first, second)
    return f"{second.name} invites {name}: {sight.name_reply(second, ranks[0])}."


def _say_trap(sight: Sight, first: After) -> str:
    answer, card, made = sight.best_trap(first)
    if answer == first.card % N_RANKS and _ALIKE[6] in made:
        return f"Lay one of your {_PLURALS[answer]}: if it is paired, you make {made}."
    return f"If {_NAMES[answer]} answers {first.name}, your {format_card(card)} makes {made}."


def _tell_alone(sight: Sight, first: After, second: After) -> str:
    why = (
        "has no cards left"
        if sight.go_at is None
        else f"said go at {sight.go_at} and holds nothing that fits this count"
    )
    makes = f"laying on alone you make {first.alone} with {first.name} first, {second.alone} with {second.name}"
    return f"your opponent {why}: {makes}."


def _most_denied(sight: Sight, first: After, second: After) -> tuple[tuple[int, ...], str]:
    """The ranks of the reply that the better card denies most, and their name."""
    groups: list[tuple[int, ...]] = [(rank,) for rank in second.replies]
    if len(tens := tuple(rank for rank in _TENS if second.replies.get(rank) == 2)) == len(_TENS):
        groups.append(tens)

    def denied(ranks: tuple[int, ...]) -> float:
        return sight.chance_of(ranks) * min(second.replies[rank] - first.replies.get(rank, 0) for rank in ranks)

    ranks = max(groups, key=denied)
    return ranks, "a ten-card" if len(ranks) > 1 else _NAMES[ranks[0]]


def _tell_reply(sight: Sight, first: After, second: After) -> str:
    ranks, name = _most_denied(sight, first, second)
    left = sum(card % 13 in ranks for card in sight.unseen)
    unseen = f"{left} of {len(sight.unseen)} unseen cards {'is' if left == 1 else 'are'} one"
    held = f"Your opponent holds one with a chance of {100 * sight.chance_of(ranks):.0f} %{_why_held(sight)}"
    leaves = f"{second.name} leaves {second.total}, where {name} makes {sight.name_reply(second, ranks[0])}"
    best = f"The best reply makes {second.reply:.2f} on average, after {first.name} {first.reply:.2f}."
    return f"{leaves}; {unseen}. {held}. {best}"


def _why_held(sight: Sight) -> str:
    laid = sight.others_laid
    return f", as it has laid {format_cards(laid)}" if laid else ", by what players keep"


def _tell_silent(sight: Sight, first: After, second: After) -> str:
    chances = f"{100 * first.silent:.0f} %, and for {second.total} of {100 * second.silent:.0f} %"
    nothing = f"your opponent has nothing for {first.total} with a chance of {chances}"
    return f"{nothing}{_why_held(sight)}: then the go is yours."


def _tell_followers(sight: Sight, first: After, second: After) -> str:
    n, unseen = first.follows, len(sight.unseen)
    lays = f"if your opponent lays one of {n} of the {unseen} unseen cards, you score in answer"
    return f"After {first.name}, {lays}; after {second.name}, of {second.follows}."


# Discards

_NOTICED_IN_DISCARDS = 0.05  # points on average below which people see no difference


def why_discard(view: PlayerViews, better: Sequence[int], other: Sequence[int]) -> Reason:
    """Why to discard one pair rather than another.

    The part of the deal that brings most of the chance to win is named: hand, crib or play
    (:func:`crib_env.tables.analysis.win_shares`).

    Args:
        view: one decision, before the first or the second card of the discard.
        better, other: pairs of the six cards.
    """
    six, is_dealer = six_dealt(view)[0].tolist(), bool(view.is_dealer[0])
    own, opponents = view.scores[0].tolist()
    rows = {
        tuple(sorted(row["discard"].tolist())): row
        for row in analyse_discard(six, dealer=is_dealer, scores=(own, opponents))
    }
    first, second = rows[tuple(sorted(better))], rows[tuple(sorted(other))]
    shares = win_shares(six, first, second, dealer=is_dealer, scores=(own, opponents))
    part = max(shares._fields, key=lambda name: getattr(shares, name))
    name = part if part != "crib" else "your crib" if is_dealer else "opponent's crib"
    name = "play" if part == "pegging" else name
    points = float(first["total"] - second["total"])
    figures = _figures_of_discard(six, better, other, (first, second), part, name, getattr(shares, part))
    if are_alike(float(first["win_probability"] - second["win_probability"]), points):
        pairs = f"{format_cards(sorted(better))} and {format_cards(sorted(other))}"
        return Reason("alike", f"To discard {pairs} is about as good.", f"{figures[0].upper()}{figures[1:]}.")
    kept = _by_rank(card for card in six if card not in better)
    said = {
        "hand": f"keep {kept}, the better hand.",
        "play": f"keep {kept}, which play better.",
        "your crib": f"your crib gets {_given(better)}.",
        "opponent's crib": f"do not give your opponent's crib {_given(other)}.",
    }[name]
    figures = f"{figures[0].upper()}{figures[1:]}."
    if points < 0:  # fewer points, and more wins
        figures = f"At {own} to {opponents} points alone do not decide: {figures[0].lower()}{figures[1:]}"
        if min(WIN - own, WIN - opponents) <= _NEAR:
            return Reason("score", f"{_needs(view)}: {said}", figures)
    return Reason(name, f"{said[0].upper()}{said[1:]}", figures)


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


def _figures_of_discard(
    six: Sequence[int],
    better: Sequence[int],
    other: Sequence[int],
    rows: tuple[np.void, np.void],
    part: str,
    name: str,
    share: float,
) -> str:
    first, second = rows
    hand, pegging, crib = (float(first[name] - second[name]) for name in ("hand_mean", "pegging", "crib_expected"))
    if part == "hand":
        gain, said = hand, f"the hand that you keep counts {first['hand_mean']:.1f} points on average, {hand:.1f} more"
    elif part == "pegging":
        gain, said = pegging, f"the cards that you keep win {pegging:.1f} points more in the play"
    elif name == "your crib":
        gain, said = crib, f"your crib counts {first['crib_expected']:.1f} points on average, {crib:.1f} more"
    else:
        gain = -crib
        said = f"your opponent's crib counts {first['crib_expected']:.1f} points on average, {-crib:.1f} fewer"
    if gain < _NOTICED_IN_DISCARDS:
        words = {"hand": "your hand", "play": "the play", "opponent's crib": "your opponent's crib"}
        said = f"{words.get(name, name)} then brings {100 * share:.1f} % points more to win"
        if part == "hand":
            said = _more_often(six, better, other) or said
    return said


def _more_often(six: Sequence[int], better: Sequence[int], other: Sequence[int]) -> str:
    """The number of points that the better hand reaches with most more starters; empty if it reaches none with more."""
    starters = [card for card in range(N_CARDS) if card not in six]
    first, second = (
        [score_show([card for card in six if card not in pair], starter) for starter in starters]
        for pair in (better, other)
    )
    reached = {
        points: [sum(count >= points for count in counts) for counts in (first, second)] for points in range(1, 30)
    }
    points, (many, fewer) = max(reached.items(), key=lambda one: one[1][0] - one[1][1])
    if many <= fewer:
        return ""
    return f"your hand then counts {points} or more with {many} of {len(starters)} starters, and otherwise with {fewer}"
