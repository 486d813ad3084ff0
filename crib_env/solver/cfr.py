"""Solving the play: counterfactual regret minimisation over its public tree."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crib_env.engine import ROLES
from crib_env.files.checked_file import Column, check_kind, load_arrays, save_arrays
from crib_env.kernels import kernel
from crib_env.solver.play_game import BestResponses, PlayGame
from crib_env.solver.sweeps import UPDATE_REGRETS, Step, Weights

VERSION = 2


class Discounts(NamedTuple):
    """The settings of discounted CFR (Brown and Sandholm 2019, "Solving imperfect-information games via discounted
    regret minimization"); these are the paper's, with a larger γ.

    Before iteration t + 1, regrets above 0 are multiplied by t^α / (t^α + 1) and those below 0 by t^β / (t^β + 1).
    Iteration t counts t^γ times in the average policy, which converges to an equilibrium. With three cards each, 16
    iterations reach a NashConv of 0.0054; CFR+ with linear averaging reaches 0.0178.
    """

    alpha: float = 1.5
    beta: float = 0.0
    gamma: float = 3.0


DISCOUNTS = Discounts()


@kernel
def discounted(iterations, discounts):
    """After so many iterations, the last three fields of :class:`crib_env.solver.sweeps.Step` for the next, float32."""
    past = np.float64(iterations)
    above, below = past**discounts.alpha, past**discounts.beta
    average = np.float32((past + 1) ** discounts.gamma)
    return average, np.float32(above / (above + 1)), np.float32(below / (below + 1))


class Population(NamedTuple):
    """All opponents: a share of them plays a fixed policy, the others play the game that is solved."""

    policy: np.ndarray
    """(S,) float32, the fixed one, as :meth:`crib_env.solver.play_game.PlayGame.expected` takes it."""
    share: float
    """Of those who play it, above 0 and below 1."""


class AlternatingSolver(ABC):
    """Discounted CFR with alternating updates (:class:`Discounts`).

    Attributes:
        iterations: the number of iterations so far.
        seconds: their duration.
    """

    iterations = 0
    seconds = 0.0

    def iterate(self) -> None:
        """One iteration: new regrets of both roles."""
        started = time.perf_counter()
        average, *factors = map(np.float32, discounted(self.iterations, DISCOUNTS))
        for role in range(len(ROLES)):
            self._update(Step(role, UPDATE_REGRETS, average, *factors))
        self.iterations += 1
        self.seconds += time.perf_counter() - started

    @abstractmethod
    def _update(self, step: Step) -> None:
        """New regrets of ``step.role``; the other role's policy is added to the average."""


class PlaySolver(AlternatingSolver):
    """Solves the play.

    With a population the opponent may be one of its other players: with probability ``share`` it plays their fixed
    policy, else it plays the game that is solved. Nobody sees which. The equilibrium wins more from players like these,
    and what a best response gains on it grows with the share (Johanson, Zinkevich and Bowling 2007, "Computing robust
    counter-strategies").

    Attributes:
        game: the game to solve.
        regrets: (S,) float32, one number per slot.
        average: (S,) float32, the weighted sum of all iterations' policies.
    """

    def __init__(self, game: PlayGame, population: Population | None = None) -> None:
        self.game, self.population = game, population
        self.regrets = np.zeros(game.extent.slots, np.float32)
        self.average = np.zeros(game.extent.slots, np.float32)
        self._met = np.zeros(game.extent.slots if population else 0, np.float32)  # a policy of unknown kind

    def _update(self, step: Step) -> None:
        other = self.regrets
        if self.population:  # the others' policy is added to the average here
            (fixed, share), weight = self.population, float(step.average)
            self.game.blend((fixed, other), share, 1 - step.role, self._met, self.average, weight)
            other, step = self._met, step._replace(average=np.float32(0))
        self.game.walk(Weights(self.regrets, other, self.average), step)

    def best_responses(self) -> BestResponses:
        """What exact best responses earn against the average policy."""
        return self.game.best_responses(self.average)

    def save(self, path: str | Path, about: str) -> None:
        """Writes the state of the solver, whole or not at all.

        Args:
            about: which game it is, in words; :meth:`load` refuses a file of another.
        """
        numbers = {"iterations": self.iterations, "seconds": self.seconds}
        arrays: dict[str, ArrayLike] = {**numbers, "regrets": self.regrets, "average": self.average}
        save_arrays(path, f"solution of {about}", VERSION, arrays, compressed=False)

    def load(self, path: str | Path, about: str) -> None:
        """Continues from a saved state.

        Raises:
            ValueError: there is no such file, it is damaged, or holds another game.
        """
        numbers = Column("f", self.regrets.shape)
        columns = {"iterations": Column("i"), "seconds": Column("f"), "regrets": numbers, "average": numbers}
        found = load_arrays(path, f"solution of {about}", VERSION, columns)
        self.regrets, self.average = found["regrets"], found["average"]
        self.iterations, self.seconds = int(found["iterations"]), float(found["seconds"])


def check_solution(path: str | Path, about: str) -> None:
    """Checks in no time which game a file of :meth:`PlaySolver.save` is of, before its tree is built.

    Raises:
        ValueError: there is no such file, or it is of another game.
    """
    check_kind(path, f"solution of {about}", VERSION)
