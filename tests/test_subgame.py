"""Parts of the play solved at the table: against the solver of the whole play."""

import numpy as np
import pytest

from crib_env.engine import DEALER, PONE
from crib_env.hands import N_HANDS, ORDERINGS, hand_number
from crib_env.solver.cfr import PlaySolver
from crib_env.solver.pairs import pairs_dealt
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import GOAL, lay_rank, start_of_play
from crib_env.solver.public_state import POINTS as MADE
from crib_env.solver.subgame import Stakes, Subgame
from crib_env.solver.sweeps import EXPECTED, Step, Weights, walk_down, walk_up

LAID = (9, 4, 8)
POINTS = np.arange(64.0)[:, None] - np.arange(64.0)


def net_points(n_hands=1820):
    return Stakes(POINTS, np.zeros((2, n_hands), np.int64))


def value_of(subgame):
    """What pone earns when both play the policy of a subgame, over its own deals."""
    game, work, prior = subgame._game, subgame._work, subgame._prior
    n_pone = N_HANDS[subgame.tree.nodes[0]["n_cards"][PONE], subgame.tree.nodes[0]["floor"][PONE]]
    work.reach[: len(prior)] = prior
    n = len(subgame.tree.nodes)
    walk_down(game, subgame.policy, 0, n, work)
    walk_up(game, Weights(subgame.policy, subgame.policy, np.zeros(0, np.float32)), Step(PONE, EXPECTED), 0, n, work)
    return work.values[:n_pone].astype(float) @ prior[:n_pone]


def after(laid):
    state = start_of_play()
    for rank in laid:
        lay_rank(state, rank)
    return state


def test_a_subgame_has_the_points_of_the_whole_play():
    state = after(LAID)
    prior = (ORDERINGS[2], ORDERINGS[3])
    subgame, game = Subgame(state, ([9, 8], [4]), net_points(), prior), PlayGame(prior, state, 1, 0)
    rng = np.random.default_rng(1)
    subgame.policy[:] = rng.random(len(subgame.policy))
    deals = prior[PONE] @ pairs_dealt(state) @ prior[DEALER]
    assert value_of(subgame) / deals == pytest.approx(game.expected(subgame.policy), abs=1e-4)


def test_a_subgame_solved_again_is_worth_what_it_was():
    """Two cards each: after each lead, solved from the ranges of the whole solution, in all the value of the game."""
    ranks = (0, 4, 9)
    prior = np.zeros(91)
    for pair in [(a, b) for a in ranks for b in ranks if a <= b]:
        prior[hand_number(pair)] = ORDERINGS[2][hand_number(pair)]
    start = start_of_play(2)
    game = PlayGame([prior, prior], start, 1)
    solver = PlaySolver(game)
    for _ in range(300):
        solver.iterate()
    root = game.nodes[0]
    total = 0.0
    for lead in ranks:
        state = start.copy()
        lay_rank(state, lead)
        chance = np.zeros(13)
        for left in ranks:
            pair = hand_number((lead, left))
            slots = [root["first_slot"] + 13 * r + hand_number((o,)) for r, o in {(lead, left), (left, lead)}]
            weights = solver.average[slots]
            own = solver.average[root["first_slot"] + 13 * lead + hand_number((left,))]
            chance[hand_number((left,))] = prior[pair] * own / weights.sum()
        subgame = Subgame(state, ([lead], []), net_points(91), (chance, prior))
        subgame.solve(100)
        total += value_of(subgame) * 4  # ways to draw the lead
    deals = prior @ pairs_dealt(start) @ prior
    assert total / deals == pytest.approx(game.expected(solver.average), abs=1e-3)


def test_more_iterations_come_closer_to_the_equilibrium():
    state, prior = after(LAID), (ORDERINGS[2], ORDERINGS[3])
    subgame, game = Subgame(state, ([9, 8], [4]), net_points(), prior), PlayGame(prior, state, 1, 0)
    found = []
    for iterations in (2, 6, 20):
        subgame.solve(iterations)
        found.append(game.best_responses(subgame.policy).nash_conv)
    assert found[0] > found[1] > found[2] > -1e-6
    assert found[1] < 0.05
    assert found[2] < 0.005


def test_nobody_earns_anything_once_somebody_is_at_the_goal():
    state = start_of_play()
    lay_rank(state, 9)
    state[GOAL] = state[MADE]  # pone is there
    lay_rank(state, 9)  # a pair
    assert state[MADE : MADE + 2].tolist() == [0, 0]
    state[GOAL] = 1
    lay_rank(state, 9)  # three of a kind, by pone
    assert state[MADE] == 6


def test_whoever_reaches_the_goal_first_has_won():
    """Pone at 120 needs a point: any go or last card. With a goal that nobody can miss, the value is the chance."""
    state = after(LAID)
    state[GOAL] = 1
    nothing = Stakes(np.zeros((64, 64)), np.zeros((2, 1820), np.int64))
    subgame = Subgame(state, ([9, 8], [4]), nothing, (ORDERINGS[2], ORDERINGS[3]))
    subgame.solve(5)
    deals = ORDERINGS[2] @ pairs_dealt(state) @ ORDERINGS[3]
    chance = value_of(subgame) / deals
    assert 0.3 < chance < 1
    state[GOAL + 1] = 1  # and now so does the dealer, who lays next
    both = Subgame(state, ([9, 8], [4]), nothing, (ORDERINGS[2], ORDERINGS[3]))
    both.solve(5)
    assert value_of(both) / deals < chance
