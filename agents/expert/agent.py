"""The expert: exact discards by probability of winning, and a search to the end of the play. It learns nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.belief.lookahead import packed
from crib_env.agents.belief.opponent_hands import MOST_HANDS, Hands, posterior, resample
from crib_env.agents.belief.rest_of_deal import (
    DEALT,
    cards_laid,
    crib_chances,
    fill_after_pegging,
    fill_after_play,
    habits,
    hand_show,
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
from crib_env.agents.expert.play_search import (
    AFTER_PLAY_COLUMNS,
    AFTER_PLAY_ROWS,
    DEPTH,
    HAND,
    OPPONENTS,
    SCORES,
    SHEET_ROWS,
    AtScores,
    Position,
    card_values,
)
from crib_env.engine import DEALER, PONE, WIN
from crib_env.exact.discard_statistics import N_DISCARDS, N_POINTS, TOTALS, fill_totals
from crib_env.kernels import cards_in, kernel, mask_of
from crib_env.players.agent import Powers
from crib_env.scoring import show_points
from crib_env.tables.analysis import discard_chances
from crib_env.tables.outlook import outlook

_MOST_PLAY = 61  # the most points that a player can make in one play
_CHUNK = 64  # groups of decisions that a thread takes at once
_WIN, _EVERY_CHANCE, _POINTS = range(3)  # uses of the values of ranks: a choice, a comparison, net points


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
def _fill_points(out):
    """Net points, all of them above 0, in place of :func:`crib_env.agents.belief.rest_of_deal.fill_after_play`."""
    for own in range(out.shape[0]):
        for shown in range(out.shape[1]):
            out[own, shown] = own - shown + AFTER_PLAY_COLUMNS


@kernel
def _value_ranks(views, same, habits, win_table, most, aim, out):
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
                score = np.int64(0) if aim == _POINTS else np.int64(views.scores[rows[i], side])
                scores[side, i] = score
                low[side], high[side] = min(low[side], score), max(high[side], score)
        lowest_scores = low[0], low[1]
        furthest = high[0] - low[0] + _MOST_PLAY, high[1] - low[1] + _MOST_PLAY
        if aim == _POINTS:
            _fill_points(after_play)
        elif is_pegging:
            fill_after_pegging(lowest_scores, furthest, after_play)
        else:
            crib_chances(kept | discarded, discarded, starter, cards_laid(views, b, 1), habits.discarding[role], crib)
            own_show = show_points(kept, starter, False)
            fill_after_play(views.is_dealer[b], lowest_scores, furthest, own_show, crib, win_table, after_play)
        at, nothing = AtScores(WIN - high[0], WIN - high[1], len(rows)), np.int64(0)
        own, theirs, count = packed(views.hand[b]), np.int64(views.opponent_cards[b]), np.int64(views.count[b])
        position = Position(own, nothing, nothing, start, n, count, OPPONENTS, theirs, at)
        values = np.empty((len(rows), 13))
        card_values(position, size, hands, pile, sheet, aim == _WIN, values)
        for i in range(len(rows)):
            out[rows[i]] = values[i]


class ExpertAgent:
    """Maximises the probability of winning the game, by exact values and search.

    Discards: the pair with the best probability of winning at this score (:func:`crib_env.analyse_discard`).
    Play: the card with the best expectation over the posterior of the opponent's hands
    (:mod:`crib_env.agents.belief.opponent_hands`), searched to the end of the play
    (:mod:`crib_env.agents.expert.play_search`); then come the shows, the crib and the win table. In the pegging episode
    nothing follows the play: there it maximises its net points.

    Args:
        hands: how many opposing hands a search covers at most; of more hands, this many are picked evenly.
        threads: how many decisions of a batch are searched in parallel; the choices do not depend on it.
        win_table: the file of another win table than the one that ships with the package.

    Raises:
        ValueError: ``hands`` is not 1 to ``MOST_HANDS``, ``threads`` is below 1, or the file is not a win table.
    """

    name = "expert"
    powers = Powers(suits="unseen")

    def __init__(self, hands: int = 100, threads: int = 2, win_table: Path | None = None) -> None:
        if not 1 <= hands <= MOST_HANDS:
            raise ValueError(f"agent 'expert': hands={hands} is not allowed, give 1 to {MOST_HANDS}, which are all")
        if threads < 1:
            raise ValueError(f"agent 'expert': threads={threads} is not allowed, give at least 1")
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
        """The rank to lay, (B,), for B positions in the play."""
        fits = legal_ranks(views)
        ranks, choice = fits.argmax(axis=1), np.flatnonzero(fits.sum(axis=1) > 1)
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

        In the pegging episode it is :func:`crib_env.agents.belief.rest_of_deal.worth_of_pegging`.
        If a rank wins at once, no other rank has a value. Searches over few hands are too optimistic: they find out too
        soon which hand the opponent holds. This hardly changes the differences between ranks.
        """
        return self._value_ranks(views, _WIN)

    def rank_chances(self, views: PlayerViews) -> np.ndarray:
        """As :meth:`rank_values`, but every rank that can be laid has a value, also where one wins at once."""
        return self._value_ranks(views, _EVERY_CHANCE)

    def rank_points(self, views: PlayerViews) -> np.ndarray:
        """Net points of the deal after each rank, (B, 13), for B positions in the play, -inf if it cannot be laid.

        Here the player maximises points, whatever the score is. Hands and crib, which the play does not change, add a
        constant of the position, so only differences between ranks are meaningful.
        """
        return self._value_ranks(views, _POINTS)

    def _value_ranks(self, views: PlayerViews, aim: int) -> np.ndarray:
        check_four_cards(self.name, views)
        return self._filled(13, _value_ranks, views, habits(), self._outlook.win_table, self._hands, aim)

    def _filled(self, width: int, fill: Callable[..., None], views: PlayerViews, *given: object) -> np.ndarray:
        """(B, width), which threads fill by ``fill(views, some groups of decisions, *given, out)``."""
        out, parts = np.empty((len(views), width)), same_cards(views).parts(_CHUNK)
        on_threads(self._threads, lambda part: fill(views.arrays, part, *given, out), parts)
        return out
