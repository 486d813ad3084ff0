"""Lang's learner: weights for eight discard strategies at each pair of scores (Lang 2018, sections 3 and 4).

After a game the *advocates* of each discard, the strategies that most wanted it, get credit for it. Their weights
at the place where it was made (own score, opponent's score, pone or dealer) are multiplied by a factor that grows
with the margin of the game and decays with every deal before the last. The eight weights are then normalised to a
sum of 1::

    c_j = C (1 - d) ** (T - j),    C = s (own score - opponent's score),    w_i <- w_i exp(c_j / 100)

Where the thesis leaves a choice, or its rule cannot be followed to the letter:

* It multiplies by c_j itself. A lost game would then make weights negative, and a narrow win would shrink the weights
  of its early deals, which it means to reward. Here c_j is a percentage: the factor is exp(c_j / 100), which is
  about 1 + c_j / 100 for small c_j, always above 0, and such that a loss undoes a win.
* No weight sinks below 0.000001 before normalising: from 0 none could recover.
* It does not fix the number of advocates: here three, and all that want the discard as much as the third does.
  Ties are common, as several strategies often want the same discard most; any order among them would favour one.
* Its cap reads max{K, c w}, which would be a floor. Here it is the minimum, as its text describes.
* Losers start over: an agent that loses a match of the winners' bracket gets new initial weights, and continues
  learning among the losers, without further matches.
* The margin of a game is mostly luck, and where a player leads it is nearly always positive, so every discard
  made there is rewarded: Lang's agents ended level with random weights, and so does the preset ``paper``. The default
  also learns the expected margin at each place (``baseline``), and credits a deal with its change of this margin
  (``crib_env.train.strategy_weights.games.credits``); without ``baseline`` that is exactly c_j as above.
* The pegging records are this library's (``standard_pegging``), exact enough that no class lacks data, and stay fixed.

A kernel plays and learns at once (:mod:`crib_env.train.strategy_weights.games`), so all of the time counts as
simulation. With ``opponent="other"`` there are ``2 ** rounds`` agents with separate weights; neighbours of a bracket
play ``episodes`` games, then matches of ``match_games`` halve the winners' bracket. The episodes of a run are those
of all its pairs. ``snapshots/`` keeps the winner's weights during training; ``strategies.png`` and ``history.png``
draw them.

``--preset paper`` has the parameters from which section 4.2 starts all its experiments, on its pairs of agents. Those
experiments are settings: ``--forgiveness 0.25``, ``--scaling 0.4``, ``--credit-decay 0.5``, ``--neighbours 0.5``,
``--cap 0.8``, ``--start hand_max_avg``; rounds 1 and 2 of section 4.1 are ``--exploration-rate variance --explore-by
values --scaling 10`` and ``--opponent static``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crib_env.agents.strategy_weights import StrategyWeightsAgent
from crib_env.engine import DEALER, PONE, ROLES
from crib_env.evaluate.runs.format import UPDATES, snapshots_of
from crib_env.tables.lang_strategies import STRATEGIES
from crib_env.train.loop.rounds import Round, Rounds
from crib_env.train.strategy_weights.tournament import StrategyWeightsSettings, Tournament

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PRESETS = {
    "default": StrategyWeightsSettings(baseline=0.02, credit_decay=0.9, neighbours=1.0),
    "paper": StrategyWeightsSettings(preset="paper", opponent="other"),
}


class StrategyWeights(Tournament):
    """The agents of a run, which play and learn in pairs. The winner is the agent."""

    Settings, PRESETS = StrategyWeightsSettings, PRESETS

    def __init__(self, settings: StrategyWeightsSettings) -> None:
        super().__init__(settings)
        Tournament(replace(settings, opponent="self", rounds=1)).play(0, 0, 1)  # compiles before the clocks start

    def play_and_learn(self, now: Round) -> dict[str, float]:
        """Games of the pair whose turn it is; scalars for TensorBoard."""
        values = self.play(self.turn(now.episodes_before)[1], now.episodes_before, now.episodes)
        return values | {UPDATES: now.episodes}  # each changes the weights of one place for each of its deals

    def own_loop(self, rounds: Rounds) -> dict[str, Any]:
        """All rounds of the tournament, and pictures of its winner; what the summary says of it."""
        self.folder, before = rounds.folder.path, rounds.position.episodes
        self.keep_and_pair_off(before, before)
        rounds.run(self.keep_and_pair_off)
        self.learner = int(self.order[0])
        from crib_env.evaluate.figures import save_figure  # matplotlib takes half a second

        pictures = {
            "strategies": draw_strategies(self.agent.weights),
            "history": draw_history(snapshots_of(self.folder, self.learner)),
        }
        for name, picture in pictures.items():
            save_figure(picture, self.folder / name)
            rounds.folder.log_picture(f"strategies/{name}", picture, rounds.position.episodes)
        return {"agent": self.learner}


def _draw_weights(axes: Axes, square: np.ndarray) -> None:
    """One strategy's weights (121, 121): own score down, opponent's across, 0–0 at the top left."""
    from crib_env.evaluate.figures import AMOUNT

    axes.imshow(square, cmap=AMOUNT, vmin=0, vmax=1, interpolation="nearest")
    axes.set(xticks=[], yticks=[])


def draw_strategies(weights: np.ndarray) -> Figure:
    """A square for each strategy as dealer and as pone, of weights (121, 121, 2, 8)."""
    from crib_env.evaluate.figures import new_figure

    figure = new_figure(16, 4.8)
    rows = figure.subplots(2, len(STRATEGIES))
    for role, row in zip((DEALER, PONE), rows):
        for k, axes in enumerate(row):
            _draw_weights(axes, weights[:, :, role, k])
        row[0].set_ylabel(f"{ROLES[role]}: own score ↓")
    for axes, name in zip(rows[0], STRATEGIES):
        axes.set_title(name, fontsize=9)
    for axes in rows[1]:
        axes.set_xlabel("opponent's score →", fontsize=8)
    return figure


def draw_history(snapshots: list[Path]) -> Figure:
    """The dealer's squares over training: a row for each strategy, a column for each snapshot, oldest first."""
    from crib_env.evaluate.figures import new_figure

    figure = new_figure(1.3 * len(snapshots) + 2.5, 11)
    columns = figure.subplots(len(STRATEGIES), len(snapshots), squeeze=False).T
    for path, column in zip(snapshots, columns):
        weights = StrategyWeightsAgent.load(path).weights
        for k, axes in enumerate(column):
            _draw_weights(axes, weights[:, :, DEALER, k])
        column[0].set_title(f"{int(path.stem.rpartition('-')[2]):,}", fontsize=8)
    for axes, name in zip(columns[0], STRATEGIES):
        axes.set_ylabel(name, fontsize=7, rotation=0, ha="right", va="center")
    return figure
