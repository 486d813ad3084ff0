"""PPO (Schulman et al. 2017) with masked cards (Huang and Ontañón 2020): sb3-contrib's MaskablePPO.

A round is one deal in each of ``episodes_at_once`` games: six decisions of the learner in each, two discards and four
cards laid, so all deals end with the round. The opponent is the agent itself as it was up to ``refresh`` rounds
ago. Rewards are settled (:class:`SettledDeals`), like those of Double DQN. They follow a
card almost at once, so ``gae_lambda`` is far lower than usual.

Agent ``ppo`` uses ``final.safetensors``. Beside it is ``final.zip`` in Stable-Baselines3's format, for
``MaskablePPO.load`` from a checkout. It is a pickle: this project never reads it, and you should not load one from a
stranger.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import torch
from gymnasium.spaces import Box
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.distributions import MaskableCategoricalDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.torch_layers import MlpExtractor
from stable_baselines3.common.utils import LinearSchedule, set_random_seed
from torch import nn

from crib_env.agents.networks.ddqn import DDQNAgent
from crib_env.agents.networks.policy import PolicyAgent
from crib_env.batch import discards_worth
from crib_env.engine import CRIB, DEALERS_HAND, PONES_HAND
from crib_env.evaluate.runs.format import LEARNING_RATE
from crib_env.files.whole_file import whole_file
from crib_env.hands import N_RANKS
from crib_env.kernels import kernel
from crib_env.observation import N_ACTIONS
from crib_env.ranks import N_INPUTS, ranks_and_gains_of
from crib_env.train.loop.run import Round, Rounds
from crib_env.train.loop.settings import Count, LearningSettings, NotNegative, PeggingCards, Precision, Widths
from crib_env.train.sb3_vec_env import CribbageVecEnv
from crib_env.train.shared.gradients import Parts, SavedOptimizer, precision
from crib_env.values import Range, Share
from crib_env.vector.environments import CribbageVectorEnv

_VALUE_HIDDEN = [128, 128]  # widths of the hidden layers of the value network
_LONGEST = 0.5  # norm of a gradient, Stable-Baselines3's default


@dataclass(frozen=True)
class PPOSettings(LearningSettings):
    """Settings of PPO."""

    refresh: Count = 10
    """Rounds after which the opponent is replaced by the current agent."""
    episode: Literal["deal", "pegging"] = "deal"
    """What an episode is: a deal, or the play of eight cards and nothing else."""
    cards: PeggingCards = 4
    """Cards of each player in pegging."""
    hidden: Widths = (256, 256)
    """Widths of the hidden layers of the policy network."""
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
    entropy: NotNegative = 0.1
    """Coefficient of the entropy bonus in the loss."""

    def __post_init__(self) -> None:
        super().__post_init__()
        decisions = self.decisions * self.episodes_at_once
        if decisions % self.batch_size:
            raise ValueError(f"batch_size={self.batch_size} is not allowed: it must divide the {decisions} of a round")
        object.__setattr__(self, "episodes", -(-self.episodes // self.episodes_at_once) * self.episodes_at_once)

    @property
    def decisions(self) -> int:
        """Decisions of a player in an episode."""
        return 6 if self.episode == "deal" else self.cards


@kernel
def _leave_out_shows(games, seats, over, rewards):
    """Takes from the rewards of ``seats`` in deals that have just ended the points of the show."""
    for b in range(len(games)):
        g = games[b]
        for k in range(g["n_events"] if over[b] else 0):
            if g["event_kind"][k] in (PONES_HAND, DEALERS_HAND, CRIB):
                sign = 1 if g["event_player"][k] == seats[b] else -1
                rewards[b] -= sign * np.int64(g["event_points"][k])


class SettledDeals(CribbageVectorEnv):
    """Single deals that reward the show by its exact mean at the discards, not by the cards that happen to fall.

    A decision earns the points of the play and of his heels, as they are scored, and the change in the value of the six
    cards in the show (:func:`crib_env.batch.discards_worth`): never above zero, and zero for the best discard. In
    ``"pegging"`` the show is worth nothing. Options are those of ``CribbageVectorEnv``, except ``reward``.
    """

    def __init__(self, num_envs: int, episode: str = "deal", **options: Any) -> None:
        super().__init__(num_envs, episode=episode, reward="points", illegal="raise", **options)
        self._worth = np.zeros(num_envs)

    def _worth_of(self, rows: np.ndarray) -> np.ndarray:
        return discards_worth(self.games, rows, self.seats[rows].astype(np.int64))

    def on_begin(self, rows: np.ndarray) -> None:
        """See :class:`crib_env.vector.environments.CribbageVectorEnv`."""
        self._worth[rows] = self._worth_of(rows)

    def on_step(self, rewards: np.ndarray, over: np.ndarray) -> None:
        """See :class:`crib_env.vector.environments.CribbageVectorEnv`."""
        _leave_out_shows(self.games, self.seats, over, rewards)
        worth = self._worth_of(np.arange(self.num_envs))
        rewards += worth - self._worth
        self._worth = worth


class SettledVecEnv(CribbageVecEnv):
    """:class:`SettledDeals` for Stable-Baselines3, observed by rank (:mod:`crib_env.ranks`).

    Observations are (N, n + 52) float32: the n inputs of a network, and what each card is known to gain at once, 0 if
    it is not legal. Terminal observations are those of the deals.
    """

    def __init__(self, num_envs: int, **options: Any) -> None:
        super().__init__(num_envs, kind=SettledDeals, **options)
        self.observation_space = Box(-np.inf, np.inf, (N_INPUTS + N_ACTIONS,), np.float32)

    def seen(self, observation: np.ndarray) -> np.ndarray:
        """See :class:`CribbageVecEnv`."""
        games, seats = self._envs.games, self._envs.seats.astype(np.int64)
        inputs, gains = ranks_and_gains_of(games, np.arange(self.num_envs), seats)
        return np.concatenate([inputs, np.where(gains > -np.inf, gains, 0)], axis=1, dtype=np.float32)


class FastMlp(MlpExtractor):
    """The hidden layers, computed in a precision of choice, of inputs and known gains (B, n + 52): of the policy
    followed by the gains (B, h + 52), and of the values (B, h), float32."""

    compute: Precision = "float32"

    def forward_actor(self, features: torch.Tensor) -> torch.Tensor:
        """See the class."""
        with precision(self.compute):
            hidden = super().forward_actor(features[:, :-N_ACTIONS]).float()
        return torch.cat([hidden, features[:, -N_ACTIONS:]], dim=1)

    def forward_critic(self, features: torch.Tensor) -> torch.Tensor:
        """See the class."""
        with precision(self.compute):
            return super().forward_critic(features[:, :-N_ACTIONS]).float()


class LogitsByRank(nn.Module):
    """The last layer: a number for each rank, which its four cards share, plus what a card is known to gain."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.cards = nn.Linear(width, N_RANKS)

    def forward(self, latent: torch.Tensor) -> torch.Tensor:
        """Logits (B, 52); ``FloatingPointError`` if one is not finite: torch's own error would print the batch."""
        logits = self.cards(latent[:, :-N_ACTIONS]).repeat(1, N_ACTIONS // N_RANKS) + latent[:, -N_ACTIONS:]
        if not torch.isfinite(logits).all():
            raise FloatingPointError("the policy's logits are no longer finite: the weights have diverged")
        return logits


class DistributionByRank(MaskableCategoricalDistribution):
    """Cards by :class:`LogitsByRank`."""

    def proba_distribution_net(self, latent_dim: int) -> nn.Module:
        """See sb3-contrib."""
        return LogitsByRank(latent_dim)


class CribbagePolicy(MaskableActorCriticPolicy):
    """Stable-Baselines3's policy with :class:`FastMlp` and :class:`DistributionByRank`, as its guide says."""

    def _build_mlp_extractor(self) -> None:
        self.action_dist = DistributionByRank(N_ACTIONS)
        self.mlp_extractor = FastMlp(self.features_dim - N_ACTIONS, self.net_arch, self.activation_fn, self.device)


# Of Stable-Baselines3's values those that other learners have too: their names here, and their sign.
_CURVES = {
    "train/value_loss": ("critic loss", 1),
    "train/policy_gradient_loss": ("policy loss", 1),
    "train/entropy_loss": ("entropy", -1),
    "train/approx_kl": ("KL", 1),
    "train/learning_rate": (LEARNING_RATE, 1),
}


def new_agent(settings: PPOSettings) -> PolicyAgent:
    """An agent with random weights, from torch's generator."""
    return PolicyAgent("ppo", DDQNAgent.new("one", "209", "ranks", settings.hidden))


class PPOLearner(Parts):
    """MaskablePPO with its games, its opponent, and the agent that shares its weights."""

    Settings = PPOSettings

    def __init__(self, settings: PPOSettings) -> None:
        self.settings = settings
        self.frozen = new_agent(settings)
        how = {"opponent": self.frozen, "episode": settings.episode, "cards": settings.cards}
        self.games = SettledVecEnv(settings.episodes_at_once, **how)
        self.model = MaskablePPO(
            CribbagePolicy,
            self.games,
            n_steps=settings.decisions,
            batch_size=settings.batch_size,
            n_epochs=settings.epochs,
            gamma=1.0,
            gae_lambda=settings.gae_lambda,
            ent_coef=settings.entropy,
            max_grad_norm=math.inf,  # it does not tell the norm: _clip does both
            policy_kwargs={
                "net_arch": {"pi": list(settings.hidden), "vf": _VALUE_HIDDEN},
                "activation_fn": nn.ReLU,
                "optimizer_kwargs": {"eps": 1e-5, "fused": True},
            },
            seed=settings.seed,
            device="cpu",
        )
        self.model.set_logger(Logger(folder=None, output_formats=[]))
        policy: Any = self.model.policy
        policy.mlp_extractor.compute = settings.precision
        self.agent = new_agent(settings)
        network = self.agent.networks.networks["all"]
        network.body, network.cards = policy.mlp_extractor.policy_net, policy.action_net.cards
        self._norms: list[float] = []
        policy.optimizer.register_step_pre_hook(self._clip)
        super().__init__(policy=policy, adam=SavedOptimizer(policy.optimizer), frozen=self.frozen.networks)
        self.frozen.networks.load_state_dict(self.agent.networks.state_dict())
        self.games.reset()
        self.games.step(self.games.action_masks().argmax(axis=1))  # compiles the kernels before the clocks start

    def _clip(self, *_: Any) -> None:
        """Clips the gradients before each step; ``FloatingPointError`` if one is not finite."""
        norm = nn.utils.clip_grad_norm_(self.model.policy.parameters(), _LONGEST)
        if not torch.isfinite(norm):
            raise FloatingPointError("the loss of policy and values has a gradient that is not finite")
        self._norms.append(norm.item())

    def play_and_learn(self, now: Round) -> dict[str, float]:
        """A round of ``MaskablePPO.learn``, with new deals; scalars for TensorBoard. Everything random in it follows
        from the seed and the number of episodes before."""
        settings, model, after = self.settings, self.model, now.episodes_before + now.episodes
        number = now.episodes_before // settings.episodes_at_once
        set_random_seed(int(np.random.SeedSequence([settings.seed, number]).generate_state(1)[0]))
        self.games.seed((settings.seed << 40) + now.episodes_before)
        falling = LinearSchedule(settings.learning_rate, settings.final_learning_rate, 1.0)
        rate = falling(1.0 - after / settings.episodes)
        model.lr_schedule = LinearSchedule(rate, rate, 1.0)
        self._norms.clear()
        model.learn(settings.decisions * settings.episodes_at_once, log_interval=2)  # of one: it logs nothing
        if (number + 1) % settings.refresh == 0:
            self.frozen.networks.load_state_dict(self.agent.networks.state_dict())
        values = {tag: sign * model.logger.name_to_value[theirs] for theirs, (tag, sign) in _CURVES.items()}
        mean_value = float(model.rollout_buffer.values.mean())
        return values | {"mean value": mean_value, "gradient norm": float(np.mean(self._norms))}

    def own_loop(self, rounds: Rounds) -> None:
        """The rounds, after which Stable-Baselines3's own file is written too."""
        rounds.run()
        with whole_file(rounds.folder.path / "final.zip") as temporary:
            self.model.save(temporary)
