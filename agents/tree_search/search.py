"""Monte-Carlo tree search on the engine's records: kernels shared by ``ismcts`` and both kinds of UCT.

Cowling, Powley and Whitehouse (2012), "Information Set Monte Carlo Tree Search", algorithms 1 and 2, as described
by Sharan and Pawar (2022) in "SO-ISMCTS Agent". Every iteration walks down a tree of moves, adds one node, plays
the rest of the deal with a native policy, and writes the result into the nodes on its path. A node stands for a
sequence of moves, and so for all states behind it that seat 0 cannot tell apart:

* a move in the play is a rank, since suits do not matter there;
* the player's own discard is one move, the pair; the opponent's is never seen, and is sampled with the hidden cards.

The hidden cards, sampled anew for each iteration or once for each tree, decide which of a node's moves are legal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.agents.belief.opponent_hands import MOST_HANDS
from crib_env.agents.tree_search.hidden_cards import draw_hidden, unseen_cards, weigh_hands
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
    WIN,
    act,
    legal_cards,
    start_play,
    starter,
)
from crib_env.exact.discard_means import crib_total, hand_total
from crib_env.exact.discard_statistics import N_DISCARDS, PLACES
from crib_env.hands import ranks_in
from crib_env.kernels import GOLDEN, below, bit, kernel, lowest, mix, popcount
from crib_env.players.policies import native_card
from crib_env.scoring import show_points
from crib_env.tables.deal_chances import chance_after_deal, chance_with_crib
from crib_env.tables.outlook import show_value

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
_ROOT, _WORLD, _GAME = range(
    3
)  # records of a search: what is known, that with sampled hidden cards, and the game being played out
_POINTS_A_GAME = 50.0  # a point is worth about two percent of a game: puts rewards of both kinds on one scale
_SHOWS = 500  # samples for a mean probability of winning
_MOST_PLAY = 64  # above the points of heels and any play
MOST_NODES = 1 << 18  # nodes of a tree whose search is limited by time
_STATE = np.dtype([("word", "u8"), ("unseen", "i8"), ("n_hands", "i8"), ("n_nodes", "i8")])


class Settings(NamedTuple):
    """Settings of the search kernels."""

    iterations: int
    """Iterations over all trees."""
    exploration: float
    """k of the selection formula."""
    rollout: int
    """The native policy that plays a deal to its end."""
    trees: int
    """How many trees with one world each; 0 is one tree with a new world for each iteration."""
    mean_show: bool
    """Whether to use the mean value of the show."""
    likely: np.ndarray
    """(2 or 0, 1820), see :func:`crib_env.agents.tree_search.hidden_cards.weigh_hands`."""
    crib_shift: np.ndarray
    """(2, 13, 13) what a crib is worth beyond its exact mean against random discards, by role and ranks discarded."""
    win: np.ndarray
    """(121, 121) chance of the dealer to win, by dealer's and pone's score, or (0, 0): then points are rewards."""


class Work(NamedTuple):
    """The arrays that a search writes to, for one decision after another."""

    games: np.ndarray
    """(3,) GAME"""
    state: np.ndarray
    """(1,)"""
    nodes: np.ndarray
    """(N,) NODE; a tree that has used all of them does not grow any more, but is still searched."""
    path: np.ndarray
    """(16,) int64, the nodes of one path"""
    hands: np.ndarray
    """(3640,) int64, see :func:`crib_env.agents.tree_search.hidden_cards.weigh_hands`"""
    weights: np.ndarray
    """(3640,)"""
    show_value: np.ndarray
    """(15,) mean points, by own discard"""
    shows: np.ndarray
    """(15, 500, 3) int64 points of the own hand, the other and the crib, drawn; by own discard, or the first alone"""
    chances: np.ndarray
    """(15, 64, 64) chances to win after such shows, by points made and given in the play; NaN if not yet computed"""
    votes: np.ndarray
    """(15,) int64, visits of the root's moves over all trees"""


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
        np.zeros((N_DISCARDS, _SHOWS, 3), np.int64),
        np.zeros((N_DISCARDS, _MOST_PLAY, _MOST_PLAY)),
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
def chance_after_play(work, settings, discard, own, other):
    """The searcher's win probability from the scores after the play, over the shows sampled for a discard.

    Computed on first use.
    """
    root, win = work.games[_ROOT], settings.win
    deals = root["turn"] == root["dealer"]
    if own >= WIN or other >= WIN:
        return chance_after_deal(own, other, deals, win)
    made, given = own - root["scores"][root["turn"]], other - root["scores"][1 - root["turn"]]
    if np.isnan(work.chances[discard, made, given]):
        total = 0.0
        for k in range(_SHOWS):
            hand, others_hand, crib = work.shows[discard, k]
            total += chance_with_crib(own + hand, other + others_hand, crib, deals, win)
        work.chances[discard, made, given] = total / _SHOWS
    return work.chances[discard, made, given]


@kernel
def value(work, settings, g, discard):
    """The searcher's value of a finished deal, in points, after its own ``discard`` (0 in the play)."""
    root = work.games[_ROOT]
    searcher = root["turn"]
    own, other = np.int64(g["scores"][searcher]), np.int64(g["scores"][1 - searcher])
    if len(settings.win) == 0 or root["episode"] == PEGGING_EPISODE:  # after which there is nothing to win
        return own - root["scores"][searcher] - (other - root["scores"][1 - searcher]) + work.show_value[discard]
    if settings.mean_show:
        return _POINTS_A_GAME * chance_after_play(work, settings, discard, own, other)
    return _POINTS_A_GAME * chance_after_deal(own, other, g["dealer"] == searcher, settings.win)


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
        act(g, native_card(g, settings.rollout))
    reward = value(work, settings, g, discard)
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
def draw_shows(work):
    """Draws the points in the show of own hand, opponent's hand and crib, for each own discard or for the known one."""
    for k in range(_SHOWS):
        draw_world(work)
        world = work.games[_WORLD]
        moves = open_moves(world) if world["phase"] == DISCARD else np.int64(1)
        while moves:
            move = lowest(moves)
            moves &= moves - 1
            work.games[_GAME] = world
            g = work.games[_GAME]
            if g["phase"] == DISCARD:
                make_move(g, move)
            own, cut = world["turn"], starter(g)
            work.shows[move, k, 0] = show_points(g["kept"][own], cut, False)
            work.shows[move, k, 1] = show_points(g["kept"][1 - own], cut, False)
            work.shows[move, k, 2] = show_points(g["discards"][0] | g["discards"][1], cut, True)


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
        if len(settings.win):
            work.chances[:] = np.nan
            draw_shows(work)
        elif g["phase"] == DISCARD:
            fill_exact_shows(g, settings.crib_shift, work.show_value)


@kernel
def draw_world(work):
    """Samples the hidden cards of the root."""
    work.games[_WORLD] = work.games[_ROOT]
    state = work.state[0]
    n = state["n_hands"]
    state["word"] = draw_hidden(work.games[_WORLD], state["unseen"], work.hands[:n], work.weights[:n], state["word"])


@kernel
def begin_tree(work, settings):
    """A new tree: the root alone."""
    work.state[0]["n_nodes"] = 1
    work.path[0] = 0
    root = work.nodes[0]
    root["reward"], root["visits"], root["available"], root["tried"] = 0.0, 0, 0, 0
    if settings.trees:
        draw_world(work)


@kernel
def search(work, settings, iterations):
    """Iterations on the present tree."""
    for _ in range(iterations):
        if not settings.trees:
            draw_world(work)
        walk(work, settings)


@kernel
def end_tree(work):
    """Adds the visits of the root's moves to the votes."""
    root = work.nodes[0]
    for move in range(N_DISCARDS):
        if (root["tried"] >> move) & 1:
            work.votes[move] += work.nodes[root["child"][move]]["visits"]


@kernel
def only_card(root):
    """The card to discard or lay if there is only one move, else -1."""
    moves = open_moves(root)
    return np.int64(-1) if moves & (moves - 1) else card_of_move(root, lowest(moves))


@kernel
def chosen_card(work):
    """The card of the most visited move (Cowling et al., algorithm 1, line 19)."""
    return card_of_move(work.games[_ROOT], np.argmax(work.votes))


@kernel
def choose_all(work, settings, roots, random_words, cards):
    """Fills ``cards`` (B,) for the ``roots`` (B,) GAME, by ``settings.iterations``."""
    for b in range(len(cards)):
        cards[b] = only_card(roots[b])
        if cards[b] < 0:
            begin_decision(work, settings, roots[b], random_words[b])
            n_trees = max(settings.trees, 1)
            for _ in range(n_trees):
                begin_tree(work, settings)
                search(work, settings, settings.iterations // n_trees)
                end_tree(work)
            cards[b] = chosen_card(work)
