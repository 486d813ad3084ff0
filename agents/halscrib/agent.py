"""Halscrib: seven ways to discard, three ways to play, the score says which; pairs by mixed frequencies.

After Mueller (1987), "Halscrib", sections "Optimal Strategy Selection", "Preliminary Results" and "Further Research".

Discards. The seven strategies of the paper, with the hand over its 46 starters and the crib over all its completions,
both exact:

=========  ==============================  ==========================================
situation  as dealer, the most of          as pone, the most of
=========  ==============================  ==========================================
sure       four cards alone, no starter    the same
safe       mean hand + mean crib           mean hand - highest crib
optimal    mean hand + mean crib           mean hand - mean crib
risky      highest hand + highest crib     highest hand - lowest crib
=========  ==============================  ==========================================

The first rule that holds says which (:func:`discard_situations`): when the opponent counts first and is expected to go
out, risky; when the player expects to go out, the opponent counts first, stands below a skunk line and is expected to
pass it, risky; when four cards alone go out, sure; when the player expects to go out, safe; when it counts first, the
opponent is expected to go out and the hand takes it over a skunk line, safe; behind by more than 15, risky; ahead by
more than 15, safe; else optimal.

The play, by the same margin of 15. Each card has three measures: the points it is expected to net, the highest net that
any cards of the opponent allow, and the most that the opponent's next card can make. Optimal takes the best of the
first, risky of the second, safe the least of the third.

Mixing. When leading from a pair, or pairing the lead, nets most, it is not always done:

==================  ====  =======  =====
how often           safe  optimal  risky
==================  ====  =======  =====
a pair is led from   80%      65%    50%
the lead is paired   35%      50%    65%
==================  ====  =======  =====

``adaptive`` is the research that the paper leaves to others. The four entries of the pay-off matrix (own pair or not,
opponent's pair or not) are computed for the very position; the frequency starts at their equilibrium, and moves towards
the best reply to what the opponent has shown in this game, the further the more it has shown.

Where this differs, and what the paper leaves open:

* "Sure" is the paper's first strategy, for which it gives no occasion.
* Expected means: the own best discard at its optimal value, and 10.2 points for an opposing pone, 16.2 for a dealer,
  with 2.1 and 3.4 of them from the play.
* Of equally good discards risky and sure take the one with the best optimal value; safe the one with the better worst
  hand, optimal the one with the better best hand ("ties are broken differently").
* Net points are those of three cards, the own one, the best reply and the own best answer, over all hands that the
  opponent may hold (:mod:`agents.belief.lookahead`); the paper does not say how far it looks. Equally safe or risky
  cards are told apart by what they are expected to net.
* "Inferior card between 50–80 % of the time" (page 6) contradicts "made that selection 65 %, 80 %, 50 %" (page 7): the
  second is taken, for it tells the situations apart. The matrix's 40 % it comes near where there is a choice, not over
  all leads (``python -m evaluate reproduce mueller-1987`` measures both). Which end of 35–65 % belongs to which
  situation is not said: here the safe player pairs least, for a pair may be paired again.
* Where the pair does not net most, say a pair of fives, there is no sound play to forgo, and the best card is led. An
  adaptive player mixes wherever it has both, by the matrix, whatever the situation.
"""

from __future__ import annotations

import numpy as np

from agents.belief.lookahead import N_HANDS, new_levels
from agents.chance import uniforms
from agents.discards import by_phase, next_thrown, six_dealt
from agents.halscrib.memory import Memory
from agents.halscrib.play import OPTIMAL, RISKY, SAFE, Mixture, fill_mixture
from crib_env import PlayerViews, crib_distribution, discard_statistics
from crib_env.engine import DOUBLE_SKUNK, SKUNK, WIN
from crib_env.exact.discard_statistics import PLACES
from crib_env.kernels import bit, kernel, lowest, mask_of, streams
from crib_env.observation import N_ACTIONS
from crib_env.scoring import SUIT, add_rank, rank_points

SURE = 3  # beside SAFE, OPTIMAL and RISKY
MARGIN = 15
# What a deal brings an average player, as pone and as dealer, and how much of it comes from the play.
PER_DEAL, FROM_PLAY = np.array([10.2, 16.2]), np.array([2.1, 3.4])


def play_situations(scores: np.ndarray) -> np.ndarray:
    """(B,) ``SAFE``, ``OPTIMAL`` or ``RISKY`` by the margin alone, from scores (B, 2), own first."""
    ahead = scores[:, 0].astype(int) - scores[:, 1]
    return np.select([ahead > MARGIN, ahead < -MARGIN], [SAFE, RISKY], OPTIMAL)


def discard_situations(
    scores: np.ndarray, is_dealer: np.ndarray, sure: np.ndarray, hand: np.ndarray, deal: np.ndarray
) -> np.ndarray:
    """Which strategy each discard takes: ``SAFE``, ``OPTIMAL``, ``RISKY`` or ``SURE``.

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
    rules = [
        (is_dealer & other_goes_out, RISKY),
        (is_dealer & own_goes_out & other_is_saved, RISKY),
        (own + sure >= WIN, SURE),
        (own_goes_out, SAFE),
        (~is_dealer & other_goes_out & own_is_saved, SAFE),
    ]
    return np.select([holds for holds, _ in rules], [situation for _, situation in rules], play_situations(scores))


@kernel
def _count_four(hands, points):
    """Fills ``points`` (N, 15) with what the four kept cards of each discard count without a starter."""
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
    """What each discard is worth by each strategy, what decides between equals, and the mean of its hand.

    Args:
        six: (N, 6) hands, sorted ids.
        is_dealer: (N,) bool.

    Returns:
        Two arrays (4, N, 15), by ``SAFE``, ``OPTIMAL``, ``RISKY`` and ``SURE`` and by discard, and one (N, 15), points.
    """
    hand, cribs = discard_statistics(six), crib_distribution(six) > 0
    lowest_crib, highest_crib = cribs.argmax(axis=2), cribs.shape[2] - 1 - cribs[:, :, ::-1].argmax(axis=2)
    four = np.empty(hand.shape)
    _count_four(six, four)
    dealer = is_dealer[:, None]
    safe = hand["hand_mean"] + np.where(dealer, hand["crib_mean"], -highest_crib)
    optimal = hand["hand_mean"] + np.where(dealer, hand["crib_mean"], -hand["crib_mean"])
    risky = hand["hand_max"] + np.where(dealer, highest_crib, -lowest_crib)
    ties = np.stack([hand["hand_min"], hand["hand_max"], optimal, optimal])
    return np.stack([safe, optimal, risky, four]), ties, hand["hand_mean"]


class HalscribAgent:
    """See the module. One object plays one seat of a game: it remembers games by their ids.

    Args:
        seed: of the mixing; draws depend on it, the game's id and the decision's number alone.
        adaptive: let frequencies follow the opponent.
    """

    def __init__(self, seed: int = 0, adaptive: bool = False) -> None:
        self.name = "halscrib:adaptive=yes" if adaptive else "halscrib"
        self._seed = streams(seed, 1)[0]
        self._adaptive = adaptive
        self._memory = Memory()

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`agents.agent.Agent`."""
        return by_phase(views, self._discard, self._play)

    def probabilities(self, views: PlayerViews) -> np.ndarray:
        """See :class:`agents.agent.MixedAgent`. Those of an adaptive player also depend on what it remembers."""
        chances, play = np.zeros((len(views), N_ACTIONS)), np.flatnonzero(~views.is_discard)
        throws = np.flatnonzero(views.is_discard)
        if len(throws):
            chances[throws, self._discard(views[throws])] = 1.0
        if len(play):
            mixture = self._mixture(views[play])
            chances[play, mixture.card] = mixture.often
            chances[play, mixture.other] += 1.0 - mixture.often
        return chances

    def _discard(self, views: PlayerViews) -> np.ndarray:
        if self._adaptive:
            self._memory.observe(views)  # the last deal is settled
        values, ties, means = discard_values(six_dealt(views), views.is_dealer)
        deals, best = np.arange(len(views)), values[OPTIMAL].argmax(axis=1)
        hand = means[deals, best]
        from_play = FROM_PLAY[views.is_dealer.astype(int)]
        deal = from_play + np.where(views.is_dealer, values[OPTIMAL, deals, best], hand)
        situations = discard_situations(views.scores, views.is_dealer, values[SURE].max(axis=1), hand, deal)
        return next_thrown(views, values[situations, deals], ties[situations, deals])

    def _play(self, views: PlayerViews) -> np.ndarray:
        mixture = self._mixture(views)
        return np.where(uniforms(self._seed, views) < mixture.often, mixture.card, mixture.other)

    def _mixture(self, views: PlayerViews) -> Mixture:
        seen = self._memory.observe(views) if self._adaptive else np.zeros((len(views), 2, 2))
        mixture = Mixture(np.empty(len(views), np.int64), np.empty(len(views), np.int64), np.empty(len(views)))
        levels, weights = new_levels(), np.empty(N_HANDS, np.int64)
        fill_mixture(views.arrays, play_situations(views.scores), self._adaptive, seen, levels, weights, mixture)
        return mixture
