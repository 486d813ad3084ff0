"""Halscrib: seven strategies for the discard, three for the play, chosen by the score; pairs are mixed at random.

After Mueller (1987), "Halscrib", sections "Optimal Strategy Selection" and "Preliminary Results".

Discards. The seven strategies of the paper. The hand is taken over its 46 starters and the crib over all its
completions, both exactly:

=========  ==============================  ==========================================
strategy   as dealer, maximises            as pone, maximises
=========  ==============================  ==========================================
sure       four cards alone, no starter    the same
safe       mean hand + mean crib           mean hand - highest crib
optimal    mean hand + mean crib           mean hand - mean crib
risky      highest hand + highest crib     highest hand - lowest crib
=========  ==============================  ==========================================

The first rule that applies decides (:func:`discard_situations`):

1. The opponent counts first and is expected to go out: risky.
2. The player expects to go out, and the opponent counts first, is below a skunk line and is expected to pass it: risky.
3. Four cards alone take the player out: sure.
4. The player expects to go out: safe.
5. The player counts first, the opponent is expected to go out, and the hand takes the player past a skunk line: safe.
6. The player is behind by more than 15: risky. It is ahead by more than 15: safe.
7. Otherwise: optimal.

The play follows the same margin of 15. Each card has three measures: the expected net points, the highest net points
that any hand of the opponent allows, and the most points that the opponent's next card can make. "Optimal" maximises
the first, "risky" the second; "safe" minimises the third.

Mixing. If leading from a pair, or pairing the lead, nets most, the player does so only with this probability:

==================  ====  =======  =====
choice              safe  optimal  risky
==================  ====  =======  =====
lead from a pair     80%      65%    50%
pair the lead        35%      50%    65%
==================  ====  =======  =====

Differences from the paper, and what it leaves open:

* "Sure" is the paper's first strategy. The paper does not say when to use it.
* Expected points: the own best discard at its optimal value, and 10.2 points for an opposing pone or 16.2 for an
  opposing dealer, of which 2.1 and 3.4 come from the play.
* Ties between discards ("ties are broken differently"): risky and sure prefer the better optimal value, safe the better
  worst hand, optimal the better best hand.
* Net points cover three cards, the own one, the best reply and the best answer to it, over all hands that the opponent
  may hold (:mod:`crib_env.agents.lookahead`). The paper does not give the depth. Between equally safe or equally
  risky cards, expected net points decide.
* "Inferior card between 50–80 % of the time" (page 6) contradicts "made that selection 65 %, 80 %, 50 %" (page 7). We
  use the second, because it gives one value for each situation. It comes near the matrix's 40 % where there is a
  choice, though not over all leads (``python -m crib_env.evaluate.makers.papers mueller-1987`` measures both). It is
  not said which end of 35–65 % belongs to which situation. Here the safe player pairs least, since the opponent may
  pair again.
* If the pair does not net most (two fives, say), mixing would only lose points, and the best card is led.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from crib_env import PlayerViews, discard_statistics
from crib_env.agents.choosing import (
    by_phase,
    card_chances,
    legal_ranks,
    lowest_of_rank,
    next_discard,
    six_dealt,
    uniforms,
)
from crib_env.agents.lookahead import Measures, measure
from crib_env.agents.minimax import crib_bounds
from crib_env.engine import DOUBLE_SKUNK, SKUNK, WIN
from crib_env.exact.discard_statistics import PLACES
from crib_env.hands import N_RANKS
from crib_env.kernels import bit, kernel, lowest, mask_of, streams
from crib_env.observation import N_ACTIONS
from crib_env.players.agent import Powers
from crib_env.scoring import SUIT, add_rank, rank_points

SAFE, OPTIMAL, RISKY = np.arange(3)
SURE = 3
MARGIN = 15
# Points that an average player makes in a deal, as pone and as dealer, and how many of them in the play.
PER_DEAL, FROM_PLAY = np.array([10.2, 16.2]), np.array([2.1, 3.4])
LEADS_PAIR = np.array([0.80, 0.65, 0.50])  # by situation: how often to lead from a pair when that is best
ANSWERS_PAIR = np.array([0.35, 0.50, 0.65])  # and how often to pair the lead when that is best
_DEPTH = 3  # a card, the answer, and the answer to that
_FAR = 1_000  # beyond all points


class Mixture(NamedTuple):
    """The ranks laid in B decisions: ``rank`` with probability ``often``, else ``other``."""

    rank: np.ndarray  # (B,) int64
    other: np.ndarray  # (B,) int64, any where nothing is mixed
    often: np.ndarray  # (B,) float64


def play_situations(scores: np.ndarray) -> np.ndarray:
    """(B,) ``SAFE``, ``OPTIMAL`` or ``RISKY`` by the margin alone, from scores (B, 2), own first."""
    ahead = scores[:, 0].astype(int) - scores[:, 1]
    return np.select([ahead > MARGIN, ahead < -MARGIN], [SAFE, RISKY], OPTIMAL)


def discard_situations(
    scores: np.ndarray, is_dealer: np.ndarray, sure: np.ndarray, hand: np.ndarray, deal: np.ndarray
) -> np.ndarray:
    """The strategy of each discard: ``SAFE``, ``OPTIMAL``, ``RISKY`` or ``SURE``.

    Args:
        scores: (B, 2), own first.
        is_dealer: (B,) bool; then the opponent counts first.
        sure: (B,) points of the best four cards without a starter.
        hand: (B,) points expected from the hand of the best discard.
        deal: (B,) points expected from the whole deal: hand, own crib and play.
    """
    own, other = scores.T.astype(float)
    role = is_dealer.astype(int)
    other_after = other + PER_DEAL[1 - role]
    own_goes_out, other_goes_out = own + deal >= WIN, other_after >= WIN
    other_is_saved, own_is_saved = np.zeros(len(own), bool), np.zeros(len(own), bool)
    for line in (SKUNK, DOUBLE_SKUNK):
        other_is_saved |= (other <= line) & (other_after > line)
        own_is_saved |= (own <= line) & (own + hand > line)
    rules: list[tuple[np.ndarray, Any]] = [
        (is_dealer & other_goes_out, RISKY),
        (is_dealer & own_goes_out & other_is_saved, RISKY),
        (own + sure >= WIN, SURE),
        (own_goes_out, SAFE),
        (~is_dealer & other_goes_out & own_is_saved, SAFE),
    ]
    return np.select([holds for holds, _ in rules], [situation for _, situation in rules], play_situations(scores))


@kernel
def _count_four(hands, points):
    """Fills ``points`` (N, 15) with what the four kept cards of each discard score without a starter."""
    for i in range(len(hands)):
        six = mask_of(hands[i])
        for k in range(15):
            kept = six ^ bit(hands[i, PLACES[k, 0]]) ^ bit(hands[i, PLACES[k, 1]])
            counts, sums = np.int64(0), np.int64(1)
            rest = kept
            while rest:
                counts, sums = add_rank(counts, sums, lowest(rest) % 13)
                rest &= rest - 1
            points[i, k] = rank_points(counts, sums)
            if kept & (SUIT << (13 * (lowest(kept) // 13))) == kept:
                points[i, k] += 4


def discard_values(six: np.ndarray, is_dealer: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The value of each discard under each strategy, the value that breaks ties, and the mean of its hand.

    Args:
        six: (N, 6) hands, sorted ids.
        is_dealer: (N,) bool.

    Returns:
        Two arrays (4, N, 15), by strategy (``SAFE``, ``OPTIMAL``, ``RISKY``, ``SURE``) and discard; one (N, 15).
    """
    hand, (lowest_crib, highest_crib) = discard_statistics(six), crib_bounds(six)
    four = np.empty(hand.shape)
    _count_four(six, four)
    dealer = is_dealer[:, None]
    safe = hand["hand_mean"] + np.where(dealer, hand["crib_mean"], -highest_crib)
    optimal = hand["hand_mean"] + np.where(dealer, hand["crib_mean"], -hand["crib_mean"])
    risky = hand["hand_max"] + np.where(dealer, highest_crib, -lowest_crib)
    ties = np.stack([hand["hand_min"], hand["hand_max"], optimal, optimal])
    return np.stack([safe, optimal, risky, four]), ties, hand["hand_mean"]


def _best(situations: np.ndarray, choices: np.ndarray, measures: Measures) -> np.ndarray:
    """(B,) the best rank of the choices (B, 13) bool in each situation; ties go to the lowest."""
    is_safe, is_risky = (situations[:, None] == of for of in (SAFE, RISKY))
    first = np.where(is_safe, -measures.reply, np.where(is_risky, measures.highest, 0))
    first = np.where(choices, first, -_FAR)
    is_first = choices & (first == first.max(axis=1, keepdims=True))
    return np.where(is_first, measures.expected, -np.inf).argmax(axis=1)


def _mixture(views: PlayerViews) -> Mixture:
    """What is laid at decisions of the play."""
    fits, situations = legal_ranks(views), play_situations(views.scores)
    measures, is_lead = measure(views, np.full(len(views), _DEPTH)), views.n_laid == 0
    of_lead = views.action_mask.reshape(-1, 4, N_RANKS).sum(axis=1) > 1
    of_answer = (views.n_laid == 1)[:, None] & (views.laid[:, :1] % N_RANKS == np.arange(N_RANKS))
    pairs = fits & np.where(is_lead[:, None], of_lead, of_answer)
    others = fits & ~pairs
    pair, other = (np.where(ranks, measures.expected, -np.inf).max(axis=1) for ranks in (pairs, others))
    is_mixed = (pair > other) & others.any(axis=1)
    best = _best(situations, np.where(is_mixed[:, None], pairs, fits), measures)
    often = np.where(is_mixed, np.where(is_lead, LEADS_PAIR[situations], ANSWERS_PAIR[situations]), 1.0)
    return Mixture(best, _best(situations, others, measures), often)


class HalscribAgent:
    """See the module.

    Args:
        seed: of the mixing; draws depend only on it, the game's id and the decision's number.
    """

    name = "halscrib"
    powers = Powers(mixes="known", suits="unseen")

    def __init__(self, seed: int = 0) -> None:
        self._seed = streams(seed, 1)[0]

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        return by_phase(views, self._discard, self._lay)

    def probabilities(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.MixedAgent`."""
        return card_chances(views, lambda discards: np.eye(N_ACTIONS)[self._discard(discards)], _rank_chances)

    def _discard(self, views: PlayerViews) -> np.ndarray:
        values, ties, means = discard_values(six_dealt(views), views.is_dealer)
        deals, best = np.arange(len(views)), values[OPTIMAL].argmax(axis=1)
        hand = means[deals, best]
        from_play = FROM_PLAY[views.is_dealer.astype(int)]
        deal = from_play + np.where(views.is_dealer, values[OPTIMAL, deals, best], hand)
        situations = discard_situations(views.scores, views.is_dealer, values[SURE].max(axis=1), hand, deal)
        return next_discard(views, values[situations, deals], ties[situations, deals])

    def _lay(self, views: PlayerViews) -> np.ndarray:
        mixture = _mixture(views)
        is_first = uniforms(self._seed, views) < mixture.often
        return lowest_of_rank(views, np.where(is_first, mixture.rank, mixture.other))


def _rank_chances(views: PlayerViews) -> np.ndarray:
    mixture, ranks = _mixture(views), np.arange(N_RANKS)
    chances: np.ndarray = (mixture.rank[:, None] == ranks) * mixture.often[:, None]
    chances += (mixture.other[:, None] == ranks) * (1.0 - mixture.often[:, None])
    return chances
