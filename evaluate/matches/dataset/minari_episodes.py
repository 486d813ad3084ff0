"""Games of ``crib_env/Cribbage-v0`` as a Minari dataset, from which the environment can be recovered.

Episode k is the environment after ``reset(seed=seed + k)``; the agent has seat 0, and a coin says who deals first.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from crib_env.agents import Agent, make_agent
from crib_env.distribution import missing
from crib_env.single_agent import SingleAgentCribbage

ENVIRONMENT = "crib_env/Cribbage-v0"
_AT_ONCE = 50  # episodes between two writes: a kill loses at most these


def load_minari() -> Any:
    """The module ``minari``.

    Raises:
        ValueError: it is not installed.
    """
    try:
        import minari
    except ImportError as error:
        raise ValueError(missing("--minari", error)) from None
    return minari


def dataset_id(agent: str, opponent: str) -> str:
    """The dataset's name in Minari's way, ``cribbage/best-against-greedy-v0``."""
    plain = "".join(c if c.isalnum() else "-" for c in f"{agent}-against-{opponent}")
    return f"cribbage/{plain}-v0"


def write_episodes(
    folder: Path, agents: tuple[str, str], games: int, seed: int, on_progress: Callable[[int], None]
) -> Path:
    """Plays the episodes that are not there yet, and adds them; the folder of the data, for ``minari.MinariDataset``.

    Args:
        folder: holds the dataset below its name, as Minari's own folder of datasets does.
        agents: the player whose decisions are kept, and the opponent in the environment.
        on_progress: called with the number of further episodes done, those found in the folder included.

    Raises:
        ValueError: minari is not installed, or the agent chose an illegal card.
    """
    minari = load_minari()
    from minari.dataset.minari_storage import MinariStorage

    env = gymnasium.make(ENVIRONMENT, opponent=agents[1], illegal="raise")
    name = dataset_id(*agents)
    path = folder.resolve() / name / "data"  # minari needs an absolute path
    if (path / "metadata.json").is_file():
        storage = MinariStorage.read(path)
    else:
        path.mkdir(parents=True, exist_ok=True)
        storage = MinariStorage.new(
            path, env.observation_space, env.action_space, env_spec=env.spec, data_format="arrow"
        )
        storage.update_metadata(
            {
                "dataset_id": name,
                "minari_version": minari.__version__,
                "algorithm_name": agents[0],
                "description": f"{agents[0]} plays {ENVIRONMENT} against {agents[1]}, seeds from {seed} on",
            }
        )
    player, game = make_agent(agents[0]), env.unwrapped
    assert isinstance(game, SingleAgentCribbage)
    done = int(storage.total_episodes)
    for k in range(done):  # the random draws of an opponent depend on the number of the episode
        env.reset(seed=seed + k)
    on_progress(done)
    for start in range(done, games, _AT_ONCE):
        storage.update_episodes(
            [_episode(env, game, player, k, seed + k) for k in range(start, min(start + _AT_ONCE, games))]
        )
        on_progress(min(_AT_ONCE, games - start))
    return path


def _episode(env: gymnasium.Env[Any, Any], game: SingleAgentCribbage, player: Agent, k: int, seed: int) -> Any:
    from minari.data_collector.episode_buffer import EpisodeBuffer

    observation, _ = env.reset(seed=seed)
    observations, actions, rewards = [observation], [], []
    over = False
    while not over:
        card = int(player.act(game.views())[0])
        observation, reward, over, _, _ = env.step(card)
        observations.append(observation)
        actions.append(card)
        rewards.append(float(reward))
    return EpisodeBuffer(
        id=k,
        seed=seed,
        observations={key: np.stack([one[key] for one in observations]) for key in observations[0]},
        actions=np.array(actions),
        rewards=rewards,
        terminations=[False] * (len(actions) - 1) + [True],
        truncations=[False] * len(actions),
    )
