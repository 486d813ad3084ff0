"""PPO (Schulman et al. 2017) with masked cards (Huang and Ontañón 2020): sb3-contrib's MaskablePPO.

A round is one deal in each of ``episodes_at_once`` games: six decisions of the learner in each, two discards and four
cards laid, so all deals end with the round. The opponent is the agent itself as it was up to ``refresh`` rounds
ago. Rewards are settled (:class:`crib_env.train.ppo.sb3_vec_env.SettledDeals`), like those of Double DQN. They follow a
card almost at once, so ``gae_lambda`` is far lower than usual.

In TensorBoard, Stable-Baselines3's own values are under ``train/``, ``rollout/`` and ``time/``, over episodes; what
other learners have too is also under their names.
Agent ``ppo`` uses ``final.safetensors``. Beside it is ``final.zip`` in Stable-Baselines3's format, for
``MaskablePPO.load`` from a checkout. It is a pickle: this project never reads it, and you should not load one from a
stranger.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter, Logger
from stable_baselines3.common.utils import LinearSchedule, set_random_seed
from torch import nn

from crib_env.agents import make_agent
from crib_env.agents.networks.policy import PPOAgent
from crib_env.evaluate.runs.format import SIMULATION_SECONDS, UPDATES
from crib_env.files.whole_file import whole_file
from crib_env.players.policies import NATIVE
from crib_env.train.loop.contracts import Parts
from crib_env.train.loop.learning import Count, LearningSettings, NotNegative, PeggingCards, SavedOptimizer, Widths
from crib_env.train.loop.rounds import Interrupt, Rounds
from crib_env.train.loop.run_folder import Position, RunFolder
from crib_env.train.ppo.policy import CribbagePolicy, FrozenSelf, Gradients
from crib_env.train.ppo.sb3_vec_env import SettledVecEnv
from crib_env.values import Positive, Range, Share


@dataclass(frozen=True)
class PPOSettings(LearningSettings):
    """Settings of PPO."""

    opponent: str = "self"
    """The opponent: "self", or the name of any agent, for example "random" or "greedy"."""
    refresh: Count = 10
    """Rounds after which the opponent in self-play is replaced by the current agent."""
    observation: Literal["209", "board"] = "209"
    """Observation of the networks, which must hold the 209 bits."""
    episode: Literal["deal", "pegging"] = "deal"
    """What an episode is: a deal, or the play of eight cards and nothing else."""
    cards: PeggingCards = 4
    """Cards of each player in pegging."""
    hidden: Widths = (256, 256)
    """Widths of the hidden layers of the policy network."""
    value_hidden: Widths = (128, 128)
    """Widths of the hidden layers of the value network."""
    episodes: Count = 102_400
    """Episodes to play, rounded up to whole rounds."""
    episodes_at_once: Count = 2_048
    """Episodes in a round, played side by side."""
    epochs: Count = 2
    """Epochs over the decisions of a round."""
    batch_size: Annotated[int, Range(2)] = 512
    """Decisions in a gradient step; must divide those of a round: six a deal, one a card in pegging."""
    gae_lambda: Share = 0.2
    """λ of generalised advantage estimation: 0 bootstraps after one step, 1 is the Monte Carlo return."""
    clip_range: Positive = 0.2
    """Clipping range of the probability ratio, around 1."""
    entropy: NotNegative = 0.1
    """Coefficient of the entropy bonus in the loss."""

    def __post_init__(self) -> None:
        super().__post_init__()
        decisions = self.decisions * self.episodes_at_once
        if decisions % self.batch_size:
            raise ValueError(f"batch_size={self.batch_size} is not allowed: it must divide the {decisions} of a round")
        if self.opponent != "self":
            make_agent(self.opponent)

    @property
    def decisions(self) -> int:
        """Decisions of a player in an episode."""
        return 6 if self.episode == "deal" else self.cards

    @property
    def all_episodes(self) -> int:
        """``episodes``, rounded up to whole rounds."""
        return -(-self.episodes // self.episodes_at_once) * self.episodes_at_once


class PPO(MaskablePPO):
    """MaskablePPO whose rounds begin with new deals, and which goes on where a run was stopped."""

    def go_on(self, position: Position, decisions: int) -> None:
        """Restores its counters, with so many decisions of a player in an episode."""
        self.num_timesteps = decisions * position.episodes
        self._n_updates = self.n_epochs * position.rounds

    def deal_anew(self, games: SettledVecEnv) -> None:
        """Resets its games. The deals before have all ended, so no deal is cut short."""
        self._last_obs = games.reset()


class PPOLearner(Parts):
    """MaskablePPO with its games, its opponent, and the agent that shares its weights."""

    Settings = PPOSettings

    def __init__(self, settings: PPOSettings) -> None:
        self.settings = settings
        self.frozen = FrozenSelf(settings.observation, settings.hidden)
        opponents: dict[str, FrozenSelf | str] = {"self": self.frozen} | {name: name for name in NATIVE}
        self.games = SettledVecEnv(
            settings.episodes_at_once,
            opponent=opponents.get(settings.opponent) or make_agent(settings.opponent),
            episode=settings.episode,
            cards=settings.cards,
            observation=settings.observation,
        )
        self.model = PPO(
            CribbagePolicy,
            self.games,
            learning_rate=LinearSchedule(settings.learning_rate, settings.final_learning_rate, 1.0),
            n_steps=settings.decisions,
            batch_size=settings.batch_size,
            n_epochs=settings.epochs,
            gamma=1.0,
            gae_lambda=settings.gae_lambda,
            clip_range=settings.clip_range,
            ent_coef=settings.entropy,
            stats_window_size=settings.episodes_at_once,
            policy_kwargs={
                "net_arch": {"pi": list(settings.hidden), "vf": list(settings.value_hidden)},
                "activation_fn": nn.ReLU,
                "optimizer_kwargs": {"eps": 1e-5, "fused": True},
                "compute": settings.precision,
            },
            seed=settings.seed,
            device="cpu",
        )
        policy = self.model.policy
        self.gradients = Gradients(policy.optimizer)
        self.agent = PPOAgent.new(settings.observation, settings.hidden)
        self.agent.network.body = policy.mlp_extractor.policy_net
        self.agent.network.cards = cast(nn.Linear, policy.action_net)
        self.optimizer = SavedOptimizer(policy.optimizer)
        super().__init__(policy=policy, adam=self.optimizer, frozen=self.frozen.network)
        self.refresh_opponent()

    def refresh_opponent(self) -> None:
        """Makes the current agent the opponent in self-play."""
        self.frozen.network.load_state_dict(self.agent.network.state_dict())

    def begin_round(self, position: Position) -> None:
        """Deals anew. Everything random in a round follows from the seed and the number of episodes before it."""
        set_random_seed(int(np.random.SeedSequence([self.settings.seed, position.rounds]).generate_state(1)[0]))
        self.games.seed((self.settings.seed << 40) + position.episodes)
        self.model.deal_anew(self.games)

    @property
    def simulation_seconds(self) -> float:
        """Time spent on rules, observations and native opponents, not in networks."""
        return self.games.seconds - self.frozen.seconds

    def own_loop(self, rounds: Rounds) -> None:
        """``MaskablePPO.learn``, which owns the loop, with the work of a run between its rounds."""
        model, settings, decisions = self.model, self.settings, self.settings.decisions
        model.go_on(rounds.position, decisions)
        self.games.reset()
        self.games.step(self.games.action_masks().argmax(axis=1))  # compiles the kernels before the clocks start
        model.set_logger(Logger(folder=None, output_formats=[IntoFolder(rounds.folder, decisions)]))
        with rounds.under_way() as interrupt:
            left = decisions * settings.all_episodes - model.num_timesteps
            model.learn(left, BetweenRounds(self, rounds, interrupt), reset_num_timesteps=False)
        self.save_model(rounds.folder.path / "final.zip")

    def save_model(self, path: Path) -> None:
        """Writes Stable-Baselines3's own file, whole or not at all."""
        with whole_file(path) as temporary:
            self.model.save(temporary)


# Of Stable-Baselines3's values, those that other learners have too: their names there, and their sign.
_OURS = {
    "train/value_loss": ("critic loss", 1),
    "train/policy_gradient_loss": ("policy loss", 1),
    "train/entropy_loss": ("entropy", -1),
    "train/approx_kl": ("KL", 1),
}


class IntoFolder(KVWriter):
    """Stable-Baselines3's values, written to the TensorBoard events of a run over episodes instead of steps."""

    def __init__(self, folder: RunFolder, decisions: int) -> None:
        self._folder, self._decisions = folder, decisions

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        """See ``KVWriter``."""
        shown = {key: value for key, value in key_values.items() if "tensorboard" not in (key_excluded[key] or ())}
        ours = {f"learning/{tag}": sign * shown[key] for key, (tag, sign) in _OURS.items() if key in shown}
        self._folder.log({**shown, **ours}, step // self._decisions)

    def close(self) -> None:
        """The folder closes its own file."""


class BetweenRounds(BaseCallback):
    """The work between the rounds of ``MaskablePPO.learn``.

    Args:
        learner: the learner in training.
        rounds: the rounds of the run.
        interrupt: stops the run after a round.
    """

    def __init__(self, learner: PPOLearner, rounds: Rounds, interrupt: Interrupt) -> None:
        super().__init__()
        self._learner, self._rounds, self._interrupt = learner, rounds, interrupt
        self._is_to_stop = False

    def _on_rollout_start(self) -> None:
        self._end_round()
        self._is_to_stop = self._interrupt.asked
        self._learner.begin_round(self._rounds.position)
        self._simulated = self._learner.simulation_seconds
        self._rounds.begin_round()

    def _on_rollout_end(self) -> None:
        values: np.ndarray = self.locals["rollout_buffer"].values
        self._mean_value = float(values.mean())

    def _on_step(self) -> bool:
        return not self._is_to_stop

    def _on_training_end(self) -> None:
        self._end_round()

    def _end_round(self) -> None:
        """Records and measures the round that has just ended, if there is one."""
        position, settings = self._rounds.position, self._learner.settings
        n = settings.episodes_at_once
        if self.model.num_timesteps < settings.decisions * (position.episodes + n):
            return
        self.logger.dump(self.model.num_timesteps)  # now: the library would keep them until after the checkpoint
        if (position.rounds + 1) % settings.refresh == 0:
            self._learner.refresh_opponent()
        values = {
            "mean value": self._mean_value,
            "gradient norm": float(np.mean(self._learner.gradients.norms)),
            SIMULATION_SECONDS: self._learner.simulation_seconds - self._simulated,
            UPDATES: len(self._learner.gradients.norms),
        }
        self._learner.gradients.norms.clear()
        self._rounds.end_round(n, values)
        self._rounds.save_if_due()
