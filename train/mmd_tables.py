"""Magnetic mirror descent (Sokota et al. 2023) with tables in place of networks.

The update is that of :mod:`crib_env.train.mmd`, made after every deal. The temperature α falls geometrically during the
run, exploration linearly. Policy and critic are sums of four tables (:mod:`crib_env.agents.mmd_tables`), so a core
learns from a million and a half decisions a second. Sums of tables that learn from their own play have done well in
other games (Lucas 2008, Szubert and Jaśkowski 2014).

With the paper's names: at a decision s the player lays a with probability π(a | s), the softmax of its logits z(s, ·);
G is the λ-return, own points less the opponent's from s on. The critic Q(s, ·) follows G; the error corrects it for a::

    q(b) = Q(s, b) + [b = a] (G - Q(s, a)) / π(a | s)
    z(s, b) += η (q(b) - Σ π q  -  α (z(s, b) - Σ π z))
    Q(s, a) += c' / (c' + n) (G - Q(s, a))

Where both seats keep doing this, z comes to rest at q / α, less a constant: the best response to itself under a bonus
for entropy of weight α. To Q two more tables are added whose keys have both hands, in training alone: the luck of the
hidden cards then makes less noise. Tables share a step evenly.

Each bucket counts the decisions n from which it has learned, and its steps become shorter with them::

    1 / η = 1 / (step size) + α n / c

So after many decisions z is a mean of q / α with weights n^(c - 1), in which the latest count for more, as Q is of G.

Discards are drawn from the softmax of q / α itself, where q is the sum of what is known exactly of them and of what the
critic has learned of the rest: net points of the play, and of the crib beyond its known mean. What is known of six
cards is computed once for each class of deals (:mod:`crib_env.exact.deal_classes`): training takes half the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

import numpy as np
import torch

import crib_env.agents.mmd_tables as player
from crib_env import engine
from crib_env.agents.lookahead import packed
from crib_env.agents.mmd_tables import BUCKET, LOGIT, N_LEARNED, N_PARTS, N_TABLES, SEEN, Discards, TablesAgent
from crib_env.exact.deal_classes import N_CLASSES, representatives, with_suits_in_order
from crib_env.exact.discard_statistics import N_DISCARDS, PLACE_OF, PLACES
from crib_env.hands import ranks_in
from crib_env.kernels import GOLDEN, below, bit, cards_in, kernel, lowest, mix, popcount
from crib_env.train.loop.run import Round
from crib_env.train.loop.settings import Count, PeggingCards, RunSettings
from crib_env.values import Positive, Range, Share

N_CRITIC_TABLES = 2
_STEP = 1.0  # η of a bucket's first decision, for each point
_RECENCY, _CRITIC_RECENCY = 4.0, 16.0  # c and c'
_BOTH_RATE = 0.15  # share of its error that the critic's tables of both hands learn, from beginning to end
_LAMBDA = 0.5
_LEAST = 0.2  # a correction is divided by no smaller chance: less noise, a little bias
_VALUE = 1  # where values stand in a bucket, beside logits
_LUCK = 400  # deals, in whose mean the luck is as large as what there is to learn of a discard


@dataclass(frozen=True)
class MMDTablesSettings(RunSettings):
    """Settings of magnetic mirror descent with tables."""

    episode: Literal["deal", "pegging"] = "pegging"
    """What an episode is: a deal, or the play alone, without a crib."""
    cards: PeggingCards = 4
    """Cards of each player in pegging."""
    bits: Annotated[int, Range(4, 28)] = 24
    """Each table has 2**bits buckets: 24 take 2.7 GB, and two cards each need no more than 14."""
    temperature: Positive = 0.3
    """α at the beginning, in points."""
    final_temperature: Positive = 0.03
    """α at the end; it changes geometrically in between."""
    epsilon: Share = 0.2
    """Probability of a random card at the beginning; it changes linearly."""
    final_epsilon: Share = 0.0
    """Probability of a random card at the end. A player that meets random cards to the end wins more against simple
    players, and is more exploitable."""
    episodes: Count = 180_000_000
    """Deals to play."""
    episodes_at_once: Count = 200_000
    """Deals in a round."""
    checkpoint_seconds: Annotated[float, Range(0)] = 300.0
    """Seconds between checkpoints, which are as large as the tables."""


class Tables(NamedTuple):
    """What is learned, float32. Of a bucket, one number for each rank that may be laid, the lowest first."""

    play: np.ndarray  # (N_TABLES, 2**bits, 2, BUCKET): logits, and the critic's part that sees what the player sees
    both: np.ndarray  # (N_CRITIC_TABLES, 2**bits, BUCKET), its part that sees both hands; points
    discards: np.ndarray  # (2, N_LEARNED): points (crib_env.agents.mmd_tables), and how many deals each is from


DECISION = np.dtype(  # with a choice
    [
        ("buckets", np.int64, N_TABLES),
        ("both", np.int64, N_CRITIC_TABLES),  # buckets of the critic's tables of both hands
        ("logits", np.float64, BUCKET),
        ("values", np.float64, BUCKET),
        ("chances", np.float64, BUCKET),
        ("n", np.int64),  # how many ranks could be laid
        ("place", np.int64),  # which of them was
        ("probability", np.float64),  # how likely, exploration included
        ("seat", np.int64),  # who decided
        ("lead", np.float64),  # own points less the opponent's, before
    ]
)
N_DECISIONS = 6  # at most, in the play of eight cards: the last card of a player is none


@kernel
def uniform(g):
    """A random number from 0 to 1, of the deal's own stream."""
    return np.float64(engine.random_word(g) >> np.uint64(11)) / 2.0**53


@kernel
def drawn_place(chances, n, number):
    """Which of ``n`` places a number from 0 to 1 draws."""
    for k in range(n - 1):
        number -= chances[k]
        if number < 0:
            return k
    return n - 1


@kernel
def _fill_both(g, held, theirs, me, last_bucket, both):
    """The buckets of the critic's tables of both hands: with all cards of this count, and with the last one."""
    hands = mix(np.uint64(held) ^ mix(np.uint64(theirs)))
    n, start = np.int64(g["n_laid"]), np.int64(g["pile_start"])
    hands += np.uint64(n > start and g["laid_by"][n - 1] == me)
    cards, last = hands, np.uint64(0)
    for k in range(start, n):
        last = np.uint64(g["laid"][k] % 13) + np.uint64(1)
        cards = mix(cards + last)
    both[0] = np.int64(cards & last_bucket)
    both[1] = np.int64(mix(hands + GOLDEN * (last + np.uint64(16) * np.uint64(g["count"] + 1))) & last_bucket)


@kernel
def decide(g, tables, d, cards, epsilon):
    """Fills a decision of the seat to act; returns the card that it lays."""
    me, legal = np.int64(g["turn"]), engine.legal_cards(g)
    hand, theirs = g["hand"][me], g["hand"][1 - me]
    n = player.fill_legal_cards(legal, cards)
    held = packed(hand)
    pile = player.Pile(np.int64(g["n_laid"]), np.int64(g["pile_start"]), np.int64(g["count"]), popcount(theirs))
    player.fill_buckets(held, g["laid"], g["laid_by"], me, pile, np.uint64(tables.play.shape[1] - 1), d["buckets"])
    _fill_both(g, held, packed(theirs), me, np.uint64(tables.both.shape[1] - 1), d["both"])
    for k in range(n):
        logit, value = 0.0, 0.0
        for table in range(N_TABLES):
            at = d["buckets"][table]
            if k != SEEN:
                logit += tables.play[table, at, LOGIT, k]
            value += tables.play[table, at, _VALUE, k]
        for table in range(N_CRITIC_TABLES):
            value += tables.both[table, d["both"][table], k]
        d["logits"][k], d["values"][k] = logit, value
    player.softmax(d["logits"], n, d["chances"])
    place = below(engine.random_word(g), n) if uniform(g) < epsilon else drawn_place(d["chances"], n, uniform(g))
    d["n"], d["place"], d["seat"] = n, place, me
    d["probability"] = (1 - epsilon) * d["chances"][place] + epsilon / n
    d["lead"] = g["scores"][me] - g["scores"][1 - me]
    return cards[place]


@kernel
def learn(tables, d, target, temperature):
    """Learns from a decision, whose return is ``target``; the critic's squared error, and π's value and entropy."""
    n, place = d["n"], d["place"]
    error = target - d["values"][place]
    correction = error / max(d["probability"], _LEAST)
    value, mean_logit = 0.0, 0.0
    for k in range(n):
        value += d["chances"][k] * d["values"][k]
        mean_logit += d["chances"][k] * d["logits"][k]
    corrected = value + d["chances"][place] * correction
    slopes = d["values"]  # in place of them: nobody reads them again
    for k in range(n):
        q = d["values"][k] + (correction if k == place else 0.0)
        slopes[k] = q - corrected - temperature * (d["logits"][k] - mean_logit)
    for table in range(N_TABLES):
        bucket = tables.play[table, d["buckets"][table]]
        seen = bucket[LOGIT, SEEN]
        bucket[LOGIT, SEEN] += np.float32(1)
        step = _STEP / (1 + _STEP * temperature * seen / _RECENCY) / N_TABLES
        for k in range(1, n):
            bucket[LOGIT, k] += step * (slopes[k] - slopes[0])
        bucket[_VALUE, place] += _CRITIC_RECENCY / (_CRITIC_RECENCY + seen) * error / N_TABLES
    for table in range(N_CRITIC_TABLES):
        tables.both[table, d["both"][table], place] += _BOTH_RATE * error
    likely = max(d["chances"][place], _LEAST)
    return error * error, value, d["logits"][place] - np.log(likely) - mean_logit


class KnownDiscards(NamedTuple):
    """What is known of the classes of six cards that have come up, 0.2 GB."""

    classes: np.ndarray  # (N,) int64, :func:`crib_env.exact.deal_classes.representatives`
    is_known: np.ndarray  # (N,) bool
    discards: Discards  # (N, ...) of the representatives
    found: Discards  # those of the six cards looked up
    suits: np.ndarray  # (4,) int64 work array: the new names of a deal's suits
    places: np.ndarray  # (6,) int64 work array: which card, in ascending order, each becomes


def no_known_discards() -> KnownDiscards:
    """Nothing is known yet."""
    every, work = player.no_discards(N_CLASSES), (np.zeros(4, np.int64), np.zeros(6, np.int64))
    return KnownDiscards(representatives(), np.zeros(N_CLASSES, np.bool_), every, player.no_discards(), *work)


@kernel
def look_up_discards(six, known):
    """Fills ``known.found`` with the :class:`Discards` of six cards (a mask)."""
    renamed, rest, every = with_suits_in_order(six, known.suits), six, known.discards
    for i in range(6):
        card = lowest(rest)
        rest &= rest - 1
        known.places[i] = popcount(renamed & (bit(13 * known.suits[card // 13] + card % 13) - 1))
    at, k = np.searchsorted(known.classes, renamed), 0
    if not known.is_known[at]:
        player.fill_discards(renamed, Discards(every.hands[at], every.cribs[at], every.parts[at]))
        known.is_known[at] = True
    for i in range(6):
        for j in range(i + 1, 6):
            there = PLACE_OF[known.places[i], known.places[j]]
            known.found.hands[k], known.found.cribs[k] = every.hands[at, there], every.cribs[at, there]
            known.found.parts[k] = every.parts[at, there]
            k += 1


@kernel
def _discard(g, tables, temperature, known, values, learned_at, cribs):
    """The seat to act discards both cards; fills where what is learned of them stands, and the known mean of the crib,
    by seat."""
    seat, found = np.int64(g["turn"]), known.found
    six, is_dealer = np.int64(g["hand"][seat]), np.int64(seat == g["dealer"])
    look_up_discards(six, known)
    player.fill_values(found, is_dealer, tables.discards[0], values)
    for k in range(N_DISCARDS):
        values[k] /= temperature
    player.softmax(values, N_DISCARDS, values)
    k = drawn_place(values, N_DISCARDS, uniform(g))
    cribs[seat] = player.mean_crib(found, k, is_dealer)
    for part in range(N_PARTS):
        learned_at[seat, part] = player.learned_at(found, k, part, is_dealer)
    cards = cards_in(six, 6)
    for card in PLACES[k]:
        engine.act(g, cards[card])


@kernel
def _show(g):
    """What seat 0 made in the show, less what seat 1 made, and the dealer in the crib."""
    net, crib = np.int64(0), np.int64(0)
    for k in range(g["n_events"]):
        points = np.int64(g["event_points"][k]) if g["event_kind"][k] >= engine.PONES_HAND else 0
        net += points if g["event_player"][k] == 0 else -points
        crib += points if g["event_kind"][k] == engine.CRIB else 0
    return net, crib


@kernel
def play_and_learn(g, episode, n, tables, temperature, epsilon, known, tally):
    """Plays ``n`` deals, in which each seat deals in turn, and learns from every decision. The record has a seeded
    ``episode_stream``; to ``tally`` (4,) are added decisions, and the sums of what :func:`learn` says of them."""
    cards, values, decisions = np.empty(13, np.int64), np.empty(N_DISCARDS), np.zeros(N_DECISIONS, DECISION)
    learned_at, cribs = np.empty((2, N_PARTS), np.int64), np.empty(2)
    for dealt in range(n):
        engine.begin_game(g, episode, dealt & 1, 0, 0, -1)
        engine.shuffle(g)
        engine.begin_deal(g)
        while g["phase"] == engine.DISCARD:
            _discard(g, tables, temperature, known, values, learned_at, cribs)
        heels, t = np.float64(g["scores"][0] - g["scores"][1]), 0
        while g["phase"] == engine.PLAY:
            legal = engine.legal_cards(g)
            ranks = ranks_in(legal)
            if ranks & (ranks - 1) == 0:  # no choice
                engine.act(g, lowest(legal))
            else:
                engine.act(g, decide(g, tables, decisions[t], cards, epsilon))
                t += 1
        shown, crib = _show(g)
        played = np.float64(g["scores"][0] - g["scores"][1] - shown)
        for seat in range(len(engine.ROLES)):
            lead, ahead = played if seat == 0 else -played, 0.0
            if episode == engine.DEAL_EPISODE:
                pegged = lead - (heels if seat == 0 else -heels)
                error = pegged + (crib if seat == g["dealer"] else -crib) - cribs[seat]
                for at in learned_at[seat]:
                    error -= tables.discards[0, at]
                for at in learned_at[seat]:
                    learned = tables.discards[:, at]
                    learned[0] += _CRITIC_RECENCY / (_CRITIC_RECENCY + (learned[1] + _LUCK)) * error / N_PARTS
                    learned[1] += np.float32(1)
            for k in range(t - 1, -1, -1):
                if decisions[k]["seat"] == seat:
                    target = lead - decisions[k]["lead"] + ahead
                    squared, value, entropy = learn(tables, decisions[k], target, temperature)
                    ahead = _LAMBDA * target + (1 - _LAMBDA) * value
                    lead = decisions[k]["lead"]
                    tally[0] += 1
                    tally[1] += squared
                    tally[2] += value
                    tally[3] += entropy


class MMDTables:
    """Policy and critic in training; the agent has the policy, in the same memory."""

    Settings = MMDTablesSettings

    def __init__(self, settings: MMDTablesSettings) -> None:
        self._settings, self._known = settings, no_known_discards()
        n = 1 << settings.bits
        shapes = (N_TABLES, n, 2, BUCKET), (N_CRITIC_TABLES, n, BUCKET), (2, N_LEARNED)
        # NumPy asks for large pages of memory, in which a fifth of the time is saved.
        self._tables = Tables(*(np.zeros(shape, np.float32) for shape in shapes))
        self._tensors = {name: torch.from_numpy(table) for name, table in self._tables._asdict().items()}
        play, discards = self._tensors["play"], self._tensors["discards"]
        self.agent = TablesAgent(play, discards[0], settings.temperature, seed=settings.seed)
        self.play_and_learn(Round.first(0))  # compiles before the clocks start

    def play_and_learn(self, now: Round) -> dict[str, float]:
        """Plays deals, and learns from each; scalars for TensorBoard. ``FloatingPointError`` if they are not finite."""
        settings, games, tally = self._settings, np.zeros(1, engine.GAME), np.zeros(4)
        games["episode_stream"], games["fewer"] = now.rng.integers(2**64, dtype=np.uint64), 4 - settings.cards
        share = now.episodes_before / settings.episodes
        self.agent.temperature = settings.temperature * (settings.final_temperature / settings.temperature) ** share
        rates, episode = (self.agent.temperature, now.epsilon), engine.EPISODES.index(settings.episode)
        play_and_learn(games[0], episode, now.episodes, self._tables, *rates, self._known, tally)
        if not np.isfinite(tally[1]):
            raise FloatingPointError(f"the squared errors of the critic are {tally[1]}")
        means = zip(("critic loss", "mean value", "entropy"), (tally[1:] / max(tally[0], 1)).tolist())
        return {**dict(means), "temperature": self.agent.temperature}

    def state_dict(self) -> dict[str, torch.Tensor]:
        """The tensors that a checkpoint saves."""
        return self._tensors

    def load_state_dict(self, tensors: dict[str, torch.Tensor]) -> None:
        """Restores the tensors of :meth:`state_dict`."""
        for name, tensor in self._tensors.items():
            tensor.copy_(tensors[name].view(tensor.shape))
