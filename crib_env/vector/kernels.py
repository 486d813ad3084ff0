"""The kernels of the vector environments (:mod:`crib_env.vector.environments`): each call works on many games."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from crib_env.engine import (
    DEAL,
    OVER,
    TO_DRAW,
    act,
    begin_deal,
    begin_game,
    call_off,
    is_legal,
    legal_cards,
    shuffle,
    winner_pays,
)
from crib_env.kernels import kernel, variant
from crib_env.observation import N_ACTIONS, write_bits, write_observation
from crib_env.players.policies import CHOICES, random_choice

_POINTS, _WIN, _MATCH = range(3)  # indices in options.REWARDS
NO_POLICY = np.int64(-1)  # the opponent is an agent's object, outside the kernels
_ALL = np.int64((1 << N_ACTIONS) - 1)


class Rules(NamedTuple):
    """Settings fixed when the environment is made."""

    policy: np.int64  # of the native opponent, or NO_POLICY
    episode: int  # index in engine.EPISODES
    start_spread: int  # -1 is none
    reward: int  # index in options.REWARDS
    penalty: float  # what an illegal card costs the learner
    alternates: bool  # the learner changes seats from episode to episode


class Table(NamedTuple):
    """The N games, and the state kept beside them between steps."""

    games: np.ndarray  # (N,) GAME
    seats: np.ndarray  # (N,) int8, the learner's
    margins: np.ndarray  # (N,) int64, the learner's lead when it acted last
    n_begun: np.ndarray  # (N,) int64, how many episodes have begun


class Shown(NamedTuple):
    """The output of a step or a reset: arrays, or tensors."""

    observation: Any  # (N, 209, 659 or 479) int8 or float32
    action_mask: Any  # (N, 52) int8 or bool
    scores: Any  # (N, 2) int16
    dealers: Any  # (N,) int8
    rewards: Any  # (N,) float64
    over: Any  # (N,) bool
    illegal: Any  # (N,) bool, the episode has ended because the card was illegal


# The kernels for one game take its record and numbers but no arrays. Passing an array costs two atomic reference-count
# instructions, and passing a tuple of arrays takes three times as long as the game itself.


@kernel
def _margin(g, seat):
    """The lead of a seat in points."""
    return np.int64(g["scores"][seat]) - np.int64(g["scores"][1 - seat])


@kernel
def _payment(g, seat, reward, margin):
    """The reward of a seat whose lead was ``margin`` when it last acted."""
    if reward == _POINTS:
        return _margin(g, seat) - margin
    if g["phase"] != OVER:
        return np.int64(0)
    return np.int64((1 - 2 * seat) * winner_pays(g, reward == _MATCH))


@kernel
def first_bad(games, rows, cards, is_ignored):
    """The first game in ``rows``, without the ignored ones, in which the card is not legal; else ``len(games)``."""
    for i in rows:
        if not is_ignored[i] and not is_legal(games[i], cards[i]):
            return i
    return len(games)


# The kernels below work on all games whose numbers stand in ``rows``. Those that do not write observations do not take
# them: they would be compiled again for each type of observation.


@kernel
def _go_on(table, rows, policy):
    """Deals if a deal is due and lets the native opponent act, until the learner is to act or the episode is over.

    Without a native opponent (``NO_POLICY``): until anybody is to act.
    """
    for i in rows:
        g, seat = table.games[i], np.int64(table.seats[i])
        while True:
            if g["phase"] == DEAL:
                shuffle(g)
                begin_deal(g)
            if policy < 0 or g["phase"] == OVER or g["turn"] == seat:
                break
            act(g, random_choice(g))  # of another opponent in a variant: see `against`


@kernel
def begin_all(table, rows, rules, first_dealer, score_0, score_1):
    """Starts the next episode of each game and plays to the learner's first decision; see ``engine.begin_game``."""
    for i in rows:
        g = table.games[i]
        begin_game(g, rules.episode, first_dealer, score_0, score_1, rules.start_spread)
        table.margins[i] = _margin(g, np.int64(table.seats[i]))
        table.n_begun[i] += 1
    _go_on(table, rows, rules.policy)


@kernel
def take_all(table, rows, cards):
    """Plays ``cards[b]`` in game ``rows[b]``."""
    for b in range(len(rows)):
        act(table.games[rows[b]], cards[b])
    _go_on(table, rows, NO_POLICY)


@kernel
def pay_all(table, rows, rules, rewards, over, illegal):
    """The learner's reward since its last card, and whether the episode is over."""
    games, seats, margins = table.games, table.seats, table.margins
    for i in rows:
        g, seat = games[i], np.int64(seats[i])
        rewards[i] = rules.penalty if illegal[i] else _payment(g, seat, rules.reward, margins[i])
        margins[i] = _margin(g, seat)
        over[i] = g["phase"] == OVER


@kernel
def learners_mask(g, seat):
    """The learner's legal cards; all cards when the episode is over, because its action is then ignored."""
    if g["phase"] == OVER:
        return _ALL
    return legal_cards(g) if seat == g["turn"] else np.int64(0)


@kernel
def show_all(table, rows, out):
    """Writes the learner's observations."""
    games, seats = table.games, table.seats
    observation, mask, scores, dealers = out.observation, out.action_mask, out.scores, out.dealers
    for i in rows:
        g, seat = games[i], np.int64(seats[i])
        write_observation(g, seat, observation, i)
        write_bits(learners_mask(g, seat), mask, i, np.int64(0))
        scores[i, 0], scores[i, 1] = g["scores"][0], g["scores"][1]
        dealers[i] = g["dealer"]


@kernel
def step_all(table, rows, cards, to_begin, rules, rewards, over, illegal):
    """Plays ``cards[i]`` in game i, then a native opponent's answers; writes the learner's reward.

    A card that is not legal ends the game. Games with a flag in ``to_begin`` (N,) restart instead, with the seats
    swapped if the learner's seat alternates.
    """
    games, seats = table.games, table.seats
    for i in rows:
        g = games[i]
        illegal[i] = False
        if to_begin[i]:
            if rules.alternates:
                seats[i] = 1 - seats[i]
            begin_game(g, rules.episode, TO_DRAW, TO_DRAW, TO_DRAW, rules.start_spread)
            table.margins[i] = _margin(g, np.int64(seats[i]))
            table.n_begun[i] += 1
        elif is_legal(g, cards[i]):
            act(g, cards[i])
        else:
            illegal[i] = True
            call_off(g)
    _go_on(table, rows, rules.policy)
    if rules.policy >= 0:
        pay_all(table, rows, rules, rewards, over, illegal)


def against(policy: np.int64) -> tuple[Any, Any]:
    """:func:`begin_all` and :func:`step_all` against a native opponent. No other opponent is compiled with them."""
    go_on = variant(_go_on, "random_choice", random_choice if policy == NO_POLICY else CHOICES[policy])
    return variant(begin_all, "_go_on", go_on), variant(step_all, "_go_on", go_on)
