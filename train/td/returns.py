"""TD(λ) in batches: whole deals, and then gradient steps towards the λ-return of every after-state.

The λ-return G of after-state i equals the update by the traces of :mod:`crib_env.train.td.traces` if weights stay fixed
during a deal (the forward view, Sutton and Barto 2018, section 12.1). Let r be the reward until the player's next
move, which leads to j. Then::

    G(i) = r + (1 - λ) U(j) + λ G(j)        and r if there is no next move

U(j) is the value of the best move. If the player explored instead, λ counts as 0 (Watkins 1989): the result of
a random move is not credited to the move before it.

Rewards leave out the luck that no move controls: a discard earns the exact value of hand and crib in the show,
the play earns pegging only, since nothing else can change any more.
"""

from __future__ import annotations

import copy

import numpy as np
import torch

from crib_env.agents.features.after_states import moved
from crib_env.agents.features.seen import Seen
from crib_env.agents.networks.td import TDAgent
from crib_env.batch import GameBatch
from crib_env.kernels import kernel
from crib_env.train.experience import Decisions, epsilon_greedy
from crib_env.train.loop.contracts import Parts, by_network
from crib_env.train.loop.learning import Descent, follow, mean_of_steps, split_into_batches
from crib_env.train.loop.number_format import Precision, precision


@kernel
def _lambda_returns(rewards, ends, ahead, explored, td_lambda, out):
    for i in range(len(rewards) - 1, -1, -1):
        out[i] = rewards[i]
        if not ends[i]:
            fade = 0.0 if explored[i + 1] else td_lambda
            out[i] += (1 - fade) * ahead[i + 1] + fade * out[i + 1]


def lambda_returns(
    rewards: np.ndarray, ends: np.ndarray, ahead: np.ndarray, explored: np.ndarray, td_lambda: float
) -> np.ndarray:
    """λ-returns (M,) float32 of M moves; those of one player are consecutive, first to last.

    Args:
        rewards: (M,) up to the same player's next move.
        ends: (M,) bool, whether there is no next move.
        ahead: (M,) value of the best move at the same decision.
        explored: (M,) bool, whether a random move was made instead.
    """
    out = np.empty(len(rewards), np.float32)
    _lambda_returns(rewards, ends, ahead, explored, td_lambda, out)
    return out


def moves_of(decisions: Decisions) -> np.ndarray:
    """The decisions that complete a move, (M,) indices: two discards are one."""
    is_second = np.append(False, decisions.chain[1:] == decisions.chain[:-1]) & decisions.is_discard
    return np.flatnonzero(is_second | ~decisions.is_discard)


def rewards_of_moves(decisions: Decisions, moves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The reward of each move up to the same player's next, (M,), and whether there is no next one, (M,) bool."""
    # Nothing is pegged before a discard. So the settled standing is the show alone, and the discard earns it.
    now = np.where(decisions.is_discard, 0.0, decisions.settled)[moves]
    chain = decisions.chain[moves]
    ends = np.append(chain[1:] != chain[:-1], True)
    return np.where(ends, decisions.final_settled[moves], np.roll(now, -1)) - now, ends


def the_bits(games: GameBatch, rows: np.ndarray) -> Seen:
    """What the players to act see: the 209 bits."""
    return Seen.as_it_is(*games.observe(rows))


class Explorer:
    """The choices of an agent, some of them random, and its values for them; a
    :data:`crib_env.train.experience.Policy`.
    """

    def __init__(self, agent: TDAgent, epsilon: float, rng: np.random.Generator) -> None:
        self._agent, self._epsilon, self._rng = agent, epsilon, rng
        self._asked: list[tuple[np.ndarray, ...]] = []

    def __call__(self, seen: Seen, is_discard: np.ndarray, chain: np.ndarray) -> np.ndarray:
        """The cards (B,)."""
        best, values = self._agent.look_ahead(seen.inputs, seen.legal, is_discard)
        cards = epsilon_greedy(best, seen.legal, self._epsilon, self._rng)
        self._asked.append((chain, values, cards != best))
        return cards

    def thoughts(self) -> tuple[np.ndarray, np.ndarray]:
        """Values of the best moves, (D,), and whether another was made, (D,) bool, in the order of ``Decisions``."""
        chain, values, explored = (np.concatenate(column) for column in zip(*self._asked))
        order = np.argsort(chain, kind="stable")
        return values[order], explored[order]


class Returns(Parts):
    """An agent in training, with its optimizers.

    Args:
        online: with inputs ``"features"``; trained in place.
        average_rate: share of the way to the new weights that those of ``agent`` go after each step.

    Attributes:
        agent: has the average of the weights, and is measured.
    """

    def __init__(self, online: TDAgent, compute: Precision, average_rate: float) -> None:
        self.online, self.agent = online, copy.deepcopy(online)
        self._compute, self._average_rate = compute, average_rate
        self._descents = {name: Descent(net, f"network {name!r}") for name, net in online.networks.items()}
        super().__init__(online=online, average=self.agent, **by_network("adam", self._descents))

    def update(self, states: np.ndarray, targets: np.ndarray, is_discard: bool, rate: float) -> dict[str, float]:
        """One gradient step of a phase's network towards ``targets`` (B,) for after-states (B, 209); its scalars.

        Raises:
            FloatingPointError: the loss is no longer finite.
        """
        name = self.online.network_of(is_discard)
        network, average = self.online.networks[name], self.agent.networks[name]
        with precision(self._compute):
            values = self.online.values(states, is_discard)
            errors = torch.from_numpy(targets) - values
            loss = errors.square().mean()
        norm = self._descents[name].step(loss, rate)
        follow(average, network, self._average_rate)
        return {
            "loss": loss.item(),
            "TD error": errors.abs().mean().item(),
            "mean value": values.mean().item(),
            "gradient norm": norm,
        }

    def learn(
        self,
        decisions: Decisions,
        moves: np.ndarray,
        targets: np.ndarray,
        batch_size: int,
        rate: float,
        rng: np.random.Generator,
    ) -> dict[str, float]:
        """Trains on every move (M,) of ``decisions`` once, in batches, towards its target (M,); returns scalars for
        TensorBoard."""
        states = moved(decisions.inputs[moves], decisions.card[moves], decisions.is_discard[moves])
        steps = {}
        for is_discard in (True, False):
            rows = rng.permutation(np.flatnonzero(decisions.is_discard[moves] == is_discard))
            if not len(rows):  # pegging has no discards
                continue
            batches = split_into_batches(rows, batch_size)
            measured = [self.update(states[batch], targets[batch], is_discard, rate) for batch in batches]
            steps[self.agent.network_of(is_discard)] = measured
        return mean_of_steps(steps)
