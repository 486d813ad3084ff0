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
    DECISION,
    N_CRITIC_TABLES,
    MMDTables,
    MMDTablesSettings,
    Tables,
    _show,
    decide,
    learn,
    look_up_discards,
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
    learned, d, rng = tables(), np.zeros(1, DECISION)[0], np.random.default_rng(0)
    values, alpha = np.array([1.0, 0.4, 0.0]), 1.5
    d["n"], d["buckets"] = 3, (5, 6, 7, 8)
    logits, of_critic = (learned.play[:, :, k] for k in (LOGIT, 1))
    for _ in range(10_000):
        of_critic *= critic
        d["logits"][1:3] = logits[range(N_TABLES), d["buckets"], 1:3].sum(axis=0)
        d["values"][:3] = of_critic[range(N_TABLES), d["buckets"], :3].sum(axis=0)
        chances = np.exp(d["logits"][:3]) / np.exp(d["logits"][:3]).sum()
        d["chances"][:3], d["place"] = chances, rng.choice(3, p=chances)
        d["probability"] = chances[d["place"]]
        learn(learned, d, values[d["place"]] + rng.standard_normal(), alpha)
        learned.both[:] = 0
    expected = np.exp(values / alpha) / np.exp(values / alpha).sum()
    np.testing.assert_allclose(chances, expected, atol=0.04)
    assert (logits[range(N_TABLES), d["buckets"], SEEN] == 10_000).all()


def test_a_player_plays_as_it_has_learned():
    """The chances by which training draws cards are those that the agent states, but for rare cards."""
    learned, d, cards = tables(random=np.random.default_rng(1)), np.zeros(1, DECISION)[0], np.empty(13, np.int64)
    agent = TablesAgent(torch.from_numpy(learned.play), torch.from_numpy(learned.discards[0]), 0.5)
    batch, compared = GameBatch(streams(3, 40), episode="pegging", skip_forced=True), 0
    rare = 0
    while len(rows := batch.acting()):
        stated = agent.probabilities(batch.views(rows))
        drawn = []
        for row, chances in zip(rows, stated):
            drawn.append(decide(batch.games[row], learned, d, cards, 0.0))
            n = d["n"]
            np.testing.assert_allclose(chances[cards[:n]], without_rare(d["chances"][None, :n])[0], rtol=1e-5)
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
        learner.play_and_learn(Round(20_000, 20_000 * k, 0.2 - 0.01 * k, 0.0, np.random.default_rng(k)))
    assert exploitability(learner.agent, PlayGame(start=start_of_play(2))).mean < 0.04  # 0.192 untrained


def test_a_critic_that_is_no_number_stops_the_run():
    learner = MMDTables(SMALL)
    learner.load_state_dict({name: tensor.clone().fill_(torch.nan) for name, tensor in learner.state_dict().items()})
    with pytest.raises(FloatingPointError, match="the squared errors of the critic are nan"):
        learner.play_and_learn(Round(100, 0, 0.2, 0.0, np.random.default_rng(0)))


def test_discards_are_learned_from_crib_and_play():
    """All that is learned beside the known means of a show is far smaller than these."""
    learner = MMDTables(replace(SMALL, episode="deal", cards=4, bits=16, episodes=12_000))
    for k in range(4):
        learner.play_and_learn(Round(3_000, 3_000 * k, 0.2 - 0.05 * k, 0.0, np.random.default_rng(k)))
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
        computed = no_discards()
        fill_discards(six, computed)
        look_up_discards(six, KNOWN)
        for name in Discards._fields:
            np.testing.assert_array_equal(getattr(KNOWN.found, name), getattr(computed, name), name)
