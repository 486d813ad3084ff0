"""The last policy of a run, beside the average that its agent plays: an agent from the run's last checkpoint.

crib-env train mmd --episode pegging --cards 2 --episodes 65536 --folder run
crib-env exploitability mmd:run/final last_policy:last_policy:run --cards 2      # in the folder of this file

The agents of `td`, `ddqn`, `mmd` and `rnad` play with an average of their weights; here they play with the last ones.
Those of `nfsp` play an average of policies; here they play the last best response.
"""

from pathlib import Path

import crib_env
from crib_env.agents.networks.weights_file import load_tensors

# What a learner calls the networks of its last policy in a checkpoint.
NAMES = {
    "td": "online",
    "ddqn": "online",
    "mmd": "policy",
    "rnad": "policy",
    "nfsp": "best.online",
}


def last_policy(path):
    """The agent of a finished run, ``path`` is its folder, with the networks of its last policy.

    Raises:
        ValueError: the run has no weights or no checkpoint, or its agent plays no average.
    """
    learner = load_tensors(f"{path}/final")[1]["learner"]
    if learner not in NAMES:
        raise ValueError(f"{path} is a run of {learner}, whose agent plays no average: give one of {', '.join(NAMES)}")
    if not (checkpoints := sorted(Path(path).glob("checkpoints/*.safetensors"))):
        raise ValueError(f"{path} has no checkpoint")
    parts, _ = load_tensors(checkpoints[-1])
    agent, name = crib_env.make_agent(f"{learner}:path={path}/final"), NAMES[learner]
    networks = agent if name == "online" else agent.networks
    networks.load_state_dict({layer: parts[f"{name}.{layer}"] for layer in networks.state_dict()})
    if name == "best.online":
        return networks  # plays the card with the highest Q
    return agent
