"""Expert iteration: its loss by hand, its answers, that it learns, that a stopped run continues."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from rich.progress import Progress

from crib_env import parse_cards
from crib_env.agents.belief.opponent_hands import MOST_HANDS
from crib_env.agents.best.agent import GAMES, BestAgent
from crib_env.agents.best.inputs import N_PLAY_INPUTS
from crib_env.agents.discards import six_dealt
from crib_env.agents.expert.agent import ExpertAgent
from crib_env.batch import GameBatch
from crib_env.engine import OVER, PLAY, WIN
from crib_env.exact.discard_statistics import PLACES
from crib_env.kernels import streams
from crib_env.views import views_of
from tests.helpers.learner_runs import InterruptedProgress, new_run, run, stopped_run
from tests.helpers.small_settings import BEST as SMALL
from tests.helpers.solved_play import small_game
from train.best import learner as best
from train.best import solving
from train.best.deals import PlayAnswers, discard, epsilon_greedy, play_and_ask, with_some_near_the_end
from train.best.expert_iteration import DiscardAnswers, ExpertIteration, Lessons, ask_about_discards, centred_loss
from train.loop.checkpoint import in_all
from train.loop.run_folder import RunFolder
from train.loop.stopwatch import Stopwatch

LESSONS = Lessons(2, 16, 100, 4.0, 16, "float32")


@pytest.fixture(autouse=True)
def decisions_of_a_small_game(monkeypatch):
    """Instead of solving real games for half an hour, learners are given decisions of a small one."""
    for name in ("pegging_game", "deals"):
        monkeypatch.setattr(solving, name, lambda how, folder, progress: small_game()[1].sample(how.decisions, 1))


def deals(n=64, seed=0, **options):
    return GameBatch(streams(seed, n), episode="deal", **{"start_spread": 40, "skip_forced": True, **options})


def new_agent(seed=0):
    torch.manual_seed(seed)
    return BestAgent((16,), (8,))


def cards_of(mask):
    return [card for card in range(52) if int(mask) >> card & 1]


# --- the loss -------------------------------------------------------------------------------------------------------


def loss_of(values, chances, decision):
    return centred_loss(torch.tensor(values), torch.tensor(chances), torch.tensor(decision)).item()


def test_loss_by_hand():
    # In the first decision chances are 1 below and above their mean, values 0.5 above and below; then both agree.
    values, chances = [5.0, 4.0, 1.0, 2.0, 6.0], [10.0, 12.0, 31.0, 32.0, 36.0]
    assert loss_of(values, chances, [0, 0, 1, 1, 1]) == pytest.approx(2 * 0.5 * 1.5**2 / 2)


def test_loss_is_linear_beyond_two_percent():
    assert loss_of([0.0, 0.0], [0.0, 20.0], [0, 0]) == pytest.approx(2 * 2.0 * (10.0 - 1.0))


def test_loss_does_not_depend_on_the_level():
    values, chances, decision = torch.randn(12), 100 * torch.rand(12), torch.arange(4).repeat_interleave(3)
    shifted = values + decision * 7.0
    expected = centred_loss(values, chances, decision).item()
    assert centred_loss(shifted, chances, decision).item() == pytest.approx(expected, rel=1e-4)


# --- deals and answers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_discards_come_first_and_are_epsilon_greedy(epsilon):
    batch, agent, n = deals(300), new_agent(), 300
    rows = np.arange(n)
    values = [agent.discard_values(views_of(batch.games, rows, np.full(n, seat), rows)) for seat in range(2)]
    six = np.sort(batch.games["cards"][:, :12].reshape(n, 2, 6), axis=2)
    discard(batch, agent, epsilon, np.random.default_rng(0), Stopwatch())
    assert (batch.games["phase"] == PLAY).all()
    is_best = []
    for seat in range(2):
        for b in range(n):
            discarded = set(cards_of(batch.games["discards"][b, seat]))
            k = next(k for k, (i, j) in enumerate(PLACES) if {six[b, seat, i], six[b, seat, j]} == discarded)
            is_best.append(values[seat][b, k] >= values[seat][b].max() - 1e-5)
    assert 1 - 1.2 * epsilon < np.mean(is_best) <= 1 - 0.8 * epsilon or np.mean(is_best) == 1 - epsilon == 1


def test_exploratory_plays_are_any_rank_and_the_others_the_best():
    agent, batch = new_agent(), deals(400)
    discard(batch, agent, 0.0, np.random.default_rng(0), Stopwatch())
    views = batch.views(batch.acting())
    ranks = agent.look_ahead(views)
    values = agent.rank_values(views)
    chosen, best_ones = epsilon_greedy(ranks, len(views), 0.5, np.random.default_rng(0))
    assert (ranks.after.decision[chosen] == np.arange(len(views))).all()
    assert (ranks.after.rank[best_ones] == values.argmax(axis=1)).all()
    assert 0.6 < (chosen == best_ones).mean() < 0.8  # a half, and of the others those that hit the best
    again, _ = epsilon_greedy(ranks, len(views), 0.0, np.random.default_rng(0))
    assert (again == best_ones).all()


def test_answers_are_the_experts_values_of_every_choice():
    """One by one, in games that continue with the agent's best card; all hands are searched, so none is drawn. Near the
    end of a game it is asked only about the first two cards."""
    agent, expert, n = new_agent(), ExpertAgent(MOST_HANDS, 1), 8
    batch = deals(n, seed=3, start_spread=100)
    discard(batch, agent, 0.0, np.random.default_rng(0), Stopwatch())
    twin, found = copy.deepcopy(batch), {}
    answers = play_and_ask(batch, agent, expert, 0.0, np.random.default_rng(0), Stopwatch())
    over = batch.games["phase"] == OVER
    assert 0 < over.sum() < n
    assert (batch.games["scores"][~over].max(axis=1) >= WIN - 25).all()
    assert (batch.games["n_laid"][~over] >= 2).all()
    for decision in range(answers.n_decisions):
        rows = answers.decision == decision
        key = frozenset(bytes(seen) for seen in answers.seen[rows])
        found[key] = {bytes(s): (p, w, c) for s, p, w, c in zip(*(column[rows] for column in answers[1:]))}
    asked = 0
    while True:
        acting = twin.acting()
        near_end = twin.games["scores"][acting].max(axis=1) >= WIN - 25
        acting = acting[~near_end | (twin.games["n_laid"][acting] < 2)]
        if not len(acting):
            break
        views = twin.views(acting)
        for b in range(len(acting)):
            one = views[b : b + 1]
            ranks, chances = agent.look_ahead(one), expert.rank_values(one)[0]
            valued = chances[ranks.after.rank] >= 0
            if valued.sum() > 1:
                answer = found[frozenset(bytes(seen) for seen in ranks.after.seen[valued])]
                for k in np.flatnonzero(valued):
                    expected = ranks.after.gain[k], ranks.after.worth[k], 100 * chances[ranks.after.rank[k]]
                    assert answer[bytes(ranks.after.seen[k])] == pytest.approx(expected, rel=1e-5)
                asked += 1
        twin.step(acting, agent.act(views))
    assert asked == answers.n_decisions > 20


def test_some_deals_begin_near_the_end():
    batch, before = deals(2_000), deals(2_000)
    with_some_near_the_end(batch, 0.7, np.random.default_rng(0))
    scores = batch.games["scores"]
    changed = (scores != before.games["scores"]).any(axis=1)
    assert 0.65 < changed.mean() < 0.72
    ahead, behind = scores[changed].max(axis=1), scores[changed].min(axis=1)
    assert (ahead.min(), ahead.max()) == (92, WIN - 1)
    assert (ahead - behind).max() == 60
    assert 0.45 < (scores[changed, 0] > scores[changed, 1]).mean() < 0.55
    pegging = GameBatch(streams(0, 20), episode="pegging")
    with_some_near_the_end(pegging, 1.0, np.random.default_rng(0))
    assert not pegging.games["scores"].any()


def some_answers(sizes):
    """Decisions with these numbers of ranks; chances count the ranks from 0."""
    m = sum(sizes)
    decision = np.repeat(np.arange(len(sizes)), sizes)
    numbers = np.arange(m, dtype=np.float32)
    return PlayAnswers(decision, np.zeros((m, N_PLAY_INPUTS), np.float32), numbers, numbers, numbers)


def test_batches_hold_whole_decisions_and_each_once():
    answers = some_answers([2, 3, 4, 2, 2, 3, 4])
    whole = {decision: answers.chances[answers.decision == decision].tolist() for decision in range(7)}
    batches = list(answers.batches(2, np.random.default_rng(0)))
    assert [batch.n_decisions for batch in batches] in ([2, 2, 2, 1], [2, 2, 1, 2], [2, 1, 2, 2], [1, 2, 2, 2])
    seen = [
        batch.chances[batch.decision == decision].tolist() for batch in batches for decision in range(batch.n_decisions)
    ]
    assert sorted(seen) == sorted(whole.values())


def test_answers_are_joined():
    joined = PlayAnswers.joined([some_answers([2, 3]), PlayAnswers.none(), some_answers([4])])
    assert joined.decision.tolist() == [0, 0, 1, 1, 1, 2, 2, 2, 2]
    assert joined.chances.tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 3]
    assert PlayAnswers.joined([]).n_decisions == 0


def test_the_mean_over_drawn_hands_tells_ranks_apart():
    batch, agent = deals(20, seed=8, start_spread=None), new_agent()
    discard(batch, agent, 0.0, np.random.default_rng(0), Stopwatch())
    views = batch.views(batch.acting())
    exact, few, rng = ExpertAgent(MOST_HANDS, 1).rank_values(views), ExpertAgent(4, 1), np.random.default_rng(0)
    legal = exact >= 0

    def errors(chances):
        differences = 100 * np.subtract(chances, exact, out=np.zeros_like(exact), where=legal)
        return (differences - differences.sum(axis=1, keepdims=True) / legal.sum(axis=1, keepdims=True))[legal]

    picked = errors(few.rank_values(views))
    drawn = errors(np.mean([few.rank_values(views, rng) for _ in range(100)], axis=0))
    assert 0.5 < picked.std() < 1.5  # percent, of one answer
    assert drawn.std() < 0.45 * picked.std()


def test_answers_about_discards_are_those_of_the_exact_analysis_for_pone_and_dealer():
    batch, expert, rows = deals(200, seed=2), ExpertAgent(threads=1), np.arange(200)
    answers = ask_about_discards(batch, expert, np.random.default_rng(0))
    assert len(answers) == 200
    assert 0.3 < answers.is_dealer.mean() < 0.7
    exact = {}
    for seat in range(2):
        views = views_of(batch.games, rows, np.full(200, seat), rows)
        for six, is_dealer, values in zip(six_dealt(views).tolist(), views.is_dealer, expert.discard_values(views)):
            exact[tuple(six)] = is_dealer, values
    for six, is_dealer, chances in zip(answers.six.tolist(), answers.is_dealer, answers.chances):
        assert exact[tuple(six)][0] == is_dealer
        np.testing.assert_allclose(chances, 100 * exact[tuple(six)][1], rtol=1e-5)


# --- learning -------------------------------------------------------------------------------------------------------


def test_learns_one_discard_exactly():
    learner = ExpertIteration(new_agent(), LESSONS._replace(discard_batch_size=8))
    six = np.sort(np.array([parse_cards("2C 9C 5H QH 3D JS")]), axis=1)
    chances = np.zeros((1, 15), np.float32)
    chances[0, 11] = 30.0  # a strange choice, so that it has to be learned
    answer = DiscardAnswers(six, np.zeros((1, 2), np.int16), np.array([True]), chances)
    rng = np.random.default_rng(0)
    regrets = [learner.learn_discards(answer, 1e-2, rng)["learning/discard regret, percent"] for _ in range(150)]
    assert max(regrets) == 30.0
    assert regrets[-1] == 0.0


def two_ranks(chances):
    """One choice between cards that the network tells apart by one input."""
    seen = np.zeros((2, N_PLAY_INPUTS), np.float32)
    seen[1, 1] = 1
    gain, worth = np.array([4, 0], np.float32), np.full(2, 2.0, np.float32)
    return PlayAnswers(np.zeros(2, np.int64), seen, gain, worth, np.array(chances, np.float32))


def test_learns_mean_differences_between_cards_beyond_their_points():
    learner, rng = ExpertIteration(new_agent(), LESSONS), np.random.default_rng(0)
    for _ in range(300):
        for second in (49.0, 50.0):  # half a percent more than the first one, which gains four at once
            learner.learn_play(two_ranks([49.0, second]), 3e-3, rng)
    first, second = learner.agent.play(torch.from_numpy(two_ranks([0, 0]).seen)).tolist()
    assert second - first == pytest.approx(2 + 0.25, abs=0.1)


@pytest.mark.parametrize("what", ["play", "discard"])
def test_a_loss_that_is_not_finite_stops_and_changes_nothing(what):
    learner, rng = ExpertIteration(new_agent(), LESSONS), np.random.default_rng(0)
    before = {key: value.clone() for key, value in learner.agent.state_dict().items()}
    answer = DiscardAnswers.empty(1)
    answer.six[:], answer.chances[:] = np.arange(6), np.nan
    ways = {
        "play": (learner.learn_play, two_ranks([np.nan, 1.0])),
        "discard": (learner.learn_discards, answer),
    }
    learn, wrong = ways[what]
    with pytest.raises(FloatingPointError, match=f"'{what}'"):
        learn(wrong, 1e-3, rng)
    assert all(torch.equal(before[key], value) for key, value in learner.agent.state_dict().items())


# --- runs -----------------------------------------------------------------------------------------------------------


def test_a_stopped_run_goes_on_to_the_same_weights(tmp_path):
    whole, summary = new_run(best, SMALL, tmp_path / "whole")
    folder = stopped_run(best, SMALL, tmp_path / "stopped", after=128)
    gone_on, summary_gone_on = run(best, SMALL, folder)
    for key, value in whole.state_dict().items():
        assert torch.equal(value, gone_on.state_dict()[key]), key
    assert summary["episodes"] == summary_gone_on["episodes"] == 2 * 131_072 + 192
    assert summary["updates"] == summary_gone_on["updates"]


def test_a_run_stopped_in_a_policy_goes_on_to_the_same_weights(tmp_path):
    whole, _ = new_run(best, SMALL, tmp_path / "whole")
    folder = RunFolder.create("best", SMALL, tmp_path / "stopped")
    with pytest.raises(KeyboardInterrupt):
        best.train(SMALL, folder, InterruptedProgress(after=65_536))
    assert RunFolder(folder.path / "policy-deals").load_checkpoint()[1]["episodes"] == 65_536
    gone_on, _ = run(best, SMALL, folder)
    for key, value in whole.state_dict().items():
        assert torch.equal(value, gone_on.state_dict()[key]), key


def test_summaries_of_parts_add_up():
    parts = [
        {"episodes": 10, "seconds": 2.0, "processor_seconds": 1.0, "simulation_share": 0.5},
        {"episodes": 30, "seconds": 6.0, "processor_seconds": 3.0, "simulation_share": 0.1},
    ]
    assert in_all(parts) == pytest.approx(
        {"episodes": 40, "seconds": 8.0, "processor_seconds": 4.0, "episodes_per_second": 5.0, "simulation_share": 0.2}
    )


def test_parts_of_a_run_do_not_depend_on_each_other(tmp_path):
    """So they may be trained side by side, in folders of their own."""
    whole, _ = new_run(best, SMALL, tmp_path / "whole")
    torch.manual_seed(SMALL.seed)
    agent = BestAgent(SMALL.hidden, SMALL.hidden_discard, dict.fromkeys(GAMES, SMALL.hidden_policy))
    folder = RunFolder.create("best", SMALL, tmp_path / "apart")
    with Progress(disable=True) as progress:
        best.learn_values(agent, SMALL, folder, progress)
        for game in reversed(GAMES):
            best.learn_policy(agent, game, SMALL, folder, progress)
    for key, value in whole.state_dict().items():
        assert torch.equal(value, agent.state_dict()[key]), key


def test_in_the_pegging_episode_there_is_no_policy(tmp_path):
    agent, summary = new_run(best, replace(SMALL, episode="pegging"), tmp_path)
    assert not agent.policies
    assert summary["episodes"] == 192
    assert summary["updates"]["values"]["discard"] == 0


def test_the_result_does_not_depend_on_threads(tmp_path):
    one, _ = new_run(best, SMALL, tmp_path / "one")
    two, _ = new_run(best, replace(SMALL, threads=2), tmp_path / "two")
    assert all(torch.equal(value, two.state_dict()[key]) for key, value in one.state_dict().items())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"episodes": 0}, "episodes=0 is not allowed"),
        ({"passes": 0}, "passes=0 is not allowed"),
        ({"hands": 0}, "hands=0 is not allowed"),
        ({"discards": 0.0}, "discards=0.0 is not allowed"),
        ({"simple_players": 1.0}, "simple_players=1 is not allowed"),
        ({"policy_episodes": 0}, "policy_episodes=0 is not allowed"),
    ],
)
def test_bad_settings_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **changes)
