"""The expert: exact discards by probability of winning, and a search to the end of the play. It learns nothing."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.belief.lookahead import packed
from crib_env.agents.belief.opponent_hands import MOST_HANDS, Hands, posterior, resample
from crib_env.agents.belief.prospects import (
    DEALT,
    class_show,
    crib_chances,
    fill_after_pegging,
    fill_after_play,
    habits,
    who_laid,
)
from crib_env.agents.discards import by_phase, lowest_of_rank, next_discard
from crib_env.agents.expert.play_search import DEPTH, HAND, OPPONENTS, Position, card_values
from crib_env.engine import DEALER, PONE, WIN
from crib_env.exact.discard_statistics import N_DISCARDS, N_POINTS, TOTALS, fill_totals
from crib_env.kernels import kernel, lowest, mask_of
from crib_env.scoring import show_points
from crib_env.tables.analysis import discard_chances, outlook

_MOST_PLAY = 61  # the most points that a player can make in one play
_CHUNK = 64  # decisions that a thread takes at once
_WIN, _EVERY_CHANCE, _POINTS = range(3)  # uses of the values of ranks: a choice, a comparison, net points


@kernel
def _value_pairs(views, outlook, out):
    totals, six = np.zeros((1, N_DISCARDS), TOTALS), np.empty((1, 6), np.int64)
    for b in range(len(out)):
        held, discarded = mask_of(views.hand[b]), mask_of(views.discards[b])
        rest = held | discarded
        for k in range(6):
            six[0, k] = lowest(rest)
            rest &= rest - 1
        fill_totals(six, totals)
        scores = np.int64(views.scores[b, 0]), np.int64(views.scores[b, 1])
        discard_chances(six[0], discarded, views.is_dealer[b], scores, totals[0], outlook, out[b])


@kernel
def _fill_points(out):
    """Net points, all of them above 0, in place of :func:`crib_env.agents.belief.prospects.fill_after_play`."""
    for own in range(out.shape[0]):
        for shown in range(out.shape[1]):
            out[own, shown] = own - shown + out.shape[1]


@kernel
def _value_ranks(views, habits, win_table, most, offsets, aim, out):
    cards, weights = np.zeros(MOST_HANDS, np.int64), np.zeros(MOST_HANDS)
    classes, kinds = np.zeros(MOST_HANDS, np.int64), np.zeros(MOST_HANDS, np.int64)
    all_hands, hands = Hands(cards, weights, classes, kinds), np.zeros((DEPTH, MOST_HANDS), HAND)
    after_play, crib = np.zeros((WIN, WIN + N_POINTS - 1)), np.zeros(N_POINTS)
    pile = np.zeros(10, np.int64)
    for b in range(len(out)):
        n, own_laid, other_laid = who_laid(views.laid[b], views.laid_by[b])
        for k in range(n):
            pile[k] = views.laid[b, k] % 13
        held, discarded, starter = mask_of(views.hand[b]), mask_of(views.discards[b]), np.int64(views.starter[b])
        own_score, score = np.int64(views.scores[b, 0]), np.int64(views.scores[b, 1])
        start, so_far = np.int64(views.pile_start[b]), np.int64(views.count[b])
        role = DEALER if views.is_dealer[b] else PONE
        kept = held | own_laid
        laid, laid_by, fresh = views.laid[b], views.laid_by[b], n > 0 and start == n
        is_pegging = starter < 0  # there is no starter, and nothing follows the play
        keeping = habits.keeping[DEALT if is_pegging else role]
        size = posterior(kept | discarded, starter, laid, laid_by, n, fresh, keeping, all_hands)
        size = resample(size, most, offsets[b], all_hands)
        for k in range(size):
            hand = hands[0, k]
            hand["cards"], hand["weight"], hand["kind"] = cards[k], weights[k], kinds[k]
            hand["show"] = class_show(classes[k], starter)
        furthest = _MOST_PLAY, _MOST_PLAY
        if aim == _POINTS:
            own_score, score = np.int64(0), np.int64(0)  # from where nobody can win in this play
            _fill_points(after_play)
        elif is_pegging:
            fill_after_pegging((own_score, score), furthest, after_play)
        else:
            crib_chances(kept | discarded, discarded, starter, other_laid, habits.discarding[role], crib)
            own_show = show_points(kept, starter, False)
            fill_after_play(views.is_dealer[b], (own_score, score), furthest, own_show, crib, win_table, after_play)
        held, theirs = packed(views.hand[b]), np.int64(views.opponent_cards[b])
        position = Position(held, own_score, score, start, n, so_far, OPPONENTS, theirs)
        card_values(position, size, hands, pile, after_play, aim == _WIN, out[b])


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

    Raises:
        ValueError: ``hands`` is not 1 to ``MOST_HANDS``, or ``threads`` is below 1.
    """

    name = "expert"
    suits = "unseen"

    def __init__(self, hands: int = 100, threads: int = 2) -> None:
        if not 1 <= hands <= MOST_HANDS:
            raise ValueError(f"agent 'expert': hands={hands} is not allowed, give 1 to {MOST_HANDS}, which are all")
        if threads < 1:
            raise ValueError(f"agent 'expert': threads={threads} is not allowed, give at least 1")
        self._hands, self._threads = hands, threads

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.agents.agent.Agent`."""
        return by_phase(views, self.discards, self._lay)

    def discards(self, views: PlayerViews) -> np.ndarray:
        """The next card to discard, (B,) ids, for B positions before or amid the discard."""
        values = self.discard_values(views)
        return next_discard(views, values, np.zeros_like(values))

    def _lay(self, views: PlayerViews) -> np.ndarray:
        return lowest_of_rank(views, self.rank_values(views).argmax(axis=1))

    def discard_values(self, views: PlayerViews) -> np.ndarray:
        """The chance to win the game after each discard, (B, 15), for B positions before or amid the discard.

        The pairs are those of the sorted six cards, in the order of ``PLACES``; -inf for pairs without a
        card that is discarded already.
        """
        return self._in_chunks(lambda rows, out: self._fill_discards(views[rows], out), len(views), N_DISCARDS)

    def rank_values(self, views: PlayerViews, rng: np.random.Generator | None = None) -> np.ndarray:
        """The chance to win the game after each rank, (B, 13), for B positions in the play; -inf if it cannot be laid.

        In the pegging episode it is :func:`crib_env.agents.belief.prospects.worth_of_pegging`.
        If a rank wins at once, no other rank has a value. If there are more hands than a search covers, they are picked
        evenly, or drawn with ``rng``, so that the mean of many answers covers all of them. Searches over few hands are
        too optimistic: they find out too soon which hand the opponent holds. This hardly changes the differences
        between ranks.
        """
        offsets = np.full(len(views), 0.5) if rng is None else rng.random(len(views))
        return self._value_ranks(views, offsets, _WIN)

    def rank_chances(self, views: PlayerViews) -> np.ndarray:
        """As :meth:`rank_values`, but every rank that can be laid has a value, also where one wins at once."""
        return self._value_ranks(views, np.full(len(views), 0.5), _EVERY_CHANCE)

    def rank_points(self, views: PlayerViews) -> np.ndarray:
        """Net points of the deal after each rank, (B, 13), for B positions in the play, -inf if it cannot be laid.

        Here the player maximises points, whatever the score is. Hands and crib, which the play does not change, add a
        constant of the position, so only differences between ranks are meaningful.
        """
        return self._value_ranks(views, np.full(len(views), 0.5), _POINTS)

    def _value_ranks(self, views: PlayerViews, offsets: np.ndarray, aim: int) -> np.ndarray:
        return self._in_chunks(lambda rows, out: self._fill_ranks(views[rows], offsets[rows], aim, out), len(views), 13)

    def _in_chunks(self, fill: Callable[[slice, np.ndarray], None], n: int, width: int) -> np.ndarray:
        """(n, width), filled by threads."""
        out = np.empty((n, width))
        chunks = [slice(start, start + _CHUNK) for start in range(0, n, _CHUNK)]
        if len(chunks) <= 1:
            fill(slice(None), out)
            return out
        with ThreadPoolExecutor(self._threads) as pool:
            list(pool.map(lambda rows: fill(rows, out[rows]), chunks))
        return out

    def _fill_discards(self, views: PlayerViews, out: np.ndarray) -> None:
        _value_pairs(views.arrays, outlook(), out)

    def _fill_ranks(self, views: PlayerViews, offsets: np.ndarray, aim: int, out: np.ndarray) -> None:
        _value_ranks(views.arrays, habits(), outlook().win_table, self._hands, offsets, aim, out)
