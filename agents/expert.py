"""The expert: exact discards by probability of winning, and a search to the end of the play. It learns nothing.

The player does not see the opponent's hand, so it must make the same choice for all hands that look alike. The search
carries a list of weighted hands down the tree, splits it by what the opponent would lay or by a go, and takes the best
card for the whole list. The opponent chooses at random (:mod:`crib_env.agents.belief`), the player its best card.
Nothing of this but the player's choice depends on the scores, so one search values a decision at many pairs of scores.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.belief import (
    CAREFUL_TYPE,
    DEALT,
    MOST_HANDS,
    Hands,
    cards_laid,
    careful_choice,
    crib_chances,
    fill_after_play,
    greedy_chance,
    habits,
    hand_show,
    posterior,
    resample,
    weigh_cards,
)
from crib_env.agents.choosing import (
    by_phase,
    check_four_cards,
    legal_ranks,
    lowest_of_rank,
    next_discard,
    on_threads,
    same_cards,
)
from crib_env.agents.lookahead import holds, one_of, packed, that_fit, without_rank
from crib_env.engine import DEALER, PONE, WIN
from crib_env.exact.discard_statistics import N_DISCARDS, N_POINTS, TOTALS, fill_totals
from crib_env.kernels import cards_in, kernel, lowest, mask_of
from crib_env.players.agent import Powers
from crib_env.scoring import COUNT_LIMIT, card_value, pile_points, show_points
from crib_env.tables.analysis import discard_chances
from crib_env.tables.outlook import outlook
from crib_env.values import Range, Threads

# NumPy's numbers, not Python's: Numba would compile `value_of` again for each constant argument. Loading several of
# these versions, which call each other, from the cache crashes the process (numba/numba#6061).
OWN, OPPONENTS, COUNT_OVER = np.arange(3)  # whose turn it is
_PASSED, _NOT_PASSED = np.bool_(True), np.bool_(False)
_LEAST_CHANCE = 0.1  # opponent's cards less likely than this are left out of the tree
DEPTH = 18  # number of lists: the opponent lays four times and can say go before each own card and each end of a count
# The sheet of a search at N pairs of scores, (SHEET_ROWS, …) float64. It is one array because Numba counts references
# to each array at each call. First the chance to win, by own score after the play and the opponent's after its show.
AFTER_PLAY_ROWS, AFTER_PLAY_COLUMNS = WIN + 1, WIN + N_POINTS - 1
SCORES = AFTER_PLAY_ROWS  # a row of own scores at the decision, and a row of the opponent's
_VALUES = SCORES + 2  # then a row of values for each number of cards laid plus depth of the list, and one more
SHEET_ROWS = _VALUES + DEPTH + 10

# A possible hand of the opponent.
HAND = np.dtype(
    [
        ("cards", "i8"),  # still held, packed
        ("weight", "f8"),
        ("kind", "i8"),  # type of opponent
        ("show", "i8"),  # points of all four cards
        ("least", "f8"),  # of a careful holder who is to lay, see `careful_choice`
        ("considered", "f8"),
    ]
)


class AtScores(NamedTuple):
    """The pairs of scores at which a search values the cards."""

    goal: int  # the fewest points that win at any of them
    others_goal: int  # the same for the opponent
    n: int  # how many pairs


class Position(NamedTuple):
    """The state of the play as both players see it, without the ranks laid, and the player's hand."""

    own: int  # own cards, packed
    made: int  # own points since the decision
    conceded: int  # the opponent's points since the decision
    start: int  # index of the first card of this count among the cards laid
    n: int  # number of cards laid
    count: int  # type: ignore[assignment]  # it hides `tuple.count`, which nothing here uses
    last: int  # who laid the last card: ``OWN`` or ``OPPONENTS``
    cards: int  # number of cards that the opponent holds
    at: AtScores


@kernel
def _weight(hands, depth, size):
    total = 0.0
    for k in range(size):
        total += hands[depth, k]["weight"]
    return total


@kernel
def _cards(hand):
    n = np.int64(0)
    while hand:
        n += hand & 15
        hand >>= 4
    return n


@kernel
def _settle(sheet, n_scores, side, points, won, row):
    """Sets a row of values to ``won`` where these points reach 121; whether they do at all scores."""
    n_over = 0
    for i in range(n_scores):
        if sheet[SCORES + side, i] + points >= WIN:
            sheet[row, i] = won
            n_over += 1
    return n_over == n_scores


@kernel
def _fill_end(position, depth, size, hands, sheet, row):
    """Fills a row of values after the last card of the play."""
    last = AFTER_PLAY_COLUMNS - 1  # scores beyond the end belong to games that are over
    for i in range(position.at.n):
        own = min(np.int64(sheet[SCORES, i]) + position.made, WIN)
        score = np.int64(sheet[SCORES + 1, i]) + position.conceded
        total = 0.0
        for k in range(size):
            total += hands[depth, k]["weight"] * sheet[own, min(score + hands[depth, k]["show"], last)]
        sheet[row, i] = total


@kernel
def value_of(turn, passed, position, depth, size, hands, pile, sheet):
    """Fills a row of the sheet with the chance to win, times the weight of a list of hands.

    It is the row ``_VALUES`` plus the number of cards laid plus ``depth``; those below it are overwritten.

    Args:
        turn: ``OWN``, ``OPPONENTS``, or ``COUNT_OVER`` when neither can lay.
        passed: whether the other player has just said go.
        depth, size: index of the list among ``hands`` (``DEPTH``, …) ``HAND``, and the number of hands in it.
        pile: (10,) int64, ranks laid.
    """
    own, made, conceded, start, n, count, last, cards, at = position
    row = _VALUES + n + depth
    if turn == OWN and that_fit(own, count) == 0:
        turn = COUNT_OVER if passed else OPPONENTS
        passed = True
    if turn == COUNT_OVER:
        side, points, won = last, made, 0.0
        ends = False
        if count != COUNT_LIMIT:  # go, or last card
            if last == OWN:
                made += 1
                if made >= at.goal:
                    ends, points, won = True, made, _weight(hands, depth, size)
            else:
                conceded += 1
                ends, points = conceded >= at.others_goal, conceded
            if ends and _settle(sheet, at.n, side, points, won, row):
                return
        fresh = Position(own, made, conceded, n, n, np.int64(0), last, cards, at)
        if own == 0 and cards == 0:
            _fill_end(fresh, depth, size, hands, sheet, row)
        else:
            turn = 1 - last
            if (turn == OWN and own == 0) or (turn == OPPONENTS and cards == 0):
                turn = last
            value_of(turn, _NOT_PASSED, fresh, depth, size, hands, pile, sheet)
        if ends:
            _settle(sheet, at.n, side, points, won, row)
        return

    for i in range(at.n):
        sheet[row, i] = 0.0
    if turn == OWN:
        can = that_fit(own, count)
        while can:
            rank = lowest(can) >> 2
            can = without_rank(can, rank)
            after = count + card_value(rank)
            pile[n] = rank
            then_made = made + pile_points(pile, start, n + 1, after)
            ends = then_made >= at.goal
            weight = _weight(hands, depth, size) if ends else 0.0
            below = row + 1
            if ends and _settle(sheet, at.n, OWN, then_made, weight, below):
                for i in range(at.n):
                    sheet[row, i] = weight
                return
            laid = Position(own - one_of(rank), then_made, conceded, start, n + 1, after, OWN, cards, at)
            value_of(OPPONENTS, _NOT_PASSED, laid, depth, size, hands, pile, sheet)
            if ends:
                _settle(sheet, at.n, OWN, then_made, weight, below)
            for i in range(at.n):
                sheet[row, i] = max(sheet[row, i], sheet[below, i])
        return

    # The opponent's turn: first the hands that cannot lay, then the others, split by the card laid.
    stuck, present, choice = np.int64(0), np.int64(0), False
    for k in range(size):
        can = that_fit(hands[depth, k]["cards"], count)
        if can == 0:
            hands[depth + 1, stuck] = hands[depth, k]
            stuck += 1
        else:
            present |= can
            choice = choice or without_rank(can, lowest(can) >> 2) != 0
    if stuck:
        after_go = Position(own, made, conceded, start, n, count, last, cards, at)
        turn = COUNT_OVER if passed else OWN
        value_of(turn, _PASSED, after_go, depth + 1, stuck, hands, pile, sheet)
        for i in range(at.n):
            sheet[row, i] += sheet[row + 1, i]
    if present == 0:
        return
    care, greed = np.empty(13), np.empty(13, np.int64)
    if choice:
        weigh_cards(present, pile, start, n, count, _cards(own), care, greed)
        for k in range(size):
            if hands[depth, k]["kind"] == CAREFUL_TYPE:
                least, considered = careful_choice(that_fit(hands[depth, k]["cards"], count), care, _LEAST_CHANCE)
                hands[depth, k]["least"], hands[depth, k]["considered"] = least, considered
    while present:
        rank = lowest(present) >> 2
        present = without_rank(present, rank)
        laying = np.int64(0)
        for k in range(size):
            hand = hands[depth, k]
            if holds(hand["cards"], rank):
                chance = 1.0
                if choice:
                    if hand["kind"] == CAREFUL_TYPE:
                        chance = care[rank] / hand["considered"] if care[rank] >= hand["least"] else 0.0
                    else:
                        chance = greedy_chance(rank, that_fit(hand["cards"], count), greed, 0.0)
                if chance > 0:
                    then = hands[depth + 1, laying]
                    then["cards"], then["weight"] = hand["cards"] - one_of(rank), hand["weight"] * chance
                    then["kind"], then["show"] = hand["kind"], hand["show"]
                    laying += 1
        if laying == 0:
            continue
        after = count + card_value(rank)
        pile[n] = rank
        then_conceded = conceded + pile_points(pile, start, n + 1, after)
        ends = then_conceded >= at.others_goal
        below = row + 2
        if ends and _settle(sheet, at.n, OPPONENTS, then_conceded, 0.0, below):
            continue
        laid = Position(own, made, then_conceded, start, n + 1, after, OPPONENTS, cards - 1, at)
        value_of(OWN, _NOT_PASSED, laid, depth + 1, laying, hands, pile, sheet)
        if ends:
            _settle(sheet, at.n, OPPONENTS, then_conceded, 0.0, below)
        for i in range(at.n):
            sheet[row, i] += sheet[below, i]


@kernel
def card_values(position, size, hands, pile, sheet, out):
    """Fills ``out`` (N, 13) with the chance to win after each rank that may be laid, -inf for the others.

    Arguments as for :func:`value_of`; the first list holds all possible hands of the opponent.
    """
    own, made, conceded, start, n, count, _, cards, at = position
    row = _VALUES + n + 1
    out[:] = -np.inf
    can = that_fit(own, count)
    while can:
        rank = lowest(can) >> 2
        can = without_rank(can, rank)
        after = count + card_value(rank)
        pile[n] = rank
        then_made = made + pile_points(pile, start, n + 1, after)
        if not _settle(sheet, at.n, OWN, then_made, 1.0, row):
            laid = Position(own - one_of(rank), then_made, conceded, start, n + 1, after, OWN, cards, at)
            value_of(OPPONENTS, _NOT_PASSED, laid, np.int64(0), size, hands, pile, sheet)
            _settle(sheet, at.n, OWN, then_made, 1.0, row)
        for i in range(len(out)):
            out[i, rank] = sheet[row, i]


_MOST_PLAY = 61  # the most points that a player can make in one play
_CHUNK = 64  # groups of decisions that a thread takes at once


@kernel
def _value_pairs(views, same, outlook, out):
    totals, six = np.zeros((1, N_DISCARDS), TOTALS), np.empty((1, 6), np.int64)
    for group in range(len(same.ends)):
        rows = same.rows[same.ends[group - 1] if group else 0 : same.ends[group]]
        b = rows[0]
        held, discarded = mask_of(views.hand[b]), mask_of(views.discards[b])
        six[0] = cards_in(held | discarded, 6)
        fill_totals(six, totals)
        scores, chances = np.empty((len(rows), 2), np.int64), np.empty((len(rows), N_DISCARDS))
        for i in range(len(rows)):
            scores[i, 0], scores[i, 1] = views.scores[rows[i], 0], views.scores[rows[i], 1]
        discard_chances(six[0], discarded, views.is_dealer[b], scores, totals[0], outlook, chances)
        for i in range(len(rows)):
            for k in range(N_DISCARDS):  # one by one: for an array, Numba compiles error messages too, for seconds
                out[rows[i], k] = chances[i, k]


@kernel
def _fill_net(zero, unit, scores, most, out):
    """Fills ``out`` with net points in this unit, above a value of zero, as :func:`fill_after_play` fills chances."""
    for own in range(scores[0], min(scores[0] + most[0], WIN) + 1):
        for shown in range(scores[1], min(scores[1] + most[1] + 1, WIN) + N_POINTS - 1):
            out[own, shown] = zero + (own - shown) / unit


@kernel
def _value_ranks(views, same, habits, win_table, most, for_points, out):
    cards, weights = np.zeros(MOST_HANDS, np.int64), np.zeros(MOST_HANDS)
    numbers, kinds = np.zeros(MOST_HANDS, np.int64), np.zeros(MOST_HANDS, np.int64)
    all_hands, hands = Hands(cards, weights, numbers, kinds), np.zeros((DEPTH, MOST_HANDS), HAND)
    most_scores = np.int64(0)
    for group in range(len(same.ends)):
        most_scores = max(most_scores, same.ends[group] - (same.ends[group - 1] if group else 0))
    sheet = np.zeros((SHEET_ROWS, max(most_scores, AFTER_PLAY_COLUMNS)))
    after_play, scores = sheet[:AFTER_PLAY_ROWS], sheet[SCORES : SCORES + 2]
    crib, pile = np.zeros(N_POINTS), np.zeros(10, np.int64)
    for group in range(len(same.ends)):
        rows = same.rows[same.ends[group - 1] if group else 0 : same.ends[group]]
        b = rows[0]
        n, laid, laid_by = np.int64(views.n_laid[b]), views.laid[b], views.laid_by[b]
        for k in range(n):
            pile[k] = laid[k] % 13
        kept, discarded = mask_of(views.hand[b]) | cards_laid(views, b, 0), mask_of(views.discards[b])
        starter, start = np.int64(views.starter[b]), np.int64(views.pile_start[b])
        role = DEALER if views.is_dealer[b] else PONE
        is_pegging = starter < 0  # there is no starter, and nothing follows the play
        keeping = habits.keeping[DEALT if is_pegging else role]
        fresh = n > 0 and start == n
        size = posterior(kept | discarded, starter, laid, laid_by, n, fresh, keeping, all_hands)
        size = resample(size, most, all_hands)
        for k in range(size):
            hand = hands[0, k]
            hand["cards"], hand["weight"], hand["kind"] = cards[k], weights[k], kinds[k]
            hand["show"] = hand_show(numbers[k], starter)
        low, high = np.full(2, WIN, np.int64), np.zeros(2, np.int64)
        for i in range(len(rows)):
            for side in range(2):
                # for points all scores stay at 0, from where nobody can win in this play
                score = np.int64(0) if for_points else np.int64(views.scores[rows[i], side])
                scores[side, i] = score
                low[side], high[side] = min(low[side], score), max(high[side], score)
        lowest_scores = low[0], low[1]
        furthest = high[0] - low[0] + _MOST_PLAY, high[1] - low[1] + _MOST_PLAY
        if for_points:
            _fill_net(np.float64(AFTER_PLAY_COLUMNS), 1.0, lowest_scores, furthest, after_play)  # all of it above 0
        elif is_pegging:  # half, plus or minus the same for each net point; pegging out is worth more
            _fill_net(0.5, 2.0 * WIN, lowest_scores, furthest, after_play)
        else:
            crib_chances(kept | discarded, discarded, starter, cards_laid(views, b, 1), habits.discarding[role], crib)
            own_show = show_points(kept, starter, False)
            fill_after_play(views.is_dealer[b], lowest_scores, furthest, own_show, crib, win_table, after_play)
        at, nothing = AtScores(WIN - high[0], WIN - high[1], len(rows)), np.int64(0)
        own, theirs, count = packed(mask_of(views.hand[b])), np.int64(views.opponent_cards[b]), np.int64(views.count[b])
        position = Position(own, nothing, nothing, start, n, count, OPPONENTS, theirs, at)
        values = np.empty((len(rows), 13))
        card_values(position, size, hands, pile, sheet, values)
        for i in range(len(rows)):
            out[rows[i]] = values[i]


class ExpertAgent:
    """Maximises the probability of winning the game, by exact values and search.

    Discards: the pair with the best chance to win at this score (:func:`crib_env.analyse_discard`). Play: the card with
    the best expectation over the hands that the opponent may hold (:mod:`crib_env.agents.belief`), searched to the end
    of the play; then come the shows, the crib and the win table. In the pegging episode it maximises net points.

    Args:
        hands: how many opposing hands a search covers at most; of more hands, this many are picked evenly.
        threads: how many decisions of a batch are searched in parallel; the choices do not depend on it.
        win_table: the file of another win table than the one that ships with the package.

    Raises:
        ValueError: the file is not a win table.
    """

    name = "expert"
    powers = Powers(suits="unseen")

    def __init__(
        self, hands: Annotated[int, Range(1, MOST_HANDS)] = 100, threads: Threads = 2, win_table: Path | None = None
    ) -> None:
        self._hands, self._threads, self._outlook = hands, threads, outlook(win_table)

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        return by_phase(views, self.discards, self._lay)

    def discards(self, views: PlayerViews) -> np.ndarray:
        """The next card to discard, (B,) ids, for B positions before or amid the discard."""
        values = self.discard_values(views)
        return next_discard(views, values, np.zeros_like(values))

    def _lay(self, views: PlayerViews) -> np.ndarray:
        return lowest_of_rank(views, self.best_ranks(views))

    def best_ranks(self, views: PlayerViews) -> np.ndarray:
        """The rank to lay, (B,), for B positions in the play: the lowest that wins at once, else the best by value."""
        fits, points = legal_ranks(views), views.ranks_and_gains[1].reshape(-1, 4, 13).max(axis=1)
        wins = points >= WIN - views.scores[:, :1]
        is_won = wins.any(axis=1)
        ranks = np.where(is_won[:, None], wins, fits).argmax(axis=1)
        choice = np.flatnonzero((fits.sum(axis=1) > 1) & ~is_won)
        if len(choice):
            ranks[choice] = self.rank_values(views[choice]).argmax(axis=1)
        return ranks

    def discard_values(self, views: PlayerViews) -> np.ndarray:
        """The chance to win the game after each discard, (B, 15), for B positions before or amid the discard.

        The pairs are those of the sorted six cards, in the order of ``PLACES``; -inf for pairs without a
        card that is discarded already.
        """
        return self._filled(N_DISCARDS, _value_pairs, views, self._outlook)

    def rank_values(self, views: PlayerViews) -> np.ndarray:
        """The chance to win the game after each rank, (B, 13), for B positions in the play; -inf if it cannot be laid.

        In the pegging episode it is half, plus a 242nd for each net point. Searches over few hands are too optimistic:
        they find out too soon which hand the opponent holds. This hardly changes the differences between ranks.
        """
        return self._value_ranks(views, False)

    def rank_points(self, views: PlayerViews) -> np.ndarray:
        """Net points of the deal after each rank, (B, 13), for B positions in the play, -inf if it cannot be laid.

        Here the player maximises points, whatever the score is. Hands and crib, which the play does not change, add a
        constant of the position, so only differences between ranks are meaningful.
        """
        return self._value_ranks(views, True)

    def _value_ranks(self, views: PlayerViews, for_points: bool) -> np.ndarray:
        check_four_cards(self.name, views)
        return self._filled(13, _value_ranks, views, habits(), self._outlook.win_table, self._hands, for_points)

    def _filled(self, width: int, fill: Callable[..., None], views: PlayerViews, *given: object) -> np.ndarray:
        """(B, width), which threads fill by ``fill(views, some groups of decisions, *given, out)``."""
        out, parts = np.empty((len(views), width)), same_cards(views).parts(_CHUNK)
        on_threads(self._threads, lambda part: fill(views.arrays, part, *given, out), parts)
        return out
