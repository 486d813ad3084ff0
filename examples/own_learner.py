"""A learner of your own: `crib-env train own_learner:MonteCarlo --folder mine` in this folder takes half a minute."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from torch import from_numpy, nn, no_grad

from crib_env import Powers
from crib_env.batch import standings
from crib_env.train import Descent, ExploringSettings, Parts


@dataclass(frozen=True)
class Settings(ExploringSettings):
    """Settings of Monte Carlo learning."""

    episode: Literal["deal", "pegging"] = "deal"
    """What an episode is: a deal, or the play alone."""
    cards: Literal[2, 3, 4] = 4
    """Cards of each player in pegging."""
    episodes: int = 100_000
    """Episodes to play."""


class MonteCarlo(Parts):
    """Monte Carlo learning: a card is worth what its player gains on the other in the rest of the deal."""

    Settings, name = Settings, "monte-carlo"
    powers = Powers(suits="ties")  # it lays by ranks, and the first card of several alike

    def __init__(self, settings):
        self.settings, self.agent = settings, self
        self.network = nn.Sequential(nn.Linear(479, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 52))
        self.descent = Descent(self.network, "the network")
        super().__init__(network=self.network, adam=self.descent)  # makes state_dict and load_state_dict of both

    @no_grad()
    def act(self, views):
        """Plays the cards of the highest value, as any agent is asked to."""
        values = self.network(from_numpy(views.ranks).float()).numpy()
        return np.where(views.action_mask, values, -np.inf).argmax(axis=1)

    def play_and_learn(self, now):
        """Plays a round against itself, and learns from it."""
        batch, decisions = now.deal(self.settings.episode, cards=self.settings.cards), []
        while len(rows := batch.acting()):
            views, seats = batch.views(rows), batch.games["turn"][rows]
            random = (views.action_mask * now.rng.random((len(rows), 52))).argmax(axis=1)
            cards = np.where(now.rng.random(len(rows)) < now.epsilon, random, self.act(views))
            decisions.append((rows, seats, views.ranks, cards, standings(batch, rows, seats)[1]))
            batch.step(rows, cards)
        rows, seats, ranks, cards, before = (np.concatenate(column) for column in zip(*decisions))
        gained = (standings(batch, rows, seats)[1] - before).astype(np.float32)
        for some in np.array_split(now.rng.permutation(len(rows)), len(rows) // self.settings.batch_size + 1):
            inputs, card, goal = (from_numpy(column[some]) for column in (ranks, cards[:, None], gained[:, None]))
            loss = (self.network(inputs.float()).gather(1, card) - goal).square().mean()
            norm = self.descent.step(loss, now.learning_rate)
        return {"loss": loss.item(), "gradient norm": norm}
