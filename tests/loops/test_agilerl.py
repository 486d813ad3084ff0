"""AgileRL: its off-policy trainer on the native vector environment, then the same agent in PettingZoo's loop."""

import pytest

pytest.importorskip("agilerl")

import gymnasium
from agilerl.algorithms import DQN
from agilerl.components import ReplayBuffer
from agilerl.training.train_off_policy import train_off_policy

import crib_env
from tests.helpers.other_loops import blocks_of, run_block


def test_a_dqn_learns_in_the_vector_environment_and_plays_in_pettingzoos():
    envs = gymnasium.make_vec(
        "crib_env/Cribbage-v0",
        num_envs=16,
        vectorization_mode="vector_entry_point",
        mask="info",  # where the trainer looks for it
        autoreset_mode="SameStep",  # so that no transition leads from one game into the next
        episode="deal",
        opponent="greedy",
    )
    agent = DQN(
        envs.single_observation_space,
        envs.single_action_space,
        net_config={"encoder_config": {"hidden_size": [64]}},
        batch_size=64,
        learn_step=16,
    )
    before = {name: weights.clone() for name, weights in agent.actor.state_dict().items()}
    (agent,), fitnesses = train_off_policy(
        envs,
        env_name="cribbage",
        algo="DQN",
        pop=[agent],
        memory=ReplayBuffer(max_size=5_000),
        max_steps=240,
        evo_steps=240,
        eval_steps=5,
        verbose=False,
    )
    assert any((before[name] != weights).any() for name, weights in agent.actor.state_dict().items())
    assert fitnesses

    env = crib_env.raw_env()  # raises on an illegal card
    env.reset(seed=0)
    for _ in env.agent_iter():
        observation, _, terminated, _, _ = env.last()
        card = None
        if not terminated:
            card = agent.get_action(observation["observation"][None], action_mask=observation["action_mask"][None])[0]
        env.step(card)
    assert max(env.scores) == 121


@pytest.mark.parametrize("block", blocks_of("AgileRL"))
def test_programs_of_the_page(block):
    run_block(block)
