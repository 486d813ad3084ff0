"""Files that somebody else wrote or damaged: JSON, run folders, checkpoints and tables. Each gives one clear error."""

import json
import math
from dataclasses import fields, replace
from typing import NamedTuple

import numpy as np
import pytest
import torch

from crib_env.agents import make_agent
from crib_env.agents.registry import settings_of
from crib_env.evaluate.commands.runs import runs
from crib_env.evaluate.console import reported_errors
from crib_env.evaluate.matches.game_records import read_records
from crib_env.evaluate.matches.league import League
from crib_env.evaluate.matches.match import play_match
from crib_env.evaluate.runs.format import read_config
from crib_env.files.checked_file import save_arrays
from crib_env.files.json_text import parse_json
from crib_env.tables.shipped import (
    CribTables,
    PeggingRecords,
    WinTable,
    standard_cribs,
    standard_pegging,
    standard_win_table,
)
from crib_env.train import td
from crib_env.train.loop.run_folder import Position, RunFolder
from crib_env.train.strategy_weights import StrategyWeights
from crib_env.train.td import TD as TDLearner
from crib_env.values import MOST_GAMES, typed
from tests.helpers.files_of_users import HOSTILE, one_of_each_kind
from tests.helpers.learner_runs import run, stopped_run
from tests.helpers.refusals import refused
from tests.helpers.small_settings import STRATEGY_WEIGHTS as SMALL
from tests.helpers.small_settings import TD
from tests.helpers.written_runs import summary_of as good_summary
from tests.helpers.written_runs import write_run

each_hostile = pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)


@pytest.mark.parametrize("text", ["1e400", "-1e400", '{"a": [1e999]}', "1" + "0" * 50, "[" * 100_000])
def test_numbers_and_nesting_have_limits(text):
    with pytest.raises(ValueError, match=r"is too large|nested too deep"):
        parse_json(text)


def test_what_python_writes_is_read():
    content = {"a": [1, 2.5, "x", None, True], "seed": 2**127, "ends": [-math.inf, math.inf]}
    assert parse_json(json.dumps(content)) == content


class Pair(NamedTuple):
    a: int
    b: tuple[float, ...] | None


class WithDefault(NamedTuple):
    a: str = "none"


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        ("3", int, "content='3' is not allowed: give a whole number"),
        (True, int, "content=True is not allowed: give a whole number"),
        (2.0, int, "give a whole number"),
        ("x", float, "give a number"),
        (1, bool, "give True or False"),
        (None, str, "give text"),
        ([1, 2, 3], tuple[int, int], "give a list of 2"),
        ({"a": 1}, dict[str, str], "content['a']=1 is not allowed: give text"),
        ({"a": 1}, Pair, "content has no 'b'"),
        ({"a": 1, "b": [1, "x"]}, Pair, "b='x' is not allowed: give a number"),
        ([], Pair, "give a dictionary"),
        ({"a": 1, "b": None, "c": 3}, Pair, "content has an unknown field 'c': its fields are a, b"),
    ],
)
def test_a_value_of_another_type_is_named(value, kind, message):
    with refused(message):
        typed(value, kind)


def test_typed_values():
    assert typed({"a": 1, "b": [1, 2.5]}, Pair) == Pair(1, (1.0, 2.5))
    assert typed({"a": 1, "b": None}, Pair) == Pair(1, None)
    assert typed({}, WithDefault) == WithDefault("none")


@each_hostile
def test_hostile_json_is_one_error_wherever_it_is_read(content, tmp_path):
    for name in ("config.json", "summary.json", "games.jsonl"):
        (tmp_path / name).write_bytes(content)
    good = write_run(tmp_path / "run", summary=good_summary())
    (good / "summary.json").write_bytes(content)
    for read in (
        lambda: make_agent(str(tmp_path)),
        lambda: read_config(tmp_path),
        lambda: runs((good,)),
        lambda: RunFolder.open(tmp_path, "td"),
        lambda: League(("greedy", "random"), 2, 0).begin(tmp_path),
        lambda: read_records(tmp_path / "games.jsonl")[0],
    ):
        with refused(tmp_path.name):
            read()


def test_an_unknown_field_is_named_wherever_it_stands(tmp_path):
    for file, read in one_of_each_kind(tmp_path).items():
        read()
        file.write_text(json.dumps({**json.loads(file.read_text()), "coments": 1}))
        with refused("'coments'"):
            read()


@pytest.mark.parametrize(
    "changes",
    [
        {"seconds": "long"},
        {"scalars": 7},
        {"scalars": {"evaluation/win rate": 0.5}},
        {"episodes": "many"},
    ],
)
def test_an_impossible_summary_is_named(changes, tmp_path):
    run = write_run(tmp_path / "mine", summary=good_summary(**changes))
    with refused("mine/summary.json"):
        runs((run,))


@pytest.mark.parametrize("settings", [{"seeds": 10**12}, {"seeds": "3"}, {"seeds": 0}, {"seed": "a", "seeds": 2}])
def test_impossible_seeds_are_named(settings, tmp_path):
    with refused("mine"):
        read_config(write_run(tmp_path / "mine", **settings))


@pytest.mark.parametrize("games", [MOST_GAMES + 2, 100_000_000_000_000, 10**40])
def test_more_games_than_fit_are_refused(games):
    with refused(f"games={games}"):
        play_match(make_agent("greedy"), make_agent("random"), games)
    with refused(f"games={games}"):
        League(("greedy", "random"), games, 0)
    with refused(f"final_games={games}"):
        replace(td.PRESETS["default"], final_games=games)


def test_too_little_memory_is_one_line(capsys):
    with pytest.raises(SystemExit) as end, reported_errors():
        np.empty(1 << 60, np.uint8)
    assert end.value.code == 2
    assert "error: there is not enough memory for this" in capsys.readouterr().err


POSITION = {"rounds": 1, "episodes": 10, "seconds": 1.0, "processor_seconds": 1.0}
ABOUT = {**POSITION, "settings": {}}
NOT_OF_THIS_RUN = r"the last checkpoint of .* is not one of this run"


def folder_with(tmp_path, tensors, about=ABOUT):
    folder = RunFolder.create("mine", SMALL, tmp_path)
    folder.save_checkpoint(10, tensors, about)
    return folder


def td_learner():
    torch.manual_seed(0)
    return TDLearner(replace(TD, hidden=(4,), hidden_discard=(4,)))


BAD_POSITIONS = [{}, {"learner": "td"}, {**ABOUT, "settings": []}]
BAD_POSITIONS += [ABOUT | change for change in ({"rounds": "one"}, {"episodes": -1}, {"seconds": math.nan})]


@pytest.mark.parametrize("about", BAD_POSITIONS)
def test_a_checkpoint_with_an_impossible_position_is_refused(about, tmp_path):
    learner = td_learner()
    folder = folder_with(tmp_path, learner.state_dict(), about)
    with pytest.raises(ValueError, match=NOT_OF_THIS_RUN):
        Position.restored(folder, learner.load_state_dict, TD)


@pytest.mark.parametrize(("name", "value"), [("seed", 4), ("learning_rate", 1e-5), ("final_games", 8), ("hidden", [8])])
def test_a_checkpoint_of_other_settings_is_refused(tmp_path, name, value):
    folder = stopped_run(td, replace(TD, episodes=256), tmp_path, 128)
    config = json.loads((folder.path / "config.json").read_text())
    before, config["settings"][name] = config["settings"][name], value
    (folder.path / "config.json").write_text(json.dumps(config))
    again, found = RunFolder.open(folder.path, "td")
    with refused(f"it was saved with {name}={before!r}, not {value!r}"):
        run(td, settings_of(td.PRESETS["default"], found, "the file"), again)


def test_another_learners_checkpoint_and_tensors_that_do_not_fit_are_refused(tmp_path):
    trainee, learner = StrategyWeights(SMALL), td_learner()
    for who, tensors in (
        (learner, trainee.state_dict()),
        (trainee, learner.state_dict()),
        (learner, learner.state_dict() | {"adam.play.0.exp_avg": torch.zeros(3)}),
        (learner, learner.state_dict() | {"adam.play.99.step": torch.tensor(1.0)}),
        *(
            (trainee, trainee.state_dict() | changes)
            for changes in (
                {"weights": torch.zeros(1, 3, 3, 2, 8)},
                {"expected": torch.zeros(7)},
            )
        ),
    ):
        with pytest.raises(ValueError, match=NOT_OF_THIS_RUN):
            Position.restored(folder_with(tmp_path, tensors), who.load_state_dict, TD if who is learner else SMALL)
    folder = folder_with(tmp_path, learner.state_dict())
    assert Position.restored(folder, learner.load_state_dict, TD) == Position(**POSITION)


TABLES = {
    "win table": (standard_win_table, WinTable, 4),
    "file of crib tables": (standard_cribs, CribTables, 3),
    "file of pegging records": (standard_pegging, PeggingRecords, 2),
}


@pytest.mark.parametrize("kind", TABLES)
def test_what_is_no_whole_table_of_this_version_is_refused(kind, tmp_path):
    good, table, version = TABLES[kind]
    good().save(tmp_path / "good.npz")
    whole = (tmp_path / "good.npz").read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    for name, content in (("short", whole[:-1]), ("flipped", flipped), ("empty", b""), ("foreign", b"x" * 100)):
        (tmp_path / f"{name}.npz").write_bytes(content)
    with np.load(tmp_path / "good.npz") as archive:
        arrays = dict(archive)
    exchanged = next(name for name, array in arrays.items() if array.ndim and (array != array[::-1]).any())
    np.savez(
        tmp_path / "exchanged.npz", **arrays | {exchanged: arrays[exchanged][::-1]}
    )  # sound, but not what was saved
    np.savez(tmp_path / "older.npz", **arrays | {"version": version - 1})
    np.savez(tmp_path / "other.npz", **arrays | {"kind": "other table"})
    np.savez(tmp_path / "bare.npz", x=np.zeros(3))
    for name in ("short", "flipped", "empty", "foreign", "exchanged", "older", "other", "bare", "nowhere"):
        with refused(f"{name}.npz"):
            table.load(tmp_path / f"{name}.npz")


@pytest.mark.parametrize("kind", TABLES)
def test_bad_tables_with_a_valid_checksum_are_refused(kind, tmp_path):
    good, table, version = TABLES[kind]
    made = good()
    arrays = {field.name: np.asarray(getattr(made, field.name)) for field in fields(made)}
    path = tmp_path / "mine.npz"
    save_arrays(path, kind, version, arrays)
    for name, array in vars(table.load(path)).items():
        np.testing.assert_array_equal(array, arrays[name])
    for name, array in arrays.items():
        bad = [None, array[..., None], array.astype("U") if array.dtype.kind != "U" else np.array(1.0)]
        if array.dtype.kind == "f":
            bad += [np.where(np.arange(array.size).reshape(array.shape), array, value) for value in (np.inf, -np.inf)]
            bad += [np.full_like(array, np.nan)] * (name not in ("error", "plays"))
        if array.dtype.kind == "i":
            bad += [-np.ones_like(array)]
        for value in bad:
            rest = {key: kept for key, kept in arrays.items() if key != name}
            save_arrays(path, kind, version, rest if value is None else rest | {name: value})
            with refused("mine.npz", kind, name):
                table.load(path)
