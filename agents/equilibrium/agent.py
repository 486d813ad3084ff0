"""``equilibrium``: plays so that nobody can exploit it, and exploits nobody.

Discards and the first three cards of a deal's play come from a blueprint
(:mod:`crib_env.agents.equilibrium.blueprint`), an equilibrium of whole deals in points, solved in advance. The
rest is solved at the table (:mod:`crib_env.solver.subgame`): from the public state after three cards, by what both
players may hold if they follow the blueprint, with the chance to win the game as the stakes
(:mod:`crib_env.agents.equilibrium.situation`). In the pegging episode the stakes are points.

Its policy is mixed: the card is drawn with a random number that follows from the seed, the game's id and the decision.
When either player is within 25 points of winning, points no longer stand for the chance to win, and the discards and
the first three cards are ``expert``'s. Solutions are cached, but each follows from the player's view alone.
"""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.belief.rest_of_deal import crib_chances, habits
from crib_env.agents.choosing import (
    by_phase,
    card_chances,
    check_four_cards,
    draw,
    legal_ranks,
    lowest_of_rank,
    near_end,
    uniforms,
    without_rare,
)
from crib_env.agents.equilibrium.blueprint import (
    N_CARDS,
    NO_STARTER,
    SHIPPED,
    discard_chances,
    first_chances,
    load_blueprint,
    ranges,
)
from crib_env.agents.equilibrium.situation import Situation, chances_to_win, net_points, rank_shows, situation
from crib_env.agents.expert.agent import ExpertAgent
from crib_env.engine import DEALER
from crib_env.exact.discard_statistics import N_POINTS
from crib_env.hands import HAND_TABLES, N_RANKS, hand_number
from crib_env.kernels import kernel, streams
from crib_env.observation import N_ACTIONS
from crib_env.players.agent import Powers
from crib_env.scoring import show_points
from crib_env.solver.subgame import WON, HandPolicy, Stakes, Subgame
from crib_env.tables.outlook import outlook

_MISTAKES = 0.05
"""Assumed probability that a player lays a random rank instead of the blueprint's: opponents need not follow it."""
_DEALS = 8_192  # most deals whose solutions are cached


class EquilibriumAgent:
    """See the module.

    Args:
        iterations: solver iterations at the table; more come closer to the equilibrium of the rest of the play.
        seed: random seed of the draws, which depend only on it, the game's id and the decision's number.
        blueprint: another file than the one that ships with the project.

    Raises:
        ValueError: ``iterations`` is below 1, or the file cannot be read.
    """

    name = "equilibrium"
    powers = Powers(mixes="known", suits="unseen")

    def __init__(self, iterations: int = 10, seed: int = 0, blueprint: Path = SHIPPED) -> None:
        if iterations < 1:
            raise ValueError(f"agent 'equilibrium': iterations={iterations} is not allowed, give at least 1")
        self._iterations, self._seed = iterations, streams(seed, 1)[0]
        self._blueprint = load_blueprint(Path(blueprint))
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
        return lowest_of_rank(views, draw(self.rank_chances(views), uniforms(self._seed, views)))

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
            best = self._expert.rank_values(views[searched]).argmax(axis=1)
            chances[searched] = best[:, None] == np.arange(N_RANKS)
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
        """The chance to win the game after each rank, (B, 13), by the solution of the rest of the play.

        It is -inf for ranks that cannot be laid, and NaN where a player of the solution would not have come.

        Args:
            views: B choices of the play behind the blueprint, none of them in the pegging episode.
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
        """What follows from the first cards of a deal.

        Args:
            root: the public state after these cards.
            ranks: (3,) int64 of the cards.
            starter: its rank, or ``NO_STARTER``.
        """
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
    ranks = np.empty(8, np.int64)
    for b in rows:
        n, hand, size = np.int64(views.n_laid[b]), np.int64(0), 0
        for k in range(n):
            ranks[k] = np.int64(views.laid[b, k]) % 13
        while size < 4 and views.hand[b, size] >= 0:
            hand = hands.with_rank[size, np.int64(views.hand[b, size]) % 13, hand]
            size += 1
        starter = np.int64(views.starter[b]) % 13 if views.starter[b] >= 0 else NO_STARTER
        first_chances(blueprint, starter, ranks, n, size == 4, hand, hands, out[b])
