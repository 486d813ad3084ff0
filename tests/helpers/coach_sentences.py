"""The coach's sentences taken apart, and each of their figures computed again in plain Python."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest

from crib_env import format_card, parse_cards
from crib_env.engine import DEALER, PONE
from crib_env.evaluate.play.reasons import REASONS
from crib_env.tables.analysis import analyse_discard, win_shares
from crib_env.tables.outlook import standard_values
from tests.helpers.plain_beliefs import NUMBER_OF_RANKS, plain_beliefs
from tests.helpers.plain_play import points_of
from tests.helpers.positions import Position
from tests.helpers.reference import rank, score_play, score_show, value

CARD = r"[A2-9TJQK][CDHS]"
_CARDS = rf"{CARD}(?: {CARD})*"
_WHY = rf"(?:as it has laid (?P<laid>{_CARDS})|by what players keep)"
_RANKS = {"an ace": [0], **{f"a {n}": [n - 1] for n in (2, 3, 4, 5, 6, 7, 9, 10)}, "an 8": [7]}
_RANKS |= {"a jack": [10], "a queen": [11], "a king": [12], "a ten-card": [9, 10, 11, 12]}
_KINDS = {"fifteen": 2, "thirty-one": 2, "a pair": 2, "three of a kind": 6, "four of a kind": 12}
OF_CARDS = {
    "both": rf"(?P<a>{CARD}) and (?P<b>{CARD}) both make (?P<n>\d+) at once\.",
    "at_once": rf"(?P<a>{CARD}) makes (?P<n>\d+) at once, (?P<b>{CARD}) (?P<m>\d+|nothing)"
    rf"(?:, but by the end of the play (?P<c>{CARD}) brings (?P<gain>[\d.]+) more all the same)?\.",
    "score": rf"At (?P<own>\d+) to (?P<other>\d+) (?P<a>{CARD}) wins (?P<wins>[\d.]+) % points more often, "
    r"though not by more points\.",
    "alone": r"Your opponent (?:has no cards left|said go at (?P<go>\d+) and holds nothing that fits this count): "
    rf"laying on alone you make (?P<n>\d+) with (?P<a>{CARD}) first, (?P<m>\d+) with (?P<b>{CARD})\.",
    "reply": rf"(?P<b>{CARD}) leaves (?P<count>\d+), where (?P<name>an? [\w-]+) makes (?P<kinds>.*) for (?P<n>\d+); "
    rf"(?P<left>\d+) of (?P<unseen>\d+) unseen cards (?:is|are) one\.",
    "held": rf"Your opponent holds one with a chance of (?P<held>\d+) %, {_WHY}\.",
    "best": rf"The best reply makes (?P<m>[\d.]+) on average, after (?P<a>{CARD}) (?P<n>[\d.]+)\.",
    "silent": r"Your opponent has nothing for (?P<count>\d+) with a chance of (?P<n>\d+) %, and for (?P<other>\d+) of "
    r"(?P<m>\d+) %, "
    rf"{_WHY}: then the go is yours\.",
    "followers": rf"After (?P<a>{CARD}), if your opponent lays one of (?P<n>\d+) of the (?P<unseen>\d+) unseen cards, "
    rf"you score in answer; after (?P<b>{CARD}), of (?P<m>\d+)\.",
    "rest": rf"By the end of the play (?P<a>{CARD}) brings (?P<gain>[\d.]+) points more\.",
}
_AT = r"(?:At (?P<own>\d+) to (?P<other>\d+) points alone do not decide: )?"
_OWN, _SOME = rf"{_AT}[Yy]our", r"(?P<mean>[\d.]+) points on average"
_MADE = r"(?P<kinds>[\w\- ]+) for (?P<n>\d+)"
_FIRST = "(?P<who>you count|your opponent counts) first"
_NEED = rf"(?:You need (?P<need>\d+), your opponent (?P<theirs>\d+), and {_FIRST}: )?"
SAID_OF_CARDS = {
    "points now": rf"{_NEED}(?P<a>{CARD}) makes {_MADE} now\.",
    "answer invited": rf"{_NEED}(?P<b>{CARD}) invites (?P<name>an? [\w-]+): {_MADE}\.",
    "pair to trap": rf"{_NEED}[Ll]ay one of your (?P<plural>\w+): if it is paired, you make {_MADE}\.",
    "trap": rf"{_NEED}[Ii]f (?P<name>an? [\w-]+) answers (?P<a>{CARD}), your (?P<d>{CARD}) makes {_MADE}\.",
    "go": rf"{_NEED}(?P<a>{CARD}) makes (?P<count>\d+): your opponent will more often have to say go\.",
    "alone": rf"{_NEED}[Yy]our opponent has (?P<why>no cards left|said go): with (?P<a>{CARD}) first, "
    r"the rest scores more\.",
    "low card": rf"{_NEED}[Kk]eep (?P<b>{CARD}): a low card often wins a go\.",
    "five": rf"{_NEED}[Kk]eep (?P<b>{CARD}): a ten-card makes it worth 2 later\.",
    "later": rf"{_NEED}[Kk]eep (?P<b>{CARD}): it is worth more later in the play\.",
    "alike": rf"(?P<a>{CARD}) and (?P<b>{CARD}) are about as good\.",
}
SAID_OF_DISCARDS = {
    "hand": rf"{_NEED}[Kk]eep (?P<kept>{_CARDS}), the better hand\.",
    "play": rf"{_NEED}[Kk]eep (?P<kept>{_CARDS}), which play better\.",
    "your crib": rf"{_NEED}[Yy]our crib gets (?P<given>.*)\.",
    "opponent's crib": rf"{_NEED}[Dd]o not give your opponent's crib (?P<given>.*)\.",
    "alike": rf"To discard (?P<pair>{_CARDS}) and (?P<other>{_CARDS}) is about as good\.",
}
OF_DISCARDS = {
    "hand": rf"{_AT}[Tt]he hand that you keep counts {_SOME}, (?P<gain>[\d.]+) more\.",
    "play": rf"{_AT}[Tt]he cards that you keep win (?P<gain>[\d.]+) points more in "
    r"the play\.",
    "crib": rf"{_OWN} crib counts {_SOME}, (?P<gain>[\d.]+) more\.",
    "their_crib": rf"{_OWN} opponent's crib counts {_SOME}, (?P<gain>[\d.]+) fewer\.",
    "starters": rf"{_OWN} hand then counts (?P<points>\d+) or more with (?P<n>\d+) of 46 starters, "
    r"and otherwise with (?P<m>\d+)\.",
    "share": rf"{_AT}(?:[Yy]our |[Tt]he )(?P<part>hand|play|crib|opponent's crib) then "
    r"brings (?P<gain>[\d.]+) % points more to win\.",
}


def sentences(text):
    return re.split(r"(?<=[.]) (?=[A-Z0-9])", text)


def taken_apart(sentence, patterns):
    """The kind of a sentence, and what stands in it."""
    found = {kind: match.groupdict() for kind, one in patterns.items() if (match := re.fullmatch(one, sentence))}
    assert len(found) == 1, (sentence, [*found])
    return next(iter(found.items()))


def has_figure(sentence):
    """Whether it says a number; the names of cards are none."""
    return re.search(r"\d", re.sub(rf"\b{CARD}\b|\ban? \d+\b", "", sentence)) is not None


def position_of(view):
    n = int((view.laid[0] >= 0).sum())
    return Position(
        is_dealer=bool(view.is_dealer[0]),
        held=[int(card) for card in view.hand[0] if card >= 0],
        discards=view.discards[0].tolist(),
        starter=int(view.starter[0]),
        laid=list(zip(view.laid_by[0, :n].tolist(), view.laid[0, :n].tolist())),
        pile_start=int(view.pile_start[0]),
        hidden=[None] * int(view.opponent_cards[0]),  # how many; which they are is not known
    )


class CardClaims:
    """What is true of two cards in a position: ``better`` and ``other`` as text."""

    def __init__(self, view, decision):
        self.view, self.decision, self.position = view, decision, position_of(view)
        self.pile = [rank(card) for _, card in self.position.laid[self.position.pile_start :]]
        self.better, self.other = (parse_cards(format_card(cards[0]))[0] for cards in (decision.best, decision.chosen))
        self._beliefs = None

    def beliefs(self):
        """By the ranks that the opponent may hold."""
        if self._beliefs is None:
            self._beliefs = {}
            for (held, _), weight in plain_beliefs(self.position).items():
                self._beliefs[held] = self._beliefs.get(held, 0.0) + weight
        return self._beliefs

    def after(self, card):
        return [*self.pile, rank(card)]

    def reply(self, pile, held):
        """The most points of these ranks on a pile."""
        return max((points_of(pile, one) for one in held if sum(map(value, [*pile, one])) <= 31), default=0)

    def chance(self, holds):
        return sum(weight for held, weight in self.beliefs().items() if holds(held))

    def check(self, kind, said, with_beliefs):
        cards = {name: parse_cards(said[name])[0] for name in "abc" if said.get(name)}
        if "a" in cards and kind != "at_once":
            assert cards["a"] == self.better
        assert cards.get("b", self.other) == self.other or kind == "at_once"
        getattr(self, f"_check_{kind}")(said, cards, with_beliefs)
        if said.get("laid"):
            assert parse_cards(said["laid"]) == self.position.other_laid
        if "unseen" in said:
            assert int(said["unseen"]) == len(self.position.unseen)

    def check_said(self, reason):
        """The sentence of a reason, whose name is told by its words unless the score decides."""
        kind, said = taken_apart(reason.said, SAID_OF_CARDS)
        is_five_led = kind == "answer invited" and rank(self.other) == 4 and not self.view.count[0]
        check_needs(said, reason, "five led" if is_five_led else kind, self.view)
        cards = {name: parse_cards(said[name])[0] for name in "abd" if said.get(name)}
        assert cards.get("a", self.better) == self.better
        assert cards.get("b", self.other) == self.other
        if kind == "points now":
            assert self._points(self.better) == int(said["n"]) > self._points(self.other)
        elif kind == "answer invited":
            assert all(points_of(self.after(self.other), one) == int(said["n"]) for one in _RANKS[said["name"]])
        elif kind == "pair to trap":
            mine = [one for one in self.position.held if rank(one) == rank(self.better)]
            assert len(mine) > 1
            assert points_of([*self.after(self.better), rank(self.better)], rank(self.better)) == int(said["n"]) >= 6
        elif kind == "trap":
            assert cards["d"] in self.position.held
            assert cards["d"] != self.better
            pile = [*self.after(self.better), *_RANKS[said["name"]]]
            assert points_of(pile, rank(cards["d"])) == int(said["n"]) > 0
        elif kind == "go":
            assert int(said["count"]) == sum(map(value, self.after(self.better)))
        elif kind == "alone":
            assert (said["why"] == "said go") == bool(self.view.said_go[0, 1])
        elif kind == "low card":
            assert value(rank(self.other)) <= 4 < value(rank(self.better))
        elif kind == "five":
            assert rank(self.other) == 4
        elif kind == "alike":
            assert self.decision.chance_lost < 0.002
        return kind

    def _points(self, card):
        return points_of(self.pile, rank(card))

    def _check_both(self, said, cards, with_beliefs):
        assert self._points(self.better) == self._points(self.other) == int(said["n"]) > 0

    def _check_at_once(self, said, cards, with_beliefs):
        assert {cards["a"], cards["b"]} == {self.better, self.other}
        n, m = int(said["n"]), int(said["m"].replace("nothing", "0"))
        assert (self._points(cards["a"]), self._points(cards["b"])) == (n, m)
        assert n > m
        if said["gain"]:
            assert cards["c"] == cards["b"] == self.better
            assert float(said["gain"]) == pytest.approx(self.decision.points_lost, abs=0.006)

    def _check_score(self, said, cards, with_beliefs):
        assert [int(said["own"]), int(said["other"])] == self.view.scores[0].tolist()
        assert float(said["wins"]) == pytest.approx(100 * self.decision.chance_lost, abs=0.06)
        assert self.decision.points_lost == 0

    def _check_alone(self, said, cards, with_beliefs):
        goes_on = not self.position.hidden
        assert goes_on == (said["go"] is None)
        for name, card in (("n", self.better), ("m", self.other)):
            rest = [rank(one) for one in self.position.held if one != card]
            assert int(said[name]) == self._points(card) + self.alone(self.after(card), rest, goes_on)
        if said["go"]:
            assert self.view.said_go[0, 1]
            counts = np.cumsum([value(one) for one in self.pile]).tolist()
            assert int(said["go"]) in counts

    def alone(self, pile, rest, goes_on):
        """The most that one makes who lays alone, after the last card of a pile."""
        fitting = [one for one in rest if sum(map(value, [*pile, one])) <= 31]
        options = []
        for one in fitting:
            left = [*rest]
            left.remove(one)
            options.append(points_of(pile, one) + self.alone([*pile, one], left, goes_on))
        if options:
            return max(options)
        last = int(sum(map(value, pile)) != 31)
        return last + (self.alone([], rest, goes_on) if goes_on and rest else 0)

    def _check_reply(self, said, cards, with_beliefs):
        pile, ranks = self.after(self.other), _RANKS[said["name"]]
        assert int(said["count"]) == sum(map(value, pile))
        kinds = said["kinds"].split(" and ")
        for one in ranks:
            earned = score_play([*pile, one])
            assert sum(points for points, _ in earned) == int(said["n"])
            assert sorted(_KINDS.get(kind) or int(kind.removeprefix("a run of ")) for kind in kinds) == sorted(
                points for points, _ in earned
            )
        assert int(said["left"]) == sum(rank(card) in ranks for card in self.position.unseen)
        self._asked = ranks

    def _check_held(self, said, cards, with_beliefs):
        if with_beliefs:
            held = 100 * self.chance(lambda held: any(one in self._asked for one in held))
            assert int(said["held"]) == pytest.approx(held, abs=0.6)

    def _check_best(self, said, cards, with_beliefs):
        if with_beliefs:
            for name, card in (("n", self.better), ("m", self.other)):
                mean = sum(weight * self.reply(self.after(card), held) for held, weight in self.beliefs().items())
                assert float(said[name]) == pytest.approx(mean, abs=0.006)
        assert float(said["n"]) < float(said["m"])

    def _check_silent(self, said, cards, with_beliefs):
        for count, name, card in (("count", "n", self.better), ("other", "m", self.other)):
            pile = self.after(card)
            total = sum(map(value, pile))
            assert int(said[count]) == total
            if with_beliefs:
                chance = 100 * self.chance(lambda held, total=total: all(total + value(one) > 31 for one in held))
                assert int(said[name]) == pytest.approx(chance, abs=0.6)

    def _check_followers(self, said, cards, with_beliefs):
        for name, card in (("n", self.better), ("m", self.other)):
            rest = [rank(one) for one in self.position.held if one != card]
            piles = [[*self.after(card), rank(one)] for one in self.position.unseen]
            assert int(said[name]) == sum(sum(map(value, pile)) <= 31 and self.reply(pile, rest) > 0 for pile in piles)

    def _check_rest(self, said, cards, with_beliefs):
        assert float(said["gain"]) == pytest.approx(self.decision.points_lost, abs=0.006)


def check_needs(said, reason, kind, view):
    """What both players need stands in a sentence where the score decides, and nowhere else."""
    assert reason.name == ("score" if said.get("need") else kind)
    assert reason.name in REASONS
    if said.get("need"):
        assert [121 - int(said[name]) for name in ("need", "theirs")] == view.scores[0].tolist()
        assert (said["who"] == "you count") != bool(view.is_dealer[0])


class DiscardClaims:
    """What is true of two discards."""

    def __init__(self, view, decision):
        self.view, self.decision = view, decision
        self.six = [int(card) for card in [*view.hand[0], *view.discards[0]] if card >= 0]
        self.is_dealer = bool(view.is_dealer[0])
        self.role = DEALER if self.is_dealer else PONE

    def counts(self, pair):
        hand = [card for card in self.six if card not in pair]
        return [score_show(hand, starter, crib=False) for starter in range(52) if starter not in self.six]

    def crib(self, pair):
        """The mean against any two cards, and what the table of cribs adds to it."""
        unseen, total, n = [card for card in range(52) if card not in self.six], 0, 0
        for starter in unseen:
            for others in combinations([card for card in unseen if card != starter], 2):
                total, n = total + score_show([*pair, *others], starter, crib=True), n + 1
        return total / n + standard_values().cribs[self.role, rank(pair[0]), rank(pair[1])]

    def play(self, pair):
        ranks = tuple(sorted(rank(card) for card in self.six if card not in pair))
        return standard_values().pegging[self.role, NUMBER_OF_RANKS[ranks]]

    def check_said(self, reason):
        kind, said = taken_apart(reason.said, SAID_OF_DISCARDS)
        check_needs(said, reason, kind, self.view)
        best, chosen = set(self.decision.best), set(self.decision.chosen)
        if "kept" in said:
            assert set(parse_cards(said["kept"])) == set(self.six) - best
        elif "given" in said:
            assert (kind == "your crib") == self.is_dealer
            pair = parse_cards(" ".join(re.findall(CARD, said["given"])))
            assert set(pair) == (best if self.is_dealer else chosen)
            low, high = sorted(map(rank, pair))
            assert ("pair" in said["given"]) == (low == high)
            assert ("fifteen" in said["given"]) == (value(low) + value(high) == 15)
            assert ("make five" in said["given"]) == (value(low) + value(high) == 5)
        else:
            assert [set(parse_cards(said[name])) for name in ("pair", "other")] == [best, chosen]
        return kind

    def check(self, kind, said, with_cribs):
        best, chosen = self.decision.best, self.decision.chosen
        if said.get("own"):
            assert [int(said["own"]), int(said["other"])] == self.view.scores[0].tolist()
        if kind == "hand":
            first, second = (float(np.mean(self.counts(pair))) for pair in (best, chosen))
            assert float(said["mean"]) == pytest.approx(first, abs=0.06)
            assert float(said["gain"]) == pytest.approx(first - second, abs=0.06)
        elif kind == "play":
            assert float(said["gain"]) == pytest.approx(self.play(best) - self.play(chosen), abs=0.06)
        elif kind in ("crib", "their_crib"):
            assert (kind == "crib") == self.is_dealer
            if with_cribs:
                first, second = self.crib(best), self.crib(chosen)
                assert float(said["mean"]) == pytest.approx(first, abs=0.06)
                assert float(said["gain"]) == pytest.approx(abs(first - second), abs=0.06)
        elif kind == "starters":
            many, fewer = (sum(n >= int(said["points"]) for n in self.counts(pair)) for pair in (best, chosen))
            assert (int(said["n"]), int(said["m"])) == (many, fewer)
            assert many > fewer
        else:
            self._check_share(said)

    def _check_share(self, said):
        scores = tuple(self.view.scores[0].tolist())
        rows = analyse_discard(self.six, dealer=self.is_dealer, scores=scores)
        first, second = (
            next(row for row in rows if set(row["discard"].tolist()) == set(pair))
            for pair in (self.decision.best, self.decision.chosen)
        )
        shares = win_shares(self.six, first, second, dealer=self.is_dealer, scores=scores)
        part = {"play": "pegging", "hand": "hand"}.get(said["part"], "crib")
        assert float(said["gain"]) == pytest.approx(100 * getattr(shares, part), abs=0.06)
