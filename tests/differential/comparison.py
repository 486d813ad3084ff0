"""Random games on the engine and on the plain rules side by side, compared after every deal and every card."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env import engine
from crib_env.kernels import bit, kernel
from tests.differential import plain_rules as rules

FIELDS = (
    "",
    "cards dealt",
    "scores",
    "number of events",
    "events",
    "phase",
    "dealer",
    "hands",
    "discards",
    "cards kept",
    "cards laid",
    "who laid them",
    "turn",
    "count",
    "cards of this count",
    "legal cards",
    "who won",
    "match points",
)
(
    NOTHING,
    CARDS_DEALT,
    SCORES,
    N_EVENTS,
    EVENTS,
    PHASE,
    DEALER,
    HANDS,
    DISCARDS,
    KEPT,
    LAID,
    LAID_BY,
    TURN,
    COUNT,
    PILE,
    LEGAL,
    WINNER,
    MATCH_POINTS,
) = range(len(FIELDS))


class Compared(NamedTuple):
    """Counts of what was compared; int64 arrays, which :func:`compare` increases."""

    totals: np.ndarray
    """(4,): cards laid, deals, hands and cribs shown, games."""
    events: np.ndarray
    """(12,): events by kind."""
    ends: np.ndarray
    """(12,): games won at 121, by the kind of event that won them."""


TOTALS = ("plays", "deals", "shows", "games")
PLAYS, DEALS, SHOWS, GAMES = range(len(TOTALS))

TRACE = np.dtype(
    [
        ("field", "i8"),  # what differed, 0 if nothing did
        ("episode", "i8"),
        ("dealer", "i8"),  # and both scores before the deal
        ("scores", "i8", 2),
        ("cards", "i8", 13),
        ("n_acted", "i8"),  # cards discarded and laid in this deal, the last of which made the difference
        ("acted", "i8", 12),
    ]
)


def nothing_compared() -> Compared:
    n_kinds = len(rules.KINDS)
    return Compared(np.zeros(len(TOTALS), np.int64), np.zeros(n_kinds, np.int64), np.zeros(n_kinds, np.int64))


@kernel
def mask(cards):
    """Cards in any order, as the engine holds them."""
    held = np.int64(0)
    for card in cards:
        if card != rules.NO_CARD:
            held |= bit(card)
    return held


@kernel
def legal_mask(t):
    legal = np.int64(0)
    for card in t["hands"][t["turn"]]:
        if rules.is_legal(t, t["turn"], card):
            legal |= bit(card)
    return legal


@kernel
def difference(g, t):
    """The first of ``FIELDS`` in which the engine's game and the plain rules' differ; 0 if they agree in all."""
    if g["scores"][0] != t["scores"][0] or g["scores"][1] != t["scores"][1]:
        return SCORES
    if g["n_events"] != t["n_events"]:
        return N_EVENTS
    for k in range(t["n_events"]):
        if (
            g["event_player"][k] != t["event_seat"][k]
            or g["event_kind"][k] != t["event_kind"][k]
            or g["event_points"][k] != t["event_points"][k]
        ):
            return EVENTS
    if g["phase"] != t["phase"]:
        return PHASE
    if g["dealer"] != t["dealer"]:
        return DEALER
    for seat in range(2):
        if g["hand"][seat] != mask(t["hands"][seat]):
            return HANDS
        if g["discards"][seat] != mask(t["discards"][seat]):
            return DISCARDS
    if t["phase"] == rules.PLAYING and (g["kept"][0] != mask(t["kept"][0]) or g["kept"][1] != mask(t["kept"][1])):
        return KEPT
    n_laid = rules.how_many(t["laid"])
    if g["n_laid"] != n_laid:
        return LAID
    for k in range(8):
        if g["laid"][k] != t["laid"][k]:
            return LAID
        if g["laid_by"][k] != t["laid_by"][k]:
            return LAID_BY
    if t["phase"] == rules.DISCARDING or t["phase"] == rules.PLAYING:  # somebody is to act
        if g["turn"] != t["turn"]:
            return TURN
        if g["count"] != rules.count(t):
            return COUNT
        n_pile = rules.how_many(t["pile"])
        if n_laid - g["pile_start"] != n_pile:
            return PILE
        for k in range(n_pile):
            if g["laid"][g["pile_start"] + k] != t["pile"][k]:
                return PILE
        if engine.legal_cards(g) != legal_mask(t):
            return LEGAL
    elif engine.legal_cards(g) != 0:
        return LEGAL
    return NOTHING


@kernel
def difference_at_the_end(g, t):
    """The same for the rewards at the end of a game that was won at 121."""
    winner = 0 if t["scores"][0] > t["scores"][1] else 1
    sign = 1 if winner == 0 else -1
    if engine.winner_pays(g, False) != sign:
        return WINNER
    if engine.winner_pays(g, True) != sign * rules.match_points(t):
        return MATCH_POINTS
    return NOTHING


@kernel
def draw_few_ranks(cards, random):
    """Thirteen cards of five ranks only, for long runs and pairs royal."""
    ranks = np.arange(13)
    for k in range(5):
        other = random.integers(k, 13)
        ranks[k], ranks[other] = ranks[other], ranks[k]
    deck = np.arange(20)
    for k in range(13):
        other = random.integers(k, 20)
        deck[k], deck[other] = deck[other], deck[k]
        cards[k] = 13 * (deck[k] // 5) + ranks[deck[k] % 5]


@kernel
def are_thirteen_cards(cards):
    """Whether all are cards and no two are the same."""
    for i in range(13):
        if not 0 <= cards[i] < 52:
            return False
        for j in range(i):
            if cards[i] == cards[j]:
                return False
    return True


@kernel
def random_card(t, random):
    """One of the legal cards of the player to act, each as likely as the others."""
    chosen, n = rules.NO_CARD, 0
    for card in t["hands"][t["turn"]]:
        if rules.is_legal(t, t["turn"], card):
            n += 1
            if random.integers(0, n) == 0:  # the n-th takes the place of those before with a chance of 1 / n
                chosen = card
    return chosen


@kernel
def begin_both(g, t, random):
    """A game of any kind: six of nine to 121, half of those from random scores; one deal; the play alone; pegging."""
    kind = random.integers(0, 9)
    episode = rules.WHOLE_GAME if kind < 6 else (rules.ONE_DEAL, rules.PLAY_ALONE, rules.PEGGING_ALONE)[kind - 6]
    score_0, score_1 = 0, 0
    if kind >= 3:
        score_0, score_1 = random.integers(0, rules.WINNING_SCORE), random.integers(0, rules.WINNING_SCORE)
    first_dealer = random.integers(0, 2)
    engine.begin_game(g, episode, first_dealer, score_0, score_1, -1)
    rules.begin(t, episode, first_dealer, score_0, score_1)


@kernel
def compare_deal(g, t, trace, compared, random):
    """One deal on both sides, with random legal cards, up to the first difference; what differs, or 0."""
    if random.integers(0, 4) == 0:
        draw_few_ranks(g["cards"], random)
    else:
        engine.shuffle(g)
    trace["episode"], trace["n_acted"] = t["episode"], 0
    trace["scores"][:] = t["scores"]
    trace["cards"][:] = g["cards"]
    if not are_thirteen_cards(g["cards"]):
        return CARDS_DEALT
    engine.begin_deal(g)
    rules.deal(t, g["cards"])
    trace["dealer"] = t["dealer"]
    compared.totals[DEALS] += 1
    g["n_events"] = 0  # those of the card before, which both sides keep until the next
    t["n_events"] = 0
    found = difference(g, t)
    while found == NOTHING and (t["phase"] == rules.DISCARDING or t["phase"] == rules.PLAYING):
        card = random_card(t, random)
        trace["acted"][trace["n_acted"]] = card
        trace["n_acted"] += 1
        compared.totals[PLAYS] += t["phase"] == rules.PLAYING
        rules.act(t, card)
        engine.act(g, card)
        for k in range(t["n_events"]):
            compared.events[t["event_kind"][k]] += 1
            compared.totals[SHOWS] += t["event_kind"][k] >= rules.PONES_HAND
        found = difference(g, t)
    return found


@kernel
def compare(random, n_plays, games, tables, compared, traces):
    """Plays random games until ``n_plays`` cards have been laid, or up to the first difference.

    Args:
        random: a NumPy ``Generator``, for all but the cards of most deals, which the engine draws itself.
        n_plays: when ``compared.totals`` holds this many cards, the current game is the last.
        games: (1,) GAME, the engine's side, with its stream of deals.
        tables: (1,) TABLE, the plain rules' side.
        compared: the counts, which are increased.
        traces: (1,) TRACE, the last deal, and the difference in it.
    """
    g, t, trace = games[0], tables[0], traces[0]
    found = NOTHING
    while found == NOTHING and compared.totals[PLAYS] < n_plays:
        begin_both(g, t, random)
        while found == NOTHING and t["phase"] == rules.AWAITING_DEAL:
            found = compare_deal(g, t, trace, compared, random)
        if found == NOTHING and max(t["scores"][0], t["scores"][1]) == rules.WINNING_SCORE:
            compared.ends[t["event_kind"][t["n_events"] - 1]] += 1
            found = difference_at_the_end(g, t)
        compared.totals[GAMES] += 1
    trace["field"] = found
