"""Asks an agent for its policy in the play, at every decision that its own choices lead to: millions of them.

A public tree and a responder know ranks alone, agents see cards. All sets of cards of the same ranks are dealt equally
often, whatever the opponent holds. So an agent's policy by ranks is the mean over them, each played to the end of the
deal. How many must be asked for depends on how suits affect the agent's choice of a rank, which it declares
(:class:`crib_env.Powers`): ``"unseen"``, ``"ties"`` or ``"all"``.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import combinations, count
from queue import SimpleQueue
from threading import Lock

import numpy as np

from crib_env import GameBatch, streams
from crib_env.cards import ACES
from crib_env.engine import DEALER, GAME, PEGGING_EPISODE, PLAY_EPISODE, ROLES, act, begin_deal, begin_game
from crib_env.hands import HAND_TABLES, HANDS, KING, N_RANKS, hand_number
from crib_env.kernels import GOLDEN, below, bit, kernel, lowest, mix, popcount
from crib_env.players.agent import Agent, Suits, copy_of, mixes
from crib_env.players.agent_from_text import as_agent
from crib_env.solver.play_game import PlayGame
from crib_env.views import PlayerViews, views_of

DECISION = np.dtype(
    [
        ("node", "i8"),  # of the public tree, where this player acts
        ("hand", "i8"),  # mask of the cards held
        ("laid", "i1", 8),  # cards laid, oldest first, then -1
        ("n_laid", "i8"),
        ("weight", "f8"),  # share of the hand among those of its ranks, times the chances of the player's own choices
        ("word", "u8"),  # random, the same for all that follows from one hand dealt
    ],
    align=True,
)
NO_STARTER = -1
"""In place of a starter's rank: the pegging game, in which nobody has discarded."""
_MOST_HELD = 4
_TO_LAY = 128  # more than there are cards and goes between two decisions
_ASKED = 3_000  # decisions that an agent is asked for at a time: what it computes of them fits into the cache
_DEALT = 100  # hands of ranks, and all that follows, that a thread asks for before it takes the next
_PROBED = 20_000  # decisions asked for twice, to tell whether an agent draws its cards by chance


class Questions:
    """Asks an agent for its choices.

    Args:
        agent: whose choices follow from what its player sees, or has seen before, or who has ``probabilities``.
        game: the pegging game.
        on_progress: called with the number of decisions just asked for, and the share of a policy that they finish.
        starter: its rank, to ask for the play of a whole deal from 0-0.
        threads: how many ask, each a copy of the agent if it may be copied; they do not change its answers.

    Attributes:
        asked: how many decisions it was asked for.

    Raises:
        ValueError: the agent cannot be copied.
    """

    def __init__(
        self,
        agent: Agent,
        game: PlayGame,
        on_progress: Callable[[int, float], None] = lambda decisions, share: None,
        starter: int = NO_STARTER,
        threads: int = 1,
    ) -> None:
        self.agent, self.game, self.asked, self._starter = as_agent(agent), game, 0, starter
        self._on_progress, self._ids, self._lock = on_progress, count(step=_ASKED), Lock()
        self._agents = [self.agent]
        if self.agent.powers.copyable:
            self._agents += [as_agent(copy_of(agent)) for _ in range(threads - 1)]

    def add_policy(self, role: int, seed: int, weights: np.ndarray) -> None:
        """Adds the agent's policy in a role to weights (S,) float32, as
        :meth:`crib_env.solver.play_game.PlayGame.expected` takes them.

        Args:
            role: ``PONE`` or ``DEALER``.
            seed: of suits, if the agent's choices depend on all of them: each hand of ranks gets suits at random, and
                so do the opponent's cards.
            weights: are changed.
        """
        cards, shares = hands_to_ask(self.agent.powers.suits, seed, self.game.cards)
        ranks = np.sort(cards % N_RANKS, axis=1)
        # Hands of equal ranks stay together: what follows from others has other slots, so that threads share none.
        starts = np.r_[0, 1 + (ranks[1:] != ranks[:-1]).any(axis=1).nonzero()[0]][::_DEALT]
        free = SimpleQueue[Agent]()
        for agent in self._agents:
            free.put(agent)

        def ask(start: int, end: int) -> None:
            agent = free.get()
            try:
                dealt = first_decisions(self.game, role, cards[start:end], shares[start:end], seed)
                self._ask(agent, dealt, role, weights, (end - start) / len(cards))
            finally:
                free.put(agent)

        with ThreadPoolExecutor(len(self._agents)) as pool:
            list(pool.map(ask, starts, [*starts[1:], len(cards)]))

    def _ask(self, agent: Agent, decisions: np.ndarray, role: int, weights: np.ndarray, share: float) -> None:
        """Asks for these decisions and all that follow, which are this share of the policy's."""
        for start in range(0, len(decisions), _ASKED):
            some = decisions[start : start + _ASKED]
            of_these = share * len(some) / len(decisions)
            chances = self.chances(some, role, agent)
            add_to_policy(self.game, some, chances, weights)
            after = decisions_after(self.game, role, some, chances, agent.powers.suits)
            with self._lock:
                self._on_progress(len(some), 0.0 if len(after) else of_these)
            self._ask(agent, after, role, weights, of_these)

    def chances(self, decisions: np.ndarray, role: int, agent: Agent | None = None) -> np.ndarray:
        """(D, 52) how likely the agent, or a copy of it, lays each card at up to 3,000 decisions of a role.

        Raises:
            ValueError: the agent draws its cards by chance, and cannot say how likely each is.
        """
        agent = self.agent if agent is None else agent
        with self._lock:
            is_probed = self.asked <= _PROBED
            self.asked += len(decisions)
        if mixes(agent):
            return agent.probabilities(self._views(agent, decisions, role))
        cards = agent.act(self._views(agent, decisions, role))
        if is_probed and (agent.act(self._views(agent, decisions, role)) != cards).any():
            raise _draws(agent)
        return np.eye(52)[cards]

    def _views(self, agent: Agent, decisions: np.ndarray, role: int) -> PlayerViews:
        with self._lock:
            ids = next(self._ids) + np.arange(len(decisions))
        if agent.powers.remembers:  # its earlier decisions in these games
            before = laid_by(self.game, decisions, role)
            for n_laid in range(8):
                rows = before[:, n_laid].nonzero()[0]
                if len(rows):
                    agent.act(views_at(self.game, decisions[rows], role, ids[rows], n_laid, self._starter))
        return views_at(self.game, decisions, role, ids, starter=self._starter)


def policy_of(agent: Agent, game: PlayGame, threads: int = 1) -> np.ndarray:
    """An agent's policy in both roles, (S,) float32, of :meth:`Questions.add_policy`; suits are drawn once."""
    weights, questions = np.zeros(game.extent.slots, np.float32), Questions(agent, game, threads=threads)
    for role in range(len(ROLES)):
        questions.add_policy(role, 0, weights)
    return weights


def check_can_be_asked(agent: Agent) -> None:
    """Tries some first cards, before the tree is built; errors are those of :meth:`Questions.chances`."""
    if as_agent(agent).powers.mixes == "unknown":
        raise _draws(agent)
    if not mixes(agent):
        first, again = (GameBatch(streams(0, 200), episode="pegging", first_id=start) for start in (0, 200))
        first_cards, cards = (agent.act(batch.views(batch.acting())) for batch in (first, again))
        if (first_cards != cards).any():
            raise _draws(agent)


def _draws(agent: Agent) -> ValueError:
    return ValueError(
        f"{agent.name} draws its cards by chance, and has no `probabilities`: exact exploitability needs an agent "
        "whose choice follows from what it sees, or one that says how likely each card is"
    )


@cache
def _hands(n_cards: int) -> tuple[np.ndarray, np.ndarray]:
    """All hands of so many cards, (H, n) ids by rank and then suit, and (H,) the number of their ranks; of four cards
    there are 270,725."""
    cards = np.array(list(combinations(range(52), n_cards)), np.int64)
    cards = np.take_along_axis(cards, np.argsort(cards % 13 * 4 + cards // 13, axis=1), axis=1)
    ranks, ways = np.unique(cards % 13, axis=0, return_inverse=True)
    return cards, hand_number(ranks)[ways.ravel()]


def hands_to_ask(suits: Suits, seed: int, n_cards: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Hands of cards that stand for all hands of their ranks.

    Args:
        suits: what matters; ``"unseen"`` takes one hand for each set of ranks, ``"ties"`` one for each order of ids,
            and ``"all"`` one drawn at random by the seed.

    Returns:
        (H, n_cards) ids, hands of equal ranks one after the other, and (H,) the share of each among those of its ranks.
    """
    cards, numbers = _hands(n_cards)
    if suits == "all":
        order = np.argsort(np.random.default_rng(seed).random(len(cards)))
        _, first = np.unique(numbers[order], return_index=True)
        return cards[order[first]], np.ones(len(HANDS[n_cards]))
    held, suit = cards % N_RANKS, cards // N_RANKS
    if suits == "unseen":
        suit = np.tril(held[:, :, None] == held[:, None, :], -1).sum(axis=2)
    else:  # the lowest suit held becomes 0, the next 1
        is_held = (suit[:, :, None] == np.arange(4)).any(axis=1)
        suit = np.take_along_axis(is_held.cumsum(axis=1) - is_held, suit, axis=1)
    asked, first, counts = np.unique(N_RANKS * suit + held, axis=0, return_index=True, return_counts=True)
    of_ranks = numbers[first]
    order = np.argsort(of_ranks, kind="stable")
    return asked[order], (counts / np.bincount(numbers)[of_ranks])[order]


def first_decisions(game: PlayGame, role: int, cards: np.ndarray, shares: np.ndarray, seed: int) -> np.ndarray:
    """(D,) DECISION, the first ones of a role that is dealt hands ``cards`` (H, n) with weights ``shares`` (H,); the
    seed is of the suits that the opponent's cards get."""
    dealt = np.zeros(len(cards), DECISION)
    dealt["hand"] = (np.int64(1) << cards).sum(axis=1)
    dealt["laid"], dealt["weight"] = -1, shares
    dealt["word"] = np.random.default_rng([seed, 1]).integers(2**64, size=len(cards), dtype=np.uint64)
    return _next(game, role, dealt)


def decisions_after(game: PlayGame, role: int, decisions: np.ndarray, chances: np.ndarray, suits: Suits) -> np.ndarray:
    """(E,) DECISION, the next ones of the same player, whatever the opponent does.

    Args:
        role: whose decisions they are.
        decisions: (D,) DECISION.
        chances: (D, 52) how likely each card is laid.
        suits: what the player's choices depend on. Decisions that look the same to it become one.
    """
    after = np.empty(_MOST_HELD * len(decisions), DECISION)
    after = after[: _lay(game.tree, decisions, chances, suits == "ties", suits == "unseen", after)]
    if suits != "all" and len(after):
        after = after.take(np.lexsort((after["hand"], after["node"])))
        new = np.r_[True, (np.diff(after["node"]) != 0) | (np.diff(after["hand"]) != 0)]
        first = new.nonzero()[0]
        weights = np.add.reduceat(after["weight"], first)
        after = after.take(first)
        after["weight"] = weights
    return _next(game, role, after)


def views_at(
    game: PlayGame,
    decisions: np.ndarray,
    role: int,
    game_ids: np.ndarray,
    n_laid: int = 8,
    starter: int = NO_STARTER,
) -> PlayerViews:
    """What the player sees at decisions (D,), in games of these ids (D,), or when only ``n_laid`` cards were laid.

    The opponent's cards that the player does not see are the highest that there are, which fit no more after a go than
    before. Beside a starter of a rank both players have discarded two of the lowest cards that are left.
    """
    n = len(decisions)
    games = np.zeros(n, GAME)
    games["fewer"] = 4 - game.cards
    _set_up(games, game.histories, decisions, n_laid, role, starter)
    return views_of(games, np.arange(n), np.full(n, role), game_ids)


def laid_by(game: PlayGame, decisions: np.ndarray, role: int) -> np.ndarray:
    """(D, 8) bool, which of the cards laid before decisions (D,) were this role's."""
    by = game.histories[decisions["node"]]
    return (by >= 0) & (by >> 4 == role)


def add_to_policy(game: PlayGame, decisions: np.ndarray, chances: np.ndarray, weights: np.ndarray) -> None:
    """Adds how likely each rank is laid (D, 52) at decisions (D,), times their weight, to a policy's slots (S,)."""
    _add(game.nodes, decisions, chances, HAND_TABLES, weights)


def _next(game: PlayGame, role: int, after: np.ndarray) -> np.ndarray:
    """The first decisions at these public states, where it may be anybody's turn, or after them."""
    stack, here = np.zeros(_TO_LAY, DECISION), np.zeros(1, DECISION)
    n = _follow(game.tree, after, role, stack, here, np.zeros(0, DECISION))
    found = np.zeros(n, DECISION)
    _follow(game.tree, after, role, stack, here, found)
    return found


@kernel
def number_of(hand, hands):
    """The number of a hand of cards among the hands of ranks of its size."""
    number, k = np.int64(0), 0
    while hand:
        number = np.int64(hands.with_rank[k, lowest(hand) % 13, number])
        k += 1
        hand &= hand - 1
    return number


@kernel
def _add(nodes, decisions, chances, hands, weights):
    for i in range(len(decisions)):
        node, hand = nodes[decisions[i]["node"]], decisions[i]["hand"]
        low, k = node["floor"][node["actor"]], popcount(hand)
        n_left = hands.n_hands[k - 1, low]
        rest = hand
        while rest:
            card = lowest(rest)
            rest &= rest - 1
            rank = card % 13
            if rank < node["high"] and chances[i, card] > 0:  # cards of one rank are the same choice
                slot = node["first_slot"] + (rank - low) * n_left + number_of(hand ^ bit(card), hands)
                weights[slot] += decisions[i]["weight"] * chances[i, card]


@kernel
def has_choices(hand):
    """Whether a hand has two ranks."""
    rank = lowest(hand) % 13 if hand else 0
    while hand:
        if lowest(hand) % 13 != rank:
            return True
        hand &= hand - 1
    return False


@kernel
def child(tree, node, rank):
    """Where laying a rank leads, or go if the rank is that of ``high``."""
    return tree.links[node["first_link"] + rank - min(node["floor"][node["actor"]], node["high"])]["to"]


@kernel
def _take(cards, rank, k):
    """The k-th card of a rank that is not among ``cards``, from the lowest suit; -1 if there are not so many."""
    for suit in range(4):
        card = 13 * suit + rank
        if not (cards >> card) & 1:
            if not k:
                return card
            k -= 1
    return -1


@kernel
def _free(cards, rank):
    """How many cards of a rank are not among ``cards``."""
    return 4 - popcount(cards >> rank & ACES)


@kernel
def _forget(decision, keeps_ties):
    """Renames suits so that decisions that look the same are equal."""
    hand, ordered, kept = decision["hand"], np.int64(0), np.int64(0)
    to = -1
    for suit in range(4):
        of_suit = (hand >> (13 * suit)) & 0x1FFF
        if of_suit:
            to += 1
            ordered |= of_suit << (13 * to)
    hand = ordered
    if not keeps_ties:
        while ordered:
            kept |= bit(_take(kept, lowest(ordered) % 13, 0))
            ordered &= ordered - 1
        hand = kept
    decision["hand"] = hand
    for k in range(decision["n_laid"]):
        card = _take(hand, decision["laid"][k] % 13, 0)
        decision["laid"][k] = card
        hand |= bit(card)


@kernel
def _lay(tree, decisions, chances, ties, unseen, after):
    """Fills what laying each card leads to, where something remains to be decided; returns how many there are."""
    n = 0
    for i in range(len(decisions)):
        rest = decisions[i]["hand"]
        while rest:
            card = lowest(rest)
            rest &= rest - 1
            if chances[i, card] and has_choices(decisions[i]["hand"] ^ bit(card)):
                after[n] = decisions[i]
                decision = after[n]
                decision["weight"] *= chances[i, card]
                decision["hand"] ^= bit(card)
                _moves(decision, child(tree, tree.nodes[decision["node"]], card % 13), card)
                if ties or unseen:
                    _forget(decision, ties)
                n += decision["node"] >= 0
    return n


@kernel
def _follow(tree, after, role, stack, here, found):
    """Fills ``found`` as far as it goes; returns how many decisions there are. ``here`` is (1,), to work in."""
    n, one = 0, here[0]
    for i in range(len(after)):
        if not has_choices(after[i]["hand"]):
            continue
        stack[0] = after[i]
        n_stack = 1
        while n_stack:
            n_stack -= 1
            here[0] = stack[n_stack]
            node, hand = tree.nodes[one["node"]], one["hand"]
            high, is_own = np.int64(node["high"]), node["actor"] == role
            if is_own:
                fitting = _fitting(hand, high)
                if popcount(fitting) > 1:
                    if n < len(found):
                        found[n] = one
                    n += 1
                    continue
                if fitting:
                    to = child(tree, node, lowest(fitting) % 13)
                    if to >= 0 and has_choices(hand ^ fitting):
                        stack[n_stack] = one
                        _moves(stack[n_stack], to, lowest(fitting))
                        stack[n_stack]["hand"] ^= fitting
                        n_stack += 1
                    continue
            else:
                seen = hand
                for k in range(one["n_laid"]):
                    seen |= bit(one["laid"][k])
                for rank in range(node["floor"][1 - role], high):
                    free, to = _free(seen, rank), child(tree, node, rank)
                    if free and to >= 0:
                        word = mix(one["word"] + np.uint64(to) * GOLDEN)
                        stack[n_stack] = one
                        _moves(stack[n_stack], to, _take(seen, rank, below(word, free)))
                        n_stack += 1
            if high < 13:
                to = child(tree, node, high)
                if to >= 0:
                    stack[n_stack] = one
                    stack[n_stack]["node"] = to
                    n_stack += 1
    return n


@kernel
def _fitting(hand, high):
    """The cards of the ranks below ``high``."""
    ranks = (np.int64(1) << high) - 1
    return hand & (ranks | ranks << 13 | ranks << 26 | ranks << 39)


@kernel
def _moves(decision, to, card):
    decision["node"] = to
    decision["laid"][decision["n_laid"]] = card
    decision["n_laid"] += 1


@kernel
def _set_up(games, histories, decisions, n_laid, role, starter):
    """Plays games until ``n_laid`` cards are laid. Pone is seat 0."""
    for i in range(len(decisions)):
        g, decision, by = games[i], decisions[i], histories[decisions[i]["node"]]
        own, other = decision["hand"], np.int64(0)
        for k in range(decision["n_laid"]):
            if by[k] >> 4 == role:
                own |= bit(decision["laid"][k])
            else:
                other |= bit(decision["laid"][k])
        rank, cut = np.int64(KING), np.int64(0)
        n_cards = 4 - g["fewer"]
        if starter >= 0:  # where it cannot be of this rank, the deal cannot be, and any starter does
            while not _free(own | other, (starter + cut) % N_RANKS):
                cut += 1
            cut = bit(_take(own | other, (starter + cut) % N_RANKS, 0))
        while popcount(other) < n_cards:
            if _free(own | other | cut, rank):
                other |= bit(_take(own | other | cut, rank, 0))
            else:
                rank -= 1
        if starter >= 0:  # both seats have discarded the lowest cards that are left
            g["cards"][12] = lowest(cut)
            rest = ~(own | other | cut)
            for k in (4, 5, 10, 11):
                g["cards"][k] = lowest(rest)
                rest &= rest - 1
        for k in range(n_cards):
            g["cards"][6 * role + k], g["cards"][6 * (1 - role) + k] = lowest(own), lowest(other)
            own &= own - 1
            other &= other - 1
        begin_game(g, PLAY_EPISODE if starter >= 0 else PEGGING_EPISODE, DEALER, 0, 0, -1)
        begin_deal(g)
        g["decisions"] = 4 if starter >= 0 else 0
        for k in range(min(decision["n_laid"], n_laid)):
            act(g, decision["laid"][k])
