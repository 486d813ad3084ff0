"""The game itself: one record per game, and transitions that follow the rules.

A game is one element of a NumPy array of dtype :data:`GAME`, which holds its whole state. Copy the record to copy the
game, save it with ``tobytes``, and use an array as a batch. Environments, opponents and searches all use the
kernels below. These change a record in place, and trust that a given card is legal (:func:`legal_cards`).

The course of a deal, and the function for each step::

    begin_deal -> discard x 4 -> start_play (heels) -> lay ... -> end_of_count (go, last card) -> show -> begin_deal

Every point goes through :func:`peg`, which adds it and ends the game at 121.
"""

from __future__ import annotations

import numpy as np

from crib_env.cards import JACK
from crib_env.kernels import GOLDEN, below, bit, kernel, mask_of, mix, popcount
from crib_env.scoring import COUNT_LIMIT, card_value, run_points, same_rank_points, show_points

WIN = 121  # the last hole: pegs stop there, so no score is ever higher
SKUNK, DOUBLE_SKUNK = 90, 60  # a loser at this score or less

# Roles in a deal, in the order of every axis "by role".
ROLES = ("pone", "dealer")
PONE, DEALER = range(2)

# Phases. In DEAL the deal is over but not the game, and the next thirteen cards are needed.
DISCARD, PLAY, DEAL, OVER = range(4)

# Episodes: a game to 121, one deal, the play of one deal alone (four cards each, no show), or the play of eight cards
# alone, without discards, crib or starter. Of these there may be fewer (``fewer``).
EPISODES = ("game", "deal", "play", "pegging")
GAME_EPISODE, DEAL_EPISODE, PLAY_EPISODE, PEGGING_EPISODE = range(4)

# The reasons for points, in the words of players.
EVENTS = (
    "heels",
    "fifteen",
    "thirty-one",
    "pair",
    "three of a kind",
    "four of a kind",
    "run",
    "go",
    "last card",
    "pone's hand",
    "dealer's hand",
    "crib",
)
# Of type int64: for each plain constant that is an argument, Numba compiles a function anew.
HEELS, FIFTEEN, THIRTY_ONE, PAIR, THREE, FOUR, RUN, GO, LAST_CARD, PONES_HAND, DEALERS_HAND, CRIB = np.arange(12)
_ONE, _TWO = np.int64(1), np.int64(2)
TO_DRAW = np.int64(-1)  # in the place of a first dealer or scores that are drawn
N_EVENTS = 6  # at most: a fifteen, a pair or run, the last card, and the three hands of the show

GAME = np.dtype(
    [
        # states of random streams (see begin_game): the episodes of this record, the deals of this episode, and the
        # choices of a policy that plays at random
        ("episode_stream", "u8"),
        ("deal_stream", "u8"),
        ("policy_stream", "u8"),
        # cards as masks, by seat
        ("hand", "i8", 2),  # still held
        ("discards", "i8", 2),  # in the crib
        ("kept", "i8", 2),  # the four that are shown; 0 until both discards are made
        # the play, oldest card first; -1 where nothing is laid
        ("laid", "i1", 8),
        ("laid_by", "i1", 8),
        # what the last transition scored
        ("event_player", "i1", N_EVENTS),
        ("event_kind", "i1", N_EVENTS),
        ("event_points", "i1", N_EVENTS),
        ("n_events", "i1"),
        # the thirteen cards of this deal: six for seat 0, six for seat 1, the starter; -1 for the cards that an episode
        # does not use
        ("cards", "i1", 13),
        ("scores", "i2", 2),
        ("start_scores", "i2", 2),
        ("pegged_from", "i2", 2),  # the hole of the rear peg: the score before the last points
        ("decisions", "i2"),  # number of decisions in this game, by both seats
        ("n_deals", "i2"),
        ("ranks", "i2"),  # the ranks of this count, as a set of bits: a quick test for cards without a pair and a run
        ("n_laid", "i1"),
        ("pile_start", "i1"),  # index in `laid` of the first card of this count
        ("count", "i1"),
        ("dealer", "i1"),
        ("turn", "i1"),  # the seat that acts
        ("phase", "i1"),
        ("episode", "i1"),  # one of EPISODES
        ("fewer", "i1"),  # cards that each player gets less than four in the pegging episode; no episode changes it
    ],
    align=True,
)

# Cards that fit when `room` is left up to 31, for room 0 … 10.
FITS = np.array([sum(1 << card for card in range(52) if card_value(card % 13) <= room) for room in range(11)], np.int64)


@kernel
def starter(g):
    """The starter of this deal, -1 in an episode without one. It is hidden until :func:`starter_is_cut`."""
    return np.int64(g["cards"][12])


@kernel
def starter_is_cut(g):
    """Whether the episode has a starter and it is face up, which is so once the dealer has discarded."""
    return g["kept"][g["dealer"]] != 0 and starter(g) >= 0


@kernel
def is_play_alone(g):
    """Whether the episode is the play of one deal: four cards each, nothing to discard and no show."""
    return g["episode"] >= PLAY_EPISODE


@kernel
def pone(g):
    """The seat that does not deal."""
    return 1 - np.int64(g["dealer"])


@kernel
def begin_game(g, episode, first_dealer, score_0, score_1, start_spread):
    """Starts the next game of this record's stream and asks for its first deal (phase ``DEAL``).

    A ``first_dealer`` below 0 is drawn by a fair coin. Scores below 0 are drawn too: uniformly among the pairs of
    0 … 120 at most ``start_spread`` apart, or 0–0 if ``start_spread`` is below 0.
    """
    g["episode_stream"] += GOLDEN
    g["deal_stream"] = mix(g["episode_stream"])
    g["policy_stream"] = mix(g["deal_stream"] + GOLDEN)
    coin = below(random_word(g), 2)
    if score_0 < 0:
        score_0, score_1 = 0, 0
        if start_spread >= 0:
            score_0, score_1 = below(random_word(g), WIN), below(random_word(g), WIN)
            while abs(score_0 - score_1) > start_spread:
                score_0, score_1 = below(random_word(g), WIN), below(random_word(g), WIN)
    g["scores"][0], g["scores"][1] = score_0, score_1
    g["start_scores"][0], g["start_scores"][1] = score_0, score_1
    g["pegged_from"][0], g["pegged_from"][1] = 0, 0
    g["dealer"] = coin if first_dealer < 0 else first_dealer
    g["episode"] = episode
    g["decisions"], g["n_deals"], g["n_events"] = 0, 0, 0
    g["phase"] = DEAL


@kernel
def random_word(g):
    """The next 64-bit word of the random stream that deals are drawn from."""
    g["deal_stream"] += GOLDEN
    return mix(g["deal_stream"])


@kernel
def shuffle(g):
    """Draws this deal's thirteen cards, six bits at a time. It rejects values that are not a card or were drawn
    before."""
    drawn, k = np.int64(-1) << 52, 0  # 52 to 63 are not cards
    while True:
        word = random_word(g)
        for _ in range(10):
            card = np.int64(word & np.uint64(63))
            word >>= np.uint64(6)
            g["cards"][k] = card  # if it is rejected, the next one overwrites it: no branch to mispredict
            k += 1 - ((drawn >> card) & 1)
            drawn |= bit(card)
            if k == 13:
                return


@kernel
def begin_deal(g):
    """Deals ``g["cards"]``. From the second deal of a game on, the other seat becomes dealer."""
    if g["n_deals"]:
        g["dealer"] = pone(g)
    if g["episode"] == PEGGING_EPISODE:
        _remove_what_pegging_lacks(g)
    for seat in range(2):
        g["hand"][seat] = mask_of(g["cards"][6 * seat : 6 * seat + 6])
        g["discards"][seat] = 0
        g["kept"][seat] = 0
    for k in range(8):
        g["laid"][k] = -1
        g["laid_by"][k] = -1
    g["n_laid"], g["pile_start"], g["count"], g["ranks"] = 0, 0, 0, 0
    g["n_deals"] += 1
    g["turn"] = pone(g)
    g["phase"] = DISCARD
    if is_play_alone(g):  # four cards each: the last two of each six are already in the crib, or do not exist
        for seat in range(2):
            g["discards"][seat] = mask_of(g["cards"][6 * seat + 4 : 6 * seat + 6])
            g["hand"][seat] ^= g["discards"][seat]
            g["kept"][seat] = g["hand"][seat]
        g["phase"] = PLAY


@kernel
def _remove_what_pegging_lacks(g):
    """Removes the cards that the pegging episode does not use: all but the first four, or fewer, of each six cards,
    and the starter."""
    for seat in range(2):
        for k in range(4 - g["fewer"], 6):
            g["cards"][6 * seat + k] = -1
    g["cards"][12] = -1


@kernel
def legal_cards(g):
    """The cards that the seat to act may discard or lay, as a mask; never empty before the game ends."""
    # No branches: they would be mispredicted too often. During the discards the count is 0, and every card fits.
    fits = FITS[min(COUNT_LIMIT - g["count"], 10)]
    return g["hand"][g["turn"]] & fits & (-1 if g["phase"] <= PLAY else 0)


@kernel
def is_legal(g, card):
    """Whether the seat to act may discard or lay a card, of any number."""
    return 0 <= card < 52 and (legal_cards(g) >> card) & 1 != 0


@kernel
def peg(g, seat, points, kind):
    """Gives points to a seat, records the reason, and ends the game at 121. After that nobody scores."""
    if g["phase"] == OVER:
        return
    pegged = min(points, WIN - g["scores"][seat])
    n = g["n_events"]
    if pegged and (n == 0 or kind >= PONES_HAND):  # all points of a card move the peg once; each hand of the show again
        g["pegged_from"][seat] = g["scores"][seat]
    g["scores"][seat] += pegged
    g["event_player"][n], g["event_kind"][n], g["event_points"][n] = seat, kind, pegged
    g["n_events"] = n + 1
    if g["scores"][seat] >= WIN:
        g["phase"] = OVER


@kernel
def call_off(g):
    """Ends the episode in its present state; nobody scores."""
    g["phase"], g["n_events"] = OVER, 0


@kernel
def act(g, card):
    """Plays a decision: the seat to act discards or lays ``card``. Then a seat acts, or the phase is DEAL or OVER."""
    g["n_events"] = 0
    g["decisions"] += 1
    g["hand"][g["turn"]] ^= bit(card)
    if g["phase"] == DISCARD:
        discard(g, card)
    else:
        lay(g, card)


@kernel
def discard(g, card):
    """Puts a card into the crib. Pone discards both cards first, then the dealer; then the starter is cut."""
    seat = np.int64(g["turn"])
    g["discards"][seat] |= bit(card)
    if popcount(g["discards"][seat]) == 2:
        g["kept"][seat] = g["hand"][seat]
        if seat == pone(g):
            g["turn"] = g["dealer"]
        else:
            start_play(g)


@kernel
def start_play(g):
    """Cuts the starter: a jack is his heels, two points for the dealer. Pone leads."""
    g["phase"] = PLAY
    g["turn"] = pone(g)
    if starter(g) % 13 == JACK:
        peg(g, np.int64(g["dealer"]), _TWO, HEELS)


@kernel
def lay(g, card):
    """Lays a card in the play: scores it and passes the turn. Go is not a choice: the turn passes to a player who can
    lay a card."""
    seat = np.int64(g["turn"])
    other = 1 - seat
    start, n = np.int64(g["pile_start"]), np.int64(g["n_laid"]) + 1
    count = np.int64(g["count"]) + card_value(card % 13)
    g["laid"][n - 1], g["laid_by"][n - 1] = card, seat
    before, rank = np.int64(g["ranks"]), bit(card % 13)
    ranks = before | rank
    g["n_laid"], g["count"], g["ranks"] = n, count, ranks

    if count == 15:
        peg(g, seat, _TWO, FIFTEEN)
    elif count == COUNT_LIMIT:
        peg(g, seat, _TWO, THIRTY_ONE)
    points = same_rank_points(g["laid"], start, n) if before & rank else 0
    if points:
        peg(g, seat, points, PAIR if points == 2 else THREE if points == 6 else FOUR)
    elif ranks & ranks >> 1 & ranks >> 2:  # after a pair there is no run: it would hold the same rank twice
        points = run_points(g["laid"], start, n)
        if points:
            peg(g, seat, points, RUN)

    fits = FITS[min(COUNT_LIMIT - count, 10)]
    others_turn = g["hand"][other] & fits != 0
    g["turn"] = other if others_turn else seat
    if not others_turn and not g["hand"][seat] & fits:  # else the other says go and this seat goes on
        end_of_count(g, seat, other)


@kernel
def end_of_count(g, seat, other):
    """Ends a count when nobody can lay a card: one point for ``seat``, which laid the last card (none at 31)."""
    all_laid = g["hand"][0] | g["hand"][1] == 0
    if g["count"] != COUNT_LIMIT:
        peg(g, seat, _ONE, LAST_CARD if all_laid else GO)
    if all_laid:
        show(g)
        return
    g["count"], g["ranks"] = 0, 0
    g["pile_start"] = g["n_laid"]
    if g["hand"][other]:  # the opponent leads if holding cards, else the same seat goes on alone
        g["turn"] = other


@kernel
def show(g):
    """Scores pone's hand, dealer's hand and crib, in that order. Then the next deal is due, or the episode ends."""
    if not is_play_alone(g):
        cut, dealer = starter(g), np.int64(g["dealer"])
        peg(g, 1 - dealer, show_points(g["kept"][1 - dealer], cut, False), PONES_HAND)
        peg(g, dealer, show_points(g["kept"][dealer], cut, False), DEALERS_HAND)
        peg(g, dealer, show_points(g["discards"][0] | g["discards"][1], cut, True), CRIB)
    if g["phase"] != OVER:
        g["phase"] = DEAL if g["episode"] == GAME_EPISODE else OVER


@kernel
def step(g, card):
    """:func:`act`, and the next deal from the game's own stream when one is due."""
    act(g, card)
    if g["phase"] == DEAL:
        shuffle(g)
        begin_deal(g)


@kernel
def winner_pays(g, match):
    """Reward of seat 0 at the end of an episode: 1 for a win, or with ``match`` ACC match points (2, skunk 3).

    If an episode ends before 121, the player who made more points in it wins; equal points pay 0.
    """
    made = (g["scores"][0] - g["start_scores"][0]) - (g["scores"][1] - g["start_scores"][1])
    if g["scores"][0] >= WIN or g["scores"][1] >= WIN:
        made = g["scores"][0] - g["scores"][1]
    sign = 1 if made > 0 else -1 if made < 0 else 0
    if not match:
        return sign
    loser = min(g["scores"][0], g["scores"][1])
    skunk = max(g["scores"][0], g["scores"][1]) >= WIN and loser <= SKUNK
    return sign * (3 if skunk else 2)
