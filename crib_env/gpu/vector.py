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

import threading
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from crib_env.cards import name_card
from crib_env.engine import GAME, OVER
from crib_env.gpu.device import Device
from crib_env.kernels import kernel, streams, variant
from crib_env.observation import N_ACTIONS, OBSERVATIONS, write_bits, write_observation, writing
from crib_env.options import OptionError, Start, check_options
from crib_env.single_agent import SingleAgentCribbage
from crib_env.vector.calls import by_one_thread, read_seeds, rules_of
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


class Kernels(NamedTuple):
    """The kernels of an environment against a native opponent."""

    begin_all: Any
    show_all: Any
    step_rows: Any
    step_one: Any
    show_one: Any


def kernels_of(policy: np.int64, write: Any) -> Kernels:
    """The kernels for a native opponent and an observation.

    Args:
        policy: of the opponent; see :class:`crib_env.vector.kernels.Rules`.
        write: the kernel that writes observations.
    """
    begin, step = against(policy)
    show = writing(show_all, write)
    rows = variant(variant(step_rows, "step_all", step), "show_all", show)
    return Kernels(begin, show, rows, variant(step_one, "step_all", step), writing(show_one, write))


class TensorVectorEnv(VectorEnv[Any, Any, torch.Tensor]):
    """N games of cribbage against a native opponent on a device; see the module's docstring.

    Attributes:
        on: the device.
        shown: the tensors that the last ``reset`` or ``step`` wrote.
        table, out: the games and ``shown`` as kernels take them.

    Raises:
        OptionError: an option does not exist or has a value that is not allowed, or there is no such device.
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
        check_options({"num_envs": num_envs})
        single = SingleAgentCribbage(opponent=opponent, seat=seat, **options)
        game = single.options
        if not isinstance(single.opponent, str):
            raise OptionError(f"opponent={opponent!r} is not allowed with a device: give a native one")
        for name, value in _FIXED.items():
            if getattr(game, name) != value:
                raise OptionError(f"{name}={getattr(game, name)!r} is not allowed with a device: give {value!r}")
        self.num_envs = n = int(num_envs)
        self.single_observation_space, self.single_action_space = single.observation_space, single.action_space
        self.on = Device(device)
        self.device = self.on.torch_device
        self._episode, self._cards_each = game.episode, game.cards
        self._raises, self._mask_in_info = game.illegal == "raise", game.mask == "info"
        self._rules = rules_of(single)
        self._lock = threading.Lock()
        self._has_begun = False

        written, zeros, seen = OBSERVATIONS[game.observation], self.on.zeros, self.on.seen
        self._size = written.size
        self._kernels = kernels_of(self._rules.policy, written.write)
        if self.on.on_gpu:  # it writes rows of whole words
            words = zeros((n, -(-written.size // 4)), np.int32)
            observation = words.view(torch.int8)[:, : written.size]
            self._words: tuple[Any, ...] = (words, zeros((n, N_ACTIONS // 4), np.int32))
            mask = self._words[1].view(torch.int8)
        else:
            observation, mask = zeros((n, written.size), np.int8), zeros((n, N_ACTIONS), np.int8)
            self._words = ()
        outcome = zeros((n,), np.float32), zeros((n,), np.bool_), zeros((n,), np.bool_)
        tensors: tuple[Any, ...] = observation, mask, zeros((n, 2), np.int16), zeros((n,), np.int8), *outcome
        self.shown: Any = Shown(*tensors)
        self._cards, self._to_begin = zeros((n,), np.int64), zeros((n,), np.bool_)
        self._truncations = zeros((n,), np.bool_)
        games = np.zeros(n, GAME)
        games["episode_stream"], games["phase"], games["fewer"] = streams(None, n), OVER, 4 - game.cards
        self._tensors: tuple[torch.Tensor, ...] = (  # of the table below, which has their memory but does not keep it
            self.on.put(games.view(np.uint8)),
            self.on.put(np.full(n, 1 if seat == "alternate" else seat, np.int8)),
            zeros((n, 1, 13), np.int8),
            *(zeros((n,), np.int64) for _ in range(3)),
        )
        records, *others = map(seen, self._tensors)
        self.table = Table(records.view(GAME), *others)
        self.out = Shown(*map(seen, tensors))
        # What a step takes beside the table.
        self._given = seen(self._cards), seen(self._to_begin), self._rules, self.out, *map(seen, self._words)

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
        """Starts the next episode of every game; ``seed`` and ``options`` as in the vector environments.

        Raises:
            ValueError: an option does not exist, or it or the seed has a value that is not allowed.
        """
        start = Start.read(options, self._episode, self._cards_each)
        is_seeded, states = read_seeds(seed, self.num_envs)
        n, device, rules = self.num_envs, self.on, self._rules
        deals = np.tile(np.array(start.deals or ((-1,) * 13,), np.int8), (n, 1, 1))
        new = device.put(deals), device.put(states.view(np.int64)), device.put(is_seeded)
        self._tensors = *self._tensors[:2], new[0], *self._tensors[3:]
        self._tensors[3].fill_(len(start.deals))
        self.table = self.table._replace(given=device.seen(new[0]))
        seeds = device.seen(new[1]).view(np.uint64), device.seen(new[2])
        device.run(seed_all, n, self.table, *seeds, rules.alternates)
        device.run(self._kernels.begin_all, n, self.table, rules, start.first_dealer, *start.scores)
        device.run(self._kernels.show_all, n, self.table, self.out)
        for tensor in (self._to_begin, self.shown.illegal, self.shown.over, self.shown.rewards):
            tensor.zero_()
        self._has_begun = True
        return self._observation(), self._infos()

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
            TypeError: the actions are not such a tensor; no game has changed.
            ValueError: there is not one action for each game, or, with ``illegal="raise"``, one is not a legal card.
            RuntimeError: before the first ``reset``.
        """
        if not self._has_begun:
            raise RuntimeError("there are no games before reset(): call it first")
        n = self.num_envs
        is_tensor = isinstance(actions, torch.Tensor) and actions.device.type == self.device.type
        if not is_tensor or actions.is_floating_point() or actions.is_complex() or actions.dtype == torch.bool:
            kind = f"{actions.dtype} on {actions.device}" if isinstance(actions, torch.Tensor) else type(actions)
            raise TypeError(f"actions must be a tensor of integers on {self.device}, not {kind}")
        if actions.shape != (n,):
            raise ValueError(f"actions must have shape ({n},), not {tuple(actions.shape)}")
        self._cards.copy_(actions)
        if self._raises:
            self._refuse_illegal()
        if self.on.on_gpu:
            self.on.step(self._kernels.step_one, self._kernels.show_one, self._size, n, self.table, *self._given)
        else:
            self.on.run(self._kernels.step_rows, n, self.table, *self._given)
        out = self.shown
        return self._observation(), out.rewards, out.over, self._truncations, self._infos()

    def _refuse_illegal(self) -> None:
        cards, mask = self._cards, self.shown.action_mask
        legal = mask.gather(1, cards.clamp(0, N_ACTIONS - 1)[:, None])[:, 0] == 1
        bad = ~(legal & (cards >= 0) & (cards < N_ACTIONS) | self._to_begin)
        if bad.any():
            game = int(bad.int().argmax())
            raise ValueError(f"game {game}: {name_card(int(cards[game]))} is not a legal action")

    def _observation(self) -> Any:
        out = self.shown
        return (
            out.observation if self._mask_in_info else {"observation": out.observation, "action_mask": out.action_mask}
        )

    def _infos(self) -> dict[str, torch.Tensor]:
        out = self.shown
        return {
            "action_mask": out.action_mask,
            "scores": out.scores,
            "dealer": out.dealers,
            "seat": self._tensors[1],
            "illegal_action": out.illegal,
        }
