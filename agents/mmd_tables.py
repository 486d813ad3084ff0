"""``mmd-tables``: a policy that is the softmax of a sum of tables. :mod:`crib_env.train.mmd_tables` trains it.

It draws its cards, but no rare ones. In the play the tables hold logits. Each table keeps what it knows of an
information state under a key of its own. One key is all of an information state of the pegging game, the others are
parts of it, in which many information states agree: what is learned in one holds in all. The starter of a whole deal
is no part of any key. Keys are hashed to buckets, and no bucket knows whose it is: two keys may share one, as in tile
coding (Sutton and Barto 2018, section 9.5.4). Suits have no part in it.

The value of a discard is what is known exactly, the mean of the show, of four cards over the starters and of the crib
beside random cards of the opponent (:mod:`crib_env.exact.discard_means`), and what tables have learned of the rest: the
pegging, and that the opponent's discards are not random. That is a sum of two numbers, one for the four ranks kept and
one for the two ranks discarded.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from crib_env import PlayerViews
from crib_env.agents.choosing import (
    card_chances,
    cards_of,
    chances_of_pairs,
    draw,
    pairs_open,
    six_dealt,
    uniforms,
    without_rare,
)
from crib_env.agents.lookahead import packed
from crib_env.agents.networks.policy import Plays
from crib_env.agents.networks.weights_file import reading_weights, save_tensors
from crib_env.exact.discard_means import COMPLETIONS, HAND_SCALE, crib_total, hand_total
from crib_env.exact.discard_statistics import N_DISCARDS, PLACES
from crib_env.hands import N_FOURS, N_RANKS, PAIR_NUMBER, hand_of_mask, ranks_in
from crib_env.kernels import GOLDEN, bit, cards_in, kernel, lowest, mask_of, mix, streams
from crib_env.players.agent import Powers

N_TABLES = 4
BUCKET = 4  # places in a bucket, for the ranks that may be laid, lowest first: no hand has more than four
LOGIT = 0
"""Where logits stand in a bucket; in training the critic's values stand beside them. Only differences of logits count,
so that of the lowest rank is 0, and not kept."""
SEEN = 0
"""The lowest rank's place. Training counts there from how many decisions the bucket has learned."""

_OPPONENT = np.uint64(16)  # added to the ranks that the opponent laid
_NO_RANK = np.uint64(N_RANKS)
_S29 = np.uint64(29)


class Pile(NamedTuple):
    """What lies on the table at a decision."""

    n_laid: np.int64  # by both players, in this and earlier counts
    start: np.int64  # of the first card of this count among them
    count: np.int64  # type: ignore[assignment]  # it hides `tuple.count`, which nobody needs
    opponent_cards: int | np.int64  # how many the opponent still holds


@kernel
def _append(key, card):
    key = (key ^ card) * GOLDEN
    return key ^ (key >> _S29)


@kernel
def fill_buckets(held, laid, laid_by, me, pile, last_bucket, buckets):
    """Fills the bucket (``N_TABLES``,) of each table at a decision of the play.

    Args:
        held: the own hand, packed (:mod:`crib_env.agents.lookahead`).
        laid, laid_by: (8,) card ids, oldest first, and who laid each.
        me: who decides, as ``laid_by`` calls it.
        last_bucket: uint64, the highest number of a bucket, one less than a power of two.
    """
    hand = mix(np.uint64(held))
    whole, count, theirs, last = hand, hand ^ GOLDEN, np.uint64(0), _NO_RANK
    for k in range(pile.n_laid):
        rank = np.uint64(laid[k] % 13)
        card = rank + np.uint64(1) + _OPPONENT * np.uint64(laid_by[k] != me)
        whole = _append(whole, card)
        if k >= pile.start:
            count, last = _append(count, card), rank
        if laid_by[k] != me:
            theirs += np.uint64(1) << (np.uint64(4) * rank)
    said_go = pile.n_laid > pile.start and laid_by[pile.n_laid - 1] == me  # the opponent has, since the turn came back
    now = np.uint64(pile.count + 32 * pile.opponent_cards + 256 * said_go)
    latest = _append(hand, now + np.uint64(512) * last)
    buckets[0] = np.int64(mix(whole) & last_bucket)  # all
    buckets[1] = np.int64(mix(_append(count, now)) & last_bucket)  # this count, card by card
    buckets[2] = np.int64(mix(latest) & last_bucket)  # its last card
    buckets[3] = np.int64(mix(_append(latest, mix(theirs))) & last_bucket)  # that, and all ranks that the opponent laid


@kernel
def fill_legal_cards(legal, cards):
    """Writes one legal card (a mask) of each rank, lowest rank first; returns how many."""
    n, ranks = 0, ranks_in(legal)
    while ranks:
        card = lowest(ranks)
        ranks &= ranks - 1
        while not (legal >> card) & 1:
            card += 13
        cards[n] = card
        n += 1
    return n


@kernel
def softmax(logits, n, chances):
    """Writes how likely each of the first ``n`` places is by its logit."""
    most, total = logits[0], 0.0
    for k in range(1, n):
        most = max(most, logits[k])
    for k in range(n):
        chances[k] = np.exp(logits[k] - most)
        total += chances[k]
    for k in range(n):
        chances[k] /= total


_N_PAIRS = 91
_OF_ROLE = N_FOURS + 2 * _N_PAIRS
N_LEARNED = 2 * _OF_ROLE
"""Numbers learned: for both roles the hands kept, and the pairs discarded, of two suits and of one."""
N_PARTS = 2  # of what is learned of a discard


class Discards(NamedTuple):
    """What six cards alone tell of their fifteen discards, ordered as
    :data:`crib_env.exact.discard_statistics.PLACES`. A first axis may number deals."""

    hands: np.ndarray
    """(15,) int16, as :func:`crib_env.exact.discard_means.hand_total` has them."""
    cribs: np.ndarray
    """(15,) int32, as :func:`crib_env.exact.discard_means.crib_total` has them."""
    parts: np.ndarray
    """(15, ``N_PARTS``) int16, where the parts of what is learned stand among the numbers of a role."""


def no_discards(*deals: int) -> Discards:
    """Work arrays, for a deal or for ``deals``."""
    shape = (*deals, N_DISCARDS)
    return Discards(np.zeros(shape, np.int16), np.zeros(shape, np.int32), np.zeros((*shape, N_PARTS), np.int16))


@kernel
def fill_discards(six, discards):
    """Fills the :class:`Discards` of six cards (a mask)."""
    cards = cards_in(six, 6)
    k = 0
    for i in range(6):
        for j in range(i + 1, 6):
            kept, is_one_suit = six ^ bit(cards[i]) ^ bit(cards[j]), np.int64(cards[i] // 13 == cards[j] // 13)
            discards.hands[k] = hand_total(kept, six)
            discards.cribs[k] = crib_total(cards[i], cards[j], cards)
            discards.parts[k, 0] = hand_of_mask(kept)
            discards.parts[k, 1] = N_FOURS + is_one_suit * _N_PAIRS + PAIR_NUMBER[cards[i] % 13, cards[j] % 13]
            k += 1


@kernel
def mean_crib(discards, k, is_dealer):
    """The known mean of the crib after discard ``k``, minus that as pone, points."""
    return (1 if is_dealer else -1) * discards.cribs[k] / COMPLETIONS


@kernel
def learned_at(discards, k, part, is_dealer):
    """Where a part of what is learned of discard ``k`` stands; ``is_dealer`` is 0 or 1."""
    return is_dealer * _OF_ROLE + np.int64(discards.parts[k, part])


@kernel
def fill_values(discards, is_dealer, learned, values):
    """Fills the values (15,) of the discards in points, from what is learned, (``N_LEARNED``,) float32 points."""
    for k in range(N_DISCARDS):
        values[k] = HAND_SCALE * np.int64(discards.hands[k]) / COMPLETIONS + mean_crib(discards, k, is_dealer)
        for part in range(N_PARTS):
            values[k] += learned[learned_at(discards, k, part, is_dealer)]


LEARNER = "mmd-tables"
_MOST_BITS = 28
_BY_ROLE = (2, N_LEARNED // 2)  # the shape in a file of what is learned of discards


class TablesAgent:
    """Draws each card from its distribution, or takes the most likely one.

    Args:
        play: (``N_TABLES``, 2**bits, n, ``BUCKET``) float32, of which ``[:, :, LOGIT]`` are the logits.
        discards: (``N_LEARNED``,) float32 points.
        temperature: in points, of which the discards' values are the logits.
        plays: ``"sample"`` draws cards and ``"mode"`` takes the most likely.
        seed: of the draws, which depend only on it, the game's id and the decision's number.
    """

    powers = Powers(mixes="known", suits="unseen", remembers_discards=False, sees_starter=False)

    def __init__(
        self, play: torch.Tensor, discards: torch.Tensor, temperature: float, plays: Plays = "sample", seed: int = 0
    ) -> None:
        self.play, self.discards, self.temperature = play, discards, temperature
        self.plays, self.name, self._seed = plays, LEARNER, streams(seed, 1)[0]

    @classmethod
    def load(cls, path: str | Path, plays: Plays = "sample", seed: int = 0) -> TablesAgent:
        """An agent from a weights file.

        Raises:
            ValueError: the file is missing, damaged or holds other weights; the message names it.
        """
        with reading_weights(path, LEARNER) as file:
            bits, temperature = file.about["bits"], float(file.about["temperature"])
            if not (isinstance(bits, int) and 0 < bits <= _MOST_BITS):
                raise ValueError(f"bits {bits}")
            if not 0 < temperature < np.inf:
                raise ValueError(f"temperature {temperature}")
            tables = file.load_weights({"discards": _BY_ROLE, "logits": (N_TABLES, 1 << bits, 1, BUCKET)})
            return cls(tables["logits"], tables["discards"].flatten(), temperature, plays, seed)

    def save(self, path: Path) -> None:
        """Writes the tables, whole or not at all, the logits as 16-bit numbers."""
        logits = self.play[:, :, LOGIT : LOGIT + 1].half()
        logits[..., SEEN] = 0
        tables = {"discards": self.discards.view(_BY_ROLE), "logits": logits}
        bits = self.play.shape[1].bit_length() - 1
        save_tensors(path, tables, {"learner": LEARNER, "bits": bits, "temperature": self.temperature})

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        return draw(self.probabilities(views), uniforms(self._seed, views))

    def probabilities(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.MixedAgent`."""
        return card_chances(views, self._discard_chances, self._rank_chances)

    def _discard_chances(self, views: PlayerViews) -> np.ndarray:
        six, values = six_dealt(views), np.empty((len(views), N_DISCARDS))
        _fill_values(six, views.is_dealer, self.discards.numpy(), no_discards(), values)
        values[~pairs_open(views, six)] = -np.inf
        return chances_of_pairs(views, six[:, PLACES], self._chances(values / self.temperature))

    def _rank_chances(self, views: PlayerViews) -> np.ndarray:
        logits = np.full((len(views), N_RANKS), -np.inf)
        _fill_logits(views.arrays, self.play.numpy(), logits)
        return self._chances(logits)

    def _chances(self, logits: np.ndarray) -> np.ndarray:
        """Of choices, by their logits (B, n)."""
        if self.plays == "mode":
            return np.eye(logits.shape[1])[logits.argmax(axis=1)]
        return without_rare(np.exp(logits - logits.max(axis=1, keepdims=True)))


@kernel
def _fill_values(sixes, is_dealer, learned, discards, values):
    for b in range(len(values)):
        fill_discards(mask_of(sixes[b]), discards)
        fill_values(discards, np.int64(is_dealer[b]), learned, values[b])


@kernel
def _fill_logits(views, play, out):
    last_bucket, buckets = np.uint64(play.shape[1] - 1), np.empty(N_TABLES, np.int64)
    cards = np.empty(BUCKET, np.int64)
    for b in range(len(out)):
        n_laid, theirs = np.int64(views.n_laid[b]), np.int64(views.opponent_cards[b])
        pile = Pile(n_laid, np.int64(views.pile_start[b]), np.int64(views.count[b]), theirs)
        held = packed(mask_of(views.hand[b]))
        fill_buckets(held, views.laid[b], views.laid_by[b], 0, pile, last_bucket, buckets)
        for k in range(fill_legal_cards(cards_of(views.action_mask[b]), cards)):
            rank = cards[k] % N_RANKS
            out[b, rank] = 0
            if k != SEEN:
                for table in range(N_TABLES):
                    out[b, rank] += play[table, buckets[table], LOGIT, k]
