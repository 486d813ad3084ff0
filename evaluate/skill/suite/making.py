"""Makes the data of a version of the suite, from a seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from crib_env.agents.expert.agent import ExpertAgent
from crib_env.batch import GameBatch
from crib_env.engine import PLAY, WIN, act
from crib_env.evaluate.skill.suite.data import CARDS_LAID, DISCARDS, ENDGAMES, SEED, SuiteData, hashes_of_tables
from crib_env.evaluate.skill.suite.positions import NO_CARD, before_discards
from crib_env.evaluate.skill.suite.sure_wins import Known, sure_cards
from crib_env.hands import N_RANKS, hand_number
from crib_env.kernels import streams
from crib_env.players.policies import CAREFUL
from crib_env.solver.cfr import PlaySolver
from crib_env.solver.play_game import PlayGame, Reached
from crib_env.views import views_of

_SPREAD = 60  # of scores, as in Lang (2018)
_AT_ONCE = 1_000
_NEAREST, _FARTHEST = 1, 14  # points that the players of an endgame still need
_CHOICES = 3  # at least so many ranks to choose from, one of which wins for certain
_WINS_AT_ONCE = 4  # endgames in which a card reaches 121


def make_data(solver: PlaySolver, threads: int, on_progress: Callable[[str, int, int], None]) -> SuiteData:
    """All positions with their truth.

    Args:
        solver: a solver that has solved the pegging game.
        threads: how many threads work.
        on_progress: called with the name of a part, how much of it is made, and its total.
    """
    discards = _make_discards(threads, on_progress)
    play = _make_play(solver.game, solver.average, on_progress)
    end = _make_endgames(on_progress)
    return SuiteData(
        *discards,
        *play,
        np.array(solver.best_responses().nash_conv),
        *end,
        np.array(hashes_of_tables()),
    )


class _Discards(NamedTuple):
    sixes: np.ndarray
    deals: np.ndarray
    scores: np.ndarray
    best: np.ndarray


def _make_discards(threads: int, on_progress: Callable[[str, int, int], None]) -> _Discards:
    games = GameBatch(streams(SEED, DISCARDS), start_spread=_SPREAD).games
    sixes, deals = np.sort(games["cards"][:, :6], axis=1), games["dealer"] == 0
    scores, best, analyst = games["scores"].copy(), np.empty(DISCARDS, np.int8), ExpertAgent(threads=threads)
    for start in range(0, DISCARDS, _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        part = before_discards(sixes[rows].astype(np.int64), deals[rows], scores[rows])
        views = views_of(part, np.arange(len(part)), np.zeros(len(part), np.int64), np.arange(len(part)))
        best[rows] = analyst.discard_values(views).argmax(axis=1)
        on_progress("discards", start + len(part), DISCARDS)
    return _Discards(sixes.astype(np.int8), deals.astype(np.int8), scores.astype(np.int8), best)


class _Play(NamedTuple):
    deals: np.ndarray
    dealers: np.ndarray
    cards: np.ndarray
    losses: np.ndarray


def _make_play(game: PlayGame, policy: np.ndarray, on_progress: Callable[[str, int, int], None]) -> _Play:
    """One choice of each of 10,000 deals between two players of a policy."""
    made = _Play(
        np.zeros((CARDS_LAID, 8), np.int8),
        np.zeros(CARDS_LAID, np.int8),
        np.full((CARDS_LAID, 7), NO_CARD, np.int8),
        np.full((CARDS_LAID, N_RANKS), np.nan, np.float32),
    )
    nodes, hands = np.empty(CARDS_LAID, np.int64), np.empty(CARDS_LAID, np.int64)
    roles = np.empty(CARDS_LAID, np.int64)
    for k, stream in enumerate(streams(SEED + 1, CARDS_LAID)):
        batch, rng = GameBatch(np.array([stream]), episode="pegging"), np.random.default_rng([SEED, k])
        made.deals[k], made.dealers[k] = batch.games["cards"][0, [0, 1, 2, 3, 6, 7, 8, 9]], batch.games["dealer"][0]
        choices: list[tuple[int, int, int, list[int]]] = []
        laid: list[tuple[int, int]] = []
        while len(rows := batch.acting()):
            g = batch.games[0]
            role, held = (1 if g["turn"] == g["dealer"] else 0), batch.views(rows).hand[0]
            legal = np.flatnonzero(batch.views(rows).action_mask[0])
            card = int(legal[0])
            if len(set(legal % N_RANKS)) > 1:
                ranks = [int(one) % N_RANKS for one in held if one >= 0]
                before = [(who, one % N_RANKS) for who, one in laid]
                node, hand = game.node_at(before, role, min(ranks)), int(hand_number(ranks))
                choices.append((node, hand, role, [one for _, one in laid]))
                card = _drawn(game, policy, node, hand, legal, rng)
            laid.append((role, card))
            batch.step(rows, np.array([card]))
        nodes[k], hands[k], roles[k], cards = choices[int(rng.integers(len(choices)))]
        made.cards[k, : len(cards)] = cards
        on_progress("cards laid", k + 1, CARDS_LAID)
    for role in range(2):
        mine = roles == role
        values = game.rank_values(policy, role, Reached(nodes[mine], hands[mine]))
        losses = values.max(axis=1, keepdims=True) - values
        made.losses[mine] = np.where(np.isinf(losses), np.nan, losses)
    return made


def _drawn(
    game: PlayGame, policy: np.ndarray, node: int, hand: int, legal: np.ndarray, rng: np.random.Generator
) -> int:
    """A card drawn by a policy, the lowest of its rank."""
    chances = game.chances_at(policy, node, hand)
    rank = int(rng.choice(N_RANKS, p=chances))
    return int(legal[legal % N_RANKS == rank][0])


class _Endgames(NamedTuple):
    deals: np.ndarray
    dealers: np.ndarray
    scores: np.ndarray
    cards: np.ndarray
    best: np.ndarray


def _make_endgames(on_progress: Callable[[str, int, int], None]) -> _Endgames:
    """Positions of deals that two ``careful`` players played near the end, where one rank wins for certain."""
    made = _Endgames(
        np.zeros((ENDGAMES, 13), np.int8),
        np.zeros(ENDGAMES, np.int8),
        np.zeros((ENDGAMES, 2), np.int8),
        np.full((ENDGAMES, 11), NO_CARD, np.int8),
        np.zeros((ENDGAMES, N_RANKS), np.int8),
    )
    n, at_once, rng = 0, 0, np.random.default_rng(SEED)
    while n < ENDGAMES:
        start = WIN - rng.integers(_NEAREST, _FARTHEST + 1, 2)
        batch = GameBatch(rng.integers(2**63, size=1).astype(np.uint64), scores=(int(start[0]), int(start[1])))
        done: list[int] = []
        while len(rows := batch.acting()) and batch.games["n_deals"][0] == 1:
            g = batch.games[0]
            if g["phase"] == PLAY and g["n_laid"] >= 1:
                found = sure_cards_of(g)
                here = any(_wins_at_once(g, rank) for rank in found)
                one_wins = Counter(found.values()) == {True: 1, False: len(found) - 1}
                if len(found) >= _CHOICES and one_wins and at_once + here <= _WINS_AT_ONCE:
                    at_once += here
                    made.deals[n], made.dealers[n], made.scores[n] = g["cards"], g["dealer"], start
                    made.cards[n, : len(done)] = done
                    made.best[n, [rank for rank, sure in found.items() if sure]] = 1
                    n += 1
                    on_progress("endgames", n, ENDGAMES)
                    break
            (card,) = batch.native_cards(rows, CAREFUL)
            done.append(int(card))
            batch.step(rows, np.array([card]))
    return made


def sure_cards_of(g: np.void) -> dict[int, bool | None]:
    """Whether each rank wins for certain that the player to act in a game may lay (:func:`sure_cards`)."""
    seat, pone = int(g["turn"]), 1 - int(g["dealer"])
    by_role = [pone, 1 - pone]
    return sure_cards(
        Known(
            by_role.index(seat),
            _cards(g["kept"][seat]),
            _cards(g["discards"][seat]),
            int(g["cards"][12]),
            tuple((by_role.index(int(by)), int(card)) for by, card in zip(g["laid_by"], g["laid"]) if card >= 0),
            (int(g["scores"][pone]), int(g["scores"][1 - pone])),
        )
    )


def _wins_at_once(g: np.void, rank: int) -> bool:
    after, seat = np.array([g]), int(g["turn"])
    act(after[0], next(card for card in _cards(g["hand"][seat]) if card % N_RANKS == rank))
    return bool(after["scores"][0, seat] >= WIN)


def _cards(mask: int) -> tuple[int, ...]:
    return tuple(card for card in range(52) if int(mask) >> card & 1)
