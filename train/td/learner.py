"""TD learning of state values by self-play, after O'Connor (2000).

A network values after-states, the 209 bits as the player sees them right after a move
(:mod:`crib_env.agents.features.after_states`): the points made from that move on, minus the opponent's. Players choose
the move with the most valuable after-state, both seats share the weights, and episodes are single deals, because his
aim is the score of each hand.

``--preset paper`` is O'Connor's: one hidden layer of sigmoids and a linear output on the bare bits, weights from a
Gaussian of standard deviation 1, points as they are scored, an update after every move by the difference to the next
value (TD(0)), no discount and no exploration (:mod:`crib_env.train.td.traces`). ``--td-lambda 0.7`` makes it the TD(λ)
that he names as further work. Where the paper is silent, or this differs:

* It gives no size, learning rate or number of hands for the full game; here 40 nodes and 0.01, the larger network and
  the rate of his discard game, and 1,000,000 deals.
* Two discards are one move; the paper does not say whether his were. Of legal cards of one rank, the first stands
  for all.
* A value includes the points of the move that led to its state, as his does. His text and his formula count the points
  of the opponent's answer in different places; here a reward is the change of the lead from one own move to the next.

The default learns from returns of many deals at once (:mod:`crib_env.train.td.returns`), with Adam, one network of
ReLUs for discards and one for the play, inputs by rank that follow from the bits
(:func:`crib_env.agents.features.after_states.play_inputs`), and rewards without the luck that no move controls. What a
move is known to earn, the exact value of a discard in the show or the points of a card, is added to the network's
output and need not be learned. The player that is measured has the average of the weights. A quarter of all cards are
random until the end: a player that meets only its own best moves reads too much from an opponent's cards, and becomes
weaker against others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from crib_env.agents.networks.td import TDAgent
from crib_env.evaluate.runs.format import UPDATES
from crib_env.train.experience import Episodes, play_episodes
from crib_env.train.loop.learning import Count, ExploringSettings, NotNegative, PeggingCards, Widths, one_width
from crib_env.train.loop.number_format import Precision
from crib_env.train.loop.rounds import Round
from crib_env.train.td.returns import Explorer, Returns, lambda_returns, moves_of, rewards_of_moves, the_bits
from crib_env.train.td.traces import MOVES, Traces
from crib_env.values import Share


@dataclass(frozen=True)
class TDSettings(ExploringSettings):
    """Settings of TD learning."""

    preset: Literal["default", "paper"] = "default"
    """Defaults of the other settings: the best found, or O'Connor's."""
    episode: Literal["deal", "pegging"] = "deal"
    """What an episode is: a deal, or the play of eight cards and nothing else."""
    cards: PeggingCards = 4
    """Cards of each player in pegging; for returns."""
    updates: Literal["returns", "traces"] = "returns"
    """λ-returns after many deals, or O'Connor's network with eligibility traces after every move."""
    hidden: Widths = (256, 256)
    """Widths of the hidden layers; traces need exactly one."""
    hidden_discard: Widths = (64, 64)
    """Widths of the hidden layers of the network of discards; for returns."""
    td_lambda: Share = 0.0
    """λ of TD(λ): 0 bootstraps after one step, 1 is the Monte Carlo return."""
    episodes: Count = 819_200
    """Episodes to play."""
    episodes_at_once: Count = 2_048
    """Episodes in a round; with returns they are played side by side and then learned from."""
    batch_size: Count = 512
    """Moves in a gradient step; for returns."""
    learning_rate: NotNegative = 2e-3
    """Initial learning rate, of Adam (returns) or of the traces."""
    average_rate: Share = 0.003
    """Share of the way to the new weights that the player measured goes after each step: it has their average. For
    returns."""
    epsilon: Share = 0.25
    """Initial probability of a random card; for returns."""
    final_epsilon: Share = 0.25
    """Probability of a random card at the end; it changes linearly in between. For returns."""
    precision: Precision = "auto"
    """Number format in training by returns; "auto" is bfloat16 if the processor has instructions for it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.updates == "traces":
            one_width(self.hidden, "updates='traces'")
            if self.cards != 4:
                raise ValueError(f"cards={self.cards} is not allowed with updates='traces': give 4")
            for name in ("epsilon", "final_epsilon"):
                if getattr(self, name):
                    raise ValueError(f"{name}={getattr(self, name)} is not allowed with updates='traces': give 0")


PRESETS = {
    "default": TDSettings(),
    "paper": TDSettings(
        preset="paper",
        precision="float32",  # that of the traces
        updates="traces",
        hidden=(40,),
        episodes=1_000_000,
        episodes_at_once=1_024,
        td_lambda=0.0,
        learning_rate=0.01,
        final_learning_rate=0.01,
        epsilon=0.0,
        final_epsilon=0.0,
    ),
}


class TD:
    """Either way to learn: :class:`Traces` or :class:`Returns`.

    Attributes:
        agent: whose strength is measured.
    """

    Settings, PRESETS = TDSettings, PRESETS

    def __init__(self, settings: TDSettings) -> None:
        self._settings = settings
        self._way: Traces | Returns
        if settings.updates == "traces":
            self._way = Traces(TDAgent.new("bits", settings.hidden), settings.td_lambda, settings.episode)
            self._way.play_and_learn(np.random.default_rng(0), 0, 0.0)  # compiles the kernels before the clocks start
        else:
            online = TDAgent.new("features", settings.hidden, settings.hidden_discard)
            self._way = Returns(online, settings.precision, settings.average_rate)
            self._play(self._way, Round.first())  # as above
        self.agent = self._way.agent
        self.state_dict, self.load_state_dict = self._way.state_dict, self._way.load_state_dict

    def play_and_learn(self, now: Round) -> dict[str, float]:
        """A round; scalars for TensorBoard."""
        if isinstance(self._way, Traces):
            values = self._way.play_and_learn(now.rng, now.episodes, now.learning_rate)
            return values | {UPDATES: MOVES[self._settings.episode] * now.episodes}
        settings, (played, explorer) = self._settings, self._play(self._way, now)
        moves = moves_of(played.decisions)
        rewards, ends = rewards_of_moves(played.decisions, moves)
        ahead, explored = (thought[moves] for thought in explorer.thoughts())
        targets = lambda_returns(rewards, ends, ahead, explored, settings.td_lambda)
        values = self._way.learn(played.decisions, moves, targets, settings.batch_size, now.learning_rate, now.rng)
        return played.values(rewards, ends) | values

    def _play(self, way: Returns, now: Round) -> tuple[Episodes, Explorer]:
        games = now.deal(self._settings.episode, skip_forced=True, cards=self._settings.cards)
        explorer = Explorer(way.online, now.epsilon, now.rng)
        return play_episodes(games, explorer, None, the_bits, self._settings.precision), explorer
