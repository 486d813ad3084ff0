"""Pegging records: against slow play in the reference engine, as they grow, and in files that are checked in full."""

from __future__ import annotations

import numpy as np
import pytest

from crib_env import discard_statistics, parse_cards
from crib_env.engine import DEALER, GAME, PONE
from crib_env.evaluate.makers import run
from crib_env.evaluate.makers.pegging import _draw_cards, _play_deals, pegging, simulate_pegging
from crib_env.files.checked_file import Column, load_arrays, save_arrays
from crib_env.hands import FOURS, N_FOURS, hand_of_mask
from crib_env.kernels import streams
from crib_env.players.policies import GREEDY, RANDOM
from crib_env.tables.shipped import GAINED, GIVEN, N_BINS, PeggingRecords
from tests.helpers.command_here import run_here
from tests.helpers.reference import ReferenceGame, score_play, value


def class_of(cards):
    return int(hand_of_mask(int(sum(1 << int(card) for card in cards))))


def reference_card(game, policy, rng):
    legal = sorted(game.legal())
    if policy == "random":
        return int(rng.choice(legal))

    def merit(card):
        return sum(points for points, _ in score_play([*game.pile, card])), value(card), -card

    return max(legal, key=merit)


def reference_discards(hands, policy, is_dealer, rng):
    if policy == "random":
        return [rng.choice(hand, 2, replace=False).tolist() for hand in hands]
    rows = discard_statistics(hands)
    best = (rows["hand_mean"] + is_dealer * rows["crib_mean"]).argmax(axis=1)
    return [row[k]["discard"].tolist() for row, k in zip(rows, best)]


def reference_points(deals, policy, against, role, rng):
    """Points gained and given, (n, 2), in deals of thirteen cards whose first four are kept by seat 0."""
    opposing = reference_discards([deal[6:12] for deal in deals], against, 1 - role, rng)
    made = np.zeros((len(deals), 2), int)
    for deal, theirs, points in zip(deals, opposing, made):
        game = ReferenceGame(1 - role, episode="deal")
        game.deal(deal)
        discards = [deal[4:6], theirs]
        while game.phase == "discard":
            game.act(discards[game.turn].pop())
        while game.phase == "play":
            game.act(reference_card(game, (policy, against)[game.turn], rng))
            for seat, earned, kind in game.events:
                if kind not in ("pone's hand", "dealer's hand", "crib"):
                    points[seat] += earned
    return made


@pytest.fixture(scope="module")
def records():
    return simulate_pegging("greedy", "random", standard_error=0.3, seed=1)


@pytest.mark.parametrize("role", [PONE, DEALER])
def test_means_are_those_of_the_reference_engine(records, role):
    rng = np.random.default_rng(role)
    deals = [rng.permutation(52)[:13].tolist() for _ in range(3_000)]
    points = reference_points(deals, "greedy", "random", role, rng)
    expected = records.mean[role, [class_of(deal[:4]) for deal in deals]]
    error = points.std(axis=0) / np.sqrt(len(deals))
    assert (abs((points - expected).mean(axis=0)) < 4.5 * error).all()
    assert np.corrcoef(points[:, GAINED], expected[:, GAINED])[0, 1] > 0.1  # and it is known which hands are good
    in_the_other_role = records.mean[1 - role].mean(axis=0)
    assert (abs(points.mean(axis=0) - in_the_other_role) > 4.5 * error).all()  # a mix-up would have been seen


@pytest.mark.parametrize("kept", ["5C 5D JH QS", "2C 3D 7H 8S", "AC AD AH AS"])
@pytest.mark.parametrize("role", [PONE, DEALER])
def test_single_classes_against_an_opponent_who_discards_well(kept, role):
    own, number = parse_cards(kept), class_of(parse_cards(kept))
    games, counts = np.zeros(1, GAME), np.zeros((2, N_BINS), np.int64)
    games["episode_stream"] = streams(3, 1)
    _play_deals(games, FOURS[number], role, RANDOM, GREEDY, 40_000, counts)
    mean = counts @ np.arange(N_BINS) / 40_000

    rng = np.random.default_rng(number)
    others = [card for card in range(52) if card not in own]
    deals = [[*own, *rng.permutation(others)[:9].tolist()] for _ in range(1_000)]
    points = reference_points(deals, "random", "greedy", role, rng)
    assert (abs(points.mean(axis=0) - mean) < 4.5 * points.std(axis=0) / np.sqrt(len(deals))).all()


def test_every_record_is_filled_to_the_error_that_was_asked(records):
    assert records.counts.shape == (2, N_FOURS, 2, N_BINS)
    assert (records.policy, records.against) == ("greedy", "random")
    assert (records.standard_error <= 0.3).all()
    assert (records.n >= 100).all()
    assert (records.n == records.counts[:, :, GIVEN].sum(axis=-1)).all()


def test_the_result_depends_on_the_seed_and_not_on_threads(records):
    again = simulate_pegging("greedy", "random", standard_error=0.3, seed=1, threads=1)
    assert (again.counts == records.counts).all()
    other = simulate_pegging("greedy", "random", standard_error=0.3, seed=2)
    assert not (other.counts == records.counts).all()


def test_kept_cards_have_any_suits_and_all_others_are_any_cards():
    games = np.zeros(1, GAME)
    ranks = FOURS[class_of(parse_cards("AC AD 6C TC"))]
    n = 9_600
    dealt = np.zeros((n, 13), int)
    for cards in dealt:
        _draw_cards(games[0], ranks)
        cards[:] = games["cards"][0]
    assert (dealt[:, :4] % 13 == ranks).all()
    assert all(len(set(cards)) == 13 for cards in dealt.tolist())
    _, suits = np.unique(np.sort(dealt[:, :4], axis=1), axis=0, return_counts=True)
    assert len(suits) == 6 * 4 * 4  # expected 100 of each; chi-square with 95 degrees of freedom
    assert ((suits - n / 96) ** 2 / (n / 96)).sum() < 165
    for place in range(4, 13):  # aces are two of the 48 others, eights four
        counts = np.bincount(dealt[:, place] % 13, minlength=13)
        assert abs(counts[0] - n / 24) < 4.5 * np.sqrt(n / 24)
        assert abs(counts[7] - n / 12) < 4.5 * np.sqrt(n / 12)


def random_plays(n, seed):
    rng = np.random.default_rng(seed)
    return rng.integers(5, size=n), rng.integers(2, size=n), rng.integers(9, size=n), rng.integers(31, size=n)


def test_statistics_are_those_of_the_plays():
    records = PeggingRecords("greedy", "greedy")
    classes, roles, gained, given = random_plays(301, seed=0)
    for side, points in ((GAINED, gained), (GIVEN, given)):
        np.add.at(records.counts[:, :, side], (roles, classes, points), 1)
    assert records.n.sum() == 301
    for role, number in np.ndindex(2, 5):
        mine = (roles == role) & (classes == number)
        for side, points in ((GAINED, gained[mine]), (GIVEN, given[mine])):
            at = (role, number, side)
            assert records.mean[at] == pytest.approx(points.mean())
            assert records.median[at] == np.median(points)
            assert records.standard_error[at] == pytest.approx(points.std(ddof=1) / np.sqrt(len(points)))
            assert records.distribution[at].tolist() == pytest.approx(
                (np.bincount(points, minlength=61) / len(points)).tolist()
            )
    assert {int(n) % 2 for n in records.n[:, :5].ravel()} == {0, 1}  # medians of even and of odd numbers were asked


def test_unknown_statistics_are_nan():
    records = PeggingRecords("greedy", "greedy")
    records.counts[DEALER, 7, GAINED, 2] = records.counts[DEALER, 7, GIVEN, 0] = 1
    assert records.mean[DEALER, 7].tolist() == records.median[DEALER, 7].tolist() == [2, 0]
    assert np.isnan(records.standard_error).all()  # one play has no spread
    for statistic in (records.mean, records.median, records.distribution):
        assert np.isnan(statistic[PONE]).all()
        assert np.isnan(statistic).sum() == statistic.size - statistic[DEALER, 7].size


THING = {"name": Column("U"), "numbers": Column("i", (5,))}


def loaded(path):
    """What is read, or the message of the error."""
    try:
        return {name: (array.dtype.str, array.tolist()) for name, array in load_arrays(path, "thing", 1, THING).items()}
    except ValueError as error:
        return str(error)


def test_a_flipped_bit_anywhere_never_gives_other_content(tmp_path):
    path = tmp_path / "thing.npz"
    save_arrays(path, "thing", 1, {"name": "greedy", "numbers": np.arange(5)})
    whole, content = path.read_bytes(), loaded(path)
    assert content["numbers"][1] == [0, 1, 2, 3, 4]
    outcomes = []
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        outcomes.append(loaded(path))
    refused = [outcome for outcome in outcomes if outcome != content]  # all but dates and the like
    assert len(refused) > len(whole) / 2
    assert all(str(outcome).startswith(str(path)) for outcome in refused)


@pytest.mark.slow
def test_the_command(tmp_path):
    path = tmp_path / "p.npz"
    done = run_here(lambda: run(pegging), path, "--standard-error", "0.5")
    assert done.status == 0, done.errors
    records = PeggingRecords.load(path)
    assert (records.policy, records.against) == ("careful", "careful")
    assert f"largest standard error {records.standard_error.max():.4f}" in done.out
