"""# Cribbage

Full two-player cribbage as a PettingZoo AEC environment: the discard and the play, to 121 points, by the rules of the
American Cribbage Congress (:mod:`crib_env.engine`).

| specification       |                                                                                        |
|---------------------|----------------------------------------------------------------------------------------|
| Import              | ``import crib_env; env = crib_env.env()`` (or ``raw_env``)                              |
| Agents              | ``player_0``, ``player_1``                                                              |
| Action space        | ``Discrete(52)``                                                                        |
| Observation space   | ``Dict(observation=Box(0, 1, (209,), int8), action_mask=Box(0, 1, (52,), int8))``       |
| Parallel API        | no: players act in turns                                                                |
| Decisions in a game | about 100                                                                               |

One decision is one card. In each deal pone throws two cards one after the other, then the dealer does, then they lay
one card at a time. Go is never a choice: the environment says it for a player, so whoever acts has a legal card, and
the same player can act twice running.

## Action

The id of the card to throw or lay, ``13 * suit + rank`` (suits C D H S, ranks A … K). Integers of NumPy do too.

## Observation

The 209 bits, or with ``observation="board"`` 659 bits, are indexed in :mod:`crib_env.observation`. ``action_mask`` is 1
for each legal card; the mask of an agent that is not to act is all zeros. Arrays are fresh at every call.

## Reward

| ``reward=``  | paid                                                                                          |
|--------------|-----------------------------------------------------------------------------------------------|
| ``"points"`` | points made minus points the opponent made since this player last acted, as they fall         |
| ``"win"``    | +1 to the winner and -1 to the loser at the end                                                |
| ``"match"``  | ACC match points at the end: 2 for a win, 3 if the loser has 90 or less; the loser pays them   |

All are zero-sum. An episode that ends short of 121 is won by whoever made more points in it (0 each if equal).

## Episode end

| ``episode=`` | ends                                                                                          |
|--------------|-----------------------------------------------------------------------------------------------|
| ``"game"``   | the instant a player reaches 121: on heels, on a peg, in the middle of the show                |
| ``"deal"``   | after the show of one deal, or at 121                                                          |
| ``"play"``   | after the play of one deal, or at 121. Four cards each from the start: the last two of the six dealt lie in the crib already; neither heels nor the show is counted |

Pegs stop at 121: the last points of a game count as far as the hole.

## Options

| option         | values                                       | meaning                                                  |
|----------------|----------------------------------------------|----------------------------------------------------------|
| ``episode``    | ``"game"``, ``"deal"``, ``"play"``           | see above                                                |
| ``reward``     | ``"points"``, ``"win"``, ``"match"``         | see above                                                |
| ``observation``| ``"209"``, ``"board"``                       | see above                                                |
| ``mask``       | ``"observation"``, ``"info"``                | ``"info"``: the observation is the bare Box and the mask stands in ``infos[agent]["action_mask"]`` |
| ``start_spread``| ``None``, 0 … 120                           | random starting scores at most this far apart (Lang 2018: 60) |
| ``render_mode``| ``None``, ``"human"``, ``"ansi"``            | print the table after each step, or return it as text    |

``reset(seed, options)`` takes, each for one episode: ``options["first_dealer"]`` 0 or 1 (else a fair coin);
``options["scores"]`` a pair of 0 … 120; ``options["deals"]`` a sequence of deals, each of 13 cards (ids or text): six
for player_0, six for player_1, the starter. They are used deal by deal, then the generator goes on. Other keys are
ignored. The same seed, options and actions give the same game on every machine. A reset without a seed goes on to the
next game of the seed given last.

## Infos

| key           | value                                                                                          |
|---------------|------------------------------------------------------------------------------------------------|
| ``scores``    | (player_0's, player_1's)                                                                        |
| ``dealer``    | 0 or 1                                                                                          |
| ``events``    | the records since this agent last acted, its own card's included: :class:`Event` (player, points, kind) |
| ``action_mask`` | with ``mask="info"`` only                                                                     |
| ``illegal_action`` | in ``env`` after an illegal action only: what was wrong                                     |

``scores`` and ``dealer`` are attributes of the environment too, at any time.

## Illegal actions

``raw_env`` raises ``ValueError`` and nothing has changed. ``env`` ends the game, -1 to the offender and +1 to the
opponent. PettingZoo's three standard wrappers cost twenty times a step of this environment, so ``env`` does their
checks (order of calls, bounds, legality) itself, in the one method by which it differs from ``raw_env``.

## Version history

* v0: first version.
"""

from __future__ import annotations

import operator
from typing import Any, ClassVar, NamedTuple

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

from crib_env.cards import format_card, format_cards
from crib_env.engine import DEAL, EPISODES, EVENTS, GAME, OVER, act, begin_deal, begin_game, legal_cards, shuffle
from crib_env.engine import winner_pays as _winner_pays
from crib_env.kernels import kernel, streams
from crib_env.observation import N_ACTIONS, SIZES, write_mask, write_observation
from crib_env.options import RENDER_MODES, Options, Start, check_seed
from crib_env.render import draw_table
from crib_env.views import PlayerViews, views_of

PLAYERS = ("player_0", "player_1")


class _ByPlayer(dict[str, Any]):
    """What each player has; to ask for anybody else is an error that names the players."""

    def __missing__(self, agent: Any) -> Any:
        raise ValueError(f"there is no agent {agent!r}: choose one of {', '.join(map(repr, PLAYERS))}")


_SEAT = _ByPlayer({player: seat for seat, player in enumerate(PLAYERS)})

# Where event_player, event_kind and event_points stand in a record: three times eight bytes, one after the other.
_FIELDS: Any = GAME.fields
_EVENT_BYTES = slice(_FIELDS["event_player"][1], _FIELDS["event_points"][1] + 8)


class Event(NamedTuple):
    """Points that fell: the seat that pegged them, how many, and what for, in the words of ``engine.EVENTS``."""

    player: int
    points: int
    kind: str


# The kernels below take the game as the bytes of its record: Numba unpacks those in half the time that an array of
# records costs it.


@kernel
def _begin(record, episode, first_dealer, score_0, score_1, start_spread):
    begin_game(record.view(GAME)[0], episode, first_dealer, score_0, score_1, start_spread)


@kernel
def _deal(record, is_given):
    """The next deal: the thirteen cards that the caller has written, or the stream's."""
    g = record.view(GAME)[0]
    if not is_given:
        shuffle(g)
    begin_deal(g)
    return _summary(g)


@kernel
def _act(record, card, deal_next):
    """One decision; -1 and no change if the card is not legal, else the summary of the game after it."""
    g = record.view(GAME)[0]
    if not 0 <= card < 52 or not (legal_cards(g) >> card) & 1:
        return np.int64(-1)
    act(g, card)
    if g["phase"] == DEAL and deal_next:
        shuffle(g)
        begin_deal(g)
    return _summary(g)


@kernel
def _call_off(record):
    """Ends the game where it stands."""
    g = record.view(GAME)[0]
    g["phase"], g["n_events"] = OVER, 0
    return _summary(g)


@kernel
def _summary(g):
    """What Python asks for after every step, packed into one number, because each value handed over costs time."""
    return (
        np.int64(g["phase"])
        | np.int64(g["turn"]) << 2
        | np.int64(g["dealer"]) << 3
        | np.int64(g["n_events"]) << 4
        | np.int64(g["scores"][0]) << 8
        | np.int64(g["scores"][1]) << 16
    )


@kernel
def _observe(record, seat, observation, mask):
    g = record.view(GAME)[0]
    write_observation(g, seat, observation.reshape((1, -1)), 0)
    write_mask(g, seat, mask.reshape((1, -1)), 0)


@kernel
def _write_masks(record, masks):
    g = record.view(GAME)[0]
    for seat in range(2):
        write_mask(g, seat, masks, seat)


@kernel
def _pays(record, match):
    return _winner_pays(record.view(GAME)[0], match)


@kernel
def _legal(record):
    return legal_cards(record.view(GAME)[0])


class _SetByReset:
    """An attribute that exists from the first ``reset`` on; to read it before is an error that says so.

    This is the whole check of the order of calls. A ``__getattr__`` would do it too, but makes a turn a fifth slower.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        raise AttributeError(f"{self._name} does not exist before reset(): call it first")


class raw_env(AECEnv[str, Any, Any]):
    """The environment; an illegal action raises ``ValueError``. Options stand in the module's docstring."""

    metadata: ClassVar[dict[str, Any]] = {
        "name": "cribbage_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 1,
    }
    agents: Any = _SetByReset()
    agent_selection: Any = _SetByReset()
    rewards: Any = _SetByReset()
    terminations: Any = _SetByReset()
    truncations: Any = _SetByReset()
    infos: Any = _SetByReset()
    scores: Any = _SetByReset()
    dealer: Any = _SetByReset()

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.options = Options.read(options)
        self.render_mode = self.options.render_mode
        self.possible_agents = list(PLAYERS)
        self._mask_in_info = self.options.mask == "info"
        self._size = SIZES[self.options.observation]
        self.observation_spaces = _ByPlayer({player: self._make_observation_space() for player in PLAYERS})
        self.action_spaces = _ByPlayer({player: spaces.Discrete(N_ACTIONS) for player in PLAYERS})
        self._record = np.zeros(GAME.itemsize, np.uint8)
        self._games["episodes"] = streams(None, 1)
        self._n_resets = 0

    @property
    def _games(self) -> np.ndarray:
        """The game as an array of one ``GAME`` record, on the same memory."""
        return self._record.view(GAME)

    def _make_observation_space(self) -> spaces.Space[Any]:
        observation = spaces.Box(0, 1, (self._size,), np.int8)
        if self._mask_in_info:
            return observation
        return spaces.Dict(observation=observation, action_mask=spaces.Box(0, 1, (N_ACTIONS,), np.int8))

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The observation space of an agent, the same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """``Discrete(52)``, the same object at every call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Starts the next episode; ``options`` as in the module's docstring.

        Raises:
            ValueError: the seed or an option has a value that is not allowed; nothing has changed.
        """
        start = Start.read(options)
        check_seed(seed)
        if seed is not None:
            self._games["episodes"] = streams(seed, 1)
        spread = -1 if self.options.start_spread is None else self.options.start_spread
        _begin(self._record, EPISODES.index(self.options.episode), start.first_dealer, *start.scores, spread)
        self._n_resets += 1
        self._deals_to_come = list(start.deals)
        summary = self._deal_next()
        self.agents = list(PLAYERS)
        self.rewards = dict.fromkeys(PLAYERS, 0.0)
        self._cumulative_rewards = dict.fromkeys(PLAYERS, 0.0)
        self.terminations = dict.fromkeys(PLAYERS, False)
        self.truncations = dict.fromkeys(PLAYERS, False)
        self._skip_agent_selection = None
        self._events: list[tuple[Event, ...]] = [(), ()]
        self._read(summary)
        if self.render_mode == "human":
            self.render()

    def _deal_next(self) -> int:
        """Deals the cards that were given, while there are any, then the generator's."""
        if not self._deals_to_come:
            return _deal(self._record, False)
        self._games["cards"][0] = self._deals_to_come.pop(0)
        return _deal(self._record, True)

    def _read(self, summary: int) -> None:
        """Brings what users see up to date with the game."""
        self.agent_selection = PLAYERS[summary >> 2 & 1]
        self.dealer = dealer = summary >> 3 & 1
        self.scores = scores = (summary >> 8 & 255, summary >> 16)
        first, second = self._events
        self.infos = {
            "player_0": {"scores": scores, "dealer": dealer, "events": first},
            "player_1": {"scores": scores, "dealer": dealer, "events": second},
        }
        if self._mask_in_info:
            masks = np.zeros((2, N_ACTIONS), np.int8)
            _write_masks(self._record, masks)
            self.infos["player_0"]["action_mask"], self.infos["player_1"]["action_mask"] = masks

    def observe(self, agent: str) -> Any:
        """What an agent sees now, in fresh arrays.

        Raises:
            AttributeError: before the first ``reset``.
            ValueError: there is no such agent.
        """
        self.agents  # noqa: B018 -- the order check
        observation = np.zeros(self._size, np.int8)
        mask = np.zeros(N_ACTIONS, np.int8)
        _observe(self._record, _SEAT[agent], observation, mask)
        return observation if self._mask_in_info else {"observation": observation, "action_mask": mask}

    def views(self, agent: str) -> PlayerViews:
        """What an agent sees now as a batch of one, which any agent of this project can act on."""
        self.agents  # noqa: B018 -- the order check
        zero, seat = np.zeros(1, np.int64), np.array([_SEAT[agent]])
        return views_of(self._games, zero, seat, np.array([self._n_resets]))

    def step(self, action: Any) -> None:
        """The agent in ``agent_selection`` throws or lays a card; ``None`` once it is terminated.

        Raises:
            ValueError: the action is not the id of a legal card; nothing has changed.
            RuntimeError: the episode is over for both agents.
        """
        agent = self.agent_selection
        if not self.agents:
            raise RuntimeError("the episode is over for both players: call reset()")
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        try:
            card = -1 if isinstance(action, bool) else operator.index(action)
        except TypeError:
            card = -1
        # A huge integer would not fit a kernel's int64.
        summary = _act(self._record, card, not self._deals_to_come) if 0 <= card < N_ACTIONS else -1
        if summary < 0:
            self._refuse(agent, f"{format_card(card)} (action {card})" if 0 <= card < N_ACTIONS else repr(action))
            return
        before_0, before_1 = self.scores
        seat = _SEAT[agent]
        self._events[seat] = ()
        n_events = summary >> 4 & 15
        if n_events:
            players, kinds, points = self._record[_EVENT_BYTES].reshape(3, 8).tolist()
            new = tuple([Event(players[k], points[k], EVENTS[kinds[k]]) for k in range(n_events)])
            self._events = [self._events[0] + new, self._events[1] + new]
        if summary & 3 == DEAL:
            summary = self._deal_next()
        self._read(summary)
        over = summary & 3 == OVER
        if self.options.reward == "points":
            reward = float(self.scores[0] - before_0 - self.scores[1] + before_1)
        else:
            reward = float(_pays(self._record, self.options.reward == "match")) if over else 0.0
        self._pay(agent, reward)
        if over:
            self._end(agent)
        if self.render_mode == "human":
            self.render()

    def _refuse(self, agent: str, action: str) -> None:
        raise ValueError(self._why_illegal(agent, action))

    def _why_illegal(self, agent: str, action: str) -> str:
        legal = int(_legal(self._record))
        allowed = format_cards(card for card in range(N_ACTIONS) if legal >> card & 1)
        return f"{action} is not a legal action of {agent}: give the id of one of {allowed}"

    def _pay(self, mover: str, reward_of_0: float) -> None:
        """Clears the mover's account, then books this step for both: cumulative rewards run since one's last act."""
        self.rewards = {"player_0": reward_of_0, "player_1": 0.0 - reward_of_0}
        self._cumulative_rewards[mover] = 0.0
        self._cumulative_rewards["player_0"] += reward_of_0
        self._cumulative_rewards["player_1"] -= reward_of_0

    def _end(self, mover: str) -> None:
        self.terminations = dict.fromkeys(PLAYERS, True)
        self.agent_selection = PLAYERS[1 - _SEAT[mover]]

    def render(self) -> str | None:
        """The table as the player to act sees it: returned in mode ``"ansi"``, printed in mode ``"human"``.

        Raises:
            ValueError: the environment was made without a ``render_mode``.
        """
        if self.render_mode is None:
            raise ValueError("render() needs a render_mode: make the environment with render_mode='ansi' or 'human'")
        table = draw_table(self._games[0], _SEAT[self.agent_selection])
        if self.render_mode == "ansi":
            return table
        print(table)
        return None

    def close(self) -> None:
        """Nothing to release."""


class CheckedCribbage(raw_env):
    """What :func:`env` makes: an illegal action ends the game, -1 to the offender and +1 to the opponent."""

    def _refuse(self, agent: str, action: str) -> None:
        why = self._why_illegal(agent, action)
        self._events[_SEAT[agent]] = ()
        self._read(_call_off(self._record))
        for info in self.infos.values():
            info["illegal_action"] = why
        self._pay(agent, -1.0 if _SEAT[agent] == 0 else 1.0)
        self._end(agent)


def env(**options: Any) -> CheckedCribbage:
    """The environment with the checks that users expect; options stand in the module's docstring.

    Raises:
        ValueError: an option has a value that is not allowed; the message names it.
    """
    return CheckedCribbage(**options)
