"""``best``: what its policy networks see and learn, the sampled decisions against the solution, and how it plays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from rich.progress import Progress

from crib_env import GameBatch, parse_cards
from crib_env.aec import raw_env
from crib_env.agents import make_agent
from crib_env.agents.best import FITS, GAMES, N_INPUTS, SHIPPED, BestAgent, PolicyNetwork, policy_inputs
from crib_env.agents.choosing import RARE
from crib_env.agents.expert import ExpertAgent
from crib_env.engine import DEALER, DISCARD, PONE, WIN
from crib_env.evaluate.matches.match import play_match
from crib_env.hands import HANDS, N_RANKS, hand_number
from crib_env.kernels import streams
from crib_env.scoring import score_play
from crib_env.solver.pairs import pairs_dealt
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import start_of_play
from crib_env.train import best
from crib_env.train.best import SolvedPlay, divergence
from crib_env.train.loop.run_folder import RunFolder
from tests.helpers.learner_runs import new_run, run, stopped_run
from tests.helpers.refusals import refused
from tests.helpers.small_settings import BEST
from tests.helpers.solved_play import learn_from_a_small_game, small_game

SIZES = {"dealer": 1, "held": 52, "seen": 52, "laid": 120, "latest": 39, "count": 31, "theirs": 5, "own": 5}
SIZES |= {"floor": 13, "makes": 78, "answered": 65, "fits": 13, "starter": 13}


def parts(row):
    """The inputs of one decision by name."""
    ends = np.cumsum(list(SIZES.values()))
    assert ends[-1] == len(row) == N_INPUTS
    return dict(zip(SIZES, np.split(row, ends[:-1])))


@pytest.fixture
def solved():
    """The play with three cards each, after some iterations."""
    return small_game()


def test_inputs_of_a_known_play():
    env = raw_env(observation="board")
    deal = parse_cards("5H 5C JD QS 2H 3D  4C 6C 7S 8S 9H KH  5S")
    env.reset(options={"deals": [deal], "first_dealer": 0})
    for card in parse_cards("9H KH 2H 3D 7S 5H 8S"):  # pone discards, dealer discards, seven, five, eight: 20
        env.step(card)
    seen = parts(policy_inputs(env.views("player_0"))[0])
    assert seen["dealer"] == 1
    assert seen["held"].reshape(13, 4).sum(axis=1).tolist() == [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 0]
    assert seen["seen"].reshape(13, 4).sum(axis=1).tolist() == [0, 0, 0, 0, 3, 0, 1, 1, 0, 0, 1, 1, 0]
    laid = [slot.nonzero()[0].tolist() for slot in seen["laid"].reshape(8, 15)]
    assert laid == [[6, 14], [4, 13, 14], [7, 14], [], [], [], [], []]
    assert [row.nonzero()[0].tolist() for row in seen["latest"].reshape(3, 13)] == [[7], [4], [6]]
    assert seen["count"].nonzero()[0].tolist() == [20]
    assert (seen["theirs"].argmax(), seen["own"].argmax(), seen["starter"].argmax()) == (2, 3, 4)
    assert not seen["floor"].any()
    assert seen["fits"].nonzero()[0].tolist() == [4, 10, 11]
    makes = seen["makes"].reshape(13, 6)
    assert makes[5].tolist() == [1, 1, 1, 1, 0, 0]  # a six makes a run of four
    assert makes[12].tolist() == [1, 0, 0, 0, 0, 0]
    answered = seen["answered"].reshape(13, 5)
    assert not answered[seen["fits"] == 0].any()
    assert answered[11].tolist() == [1, 0, 0, 0, 0]  # after the queen only an ace makes points: 2, for 4 of 45 cards


def test_a_go_is_seen():
    env = raw_env(observation="board")
    env.reset(options={"deals": [parse_cards("TH TC JD QS 2H 3D  AS QC KS KD 9H KH  5S")], "first_dealer": 0})
    for card in parse_cards("9H KH 2H 3D KS TH QC"):  # 30: the dealer has no ace and says go; pone lays it
        env.step(card)
    env.step(parse_cards("AS")[0])
    seen = parts(policy_inputs(env.views("player_0"))[0])
    assert not seen["floor"].any()  # pone said nothing; what is seen is what the opponent cannot hold
    env.step(parse_cards("TC")[0])
    seen = parts(policy_inputs(env.views("player_1"))[0])
    assert seen["floor"].nonzero()[0].tolist() == [0]


@pytest.mark.parametrize("episode", ["pegging", "deal"])
def test_inputs_agree_with_the_game(episode):
    batch = GameBatch(streams(3, 200), episode=episode)
    n = 0
    while len(rows := batch.acting()):
        views = batch.views(rows)
        play = np.flatnonzero(~views.is_discard)
        if len(play):
            some = views[play]
            inputs = policy_inputs(some)
            fits = some.action_mask.reshape(-1, 4, N_RANKS).any(axis=1)
            np.testing.assert_array_equal(inputs[:, FITS] > 0, fits)
            for row in range(0, len(play), 7):
                seen, at = parts(inputs[row]), some[np.array([row])]
                held = np.bincount(at.hand[0][at.hand[0] >= 0] % 13, minlength=13)
                np.testing.assert_array_equal(seen["held"].reshape(13, 4).sum(axis=1), held)
                assert seen["own"].argmax() == held.sum()
                assert seen["theirs"].argmax() == at.opponent_cards[0]
                assert seen["starter"].sum() == (episode == "deal")
                pile = at.laid[0][at.pile_start[0] : (at.laid[0] >= 0).sum()].astype(int).tolist()
                for card in np.flatnonzero(at.action_mask[0]).tolist():
                    made = score_play([*pile, card])
                    makes = seen["makes"].reshape(13, 6)[card % 13]
                    assert makes[1:].sum() == sum(made >= step for step in (2, 3, 4, 6, 8))
                    n += 1
        batch.step(rows, batch.native_cards(rows, 0))
    assert n > 200


def test_sampled_decisions_hold_the_chances_of_the_solution(solved):
    game, play = solved
    inputs, chances = play.sample(3_000, 1).at(np.arange(3_000))
    np.testing.assert_allclose(chances.sum(axis=1), 1.0, rtol=1e-5)
    assert ((chances > 0) <= (inputs[:, FITS] > 0)).all()
    assert (inputs[:, FITS].sum(axis=1) > 1).all()
    for row in range(0, 3_000, 10):
        seen = parts(inputs[row])
        role = int(seen["dealer"][0])
        laid = seen["laid"].reshape(8, 15)
        laid = [(role if one[13] else 1 - role, int(one[:13].argmax())) for one in laid if one[:13].any()]
        held = np.repeat(np.arange(13), seen["held"].reshape(13, 4).sum(axis=1).astype(int))
        node = game.node_at(laid, role, int(held[0]))
        exact = game.chances_at(play.policy, node, hand_number(held.tolist()))
        np.testing.assert_allclose(chances[row], exact, atol=0.006)


def test_hands_are_dealt_as_in_the_game():
    start, rng = start_of_play(2, starter=4), np.random.default_rng(0)
    prior = rng.random((2, len(HANDS[2])))
    game = PlayGame(prior, start, threads=1)
    policy = np.ones(game.extent.slots, np.float32)
    decisions = SolvedPlay.of(start, 4, prior, game.tree, policy).sample(200_000, 2)
    inputs, _ = decisions.at(np.arange(200_000))
    leads = inputs[(inputs[:, 0] == PONE) & (inputs[:, 105:225].sum(axis=1) == 0)]
    held = leads[:, 1:53].reshape(-1, 13, 4).sum(axis=2).astype(int)
    found = np.bincount([hand_number(np.repeat(np.arange(13), row).tolist()) for row in held], minlength=91)
    wanted = prior[PONE] * (pairs_dealt(start) @ prior[DEALER])
    wanted[[hand[0] == hand[1] for hand in HANDS[2]]] = 0  # a pair leaves nothing to choose
    wanted *= found.sum() / wanted.sum()
    assert (np.abs(found - wanted) < 5 * np.sqrt(wanted) + 1).all()
    assert found.sum() > 50_000


def test_divergence_by_hand():
    chances = torch.tensor([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])
    logits = torch.tensor([[0.0, 0.0, -torch.inf], [0.0, np.log(3.0), -torch.inf]])
    np.testing.assert_allclose(divergence(logits, chances), [0.0, np.log(4.0)], atol=1e-6)


SMALL = best.BestSettings(
    episode="pegging", hidden=(64,), decisions=20_000, episodes=60_000, episodes_at_once=6_000, batch_size=256
)


def test_it_learns_the_policy(solved, tmp_path, monkeypatch):
    learn_from_a_small_game(monkeypatch)
    agent, summary = new_run(best, replace(SMALL, evaluations=0), tmp_path)
    inputs, chances = (torch.from_numpy(column) for column in solved[1].sample(2_000, 9).at(np.arange(2_000)))
    untrained = PolicyNetwork((64,))
    with torch.inference_mode():
        networks = untrained, agent.policies["pegging"]
        before, after = (divergence(network(inputs), chances).mean() for network in networks)
    assert after < 0.5 * before
    assert summary["rounds"] == 10


def test_decisions_are_sampled_once_and_then_read(solved, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(best, "solved", lambda starter, *_: asked.append(starter) or solved[1])
    its = replace(SMALL, decisions=130)
    first = best.decisions_of("deals", its, tmp_path, None)
    assert asked == list(range(N_RANKS))
    assert len(first) == 130
    (tmp_path / "K.npz").unlink()  # as after a kill
    again = best.decisions_of("deals", its, tmp_path, None)
    assert asked == [*range(N_RANKS), N_RANKS - 1]
    for column, as_before in zip(again, first):
        np.testing.assert_array_equal(column, as_before)
    best.decisions_of("pegging", its, tmp_path, None)
    assert asked[-1] == -1
    with refused("A.npz"):
        best.decisions_of("deals", replace(its, decisions=1_300), tmp_path, None)


@pytest.mark.slow
def test_decisions_of_real_deals_hold_their_starter():
    with Progress(disable=True) as progress:
        play = best.solved(4, replace(SMALL, iterations=1, simple_players=0.5, threads=2), progress)
    inputs, _ = play.sample(1_000, 1).at(np.arange(1_000))
    assert (inputs[:, -N_RANKS:].argmax(axis=1) == 4).all()
    assert (inputs[:, -N_RANKS:].sum(axis=1) == 1).all()


def after_discards(n, **options):
    """Deals whose discards `greedy` has made."""
    batch, greedy = GameBatch(streams(5, n), episode="deal", **options), make_agent("greedy")
    while len(rows := np.flatnonzero(batch.games["phase"] == DISCARD)):
        batch.step(rows, greedy.act(batch.views(rows)))
    return batch


def test_discards_are_exact_the_likeliest_rank_is_laid_and_the_end_is_searched(tmp_path):
    torch.manual_seed(0)
    BestAgent({"deals": (16,)}).save(tmp_path / "laid.safetensors")
    agent, expert, exact = make_agent(f"best:{tmp_path / 'laid.safetensors'}"), ExpertAgent(40), ExpertAgent()
    batch = GameBatch(streams(5, 100), episode="deal", start_spread=50)
    counts = [0, 0, 0]
    while len(rows := batch.acting()):
        views = batch.views(rows)
        cards, chances = agent.act(views), agent.probabilities(views)
        assert (chances[np.arange(len(rows)), cards] == 1).all()
        is_near = views.scores.max(axis=1) >= WIN - 25
        is_late = ~views.is_discard & is_near & (views.laid[:, 0] >= 0)
        is_likeliest = ~views.is_discard & ~is_late
        for k, (is_one, choose) in enumerate(((views.is_discard, exact.act), (is_late, expert.act))):
            if is_one.any():
                np.testing.assert_array_equal(cards[is_one], choose(views[is_one]))
                counts[k] += int(is_one.sum())
        if is_likeliest.any():
            with torch.inference_mode():
                logits = agent.policies["deals"](torch.from_numpy(policy_inputs(views[is_likeliest]))).numpy()
            np.testing.assert_array_equal(cards[is_likeliest] % 13, logits.argmax(axis=1))
            counts[2] += int(is_likeliest.sum())
        batch.step(rows, cards)
    assert min(counts) > 50


def test_without_a_policy_it_searches():
    batch = after_discards(40)
    views = batch.views(batch.acting())
    np.testing.assert_array_equal(BestAgent({}).act(views), ExpertAgent(40).act(views))


def test_in_the_pegging_episode_it_draws_by_its_policy():
    torch.manual_seed(0)
    agent = BestAgent({"pegging": (16,)})
    batch = GameBatch(streams(5, 100), episode="pegging")
    n_mixed = 0
    while len(rows := batch.acting()):
        views = batch.views(rows)
        cards, chances = agent.act(views), agent.probabilities(views)
        np.testing.assert_allclose(chances.sum(axis=1), 1.0)
        assert (chances[np.arange(len(rows)), cards] > 0).all()
        assert (views.action_mask >= (chances > 0)).all()
        assert (chances[chances > 0] >= RARE / 4).all()
        n_mixed += int((chances.max(axis=1) < 1).sum())
        batch.step(rows, cards)
    assert n_mixed > 100


def test_play_without_scores_does_not_depend_on_discards():
    """Near the end of a game the play does, and so does that of a player without policies: it searches."""
    batch = after_discards(400, start_spread=50)
    batch.step(batch.acting(), batch.native_cards(batch.acting(), 0))  # the first card comes from a policy
    views = batch.views(batch.acting())
    batch.games["discards"] = batch.games["discards"][:, ::-1]  # each player's are those of the other
    other = batch.views(batch.acting())
    without, shipped = make_agent("best:scores=no"), make_agent("best")
    np.testing.assert_array_equal(without.act(views), without.act(other))
    assert not without.powers.remembers_discards
    assert shipped.powers.remembers_discards
    assert (shipped.act(views) != shipped.act(other)).any()
    without = BestAgent({}, scores=False)
    assert without.powers.remembers_discards


@pytest.mark.parametrize("games", [(), ("pegging",), GAMES])
def test_weights_survive_the_file(tmp_path, games):
    torch.manual_seed(0)
    agent = BestAgent(dict.fromkeys(games, (12,)))
    agent.save(tmp_path / "final.safetensors")
    again = make_agent(f"best:{tmp_path}/final")
    assert set(again.policies) == set(games)
    for key, value in agent.state_dict().items():
        torch.testing.assert_close(again.state_dict()[key], value, rtol=1e-3, atol=1e-3)
    with refused("final"):
        make_agent(f"ddqn:{tmp_path}/final")


@pytest.mark.slow
def test_the_shipped_weights_are_small_and_strong():
    assert SHIPPED.stat().st_size <= 5_000_000
    result = play_match(make_agent("best"), make_agent("greedy"), 1_000, seed=3)
    assert result.interval[0] > 0.55, result


def test_it_plays_to_the_score_unless_told_not_to():
    blind, sighted = make_agent("best:scores=no"), make_agent("best")
    differ, batch = 0, GameBatch(streams(5, 300), episode="deal", start_spread=50)
    while len(rows := batch.acting()):
        views = batch.views(rows)
        level = replace(views, scores=np.zeros_like(views.scores))
        np.testing.assert_array_equal(blind.act(views), sighted.act(level))
        np.testing.assert_array_equal(blind.probabilities(views), sighted.probabilities(level))
        differ += (blind.act(views) != sighted.act(views)).sum()
        batch.step(rows, batch.native_cards(rows, 0))
    assert differ > 50


def assert_same(one, other):
    for key, value in one.state_dict().items():
        assert torch.equal(value, other.state_dict()[key]), key


# In the first policy, between both, in the last.
@pytest.mark.parametrize(
    "after", [pytest.param(65_536, marks=pytest.mark.slow), 131_072, pytest.param(196_608, marks=pytest.mark.slow)]
)
def test_a_run_learns_both_policies_and_a_stopped_one_the_same(tmp_path, monkeypatch, after):
    learn_from_a_small_game(monkeypatch)
    whole, summary = new_run(best, BEST, tmp_path / "whole")
    assert set(whole.policies) == {"pegging", "deals"}
    assert summary["episodes"] == 2 * 131_072
    folder = stopped_run(best, BEST, tmp_path / "stopped", after)
    gone_on, summary_gone_on = run(best, BEST, RunFolder(folder.path))
    assert_same(whole, gone_on)
    assert summary["rounds"] == summary_gone_on["rounds"]


@pytest.mark.slow
def test_the_result_does_not_depend_on_threads(tmp_path, monkeypatch):
    learn_from_a_small_game(monkeypatch)
    one, _ = new_run(best, BEST, tmp_path / "one")
    two, _ = new_run(best, replace(BEST, threads=2), tmp_path / "two")
    assert_same(one, two)
