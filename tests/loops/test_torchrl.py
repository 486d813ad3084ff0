"""TorchRL's PettingZoo wrapper and collector: whole games by one masked policy for both seats, and a gradient step."""

import pytest

pytest.importorskip("torchrl")

import gymnasium
import torch
from tensordict.nn import TensorDictModule, TensorDictSequential
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import ActionMask, GymEnv, GymWrapper, PettingZooWrapper, TransformedEnv, check_env_specs
from torchrl.modules import MaskedCategorical, ProbabilisticActor
from torchrl.objectives.value.functional import reward2go

import crib_env
from tests.helpers.other_loops import blocks_of, run_block
from tests.helpers.single_games import IDS

PLAYERS = ("player_0", "player_1")

pytestmark = pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested using version")


def make_env():
    return PettingZooWrapper(crib_env.raw_env(mask="info", dtype="float32"), use_mask=True)


def make_actor(player, network):
    """A player is a group of its own in TorchRL, and the network may be the same for both."""
    return ProbabilisticActor(
        TensorDictModule(network, [(player, "observation")], [(player, "logits")]),
        in_keys={"logits": (player, "logits"), "mask": (player, "action_mask")},
        out_keys=[(player, "action")],
        distribution_class=MaskedCategorical,
    )


def test_specs():
    check_env_specs(make_env())


@pytest.mark.parametrize("env_id", IDS)
def test_the_gymnasium_ids_and_their_infos(env_id):
    """It asks for ``frameskip`` first, and does without only after a TypeError that names it."""
    env = GymEnv(env_id, mask="info", dtype="float32", categorical_action_encoding=True)
    env.auto_register_info_dict()
    policy = ProbabilisticActor(
        TensorDictModule(nn.LazyLinear(52), ["observation"], ["logits"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=MaskedCategorical,
    )
    episode = env.rollout(200, policy)
    assert episode["next", "done"][-1]
    assert not episode["next", "illegal_action"].any()


@pytest.mark.parametrize("env_id", IDS)
def test_the_native_vector_environments_play_legal_cards(env_id):
    options = {"dtype": "float32", "illegal": "raise", "autoreset_mode": "Disabled"}
    envs = gymnasium.make_vec(env_id, 3, "vector_entry_point", **options)
    env = TransformedEnv(GymWrapper(envs, categorical_action_encoding=True), ActionMask())
    frames = env.rollout(200, break_when_any_done=False)
    assert frames["next", "done"].any(dim=1).all()
    assert frames["action_mask"].gather(-1, frames["action"].unsqueeze(-1)).all()


def test_games_by_one_policy_and_a_gradient_step():
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(209, 64), nn.ReLU(), nn.Linear(64, 52))
    policy = TensorDictSequential(*(make_actor(player, network) for player in PLAYERS))
    optimiser = torch.optim.Adam(network.parameters())
    before = network[0].weight.detach().clone()
    n_games = 0
    for frames in Collector(make_env(), policy, frames_per_batch=400, total_frames=800):
        acts = {player: frames[player, "mask"].squeeze(-1) for player in PLAYERS}
        rewards = {player: frames["next", player, "reward"].squeeze(-1) for player in PLAYERS}
        assert (acts["player_0"] ^ acts["player_1"]).all()
        assert (rewards["player_0"] == -rewards["player_1"]).all()
        n_games += int(frames["next", "done"].sum())
        loss = torch.zeros(())
        for player in PLAYERS:
            mask = frames[player, "action_mask"]
            is_legal = mask.gather(-1, frames[player, "action"].unsqueeze(-1))
            assert is_legal[acts[player]].all()
            returns = reward2go(rewards[player], frames["next", "done"], gamma=0.99)
            chances = MaskedCategorical(network(frames[player, "observation"]), mask=mask)
            gains = chances.log_prob(frames[player, "action"]) * returns
            loss = loss - gains[acts[player]].mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert n_games >= 4
    assert not torch.equal(before, network[0].weight)


@pytest.mark.parametrize("block", blocks_of("TorchRL"))
def test_programs_of_the_page(block):
    run_block(block)
