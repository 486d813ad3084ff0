"""Magnetic mirror descent (Sokota et al. 2023), in a deep form: self-play towards a policy that nobody can exploit.

The paper's update, at every information state s, with its names::

    π_(t+1) = argmax over π of   ⟨Q_t(s, ·), π⟩  −  α KL(π, ρ)  −  1/η KL(π, π_t)

Q_t are the values of the actions when both players follow π_t, ρ is the magnet, α the temperature and η the step size.
The last policy converges, and to the equilibrium as α falls: no average of policies is needed, as in fictitious play.
Here ρ is uniform, so −α KL(π, ρ) is a bonus for entropy, and α falls geometrically during the run.

π is a network, and a round is one step t. All its deals are played with π_t, by both seats; then a gradient step for
each minibatch of decisions ascends the objective above. Q_t comes from a critic, trained on the same minibatches to
predict the points from a decision to the end of the deal, own minus the opponent's. It sees the opponent's cards too (a
centralised critic: Lowe et al. 2017), so only the choices to come are left to chance. The policy sees what its player
sees; hidden cards come as often as they are dealt, so the gradient's mean is that of ⟨Q_t(s, ·), π⟩. All legal cards
enter it. Of the one that was played the points earned correct the critic, which is only a control variate (Schmid et
al. 2019): its errors have no part in the mean.

Rewards leave out the luck that no decision controls, and what a card is known to gain is a part of its value and of
its logit, as in :mod:`crib_env.train.ddqn` and :mod:`crib_env.agents.networks.policy`. First layers add up weights
(:mod:`crib_env.agents.networks.sparse`), so they may be wide; the others are narrow. The agent that is measured has the
average of the weights of π, and draws its cards. The paper's deep experiments are PPO's with both KLs in place of its
clipped ratio, and the gradient of one action.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from rich.progress import Progress

from crib_env.agents.networks.ddqn import DDQNAgent, QNetwork, with_gains
from crib_env.agents.networks.policy import MMDAgent
from crib_env.agents.networks.sparse import make_sparse
from crib_env.evaluate.ranges import Positive, Share
from crib_env.observation import N_ACTIONS
from crib_env.train.experience import Episodes, play_episodes
from crib_env.train.loop.contracts import Parts, by_network
from crib_env.train.loop.learning import (
    Count,
    Descent,
    LearningSettings,
    NotNegative,
    PeggingCards,
    Widths,
    follow,
    mean_of_steps,
    split_into_batches,
)
from crib_env.train.loop.number_format import precision
from crib_env.train.loop.rounds import Round, train_in_rounds
from crib_env.train.loop.run_folder import RunFolder, RunSummary
from crib_env.train.self_play import Played, SelfPlay

NAME = "mmd"


@dataclass(frozen=True)
class MMDSettings(LearningSettings):
    """Settings of magnetic mirror descent."""

    preset: Literal["default"] = "default"
    """The only preset."""
    episode: Literal["deal", "pegging"] = "deal"
    """What an episode is: a deal, or the play alone, without a crib."""
    cards: PeggingCards = 4
    """Cards of each player in pegging."""
    hidden: Widths = (256, 64)
    """Widths of the hidden layers of the policy and of the critic for the play."""
    hidden_discard: Widths = (128, 64)
    """The same for discards."""
    temperature: Positive = 0.3
    """α at the beginning, in points."""
    final_temperature: Positive = 0.03
    """α at the end; it changes geometrically in between."""
    step_size: Positive = 3.0
    """η, for each point."""
    episodes: Count = 2_048_000
    """Episodes to play."""
    episodes_at_once: Count = 2_048
    """Episodes in a round, played side by side."""
    batch_size: Count = 1_024
    """Decisions in a gradient step."""
    learning_rate: NotNegative = 6e-3
    """Initial learning rate of Adam, for policy and critic."""
    average_rate: Share = 0.005
    """Share of the way to the new weights that the player measured goes after each step: it has their average."""


PRESETS = {"default": MMDSettings()}


class MMD(Parts):
    """π in training, with its critic, the average of its weights, and the optimizers.

    Attributes:
        online: has π.
        agent: has the average of the weights.
    """

    def __init__(self, settings: MMDSettings) -> None:
        self.settings = settings
        networks = DDQNAgent.new("split", "209", "ranks", settings.hidden, settings.hidden_discard)
        self.critics: dict[str, QNetwork] = {}
        for name, widths in (("discard", settings.hidden_discard), ("play", settings.hidden)):
            n_seen = len(range(networks.inputs.size)[networks.inputs.columns(name)])
            self.critics[name] = QNetwork(n_seen + N_ACTIONS, widths, by_rank=True)
            make_sparse(self.critics[name].body)
        self.online, self.agent = MMDAgent(networks), MMDAgent(copy.deepcopy(networks), seed=settings.seed)
        descents = {
            kind: {name: Descent(network, f"{kind} {name!r}") for name, network in those.items()}
            for kind, those in (("policy", networks.networks), ("critic", self.critics))
        }
        self.policy_descents, self.critic_descents = descents["policy"], descents["critic"]
        super().__init__(
            policy=networks,
            average=self.agent.networks,
            **by_network("critic", self.critics),
            **by_network("adam", self.policy_descents),
            **by_network("critic adam", self.critic_descents),
        )

    @property
    def updates(self) -> dict[str, int]:
        """Gradient steps of each network of π so far; its critic has as many."""
        return {name: descent.steps for name, descent in self.policy_descents.items()}

    def learn(
        self, played: Played, returns: np.ndarray, temperature: float, rate: float, rng: np.random.Generator
    ) -> dict[str, float]:
        """Goes once through the decisions of a round; scalars for TensorBoard.

        Args:
            played: D decisions.
            returns: (D,) float32, points from each decision to the end, own minus the opponent's.
            temperature: α.
            rate: learning rate.
            rng: for the order.
        """
        values: dict[str, float] = {}
        for name in self.policy_descents:
            rows = rng.permutation(self.online.networks.rows_of(name, played.is_discard))
            if len(rows):  # pegging has no discards
                batches = split_into_batches(rows, self.settings.batch_size)
                steps = [self.update(name, played[batch], returns[batch], temperature, rate) for batch in batches]
                values |= mean_of_steps(name, steps)
        return values

    def update(
        self, name: str, batch: Played, returns: np.ndarray, temperature: float, rate: float
    ) -> dict[str, float]:
        """One gradient step of a critic, and one of its policy; losses, entropy and KL from π_t.

        Raises:
            FloatingPointError: a loss is no longer finite.
        """
        gains = torch.from_numpy(batch.gains)
        legal = gains > -torch.inf
        inputs = self.online.networks.inputs_of(name, batch.inputs)
        with precision(self.settings.precision):
            values = self.critics[name](torch.cat([inputs, torch.from_numpy(batch.others)], dim=1))
        values = (values + gains).masked_fill(~legal, 0)  # Q of each card, by the critic
        card, pi_t = torch.from_numpy(batch.card)[:, None], torch.from_numpy(batch.chances)
        errors = torch.from_numpy(returns)[:, None] - values.gather(1, card)
        critic_loss = errors.square().mean()
        self.critic_descents[name].step(critic_loss, rate)
        values = values.detach().scatter_add(1, card, errors.detach() / pi_t.gather(1, card))

        network = self.online.networks.networks[name]
        with precision(self.settings.precision):
            outputs = network(inputs)
        log_pi = with_gains(outputs, gains).log_softmax(dim=1).masked_fill(~legal, 0)
        log_pi_t = pi_t.clamp_min(1e-10).log().masked_fill(~legal, 0)
        pi = log_pi.exp() * legal
        minus_entropy, kl = (pi * log_pi).sum(dim=1).mean(), (pi * (log_pi - log_pi_t)).sum(dim=1).mean()
        expected = (pi * values).sum(dim=1).mean()
        self.policy_descents[name].step(temperature * minus_entropy + kl / self.settings.step_size - expected, rate)
        follow(self.agent.networks.networks[name], network, self.settings.average_rate)
        return {"critic loss": critic_loss.item(), "entropy": -minus_entropy.item(), "KL": kl.item()}


def train(settings: MMDSettings, folder: RunFolder, progress: Progress) -> tuple[MMDAgent, RunSummary]:
    """Trains an agent, from the last checkpoint in the folder if there is one; returns the agent and a summary.

    All that is random follows from the seed and the round's number, so a stopped run continues exactly.
    """
    torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    learner = MMD(settings)

    def play(now: Round) -> tuple[Episodes, Played]:
        games = now.deal(settings.episode, skip_forced=True, cards=settings.cards)
        policy = SelfPlay(learner.online, games, now.rng)
        return play_episodes(games, policy, None, "209", settings.precision), policy.played()

    def play_and_learn(now: Round) -> tuple[dict[str, float], float]:
        episodes, played = play(now)
        decisions, share = episodes.decisions, now.episodes_before / settings.episodes
        returns = (decisions.final_settled - decisions.settled).astype(np.float32)
        temperature = settings.temperature * (settings.final_temperature / settings.temperature) ** share
        values = learner.learn(played, returns, temperature, now.learning_rate, now.rng)
        return values | {"learning/temperature": temperature}, episodes.simulation_seconds

    play(Round.first())  # compiles the kernels before the clocks start
    summary = train_in_rounds(NAME, settings, folder, progress, learner, play_and_learn)
    return learner.agent, {**summary, "updates": learner.updates}
