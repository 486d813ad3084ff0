"""``ismcts`` and ``uct-determinized``: Monte-Carlo tree search on the engine's records.

Cowling, Powley and Whitehouse (2012), "Information Set Monte Carlo Tree Search", algorithms 1 and 2, as described
by Sharan and Pawar (2022) in "SO-ISMCTS Agent". Every iteration walks down a tree of moves, adds one node, plays
the rest of the deal with a native policy, and writes the result into the nodes on its path. A node stands for a
sequence of moves, and so for all states behind it that seat 0 cannot tell apart:

* a move in the play is a rank, since suits do not matter there;
* the player's own discard is one move, the pair; the opponent's is never seen, and is sampled with the hidden cards.

The hidden cards, sampled anew for each iteration or once for each tree, decide which of a node's moves are legal. They
agree with all known facts, every go included. Ranks are drawn first, with exact weights, from all hands of ranks that
the opponent may hold, then suits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.belief import DEALT, MOST_HANDS, Hands, habits, posterior
from crib_env.agents.choosing import on_threads, word_of
from crib_env.agents.lookahead import packed, possible_hands
from crib_env.cards import ACES
from crib_env.engine import (
    DEALER,
    DISCARD,
    GAME,
    OVER,
    PEGGING_EPISODE,
    PLAY,
    PLAY_EPISODE,
    PONE,
    act,
    legal_cards,
    start_play,
)
from crib_env.exact.discard_means import crib_total, hand_total
from crib_env.exact.discard_statistics import N_DISCARDS, PLACES
from crib_env.hands import N_FOURS, ranks_in
from crib_env.kernels import GOLDEN, below, bit, kernel, lowest, mask_of, mix, popcount, streams
from crib_env.players.agent import Powers
from crib_env.players.hidden import DECK, least_value
from crib_env.players.policies import random_card, random_choice
from crib_env.tables.outlook import outlook, show_value
from crib_env.values import Amount, Range, Threads


@kernel
def unseen_cards(g):
    """The cards that seat 0 of a record of :attr:`crib_env.PlayerViews.games` has not seen, as a mask."""
    seen = g["hand"][0] | g["discards"][0] | mask_of(g["laid"])
    if g["cards"][12] >= 0:
        seen |= bit(g["cards"][12])
    return DECK ^ seen


@kernel
def weigh_hands(g, likely, hands, weights):
    """Every hand that seat 1 may hold, by ranks; before the play, every four that it may keep. Returns how many.

    Args:
        g: a record of :attr:`crib_env.PlayerViews.games`.
        likely: ``keeping`` of :class:`crib_env.agents.belief.Habits`, by which a sensible opponent keeps hands and lays
            its cards; or empty, which makes all sets of cards equally likely.
        hands: (``MOST_HANDS``,) int64, to be filled with packed hands.
        weights: (``MOST_HANDS``,) float64, to be filled with running totals of their weights.
    """
    starter, n_laid = np.int64(g["cards"][12]), np.int64(g["n_laid"])
    laid, laid_by = g["laid"][:], g["laid_by"][:]  # of the same type as the arrays of other callers
    if len(likely):
        found = Hands(hands, weights, np.empty(MOST_HANDS, np.int64), np.empty(MOST_HANDS, np.int64))
        row = DEALT if g["episode"] == PEGGING_EPISODE else DEALER if g["dealer"] == 0 else PONE
        own, fresh = g["hand"][0] | g["discards"][0] | g["kept"][0], n_laid > 0 and g["pile_start"] == n_laid
        n = posterior(own, starter, laid, laid_by, n_laid, fresh, likely[row], found)
    else:
        ways, least = np.empty(N_FOURS, np.int64), least_value(laid, laid_by, np.int64(g["pile_start"]), n_laid)
        n = possible_hands(packed(unseen_cards(g)), least, 4 - popcount(g["kept"][1] & DECK), hands, ways)
        for k in range(n):
            weights[k] = ways[k]
    for k in range(1, n):
        weights[k] += weights[k - 1]
    return n


@kernel
def draw_hidden(g, unseen, hands, weights, word):
    """Fills in what is hidden: seat 1's hand, its four kept cards, its two discards, and the starter if not cut.

    It takes the :func:`unseen_cards` of a record, the hands and weights (n,) of :func:`weigh_hands`, and the state of
    the random stream, and returns the next state of the stream.
    """
    word += GOLDEN
    at = np.float64(mix(word) >> np.uint64(11)) / 2.0**53 * weights[-1]
    ranks = hands[np.searchsorted(weights, at, side="right")]
    hand = np.int64(0)
    while ranks:
        rank = lowest(ranks) >> 2
        ranks -= np.int64(1) << (4 * rank)
        word += GOLDEN
        hand |= bit(random_card(unseen & ~hand & (ACES << rank), mix(word)))
    g["hand"][1] = hand
    g["kept"][1] = g["kept"][1] & DECK | hand
    if g["episode"] == PEGGING_EPISODE:
        return word
    rest = unseen & ~hand
    discarded = np.int64(0)
    while popcount(discarded) < 2:
        word += GOLDEN
        discarded |= rest & bit(below(mix(word), 52))
    g["discards"][1] = discarded
    rest ^= discarded
    while g["cards"][12] < 0:
        word += GOLDEN
        card = below(mix(word), 52)
        if (rest >> card) & 1:
            g["cards"][12] = card
    return word


NODE = np.dtype(
    [
        ("reward", "f8"),  # sum over visits, from the searcher's side
        ("visits", "i4"),
        ("available", "i4"),  # how often this move could have been chosen
        ("tried", "i4"),  # moves that have a child, as a mask
        ("child", "i4", N_DISCARDS),  # by move: the rank laid, or the number of the discard
    ],
    align=True,
)
_DEPTH = 16  # more than the longest path: two discards and eight cards laid
# Records of a search: what is known, that with sampled hidden cards, and the game being played out.
_ROOT, _WORLD, _GAME = range(3)
_STATE = np.dtype([("word", "u8"), ("unseen", "i8"), ("n_hands", "i8"), ("n_nodes", "i8")])


class Settings(NamedTuple):
    """Settings of the search kernels."""

    iterations: int  # over all trees
    exploration: float  # k of the selection formula
    trees: int  # with one world each; 0 is one tree with a new world for each iteration
    mean_show: bool  # whether to use the mean value of the show
    likely: np.ndarray  # (3 or 0, 1820), see `weigh_hands`
    crib_shift: np.ndarray  # (2, 13, 13) what a crib is worth beyond its exact mean, by role and ranks discarded


class Work(NamedTuple):
    """The arrays that a search writes to, for one decision after another."""

    games: np.ndarray  # (3,) GAME
    state: np.ndarray  # (1,)
    nodes: np.ndarray  # (N,) NODE; a tree that has used all of them grows no more, but is still searched
    path: np.ndarray  # (16,) int64, the nodes of one path
    hands: np.ndarray  # (3640,) int64, see `weigh_hands`
    weights: np.ndarray  # (3640,)
    show_value: np.ndarray  # (15,) mean points, by own discard
    votes: np.ndarray  # (15,) int64, visits of the root's moves over all trees


def new_work(n_nodes: int) -> Work:
    """Arrays for searches with at most ``n_nodes`` nodes a tree."""
    return Work(
        np.zeros(3, GAME),
        np.zeros(1, _STATE),
        np.zeros(n_nodes, NODE),
        np.zeros(_DEPTH, np.int64),
        np.zeros(MOST_HANDS, np.int64),
        np.zeros(MOST_HANDS),
        np.zeros(N_DISCARDS),
        np.zeros(N_DISCARDS, np.int64),
    )


@kernel
def _card_at(cards, place):
    """The card of a mask at a place, lowest first, as a mask."""
    for _ in range(place):
        cards &= cards - 1
    return cards & -cards


@kernel
def pair_of_move(g, move):
    """The two cards, as a mask, of a discard by its number (``PLACES``)."""
    six = g["hand"][g["turn"]] | g["discards"][g["turn"]]
    return _card_at(six, PLACES[move, 0]) | _card_at(six, PLACES[move, 1])


@kernel
def open_moves(g):
    """The moves of the seat to act, as a mask: ranks to lay, or numbers of pairs to discard."""
    if g["phase"] == PLAY:
        return ranks_in(legal_cards(g))
    discarded = g["discards"][g["turn"]]
    if not discarded:
        return np.int64(1 << N_DISCARDS) - 1
    moves = np.int64(0)
    for move in range(N_DISCARDS):
        if pair_of_move(g, move) & discarded:
            moves |= bit(move)
    return moves


@kernel
def card_of_move(g, move):
    """The card to lay, or the next to discard."""
    if g["phase"] == PLAY:
        return lowest(legal_cards(g) & (ACES << move))
    return lowest(pair_of_move(g, move) & g["hand"][g["turn"]])


@kernel
def make_move(g, move):
    """Lays a card, or discards a pair. After that the opponent's discards, if they are drawn, are made as well."""
    if g["phase"] == PLAY:
        act(g, card_of_move(g, move))
        return
    rest = pair_of_move(g, move) & g["hand"][g["turn"]]
    while rest:
        act(g, lowest(rest))
        rest &= rest - 1
    if g["phase"] == DISCARD and popcount(g["discards"][g["turn"]]) == 2:
        start_play(g)


@kernel
def select(nodes, v, moves, sign, exploration):
    """The move with the best mean reward for its player plus k * sqrt(log(available) / visits)."""
    best, best_value = np.int64(-1), -np.inf
    while moves:
        move = lowest(moves)
        moves &= moves - 1
        node = nodes[nodes[v]["child"][move]]
        visits = node["visits"]
        value = sign * node["reward"] / visits + exploration * np.sqrt(np.log(node["available"]) / visits)
        if value > best_value:
            best, best_value = move, value
    return best


@kernel
def walk(work, settings):
    """One iteration on the world drawn: selection, expansion, simulation, back-propagation."""
    nodes, path, state = work.nodes, work.path, work.state[0]
    work.games[_GAME] = work.games[_WORLD]
    g, searcher = work.games[_GAME], work.games[_ROOT]["turn"]
    depth, discard, grows = 0, np.int64(0), True
    while grows and g["phase"] != OVER:
        v = path[depth]
        moves = open_moves(g)
        tried = moves & nodes[v]["tried"]
        if tried != moves:
            if state["n_nodes"] == len(nodes):
                break
            grows = False
            move = add_node(nodes, state, v, moves ^ tried)
        else:
            move = select(nodes, v, moves, 1 if g["turn"] == searcher else -1, settings.exploration)
        while tried:  # every move that could have been chosen, except the new one
            nodes[nodes[v]["child"][lowest(tried)]]["available"] += 1
            tried &= tried - 1
        if depth == 0 and g["phase"] == DISCARD:
            discard = move
        make_move(g, move)
        depth += 1
        path[depth] = nodes[v]["child"][move]
    state["word"] += GOLDEN
    g["policy_stream"] = mix(state["word"])
    while g["phase"] != OVER:
        act(g, random_choice(g))
    before, after = work.games[_ROOT]["scores"], g["scores"]
    made, given = after[searcher] - before[searcher], after[1 - searcher] - before[1 - searcher]
    reward = made - given + work.show_value[discard]
    for k in range(depth + 1):
        nodes[path[k]]["visits"] += 1
        nodes[path[k]]["reward"] += reward


@kernel
def add_node(nodes, state, v, untried):
    """Gives node ``v`` a child for any one of the untried moves, and returns the move."""
    state["word"] += GOLDEN
    for _ in range(below(mix(state["word"]), popcount(untried))):
        untried &= untried - 1
    move = lowest(untried)
    child = state["n_nodes"]
    state["n_nodes"] = child + 1
    nodes[v]["tried"] |= bit(move)
    nodes[v]["child"][move] = child
    new = nodes[child]
    new["reward"], new["visits"], new["available"], new["tried"] = 0.0, 0, 1, 0
    return move


@kernel
def fill_exact_shows(g, crib_shift, values):
    """Mean points of the show for each discard: the hand, plus the crib as dealer or minus it as pone."""
    six = g["hand"][g["turn"]] | g["discards"][g["turn"]]
    cards = np.empty(6, np.int64)
    for k in range(6):
        cards[k] = lowest(_card_at(six, k))
    role = DEALER if g["turn"] == g["dealer"] else PONE
    for move in range(N_DISCARDS):
        first, second = cards[PLACES[move, 0]], cards[PLACES[move, 1]]
        hand, crib = hand_total(six ^ bit(first) ^ bit(second), six), crib_total(first, second, cards)
        values[move] = show_value(hand, crib, first, second, role, crib_shift)


@kernel
def begin_decision(work, settings, root, word):
    """Starts a decision: a GAME record with what the seat to act knows, and the start of a random stream."""
    work.games[_ROOT] = root
    g, state = work.games[_ROOT], work.state[0]
    state["word"] = word
    work.votes[:] = 0
    work.show_value[:] = 0.0
    state["unseen"] = unseen_cards(g)
    state["n_hands"] = weigh_hands(g, settings.likely, work.hands, work.weights)
    if settings.mean_show and g["episode"] != PEGGING_EPISODE:
        g["episode"] = PLAY_EPISODE  # without the show; its value is added
        if g["phase"] == DISCARD:
            fill_exact_shows(g, settings.crib_shift, work.show_value)


@kernel
def draw_world(work):
    """Samples the hidden cards of the root."""
    work.games[_WORLD] = work.games[_ROOT]
    state = work.state[0]
    n = state["n_hands"]
    state["word"] = draw_hidden(work.games[_WORLD], state["unseen"], work.hands[:n], work.weights[:n], state["word"])


@kernel
def search(work, settings, iterations):
    """A new tree, and iterations on it."""
    work.state[0]["n_nodes"] = 1
    work.path[0] = 0
    root = work.nodes[0]
    root["reward"], root["visits"], root["available"], root["tried"] = 0.0, 0, 0, 0
    if settings.trees:
        draw_world(work)
    for _ in range(iterations):
        if not settings.trees:
            draw_world(work)
        walk(work, settings)


@kernel
def choose_all(work, settings, roots, seed, game_ids, decisions, cards):
    """Fills ``cards`` (B,) for the ``roots`` (B,) GAME: those of the most visited moves (Cowling et al., algorithm 1,
    line 19), over all trees. A uint64 seed, a game's id and the decision's number give a random stream."""
    n_trees = max(settings.trees, 1)
    for b in range(len(cards)):
        moves, node = open_moves(roots[b]), work.nodes[0]
        if moves & (moves - 1) == 0:
            cards[b] = card_of_move(roots[b], lowest(moves))
            continue
        begin_decision(work, settings, roots[b], word_of(seed, game_ids[b], decisions[b]))
        for _ in range(n_trees):
            search(work, settings, settings.iterations // n_trees)
            for move in range(N_DISCARDS):
                if (node["tried"] >> move) & 1:
                    work.votes[move] += work.nodes[node["child"][move]]["visits"]
        cards[b] = card_of_move(work.games[_ROOT], np.argmax(work.votes))


_MOST_NODES = 1 << 18  # of a tree
_CHUNK = 32  # decisions that a thread takes at once


@dataclass(kw_only=True)
class ISMCTSAgent:
    """One search tree over information sets.

    Single-observer information-set Monte-Carlo tree search of Cowling, Powley and Whitehouse (2012), "Information Set
    Monte Carlo Tree Search", section IV, as used by Sharan and Pawar (2022), "Cribbage AI agent", section "SO-ISMCTS
    Agent": one tree, new hidden cards for each iteration, availability counts in the selection formula, k = √2, a
    simulation to the end of the deal, and the most visited move. They search only the play; this agent searches the
    discard as well. Their agent is ``ismcts:draw=uniform,show=drawn``, and ``exploration=0`` is their ablation.

    Rewards are the points of this deal minus the opponent's.
    """

    name = "ismcts"
    powers = Powers(mixes="unknown")

    iterations: Annotated[int, Range(1, 10_000_000)] = 1000
    """Iterations per decision, over all its trees."""
    exploration: Annotated[float, Range(0)] = 2.0**0.5
    """k of the selection formula, in points."""
    draw: Literal["likelihood", "uniform"] = "likelihood"
    """``likelihood``: hands are sampled by how often a sensible opponent would have kept them and laid what it laid;
    or ``uniform``: all hidden cards that agree with what is known are equally likely."""
    show: Literal["mean", "drawn"] = "mean"
    """``drawn``: the show is counted with the hidden cards that were drawn. Once the discards are made it is settled,
    and summed over sampled hands mostly noise. So with ``mean`` a search ends with the play and adds the mean value of
    the show: before the discard the exact means of hand and crib, after it nothing."""
    seed: int = 0
    """Random seed; a choice depends only on it, the game's id and the decision's number."""
    threads: Threads = 2
    """How many decisions of a batch are searched in parallel."""

    def __post_init__(self) -> None:
        self._seed = streams(self.seed, 1)[0]
        weighs = self.draw == "likelihood"
        self._settings = Settings(
            iterations=self.iterations,
            exploration=float(self.exploration),
            trees=self._trees(),
            mean_show=self.show == "mean",
            likely=habits().keeping if weighs else np.zeros((0, N_FOURS)),
            crib_shift=outlook().cribs if weighs else np.zeros((2, 13, 13)),
        )

    def _trees(self) -> int:
        return 0

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        roots, cards = views.games.copy(), np.empty(len(views), np.int64)

        def choose(part: slice) -> None:
            work, about = new_work(min(self.iterations + 1, _MOST_NODES)), (views.game_ids[part], views.decisions[part])
            choose_all(work, self._settings, roots[part], self._seed, *about, cards[part])

        on_threads(self.threads, choose, [slice(first, first + _CHUNK) for first in range(0, len(roots), _CHUNK)])
        return cards


@dataclass(kw_only=True)
class DeterminizedUCTAgent(ISMCTSAgent):
    """Samples some worlds, searches each as if it were known, and adds up the visits of the moves.

    Sharan and Pawar (2022), section "Related Work", after Kelly (2017): UCT (Kocsis and Szepesvári 2006). If a tree has
    one world, a move is available whenever its parent is visited.
    It plays each world differently, which is impossible at the table (strategy fusion, which ``ismcts`` avoids).
    """

    name = "uct-determinized"

    determinizations: Amount = 20
    """How many worlds; they share ``iterations``."""

    def _trees(self) -> int:
        n = self.determinizations
        if n > self.iterations:
            raise ValueError(f"determinizations={n} is not allowed, give 1 to {self.iterations}, one iteration each")
        return n
