"""The table behind luck-adjusted results: exact means of the values of twelve cards, and expected results by score.

A hand depends only on the six cards it comes from, so its mean is that over the 46 starters. Crib and play depend on
the cards of both players: their means are sums over all pairs of disjoint hands.

Expected results are solved from deals that an agent played against itself, as :mod:`crib_env.evaluate.makers.endings`
solves the win table, for three results at once. At each pair of scores the result after the deal is also regressed on
the values of the twelve cards (:func:`crib_env.evaluate.skill.luck.usual_deal.value_cards`). Least squares gives the
slopes that turn luck in points into luck in results. A bad table would remove less noise, but it cannot cause bias.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Annotated

import numpy as np

from crib_env.agents import Agent, make_agent
from crib_env.batch import GameBatch
from crib_env.engine import DEALER, PONE, WIN
from crib_env.evaluate.command_line import AgentOption, File
from crib_env.evaluate.console import console
from crib_env.evaluate.files import check_outputs
from crib_env.evaluate.makers import run
from crib_env.evaluate.makers.disjoint_hands import N_DISJOINT, disjoint_total
from crib_env.evaluate.makers.played_deals import points_of, score_after
from crib_env.evaluate.progress import advancing
from crib_env.evaluate.ranges import MOST_GAMES, Range, Seed
from crib_env.evaluate.skill.luck.table import RESULTS, LuckTable, result_after
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
from crib_env.exact.deal_classes import N_CLASSES, N_DEALS, class_sizes, representatives
from crib_env.exact.discard_means import STARTERS, hand_total
from crib_env.hands import FOUR_MASKS, FOURS, HANDS, N_FOURS, PAIR_NUMBER, hand_number, hand_of_mask
from crib_env.kernels import cards_in, kernel, mask_of, streams
from crib_env.tables.outlook import DiscardValues, standard_values

LEAST_DEALS = 100
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


def _crib_table() -> np.ndarray:
    """(91, 91) rank points of two discarded pairs, over 48 starters, by their ranks."""
    of_hand = np.array([crib_rank_total(four) for four in FOUR_MASKS])
    four = np.concatenate(np.broadcast_arrays(HANDS[2][:, None], HANDS[2]), axis=-1)
    return of_hand[hand_number(four)]


def exact_means(values: DiscardValues, on_progress: Callable[[int], None] = lambda done: None) -> list[Fraction]:
    """The mean over all deals of each of ``PARTS``, in points; takes some minutes.

    Args:
        on_progress: called with the number of further steps done, of :func:`steps_of_means` in all.
    """
    sixes, sizes = representatives(), class_sizes()
    kept, discarded, weights, hands = (np.zeros((2, N_CLASSES, 2), np.int64) for _ in range(4))
    for role in (PONE, DEALER):
        _choose(sixes, role, values, kept[role], discarded[role], weights[role], hands[role])
        on_progress(1)
    play = np.zeros((N_FOURS, N_FOURS, 2), np.int64)
    for first in range(0, N_FOURS, _ROWS):
        _play_all(new_scratch(), first, play[first : first + _ROWS])
        on_progress(1)

    def hand(role: int) -> Fraction:
        total = int(((hands[role] * weights[role]).sum(axis=1) * sizes).sum())
        return Fraction(total, SHARES * STARTERS * N_DEALS)

    def disjoint(features: np.ndarray, table: np.ndarray, scale: int) -> Fraction:
        total = disjoint_total(features[PONE], weights[PONE], features[DEALER], weights[DEALER], table)
        on_progress(1)
        return Fraction(total, SHARES * SHARES * scale * N_DISJOINT)

    heels = Fraction(2 * 4, 52)
    return [
        hand(PONE),
        hand(DEALER) + heels,
        disjoint(discarded, _crib_table(), 48),
        disjoint(kept, play[..., PONE], PLAYS),
        disjoint(kept, play[..., DEALER], PLAYS),
    ]


def steps_of_means() -> int:
    """How many steps :func:`exact_means` takes."""
    return 2 + N_FOURS // _ROWS + 3


@kernel
def _solve(points, weights, expected, slopes):
    """Fills ``expected`` and ``slopes`` from high scores to low.

    ``weights`` (5, n) turn n results, minus their mean, into slopes.
    """
    n = len(points)
    made, after = np.zeros((n, 2), np.int64), np.empty((n, 3))
    for k in range(n):
        for peg in points[k]:
            made[k] += peg
    for total in range(2 * WIN - 2, -1, -1):
        for dealer in range(max(0, total - WIN + 1), min(WIN - 1, total) + 1):
            pone = total - dealer
            for k in range(n):
                d, p = dealer + made[k, 0], pone + made[k, 1]
                if d >= WIN or p >= WIN:
                    d, p = score_after(points[k], np.int64(dealer), np.int64(pone))
                    d, p = min(d, WIN), min(p, WIN)
                result_after(d, p, expected, after[k])
            for result in range(3):
                mean = 0.0
                for k in range(n):
                    mean += after[k, result]
                mean /= n
                expected[dealer, pone, result] = mean
                for part in range(len(weights)):
                    slope = 0.0
                    for k in range(n):
                        slope += weights[part, k] * (after[k, result] - mean)
                    slopes[dealer, pone, result, part] = slope


@kernel
def _value_all(games, values, scratch, out):
    for n in range(len(games)):
        dealer = np.int64(games[n]["dealer"])
        cards, pone = games[n]["cards"], 1 - dealer
        pones, dealers = mask_of(cards[6 * pone : 6 * pone + 6]), mask_of(cards[6 * dealer : 6 * dealer + 6])
        value_cards(pones, dealers, values, scratch, out[n])


def solve_luck_table(agent: Agent, deals: int, seed: int, means: np.ndarray, values: DiscardValues) -> LuckTable:
    """A luck table from a number of deals that an agent plays against itself.

    Args:
        means: (5,) from :func:`exact_means`.

    Raises:
        ValueError: there are fewer than ``LEAST_DEALS``, too few for slopes.
    """
    if deals < LEAST_DEALS:
        raise ValueError(f"deals={deals} is not allowed: give at least {LEAST_DEALS}")
    points = points_of(agent, streams(seed, deals))
    worth = np.zeros((deals, len(PARTS)))
    _value_all(GameBatch(streams(seed, deals), episode="deal").games, values, new_scratch(), worth)
    worth -= worth.mean(axis=0)
    weights = np.ascontiguousarray(np.linalg.solve(worth.T @ worth, worth.T))
    expected, slopes = np.zeros((WIN, WIN, len(RESULTS))), np.zeros((WIN, WIN, len(RESULTS), len(PARTS)))
    _solve(points, weights, expected, slopes)
    return LuckTable(
        agent.name,
        deals,
        expected.astype(np.float32),
        slopes.astype(np.float16),
        np.asarray(means, np.float64),
        *values,
    )


def luck(
    path: File,
    agent: AgentOption = "careful",
    deals: Annotated[int, Range(LEAST_DEALS, MOST_GAMES)] = 30_000,
    seed: Seed = 0,
) -> None:
    """Computes the values of cards over all deals, by which `match --luck-adjusted` measures luck, in some minutes.

    Args:
        path: The file to write; an existing file is replaced.
        agent: The agent that plays the sampled deals against itself.
        deals: Number of deals to sample.
        seed: Random seed of the deals.
    """
    check_outputs(path)
    player, values = make_agent(agent), standard_values()
    with advancing("exact means", steps_of_means()) as on_progress:
        means = exact_means(values, on_progress)
    solve_luck_table(player, deals, seed, np.array(means, np.float64), values).save(path)
    about = ", ".join(f"{part} {float(mean):.6f}" for part, mean in zip(PARTS, means))
    console.print(f"{path}: {about}", soft_wrap=True)


if __name__ == "__main__":
    run(luck)
