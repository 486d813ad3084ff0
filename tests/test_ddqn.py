"""Double DQN: its update rule by hand, its transitions by hand, that it learns, the files and commands of its runs."""

import signal
import subprocess
import time
from dataclasses import replace

import numpy as np
import pytest
import torch

from crib_env.agents.networks.ddqn import DDQNAgent
from crib_env.agents.networks.seen import Inputs, Seen, relabel
from crib_env.agents.networks.weights_file import load_tensors
from crib_env.batch import GameBatch
from crib_env.kernels import streams
from crib_env.ranks import N_INPUTS
from crib_env.train.ddqn import DDQN, PRESETS, DoubleDQN, Transitions, new_agent, transitions_of
from crib_env.train.loop.run import Round
from crib_env.train.shared.experience import Decisions, explore, play_episodes, rewards_of
from crib_env.train.shared.replay import Memory
from tests.helpers.decided import decided
from tests.helpers.learner_runs import command
from tests.helpers.small_settings import DDQN as SMALL


def some_decisions(n=64, seed=0, **options):
    batch = GameBatch(streams(seed, n), **({"episode": "deal"} | options))
    agent = DDQNAgent.new("split", "209", "ranks", (16,))
    return batch, play_episodes(batch, explore(agent, 0.3, np.random.default_rng(0)), None, agent.inputs.of_games)


def constant_network(values):
    """A network that gives these 52 values whatever it sees."""
    network = DDQNAgent.new("one", "209", "bits", (4,)).networks["all"]
    for parameter in network.parameters():
        torch.nn.init.zeros_(parameter)
    network.cards.bias.data = torch.tensor(values, dtype=torch.float32)
    return network


def test_targets_take_the_online_choice_at_the_target_networks_value_among_legal_cards():
    online, target = np.zeros(52), np.zeros(52)
    online[[3, 7, 9]] = 5.0, 2.0, 9.0  # 9 is the best card, but not legal; of the legal ones 3 is
    target[[3, 7, 9]] = 10.0, 20.0, 40.0  # a plain maximum would take 20 or even 40
    learner = DoubleDQN(DDQNAgent.new("one", "209", "bits", (4,)), replace(SMALL, networks="one"))
    learner.online.networks["all"] = constant_network(online)
    learner.target.networks["all"] = constant_network(target)
    gains = np.full((2, 52), -np.inf, np.float32)
    gains[:, [3, 7]] = 0.25, 0.0  # what card 3 is known to gain counts in its value
    batch = Transitions(
        inputs=np.zeros((2, 209), np.int8),
        card=np.array([1, 1]),
        reward=np.array([1.5, -2.0], np.float32),
        discount=np.array([0.5, 0.0], np.float32),
        next_inputs=np.zeros((2, 209), np.int8),
        next_gains=gains,
        next_is_discard=np.array([False, True]),
    )
    assert learner.targets(batch).tolist() == [1.5 + 0.5 * 10.25, -2.0]


def test_a_gradient_step_moves_the_value_taken_towards_its_target_and_the_target_network_follows_later():
    settings = replace(SMALL, networks="one", target_sync=3)
    learner = DoubleDQN(DDQNAgent.new("one", "209", "bits", (8,)), settings)
    batch = Transitions(
        inputs=np.ones((4, 209), np.int8),
        card=np.full(4, 5),
        reward=np.full(4, 3.0, np.float32),
        discount=np.zeros(4, np.float32),
        next_inputs=np.zeros((4, 209), np.int8),
        next_gains=np.zeros((4, 52), np.float32),
        next_is_discard=np.zeros(4, bool),
    )
    seen = torch.ones(1, 209)
    at_first = learner.target.networks["all"](seen)[0, 5].item()
    losses = [learner.update("all", batch, 1e-4)["loss"] for _ in range(2)]
    assert losses[1] < losses[0] == pytest.approx((3.0 - at_first) ** 2, rel=1e-4)
    assert learner.target.networks["all"](seen)[0, 5].item() == at_first
    learner.update("all", batch, 1e-4)
    online = learner.online.networks["all"](seen)[0, 5].item()
    assert learner.target.networks["all"](seen)[0, 5].item() == online != at_first


def by_hand():
    """Two players: the first decides three times, the second once."""
    n = 4
    return Decisions(
        inputs=np.zeros((n, 209), np.int8),
        gains=np.tile(np.where(np.arange(52) == 0, np.float32(0), -np.float32(np.inf)), (n, 1)),
        card=np.zeros(n, np.int64),
        chain=np.array([0, 0, 0, 1]),
        is_discard=np.array([True, True, False, False]),
        points=np.array([0.0, 1.0, 4.0, -4.0]),
        settled=np.array([9.0, 8.0, 10.0, 0.0]),
        final_points=np.array([6.0, 6.0, 6.0, -6.0]),
        final_settled=np.array([11.0, 11.0, 11.0, -1.0]),
    )


def test_rewards_are_differences_of_standings():
    points, ends = rewards_of(by_hand(), settled=False)
    settled, _ = rewards_of(by_hand(), settled=True)
    assert points.tolist() == [1, 3, 2, -2]
    assert settled.tolist() == [-1, 2, 1, -1]
    assert ends.tolist() == [False, False, True, True]


def test_transitions():
    one = transitions_of(by_hand(), *rewards_of(by_hand(), False), 0.5)
    assert one.reward.tolist() == [1, 3, 2, -2]
    assert one.discount.tolist() == [0.5, 0.5, 0, 0]
    assert one.next_is_discard.tolist()[:2] == [True, False]


def test_rewards_of_real_deals_add_up():
    batch, decisions = some_decisions(200, skip_forced=True)
    rewards, _ = rewards_of(decisions, settled=False)
    for game in range(200):
        for seat in (0, 1):
            mine = decisions.chain == 2 * game + seat
            scores = batch.games["scores"][game].astype(int)
            assert rewards[mine].sum() == scores[seat] - scores[1 - seat] - decisions.points[mine][0]


def test_replay_keeps_the_newest():
    _, decisions = some_decisions()
    new = transitions_of(decisions, *rewards_of(decisions, True), 1.0)
    replay = Memory(Transitions.zeros(100, N_INPUTS))
    replay.add(new)
    assert len(replay) == 100
    kept = {inputs.tobytes() for inputs in replay.sample(2_000, np.random.default_rng(1)).inputs}
    assert kept <= {inputs.tobytes() for inputs in new.inputs[-100:]}


@pytest.mark.parametrize("device", ["cpu", "cpu:0"])  # the latter keeps tensors, as on a GPU
def test_replay_on_a_device_goes_on_from_a_checkpoint_of_another(device):
    _, decisions = some_decisions()
    new = transitions_of(decisions, *rewards_of(decisions, True), 1.0)
    one, two = Memory(Transitions.zeros(100, N_INPUTS)), Memory(Transitions.zeros(100, N_INPUTS), device)
    one.add(new)
    two.load_state_dict(one.state_dict())
    for part in (new[np.arange(30)], new[np.arange(90)]):
        one.add(part)
        two.add(part)
    three = Memory(Transitions.zeros(100, N_INPUTS))
    three.load_state_dict(two.state_dict())
    for memory in (two, three):
        samples = [vars(one_of.sample(50, np.random.default_rng(1))) for one_of in (one, memory)]
        for name in samples[0]:
            np.testing.assert_array_equal(*(np.asarray(sample[name]) for sample in samples))


@pytest.mark.parametrize("changes", [{}, {"episode": "pegging", "cards": 3, "networks": "one"}, {"skip_forced": False}])
def test_self_play_on_a_device_is_self_play_by_arrays(changes):
    torch.manual_seed(0)
    learner, two = (
        DDQN(replace(SMALL, **changes)),
        (Round(50, 70, 0.3, 0.0, np.random.default_rng(4)) for _ in range(2)),
    )
    now, same = two
    found, settings = learner.play(now), learner.settings
    games = same.deal(settings.episode, settings.skip_forced, settings.cards)
    policy = explore(learner.online, 0.3, same.rng)
    expected = play_episodes(games, policy, None, learner.online.inputs.of_games)
    for name, column in vars(expected).items():
        np.testing.assert_array_equal(getattr(found, name), column, err_msg=name)


@pytest.mark.parametrize("changes", [{"opponent": "greedy"}, {"inputs": "bits"}, {"observation": "board"}])
def test_a_gpu_is_for_self_play_by_rank(changes):
    with pytest.raises(ValueError, match="device='cuda' is only for self-play by rank"):
        replace(SMALL, device="cuda", **changes)


def test_relabelled_suits_are_one_position_and_can_be_undone():
    batch = decided(6, 300, 4, episode="deal")
    observation, masks = batch.observe(batch.acting(), "board")
    out, out_masks, order = relabel(observation, masks)
    cards = masks.argmax(axis=1)
    seen = Seen.as_it_is(out, out_masks)._replace(order=order)
    there = seen.named(cards)
    assert (out_masks[np.arange(300), there] == 1).all()
    np.testing.assert_array_equal(seen.original(there), cards)
    swapped = observation.copy()
    for block in (1, 53, 496, 548, 600):  # exchange clubs and spades
        swapped[:, block : block + 13] = observation[:, block + 39 : block + 52]
        swapped[:, block + 39 : block + 52] = observation[:, block : block + 13]
    same = (relabel(swapped, masks)[0] == out).all(axis=1)
    assert same.mean() > 0.9  # not where two suits tie in cards held and known but differ elsewhere
    assert (relabel(swapped, masks)[0][:, :209] == out[:, :209]).all()


@pytest.mark.slow
def test_ctrl_c_keeps_every_finished_round_and_says_how_to_continue(tmp_path):
    arguments, options = command("train", "ddqn", "--episodes-at-once", "128", "--hidden", "16", cwd=tmp_path)
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    deadline = time.monotonic() + 120
    while not list(tmp_path.glob("runs/ddqn/*/events.out.tfevents*")):
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    [folder] = tmp_path.glob("runs/ddqn/*")
    assert f"crib-env train ddqn --resume {folder.relative_to(tmp_path)}" in errors
    [checkpoint] = folder.glob("checkpoints/*.safetensors")
    assert load_tensors(checkpoint)[1]["episodes"] >= 128


def test_the_networks_of_anderson_et_al():
    settings = PRESETS["anderson-2022"]
    agent = new_agent(settings)
    shapes = {key: tuple(value.shape) for key, value in agent.networks["play"].state_dict().items() if "weight" in key}
    assert list(shapes.values()) == [(60, 209), (52, 60)]
    assert set(agent.networks) == {"discard", "play"}


def test_cards_are_named_as_in_the_inputs():
    batch, inputs = GameBatch(streams(0, 50), episode="deal"), Inputs("bits", "209")
    rows = batch.acting()
    seen, views = inputs.of_games(batch, rows), batch.views(rows)
    bits, masks, order = relabel(views.observation, views.action_mask)
    for found in (seen, inputs.of_views(views)):
        np.testing.assert_array_equal(found.inputs, bits)
        np.testing.assert_array_equal(found.gains > -np.inf, masks)
        np.testing.assert_array_equal(found.order, order)
    np.testing.assert_array_equal(seen.legal, views.action_mask)
    cards = views.hand[:, 0].astype(int)
    np.testing.assert_array_equal(seen.original(seen.named(cards)), cards)


def test_the_player_measured_has_the_average_of_the_weights():
    learner = DoubleDQN(new_agent(SMALL), replace(SMALL, target_rate=0.25))
    before = {name: tensor.clone() for name, tensor in learner.online.state_dict().items()}
    _, decisions = some_decisions()
    batch = transitions_of(decisions, *rewards_of(decisions, True), 1.0)
    learner.update("play", batch[np.flatnonzero(~decisions.is_discard)], 1e-2)
    after, average = learner.online.state_dict(), learner.agent.state_dict()
    assert not torch.equal(after["play.cards.weight"], before["play.cards.weight"])
    for name in before:
        torch.testing.assert_close(average[name], 0.75 * before[name] + 0.25 * after[name])
