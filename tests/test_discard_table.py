"""The whole table: a bijective index, the same figures as direct computation, and files that are checked in full."""

import json
from fractions import Fraction

import numpy as np
import pytest

from crib_env import discard_statistics
from crib_env.evaluate.__main__ import main
from crib_env.exact.deal_classes import N_CLASSES, N_DEALS, cards_of, class_of, class_sizes, representatives
from crib_env.exact.discard_game_means import EXACT_MEANS, discard_game_means
from crib_env.exact.discard_table import DiscardTable, build_table
from tests.helpers.command_here import run_here
from tests.helpers.refusals import refused


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "discards.table"
    build_table(path)
    return path


def random_hands(n, seed):
    rng = np.random.default_rng(seed)
    return np.array([rng.choice(52, 6, replace=False) for _ in range(n)])


def test_classes_are_numbered_one_to_one_and_stand_for_all_deals():
    classes = np.arange(N_CLASSES)
    found, renamed = class_of(cards_of(classes))
    assert (found == classes).all()
    assert (renamed == cards_of(classes)).all()
    assert (np.diff(representatives()) > 0).all()
    assert class_sizes().sum() == N_DEALS


def test_renaming_suits_never_changes_the_class():
    hands = random_hands(5_000, seed=0)
    order = np.array([3, 1, 0, 2])
    classes, renamed = class_of(hands)
    assert (class_of(13 * order[hands // 13] + hands % 13)[0] == classes).all()
    assert (np.sort(renamed, axis=1) == cards_of(classes)).all()
    assert (renamed % 13 == hands % 13).all()


def test_the_table_equals_direct_computation(path):
    hands = random_hands(500, seed=1)
    assert (DiscardTable(path).statistics(hands) == discard_statistics(hands)).all()


@pytest.mark.slow
def test_the_file_is_the_same_whatever_the_threads_and_small_enough(path, tmp_path):
    build_table(tmp_path / "one", threads=1)
    assert (tmp_path / "one").read_bytes() == path.read_bytes()
    assert path.stat().st_size < 300e6


@pytest.mark.slow
def test_exact_means_of_the_discard_game(path):
    means = discard_game_means(DiscardTable(path))
    assert means == EXACT_MEANS
    # any two discards: the mean of all hands with all starters, from the known histogram
    assert float(means["random"]) == pytest.approx(4.769152, abs=1e-6)
    assert means["ideal"] == Fraction(7_767_205_480, N_DEALS * 46)
    assert means["random"] < means["ideal"] < means["cheating"]
    assert float(means["cheating"]) == pytest.approx(8.8, abs=0.25)  # O'Connor's 20,000 hands


def test_damaged_files_are_refused(path, tmp_path):
    whole = bytearray(path.read_bytes())
    header = json.loads(whole[:4096])

    def written(name, content):
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    flipped = whole.copy()
    flipped[100_000_000] ^= 1
    older = json.dumps({**header, "version": 0}).encode().ljust(4096) + whole[4096:]
    for name, content, message in (
        ("flipped", flipped, "its checksum is wrong: build it again"),
        ("short", whole[:-1], "bytes, not"),
        ("older", older, "is a discard table of version 0, not 1: build it again"),
        ("empty", b"", "is not a discard table"),
        ("foreign", b"[1, 2]", "is not a discard table"),
    ):
        with refused(name, message):
            DiscardTable(written(name, content))
    with refused("nowhere"):
        DiscardTable(tmp_path / "nowhere")


def test_a_build_that_breaks_off_leaves_the_old_file(path, tmp_path):
    mine = tmp_path / "table"
    mine.write_bytes(b"old")

    def stop(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_table(mine, on_progress=stop)
    assert mine.read_bytes() == b"old"


def test_the_command_names_a_folder_that_is_not_there(tmp_path):
    done = run_here(main, "make-table", "discards", tmp_path / "no" / "table")
    assert done.status == 2
    assert str(tmp_path / "no") in done.errors
