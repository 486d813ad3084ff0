"""Halscrib: seven strategies for the discard, three for the play, chosen by the score; pairs are mixed at random.

After Mueller (1987), "Halscrib", sections "Optimal Strategy Selection", "Preliminary Results" and "Further Research".

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

``adaptive`` does what the paper proposes as further research. It computes the four entries of the pay-off matrix (own
pair or not, opponent's pair or not) for the position. The probability starts at their equilibrium. The more the
opponent has shown in this game, the closer it moves to the best reply to that.

Differences from the paper, and what it leaves open:

* "Sure" is the paper's first strategy. The paper does not say when to use it.
* Expected points: the own best discard at its optimal value, and 10.2 points for an opposing pone or 16.2 for an
  opposing dealer, of which 2.1 and 3.4 come from the play.
* Ties between discards ("ties are broken differently"): risky and sure prefer the better optimal value, safe the better
  worst hand, optimal the better best hand.
* Net points cover three cards, the own one, the best reply and the best answer to it, over all hands that the opponent
  may hold (:mod:`crib_env.agents.belief.lookahead`). The paper does not give the depth. Between equally safe or equally
  risky cards, expected net points decide.
* "Inferior card between 50–80 % of the time" (page 6) contradicts "made that selection 65 %, 80 %, 50 %" (page 7). We
  use the second, because it gives one value for each situation. It comes near the matrix's 40 % where there is a
  choice, though not over all leads (``python -m crib_env.evaluate.makers.papers mueller-1987`` measures both). It is
  not said which end of 35–65 % belongs to which situation. Here the safe player pairs least, since the opponent may
  pair again.
* If the pair does not net most (two fives, say), mixing would only lose points, and the best card is led. An adaptive
  player mixes whenever it has both choices, by the matrix, in every situation.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from crib_env import PlayerViews, crib_distribution, discard_statistics
from crib_env.agents.belief.lookahead import N_HANDS, new_levels
from crib_env.agents.choosing import by_phase, next_discard, six_dealt, uniforms
from crib_env.agents.halscrib.play import OPTIMAL, RISKY, SAFE, Mixture, fill_mixture
from crib_env.engine import DOUBLE_SKUNK, SKUNK, WIN
from crib_env.exact.discard_statistics import PLACES
from crib_env.kernels import bit, kernel, lowest, mask_of, streams
from crib_env.observation import N_ACTIONS
from crib_env.players.agent import Powers
from crib_env.scoring import SUIT, add_rank, rank_points

ANSWERS, LEADS = range(2)  # by the opponent: its answers matter when we lead, its leads when we answer
# Cards unseen by a pone who is to lead, of which six and the starter are known, or four in the pegging episode; and
# cards that the dealer then holds.
_UNSEEN, _HELD = (45, 48), 4
# The probability that the dealer holds a rank, by either, and by how many of its cards are unseen.
_HOLDS = np.array([[1 - comb(n - left, _HELD) / comb(n, _HELD) for left in range(5)] for n in _UNSEEN])

_RECORD = np.dtype(
    [
        ("last_decision", "i8"),
        # Pairs and occasions, by ANSWERS and LEADS: in earlier deals of the game, and in the current one.
        ("earlier", "f8", (2, 2)),
        ("present", "f8", (2, 2)),
    ]
)


@kernel
def _observe(records, rows, discarding, views, seen):
    for b in range(len(rows)):
        record = records[rows[b]]
        earlier, present = record["earlier"], record["present"]
        another_game = views.decisions[b] < record["last_decision"]  # with the same id
        record["last_decision"] = views.decisions[b]
        for what in range(2):
            for k in range(2):
                if another_game:
                    earlier[what, k] = present[what, k] = 0.0
                if discarding[b]:  # the last deal is complete
                    earlier[what, k] += present[what, k]
                    present[what, k] = 0.0
        if not discarding[b]:
            hand, discards, starter = views.hand[b], views.discards[b], views.starter[b]
            _observe_play(hand, discards, starter, views.laid[b], views.laid_by[b], present)
        for what in range(2):
            for k in range(2):
                seen[b, what, k] = earlier[what, k] + present[what, k]


@kernel
def _observe_play(hand, discards, starter, laid, laid_by, present):
    """Writes what this deal has shown so far. It starts from zero each time, so nothing is counted twice."""
    if laid[0] < 0:
        return
    led = laid[0] % 13
    if laid_by[0] == 0:
        if laid[1] >= 0:
            left = 4 - (starter >= 0 and starter % 13 == led)
            for card in hand:
                left -= card >= 0 and card % 13 == led
            for card in discards:
                left -= card >= 0 and card % 13 == led
            for k in range(8):
                left -= laid[k] >= 0 and laid_by[k] == 0 and laid[k] % 13 == led
            present[ANSWERS, 0] = laid[1] % 13 == led
            present[ANSWERS, 1] = _HOLDS[1 if starter < 0 else 0, left]
    else:
        again, others = 0, 0
        for k in range(1, 8):
            if laid[k] >= 0 and laid_by[k] == 1:
                others += 1
                again += laid[k] % 13 == led
        present[LEADS, 0] = min(again, 1)
        present[LEADS, 1] = others / 3  # the part of the other three cards that has been seen


class Memory:
    """How often the opponent of each game has paired, and how often it could have.

    An answered lead counts as an occasion with the probability that the opponent held its rank. A lead of the
    opponent counts as an occasion by the share of its other three cards that has been laid. If a game's id returns
    with an earlier decision, it is a new game, and the record starts again.
    """

    def __init__(self) -> None:
        self._rows: dict[int, int] = {}
        self._records = np.zeros(0, _RECORD)

    def observe(self, views: PlayerViews) -> np.ndarray:
        """Updates the record with the views.

        Returns:
            (B, 2, 2) float64: by ``ANSWERS`` (how leads were answered) and ``LEADS`` (how the opponent led), pairs and
            occasions.
        """
        rows = np.array([self._rows.setdefault(game, len(self._rows)) for game in views.game_ids.tolist()], np.int64)
        if len(self._rows) > len(self._records):
            more = np.zeros(max(len(self._rows), 2 * len(self._records)), _RECORD)
            more[: len(self._records)] = self._records
            self._records = more
        seen = np.empty((len(views), 2, 2))
        _observe(self._records, rows, views.is_discard, views.arrays, seen)
        return seen


SURE = 3  # beside SAFE, OPTIMAL and RISKY
MARGIN = 15
# Points that an average player makes in a deal, as pone and as dealer, and how many of them in the play.
PER_DEAL, FROM_PLAY = np.array([10.2, 16.2]), np.array([2.1, 3.4])


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
        seed: of the mixing; draws depend only on it, the game's id and the decision's number.
        adaptive: let the mixing frequencies adapt to the opponent.
    """

    def __init__(self, seed: int = 0, adaptive: bool = False) -> None:
        self.name = "halscrib:adaptive=yes" if adaptive else "halscrib"
        self.powers = Powers(mixes="known", suits="unseen", remembers=adaptive)
        self._seed = streams(seed, 1)[0]
        self._adaptive = adaptive
        self._memory = Memory()

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        return by_phase(views, self._discard, self._play)

    def probabilities(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.MixedAgent`. Those of an adaptive player also depend on what it
        remembers."""
        chances, play = np.zeros((len(views), N_ACTIONS)), np.flatnonzero(~views.is_discard)
        discards = np.flatnonzero(views.is_discard)
        if len(discards):
            chances[discards, self._discard(views[discards])] = 1.0
        if len(play):
            mixture = self._mixture(views[play])
            chances[play, mixture.card] = mixture.often
            chances[play, mixture.other] += 1.0 - mixture.often
        return chances

    def _discard(self, views: PlayerViews) -> np.ndarray:
        if self._adaptive:
            self._memory.observe(views)  # the last deal is complete
        values, ties, means = discard_values(six_dealt(views), views.is_dealer)
        deals, best = np.arange(len(views)), values[OPTIMAL].argmax(axis=1)
        hand = means[deals, best]
        from_play = FROM_PLAY[views.is_dealer.astype(int)]
        deal = from_play + np.where(views.is_dealer, values[OPTIMAL, deals, best], hand)
        situations = discard_situations(views.scores, views.is_dealer, values[SURE].max(axis=1), hand, deal)
        return next_discard(views, values[situations, deals], ties[situations, deals])

    def _play(self, views: PlayerViews) -> np.ndarray:
        mixture = self._mixture(views)
        return np.where(uniforms(self._seed, views) < mixture.often, mixture.card, mixture.other)

    def _mixture(self, views: PlayerViews) -> Mixture:
        seen = self._memory.observe(views) if self._adaptive else np.zeros((len(views), 2, 2))
        mixture = Mixture(np.empty(len(views), np.int64), np.empty(len(views), np.int64), np.empty(len(views)))
        levels, weights = new_levels(), np.empty(N_HANDS, np.int64)
        fill_mixture(views.arrays, play_situations(views.scores), self._adaptive, seen, levels, weights, mixture)
        return mixture
