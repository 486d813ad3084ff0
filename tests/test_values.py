"""The player by values: its network's inputs, by hand and against games; its choices; files of version 1.0."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from crib_env import parse_cards, score_show
from crib_env.aec import raw_env
from crib_env.agents import make_agent
from crib_env.agents.belief.prospects import Prospects
from crib_env.agents.networks.value_network import ValueNetwork
from crib_env.agents.networks.weights_file import save_tensors
from crib_env.agents.values.agent import ValueAgent
from crib_env.agents.values.by_kind import ByKind
from crib_env.agents.values.inputs import GREEDY_INPUT, N_PLAY_INPUTS, AfterPlays
from crib_env.batch import GameBatch
from crib_env.engine import FIFTEEN, FOUR, PAIR, PLAY, RUN, THIRTY_ONE, THREE, WIN, act
from crib_env.kernels import streams

BY_THE_CARD = {FIFTEEN, THIRTY_ONE, PAIR, THREE, FOUR, RUN}  # all points in the play but go and last card


def some_views(n=200, seed=0, spread=50):
    """Views of all phases of random deals at random scores."""
    batch = GameBatch(streams(seed, n), episode="deal", start_spread=spread)
    while len(rows := batch.acting()):
        yield batch.views(rows)
        batch.step(rows, batch.native_cards(rows, 0))


def new_agent():
    torch.manual_seed(0)
    return ValueAgent((16,))


def parts(seen):
    """The inputs of the play network, (N_PLAY_INPUTS,), by name."""
    sizes = {"dealer": 1, "held": 52, "seen": 52, "slots": 120, "latest": 39, "count": 32, "opponent": 5}
    sizes |= {"answers": 78, "least": 9, "own": 36, "own less the show": 36, "other": 36}
    sizes |= {"holds": 13, "greedy": 1, "win": 1, "moves": 48}
    ends = np.cumsum(list(sizes.values()))
    assert ends[-1] == len(seen) == N_PLAY_INPUTS
    return dict(zip(sizes, np.split(seen, ends[:-1])))


# --- inputs ---------------------------------------------------------------------------------------------------------


def test_inputs_of_a_known_play():
    env = raw_env(observation="board")
    deal = parse_cards("5H 5C JD QS 2H 3D  4C 6C 7S 8S 9H KH  5S")
    env.reset(options={"deals": [deal], "first_dealer": 0, "scores": (100, 40)})
    for card in parse_cards("9H KH 2H 3D 7S 5H 8S"):  # pone discards, dealer discards, seven, five, eight: 20
        env.step(card)
    after = AfterPlays.of(env.views("player_0"))
    assert after.decision.tolist() == [0, 0, 0]
    assert after.rank.tolist() == [4, 10, 11]  # five, jack, queen
    assert after.points.tolist() == [0, 0, 0]

    seen = parts(after.seen[1])  # the jack: 30
    assert seen["dealer"] == 1
    assert seen["held"].reshape(13, 4).sum(axis=1).nonzero()[0].tolist() == [4, 11]
    known = seen["seen"].reshape(13, 4).sum(axis=1)
    assert known.tolist() == [0, 1, 1, 0, 3, 0, 1, 1, 0, 0, 1, 1, 0]
    slots = seen["slots"].reshape(8, 15)
    assert [slot.nonzero()[0].tolist() for slot in slots[:5]] == [[6, 14], [4, 13, 14], [7, 14], [10, 13, 14], []]
    latest = seen["latest"].reshape(3, 13)
    assert [row.nonzero()[0].tolist() for row in latest] == [[10], [7], [4]]  # the last one first
    assert seen["count"].nonzero()[0].tolist() == [30]
    assert seen["opponent"].nonzero()[0].tolist() == [2]
    answers = seen["answers"].reshape(13, 6)
    assert answers[0].tolist() == [1, 1, 0, 0, 0, 0]  # an ace makes thirty-one for two
    assert not answers[1:].any()
    assert seen["least"].sum() == 0  # the opponent never said go
    assert seen["own"].nonzero()[0].tolist() == [21]  # holes
    show = score_show("5H 5C JD QS", "5S")
    assert show == 20
    assert seen["own less the show"].nonzero()[0].tolist() == [1]
    assert seen["other"].nonzero()[0].tolist() == [35]  # 81 to go: beyond 50 is one place


@pytest.mark.parametrize(
    ("score", "place"), [(121 - 30, 30), (121 - 31, 31), (121 - 35, 31), (121 - 36, 32), (71, 34), (70, 35), (0, 35)]
)
def test_holes_are_seen_one_by_one_then_in_fives(score, place):
    views = next(v for v in some_views(1) if v.discards[0, 1] >= 0)
    views = replace(views, scores=np.array([[0, score]], np.int16))
    for seen in AfterPlays.of(views).seen:
        assert parts(seen)["other"].nonzero()[0].tolist() == [place]


def test_a_go_tells_what_the_opponent_cannot_hold():
    env = raw_env(observation="board")
    deal = parse_cards("TH TC AD 2S 2H 3D  TS QC KS KD 9H KH  5S")
    env.reset(options={"deals": [deal], "first_dealer": 0})
    for card in parse_cards("9H KH 2H 3D KS TH QC"):  # 30: the opponent has the ace to go on, then says go
        env.step(card)
    env.step(parse_cards("AD")[0])  # 31
    views = env.views("player_1")  # leads anew; the opponent holds a ten and a deuce and has not said go
    assert all(parts(seen)["least"].sum() == 0 for seen in AfterPlays.of(views).seen)
    env.reset(options={"deals": [parse_cards("TH TC JD QS 2H 3D  AS QC KS KD 9H KH  5S")], "first_dealer": 0})
    for card in parse_cards("9H KH 2H 3D KS TH QC"):
        env.step(card)
    views = env.views("player_1")  # the opponent said go at 30: no ace
    (seen,) = AfterPlays.of(views).seen
    assert parts(seen)["least"].tolist() == [1, 0, 0, 0, 0, 0, 0, 0, 0]


def test_after_plays_match_the_game_after_each_card():
    """Each card is laid in a copy of the game, before anything else happens in it."""
    batch = GameBatch(streams(1, 300), episode="deal", start_spread=50)
    met = set()
    while len(rows := batch.acting()):
        views = batch.views(rows)
        playing = np.flatnonzero(batch.games["phase"][rows] == PLAY)
        if len(playing):
            after = AfterPlays.of(batch.views(rows[playing]))
            legal = {(b, c % 13) for b, row in enumerate(playing) for c in views.action_mask[row].nonzero()[0]}
            assert set(zip(after.decision, after.rank)) == legal
            assert len(after.rank) == len(legal)
            for b, rank, points, _, _, inputs in zip(*after):
                record = batch.games[rows[playing[b]]].copy()
                seat, other = int(record["turn"]), 1 - int(record["turn"])
                count, n = int(record["count"]), int(record["n_laid"])
                held = views.hand[playing[b]]
                act(record, next(c for c in held if c >= 0 and c % 13 == rank))
                made = [e for e in range(record["n_events"]) if record["event_kind"][e] in BY_THE_CARD]
                if record["scores"].max() < WIN:
                    assert points == sum(record["event_points"][e] for e in made)
                met |= {int(record["event_kind"][e]) for e in made}
                seen = parts(inputs)
                left = np.bincount(np.array([c % 13 for c in held if c >= 0]), minlength=13)
                left[rank] -= 1
                assert seen["held"].reshape(13, 4).sum(axis=1).tolist() == left.tolist()
                now = (count + min(rank + 1, 10)) % 31
                assert seen["count"].nonzero()[0].tolist() == [now]
                assert seen["dealer"] == (record["dealer"] == seat)
                slots = seen["slots"].reshape(8, 15)
                assert slots[:, :13].argmax(axis=1)[: n + 1].tolist() == (record["laid"][: n + 1] % 13).tolist()
                assert slots[:, 13].nonzero()[0].tolist() == [k for k in range(n + 1) if record["laid_by"][k] == seat]
                assert seen["opponent"].argmax() == int(record["hand"][other]).bit_count()
                assert seen["answers"].reshape(13, 6)[:, 0].tolist() == [now + min(r + 1, 10) <= 31 for r in range(13)]
        batch.step(rows, batch.native_cards(rows, 0))
    assert met >= BY_THE_CARD - {FOUR}


def test_inputs_say_how_points_still_pegged_would_move_the_chance_to_win():
    met, pegged = 0, [0, 1, 2, 3, 4, 6, 8]
    for views in some_views(30, spread=120):
        if views.discards[0, 1] < 0:
            continue
        after, prospects = AfterPlays.of(views), Prospects.of(views)
        for b, _, points, _, worth, inputs in zip(*after):
            seen, win = parts(inputs), prospects.win[b]
            np.testing.assert_allclose(seen["holds"], prospects.holds[b], atol=1e-6)
            assert seen["greedy"] == pytest.approx(prospects.greedy[b], abs=1e-6)
            assert seen["win"] == pytest.approx(win[points, 0], abs=1e-6)
            moves = seen["moves"].reshape(8, 6)
            for step in range(6):
                low, high = pegged[step], pegged[step + 1]
                unit = worth * (high - low) / 100
                own = [(win[points + high, other] - win[points + low, other]) / unit for other in pegged]
                np.testing.assert_allclose(moves[:7, step], own, rtol=1e-3, atol=1e-3)
                assert moves[7, step] == pytest.approx(
                    (win[points, low] - win[points, high]) / unit, rel=1e-3, abs=1e-3
                )
            met += 1
    assert met > 100


def test_inputs_do_not_depend_on_the_names_of_suits():
    rng = np.random.default_rng(0)
    for views in some_views(20):
        swap = rng.permutation(4)

        def renamed(cards, swap=swap):
            return np.where(cards < 0, cards, 13 * swap[cards // 13] + cards % 13).astype(cards.dtype)

        twin = replace(
            views,
            hand=renamed(views.hand),
            discards=renamed(views.discards),
            laid=renamed(views.laid),
            starter=renamed(views.starter),
        )
        if views.discards[0, 1] >= 0:
            for one, other in zip(AfterPlays.of(twin), AfterPlays.of(views)):
                np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


# --- choices --------------------------------------------------------------------------------------------------------


def test_a_rank_is_worth_its_points_and_what_comes_after_at_this_score():
    """A point is worth the mean of eight that either pegs, and never less than a tenth of a percent."""
    agent = new_agent()
    met = 0
    for views in some_views(100, spread=120):
        if views.discards[0, 1] < 0:
            continue
        ranks, values, win = agent.look_ahead(views), 100 * agent.rank_values(views), 100 * Prospects.of(views).win
        with torch.inference_mode():
            to_come = agent.play(torch.from_numpy(ranks.after.seen)).numpy()
        assert np.isfinite(values).sum() + (values == np.inf).sum() == len(ranks.values)
        for (b, rank, points, gain, worth, _), then in zip(zip(*ranks.after), to_come):
            assert worth == pytest.approx(max((win[b, 8, 0] - win[b, 0, 8]) / 16, 0.1), rel=1e-3)
            assert gain == pytest.approx(win[b, points, 0] - win[b, 0, 0], abs=1e-4)
            value = np.inf if views.scores[b, 0] + points >= WIN else gain + worth * then
            assert values[b, rank] == pytest.approx(value, rel=1e-4, abs=1e-4)
            met += value == np.inf
    assert met


@pytest.mark.parametrize(("score", "wins"), [(118, False), (119, True)])
def test_a_card_that_wins_is_laid(score, wins):
    env = raw_env(observation="board")
    deal = parse_cards("5H 8C JD QS 2H 3D  4C 6C 7S 8S 9H KH  5S")
    env.reset(options={"deals": [deal], "first_dealer": 0, "scores": (score, 40)})
    for card in parse_cards("9H KH 2H 3D 7S"):
        env.step(card)
    agent, views = new_agent(), env.views("player_0")
    assert (agent.rank_values(views)[0] == np.inf).nonzero()[0].tolist() == [7] * wins  # the eight makes fifteen
    for one in (agent, make_agent("best")):
        assert not wins or one.act(views)[0] == parse_cards("8C")[0]


@pytest.mark.parametrize(("greedy", "share"), [(0.0, 0.0), (0.2, 0.4), (0.5, 1.0), (0.9, 1.0)])
def test_the_network_for_any_opponent_gets_more_weight_against_greedy_ones(greedy, share):
    torch.manual_seed(0)
    play, seen = ByKind((16,)), torch.rand(7, N_PLAY_INPUTS)
    seen[:, GREEDY_INPUT] = greedy
    mixed = share * play.any_kind(seen) + (1 - share) * play.careful(seen)
    torch.testing.assert_close(play(seen), mixed)
    assert not torch.allclose(play.any_kind(seen), play.careful(seen))


def test_the_input_that_weighs_the_networks_is_the_chance_that_the_opponent_is_greedy():
    for views in some_views(50, seed=6):
        if views.discards[0, 1] >= 0:
            after = AfterPlays.of(views)
            np.testing.assert_array_equal(
                after.seen[:, GREEDY_INPUT], Prospects.of(views).greedy[after.decision].astype(np.float32)
            )


def test_choices_are_legal_and_the_best_by_its_own_values():
    agent = new_agent()
    for views in some_views(100, seed=4):
        cards = agent.act(views)
        assert views.action_mask[np.arange(len(views)), cards].all()
        if views.discards[0, 1] >= 0:
            assert (cards % 13 == agent.rank_values(views).argmax(axis=1)).all()


def test_weights_survive_the_file(tmp_path):
    agent = new_agent()
    agent.save(tmp_path / "final.safetensors")
    again = make_agent(f"best:{tmp_path}/final")
    for key, value in agent.state_dict().items():
        torch.testing.assert_close(again.state_dict()[key], value, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("by_kind", [False, True])
def test_files_of_version_1_0_are_read(tmp_path, by_kind):
    """They hold a discard network too, which nothing needs any more, and two networks for the play or one."""
    torch.manual_seed(0)
    play = ByKind((16,)) if by_kind else ValueNetwork(N_PLAY_INPUTS, (16,), nn.ReLU)
    tensors = nn.ModuleDict({"play": play, "discard": ValueNetwork(155, (8,), nn.ReLU)}).state_dict()
    about = {"learner": "best", "hidden": [16], "hidden_discard": [8], "by_kind": by_kind}
    save_tensors(tmp_path / "old.safetensors", tensors, about)
    again, expert = make_agent(f"best:{tmp_path}/old"), make_agent("expert")
    assert isinstance(again.play, ByKind) == by_kind
    assert "best:" in again.name
    for key, value in play.state_dict().items():
        assert torch.equal(again.play.state_dict()[key], value)
    for views in some_views(50, seed=4):
        cards = again.act(views)
        assert views.action_mask[np.arange(len(views)), cards].all()
        if views.discards[0, 1] < 0:
            np.testing.assert_array_equal(cards, expert.act(views))
