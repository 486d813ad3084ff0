"""Deals that a policy of tables plays against itself, and what it learns from each: the pegging game, or whole deals.

Discards are drawn from the softmax of q / α itself, where q is the sum of what is known exactly of them and of what the
critic has learned of the rest: net points of the play, and of the crib beyond its known mean.
"""

from __future__ import annotations

import numpy as np

from crib_env.agents.mmd_tables import N_PARTS, fill_values, learned_at, mean_crib, softmax
from crib_env.engine import (
    CRIB,
    DEAL_EPISODE,
    DISCARD,
    PLAY,
    PONES_HAND,
    ROLES,
    act,
    begin_deal,
    begin_game,
    legal_cards,
    shuffle,
)
from crib_env.exact.discard_statistics import N_DISCARDS, PLACES
from crib_env.hands import ranks_in
from crib_env.kernels import cards_in, kernel, lowest
from crib_env.train.mmd_tables.decisions import decide, drawn_place, learn, learning_share, uniform
from crib_env.train.mmd_tables.known_discards import look_up_discards

_LUCK = 400  # deals, in whose mean the luck is as large as what there is to learn of a discard


@kernel
def _discard(g, tables, deal, temperature, known, values):
    """The seat to act discards both cards."""
    seat, discards = np.int64(g["turn"]), deal.discards
    six, is_dealer = np.int64(g["hand"][seat]), np.int64(seat == g["dealer"])
    look_up_discards(six, known, discards)
    fill_values(discards, is_dealer, tables.discards[0], values)
    for k in range(N_DISCARDS):
        values[k] /= temperature
    softmax(values, N_DISCARDS, values)
    k = drawn_place(values, N_DISCARDS, uniform(g))
    deal.crib[seat] = mean_crib(discards, k, is_dealer)
    for part in range(N_PARTS):
        deal.learned_at[seat, part] = learned_at(discards, k, part, is_dealer)
    cards = cards_in(six, 6)
    for card in PLACES[k]:
        act(g, cards[card])


@kernel
def _show(g):
    """What seat 0 made in the show, less what seat 1 made, and the dealer in the crib."""
    net, crib = np.int64(0), np.int64(0)
    for k in range(g["n_events"]):
        if g["event_kind"][k] >= PONES_HAND:
            points = np.int64(g["event_points"][k])
            net += points if g["event_player"][k] == 0 else -points
            crib += points if g["event_kind"][k] == CRIB else 0
    return net, crib


@kernel
def play_and_learn(g, episode, n, tables, rates, deal, known, tally):
    """Plays ``n`` deals, in which each seat deals in turn, and learns from every decision.

    Args:
        g: a GAME with a seeded ``episode_stream``.
        episode: ``PEGGING_EPISODE`` or ``DEAL_EPISODE``.
        n: the number of deals.
        tables: are changed in place.
        rates: a :class:`Rates`.
        deal: work arrays.
        known: a :class:`~crib_env.train.mmd_tables.known_discards.KnownDiscards`, filled as deals come up.
        tally: (4,) float64, to which are added: decisions of the play, squared errors of the critic, values of the
            policy there, and its entropies.
    """
    cards = np.empty(13, np.int64)
    values = np.empty(N_DISCARDS)
    for dealt in range(n):
        begin_game(g, episode, dealt & 1, 0, 0, -1)
        shuffle(g)
        begin_deal(g)
        while g["phase"] == DISCARD:
            _discard(g, tables, deal, rates.temperature, known, values)
        heels, t = np.float64(g["scores"][0] - g["scores"][1]), 0
        while g["phase"] == PLAY:
            legal = legal_cards(g)
            ranks = ranks_in(legal)
            if ranks & (ranks - 1) == 0:  # no choice
                act(g, lowest(legal))
            else:
                act(g, decide(g, tables, deal, t, cards, rates.epsilon))
                t += 1
        shown, crib = _show(g)
        played = np.float64(g["scores"][0] - g["scores"][1] - shown)
        for seat in range(len(ROLES)):
            lead, ahead = played if seat == 0 else -played, 0.0
            if episode == DEAL_EPISODE:
                pegged = lead - (heels if seat == 0 else -heels)
                error = pegged + (crib if seat == g["dealer"] else -crib) - deal.crib[seat]
                for part in range(N_PARTS):
                    error -= tables.discards[0, deal.learned_at[seat, part]]
                for part in range(N_PARTS):
                    learned = tables.discards[:, deal.learned_at[seat, part]]
                    learned[0] += learning_share(learned[1] + _LUCK, rates.critic_recency) * error / N_PARTS
                    learned[1] += np.float32(1)
            for k in range(t - 1, -1, -1):
                if deal.seat[k] == seat:
                    target = lead - deal.lead[k] + ahead
                    error, value, entropy = learn(tables, deal, k, target, rates)
                    ahead = rates.td_lambda * target + (1 - rates.td_lambda) * value
                    lead = deal.lead[k]
                    tally[0] += 1
                    tally[1] += error * error
                    tally[2] += value
                    tally[3] += entropy
