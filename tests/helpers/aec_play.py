"""Helpers that play the PettingZoo environment and read it.

Where the test must know all cards, they are dealt through ``options["deals"]`` and the environment is played beside the
slow reference game of tests/helpers/reference.py: from its lists the test states in plain Python what each player
should see.
"""

from __future__ import annotations

import numpy as np
import pytest

import crib_env
from tests.helpers.reference import ReferenceGame

EPISODES = ("game", "deal", "play", "pegging")
both_masks = pytest.mark.parametrize("mask", ["observation", "info"])
all_episodes = pytest.mark.parametrize("episode", EPISODES)


def bits_of(env, agent):
    observation = env.observe(agent)
    return observation["observation"] if isinstance(observation, dict) else observation


def mask_of(env, agent):
    """The mask, from the observation or from the info."""
    observation = env.observe(agent)
    return observation["action_mask"] if isinstance(observation, dict) else env.infos[agent]["action_mask"]


def ones(array):
    return set(np.flatnonzero(array).tolist())


def is_over(env):
    return all(env.terminations.values())


def act_randomly(env, rng):
    env.step(int(rng.choice(np.flatnonzero(mask_of(env, env.agent_selection)))))


def seen_by_all(env):
    """All that users can see of an episode at one time."""
    return (
        env.agent_selection,
        {**env.rewards},
        env.last(observe=False)[1:4] if env.agents else None,
        env.scores,
        env.dealer,
        *(
            (bits_of(env, agent).tolist(), ones(mask_of(env, agent)), env.infos[agent].get("events"))
            for agent in env.agents
        ),
    )


def play_on(env, seed=0):
    """Random decisions to the end of the episode and the next one after it, yielding what is seen after each."""
    rng = np.random.default_rng(seed)
    for _ in range(2):
        while not is_over(env):
            act_randomly(env, rng)
            yield seen_by_all(env)
        env.reset()
        yield seen_by_all(env)


def random_deals(rng, episode="game", n=40):
    """More deals than any episode takes."""
    return [rng.permutation(52)[: 8 if episode == "pegging" else 13].tolist() for _ in range(n)]


def side_by_side(seed, n_games, **options):
    """Random games of the environment and the reference: both, and who acted (None after a reset), card by card."""
    rng = np.random.default_rng(seed)
    env, episode = crib_env.raw_env(events=True, **options), options.get("episode", "game")
    for _ in range(n_games):
        deals, first_dealer = random_deals(rng, episode), int(rng.integers(2))
        scores = rng.integers(121, size=2).tolist()
        env.reset(options={"deals": deals, "first_dealer": first_dealer, "scores": scores})
        game = ReferenceGame(first_dealer, scores, episode)
        game.deal(deals.pop(0))
        yield env, game, None
        while not is_over(env):
            mover = env.agent_selection
            card = int(rng.choice(np.flatnonzero(mask_of(env, mover))))
            env.step(card)
            game.act(card)
            if game.phase == "deal":
                game.deal(deals.pop(0))
            yield env, game, mover
