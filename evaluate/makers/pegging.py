"""Simulates pegging records: points that all kept hands gain and concede in the play (Lang 2018, section 3.1)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Annotated

import numpy as np

from crib_env.engine import (
    CRIB,
    DEAL_EPISODE,
    DEALERS_HAND,
    DISCARD,
    GAME,
    PLAY,
    PONE,
    PONES_HAND,
    ROLES,
    act,
    begin_deal,
    begin_game,
    random_word,
)
from crib_env.evaluate.command_line import File
from crib_env.evaluate.console import advancing, console
from crib_env.evaluate.files import check_outputs
from crib_env.evaluate.makers import run
from crib_env.hands import FOURS, N_FOURS
from crib_env.kernels import below, bit, kernel, streams
from crib_env.players.policies import NATIVE, native_card
from crib_env.tables.shipped import GAINED, GIVEN, PeggingRecords
from crib_env.tables.shipped import standard_error as error_of
from crib_env.values import Range, Threads

_BATCH = 200  # deals between two checks of the standard error


@kernel
def _draw_cards(g, ranks):
    """Draws thirteen cards. Seat 0 will keep the first four, of these ranks in random suits; the others are random."""
    drawn = np.int64(0)
    for k in range(13):
        card = np.int64(-1)
        while card < 0 or (drawn >> card) & 1:
            card = ranks[k] + 13 * below(random_word(g), 4) if k < 4 else below(random_word(g), 52)
        drawn |= bit(card)
        g["cards"][k] = card


@kernel
def _play_deals(games, ranks, role, policy, against, n, counts):
    """Adds the points that seat 0 gains and gives in ``n`` deals of the first game's stream, in which it keeps cards of
    these ranks, to ``counts`` (2, 61)."""
    g = games[0]
    for _ in range(n):
        begin_game(g, DEAL_EPISODE, 1 if role == PONE else 0, 0, 0, -1)
        _draw_cards(g, ranks)
        begin_deal(g)
        discarded = 4
        while g["phase"] == DISCARD:
            if g["turn"] == 0:
                act(g, np.int64(g["cards"][discarded]))
                discarded += 1
            else:
                act(g, native_card(g, against))
        gained, given = 0, 0  # counted from here, without his heels
        while g["phase"] == PLAY:
            act(g, native_card(g, policy if g["turn"] == 0 else against))
            for k in range(g["n_events"]):
                if g["event_kind"][k] not in (PONES_HAND, DEALERS_HAND, CRIB):  # the last card is followed by the show
                    if g["event_player"][k] == 0:
                        gained += g["event_points"][k]
                    else:
                        given += g["event_points"][k]
        counts[GAINED, gained] += 1
        counts[GIVEN, given] += 1


def simulate_pegging(
    policy: str, against: str, *, standard_error: float, threads: int = 2, seed: int = 0
) -> PeggingRecords:
    """Records of every hand in both roles, simulated until no mean has a larger standard error, in points.

    A native policy plays the kept cards, which have random suits; two other random cards are discarded. The opponent
    discards two of six random unseen cards by its own policy. Every deal starts at 0–0. Threads change nothing.
    """
    records = PeggingRecords(policy, against)
    seeds = streams(seed, len(ROLES) * N_FOURS)

    def fill(record: int) -> None:
        role, hand = divmod(record, N_FOURS)
        counts, games = records.counts[role, hand], np.zeros(1, GAME)
        games["episode_stream"] = seeds[record]
        while not (error_of(counts) <= standard_error).all():
            _play_deals(games, FOURS[hand], role, NATIVE.index(policy), NATIVE.index(against), _BATCH, counts)
        on_progress(1)

    title = f"{policy} against {against}"
    with advancing(title, len(seeds)) as on_progress, ThreadPoolExecutor(threads) as pool:
        list(pool.map(fill, range(len(seeds))))
    return records


def pegging(path: File, standard_error: Annotated[float, Range(0.001, 1)] = 0.03, threads: Threads = 2) -> None:
    """Simulates what every four kept cards gain and concede in the play between two `careful` players, in both roles.

    Args:
        path: The file to write; an existing file is replaced.
        standard_error: Standard error of every mean, in points; halving it takes four times as long.
        threads: Number of threads.
    """
    check_outputs(path)
    records = simulate_pegging("careful", "careful", standard_error=standard_error, threads=threads)
    records.save(path)
    console.print(
        f"{path}: {records.n.sum():,} deals, largest standard error {records.standard_error.max():.4f}", soft_wrap=True
    )


if __name__ == "__main__":
    run(pegging)
