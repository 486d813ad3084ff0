"""The expert: exact discards by their chance to win, and a search to the end of the play. It learns nothing."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from agents.discards import by_phase, lowest_of_rank, next_thrown
from agents.opponent_hands import MOST_HANDS, believe, keeping_weights, thin_out
from agents.play_search import DEPTH, card_values
from crib_env import PlayerViews
from crib_env.engine import WIN
from crib_env.exact.analysis import discard_chances, outlook
from crib_env.exact.crib_tables import DEALER, PAIRS, PONE
from crib_env.exact.discard_statistics import N_DISCARDS, N_POINTS, TOTALS, fill_totals
from crib_env.exact.rank_classes import CLASS_RANKS
from crib_env.exact.standard import standard_cribs
from crib_env.kernels import bit, kernel, lowest, mask_of
from crib_env.scoring import add_rank, rank_points, show_points

_MOST_PLAY = 61  # no play brings a player more points than this
_CHUNK = 64  # decisions that a thread takes at once


@kernel
def _value_pairs(hand, discards, scores, is_dealer, cribs, hands, pegging, board, out):
    totals, six = np.zeros((1, N_DISCARDS), TOTALS), np.empty((1, 6), np.int64)
    for b in range(len(out)):
        held, thrown = mask_of(hand[b]), mask_of(discards[b])
        rest = held | thrown
        for k in range(6):
            six[0, k] = lowest(rest)
            rest &= rest - 1
        fill_totals(six, totals)
        own_score, score = np.int64(scores[b, 0]), np.int64(scores[b, 1])
        discard_chances(six[0], thrown, is_dealer[b], own_score, score, totals[0], cribs, hands, pegging, board, out[b])


@kernel
def _crib_chances(own_six, thrown, starter, seen, thrown_chances, chances):
    """Chances (30,) of the crib's points, by how often the opponent throws each pair of ranks.

    Args:
        own_six, thrown: masks of the own six cards and of the two thrown.
        starter: its id.
        seen: mask of every other known card.
        thrown_chances: (13, 13) how likely the opponent is to throw a given pair of cards, by ranks, up to a factor.
    """
    chances[:] = 0.0
    known = own_six | seen | bit(starter)
    total = 0.0
    for first in range(52):
        if (known >> first) & 1:
            continue
        for second in range(first):
            if not (known >> second) & 1:
                weight = thrown_chances[first % 13, second % 13]
                chances[show_points(thrown | bit(first) | bit(second), starter, True)] += weight
                total += weight
    chances /= total


@kernel
def _fill_after_play(is_dealer, own_score, score, own_show, crib, board, out):
    """Fills ``out`` (121, 150): the chance to win by own score after the play, and by the opponent's after its show."""
    for own in range(own_score, min(own_score + _MOST_PLAY, WIN)):
        for shown in range(score, min(score + _MOST_PLAY, WIN) + N_POINTS - 1):
            own_out, out_first = own + own_show >= WIN, shown >= WIN
            if own_out or out_first:  # pone counts first
                out[own, shown] = 1.0 if own_out and not (out_first and is_dealer) else 0.0
                continue
            value, own_shown = 0.0, own + own_show
            for points in range(N_POINTS):
                if crib[points] > 0:
                    if is_dealer:  # then the opponent deals
                        last = own_shown + points
                        value += crib[points] * (1.0 if last >= WIN else 1.0 - board[shown, last])
                    elif shown + points < WIN:
                        value += crib[points] * board[own_shown, shown + points]
            out[own, shown] = value


@kernel
def _value_ranks(
    hand,
    discards,
    starters,
    laid,
    laid_by,
    pile_start,
    count,
    scores,
    is_dealer,
    opponent_cards,
    keeping,
    throwing,
    board,
    most,
    offsets,
    out,
):
    hands, weights = np.zeros((DEPTH, MOST_HANDS), np.int64), np.zeros((DEPTH, MOST_HANDS))
    numbers, classes = np.zeros((DEPTH, MOST_HANDS), np.int64), np.zeros(MOST_HANDS, np.int64)
    kinds, shows = np.zeros(MOST_HANDS, np.int64), np.zeros(MOST_HANDS, np.int64)
    after_play, crib = np.zeros((WIN, WIN + N_POINTS - 1)), np.zeros(N_POINTS)
    pile = np.zeros(10, np.int64)
    for b in range(len(out)):
        n, own_laid, other_laid = np.int64(0), np.int64(0), np.int64(0)
        while n < 8 and laid[b, n] >= 0:
            if laid_by[b, n] == 0:
                own_laid |= bit(laid[b, n])
            else:
                other_laid |= bit(laid[b, n])
            pile[n] = laid[b, n] % 13
            n += 1
        held, thrown, starter = mask_of(hand[b]), mask_of(discards[b]), np.int64(starters[b])
        own_score, score = np.int64(scores[b, 0]), np.int64(scores[b, 1])
        start, so_far, role = np.int64(pile_start[b]), np.int64(count[b]), 0 if is_dealer[b] else 1
        kept = held | own_laid
        size = believe(
            kept | thrown,
            starter,
            laid[b],
            laid_by[b],
            n,
            n > 0 and start == n,
            keeping[role],
            hands[0],
            weights[0],
            classes,
            kinds,
        )
        size = thin_out(size, most, offsets[b], hands[0], weights[0], classes, kinds)
        for k in range(size):
            numbers[0, k] = k
            ranks, sums = add_rank(np.int64(0), np.int64(1), starter % 13)
            for place in range(4):
                ranks, sums = add_rank(ranks, sums, CLASS_RANKS[classes[k], place])
            shows[k] = rank_points(ranks, sums)
        _crib_chances(kept | thrown, thrown, starter, other_laid, throwing[role], crib)
        _fill_after_play(is_dealer[b], own_score, score, show_points(kept, starter, False), crib, board, after_play)
        own, rest = np.int64(0), held
        while rest:
            own += np.int64(1) << (4 * (lowest(rest) % 13))
            rest &= rest - 1
        card_values(
            own,
            own_score,
            score,
            pile,
            start,
            n,
            so_far,
            np.int64(opponent_cards[b]),
            size,
            hands,
            weights,
            numbers,
            kinds,
            shows,
            after_play,
            out[b],
        )


class ExpertAgent:
    """Plays for the chance to win the game, by exact values and search.

    Discards: the pair with the best chance to win at this score (:func:`crib_env.analyse_discard`). Play: every hand
    that the opponent may hold, weighted by how likely it is (:mod:`agents.opponent_hands`), and the best card for all
    of them to the end of the play (:mod:`agents.play_search`), then the shows, the crib and the board.

    Args:
        hands: how many opposing hands a search looks at; where there are more, so many are picked evenly.
        threads: how many decisions of a batch are searched side by side; the choices do not depend on it.

    Raises:
        ValueError: ``hands`` or ``threads`` is below 1.
    """

    name = "expert"

    def __init__(self, hands: int = 100, threads: int = 2) -> None:
        for setting, value in (("hands", hands), ("threads", threads)):
            if value < 1:
                raise ValueError(f"agent 'expert': {setting}={value} is not allowed, give at least 1")
        self._hands, self._threads = hands, threads
        tables, pairs = standard_cribs(), np.array(PAIRS)
        # Of the opponent, in the order of this player's role: dealer, pone.
        self._keeping = np.stack([keeping_weights(tables.kept[other]) for other in (PONE, DEALER)])
        ways = np.full((13, 13), 16.0)
        ways[np.diag_indices(13)] = 6.0
        anything = np.zeros((13, 13))
        anything[pairs[:, 0], pairs[:, 1]] = anything[pairs[:, 1], pairs[:, 0]] = ways[pairs[:, 0], pairs[:, 1]] / 1326
        self._throwing = np.stack([(0.97 * tables.share[other] + 0.03 * anything) / ways for other in (PONE, DEALER)])

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`agents.agent.Agent`."""
        return by_phase(views, self._throw, self._lay)

    def _throw(self, views: PlayerViews) -> np.ndarray:
        values = self.discard_values(views)
        return next_thrown(views, values, np.zeros_like(values))

    def _lay(self, views: PlayerViews) -> np.ndarray:
        return lowest_of_rank(views, self.rank_values(views).argmax(axis=1))

    def discard_values(self, views: PlayerViews) -> np.ndarray:
        """The chance to win the game after each discard, (B, 15), for B positions before or amid the discard.

        The pairs are those of the sorted six cards, in the order of ``PLACES``; -1 where what is thrown is not in them.
        """
        return self._in_chunks(lambda rows, out: self._fill_discards(views[rows], out), len(views), N_DISCARDS)

    def rank_values(self, views: PlayerViews, rng: np.random.Generator | None = None) -> np.ndarray:
        """The chance to win the game after each rank, (B, 13), for B positions in the play; -1 if it cannot be laid.

        Where a rank wins at once no other has a value. If there are more hands than a search looks at they are picked
        evenly, or drawn with ``rng``, so that the mean of many answers looks at all of them. Searches over few hands
        are too hopeful: they find out too soon which one the opponent holds. That hardly touches how ranks differ.
        """
        offsets = np.full(len(views), 0.5) if rng is None else rng.random(len(views))
        return self._in_chunks(lambda rows, out: self._fill_ranks(views[rows], offsets[rows], out), len(views), 13)

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
        _value_pairs(views.hand, views.discards, views.scores, views.is_dealer, *outlook(), out)

    def _fill_ranks(self, views: PlayerViews, offsets: np.ndarray, out: np.ndarray) -> None:
        _value_ranks(
            views.hand,
            views.discards,
            views.starter,
            views.laid,
            views.laid_by,
            views.pile_start,
            views.count,
            views.scores,
            views.is_dealer,
            views.opponent_cards,
            self._keeping,
            self._throwing,
            outlook().board,
            self._hands,
            offsets,
            out,
        )
