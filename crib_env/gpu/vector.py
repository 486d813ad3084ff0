"""# Environments whose arrays are torch tensors

```python
import crib_env
import gymnasium

envs = gymnasium.make_vec(
    "crib_env/Cribbage-v0", num_envs=131_072, vectorization_mode="vector_entry_point", device="cuda", opponent="greedy"
)
observations, infos = envs.reset(seed=0)
observations, rewards, terminations, truncations, infos = envs.step(cards)
```

``device="cuda"`` keeps the games on the current GPU, and the same kernels play them there (extra ``gpu``).
``device="cpu"`` gives tensors over arrays of a processor, so that a training loop is written once. Games, observations,
masks, rewards and ends equal those of :mod:`crib_env.vector.environments` with the same seed, bit for bit.

What differs from there:

* ``reset`` and ``step`` return the environment's own tensors on the device: the next call overwrites them.
* Actions are a tensor (N,) of integers on the device. Nothing waits for the GPU, except ``illegal="raise"``.
* Rewards are float32. Observations and masks are int8: convert them with ``.float()`` or ``.bool()``.
* The infos are ``action_mask``, ``scores``, ``dealer``, ``seat`` and ``illegal_action``, without the ``_key`` arrays.
* The auto-reset mode is ``NEXT_STEP``, and opponents are native: ``random``, ``greedy``, ``careful``.
* The options are those of the single environment without ``dtype``, ``events`` and ``render_mode``.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from crib_env.engine import GAME
from crib_env.gpu.device import Device, refuse_illegal
from crib_env.kernels import kernel, variant
from crib_env.observation import N_ACTIONS, OBSERVATIONS, write_bits, write_observation, writing
from crib_env.options import OptionError, Start
from crib_env.vector.environments import RESET_OPTIONS, VectorGames, by_one_thread, read_seeds
from crib_env.vector.kernels import Shown, Table, against, learners_mask, show_all, step_all

_FIXED = {"dtype": "int8", "events": False, "render_mode": None}


@kernel
def seed_all(table, rows, states, is_seeded, alternates):
    """Sets the streams of the games with a flag in ``is_seeded`` (N,), and the seats of the next episode."""
    for i in rows:
        if is_seeded[i]:
            table.games[i]["episode_stream"] = states[i]
        if alternates:
            table.seats[i] = 0 if is_seeded[i] else 1 - table.seats[i]


@kernel
def step_rows(table, rows, cards, to_begin, rules, out):
    """A step of all games on a processor; games that end begin anew at the next one."""
    step_all(table, rows, cards, to_begin, rules, out.rewards, out.over, out.illegal)
    show_all(table, rows, out)
    for i in rows:
        to_begin[i] = out.over[i]


@kernel
def step_one(table, i, cards, to_begin, rules, out):
    """The same of game i, for a thread of a GPU, without observation and mask."""
    step_all(table, (i,), cards, to_begin, rules, out.rewards, out.over, out.illegal)
    g = table.games[i]
    out.scores[i, 0], out.scores[i, 1] = g["scores"][0], g["scores"][1]
    out.dealers[i] = g["dealer"]
    to_begin[i] = out.over[i]


@kernel
def show_one(table, i, observation, mask, row):
    """Writes observation and mask of game i to a row of other arrays."""
    g, seat = table.games[i], np.int64(table.seats[i])
    write_observation(g, seat, observation, row)
    write_bits(learners_mask(g, seat), mask, row, np.int64(0))


class TensorVectorEnv(VectorGames):
    """N games of cribbage on a device; see the module's docstring.

    Attributes:
        on: the device.
        shown: the tensors that the last ``reset`` or ``step`` wrote.
        table, out: the games and ``shown`` as kernels take them.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        num_envs: int = 1,
        device: Any = "cuda",
        *,
        opponent: str = "random",
        seat: Literal[0, 1, "alternate"] = "alternate",
        **options: Any,
    ) -> None:
        super().__init__(num_envs, (), _FIXED, opponent, seat, options)
        if not isinstance(self._opponent, str):
            raise OptionError(f"opponent={opponent!r} is not allowed with a device: give a native one")
        n, self.on = self.num_envs, Device(device)
        self.device, zeros, seen = self.on.torch_device, self.on.zeros, self.on.seen
        written = OBSERVATIONS[self._game.observation]
        self._begin, step = against(self._rules.policy)
        self._show = writing(show_all, written.write)
        words: tuple[torch.Tensor, ...] = ()
        if self.on.threads:  # it writes rows of whole words
            kernels = variant(step_one, "step_all", step), writing(show_one, written.write)
            self._step, self._block = self.on.threads.stepping(*kernels, written.size)
            words = zeros((n, -(-written.size // 4)), np.int32), zeros((n, N_ACTIONS // 4), np.int32)
            observation, mask = (one.view(torch.int8) for one in words)
        else:
            self._step = variant(variant(step_rows, "step_all", step), "show_all", self._show)
            observation, mask = zeros((n, written.size), np.int8), zeros((n, N_ACTIONS), np.int8)
        outcome = zeros((n,), np.float32), zeros((n,), np.bool_), zeros((n,), np.bool_)
        tensors = observation[:, : written.size], mask, zeros((n, 2), np.int16), zeros((n,), np.int8), *outcome
        self.shown = self._out = Shown(*tensors)
        self._cards, self._to_begin, self._truncations = (zeros((n,), kind) for kind in (np.int64, np.bool_, np.bool_))
        # Of the table below, which has their memory but does not keep it.
        self._tensors: tuple[torch.Tensor, ...] = (
            self.on.put(self._new_games().view(np.uint8)),
            self.on.put(np.full(n, 1 if seat == "alternate" else seat, np.int8)),
            zeros((n,), np.int64),
            zeros((n,), np.int64),
        )
        records, *others = map(seen, self._tensors)
        self.table, self.out = Table(records.view(GAME), *others), Shown(*map(seen, tensors))
        # What a step takes beside the table.
        self._given = seen(self._cards), seen(self._to_begin), self._rules, self.out, *map(seen, words)

    @property
    def observation_space(self) -> spaces.Space[Any]:  # type: ignore[override]
        """Gymnasium's space of N observations, whose bounds take 1 KB a game: made when it is asked for."""
        return batch_space(self.single_observation_space, self.num_envs)

    @property
    def action_space(self) -> spaces.Space[Any]:  # type: ignore[override]
        """Gymnasium's space of N actions."""
        return batch_space(self.single_action_space, self.num_envs)

    def games(self) -> np.ndarray:
        """A copy of the games' records (N,) (:data:`crib_env.engine.GAME`), hidden cards included."""
        return self._tensors[0].cpu().numpy().view(GAME).copy()

    @by_one_thread
    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, torch.Tensor]]:
        """Starts the next episode of every game; ``seed`` and ``options`` as in the vector environments."""
        start = Start.read(options, allowed=RESET_OPTIONS)
        is_seeded, states = read_seeds(seed, self.num_envs)
        n, on, rules = self.num_envs, self.on, self._rules
        new = on.put(states.view(np.int64)), on.put(is_seeded)
        on.run(seed_all, n, self.table, on.seen(new[0]).view(np.uint64), on.seen(new[1]), rules.alternates)
        on.run(self._begin, n, self.table, rules, start.first_dealer, *start.scores)
        on.run(self._show, n, self.table, self.out)
        for tensor in (self._to_begin, self.shown.illegal, self.shown.over, self.shown.rewards):
            tensor.zero_()
        self._has_begun = True
        return self._observation(), self._infos_of(self._tensors[1])

    @by_one_thread
    def step(
        self, actions: torch.Tensor
    ) -> tuple[Any, torch.Tensor, torch.Tensor, torch.Tensor, dict[str, torch.Tensor]]:
        """Discards or lays a card in every game; games that ended at the step before begin anew instead.

        Args:
            actions: (N,) card ids, a tensor of integers on the device.

        Returns:
            Observations, rewards (N,) float32, terminations and truncations (N,) bool, infos.

        Raises:
            TypeError, ValueError: the actions are not such a tensor, or, with ``illegal="raise"``, one is not legal.
        """
        self._check_begun()
        n, out = self.num_envs, self.shown
        is_tensor = isinstance(actions, torch.Tensor) and actions.device.type == self.device.type
        if not is_tensor or actions.is_floating_point() or actions.is_complex() or actions.dtype == torch.bool:
            kind = f"{actions.dtype} on {actions.device}" if isinstance(actions, torch.Tensor) else type(actions)
            raise TypeError(f"actions must be a tensor of integers on {self.device}, not {kind}")
        if actions.shape != (n,):
            raise ValueError(f"actions must have shape ({n},), not {tuple(actions.shape)}")
        self._cards.copy_(actions)
        if self._game.illegal == "raise":
            rows = (~self._to_begin).nonzero()[:, 0]
            refuse_illegal(rows, self._cards[rows], out.action_mask, 0)
        if self.on.threads:
            self.on.threads.launch(self._step, n, self._block, self.table, *self._given)
        else:
            self.on.run(self._step, n, self.table, *self._given)
        return self._observation(), out.rewards, out.over, self._truncations, self._infos_of(self._tensors[1])
