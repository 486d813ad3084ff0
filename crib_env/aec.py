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

One decision is one card: two discards of pone, two of the dealer, then the cards of the play. Go is never a choice: the
environment says it for a player. So the player to act always has a legal card, and can act twice in a row.

## Action

The id of the card to discard or lay, ``13 * suit + rank`` (suits clubs, diamonds, hearts, spades; ranks ace 0 to king
12): an integer of any kind, or an integer array of one element. Anything else raises ``TypeError``.

## Observation

The 209 bits, with ``observation="board"`` 659 bits, with ``"ranks"`` the 479 inputs by rank from which a network
learns soonest: :mod:`crib_env.observation` indexes them. ``action_mask`` is 1
for each legal card; the mask of an agent that is not to act is all zeros. Arrays are fresh at every call.

## Reward

| ``reward=``  | paid                                                                                          |
|--------------|-----------------------------------------------------------------------------------------------|
| ``"points"`` | points made minus points the opponent made since this player last acted                       |
| ``"win"``    | +1 to the winner and -1 to the loser at the end                                                |
| ``"match"``  | ACC match points at the end: 2 for a win, 3 if the loser has 90 or less; the loser pays them   |

All are zero-sum. If an episode ends before 121, the player who made more points in it wins (0 each if equal).

## Episode end

| ``episode=`` | ends                                                                                          |
|--------------|-----------------------------------------------------------------------------------------------|
| ``"game"``   | the instant a player reaches 121: on heels, on a peg, in the middle of the show                |
| ``"deal"``   | after the show of one deal, or at 121                                                          |
| ``"play"``   | after the play of one deal, or at 121. Four cards each from the start: the last two of the six dealt lie in the crib already; neither heels nor the show is counted |
| ``"pegging"`` | after the last of eight cards, or at 121. Four cards each, and nothing else: no starter, no crib and no discards, whose bits are all 0 |

## Options

``episode``, ``reward``, ``observation`` as above, and:

| option         | values                                       | meaning                                                  |
|----------------|----------------------------------------------|----------------------------------------------------------|
| ``cards``      | ``4``, ``3``, ``2``                          | cards of each player in ``"pegging"``: two smaller games, to try an algorithm in |
| ``dtype``      | ``"int8"``, ``"float32"``                    | ``"float32"``: observations are float32 and masks boolean, as many libraries want them |
| ``mask``       | ``"observation"``, ``"info"``                | ``"info"``: the observation is the bare Box and the mask is in ``infos[agent]["action_mask"]`` |
| ``events``     | ``False``, ``True``                          | ``True``: the infos also list what happened, see below. Libraries that turn every info into an array cannot take them |
| ``illegal``    | ``"raise"``, ``"end"``                       | what an illegal card does, see below. The default is ``"raise"`` in ``raw_env`` and ``"end"`` in ``env`` |
| ``start_spread``| ``None``, 0 … 120                           | random starting scores at most this far apart (Lang 2018: 60) |
| ``render_mode``| ``None``, ``"human"``, ``"ansi"``, ``"rgb_array"`` | show the table in a window after each step, return it as text, or as (720, 960, 3) uint8. Window and pixels need the extra ``render`` |

An option that does not exist, or a value that is not allowed, raises ``OptionError``: a ``ValueError`` and a
``TypeError``, which names it.

``reset(seed, options)`` takes these options, each for one episode: ``options["first_dealer"]`` 0 or 1 (else a fair
coin); ``options["scores"]`` a pair of 0 … 120; ``options["deals"]`` a sequence of deals, each of 13 cards, ids or text:
six for player_0, six for player_1, the starter (in ``"pegging"`` of 8: four for each, or twice ``cards``). Later deals
come from the random generator. The same seed, options and actions give the same game on every machine. A reset without
a seed starts the next game of the same random stream.

## Infos

Numbers and arrays, with the same keys at every step. ``scores`` and ``dealer`` are also attributes of the environment.

| key           | value                                                                                          |
|---------------|------------------------------------------------------------------------------------------------|
| ``scores``    | (player_0's, player_1's)                                                                        |
| ``dealer``    | 0 or 1                                                                                          |
| ``illegal_action`` | ``True`` if the episode has ended because of an illegal card                               |
| ``action_mask`` | with ``mask="info"`` only                                                                     |
| ``events``    | with ``events=True``: what happened since this agent last acted, its own card included, as :class:`Event` (player, points, kind) |
| ``illegal_reason`` | with ``events=True``, after an illegal card: what was wrong                               |

## Illegal actions

| ``illegal=`` | an illegal card                                                                                |
|--------------|------------------------------------------------------------------------------------------------|
| ``"raise"``  | raises ``ValueError`` and changes nothing. ``raw_env`` does this by default                    |
| ``"end"``    | ends the game; the worst possible loss to the offender and its opposite to the opponent. ``env`` and the Gymnasium environments do this by default |

The worst possible loss is -121 with ``reward="points"``, -1 with ``"win"``, -3 with ``"match"``. A smaller penalty would
teach a learner without a mask to play illegal cards: ending the game for -1 is better than losing it by tens of points.

The environment does the checks of PettingZoo's standard wrappers (order of calls, bounds, legality) itself, because
those take twenty times as long as a step.

## Copies and searches

| call                         | what                                                                                    |
|------------------------------|-----------------------------------------------------------------------------------------|
| ``copy.copy(env)``, ``copy.deepcopy(env)`` | the same: an environment whose game goes on by itself. It shares options and spaces, and opens no window |
| ``env.restore(games)``       | goes on from a copy of ``env.games``, or from one game of a ``GameBatch``; rewards count from there. It sets all attributes, which writing into ``env.games`` does not |
| ``env.redeal(agent, seed)``  | deals anew what the agent cannot know: the opponent's cards, its discards, the uncut starter, all later deals. All that agree with what the agent has seen, every go included, are equally likely |
| ``env.legal_actions()``      | the legal cards as a list of ids, empty at the end: the fastest way to play              |

``examples/search.py`` in the repository is a search of twenty lines. Restoring takes 2 µs and dealing 1 µs, where a step takes 2; a
copy takes 20.

## Version history

* v0: first version.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

from crib_env.cards import format_cards, name_card, read_card
from crib_env.engine import (
    DEAL,
    EPISODES,
    EVENTS,
    GAME,
    N_EVENTS,
    OVER,
    act,
    begin_deal,
    begin_game,
    is_legal,
    legal_cards,
    shuffle,
    winner_pays,
)
from crib_env.kernels import kernel, lowest, mix, streams
from crib_env.observation import (
    DTYPES,
    N_ACTIONS,
    OBSERVATIONS,
    CardSpace,
    observation_space,
    write_mask,
    write_observation,
    writing,
)
from crib_env.options import RENDER_MODES, Options, SetByReset, Start, check_seed
from crib_env.picture.drawing import FPS, Renderer, Sheet, draw_table
from crib_env.picture.seen import see, table_lines
from crib_env.players.hidden import deal_hidden
from crib_env.values import is_integer
from crib_env.views import PlayerViews, views_of

if TYPE_CHECKING:
    from PIL.Image import Image


PLAYERS = ("player_0", "player_1")


# The kernels take the game as the bytes of its record: Numba unpacks bytes in half the time that an array of records
# takes.

# The bytes of event_player, event_kind and event_points in a record: three fields of equal length, one after the other.
_FIELDS: Any = GAME.fields
_EVENT_BYTES = slice(_FIELDS["event_player"][1], _FIELDS["event_points"][1] + N_EVENTS)
# The cards in twelve bits of a summary.
_PAIRS = [tuple([card - 1 for card in (pair & 63, pair >> 6) if card]) for pair in range(64 * 64)]


@kernel
def _begin(record, episode, first_dealer, score_0, score_1, start_spread):
    begin_game(record.view(GAME)[0], episode, first_dealer, score_0, score_1, start_spread)


@kernel
def _deal(record, is_given):
    """Starts the next deal: with the caller's thirteen cards if ``is_given``, else with cards from the stream."""
    g = record.view(GAME)[0]
    if not is_given:
        shuffle(g)
    begin_deal(g)
    return _summary(g)


@kernel
def _play_card(record, card, n_given):
    """Plays one decision and returns the summary of the new state; -1, and no change, if the card is not legal.

    The next deal, if one is due, is left to :func:`_deal` while the caller has given cards for it.
    """
    g = record.view(GAME)[0]
    if not is_legal(g, card):
        return np.int64(-1)
    act(g, card)
    if g["phase"] == DEAL and not n_given:
        shuffle(g)
        begin_deal(g)
    return _summary(g)


@kernel
def _told(record):
    return _summary(record.view(GAME)[0])


@kernel
def _deal_anew(record, seat, seed):
    g = record.view(GAME)[0]
    deal_hidden(g, seat, True, seed)
    g["policy_stream"] = mix(g["episode_stream"])
    return _summary(g)


@kernel
def _summary(g):
    """All values that Python needs after a step, packed into one number, because each returned value costs time.

    The legal cards come last, the lowest first: six bits each, its id and 1.
    """
    legal, cards, place = legal_cards(g), np.int64(0), 24
    while legal:
        cards |= lowest(legal) + 1 << place
        legal &= legal - 1
        place += 6
    return (
        cards
        | np.int64(g["phase"])
        | np.int64(g["turn"]) << 2
        | np.int64(g["dealer"]) << 3
        | np.int64(g["n_events"]) << 4
        | np.int64(g["scores"][0]) << 8
        | np.int64(g["scores"][1]) << 16
    )


@kernel
def _observe(record, seat, observation, mask):
    """Writes what ``seat`` sees: the observation (size,) and the mask (52,)."""
    g = record.view(GAME)[0]
    write_observation(g, seat, observation.reshape((1, -1)), np.int64(0))
    write_mask(g, seat, mask.reshape((1, -1)), np.int64(0))


@kernel
def _write_masks(record, masks):
    g = record.view(GAME)[0]
    for seat in range(2):
        write_mask(g, seat, masks, seat)


@kernel
def _pays(record, match):
    return winner_pays(record.view(GAME)[0], match)


class _ByPlayer(dict[str, Any]):
    """One value per player. Any other key raises an error that names the players."""

    def __missing__(self, agent: Any) -> Any:
        raise ValueError(f"there is no agent {agent!r}: choose one of {', '.join(map(repr, PLAYERS))}")


_SEAT = _ByPlayer({player: seat for seat, player in enumerate(PLAYERS)})


class Event(NamedTuple):
    """Points scored: the seat that pegged them, how many, and the reason, in the words of ``engine.EVENTS``."""

    player: int
    points: int
    kind: str


class raw_env(AECEnv[str, Any, Any]):  # type: ignore[misc]  # PettingZoo has no types
    """The environment; an illegal card raises ``ValueError``. The module's docstring describes the options.

    Anything but ``render_mode`` that is read before the first ``reset`` raises ``AttributeError``, and a name that is no
    agent's ``ValueError``."""

    metadata: ClassVar[dict[str, Any]] = {
        "name": "cribbage_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": FPS,
    }
    agents: Any = SetByReset()
    agent_selection: Any = SetByReset()
    rewards: Any = SetByReset()
    terminations: Any = SetByReset()
    truncations: Any = SetByReset()
    infos: Any = SetByReset()
    scores: Any = SetByReset()
    dealer: Any = SetByReset()
    _legal: Any = SetByReset()

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.options = Options.read(options)
        self.render_mode = self.options.render_mode
        self._renderer = Renderer(self.render_mode)
        self.possible_agents = list(PLAYERS)
        self._mask_in_info = self.options.mask == "info"
        self._tells_events = self.options.events
        self._pays_points = self.options.reward == "points"
        seen = OBSERVATIONS[self.options.observation]
        self._size, self._write = seen.size, writing(_observe, seen.write)
        self._dtype, self._mask_dtype = DTYPES[self.options.dtype]
        shape = self._size, self.options.dtype, self.options.mask
        self.observation_spaces = _ByPlayer({player: observation_space(*shape) for player in PLAYERS})
        self.action_spaces = _ByPlayer({player: CardSpace() for player in PLAYERS})
        self._record = np.zeros(GAME.itemsize, np.uint8)
        self.games["episode_stream"], self.games["fewer"] = streams(None, 1), 4 - self.options.cards
        self._episode = EPISODES.index(self.options.episode)
        self.n_resets = 0

    @property
    def games(self) -> np.ndarray:
        """(1,) ``GAME``: the game's own record, not a copy; :meth:`restore` takes one over."""
        return self._record.view(GAME)

    @property
    def cumulative_rewards(self) -> dict[str, float]:
        """What each agent has earned since its last action."""
        return self._cumulative_rewards

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The observation space of an agent, the same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """``Discrete(52)``, the same object at every call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Starts the next episode; ``options`` as in the module's docstring.

        Others, and a seed that is not allowed, raise ``ValueError``; nothing has changed then.
        """
        start = Start.read(options, self.options.episode, self.options.cards)
        check_seed(seed)
        if seed is not None:
            self.games["episode_stream"] = streams(seed, 1)
        spread = -1 if self.options.start_spread is None else self.options.start_spread
        _begin(self._record, self._episode, start.first_dealer, *start.scores, spread)
        self._deals_to_come = list(start.deals)
        self._start(self._deal_next())

    def restore(self, games: np.ndarray) -> None:
        """Goes on from the state of a game, (1,) ``GAME``, which is copied. Later deals come from its own random stream.

        Raises:
            ValueError: it is anything else, or of another kind of episode; nothing has changed.
        """
        if not isinstance(games, np.ndarray) or games.dtype != GAME or games.shape != (1,) or games["n_deals"][0] < 1:
            raise ValueError("restore takes a game that has begun: (1,) records of crib_env.engine.GAME")
        kind, own = (games["episode"][0], 4 - games["fewer"][0]), (self._episode, self.options.cards)
        if kind != own:
            raise ValueError(
                f"the game is of episode={EPISODES[kind[0]]!r}, cards={kind[1]}, and the environment of "
                f"episode={self.options.episode!r}, cards={own[1]}: make it with the same options"
            )
        self._record[:] = games.view(np.uint8)
        self._deals_to_come = []
        self._start(_told(self._record))

    def redeal(self, agent: str, seed: int) -> None:
        """Deals the cards anew that an agent cannot know. The same seed, from 0 to 2**63 - 1, gives the same cards.

        Raises:
            ValueError: there is no such agent, or the seed is not allowed.
            RuntimeError: the episode is over.
        """
        if not self.legal_actions():
            raise RuntimeError("the episode is over, and nothing is left to deal: call reset()")
        if not is_integer(seed) or not 0 <= seed < 2**63:
            raise ValueError(f"seed={seed!r} is not allowed: give a whole number from 0 to 2**63 - 1")
        self._read(_deal_anew(self._record, _SEAT[agent], int(seed)))
        self._deals_to_come = []

    def _start(self, summary: int) -> None:
        """Sets all that an episode begins with."""
        self.n_resets += 1
        self.agents = list(PLAYERS)
        self.rewards = dict.fromkeys(PLAYERS, 0.0)
        self._cumulative_rewards = dict.fromkeys(PLAYERS, 0.0)
        self.terminations = dict.fromkeys(PLAYERS, summary & 3 == OVER)
        self.truncations = dict.fromkeys(PLAYERS, False)
        self._skip_agent_selection = None
        self._events: list[tuple[Event, ...]] = [(), ()]
        self._read(summary)
        if self.render_mode == "human":
            self.render()

    def _deal_next(self) -> int:
        """Deals the given cards while there are any, then cards from the generator."""
        if not self._deals_to_come:
            return _deal(self._record, False)
        self.games["cards"][0] = self._deals_to_come.pop(0)
        return _deal(self._record, True)

    def _read(self, summary: int) -> None:
        """Updates the public attributes from the game."""
        self.agent_selection = PLAYERS[summary >> 2 & 1]
        self.dealer = dealer = summary >> 3 & 1
        self.scores = scores = (summary >> 8 & 255, summary >> 16 & 255)
        self._legal = summary >> 24
        self.infos = {
            "player_0": {"scores": scores, "dealer": dealer, "illegal_action": False},
            "player_1": {"scores": scores, "dealer": dealer, "illegal_action": False},
        }
        if self._tells_events:
            self.infos["player_0"]["events"], self.infos["player_1"]["events"] = self._events
        if self._mask_in_info:
            masks = np.zeros((2, N_ACTIONS), self._mask_dtype)
            _write_masks(self._record, masks)
            self.infos["player_0"]["action_mask"], self.infos["player_1"]["action_mask"] = masks

    def observe(self, agent: str) -> Any:
        """What an agent sees now, in fresh arrays."""
        self.agents  # noqa: B018 -- the order check
        observation = np.zeros(self._size, self._dtype)
        mask = np.zeros(N_ACTIONS, self._mask_dtype)
        self._write(self._record, _SEAT[agent], observation, mask)
        return observation if self._mask_in_info else {"observation": observation, "action_mask": mask}

    def legal_actions(self) -> list[int]:
        """The cards that the player to act may discard or lay, lowest id first; none when the episode is over."""
        legal = self._legal
        return [*_PAIRS[legal & 4095], *_PAIRS[legal >> 12 & 4095], *_PAIRS[legal >> 24]]

    def views(self, agent: str) -> PlayerViews:
        """What an agent sees now as a batch of one, which any agent of this project can act on."""
        self.agents  # noqa: B018 -- the order check
        zero, seat = np.zeros(1, np.int64), np.array([_SEAT[agent]])
        return views_of(self.games, zero, seat, np.array([self.n_resets]))

    def step(self, action: Any) -> None:
        """Discards or lays a card for the agent in ``agent_selection``. A terminated agent's action must be ``None``.

        Raises:
            ValueError: the card is not legal, and the option ``illegal`` is ``"raise"``; nothing has changed.
            TypeError: the action is neither an integer nor an integer array of one element; nothing has changed.
            RuntimeError: the episode is over for both agents.
        """
        agent = self.agent_selection
        if not self.agents:
            raise RuntimeError("the episode is over for both players: call reset()")
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        card = action if type(action) is int else read_card(action)
        # A huge integer would not fit a kernel's int64.
        summary = _play_card(self._record, card, len(self._deals_to_come)) if 0 <= card < N_ACTIONS else -1
        if summary < 0:
            self._refuse(agent, card)
            return
        before_0, before_1 = self.scores
        if self._tells_events:
            self._tell(agent, summary >> 4 & 15)
        if summary & 3 == DEAL:
            summary = self._deal_next()
        self._read(summary)
        over = summary & 3 == OVER
        if self._pays_points:
            score_0, score_1 = self.scores
            reward = float(score_0 - before_0 - score_1 + before_1)
        else:
            reward = float(_pays(self._record, self.options.reward == "match")) if over else 0.0
        self._pay(agent, reward)
        if over:
            self._end(agent)
        if self.render_mode == "human":
            self.render()

    def _tell(self, mover: str, n: int) -> None:
        """Adds the ``n`` records of the last transition to what both have not yet been told, the mover's new from here."""
        players, kinds, points = self._record[_EVENT_BYTES].reshape(3, N_EVENTS).tolist()
        new = tuple([Event(players[k], points[k], EVENTS[kinds[k]]) for k in range(n)])
        self._events[_SEAT[mover]] = ()
        self._events = [self._events[0] + new, self._events[1] + new]

    def _refuse(self, agent: str, card: int) -> None:
        """Raises an error or ends the game, depending on the option ``illegal``."""
        allowed = format_cards(self.legal_actions())
        why = f"{name_card(card)} is not a legal action of {agent}: give the id of one of {allowed}"
        if self.options.illegal == "raise":
            raise ValueError(why)
        seat = _SEAT[agent]
        self._events[seat] = ()
        self.games["phase"], self.games["n_events"] = OVER, 0
        self._read(_told(self._record))
        for info in self.infos.values():
            info["illegal_action"] = True
            if self._tells_events:
                info["illegal_reason"] = why
        self._pay(agent, self.options.penalty * (1 - 2 * seat))
        self._end(agent)

    def _pay(self, mover: str, reward_of_0: float) -> None:
        """Clears the mover's cumulative reward, then adds this step's rewards for both players."""
        self.rewards = {"player_0": reward_of_0, "player_1": 0.0 - reward_of_0}
        earned = self._cumulative_rewards
        earned[mover] = 0.0
        if reward_of_0:
            earned["player_0"] += reward_of_0
            earned["player_1"] -= reward_of_0

    def _end(self, mover: str) -> None:
        self.terminations = dict.fromkeys(PLAYERS, True)
        self.agent_selection = PLAYERS[1 - _SEAT[mover]]

    def __deepcopy__(self, memo: dict[int, Any]) -> raw_env:
        shared = self.options, self.observation_spaces, self.action_spaces, self._write, self._renderer
        memo |= {id(part): part for part in shared}
        memo[id(self)] = twin = object.__new__(type(self))
        twin.__dict__.update(copy.deepcopy(self.__dict__, memo))
        if self.render_mode == "human":
            twin.render_mode = None
        return twin

    def __copy__(self) -> raw_env:
        return copy.deepcopy(self)

    def render(self) -> str | np.ndarray | None:
        """The table as the player to act sees it, in the form of the ``render_mode``; pictures show player_0 below.

        Raises:
            ValueError: the environment was made without a ``render_mode``.
            DependencyNotInstalled, RuntimeError: the extra ``render`` is not installed, or there is no display.
        """
        agent = self.agent_selection
        return self._renderer.render(
            lambda: "\n".join([agent, *table_lines(self.views(agent))]), lambda: self._draw(agent)
        )

    def picture(self, agent: str | None = None) -> Image:
        """The table as an agent sees it, or by default as a spectator sees it, with both hands and the crib.

        It is a picture of Pillow's, 960 by 720, which a notebook shows, and needs the extra ``render``.
        """
        self.agents  # noqa: B018 -- the order check
        return self._draw(agent).image

    def _draw(self, agent: str | None) -> Sheet:
        return draw_table(see(self.games, None if agent is None else _SEAT[agent]))

    def close(self) -> None:
        """Ends the episode, and closes the window, if there is one. ``reset`` starts anew."""
        for name in ("agents", "agent_selection"):  # without these nothing steps on
            self.__dict__.pop(name, None)
        self._renderer.close()


def env(**options: Any) -> raw_env:
    """The environment for most uses: an illegal card ends the game. The module's docstring describes the options."""
    options.setdefault("illegal", "end")
    return raw_env(**options)
