"""The rules of two-player cribbage in plain code: slow, obvious, and independent of the engine that it checks.

Cards are ids as everywhere (``13 * suit + rank``); everything else is plain lists. Nothing is imported from
``crib_env``. Points are found by checking every subset of the cards. The game ends by an exception.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, pairwise

WINNING_SCORE = 121
JACK = 10


def rank(card):
    return card % 13


def suit(card):
    return card // 13


def value(card):
    return min(rank(card) + 1, 10)


def is_run(ranks):
    ordered = sorted(ranks)
    return len(ordered) >= 3 and all(high - low == 1 for low, high in pairwise(ordered))


@cache  # there are only 6,175 ways to have five ranks
def points_of_ranks(ranks):
    """Fifteens, pairs and runs of five sorted ranks."""
    subsets = [subset for size in range(2, 6) for subset in combinations(ranks, size)]
    fifteens = [subset for subset in subsets if sum(value(r) for r in subset) == 15]
    pairs = [subset for subset in subsets if len(subset) == 2 and subset[0] == subset[1]]
    runs = [subset for subset in subsets if is_run(subset)]
    longest = max((len(run) for run in runs), default=0)
    return 2 * len(fifteens) + 2 * len(pairs) + sum(len(run) for run in runs if len(run) == longest)


def score_show(hand, starter, crib):
    points = points_of_ranks(tuple(sorted(rank(card) for card in [*hand, starter])))
    hand_suits = {suit(card) for card in hand}
    if hand_suits == {suit(starter)}:
        points += 5
    elif len(hand_suits) == 1 and not crib:
        points += 4
    if any(rank(card) == JACK and suit(card) == suit(starter) for card in hand):
        points += 1
    return points


def score_play(pile):
    """What the last card of a pile earns, as (points, kind) in the order in which they are pegged."""
    earned = []
    count = sum(value(card) for card in pile)
    if count == 15:
        earned.append((2, "fifteen"))
    if count == 31:
        earned.append((2, "thirty-one"))
    for size, points, kind in ((4, 12, "four of a kind"), (3, 6, "three of a kind"), (2, 2, "pair")):
        if len(pile) >= size and len({rank(card) for card in pile[-size:]}) == 1:
            earned.append((points, kind))
            break
    for size in range(len(pile), 2, -1):
        if is_run([rank(card) for card in pile[-size:]]):
            earned.append((size, "run"))
            break
    return earned


class GameIsWon(Exception):
    """A player has reached the last hole: nothing more happens."""


class ReferenceGame:
    """One game. ``phase`` is "discard", "play", "deal" (the next cards are needed) or "over"."""

    def __init__(self, first_dealer, scores=(0, 0), episode="game"):
        self.dealer = 1 - first_dealer  # the first deal swaps this
        self.scores = list(scores)
        self.episode = episode
        self.phase = "deal"
        self.events = []

    def deal(self, cards):
        """Thirteen cards: six for each, the starter. Eight in the pegging episode."""
        self.dealer = 1 - self.dealer
        self.pone = 1 - self.dealer
        each = 4 if self.episode == "pegging" else 6
        self.hands = [list(cards[0:each]), list(cards[each : 2 * each])]
        self.discards = [[], []]
        self.kept = [[], []]
        self.starter = None if self.episode == "pegging" else cards[12]
        self.laid = []  # (seat, card) of the whole deal
        self.history = []  # the same with each go between them, as (seat, None)
        self.pile = []  # cards since the count was last zero
        self.said_go = set()
        self.turn = self.pone
        self.phase = "discard"
        if self.episode == "pegging":
            self.phase = "play"
        if self.episode == "play":
            for seat in (0, 1):
                self.discards[seat] = self.hands[seat][4:]
                self.hands[seat] = self.hands[seat][:4]
            self.phase = "play"

    @property
    def count(self):
        return sum(value(card) for card in self.pile)

    def fits(self, card):
        return self.count + value(card) <= 31

    def can_lay(self, seat):
        return any(self.fits(card) for card in self.hands[seat])

    def legal(self):
        if self.phase == "discard":
            return set(self.hands[self.turn])
        if self.phase == "play":
            return {card for card in self.hands[self.turn] if self.fits(card)}
        return set()

    def act(self, card):
        assert card in self.legal()
        self.events = []
        self.hands[self.turn].remove(card)
        try:
            if self.phase == "discard":
                self._discard(card)
            else:
                self._lay(card)
        except GameIsWon:
            self.phase = "over"

    def _peg(self, seat, points, kind):
        pegged = min(points, WINNING_SCORE - self.scores[seat])  # the peg stops in the last hole
        self.scores[seat] += pegged
        self.events.append((seat, pegged, kind))
        if self.scores[seat] == WINNING_SCORE:
            raise GameIsWon

    def _discard(self, card):
        self.discards[self.turn].append(card)
        if len(self.discards[self.pone]) < 2:
            self.turn = self.pone
        elif len(self.discards[self.dealer]) < 2:
            self.turn = self.dealer
        else:
            self._cut()

    def _cut(self):
        self.kept = [list(hand) for hand in self.hands]
        self.phase = "play"
        self.turn = self.pone
        if rank(self.starter) == JACK:
            self._peg(self.dealer, 2, "heels")

    def _lay(self, card):
        player, opponent = self.turn, 1 - self.turn
        self.laid.append((player, card))
        self.history.append((player, card))
        self.pile.append(card)
        for points, kind in score_play(self.pile):
            self._peg(player, points, kind)

        # The opponent is asked for a card, then the player, and so on, until one can lay or both have said go.
        asked = opponent
        while len(self.said_go) < 2:
            if asked not in self.said_go and self.can_lay(asked):
                self.turn = asked
                return
            if asked == opponent and asked not in self.said_go and self.hands[asked] and self.count != 31:
                self.history.append((asked, None))
            self.said_go.add(asked)
            asked = 1 - asked

        # Both have said go: one for the last card of the count, unless it made 31, which has been paid.
        no_cards_left = not self.hands[0] and not self.hands[1]
        if self.count != 31:
            self._peg(player, 1, "last card" if no_cards_left else "go")
        self.pile = []
        self.said_go = set()
        if no_cards_left:
            self._show()
        else:
            self.turn = opponent if self.hands[opponent] else player

    def hands_shown(self):
        """Owner and points of each hand, in the order of counting."""
        crib = self.discards[0] + self.discards[1]
        return {
            "pone's hand": (self.pone, score_show(self.kept[self.pone], self.starter, crib=False)),
            "dealer's hand": (self.dealer, score_show(self.kept[self.dealer], self.starter, crib=False)),
            "crib": (self.dealer, score_show(crib, self.starter, crib=True)),
        }

    def _show(self):
        if self.episode in ("play", "pegging"):
            self.phase = "over"
            return
        for name, (owner, points) in self.hands_shown().items():
            self._peg(owner, points, name)
        self.phase = "deal" if self.episode == "game" else "over"
