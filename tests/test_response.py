"""The response to one opponent: chances without pegging, λ-returns by a plain loop, its loss by hand, runs."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from crib_env import score_show
from crib_env.agents import make_agent
from crib_env.agents.values.agent import ValueAgent
from crib_env.agents.values.inputs import N_PLAY_INPUTS
from crib_env.batch import GameBatch
from crib_env.engine import OVER, WIN
from crib_env.kernels import streams
from crib_env.tables.standard import standard_win_table
from crib_env.train.loop.run import run_learner
from crib_env.train.loop.run_folder import RunFolder
from crib_env.train.loop.stopwatch import Stopwatch
from crib_env.train.response import learner as response
from crib_env.train.response.deals import Plays, chances_to_win, discard, play
from crib_env.train.response.learner import Response
from tests.helpers.learner_runs import new_run, run, stopped_run
from tests.helpers.small_settings import RESPONSE as SMALL

WIN_TABLE = standard_win_table().win_probability.astype(np.float64)


def deals(n=64, seed=0, **options):
    return GameBatch(streams(seed, n), episode="deal", **{"start_spread": 40, "skip_forced": True, **options})


def new_agent(seed=0, hidden=(16,)):
    torch.manual_seed(seed)
    return ValueAgent(hidden)


def cards_of(mask):
    return [card for card in range(52) if int(mask) >> card & 1]


def plain_chance(record, seat):
    """Percent by the win table if nobody pegs any more, with the show, in plain Python."""
    scores, dealer = [int(score) for score in record["scores"]], int(record["dealer"])
    if record["phase"] != OVER:
        shown = [(1 - dealer, record["kept"][1 - dealer], False), (dealer, record["kept"][dealer], False)]
        shown.append((dealer, record["discards"][0] | record["discards"][1], True))
        for who, cards, crib in shown:
            if max(scores) < WIN:
                scores[who] += score_show(cards_of(cards), int(record["cards"][12]), crib=crib)
    own, other = scores[seat], scores[1 - seat]
    if max(own, other) >= WIN:
        return 100.0 * (own >= WIN)
    return 100 - 100 * WIN_TABLE[other, own] if dealer == seat else 100 * WIN_TABLE[own, other]


# --- deals ----------------------------------------------------------------------------------------------------------


def test_chances_if_nobody_pegs_any_more():
    batch, won, met = deals(100, start_spread=120, skip_forced=False), 0, 0
    discard(batch, new_agent(), Stopwatch())
    rows = np.arange(100)
    while True:
        for seat in range(2):
            chances = chances_to_win(batch.games, rows, np.full(100, seat))
            for record, chance in zip(batch.games, chances):
                assert chance == pytest.approx(plain_chance(record, seat), abs=1e-3)
                won += chance in (0.0, 100.0)
                met += 1
        if not len(acting := batch.acting()):
            break
        batch.step(acting, batch.native_cards(acting, 0))
    assert 0.05 < won / met < 0.95


@pytest.mark.parametrize("opponent", [None, "greedy"])
@pytest.mark.parametrize("td_lambda", [0.0, 0.7])
def test_plays_are_those_of_a_plain_loop(opponent, td_lambda):
    """λ-returns game by game, backwards, from the chances before each card and after the deal."""
    agent, other, n = new_agent(), make_agent(opponent) if opponent else None, 40
    batch = deals(n, seed=3, start_spread=60)
    discard(batch, agent, Stopwatch())
    found = play(batch, agent, other, 0.0, td_lambda, np.random.default_rng(0), Stopwatch())

    again, expected = deals(n, seed=3, start_spread=60), []
    discard(again, agent, Stopwatch())
    for game in range(n):
        chains = {0: [], 1: []}
        row = np.array([game])
        while again.games["phase"][game] != OVER:
            seat, views = int(again.games["turn"][game]), again.views(row)
            if other is not None and seat != game % 2:
                again.step(row, other.act(views))
                continue
            ranks = agent.look_ahead(views)
            k = int(ranks.values.argmax())
            chains[seat].append((plain_chance(again.games[game], seat), ranks, k))
            again.step(row, agent.act(views))
        for seat, chain in chains.items():
            assert other is None or seat == game % 2 or not chain
            total, following = plain_chance(again.games[game], seat), None
            for now, ranks, k in reversed(chain):
                if following is None:
                    target = total - now
                else:
                    later, value, target_of_it = following
                    target = later - now + (1 - td_lambda) * value + td_lambda * target_of_it
                worth, gain = float(ranks.after.worth[k]), float(ranks.after.gain[k])
                following = now, min(float(ranks.values[k]), 100 - now), target
                if ranks.values[k] < np.inf:
                    weight = min(1.0, worth / 2) ** 2
                    expected.append((bytes(ranks.after.seen[k]), (target - gain) / worth, weight))
    assert len(found) == len(expected) > (100 if opponent is None else 50)
    by_seen = lambda row: (row[0], row[1])  # noqa: E731
    got = sorted(
        ((bytes(s), float(t), float(w)) for s, t, w in zip(found.seen, found.target, found.weight)), key=by_seen
    )
    for one, two in zip(got, sorted(expected, key=by_seen)):
        assert one[0] == two[0]
        assert one[1:] == pytest.approx(two[1:], rel=1e-3, abs=1e-3)


def test_random_cards_cut_the_trace():
    """If all cards are random, the target of a card is the value of the best next one, whatever λ."""
    agent, values = new_agent(), []
    for td_lambda in (0.0, 0.9):
        batch = deals(100, seed=5)
        discard(batch, agent, Stopwatch())
        values.append(play(batch, agent, None, 1.0, td_lambda, np.random.default_rng(1), Stopwatch()))
    one, two = values
    assert (one.seen == two.seen).all()
    same = np.isclose(one.target, two.target, atol=1e-3)
    assert 0.6 < same.mean() < 1  # but for cards that were drawn at random and the best all the same


def test_nothing_to_decide_gives_nothing():
    batch = deals(4)
    while len(rows := batch.acting()):
        batch.step(rows, batch.native_cards(rows, 0))
    found = play(batch, new_agent(), None, 0.1, 0.5, np.random.default_rng(0), Stopwatch())
    assert len(found) == 0
    assert Response(new_agent(), SMALL).learn(found, 1e-3, np.random.default_rng(0)) == {}


# --- the loss -------------------------------------------------------------------------------------------------------


def plays(targets, weights):
    n = len(targets)
    return Plays(np.ones((n, N_PLAY_INPUTS), np.float32), np.array(targets, np.float32), np.array(weights, np.float32))


def test_play_loss_by_hand():
    learner = Response(new_agent(), SMALL)
    with torch.no_grad():
        for weights in learner.agent.play.parameters():
            weights.zero_()
        learner.agent.play.output.bias[0] = 1.0
    found = learner.learn(plays([3.0, 0.0], [1.0, 0.25]), 0.0, np.random.default_rng(0))
    assert found["learning/play loss"] == pytest.approx((1.0 * 2.0**2 + 0.25 * 1.0**2) / 2)


def test_learns_the_weighted_mean():
    learner, rng = Response(new_agent(), SMALL), np.random.default_rng(0)
    for _ in range(400):
        learner.learn(plays([10, 0, 0, 0, 4], [1, 1, 1, 1, 0.5]), 3e-3, rng)
    assert learner.agent.play(torch.ones(1, N_PLAY_INPUTS)).item() == pytest.approx(12 / 4.5, abs=0.1)


def test_a_loss_that_is_not_finite_stops_and_changes_nothing():
    learner = Response(new_agent(), SMALL)
    before = {key: value.clone() for key, value in learner.agent.state_dict().items()}
    with pytest.raises(FloatingPointError, match="network 'play'"):
        learner.learn(plays([np.nan], [1.0]), 1e-3, np.random.default_rng(0))
    assert all(torch.equal(before[key], value) for key, value in learner.agent.state_dict().items())


# --- runs -----------------------------------------------------------------------------------------------------------


def test_a_run_and_its_agent(tmp_path):
    folder = RunFolder.create("response", SMALL, tmp_path)
    run_learner(response, SMALL, folder)
    summary = json.loads((folder.path / "summary.json").read_text())
    assert summary["episodes"] == 256
    assert summary["updates"] > 0
    agent = make_agent(str(folder.path))
    assert isinstance(agent, ValueAgent)
    further = replace(SMALL, start=str(folder.path), hidden=(4,))  # the widths are those of the network to start from
    gone_on, _ = new_run(response, further, tmp_path)
    for name, tensor in gone_on.state_dict().items():
        assert tensor.shape == agent.state_dict()[name].shape


@pytest.mark.parametrize("opponent", ["greedy", "self"])
def test_a_stopped_run_goes_on_to_the_same_weights(tmp_path, opponent):
    settings = replace(SMALL, opponent=opponent)
    whole, _ = new_run(response, settings, tmp_path / "whole")
    folder = stopped_run(response, settings, tmp_path / "stopped", 128)
    resumed, _ = run(response, settings, folder)
    for name, tensor in whole.state_dict().items():
        assert tensor.equal(resumed.state_dict()[name]), name


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"episodes": 0}, "episodes=0 is not allowed"),
        ({"batch_size": 0}, "batch_size=0 is not allowed"),
        ({"td_lambda": 1.5}, "td_lambda=1.5 is not allowed"),
        ({"opponent": "nobody"}, "there is no agent 'nobody'"),
        ({"start": "greedy"}, "start='greedy' is not allowed"),
        ({"start": "best"}, "start='best' is not allowed"),
    ],
)
def test_bad_settings_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **changes)


@pytest.mark.slow
def test_learns_to_beat_greedy_from_random_weights(tmp_path):
    """40,960 deals from weights that know nothing: what it pegs against greedy, on the same discards."""
    settings = replace(SMALL, hidden=(64, 64), episodes=40_960, episodes_at_once=2_048, batch_size=128)
    agent, _ = new_run(response, settings, tmp_path)

    def net(one):
        batch, seats = deals(4_000, seed=9, start_spread=None), np.arange(4_000) % 2
        discard(batch, agent, Stopwatch())
        while len(rows := batch.acting()):
            own = batch.games["turn"][rows] == seats[rows]
            for who, its_rows in ((one, rows[own]), (make_agent("greedy"), rows[~own])):
                if len(its_rows):
                    batch.step(its_rows, who.act(batch.views(its_rows)))
        pegged = batch.tally[:, :, :, 0].sum(axis=2)
        return (pegged[np.arange(4_000), seats] - pegged[np.arange(4_000), 1 - seats]).mean()

    assert net(agent) > net(new_agent(hidden=(64, 64))) + 0.5
