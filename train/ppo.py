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

from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

import numpy as np
import torch
from gymnasium.spaces import Box
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.distributions import MaskableCategoricalDistribution, MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.torch_layers import MlpExtractor
from stable_baselines3.common.utils import LinearSchedule, set_random_seed
from torch import nn

from crib_env.agents import make_agent
from crib_env.agents.networks.ddqn import DDQNAgent
from crib_env.agents.networks.policy import PolicyAgent
from crib_env.batch import discards_worth
from crib_env.engine import CRIB, DEALERS_HAND, PONES_HAND
from crib_env.evaluate.runs.format import LEARNING_RATE, UPDATES
from crib_env.files.whole_file import whole_file
from crib_env.hands import N_RANKS
from crib_env.kernels import kernel
from crib_env.observation import N_ACTIONS
from crib_env.players.policies import NATIVE
from crib_env.ranks import N_INPUTS, ranks_and_gains_of
from crib_env.train.loop.gradients import Parts, SavedOptimizer, precision
from crib_env.train.loop.run import Interrupt, Rounds
from crib_env.train.loop.settings import Count, LearningSettings, NotNegative, PeggingCards, Precision, Widths
from crib_env.train.sb3_vec_env import CribbageVecEnv
from crib_env.values import Positive, Range, Share
from crib_env.vector.environments import CribbageVectorEnv


@dataclass(frozen=True)
class PPOSettings(LearningSettings):
    """Settings of PPO."""

    opponent: str = "self"
    """The opponent: "self", or the name of any agent, for example "random" or "greedy"."""
    refresh: Count = 10
    """Rounds after which the opponent in self-play is replaced by the current agent."""
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


@kernel
def _show_margins(games, rows, seats, out):
    """The points of ``seats`` in the show of a deal that has just ended, minus the points of the other seats."""
    for b in range(len(rows)):
        g = games[rows[b]]
        out[b] = 0.0
        for k in range(g["n_events"]):
            if g["event_kind"][k] in (PONES_HAND, DEALERS_HAND, CRIB):
                sign = 1 if g["event_player"][k] == seats[b] else -1
                out[b] += sign * np.int64(g["event_points"][k])


class SettledDeals(CribbageVectorEnv):
    """Single deals that reward the show by its exact mean at the discards, not by the cards that happen to fall.

    A decision earns the points of the play and of his heels, as they are scored, and the change in the value of the six
    cards in the show (:func:`crib_env.batch.discards_worth`): never above zero, and zero for the best discard. In
    ``"pegging"`` the show is worth nothing. Options are those of ``CribbageVectorEnv``, except ``reward``.
    """

    def __init__(self, num_envs: int, episode: str = "deal", **options: Any) -> None:
        super().__init__(num_envs, episode=episode, reward="points", illegal="raise", **options)
        self._worth = np.zeros(num_envs)

    def on_begin(self, rows: np.ndarray) -> None:
        """See :class:`crib_env.vector.environments.CribbageVectorEnv`."""
        self._worth[rows] = discards_worth(self.games, rows, self.seats[rows].astype(np.int64))

    def on_step(self, rewards: np.ndarray, over: np.ndarray) -> None:
        """See :class:`crib_env.vector.environments.CribbageVectorEnv`."""
        every, seats = np.arange(self.num_envs), self.seats.astype(np.int64)
        ended, shows, worth = every[over], np.empty(over.sum()), discards_worth(self.games, every, seats)
        _show_margins(self.games, ended, seats[ended], shows)
        rewards[ended] -= shows
        rewards += worth - self._worth
        self._worth = worth


class SettledVecEnv(CribbageVecEnv):
    """:class:`SettledDeals` for Stable-Baselines3, observed by rank (:mod:`crib_env.ranks`).

    Observations are (N, n + 52) float32: the n inputs of a network, and what each card is known to gain at once, 0 if
    it is not legal. Terminal observations are those of the deals.
    """

    def __init__(self, num_envs: int, **options: Any) -> None:
        super().__init__(num_envs, kind=SettledDeals, **options)
        space = Box(-np.inf, np.inf, (N_INPUTS + N_ACTIONS,), np.float32)
        self.observation_space = self._shared["observation_space"] = space

    def seen(self, observation: np.ndarray) -> np.ndarray:
        """See :class:`CribbageVecEnv`."""
        games, seats = self._envs.games, self._envs.seats.astype(np.int64)
        inputs, gains = ranks_and_gains_of(games, np.arange(self.num_envs), seats)
        return np.concatenate([inputs, np.where(gains > -np.inf, gains, 0)], axis=1, dtype=np.float32)


class DistributionByRank(MaskableCategoricalDistribution):
    """One logit for each rank, which its four cards share."""

    def proba_distribution_net(self, latent_dim: int) -> nn.Module:
        """See sb3-contrib."""
        return nn.Linear(latent_dim, N_RANKS)


class FastMlp(MlpExtractor):
    """The hidden layers, computed in a precision of choice, for observations of inputs and known gains (B, n + 52).

    The policy's output (B, h + 52) is the last hidden layer and the gains, the value's (B, h) the last hidden layer,
    float32.
    """

    def __init__(self, n_features: int, *args: Any, compute: Precision, **kwargs: Any) -> None:
        super().__init__(n_features - N_ACTIONS, *args, **kwargs)
        self._compute = compute

    def forward_actor(self, features: torch.Tensor) -> torch.Tensor:
        """See the class."""
        with precision(self._compute):
            hidden = super().forward_actor(features[:, :-N_ACTIONS]).float()
        return torch.cat([hidden, features[:, -N_ACTIONS:]], dim=1)

    def forward_critic(self, features: torch.Tensor) -> torch.Tensor:
        """See the class."""
        with precision(self._compute):
            return super().forward_critic(features[:, :-N_ACTIONS]).float()


class CribbagePolicy(MaskableActorCriticPolicy):
    """Stable-Baselines3's policy of linear layers, with :class:`FastMlp` for its body.

    What a card is known to gain is a part of its logit, as in NFSP.
    """

    def __init__(self, *args: Any, compute: Precision = "auto", **kwargs: Any) -> None:
        self._compute: Precision = compute
        super().__init__(*args, **kwargs)

    def _build_mlp_extractor(self) -> None:
        self.action_dist = DistributionByRank(N_ACTIONS)
        self.mlp_extractor = FastMlp(
            self.features_dim, self.net_arch, self.activation_fn, self.device, compute=self._compute
        )

    def _get_action_dist_from_latent(self, latent_pi: torch.Tensor) -> MaskableDistribution:
        """The distribution over cards.

        Raises:
            FloatingPointError: the logits are not finite; torch's own error would print the whole batch.
        """
        outputs = self.action_net(latent_pi[:, :-N_ACTIONS])
        logits = outputs.repeat(1, N_ACTIONS // N_RANKS) + latent_pi[:, -N_ACTIONS:]
        if not torch.isfinite(logits).all():
            raise FloatingPointError("the policy's logits are no longer finite: the weights have diverged")
        return self.action_dist.proba_distribution(action_logits=logits)


class Gradients:
    """The norms of the gradients of an optimizer's steps before they are clipped, which MaskablePPO does not tell."""

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self.norms: list[float] = []
        self._squares: list[torch.Tensor] = []
        optimizer.register_step_pre_hook(self._before_step)
        for parameter in optimizer.param_groups[0]["params"]:
            parameter.register_post_accumulate_grad_hook(lambda one: self._squares.append(one.grad.square().sum()))

    def _before_step(self, *_: Any) -> None:
        """Runs before each step.

        Raises:
            FloatingPointError: a gradient is not finite; no weight has changed.
        """
        norm = torch.stack(self._squares).sum().sqrt()
        self._squares.clear()
        if not torch.isfinite(norm):
            raise FloatingPointError("the loss of policy and values has a gradient that is not finite")
        self.norms.append(norm.item())


class PPO(MaskablePPO):
    """MaskablePPO whose rounds begin with new deals."""

    def deal_anew(self, games: SettledVecEnv) -> None:
        """Resets its games. The deals before have all ended, so no deal is cut short."""
        self._last_obs = games.reset()


def new_agent(settings: PPOSettings) -> PolicyAgent:
    """An agent with random weights, from torch's generator."""
    return PolicyAgent("ppo", DDQNAgent.new("one", "209", "ranks", settings.hidden))


class PPOLearner(Parts):
    """MaskablePPO with its games, its opponent, and the agent that shares its weights."""

    Settings = PPOSettings

    def __init__(self, settings: PPOSettings) -> None:
        self.settings = settings
        self.frozen = new_agent(settings)
        opponents: dict[str, PolicyAgent | str] = {"self": self.frozen} | {name: name for name in NATIVE}
        self.games = SettledVecEnv(
            settings.episodes_at_once,
            opponent=opponents.get(settings.opponent) or make_agent(settings.opponent),
            episode=settings.episode,
            cards=settings.cards,
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
        self.agent = new_agent(settings)
        network = self.agent.networks.networks["all"]
        network.body, network.cards = policy.mlp_extractor.policy_net, cast(nn.Linear, policy.action_net)
        self.optimizer, self.gradients = SavedOptimizer(policy.optimizer), Gradients(policy.optimizer)
        super().__init__(policy=policy, adam=self.optimizer, frozen=self.frozen.networks)
        self.refresh_opponent()

    def refresh_opponent(self) -> None:
        """Makes the current agent the opponent in self-play."""
        self.frozen.networks.load_state_dict(self.agent.networks.state_dict())

    def own_loop(self, rounds: Rounds) -> None:
        """``MaskablePPO.learn``, which owns the loop, with the work of a run between its rounds."""
        model, settings = self.model, self.settings
        model.num_timesteps = settings.decisions * rounds.position.episodes
        self.games.reset()
        self.games.step(self.games.action_masks().argmax(axis=1))  # compiles the kernels before the clocks start
        model.set_logger(Logger(folder=None, output_formats=[]))
        with rounds.under_way() as interrupt:
            left = settings.decisions * settings.all_episodes - model.num_timesteps
            model.learn(left, BetweenRounds(self, rounds, interrupt), log_interval=left + 1, reset_num_timesteps=False)
        with whole_file(rounds.folder.path / "final.zip") as temporary:
            model.save(temporary)


# Of Stable-Baselines3's values those that other learners have too: their names here, and their sign.
_CURVES = {
    "train/value_loss": ("critic loss", 1),
    "train/policy_gradient_loss": ("policy loss", 1),
    "train/entropy_loss": ("entropy", -1),
    "train/approx_kl": ("KL", 1),
    "train/learning_rate": (LEARNING_RATE, 1),
}


class BetweenRounds(BaseCallback):
    """The work between the rounds of ``MaskablePPO.learn``; the interrupt stops the run after a round."""

    def __init__(self, learner: PPOLearner, rounds: Rounds, interrupt: Interrupt) -> None:
        super().__init__()
        self._learner, self._rounds, self._interrupt = learner, rounds, interrupt
        self._is_to_stop = False

    def _on_rollout_start(self) -> None:
        self._end_round()
        self._is_to_stop = self._interrupt.signalled is not None
        # Everything random in a round follows from the seed and the position.
        learner, position, seed = self._learner, self._rounds.position, self._learner.settings.seed
        set_random_seed(int(np.random.SeedSequence([seed, position.rounds]).generate_state(1)[0]))
        learner.games.seed((seed << 40) + position.episodes)
        learner.model.deal_anew(learner.games)
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
        learner, position, settings = self._learner, self._rounds.position, self._learner.settings
        n = settings.episodes_at_once
        if self.model.num_timesteps < settings.decisions * (position.episodes + n):
            return
        if (position.rounds + 1) % settings.refresh == 0:
            learner.refresh_opponent()
        values = {tag: sign * self.logger.name_to_value[theirs] for theirs, (tag, sign) in _CURVES.items()}
        norms = learner.gradients.norms
        values |= {"mean value": self._mean_value, "gradient norm": float(np.mean(norms)), UPDATES: len(norms)}
        self._rounds.end_round(n, values)
        norms.clear()
