"""The programs of docs/train/other-loops.md and of examples/loops, each in an environment that has its library."""

import pytest

import crib_env
from tests.helpers.other_loops import blocks_of, run_block

LIBRARIES = ("AgileRL", "RLlib", "SuperSuit", "Tianshou", "TorchRL")
PROGRAMS = [
    pytest.param(block, id=f"{library.lower()}-{number}")
    for library in LIBRARIES
    for number, block in enumerate(blocks_of(library))
]


@pytest.mark.parametrize("block", PROGRAMS)
def test_a_program_runs(block):
    run_block(block)


@pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested using version")
def test_torchrls_checks_of_the_environment():
    from torchrl.envs import PettingZooWrapper, check_env_specs

    check_env_specs(PettingZooWrapper(crib_env.raw_env(mask="info", dtype="float32"), use_mask=True))


def test_games_under_supersuits_wrappers():
    import supersuit

    for wrapped in (
        lambda env: supersuit.frame_stack_v1(env, 3),
        lambda env: supersuit.delay_observations_v0(env, 1),
        supersuit.pad_observations_v0,
        supersuit.clip_reward_v0,
    ):
        env = wrapped(crib_env.raw_env(mask="info"))
        env.reset(seed=1)
        for player in env.agent_iter():
            observation, _, terminated, _, info = env.last()
            assert observation in env.observation_space(player)
            env.step(None if terminated else int(info["action_mask"].argmax()))
        assert max(env.unwrapped.scores) == 121
