"""``equilibrium``: plays so that nobody can exploit it, and exploits nobody.

Discards and the first three cards of a deal's play come from a blueprint, an equilibrium of whole deals in points,
solved in advance: pone's lead, the dealer's reply, pone's second card. Until then the count is at most 20, so every
card fits and nobody has said go. The rest is solved at the table (:mod:`crib_env.solver.subgame`), by what both players
may hold if they follow the blueprint; the stakes are the chance to win the game, or points in the pegging episode.

Its policy is mixed. When either player is within 25 points of winning, points no longer stand for the chance to win,
and the discards and the first three cards are ``expert``'s. Solutions are cached, but follow from the player's view.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.belief import crib_chances, habits, hand_show
from crib_env.agents.choosing import (
    by_phase,
    card_chances,
    chances_of_pairs,
    check_four_cards,
    draw,
    draw_rank,
    legal_ranks,
    near_end,
    read_play,
    six_dealt,
    uniforms,
    without_rare,
)
from crib_env.agents.expert import ExpertAgent
from crib_env.engine import DEALER, PONE, ROLES, WIN
from crib_env.exact.deal_classes import N_CLASSES, class_of
from crib_env.exact.discard_statistics import N_DISCARDS, N_POINTS, PLACES
from crib_env.files.checked_file import Column, load_arrays, save_arrays
from crib_env.hands import HAND_TABLES, N_FOURS, N_HANDS, N_RANKS, hand_number, hand_of_mask
from crib_env.kernels import bit, kernel, lowest, mask_of, popcount, streams
from crib_env.observation import N_ACTIONS
from crib_env.players.agent import Powers
from crib_env.scoring import show_points
from crib_env.solver.public_state import GOAL, GONE, N_FIELDS, POINTS, lay_rank, start_of_play
from crib_env.solver.subgame import WON, HandPolicy, Stakes, Subgame, follow
from crib_env.tables.deal_chances import fill_before_crib
from crib_env.tables.outlook import outlook
from crib_env.values import Amount

SHIPPED = Path(__file__).parent / "data" / "blueprint.npz"
N_CARDS = 3
"""How many cards of a deal it covers."""
NO_STARTER = N_RANKS
"""The place of the pegging game, behind those of the thirteen starters."""
_KIND = "blueprint of the play"
_VERSION = 2
_N_STARTERS = N_RANKS + 1
_THREE, _TWO, _FOUR = (int(N_HANDS[k, 0]) for k in (3, 2, 4))
_COLUMNS = {
    "weights": Column("f", (_N_STARTERS, 2, _FOUR)),
    "lead": Column("u", (_N_STARTERS, N_RANKS, _THREE)),
    "reply": Column("u", (_N_STARTERS, N_RANKS, N_RANKS, _THREE)),
    "third": Column("u", (_N_STARTERS, N_RANKS, N_RANKS, N_RANKS, _TWO)),
    "discards": Column("u", (len(ROLES), N_CLASSES, N_DISCARDS)),
}


class Blueprint(NamedTuple):
    """Arrays by starter. Chances are in 255ths, by the ranks laid so far, the rank to lay and the hand left then."""

    weights: np.ndarray  # (14, 2, 1820) float32 weights of the hands that pone and the dealer may hold, before the play
    lead: np.ndarray  # (14, 13, 455) uint8
    reply: np.ndarray  # (14, 13, 13, 455) uint8
    third: np.ndarray  # (14, 13, 13, 13, 91) uint8
    discards: np.ndarray  # (2, 962988, 15) uint8 by role and class (crib_env.exact.deal_classes); 0 where unknown

    def save(self, path: Path) -> None:
        """Writes it with a checksum, whole or not at all."""
        save_arrays(path, _KIND, _VERSION, self._asdict())


@cache
def load_blueprint(path: Path = SHIPPED) -> Blueprint:
    """Reads a blueprint.

    Raises:
        ValueError: there is no such file, or it is damaged, of another version or no blueprint.
    """
    return Blueprint(**load_arrays(path, _KIND, _VERSION, _COLUMNS))


def pair_chances(blueprint: Blueprint, six: np.ndarray, is_dealer: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pairs (B, 15, 2) of six cards (B, 6), each row sorted, and how likely each is discarded: (B, 15) uint8 in
    255ths, all 0 where the blueprint has none."""
    classes, renamed = class_of(six)
    # the pairs of a class stand in the order of its representative's cards
    pairs = np.take_along_axis(six, renamed.argsort(axis=1), axis=1)[:, PLACES]
    return pairs, blueprint.discards[is_dealer.astype(int), classes]


def discard_chances(blueprint: Blueprint, views: PlayerViews) -> np.ndarray:
    """How likely each card is discarded next, (B, 52) float64, at B discards; all 0 where the blueprint has none."""
    pairs, chances = pair_chances(blueprint, six_dealt(views), views.is_dealer)
    discarded = views.discards[:, 0]
    is_open = (discarded[:, None] < 0) | (pairs == discarded[:, None, None]).any(axis=2)
    return chances_of_pairs(views, pairs, chances * is_open)


@kernel
def first_chances(blueprint, starter, ranks, n, four, hand, hands, out):
    """Fills ``out`` (13,) with how likely the next card is of each rank, the first ``N_CARDS`` cards of a deal.

    Args:
        starter: its rank, or ``NO_STARTER``.
        ranks: laid so far, ``n`` of them.
        four: whether the player holds four cards, else three.
        hand: its number among those of its size.
    """
    total = 0.0
    for rank in range(N_RANKS):
        out[rank] = 0.0
        left = hands.without_rank[4 if four else 3, rank, hand]
        if left >= 0:
            if n == 0:
                out[rank] = blueprint.lead[starter, rank, left]
            elif n == 1:
                out[rank] = blueprint.reply[starter, ranks[0], rank, left]
            else:
                out[rank] = blueprint.third[starter, ranks[0], ranks[1], rank, left]
            total += out[rank]
    for rank in range(N_RANKS):
        out[rank] /= total


@kernel
def _as_played(chance, n_ranks, mistakes):
    return (1 - mistakes) * chance / 255 + mistakes / n_ranks


@kernel
def _fill_ranges(blueprint, starter, ranks, mistakes, hands, pone, dealer):
    lead, reply, third = ranks[0], ranks[1], ranks[2]
    weights = blueprint.weights[starter]
    for two in range(len(pone)):
        three = hands.with_rank[2, third, two]
        four = hands.with_rank[3, lead, three]
        led = _as_played(blueprint.lead[starter, lead, three], hands.n_playable[4, N_RANKS, four], mistakes)
        then = blueprint.third[starter, lead, reply, third, two]
        pone[two] = weights[PONE, four] * led * _as_played(then, hands.n_playable[3, N_RANKS, three], mistakes)
    for three in range(len(dealer)):
        four = hands.with_rank[3, reply, three]
        chance = blueprint.reply[starter, lead, reply, three]
        dealer[three] = weights[DEALER, four] * _as_played(chance, hands.n_playable[4, N_RANKS, four], mistakes)


def ranges(blueprint: Blueprint, starter: int, ranks: np.ndarray, mistakes: float) -> tuple[np.ndarray, np.ndarray]:
    """What both players may hold after the ranks (3,) of the first cards: weights (91,) of pone's hands, (455,) of the
    dealer's. ``mistakes`` is how often a player lays any rank of its hand instead of the blueprint's."""
    pone, dealer = np.empty(_TWO), np.empty(_THREE)
    _fill_ranges(blueprint, starter, ranks, mistakes, HAND_TABLES, pone, dealer)
    return pone, dealer


_START = start_of_play()


class Situation(NamedTuple):
    """What a player with a choice sees after the first ``N_CARDS`` cards of a deal."""

    root: np.ndarray  # (``N_FIELDS``,) the public state after these cards; starter and own discards are known, too
    ranks: np.ndarray  # (8,) int64 laid so far
    code: int  # the way from the root to the decision (:func:`crib_env.solver.subgame.follow`)
    role: int
    hand: int  # the number of the hand that the player held at the root
    scores: tuple[int, int]  # of pone and of the dealer, before the play
    kept: int  # mask of the four cards that the player kept
    discards: int  # mask
    laid: int  # mask of what the opponent has laid of the first ``N_CARDS`` cards


@kernel
def _situate(views, b, start, root, ranks):
    roles, now = np.empty(8, np.int64), np.empty(N_FIELDS, np.int64)
    role, lowest_held = read_play(views, b, ranks, roles)
    kept, gone, laid = mask_of(views.hand[b]), np.int64(0), np.int64(0)
    n, discards = np.int64(views.n_laid[b]), mask_of(views.discards[b])
    for k in range(n):
        card = bit(views.laid[b, k])
        if roles[k] == role:
            kept |= card
            gone |= card if k < N_CARDS else np.int64(0)
        elif k < N_CARDS:
            laid |= card
    root[:] = start
    known = discards | mask_of(views.starter[b : b + 1])
    while known:
        root[GONE] += np.int64(1) << (3 * (lowest(known) % 13))
        known &= known - 1
    for k in range(N_CARDS):
        lay_rank(root, ranks[k])
    now[:] = root
    code = follow(now, ranks, roles, np.int64(N_CARDS), n, role, lowest_held)
    points = np.empty(2, np.int64)
    for side in range(2):
        of = role if side == 0 else 1 - role
        points[of] = views.scores[b, side] - now[POINTS + of]
    if views.starter[b] >= 0:
        root[GOAL], root[GOAL + 1] = WIN - points[PONE], WIN - points[DEALER]
    return code, role, hand_of_mask(kept & ~gone), points[PONE], points[DEALER], kept, discards, laid


def situation(views: PlayerViews, row: int) -> Situation:
    """Of one decision with a choice, after at least ``N_CARDS`` cards."""
    root, ranks = np.empty(N_FIELDS, np.int64), np.full(8, -1, np.int64)
    code, role, hand, pone, dealer, *masks = _situate(views.arrays, row, _START, root, ranks)
    return Situation(root, ranks, code, role, hand, (pone, dealer), *masks)


_MOST = 64  # points that a player makes in a play and the show of its hand: more are very rare, and count as this many


@cache
def rank_shows() -> np.ndarray:
    """(13, 1820) points of the ranks of each hand (:data:`crib_env.hands.HANDS`) with each starter, without
    flush and nobs."""
    return np.array([[hand_show(hand, starter) for hand in range(N_FOURS)] for starter in range(N_RANKS)])


def chances_to_win(scores: tuple[int, int], shows: np.ndarray, crib: np.ndarray, win_table: np.ndarray) -> Stakes:
    """The chance that pone wins the game.

    Args:
        scores: of pone and of the dealer, before the play.
        shows: (2, 1820) points that each hand of pone and of the dealer shows.
        crib: (30,) chances of the crib's points.
        win_table: (121, 121) the dealer's chance to win, before a deal.
    """
    worth = np.empty((_MOST, _MOST))
    fill_before_crib(*scores, crib, False, win_table, worth)
    return Stakes(worth, shows)


@cache
def net_points() -> Stakes:
    """Points of the play alone, pone's less the dealer's."""
    points = np.arange(float(_MOST))
    return Stakes(points[:, None] - points, np.zeros((len(ROLES), N_FOURS), np.int64))


_MISTAKES = 0.05
"""Assumed probability that a player lays a random rank instead of the blueprint's: opponents need not follow it."""
_DEALS = 8_192  # most deals whose solutions are cached


class EquilibriumAgent:
    """See the module.

    Args:
        iterations: solver iterations at the table; more come closer to the equilibrium of the rest of the play.
        seed: random seed of the draws, which depend only on it, the game's id and the decision's number.
    """

    name = "equilibrium"
    powers = Powers(mixes="known", suits="unseen")

    def __init__(self, iterations: Amount = 10, seed: int = 0) -> None:
        self._iterations, self._seed = iterations, streams(seed, 1)[0]
        self._blueprint = load_blueprint()
        self._expert = ExpertAgent(threads=1)
        self._policies: OrderedDict[tuple[object, ...], HandPolicy] = OrderedDict()
        self._about: tuple[object, ...] = ()  # which subgame was solved last
        self._subgame: Subgame

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        return by_phase(views, self._discard, self._lay)

    def probabilities(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.MixedAgent`."""
        return card_chances(views, self._discard_chances, self.rank_chances)

    def _discard(self, views: PlayerViews) -> np.ndarray:
        return draw(self._discard_chances(views), uniforms(self._seed, views))

    def _discard_chances(self, views: PlayerViews) -> np.ndarray:
        """How likely each card is discarded next, (B, 52)."""
        chances = discard_chances(self._blueprint, views)
        unknown = np.flatnonzero(near_end(views) | ~chances.any(axis=1))
        if len(unknown):
            chances[unknown] = np.eye(N_ACTIONS)[self._expert.discards(views[unknown])]
        return chances

    def _lay(self, views: PlayerViews) -> np.ndarray:
        return draw_rank(views, self.rank_chances(views), self._seed)

    def rank_chances(self, views: PlayerViews) -> np.ndarray:
        """How likely each rank is laid, (B, 13), at B decisions of the play."""
        check_four_cards(self.name, views)
        fits = legal_ranks(views)
        chances = fits.astype(float)
        has_choice = fits.sum(axis=1) > 1
        is_early = views.n_laid < N_CARDS
        is_near = near_end(views)
        known = np.flatnonzero(has_choice & is_early & ~is_near)
        _fill_early(views.arrays, known, self._blueprint, HAND_TABLES, chances)
        searched = np.flatnonzero(has_choice & is_early & is_near)
        if len(searched):
            chances[searched] = np.eye(N_RANKS)[self._expert.best_ranks(views[searched])]
        for row in np.flatnonzero(has_choice & ~is_early).tolist():
            chances[row] = self._solved_chances(views, row)
        return without_rare(chances)

    def _solved_chances(self, views: PlayerViews, row: int) -> np.ndarray:
        """(13,) how likely each rank is laid at one decision behind the blueprint."""
        seen = situation(views, row)
        starter = int(views.starter[row])
        about = self._about_subgame(seen, starter)
        key = (about, seen.role, seen.hand)
        policy = self._policies.pop(key, None)
        if policy is None:
            policy = self._solved_about(about, seen, starter).policy_of(seen.role, seen.hand)
        self._policies[key] = policy
        if len(self._policies) > _DEALS:
            self._policies.popitem(last=False)
        return policy.chances[np.searchsorted(policy.codes, seen.code)]

    def rank_values(self, views: PlayerViews) -> np.ndarray:
        """The chance to win the game after each rank, (B, 13), at choices behind the blueprint in deals with a starter.

        It is -inf for ranks that cannot be laid, and NaN where a player of the solution would not have come.
        """
        values = np.empty((len(views), N_RANKS))
        for row in range(len(views)):
            seen, starter = situation(views, row), int(views.starter[row])
            subgame = self._solved_about(self._about_subgame(seen, starter), seen, starter)
            values[row] = subgame.rank_values(seen.role, seen.hand, seen.code) + (seen.role == DEALER) * WON
        return values

    @staticmethod
    def _about_subgame(seen: Situation, starter: int) -> tuple[object, ...]:
        """What the subgame of a situation depends on."""
        about: tuple[object, ...] = (starter, *seen.ranks[:N_CARDS].tolist())
        if starter >= 0:  # own cards decide what the opponent cannot hold, the show and the crib
            about += (seen.role, seen.scores, seen.kept, seen.discards, seen.laid)
        return about

    def _solved_about(self, about: tuple[object, ...], seen: Situation, starter: int) -> Subgame:
        if about != self._about:
            stakes = net_points() if starter < 0 else _chances_to_win(seen, starter)
            rank = NO_STARTER if starter < 0 else starter % N_RANKS
            self._about, self._subgame = about, self.solved(seen.root, seen.ranks[:N_CARDS], rank, stakes)
        return self._subgame

    def solved(self, root: np.ndarray, ranks: np.ndarray, starter: int, stakes: Stakes) -> Subgame:
        """What follows from the first cards of a deal: the public state after them, their ranks (3,) int64, and the
        rank of the starter, or ``NO_STARTER``."""
        pone, dealer = ranges(self._blueprint, starter, ranks, _MISTAKES)
        prior = pone / pone.max(), dealer / dealer.max()
        subgame = Subgame(root, (ranks[::2].tolist(), ranks[1::2].tolist()), stakes, prior)
        subgame.solve(self._iterations)
        return subgame


def _chances_to_win(seen: Situation, starter: int) -> Stakes:
    crib, shows = np.empty(N_POINTS), rank_shows()[[starter % N_RANKS] * 2]
    six = seen.kept | seen.discards
    crib_chances(six, seen.discards, np.int64(starter), seen.laid, habits().discarding[seen.role], crib)
    own = [card % N_RANKS for card in range(52) if seen.kept >> card & 1]
    # flush and nobs: those of the hand that the player holds, in place of all that it might
    shows[seen.role] += show_points(seen.kept, np.int64(starter), False) - shows[seen.role, hand_number(own)]
    return chances_to_win(seen.scores, shows, crib, outlook().win_table)


@kernel
def _fill_early(views, rows, blueprint, hands, out):
    """Fills rows of ``out`` (B, 13) with the chances of the blueprint."""
    ranks, roles = np.empty(8, np.int64), np.empty(8, np.int64)
    for b in rows:
        held = mask_of(views.hand[b])
        read_play(views, b, ranks, roles)
        starter = np.int64(views.starter[b]) % 13 if views.starter[b] >= 0 else NO_STARTER
        size, n = popcount(held), np.int64(views.n_laid[b])
        first_chances(blueprint, starter, ranks, n, size == 4, hand_of_mask(held), hands, out[b])
