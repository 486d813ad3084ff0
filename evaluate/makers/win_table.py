"""The win table: how games between two of an agent end from every pair of scores, and how late deals go.

The table follows by backward induction, from high scores to low. At each pair of scores it has the mean result of the
deals that were played there, each result being the end of the game or the table's own value at the scores after the
deal. Where both scores are far from the end, the points of deals from 0–0 serve. Luck is taken out without bias: the
mean over the deals is adjusted by linear regression on numbers whose mean over all deals is known to be zero
(:func:`variates`). This comes down to one weight for each deal.

The agent discards by the shipped table. To go on from the new table, make it the shipped one. Blocks of deals are kept
in ``FILE.deals`` as they are finished, so that interrupted work goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crib_env.agents import Agent, make_agent
from crib_env.batch import GameBatch
from crib_env.cards import JACK
from crib_env.engine import DEALER, PONE, WIN
from crib_env.evaluate.command_line import AgentOption, File
from crib_env.evaluate.console import advancing, console
from crib_env.evaluate.files import Job, check_outputs, held
from crib_env.evaluate.makers import run
from crib_env.evaluate.makers.late_deals import (
    LateDeals,
    Plays,
    deals_at,
    explore_late,
    explore_plays,
    fit_late_play,
    fit_plays,
    fit_styles,
    points_of,
    score_after,
)
from crib_env.evaluate.skill.luck.usual_deal import PARTS as PARTS_OF_LUCK
from crib_env.evaluate.skill.luck.usual_deal import UNSEEN, new_scratch, usual_discards, value_cards
from crib_env.evaluate.skill.luck.variates import standard_luck_table
from crib_env.exact.discard_means import show_total
from crib_env.files.checked_file import load_arrays, save_arrays
from crib_env.kernels import kernel, mask_of, streams
from crib_env.scoring import show_points
from crib_env.tables.deal_chances import ENDINGS, MATCH_POINTS, ending_of
from crib_env.tables.outlook import outlook_of
from crib_env.tables.shipped import LATE, WinTable, as_from_nothing
from crib_env.values import Amount, Seed, Threads

NEAR, LAST = LATE, 102
"""Deals are played at a pair of scores if one of them is at least ``NEAR``; most of them where both are ``LAST``."""
_KINDS = {
    "start": (1, 2_000),
    "last": (1, 500),
    "near": (1 / 3, 200),
    "far": (1 / 30, 50),
    "plays": (10, 20_000),
    "late": (2 / 3, 200),
}
"""How many deals there are of a kind for one at the last scores, and how many are kept at once. The nearer the end, the
more a single deal decides. A block of each kind takes about as long as the others."""
PARTS = 20
"""The deals are also solved in this many parts, whose spread gives the standard errors."""
LEAST_DEALS = 30 * PARTS


@dataclass(frozen=True)
class Plan(Job):
    """What a win table is made of."""

    KIND = "win table"

    agent: str
    """Both players, as :func:`crib_env.agents.make_agent` reads it."""
    deals: int
    """At each pair of scores from ``LAST`` up."""
    seed: int


def win_table(
    path: File, agent: AgentOption = "best", deals: Amount = 60_000, seed: Seed = 0, threads: Threads = 2
) -> None:
    """Computes how games end from every pair of scores, between two copies of an agent.

    Args:
        path: The file to write; an existing file is replaced.
        agent: The agent in both seats.
        deals: Number of deals at each of the last scores.
        seed: Random seed of the deals.
        threads: Number of threads.
    """
    check_outputs(path)
    if deals < LEAST_DEALS:
        raise ValueError(f"deals={deals} is not allowed: give at least {LEAST_DEALS}")
    make_agent(agent)
    made = make_win_table(Plan(agent, deals, seed), path.with_name(f"{path.name}.deals"), threads)
    made.save(path)
    near = 1.96 * made.win_error[NEAR:, NEAR:]
    console.print(
        f"{path}: the dealer wins {made.win_probability[0, 0]:.2%} ± {1.96 * made.win_error[0, 0]:.2%} from 0–0; from "
        f"{NEAR}–{NEAR} up ± {near.mean():.2%} on average, ± {near.max():.2%} at most",
        soft_wrap=True,
    )


def make_win_table(plan: Plan, folder: Path, threads: int) -> WinTable:
    """Makes a win table; the folder keeps finished blocks of deals. Threads do not change the table.

    Raises:
        ValueError: the folder has deals of another plan, or a file in it is damaged.
    """

    def blocks(
        kind: str, play: Callable[[Agent, np.ndarray], tuple[np.ndarray, ...]], seed: int = 0
    ) -> list[np.ndarray]:
        """What ``play`` finds of all deals of a kind, played or read from files; ``seed`` is added to the plan's."""
        share, size = _KINDS[kind]
        n = round(plan.deals * share)
        seeds = streams(plan.seed + seed, n)

        def one(start: int) -> list[np.ndarray]:
            stop = min(start + size, n)
            path = folder / f"{kind}-{start}-{stop}.npz"
            if not path.exists():
                found = play(make_agent(plan.agent), seeds[start:stop])
                save_arrays(path, "block of deals", 1, {str(k): array for k, array in enumerate(found)})
            on_progress(1)
            return list(load_arrays(path, "block of deals", 1).values())

        starts = range(0, n, size)
        of = advancing(f"{kind} deals of {plan.agent}", len(starts))
        with of as on_progress, ThreadPoolExecutor(threads) as pool:
            return [np.concatenate(arrays) for arrays in zip(*pool.map(one, starts))]

    plan.begin(folder)
    with held(folder):
        late = LateDeals(*blocks("late", explore_late, seed=1))
        plays = Plays(*blocks("plays", explore_plays, seed=2))
        luck = variates(streams(plan.seed, plan.deals))
        made: list[Played] = []
        for kind, scores in {"start": None, **places_of()}.items():
            play = points_of if scores is None else partial(deals_at, scores=scores)
            (found,) = blocks(kind, lambda *of, play=play: (play(*of),))
            made.append(Played(scores, found, luck[: len(found)]))
    bare = WinTable(plan.agent, plan.deals, **solve_endings(*made), **(as_from_nothing() | fit_plays(plays)))
    styled = replace(bare, **fit_styles(late, outlook_of(bare)))
    return replace(styled, **fit_late_play(late, outlook_of(styled), threads))


def places_of() -> dict[str, np.ndarray]:
    """At which pairs of scores (C, 2), dealer's first, deals are played, by kind."""
    scores = np.stack(np.divmod(np.arange(WIN * WIN), WIN), axis=1)
    least, is_near = scores.min(axis=1), (scores >= NEAR).sum(axis=1)
    return {
        "last": scores[least >= LAST],
        "near": scores[(least >= NEAR) & (least < LAST)],
        "far": scores[is_near == 1],
    }


_LEAST = 100
"""Deals that a regression needs; the mean of fewer is not adjusted."""


class Played(NamedTuple):
    """n deals that were played at each of C pairs of scores, or from 0–0."""

    scores: np.ndarray | None  # (C, 2) int64, of dealer and pone before the deal; ``None`` for 0–0
    made: np.ndarray  # (n, C, 2) int8, of dealer and pone after it; from 0–0 (n, 32, 2) their points in order
    luck: np.ndarray  # (n, …) of :func:`variates`

    def part(self, number: int) -> Played:
        """One of ``PARTS`` parts of the deals."""
        return Played(self.scores, np.ascontiguousarray(self.made[number::PARTS]), self.luck[number::PARTS])


def weights_of(luck: np.ndarray) -> np.ndarray:
    """The weight of each deal (n,), which add up to 1, in a mean that is adjusted for luck (n, …)."""
    n = len(luck)
    if n < _LEAST:
        return np.full(n, 1 / n)
    about = luck - luck.mean(axis=0)
    weights: np.ndarray = 1 / n - luck.mean(axis=0) @ np.linalg.solve(about.T @ about, about.T)
    return weights


@kernel
def _add_end(endings, dealer, pone, weight, here):
    """Adds what follows from these scores after a deal."""
    if dealer < WIN and pone < WIN:
        after = endings[pone, dealer]  # the deal passes
        for ending in range(6):
            here[ending] += weight * after[(ending + 3) % 6]
    else:
        here[ending_of(dealer, pone)] += weight


@kernel
def _solve(points, weights, played, played_weights, sets, places, endings):
    """Fills ``endings`` (121, 121, 6), by dealer's and pone's score, from high scores to low.

    ``played`` has the scores after the deals of each set that was played at pairs of scores. ``sets`` (121, 121) says
    which set has a pair of scores, -1 for none, where ``points`` serve; ``places`` in which column.
    """
    for total in range(2 * WIN - 2, -1, -1):
        for dealer in range(max(0, total - WIN + 1), min(WIN - 1, total) + 1):
            pone = total - dealer
            here, which, place = endings[dealer, pone], sets[dealer, pone], places[dealer, pone]
            if which >= 0:
                after, after_weights = played[which], played_weights[which]
                for k in range(len(after)):
                    dealers, pones = np.int64(after[k, place, 0]), np.int64(after[k, place, 1])
                    _add_end(endings, dealers, pones, after_weights[k], here)
            else:
                for k in range(len(points)):
                    dealers, pones = score_after(points[k], np.int64(dealer), np.int64(pone))
                    _add_end(endings, dealers, pones, weights[k], here)


def _solved(start: Played, played: Sequence[Played]) -> np.ndarray:
    sets, places = np.full((WIN, WIN), -1), np.zeros((WIN, WIN), np.int64)
    for which, some in enumerate(played):
        assert some.scores is not None
        at = tuple(some.scores.T)
        sets[at], places[at] = which, np.arange(len(some.scores))
    after, after_weights = tuple(some.made for some in played), tuple(weights_of(some.luck) for some in played)
    endings = np.zeros((WIN, WIN, len(ENDINGS)))
    _solve(start.made, weights_of(start.luck), after, after_weights, sets, places, endings)
    return endings


def solve_endings(start: Played, *played: Played) -> dict[str, Any]:
    """``endings`` and ``errors`` of :class:`crib_env.tables.shipped.WinTable`, as they follow from deals.

    Args:
        start: deals from 0–0, for all pairs of scores at which none were played; at least ``PARTS`` of each set.
        played: sets of deals, each played at other pairs of scores; at least one.
    """
    whole = _solved(start, played)
    each = np.stack([_solved(start.part(number), [some.part(number) for some in played]) for number in range(PARTS)])
    found = np.stack([each[..., :3].sum(axis=-1), each @ MATCH_POINTS], axis=-1)
    errors = found.std(axis=0, ddof=1) / np.sqrt(PARTS)
    chances = np.maximum(whole, 0.0)  # the adjustment may take a chance of nearly nothing below it
    chances /= chances.sum(axis=-1, keepdims=True)
    return {"endings": chances.astype(np.float32), "errors": errors.astype(np.float32)}


N_VARIATES = len(PARTS_OF_LUCK) + 4


@kernel
def _fill_variates(games, values, means, scratch, out):
    pairs, weights = np.zeros((2, 2), np.int64), np.zeros(2, np.int64)
    worth = np.zeros(len(means))
    for n in range(len(games)):
        cards, dealer = games[n]["cards"], np.int64(games[n]["dealer"])
        pones_six = mask_of(cards[6 * (1 - dealer) : 6 * (1 - dealer) + 6])
        dealers_six = mask_of(cards[6 * dealer : 6 * dealer + 6])
        value_cards(pones_six, dealers_six, values, scratch, worth)
        out[n, : len(worth)] = worth - means
        usual_discards(pones_six, PONE, values, pairs[PONE], weights)
        usual_discards(dealers_six, DEALER, values, pairs[DEALER], weights)
        seen = pones_six | dealers_six
        starter, jacks = np.int64(cards[12]), np.int64(4)
        for suit in range(4):
            jacks -= (seen >> (13 * suit + JACK)) & 1
        k = len(worth)
        out[n, k] = (starter % 13 == JACK) - jacks / UNSEEN
        shown = (
            (pones_six ^ pairs[PONE, 0], False),
            (dealers_six ^ pairs[DEALER, 0], False),
            (pairs[PONE, 0] | pairs[DEALER, 0], True),
        )
        for four, is_crib in shown:
            k += 1
            out[n, k] = show_points(four, starter, is_crib) - show_total(four, seen, is_crib) / UNSEEN


def variates(seeds: np.ndarray) -> np.ndarray:
    """The luck in the cards of n deals, (n, ``N_VARIATES``): numbers whose mean over all deals is exactly zero.

    First the parts of :mod:`crib_env.evaluate.skill.luck.usual_deal`, in points above their exact means; then what the
    starter does: his heels, pone's hand, the dealer's hand and the crib, after usual discards, above their means over
    all starters.
    """
    table, out = standard_luck_table(), np.empty((len(seeds), N_VARIATES))
    games = GameBatch(seeds, episode="deal", first_dealer=0).games
    _fill_variates(games, table.discard_values, table.means, new_scratch(), out)
    return out


if __name__ == "__main__":
    run(win_table)
