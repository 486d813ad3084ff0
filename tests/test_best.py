"""Expert iteration: its loss by hand, its answers, its inputs, that it learns, that a stopped run goes on."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from agents import make_agent
from agents.best import SHIPPED, BestAgent
from agents.best_inputs import N_DISCARD_INPUTS, N_PLAY_INPUTS, discard_inputs, play_inputs
from agents.discards import six_dealt
from agents.expert import ExpertAgent
from crib_env import discard_statistics, parse_cards
from crib_env.aec import raw_env
from crib_env.batch import GameBatch
from crib_env.exact.discard_statistics import PLACES
from crib_env.kernels import streams
from evaluate.match import play_match
from tests.learner_runs import new_run, run, stopped_run
from train import best
from train.best import PRESETS, DiscardAnswers, ExpertIteration, PlayAnswers, centred_loss, play_and_ask

SMALL = replace(
    PRESETS["default"],
    hidden=(16,),
    hidden_discard=(16,),
    hands=2,
    threads=1,
    episodes=192,
    episodes_at_once=64,
    memory=100,
    batch_size=16,
    evaluations=1,
    evaluation_games=20,
    final_games=20,
    checkpoint_seconds=0.0,
    precision="float32",
)


def some_views(n=200, seed=0):
    """Views of all phases of random deals at random scores, with the batch that they are of."""
    batch = GameBatch(streams(seed, n), episode="deal", start_spread=50)
    while len(rows := batch.acting()):
        yield batch.views(rows)
        batch.step(rows, batch.native_cards(rows, 0))


# --- the loss -------------------------------------------------------------------------------------------------------


def test_loss_by_hand():
    # chances 10 and 12 of two legal cards: 1 below and above their mean; values 5 and 4: 0.5 above and below theirs
    values, chances = torch.tensor([[5.0, 99.0, 4.0]]), torch.tensor([[10.0, -100.0, 12.0]])
    assert centred_loss(values, chances).item() == pytest.approx(2 * 0.5 * 1.5**2)


def test_loss_grows_straight_beyond_two_percent():
    loss = centred_loss(torch.tensor([[0.0, 0.0]]), torch.tensor([[0.0, 20.0]]))
    assert loss.item() == pytest.approx(2 * 2.0 * (10.0 - 1.0))


def test_loss_does_not_ask_for_the_level():
    values, chances = torch.randn(8, 13), 100 * torch.rand(8, 13)
    assert centred_loss(values + 7.0, chances).item() == pytest.approx(centred_loss(values, chances).item(), rel=1e-4)


def test_what_cannot_be_laid_has_no_gradient():
    values = torch.zeros(1, 3, requires_grad=True)
    centred_loss(values, torch.tensor([[10.0, -100.0, 12.0]])).backward()
    assert values.grad[0, 1] == 0.0
    assert values.grad[0, 0] > 0.0 > values.grad[0, 2]


# --- inputs ---------------------------------------------------------------------------------------------------------


def test_inputs_of_a_known_play():
    env = raw_env(observation="board")
    deal = parse_cards("5H 5C JD QS 2H 3D  4C 6C 7S 8S 9H KH  5S")
    env.reset(options={"deals": [deal], "first_dealer": 0, "scores": (100, 115)})
    for card in parse_cards("9H KH 2H 3D 7S"):  # pone throws, dealer throws, pone leads the seven
        env.step(card)
    views = env.views("player_0")
    seen = play_inputs(views)[0]
    assert seen.shape == (N_PLAY_INPUTS,)
    assert seen[0] == 1  # the dealer
    held = seen[1:53].reshape(13, 4)
    assert held.sum(axis=1).tolist() == [0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 1, 1, 0]
    thrown = seen[53:79].reshape(13, 2)
    assert thrown.sum(axis=1).tolist() == [0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    known = seen[79:131].reshape(13, 4)  # the six, the starter, the seven
    assert known.sum(axis=1).tolist() == [0, 1, 1, 0, 3, 0, 1, 0, 0, 0, 1, 1, 0]
    assert seen[131:144].tolist() == [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]
    first_slot = seen[144:159]
    assert first_slot.nonzero()[0].tolist() == [6, 14]  # a seven, the opponent's, in this count
    assert seen[264:296].nonzero()[0].tolist() == [7]  # the count
    assert seen[296:301].nonzero()[0].tolist() == [3]  # the opponent's cards
    playable = seen[301:379].reshape(13, 6)
    assert playable[:, 0].tolist() == [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 0]
    assert not playable[:, 1:].any()  # nothing scores
    assert seen[379:403].sum() == 20  # points of 5H 5C JD QS with the five
    holes = seen[403:].reshape(2, -1)
    assert holes.sum(axis=1).tolist() == [21, 6]  # holes to go


def test_inputs_do_not_ask_for_the_names_of_suits():
    rng = np.random.default_rng(0)
    for views in some_views(20):
        swap = rng.permutation(4)

        def renamed(cards, swap=swap):
            return np.where(cards < 0, cards, 13 * swap[cards // 13] + cards % 13).astype(cards.dtype)

        twin = replace(
            views,
            hand=np.where(views.hand < 0, -1, renamed(views.hand)),
            discards=renamed(views.discards),
            laid=renamed(views.laid),
            starter=renamed(views.starter),
        )
        if views.discards[0, 1] >= 0:
            np.testing.assert_array_equal(play_inputs(twin), play_inputs(views))
        else:
            one, two = (discard_inputs(six_dealt(v), v.scores, v.is_dealer) for v in (views, twin))
            key = lambda seen: np.sort(seen @ np.arange(1, N_DISCARD_INPUTS + 1), axis=1)  # noqa: E731 -- as sets
            np.testing.assert_allclose(key(two), key(one), rtol=1e-5)


def test_inputs_of_discards_hold_the_exact_means():
    six = np.array([parse_cards("2C 9C 5H QH 3D JS")])
    six.sort(axis=1)
    seen = discard_inputs(six, np.zeros((1, 2), np.int16), np.array([True]))
    exact = discard_statistics(six)
    np.testing.assert_allclose(4.0 * seen[0, :, 3], exact["hand_mean"][0], rtol=1e-6)
    np.testing.assert_allclose(4.0 * seen[0, :, 4], exact["crib_mean"][0], rtol=1e-6)
    suited = [six[0, i] // 13 == six[0, j] // 13 for i, j in PLACES]
    assert seen[0, :, 1].astype(bool).tolist() == suited


# --- the expert's answers -------------------------------------------------------------------------------------------


def asked(seed=0, n=64):
    agent, rng = BestAgent((16,), (16,)), np.random.default_rng(seed)
    return play_and_ask(GameBatch(streams(seed, n), episode="deal"), agent, ExpertAgent(2, 1), 0.5, rng)


def test_answers_are_chances_and_about_half_the_deals_ask_for_a_discard():
    torch.manual_seed(0)
    play, discards = asked(n=200)
    best_play = play.chances.max(axis=1)
    assert ((best_play >= 0) & (best_play <= 100)).all()
    assert ((discards.chances >= 0) & (discards.chances <= 100)).all()
    assert 150 <= len(play) <= 200
    assert 70 <= len(discards) <= 130
    assert 0.3 < discards.is_dealer.mean() < 0.7


def test_a_few_deals_may_ask_for_nothing():
    rounds = [asked(seed, n=1) for seed in range(8)]
    assert {len(play) for play, _ in rounds} <= {0, 1}
    assert {len(discards) for _, discards in rounds} == {0, 1}


def test_regret_is_what_the_choice_gives_away():
    learner = ExpertIteration(BestAgent((4,), (4,)), replace(SMALL, batch_size=4))
    with torch.no_grad():
        for weights in learner.agent.play.parameters():
            weights.zero_()
        learner.agent.play[-1].bias[3] = 1.0  # always rank 3
    chances = np.full((1, 13), -100.0, np.float32)
    chances[0, [3, 7]] = 40.0, 43.0
    packed = np.zeros((1, (N_PLAY_INPUTS + 7) // 8), np.uint8)
    learner.play.add(PlayAnswers(packed, chances))
    assert learner.learn_play(0.0, np.random.default_rng(0))[1] == pytest.approx(3.0)


def test_it_learns_a_position_by_heart():
    learner = ExpertIteration(BestAgent((16,), (16,)), replace(SMALL, batch_size=8))
    six = np.sort(np.array([parse_cards("2C 9C 5H QH 3D JS")]), axis=1)
    chances = np.zeros((1, 15), np.float32)
    chances[0, 11] = 30.0  # a strange choice, so that it has to be learned
    learner.discards.add(DiscardAnswers(six, np.zeros((1, 2), np.int16), np.array([True]), chances))
    rng = np.random.default_rng(0)
    regrets = [learner.learn_discards(1e-2, rng)[1] for _ in range(150)]
    assert max(regrets) == 30.0
    assert regrets[-1] == 0.0


def test_a_loss_that_is_no_number_stops_and_changes_nothing():
    learner = ExpertIteration(BestAgent((4,), (4,)), SMALL)
    learner.play.add(
        PlayAnswers(np.zeros((1, (N_PLAY_INPUTS + 7) // 8), np.uint8), np.full((1, 13), np.nan, np.float32))
    )
    learner.play.add(
        PlayAnswers(np.zeros((1, (N_PLAY_INPUTS + 7) // 8), np.uint8), np.full((1, 13), np.inf, np.float32))
    )
    before = {key: value.clone() for key, value in learner.agent.tensors().items()}
    with pytest.raises(FloatingPointError, match="'play'"):
        learner.learn_play(1e-3, np.random.default_rng(0))
    assert all(torch.equal(before[key], value) for key, value in learner.agent.tensors().items())


# --- runs -----------------------------------------------------------------------------------------------------------


def test_a_stopped_run_goes_on_to_the_same_weights(tmp_path):
    whole, _ = new_run(best, SMALL, tmp_path / "whole")
    folder = stopped_run(best, SMALL, tmp_path / "stopped", after=128)
    gone_on, _ = run(best, SMALL, folder)
    for key, value in whole.tensors().items():
        assert torch.equal(value, gone_on.tensors()[key]), key


def test_threads_do_not_matter(tmp_path):
    one, _ = new_run(best, SMALL, tmp_path / "one")
    two, _ = new_run(best, replace(SMALL, threads=2), tmp_path / "two")
    assert all(torch.equal(value, two.tensors()[key]) for key, value in one.tensors().items())


def test_weights_survive_the_file(tmp_path):
    agent = BestAgent((16,), (8,))
    agent.save(tmp_path / "final.safetensors")
    again = make_agent(f"best:{tmp_path}/final")
    for key, value in agent.tensors().items():
        torch.testing.assert_close(again.tensors()[key], value, rtol=1e-3, atol=1e-3)
    with pytest.raises(ValueError, match="does not hold the weights of a ddqn agent"):
        make_agent(f"ddqn:{tmp_path}/final")


# --- the one that ships ---------------------------------------------------------------------------------------------


def test_the_shipped_weights_are_small_and_strong():
    assert SHIPPED.stat().st_size <= 5_000_000
    result = play_match(make_agent("best"), make_agent("greedy"), 1_000, seed=3)
    assert result.interval[0] > 0.55, result


def test_it_looks_at_the_score_unless_it_is_told_not_to():
    blind, sighted = make_agent("best:scores=no"), make_agent("best")
    differ = 0
    for views in some_views(300, seed=5):
        level = replace(views, scores=np.zeros_like(views.scores))
        np.testing.assert_array_equal(blind.act(views), sighted.act(level))
        differ += (blind.act(views) != sighted.act(views)).sum()
    assert differ > 50
