"""ESCHER (McAleer, Farina, Lanctot and Sandholm 2022): deep regret minimisation that eschews importance sampling.

With the paper's names: in iteration t both players have the policy π_t. The history value network q(h, a) learns what
a card a earns at the history h, all cards seen, when both go on with π_t. Games are played by a sampling policy: the
update player i draws from a fixed one, here uniform over legal cards, and its opponent −i follows π_t. At each
information state s of player i, with the history h in which it was met, the regret of a card is estimated as::

    r(h, a) = q(h, a) − v(h),    v(h) = Σ_a π_t(a | s) q(h, a)

The deal and player i lead to s equally often in every iteration, and −i as often as π_t does. So the mean of all
estimates at s is the cumulative counterfactual regret, up to a positive factor of s. Nothing is divided by the
probability of a sample, which makes other estimates so noisy. The regret network R(s, a) is fitted to that mean, and
regret matching makes the next policy of it::

    π_(t+1)(a | s) = max(R(s, a), 0) / Σ_b max(R(s, b), 0)

The average policy network π̄ is a classifier of π_t at the states of −i, who comes to them as often as π_t does. It is
the agent, and draws its cards.

Differences from the paper:

- q learns from the same games, instead of games apart that π_t plays: all deals serve twice, and cards that π_t never
  lays have values too. Where player i lays a card as seldom as π_t, later returns count less: by the trace
  c = min(1, π_t(a | s) / μ(a | s)) of Retrace (Munos et al. 2016), with μ the policy that drew. It is never above 1.
- Networks are not begun anew in each iteration, but take some more steps: deals are few here, iterations short. R and π̄
  learn from reservoirs, as in the paper, q from its round alone.
- One network for both seats, which see the same game. Player i is one seat in even games and the other in odd ones.
- In the means of R and π̄ an iteration weighs t² instead of 1, as in discounted regret minimisation (Brown and Sandholm
  2019): the first policies and values are the worst.
- Where no regret is positive, the card of the highest is laid, as in Deep CFR (Brown et al. 2019).
- π̄ learns all the time, so that it can be measured on the way.
- What a card is known to gain is a part of its value, its regret and its logit, and rewards leave out the luck that no
  decision controls (:mod:`crib_env.train.shared.critic`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch

from crib_env.agents.networks.ddqn import DDQNAgent, with_gains
from crib_env.agents.networks.policy import ESCHERAgent, SparsePolicyAgent
from crib_env.gpu.games import Asked
from crib_env.hands import N_RANKS
from crib_env.observation import N_ACTIONS
from crib_env.ranks import N_INPUTS
from crib_env.train.loop.gradients import Descent, Parts, batches_of, by_network, mean_of_steps, precision
from crib_env.train.loop.run import Round
from crib_env.train.loop.settings import Count, NotNegative
from crib_env.train.shared.critic import Critic, CriticSettings
from crib_env.train.shared.replay import Columns, Reservoir
from crib_env.train.shared.self_play import Played, new_games, self_play
from crib_env.values import Positive


@dataclass(frozen=True)
class ESCHERSettings(CriticSettings):
    """Settings of ESCHER."""

    episode: Literal["deal", "pegging"] = "deal"
    """What an episode is: a deal, or the play alone, without a crib."""

    episodes_at_once: Count = 1_024
    """Episodes in an iteration, played side by side."""
    batch_size: Count = 512
    """Decisions in a gradient step."""
    learning_rate: NotNegative = 4e-3
    """Initial learning rate of Adam, for all networks."""
    value_passes: Count = 2
    """How often q goes through the decisions of its round."""
    memory: Count = 400_000
    """Capacity of each reservoir, in information states: regrets have one, and the average policy, for each network."""
    reuse: Positive = 4.0
    """How often an information state of a reservoir is used on average."""


@dataclass(frozen=True)
class Visits(Columns):
    """M visits to information states s, with a number of each rank: its regret there, or its chances by π_t."""

    inputs: np.ndarray  # (M, 479) int8
    gains: np.ndarray  # (M, 52) float32, -inf for a card that is not legal
    is_discard: np.ndarray  # (M,) bool
    numbers: np.ndarray  # (M, 13) float32, of each card of the rank
    t: np.ndarray  # (M,) float32, episodes when the iteration ended

    @classmethod
    def of(cls, decisions: Played, numbers: np.ndarray, t: int) -> Visits:
        """Decisions (M) with a number of each card (M, 52): that of legal cards of one rank is the same."""
        legal = decisions.gains > -np.inf
        by_rank, n_legal = (x.reshape(-1, 4, N_RANKS).sum(axis=1) for x in (numbers * legal, legal))
        numbers, ts = (by_rank / np.maximum(n_legal, 1)).astype(np.float32), np.full(len(decisions), t, np.float32)
        return cls(decisions.inputs, decisions.gains, decisions.is_discard, numbers, ts)


class RegretMatching(SparsePolicyAgent):
    """π_t: a card is the likelier the higher its regret R is; the values of its networks, with gains, are R."""

    learner = "escher"

    @torch.no_grad()
    def shares(self, inputs: torch.Tensor, gains: torch.Tensor, discards: torch.Tensor) -> torch.Tensor:
        """See :meth:`crib_env.agents.networks.policy.PolicyAgent.chances`."""
        regrets = with_gains(self.networks.outputs(inputs, discards), gains)
        positive, highest = regrets.clamp_min(0), regrets.amax(dim=1, keepdim=True)
        shares = torch.where(highest > 0, positive, (regrets == highest).float()).double()
        return shares / shares.sum(dim=1, keepdim=True)


def of_update_player(chain: Any) -> Any:
    """Which decisions (D,) are of player i, (D,) bool; ``chain`` as in :class:`Played`, an array or a tensor."""
    return chain % 2 == chain // 2 % 2


def uniform(gains: np.ndarray) -> np.ndarray:
    """Equal chances of all legal cards, (B, 52); of others ``gains`` are -inf."""
    legal = gains > -np.inf
    return legal / legal.sum(axis=1, keepdims=True)


def sampled(chances: torch.Tensor, asked: Asked) -> torch.Tensor:
    """The chances (B, 52) of the sampling policy: fixed for player i, and π_t for −i."""
    legal = (asked.gains > -torch.inf).double()
    return torch.where(of_update_player(asked.chain)[:, None], legal / legal.sum(dim=1, keepdim=True), chances)


class Fitted(Parts):
    """Networks fitted to the weighted mean of all numbers at each information state: R, ``"regret"``, by their outputs,
    or π̄, ``"policy"``, by the softmax of these; with their reservoirs."""

    def __init__(self, what: str, networks: DDQNAgent, settings: ESCHERSettings) -> None:
        self.what, self.networks, self._settings = what, networks, settings
        self.descents = {name: Descent(net, f"{what} {name!r}") for name, net in networks.networks.items()}
        self.reservoirs = {name: Reservoir(Visits.zeros(settings.memory, N_INPUTS)) for name in networks.networks}
        parts = by_network("reservoir", self.reservoirs) | by_network("adam", self.descents)
        super().__init__(networks=networks, **parts)

    def learn(self, visits: Visits, now: Round) -> dict[str, list[dict[str, float]]]:
        """Adds the visits of an iteration, and makes the gradient steps due for them; their scalars by network."""
        steps = {}
        for name, reservoir in self.reservoirs.items():
            new, size = visits[self.networks.rows_of(name, visits.is_discard)], self._settings.batch_size
            reservoir.add_sample(new, now.rng)
            if len(new):  # pegging has no discards
                due = max(1, round(self._settings.reuse * len(new) / size))
                steps[f"{self.what} {name}"] = [
                    self.fit(name, reservoir.sample(size, now.rng), now.learning_rate) for _ in range(due)
                ]
        return steps

    def fit(self, name: str, batch: Visits, rate: float) -> dict[str, float]:
        """One gradient step of a network; its scalars."""
        with precision(self._settings.precision):
            outputs = self.networks.networks[name](self.networks.inputs_of(name, batch.inputs))
        weights = torch.from_numpy(batch.t / batch.t.max()).square()
        numbers, gains = torch.from_numpy(batch.numbers).repeat(1, N_ACTIONS // N_RANKS), torch.from_numpy(batch.gains)
        outputs, illegal = with_gains(outputs, gains), gains == -torch.inf
        if self.what == "policy":
            losses = -(numbers * outputs.log_softmax(dim=1)).masked_fill(illegal, 0)
        else:
            losses = (outputs - numbers).masked_fill(illegal, 0).square()
        loss = (weights * losses.sum(dim=1)).sum() / weights.sum()
        norm = self.descents[name].step(loss, rate)
        filled = self.reservoirs[name].filled
        return {f"{self.what} loss": loss.item(), "gradient norm": norm, "share of the buffer": filled}


class ESCHER(Parts):
    """q, R with π_t, and π̄ with the agent."""

    Settings = ESCHERSettings

    def __init__(self, settings: ESCHERSettings) -> None:
        self.settings = settings
        self.pi = RegretMatching(settings.new_networks())
        self.agent = ESCHERAgent(settings.new_networks(), seed=settings.seed)
        self.q = Critic(self.pi.networks, settings)
        self.regret = Fitted("regret", self.pi.networks, settings)
        self.average = Fitted("policy", self.agent.networks, settings)
        super().__init__(regret=self.regret, average=self.average, **self.q.parts)
        self.play(Round.first())

    def play(self, now: Round) -> tuple[Played, dict[str, float]]:
        """The games of an iteration; their decisions, and seconds by their tag."""
        games = new_games(now, self.settings.episode, self.settings.cards, skip_forced=True)
        played, simulated = self_play(games, self.pi, now.rng, self.settings.precision, sampled)
        return played.numpy(), simulated

    def play_and_learn(self, now: Round) -> dict[str, float]:
        """An iteration t; scalars for TensorBoard."""
        (played, simulated), t = self.play(now), now.episodes_before + now.episodes
        steps = self.learn_values(played, now)
        i = of_update_player(played.chain)
        steps |= self.regret.learn(Visits.of(played[i], self.regrets(played[i]), t), now)
        steps |= self.average.learn(Visits.of(played[~i], played.chances[~i], t), now)
        entropy = torch.special.entr(torch.from_numpy(played.chances)).sum(dim=1).mean().item()
        return mean_of_steps(steps) | {"entropy": entropy} | simulated

    def learn_values(self, played: Played, now: Round) -> dict[str, list[dict[str, float]]]:
        """The gradient steps of q for the decisions (D) of an iteration; their scalars by network."""
        steps: dict[str, list[dict[str, float]]] = {}
        for _ in range(self.settings.value_passes):
            returns = self.returns(played)
            for name in self.q.networks:
                rows = self.pi.networks.rows_of(name, played.is_discard)
                if name == "discard":  # where the opponent's discards follow π_t
                    rows = rows[of_update_player(played.chain[rows])]
                if len(rows := now.rng.permutation(rows)):  # pegging has no discards
                    batches = batches_of(rows, self.settings.batch_size)
                    steps[f"critic {name}"] = [
                        self.learn_value(name, played[batch], returns[batch], now.learning_rate) for batch in batches
                    ]
        return steps

    def learn_value(self, name: str, batch: Played, returns: np.ndarray, rate: float) -> dict[str, float]:
        """One gradient step of q towards the returns (B,) of the cards played; its scalars."""
        _, errors, loss = self.q.errors(name, batch, returns)
        self.q.descents[name].step(loss, rate)
        return {"critic loss": loss.item(), "mean value": float(returns.mean() - errors.mean())}

    def returns(self, played: Played) -> np.ndarray:
        """What q(h, a) learns of the cards that were played, (D,) float32.

        The points up to the next decision h' of either player, where a' is played, and v(h') + c (return' − q(h', a')),
        for the player of h. A discard of its opponent is no such decision: it counts as it was drawn.
        """
        q, every = self.q.judge_all(played), np.arange(len(played))
        q_a, v = q[every, played.card], (played.chances * q).sum(axis=1)
        drawn = np.where(of_update_player(played.chain)[:, None], uniform(played.gains), played.chances)
        c = np.minimum(1, played.chances[every, played.card] / drawn[every, played.card])
        out = np.empty(len(played), np.float32)
        then = np.empty(played.chain[-1] + 2)  # the final standing expected, of each chain
        then[played.chain] = played.final
        for turn in range(played.turn.max(), -1, -1):
            rows = np.flatnonzero(played.turn == turn)  # at most one decision of each game
            own = played.chain[rows]
            out[rows] = then[own] - played.standing[rows]
            change = v[rows] + c[rows] * (out[rows] - q_a[rows]) - out[rows]
            then[own] += change
            then[own ^ 1] -= np.where(played.is_discard[rows], 0, change)  # the show of one's own cards is not zero-sum
        return out

    def regrets(self, played: Played) -> np.ndarray:
        """r(h, a) of each card, (D, 52) float32; what it says of a card that is not legal means nothing."""
        q = self.q.judge_all(played)
        return q - (played.chances * q).sum(axis=1, keepdims=True)
