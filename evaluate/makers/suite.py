"""Makes the positions of a task of the suite, with what is best in them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import tyro

from crib_env.agents.expert import ExpertAgent
from crib_env.batch import GameBatch
from crib_env.evaluate.command_line import File
from crib_env.evaluate.commands.solve import PEGGING_GAME
from crib_env.evaluate.console import console
from crib_env.evaluate.files import check_outputs
from crib_env.evaluate.makers import run
from crib_env.evaluate.progress import advancing
from crib_env.evaluate.skill.positions import NO_CARD, before_discards
from crib_env.evaluate.skill.suite import discards, play
from crib_env.evaluate.skill.suite.task import SEED, hash_of
from crib_env.hands import N_RANKS, hand_number
from crib_env.kernels import streams
from crib_env.solver.cfr import PlaySolver, check_solution
from crib_env.solver.play_game import PlayGame, Reached
from crib_env.values import Threads
from crib_env.views import views_of

_SPREAD = 60  # of scores, as in Lang (2018)
_AT_ONCE = 1_000


def make_discards(threads: int, on_progress: Callable[[int], None]) -> discards.Discards:
    """The discards of this version."""
    games = GameBatch(streams(SEED, discards.N), start_spread=_SPREAD).games
    sixes, deals = np.sort(games["cards"][:, :6], axis=1), games["dealer"] == 0
    scores, best, analyst = games["scores"].copy(), np.empty(discards.N, np.int8), ExpertAgent(threads=threads)
    for start in range(0, discards.N, _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        part = before_discards(sixes[rows].astype(np.int64), deals[rows], scores[rows])
        views = views_of(part, np.arange(len(part)), np.zeros(len(part), np.int64), np.arange(len(part)))
        best[rows] = analyst.discard_values(views).argmax(axis=1)
        on_progress(len(part))
    sixes, deals, scores = (array.astype(np.int8) for array in (sixes, deals, scores))
    return discards.Discards(sixes, deals, scores, best, np.array(discards.hashes_of_tables()))


_Choice = tuple[int, int, int, list[int]]  # the node of the public tree, the hand, the role, the cards laid before


def make_play(solver: PlaySolver, on_progress: Callable[[int], None]) -> play.Play:
    """One choice of each of 10,000 deals between two players of the pegging game's equilibrium."""
    game, policy = solver.game, solver.average
    deals, dealers = np.zeros((play.N, 8), np.int8), np.zeros(play.N, np.int8)
    cards, losses = np.full((play.N, 7), NO_CARD, np.int8), np.full((play.N, N_RANKS), np.nan, np.float32)
    chosen: list[_Choice] = []
    for k, stream in enumerate(streams(SEED + 1, play.N)):
        batch, rng = GameBatch(np.array([stream]), episode="pegging"), np.random.default_rng([SEED, k])
        deals[k], dealers[k] = batch.games["cards"][0, [0, 1, 2, 3, 6, 7, 8, 9]], batch.games["dealer"][0]
        choices = _choices(batch, game, policy, rng)
        chosen.append(choices[int(rng.integers(len(choices)))])
        cards[k, : len(chosen[k][3])] = chosen[k][3]
        on_progress(1)
    nodes, hands, roles, _ = zip(*chosen)
    for role in range(2):
        mine = np.flatnonzero(np.array(roles) == role)
        values = game.rank_values(policy, role, Reached(np.array(nodes)[mine], np.array(hands)[mine]))
        lost = values.max(axis=1, keepdims=True) - values
        losses[mine] = np.where(np.isinf(lost), np.nan, lost)
    return play.Play(deals, dealers, cards, losses, solver.best_responses().nash_conv)


def _choices(batch: GameBatch, game: PlayGame, policy: np.ndarray, rng: np.random.Generator) -> list[_Choice]:
    """Plays one deal by a policy; its choices."""
    choices: list[_Choice] = []
    laid: list[tuple[int, int]] = []
    while len(rows := batch.acting()):
        views, role = batch.views(rows), int(batch.games["turn"][0] == batch.games["dealer"][0])
        legal = np.flatnonzero(views.action_mask[0])
        card = int(legal[0])
        if len(set(legal % N_RANKS)) > 1:
            ranks = [int(one) % N_RANKS for one in views.hand[0] if one >= 0]
            node = game.node_at([(who, one % N_RANKS) for who, one in laid], role, min(ranks))
            hand = int(hand_number(ranks))
            choices.append((node, hand, role, [one for _, one in laid]))
            rank = int(rng.choice(N_RANKS, p=game.chances_at(policy, node, hand)))
            card = int(legal[legal % N_RANKS == rank][0])
        laid.append((role, card))
        batch.step(rows, np.array([card]))
    return choices


def suite(
    task: Annotated[Literal["discards", "play"], tyro.conf.Positional],
    path: File,
    solution: Annotated[Path | None, tyro.conf.arg(metavar="FILE", help_behavior_hint="")] = None,
    threads: Threads = 2,
) -> None:
    """Makes the positions of a task of the suite, with what is best in them; takes some minutes.

    Args:
        task: Which task.
        path: The file to write; an existing file is replaced.
        solution: For `play` the pegging game solved, from `solve play FILE --nash-conv 0.001`.
        threads: Number of threads; they do not change the result.
    """
    check_outputs(path)
    if (solution is None) == (task == "play"):
        raise ValueError("--solution is for `play`, which needs it")
    made: discards.Discards | play.Play
    if solution is None:
        with advancing(task, discards.N) as on_progress:
            made = make_discards(threads, on_progress)
    else:
        check_solution(solution, PEGGING_GAME)
        solver = PlaySolver(PlayGame(threads=threads))
        solver.load(solution, PEGGING_GAME)
        with advancing(task, play.N) as on_progress:
            made = make_play(solver, on_progress)
    made.save(path)
    console.print(f"hash {hash_of(made)}: {path}", soft_wrap=True)


if __name__ == "__main__":
    run(suite)
