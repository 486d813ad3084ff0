"""TorchRL: one player against `greedy`, by the crudest policy gradient."""

import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import GymEnv
from torchrl.modules import MaskedCategorical, ProbabilisticActor
from torchrl.objectives.value.functional import reward2go

import crib_env  # noqa: F401 -- registers the ids

env = GymEnv("crib_env/Cribbage-v0", opponent="greedy", dtype="float32", categorical_action_encoding=True)
network = nn.Sequential(nn.Linear(209, 64), nn.Tanh(), nn.Linear(64, 52))
actor = ProbabilisticActor(
    TensorDictModule(network, ["observation"], ["logits"]),
    in_keys={"logits": "logits", "mask": "action_mask"},
    distribution_class=MaskedCategorical,
)
optimiser = torch.optim.Adam(network.parameters())
for frames in Collector(env, actor, frames_per_batch=200, total_frames=400):
    returns = reward2go(frames["next", "reward"], frames["next", "done"], gamma=1.0).squeeze(-1)
    loss = -(actor.get_dist(frames).log_prob(frames["action"]) * returns).mean()  # the crudest policy gradient
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    print("games:", int(frames["next", "done"].sum()))
