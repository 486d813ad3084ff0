"""Magnetic mirror descent with tables: its point of rest, what it learns, and that training and playing agree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from crib_env.agents.choosing import without_rare
from crib_env.agents.mmd_tables import (
    BUCKET,
    LOGIT,
    N_LEARNED,
    N_TABLES,
    SEEN,
    Discards,
    TablesAgent,
    fill_discards,
    no_discards,
)
from crib_env.batch import GameBatch
from crib_env.engine import DISCARD, PLAY, act, legal_cards
from crib_env.evaluate.skill.exploitability import exploitability
from crib_env.kernels import lowest, mask_of, streams
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import start_of_play
from crib_env.train.loop.run import Round
from crib_env.train.mmd_tables import (
    N_CRITIC_TABLES,
    MMDTables,
    MMDTablesSettings,
    Rates,
    Tables,
    _show,
    decide,
    learn,
    look_up_discards,
    no_deal,
    no_known_discards,
)
from tests.helpers.players import tables_agent

KNOWN = no_known_discards()
SMALL = replace(MMDTablesSettings(), cards=2, bits=14)


def tables(bits=8, random=None):
    """Tables for training, of zeros or of random numbers."""
    shapes = (N_TABLES, 1 << bits, 2, BUCKET), (N_CRITIC_TABLES, 1 << bits, BUCKET), (2, N_LEARNED)
    fill = np.zeros if random is None else random.standard_normal
    return Tables(*(np.ascontiguousarray(fill(shape), np.float32) for shape in shapes))


@pytest.mark.parametrize("critic", [True, False])
def test_logits_come_to_rest_where_the_paper_says(critic):
    """π ∝ exp(Q / α): there no step changes it (Sokota et al. 2023, section 4, a uniform magnet).

    So they do without a critic: the points earned correct it.
    """
    learned, deal, rng = tables(), no_deal(), np.random.default_rng(0)
    values, alpha, rates = np.array([1.0, 0.4, 0.0]), 1.5, Rates(1.5, 1.0, 4.0, 16.0, 0.0, 1.0, 0.0)
    deal.n[0], deal.buckets[0] = 3, (5, 6, 7, 8)
    logits, of_critic = (learned.play[:, :, k] for k in (LOGIT, 1))
    for _ in range(10_000):
        of_critic *= critic
        deal.logits[0, 1:3] = logits[range(N_TABLES), deal.buckets[0], 1:3].sum(axis=0)
        deal.values[0, :3] = of_critic[range(N_TABLES), deal.buckets[0], :3].sum(axis=0)
        chances = np.exp(deal.logits[0, :3]) / np.exp(deal.logits[0, :3]).sum()
        deal.chances[0, :3], deal.place[0] = chances, rng.choice(3, p=chances)
        deal.probability[0] = chances[deal.place[0]]
        learn(learned, deal, 0, values[deal.place[0]] + rng.standard_normal(), rates)
    expected = np.exp(values / alpha) / np.exp(values / alpha).sum()
    np.testing.assert_allclose(chances, expected, atol=0.04)
    assert (logits[range(N_TABLES), deal.buckets[0], SEEN] == 10_000).all()


def test_a_player_plays_as_it_has_learned():
    """The chances by which training draws cards are those that the agent states, but for rare cards."""
    learned, deal, cards = tables(random=np.random.default_rng(1)), no_deal(), np.empty(13, np.int64)
    agent = TablesAgent(torch.from_numpy(learned.play), torch.from_numpy(learned.discards[0]), 0.5)
    batch, compared = GameBatch(streams(3, 40), episode="pegging", skip_forced=True), 0
    rare = 0
    while len(rows := batch.acting()):
        stated = agent.probabilities(batch.views(rows))
        drawn = []
        for row, chances in zip(rows, stated):
            drawn.append(decide(batch.games[row], learned, deal, 0, cards, 0.0))
            n = deal.n[0]
            np.testing.assert_allclose(chances[cards[:n]], without_rare(deal.chances[:1, :n])[0], rtol=1e-5)
            compared, rare = compared + 1, rare + (chances[cards[:n]] == 0).sum()
        batch.step(rows, np.array(drawn))
    assert compared > 100
    assert rare > 10


@pytest.mark.parametrize("plays", ["sample", "mode"])
def test_both_ways_of_playing(plays):
    torch.manual_seed(0)
    random = tables_agent()
    agent = TablesAgent(random.play, random.discards, 0.5, plays)
    views = GameBatch(streams(1, 50)).views(np.arange(50))
    chances = agent.probabilities(views)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    likely = chances.max(axis=1)
    assert (likely == 0.5).all() if plays == "mode" else (likely < 0.5).any()  # either card of the pair comes first
    assert (chances[np.arange(50), agent.act(views)] > 0).all()


def test_the_smallest_game_is_nearly_solved_in_a_second():
    learner = MMDTables(replace(SMALL, episodes=400_000))
    for k in range(20):
        learner.play_and_learn(Round(20_000, 20_000 * k, 0.0, 0.0, np.random.default_rng(k)))
    assert exploitability(learner.agent, PlayGame(start=start_of_play(2))).mean < 0.04  # 0.192 untrained


def test_discards_are_learned_from_crib_and_play():
    """All that is learned beside the known means of a show is far smaller than these."""
    learner = MMDTables(replace(SMALL, episode="deal", cards=4, bits=16, episodes=12_000))
    for k in range(4):
        learner.play_and_learn(Round(3_000, 3_000 * k, 0.0, 0.0, np.random.default_rng(k)))
    learned = learner.agent.discards.numpy()
    assert np.count_nonzero(learned) > 1_000
    assert np.abs(learned).max() < 5


def test_what_a_show_makes_is_no_part_of_the_play():
    """The points of the three hands, and of the crib among them, are told from those of the last card."""
    batch = GameBatch(streams(5, 200), episode="deal")
    for g in batch.games:
        while g["phase"] in (DISCARD, PLAY):
            before = g["scores"].copy()
            act(g, lowest(legal_cards(g)))
        net, crib = _show(g)
        made = g["scores"] - before
        last = sum(g["event_points"][k] * (1 if g["event_player"][k] == 0 else -1) for k in range(g["n_events"]))
        assert made[0] - made[1] == last
        shown = [k for k in range(g["n_events"]) if g["event_kind"][k] > 8]
        assert net == sum(g["event_points"][k] * (1 if g["event_player"][k] == 0 else -1) for k in shown)
        assert crib == sum(g["event_points"][k] for k in shown if g["event_kind"][k] == 11)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(0, 51), min_size=6, max_size=6, unique=True), st.permutations(range(4)))
def test_discards_are_looked_up_as_they_are_computed(cards, suits):
    """A deal and the same with other suits, of which the second finds in the table what the first has left there."""
    for names in (range(4), suits):
        six = mask_of(np.array([13 * names[card // 13] + card % 13 for card in cards]))
        computed, found = no_discards(), no_discards()
        fill_discards(six, computed)
        look_up_discards(six, KNOWN, found)
        for name in Discards._fields:
            np.testing.assert_array_equal(getattr(found, name), getattr(computed, name), name)
