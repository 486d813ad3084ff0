"""The state values that TD learning trains (O'Connor 2000), and the agent that uses them.

They are values of after-states: the 209 bits right after each move, as the player then sees them. An after-state
contains nothing that the player did not know before the move. A discard moves from the hand to the other known cards.
So does a laid card, which also takes the next slot of the play.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from crib_env import PlayerViews
from crib_env.agents.choosing import SAME_TO_A_NETWORK, cards_of
from crib_env.agents.lookahead import holds, packed
from crib_env.agents.networks.feed_forward import PHASES, NetworkAgent, ValueNetwork, in_few_sizes
from crib_env.exact.discard_means import COMPLETIONS, HAND_SCALE, crib_total, hand_total
from crib_env.kernels import cards_in, kernel, popcount
from crib_env.observation import HAND, KNOWN, N_BITS, SLOTS
from crib_env.ranks import write_pile
from crib_env.scoring import COUNT_LIMIT, card_value, fill_next_points, pile_points

MOST_MOVES = 15

# Where each kind of input of the play begins, and each kind of input of a discard; the last is how many there are.
_HELD, _SEEN, _LAID, _COUNT, _LAST, _POINTS, _THEIRS, _ANSWERS, N_PLAY_INPUTS = np.cumsum(
    [1, 52, 13, 104, COUNT_LIMIT, 39, 13, 5, 13]
).tolist()
_KEPT, _DISCARDED, N_DISCARD_INPUTS = np.cumsum([1, 52, 26]).tolist()


@kernel
def discard(state, card):
    """Moves a card from the hand to the other known cards."""
    state[HAND + card] = 0
    state[KNOWN + card] = 1


@kernel
def lay(state, card):
    """Moves a card as a discard does, and writes its rank into the first free slot of the play."""
    discard(state, card)
    slot = SLOTS
    while state[slot : slot + 13].any():
        slot += 13
    state[slot + card % 13] = 1


@kernel
def write_after_states(observation, mask, is_discard, states, cards):
    """Writes the after-states of one decision, and the first card of each; returns their number."""
    legal = np.flatnonzero(mask)
    n = 0
    if is_discard:
        pairs = len(legal) == 6  # else one card is discarded already
        for i in range(len(legal)):
            for j in range(i + 1, len(legal) if pairs else i + 2):
                states[n] = observation
                discard(states[n], legal[i])
                if pairs:
                    discard(states[n], legal[j])
                cards[n] = legal[i]
                n += 1
    else:
        ranks = np.int64(0)
        for card in legal:
            if not (ranks >> (card % 13)) & 1:
                ranks |= np.int64(1) << (card % 13)
                states[n] = observation
                lay(states[n], card)
                cards[n] = card
                n += 1
    return n


@kernel
def _after_states(observation, masks, is_discard, states, cards, ends):
    n = 0
    for b in range(len(observation)):
        n += write_after_states(observation[b], masks[b], is_discard[b], states[n:], cards[n:])
        ends[b] = n


def after_states(
    observation: np.ndarray, masks: np.ndarray, is_discard: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The after-states of all moves of B decisions, one decision after another.

    Two discards are one move: the first considers all fifteen pairs, the second the five that are left. In the play
    each rank is considered once, as its card with the lowest id. Observations are (B, 209), masks (B, 52) int8.

    Returns:
        After-states (M, 209) int8, the card of each that is discarded or laid now (M,) int64, and where those of each
        decision end (B,) int64.
    """
    states = np.empty((MOST_MOVES * len(observation), N_BITS), np.int8)
    cards, ends = np.empty(len(states), np.int64), np.empty(len(observation), np.int64)
    _after_states(observation, masks, is_discard, states, cards, ends)
    n = ends[-1] if len(ends) else 0
    return states[:n], cards[:n], ends


def moved(observation: np.ndarray, cards: np.ndarray, is_discard: np.ndarray) -> np.ndarray:
    """The observations (B, 209) int8 after one card (B,) is discarded or laid."""
    states, rows, play = observation.copy(), np.arange(len(cards)), np.flatnonzero(~is_discard)
    states[rows, HAND + cards], states[rows, KNOWN + cards] = 0, 1
    states[play, SLOTS + 13 * states[play, SLOTS:].sum(axis=1) + cards[play] % 13] = 1
    return states


@kernel
def read_pile(seen, pile):
    """Reads the ranks of all cards laid in an observation into ``pile``.

    Returns:
        Where the last count starts in it, how many cards there are, and the count; 31 and a go do not end it here.
    """
    n, start, count = 0, 0, 0
    while n < 8:
        rank = 0
        while rank < 13 and not seen[SLOTS + 13 * n + rank]:
            rank += 1
        if rank == 13:
            break
        count += card_value(rank)
        if count > COUNT_LIMIT:  # this card begins a new count, because it did not fit the one before
            start, count = n, card_value(rank)
        pile[n] = rank
        n += 1
    return start, n, count


@kernel
def _write_counts(held, row, at):
    """Writes for each rank whether at least 1, 2, 3, 4 cards of it are held, of a packed hand."""
    for rank in range(13):
        for k in range(holds(held, rank)):
            row[at + 13 * k + rank] = 1


@kernel
def _write_play_inputs(states, out, points):
    pile, earned = np.empty(9, np.int64), np.empty(13, np.int64)
    for b in range(len(states)):
        state, row = states[b], out[b]
        hand, known = cards_of(state[HAND:KNOWN]), cards_of(state[KNOWN:SLOTS])
        held, seen, n_hand = packed(hand), packed(known), popcount(hand)
        row[0] = state[0]
        _write_counts(held, row, _HELD)
        for k in range(104):
            row[_LAID + k] = state[SLOTS + k]
        start, n, count = read_pile(state, pile)
        points[b] = pile_points(pile, start, n, count)
        if count == COUNT_LIMIT:
            start, count = n, 0
        write_pile(pile, start, n, count, out, b, _COUNT, _LAST)
        row[_THEIRS + min(8 - n - n_hand, 4)] = 1  # more where fewer than eight are dealt, which the bits do not say
        fill_next_points(pile, start, n, count, earned)
        n_unseen = 52 - n_hand - popcount(known)
        for rank in range(13):
            row[_SEEN + rank], row[_POINTS + rank] = holds(seen, rank), max(earned[rank], 0)
            unseen = 4 - holds(held, rank) - holds(seen, rank)
            row[_ANSWERS + rank] = 10 * row[_POINTS + rank] * unseen / n_unseen


def play_inputs(states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (M, 271) of after-states of the play (M, 209), and points of the card just laid (M,), float32.

    Inputs: dealer; for each rank whether at least 1, 2, 3, 4 cards are held, and how many others are known; the eight
    slots; the count, one of 0 … 30, which ends only at 31, because the opponent may continue where this player cannot;
    its last three cards, the latest first; what a next card of each rank would earn; how many cards the opponent holds;
    ten times what an answer of each rank would earn, times the probability that an unseen card is of it.
    """
    inputs, points = np.zeros((len(states), N_PLAY_INPUTS), np.float32), np.empty(len(states), np.float32)
    _write_play_inputs(states, inputs, points)
    return inputs, points


@kernel
def _write_discard_inputs(states, out, worth):
    for b in range(len(states)):
        is_dealer, kept, discarded = states[b, 0], cards_of(states[b, HAND:KNOWN]), cards_of(states[b, KNOWN:SLOTS])
        out[b, 0] = is_dealer
        _write_counts(packed(kept), out[b], _KEPT)
        _write_counts(packed(discarded), out[b], _DISCARDED)
        six, pair = kept | discarded, cards_in(discarded, 2)
        total, crib = HAND_SCALE * hand_total(kept, six), crib_total(pair[0], pair[1], cards_in(six, 6))
        worth[b] = (total + crib if is_dealer else total - crib) / COMPLETIONS


def discard_inputs(states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (M, 79) int8 of after-states of two discards (M, 209), and exact values (M,) float32.

    Inputs: dealer; for each rank whether at least 1, 2, 3, 4 cards are kept, and 1, 2 discarded. The value is the exact
    mean of the hand, plus that of the crib for the dealer and minus it for pone.
    """
    inputs, worth = np.zeros((len(states), N_DISCARD_INPUTS), np.int8), np.empty(len(states), np.float32)
    _write_discard_inputs(states, inputs, worth)
    return inputs, worth


def gaussian_weights(network: nn.Module) -> None:
    """Draws all weights from a Gaussian of mean 0 and standard deviation 1, as O'Connor does initially."""
    for parameter in network.parameters():
        nn.init.normal_(parameter)


@kernel
def _best_of_each(values, order, ends, same, best):
    """The place of each decision whose value is the highest, or lower by at most ``same``; the lowest in order."""
    start = 0
    for b in range(len(ends)):
        least = values[start : ends[b]].max() - same
        best[b] = -1
        for k in range(start, ends[b]):
            if values[k] >= least and (best[b] < 0 or order[k] < order[best[b]]):
                best[b] = k
        start = ends[b]


class TDAgent(NetworkAgent):
    """Makes the move whose after-state has the highest value.

    Args:
        networks: ``all``, or ``discard`` and ``play``.
        about: the arguments of :meth:`new`.
    """

    learner = "td"

    def __init__(self, networks: dict[str, ValueNetwork], about: dict[str, Any]) -> None:
        super().__init__(nn.ModuleDict(networks), about, "all" if about["inputs"] == "bits" else "unseen")
        self.networks = networks

    @classmethod
    def new(cls, inputs: str, hidden: tuple[int, ...], hidden_discard: tuple[int, ...] = ()) -> TDAgent:
        """An agent with random weights, from torch's generator.

        Args:
            inputs: ``"bits"`` is O'Connor's one network of sigmoids, for every state and of the bits alone, all weights
                from a Gaussian of standard deviation 1. ``"features"`` is one network of ReLUs for discards and one for
                the play, with inputs that follow from the bits.
            hidden_discard: those of the network of discards; none means that they are the same.
        """
        if inputs == "bits":
            networks = {"all": ValueNetwork(N_BITS, hidden, nn.Sigmoid)}
            gaussian_weights(networks["all"])
        else:
            shapes = (N_DISCARD_INPUTS, hidden_discard or hidden), (N_PLAY_INPUTS, hidden)
            networks = {phase: ValueNetwork(*shape, nn.ReLU) for phase, shape in zip(PHASES, shapes)}
        return cls(networks, {"inputs": inputs, "hidden": list(hidden), "hidden_discard": list(hidden_discard)})

    def network_of(self, is_discard: bool) -> str:
        """The name of the network for a phase."""
        return "all" if "all" in self.networks else PHASES[0] if is_discard else PHASES[1]

    def values(self, states: np.ndarray, is_discard: bool) -> torch.Tensor:
        """Values of after-states (M, 209) int8 of one phase, (M,): points from the move on, minus the opponent's.

        With features the points of the card laid, or a discard's exact value in the show, are known and added.
        """
        network = self.networks[self.network_of(is_discard)]
        if "all" in self.networks:
            return in_few_sizes(network, torch.from_numpy(states).float())
        inputs, known = discard_inputs(states) if is_discard else play_inputs(states)
        return in_few_sizes(network, torch.from_numpy(inputs).float()) + torch.from_numpy(known)

    @torch.no_grad()
    def look_ahead(
        self, observation: np.ndarray, masks: np.ndarray, is_discard: np.ndarray, same: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """The best cards (B,) and the values of their after-states, (B,) float32.

        Values that differ by less than ``same`` are equal. Of these the lowest id is discarded, or the lowest rank
        laid.
        """
        cards, values = np.empty(len(observation), np.int64), np.empty(len(observation), np.float32)
        for phase in (True, False):
            rows = np.flatnonzero(is_discard == phase)
            if len(rows):
                states, moves, ends = after_states(observation[rows], masks[rows], is_discard[rows])
                worth, best = self.values(states, phase).numpy(), np.empty(len(rows), np.int64)
                _best_of_each(worth, moves if phase else moves % 13, ends, np.float32(same), best)
                cards[rows], values[rows] = moves[best], worth[best]
        return cards, values

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        return self.look_ahead(views.observation, views.action_mask, views.is_discard, SAME_TO_A_NETWORK)[0]
