"""The kernels of the PettingZoo environment, and what they return.

They take the game as the bytes of its record: Numba unpacks bytes in half the time that an array of records takes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crib_env.engine import (
    DEAL,
    GAME,
    N_EVENTS,
    act,
    begin_deal,
    begin_game,
    call_off,
    legal_cards,
    shuffle,
    winner_pays,
)
from crib_env.kernels import kernel, lowest, mix
from crib_env.observation import write_mask, write_observation
from crib_env.players.hidden import deal_hidden

# The bytes of event_player, event_kind and event_points in a record: three fields of equal length, one after the other.
_FIELDS: Any = GAME.fields
EVENT_BYTES = slice(_FIELDS["event_player"][1], _FIELDS["event_points"][1] + N_EVENTS)
# The cards in twelve bits of a summary.
PAIRS = [tuple([card - 1 for card in (pair & 63, pair >> 6) if card]) for pair in range(64 * 64)]


@kernel
def begin(record, episode, first_dealer, score_0, score_1, start_spread):
    """Starts the next game; see :func:`crib_env.engine.begin_game`."""
    begin_game(record.view(GAME)[0], episode, first_dealer, score_0, score_1, start_spread)


@kernel
def deal(record, is_given):
    """Starts the next deal: with the caller's thirteen cards if ``is_given``, else with cards from the stream."""
    g = record.view(GAME)[0]
    if not is_given:
        shuffle(g)
    begin_deal(g)
    return _summary(g)


@kernel
def play_card(record, card, n_given):
    """Plays one decision and returns the summary of the new state; -1, and no change, if the card is not legal.

    The next deal, if one is due, is left to :func:`deal` while the caller has given cards for it.
    """
    g = record.view(GAME)[0]
    if not 0 <= card < 52 or not (legal_cards(g) >> card) & 1:
        return np.int64(-1)
    act(g, card)
    if g["phase"] == DEAL and not n_given:
        shuffle(g)
        begin_deal(g)
    return _summary(g)


@kernel
def end_game(record):
    """Ends the episode as it stands."""
    g = record.view(GAME)[0]
    call_off(g)
    return _summary(g)


@kernel
def told(record):
    """The summary of the state as it is."""
    return _summary(record.view(GAME)[0])


@kernel
def deal_anew(record, seat, seed):
    """Deals what ``seat`` cannot know; see :func:`crib_env.players.hidden.deal_hidden`."""
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
def observe(record, seat, observation, mask):
    """Writes what ``seat`` sees: the observation (size,) and the mask (52,)."""
    g = record.view(GAME)[0]
    write_observation(g, seat, observation.reshape((1, -1)), np.int64(0))
    write_mask(g, seat, mask.reshape((1, -1)), np.int64(0))


@kernel
def write_masks(record, masks):
    """Writes the masks (2, 52) of both."""
    g = record.view(GAME)[0]
    for seat in range(2):
        write_mask(g, seat, masks, seat)


@kernel
def pays(record, match):
    """The reward of seat 0 at the end; see :func:`crib_env.engine.winner_pays`."""
    return winner_pays(record.view(GAME)[0], match)
