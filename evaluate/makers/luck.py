"""The table behind luck-adjusted results: exact means of the values of twelve cards, and expected results by score.

A hand depends only on the six cards it comes from, so its mean is that over the 46 starters. Crib and play depend on
the cards of both players: their means are sums over all 190,694,571,801,880 pairs of disjoint hands, without visiting
each. A hand has weights on a few numbered features, such as the ranks it discards. A table holds a value for each pair
of features. The sum follows by inclusion and exclusion over the cards S that both hands hold::

    sum over S of (-1)^|S| * (features of all first hands with S) * table * (features of all second hands with S)

Sets S that differ only in suits give the same term, so one set of each class is enough.

Expected results are solved from deals that an agent played against itself, as :mod:`crib_env.evaluate.makers.win_table`
solves the win table, for three results at once. At each pair of scores the result after the deal is also regressed on
the values of the twelve cards (:func:`crib_env.evaluate.skill.luck.usual_deal.value_cards`). Least squares gives the
slopes that turn luck in points into luck in results.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Annotated

import numpy as np

from crib_env.agents import Agent, make_agent
from crib_env.batch import GameBatch
from crib_env.engine import DEALER, PONE, WIN
from crib_env.evaluate.command_line import AgentOption, File
from crib_env.evaluate.console import advancing, console
from crib_env.evaluate.files import check_outputs
from crib_env.evaluate.makers import run
from crib_env.evaluate.makers.late_deals import points_of, score_after
from crib_env.evaluate.skill.luck.usual_deal import (
    PARTS,
    PLAYS,
    SHARES,
    crib_rank_total,
    new_scratch,
    usual_discards,
    usual_play,
    value_cards,
)
from crib_env.evaluate.skill.luck.variates import LEAST_DEALS, RESULTS, LuckTable, result_after
from crib_env.exact.deal_classes import (
    N_CLASSES,
    N_DEALS,
    class_sizes,
    n_renamings,
    representatives,
    suits_in_order,
    with_suits_in_order,
)
from crib_env.exact.discard_means import STARTERS, hand_total
from crib_env.hands import FOUR_MASKS, FOURS, HANDS, N_FOURS, PAIR_NUMBER, hand_number, hand_of_mask
from crib_env.kernels import bit, cards_in, kernel, mask_of, popcount, streams
from crib_env.tables.outlook import DiscardValues, standard_values
from crib_env.values import MOST_GAMES, Range

N_DISJOINT = N_DEALS * comb(46, 6)  # ordered pairs of disjoint six-card hands
_HELD = 6


@kernel
def _next_choice(places, n):
    """Moves on to the next ascending set of places below ``n``; returns whether there is one."""
    k = len(places)
    for i in range(k - 1, -1, -1):
        if places[i] < n - k + i:
            places[i] += 1
            for j in range(i + 1, k):
                places[j] = places[j - 1] + 1
            return True
    return False


@kernel
def _add_holders(shared, classes, features, weights, totals, met):
    """Adds the weights of all hands that hold the ``shared`` cards to ``totals``; returns how many features occur."""
    others, suits, n = np.empty(52, np.int64), np.empty(4, np.int64), 0
    for card in range(52):
        if not (shared >> card) & 1:
            others[n] = card
            n += 1
    places, n_met = np.arange(_HELD - popcount(shared)), 0
    while True:
        six = shared
        for place in places:
            six |= bit(others[place])
        hand = np.searchsorted(classes, with_suits_in_order(six, suits))
        for j in range(features.shape[1]):
            weight = np.int64(weights[hand, j])
            if weight:
                feature = features[hand, j]
                if totals[feature] == 0:
                    met[n_met] = feature
                    n_met += 1
                totals[feature] += weight
        if not _next_choice(places, n):
            return n_met


@kernel
def _sum(size, classes, first, first_weights, second, second_weights, table):
    """The sum over shared sets of one size, by classes of suits."""
    ones, twos = np.zeros(table.shape[0], np.int64), np.zeros(table.shape[1], np.int64)
    met_ones, met_twos = np.empty(table.shape[0], np.int64), np.empty(table.shape[1], np.int64)
    places, total = np.arange(size), np.int64(0)
    while True:
        shared = np.int64(0)
        for place in places:
            shared |= bit(place)
        if suits_in_order(shared):
            n = _add_holders(shared, classes, first, first_weights, ones, met_ones)
            m = _add_holders(shared, classes, second, second_weights, twos, met_twos)
            here = np.int64(0)
            for i in range(n):
                row = np.int64(0)
                for j in range(m):
                    row += twos[met_twos[j]] * table[met_ones[i], met_twos[j]]
                here += row * ones[met_ones[i]]
            total += here * n_renamings(shared)
            ones[met_ones[:n]] = 0
            twos[met_twos[:m]] = 0
        if not _next_choice(places, 52):
            return total


def disjoint_total(
    first: np.ndarray, first_weights: np.ndarray, second: np.ndarray, second_weights: np.ndarray, table: np.ndarray
) -> int:
    """The sum of ``weight * weight * table[feature, feature]`` over all pairs of disjoint hands and their features.

    Features and weights are (962988, F) by class (:mod:`crib_env.exact.deal_classes`), all of them whole numbers, and
    weights of 0 are ignored.
    """
    hands = [np.ascontiguousarray(array, np.int64) for array in (first, first_weights, second, second_weights, table)]
    return sum((-1) ** size * int(_sum(size, representatives(), *hands)) for size in range(_HELD + 1))


_ROWS = 20  # number of pone's hands in a step


@kernel
def _choose(sixes, role, values, kept, discarded, weights, hands):
    """For each six cards (N,) and both of their discards: hand kept, ranks discarded, weight and hand total."""
    pairs = np.zeros(2, np.int64)
    for n in range(len(sixes)):
        usual_discards(sixes[n], role, values, pairs, weights[n])
        for k in range(2):
            kept[n, k] = hand_of_mask(sixes[n] ^ pairs[k])
            two = cards_in(pairs[k], 2) % 13
            discarded[n, k] = PAIR_NUMBER[two[0], two[1]]
            hands[n, k] = hand_total(sixes[n] ^ pairs[k], sixes[n])


@kernel
def _play_all(scratch, first, points):
    """Points (P, 1820, 2) of the plays of ``PLAYS`` pairs of players, for pone's hands from ``first`` on."""
    held, played = np.empty(13, np.int64), np.empty((PLAYS, 2), np.int64)
    for i in range(len(points)):
        for j in range(N_FOURS):
            held[:] = 0
            for k in range(4):
                held[FOURS[first + i, k]] += 1
                held[FOURS[j, k]] += 1
            if held.max() <= 4:  # else no deal has these ranks, and their values cancel out
                usual_play(FOUR_MASKS[first + i], FOUR_MASKS[j], scratch, played)
                for play in range(PLAYS):
                    for role in range(2):
                        points[i, j, role] += played[play, role]


def exact_means(values: DiscardValues) -> list[Fraction]:
    """The mean over all deals of each of ``PARTS``, in points; takes some minutes."""
    sixes, sizes = representatives(), class_sizes()
    kept, discarded, weights, hands = (np.zeros((2, N_CLASSES, 2), np.int64) for _ in range(4))
    for role in (PONE, DEALER):
        _choose(sixes, role, values, kept[role], discarded[role], weights[role], hands[role])
    play = np.zeros((N_FOURS, N_FOURS, 2), np.int64)
    with advancing("plays", N_FOURS) as on_progress:
        for first in range(0, N_FOURS, _ROWS):
            _play_all(new_scratch(), first, play[first : first + _ROWS])
            on_progress(_ROWS)

    def hand(role: int) -> Fraction:
        total = int(((hands[role] * weights[role]).sum(axis=1) * sizes).sum())
        return Fraction(total, SHARES * STARTERS * N_DEALS)

    def disjoint(features: np.ndarray, table: np.ndarray, scale: int) -> Fraction:
        total = disjoint_total(features[PONE], weights[PONE], features[DEALER], weights[DEALER], table)
        return Fraction(total, SHARES * SHARES * scale * N_DISJOINT)

    heels = Fraction(2 * 4, 52)
    fours = np.concatenate(np.broadcast_arrays(HANDS[2][:, None], HANDS[2]), axis=-1)
    cribs = np.array([crib_rank_total(four) for four in FOUR_MASKS])[hand_number(fours)]  # of two pairs, 48 starters
    return [
        hand(PONE),
        hand(DEALER) + heels,
        disjoint(discarded, cribs, 48),
        disjoint(kept, play[..., PONE], PLAYS),
        disjoint(kept, play[..., DEALER], PLAYS),
    ]


@kernel
def _solve(points, weights, expected, slopes):
    """Fills ``expected`` and ``slopes`` from high scores to low.

    ``weights`` (5, n) turn n results, minus their mean, into slopes.
    """
    after = np.empty((len(points), 3))
    for total in range(2 * WIN - 2, -1, -1):
        for dealer in range(max(0, total - WIN + 1), min(WIN - 1, total) + 1):
            pone = total - dealer
            for k in range(len(points)):
                d, p = score_after(points[k], np.int64(dealer), np.int64(pone))
                result_after(min(d, WIN), min(p, WIN), expected, after[k])
            for result in range(3):
                mean = after[:, result].mean()
                expected[dealer, pone, result], above = mean, after[:, result] - mean
                for part in range(len(weights)):
                    slopes[dealer, pone, result, part] = (weights[part] * above).sum()


def solve_luck_table(agent: Agent, deals: int, seed: int, means: np.ndarray, values: DiscardValues) -> LuckTable:
    """A luck table from deals that an agent plays against itself; ``means`` (5,) are :func:`exact_means`."""
    points = points_of(agent, streams(seed, deals))
    worth = np.zeros((deals, len(PARTS)))
    scratch = new_scratch()
    for game, out in zip(GameBatch(streams(seed, deals), episode="deal").games, worth):
        sixes = mask_of(game["cards"][:6]), mask_of(game["cards"][6:12])
        value_cards(sixes[1 - game["dealer"]], sixes[game["dealer"]], values, scratch, out)
    worth -= worth.mean(axis=0)
    weights = np.ascontiguousarray(np.linalg.solve(worth.T @ worth, worth.T))
    expected, slopes = np.zeros((WIN, WIN, len(RESULTS))), np.zeros((WIN, WIN, len(RESULTS), len(PARTS)))
    _solve(points, weights, expected, slopes)
    kinds = expected.astype(np.float32), slopes.astype(np.float16), np.asarray(means, np.float64)
    return LuckTable(agent.name, deals, *kinds, *values)


def luck(
    path: File, agent: AgentOption = "careful", deals: Annotated[int, Range(LEAST_DEALS, MOST_GAMES)] = 30_000
) -> None:
    """Computes the values of cards over all deals, by which `match --luck-adjusted` measures luck, in some minutes.

    Args:
        path: The file to write; an existing file is replaced.
        agent: The agent that plays the sampled deals against itself.
        deals: Number of deals to sample.
    """
    check_outputs(path)
    player, values = make_agent(agent), standard_values()
    means = exact_means(values)
    solve_luck_table(player, deals, 0, np.array(means, np.float64), values).save(path)
    about = ", ".join(f"{part} {float(mean):.6f}" for part, mean in zip(PARTS, means))
    console.print(f"{path}: {about}", soft_wrap=True)


if __name__ == "__main__":
    run(luck)
