"""Weight files that are damaged, foreign or malicious."""

import functools
import json
import math
import os
import pickle
import re
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from crib_env.agents import make_agent
from crib_env.agents.best import SHIPPED, BestAgent
from crib_env.agents.networks.weights_file import load_tensors, save_tensors
from crib_env.agents.strategy_weights import StrategyWeightsAgent, starting_weights
from crib_env.batch import GameBatch
from crib_env.kernels import streams
from tests.helpers.players import NETWORKS
from tests.helpers.refusals import refused

AGENTS = {
    **NETWORKS,
    "best": lambda: BestAgent({"deals": (4,)}),
    "strategy-weights": lambda: StrategyWeightsAgent(starting_weights("random")),
}
each_agent = pytest.mark.parametrize("name", AGENTS)


def saved(name, folder):
    """The file of a small agent, its tensors and its description."""
    path = folder / f"{name}.safetensors"
    AGENTS[name]().save(path)
    return path, *load_tensors(path)


def test_weights_can_be_read_by_whoever_reads_other_files(tmp_path):
    other = tmp_path / "other.json"
    before = os.umask(0o027)
    try:
        path, *_ = saved("td", tmp_path)
        other.touch()
    finally:
        os.umask(before)
    assert path.stat().st_mode == other.stat().st_mode


def ends_with(value):
    """A change of a tensor: its last number is this one."""

    def change(tensor):
        tensor.view(-1)[-1] = value
        return tensor

    return change


@each_agent
@pytest.mark.parametrize(
    ("change", "fault"),
    [
        *((ends_with(bad), "holds NaN or infinities") for bad in (math.nan, math.inf, -math.inf)),
        *((ends_with(bad), "holds (numbers beyond ±1,000,000|NaN or infinities)") for bad in (1e38, -1e7)),
        *(
            (lambda tensor, kind=kind: tensor.to(kind), "is of type .*, not F16 or F32")
            for kind in (torch.int8, torch.bool, torch.complex64, torch.float64)
        ),
        (lambda tensor: tensor[:1].clone(), "has the shape"),
    ],
)
def test_numbers_types_and_shapes_of_no_network_are_refused(name, change, fault, tmp_path):
    path, tensors, about = saved(name, tmp_path)
    first = sorted(tensors)[0]
    save_tensors(path, tensors | {first: change(tensors[first])}, about)
    with pytest.raises(ValueError, match=f"{name}.safetensors does not hold .* {fault}"):
        make_agent(f"{name}:{path}")


@pytest.mark.parametrize("name", [name for name in AGENTS if name != "strategy-weights"])
@pytest.mark.parametrize("hidden", [[10**9] * 3, [-1], [10**40], ["4"], [2.5], None, 7, "4" * 20_000])
def test_a_described_network_takes_no_memory_before_its_shapes_are_found_in_the_file(name, hidden, tmp_path):
    path, tensors, about = saved(name, tmp_path)
    save_tensors(path, tensors, about | {"bits" if "bits" in about else "hidden": hidden})
    with pytest.raises(ValueError, match=f"{name}.safetensors (does not hold|is not a whole)") as error:
        make_agent(f"{name}:{path}")
    assert "memory" not in str(error.value)


@each_agent
def test_what_is_no_file_of_this_agent_is_refused_and_executes_nothing(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path, tensors, about = saved(name, tmp_path)
    whole = path.read_bytes()
    for file, content in (("short", whole[: len(whole) // 2]), ("empty", b""), ("pickle", pickle.dumps(Bomb()))):
        Path(f"{file}.safetensors").write_bytes(content)
    torch.save({"weights": Bomb()}, "torch.safetensors")
    save_tensors("other.safetensors", tensors, about | {"learner": "td" if name == "ddqn" else "ddqn"})
    save_tensors("fewer.safetensors", {"x": torch.zeros(3)}, about)
    save_tensors("bare.safetensors", {"x": torch.zeros(3)}, {})
    with watching() as executed:
        for file in ("short", "empty", "pickle", "torch", "other", "fewer", "bare", "nowhere"):
            with refused(file):
                make_agent(f"{name}:{file}")
    assert not executed


@pytest.mark.parametrize("name", [name for name in AGENTS if name != "best"])
def test_an_agent_of_a_file_needs_its_path(name):
    with refused(f"agent '{name}' needs its path"):
        make_agent(name)


@each_agent
def test_a_changed_byte_is_found_by_the_checksum(name, tmp_path):
    path, _, _ = saved(name, tmp_path)
    whole = bytearray(path.read_bytes())
    whole[-2] ^= 1
    path.write_bytes(whole)
    with refused(f"{name}.safetensors"):
        make_agent(f"{name}:{path}")


@each_agent
def test_a_file_without_a_checksum_is_read(name, tmp_path):
    path, tensors, about = saved(name, tmp_path)
    views = GameBatch(streams(0, 20)).views(np.arange(20))
    cards = make_agent(f"{name}:{path}").act(views)
    save_file(tensors, path, {"about": json.dumps(about)})
    np.testing.assert_array_equal(make_agent(f"{name}:{path}").act(views), cards)


def test_equal_agents_are_equal_byte_by_byte(tmp_path):
    tensors = {"b": torch.ones(2, dtype=torch.int64), "a": torch.arange(3.0)}
    about = {"learner": "td", "name": 'a "quoted" \\ über'}
    path = tmp_path / "agent.safetensors"
    found = set()
    for _ in range(12):  # safetensors takes one of two orders at random
        save_tensors(path, tensors, about)
        found.add(path.read_bytes())
    assert len(found) == 1
    again, described = load_tensors(path)
    assert described == about
    assert all(torch.equal(again[name], tensor) for name, tensor in tensors.items())


def test_the_shipped_file_has_a_checksum(tmp_path):
    whole = bytearray(SHIPPED.read_bytes())
    whole[-2] ^= 1
    (tmp_path / "changed.safetensors").write_bytes(whole)
    with refused("changed", "checksum"):
        BestAgent.load(tmp_path / "changed")


@pytest.mark.parametrize("about", ['{"a": 1e400}', "[" * 1_000, "[]", "7", '{"a": NaN}', '{"learner": 9}', "{"])
def test_a_bad_description_is_refused(about, tmp_path):
    path = tmp_path / "mine.safetensors"
    save_file({"x": torch.zeros(1)}, path, {"about": about})
    with refused("mine.safetensors"):
        make_agent(f"ddqn:{path}")


_EXECUTING = {"pickle.find_class", "os.system", "os.exec", "os.posix_spawn", "subprocess.Popen", "os.mkdir"}
_watched = []  # the lists in which events are noted: an audit hook stays until Python ends


def _note(event, _):
    if event in _EXECUTING:
        for events in _watched:
            events.append(event)


@functools.cache
def _hook():
    sys.addaudithook(_note)


@contextmanager
def watching():
    """A list of what is executed inside."""
    _hook()
    _watched.append(events := [])
    try:
        yield events
    finally:
        _watched.remove(events)


class Bomb:
    """A pickle that would leave a mark if anything loaded it."""

    def __reduce__(self):
        return Path.mkdir, (Path("exploded"),)


def damaged(whole, rng):
    """A file with some damage to its header, its tensors or its length."""
    header = 8 + int.from_bytes(whole[:8], "little")
    file = bytearray(whole)
    match rng.integers(8):
        case 0:  # bits of the header
            for place in rng.integers(header, size=rng.integers(1, 4)):
                file[place] ^= 1 << rng.integers(8)
        case 1:  # bits of the tensors
            for place in rng.integers(header, len(file), size=rng.integers(1, 4)):
                file[place] ^= 1 << rng.integers(8)
        case 2:
            del file[rng.integers(len(file)) :]
        case 3:
            file += rng.bytes(rng.integers(1, 100))
        case 4:  # numbers of the header
            digits = [found.start() for found in re.finditer(rb"\d", whole[8:header])]
            for place in rng.choice(digits, size=rng.integers(1, 4)):
                file[8 + place] = rng.integers(ord("0"), ord("9") + 1)
        case 5:  # words of the header
            for old in rng.choice([b"F32", b"weight", b"hidden", b"learner", b"209", b"true", b"about", b"[", b'"'], 2):
                file[8:header] = file[8:header].replace(old, rng.choice([b"I64", b"[", b"{", b"NaN", b"-1", b"bias"]))
            file[:8] = (len(file) - len(whole) + header - 8).to_bytes(8, "little", signed=True)
        case 6:  # a piece somewhere else
            first, place, n = rng.integers(len(file), size=3)
            file[place : place + n % 200] = whole[first : first + n % 200]
        case 7:
            place = rng.integers(len(file))
            file[place:place] = pickle.dumps(Bomb(), protocol=int(rng.integers(6)))
    return bytes(file)


def test_1500_damaged_files_execute_nothing_and_give_no_damaged_agent(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    wholes = []
    for name in AGENTS:
        if name != "strategy-weights":  # its file cannot be small; its tensor is read like those of the others
            path, tensors, about = saved(name, tmp_path)
            wholes.append((name, path.read_bytes()))
            save_file(tensors, path, {"about": json.dumps(about)})
            wholes.append((name, path.read_bytes()))  # without a checksum
    agents, reasons = [], []
    for number in range(1_500):
        name, whole = wholes[number % len(wholes)]
        Path("mutant.safetensors").write_bytes(damaged(whole, rng))
        with watching() as executed:
            try:
                agents.append(make_agent(f"{name}:mutant"))
            except ValueError as error:
                reasons.append(str(error))
        assert not executed
    assert all("mutant" in reason for reason in reasons)
    assert len(reasons) > 1_000
    views = GameBatch(streams(0, 5)).views(np.arange(5))
    for agent in agents:  # what a changed bit left: numbers, of the right shapes
        with np.errstate(all="ignore"):
            assert views.action_mask[np.arange(5), agent.act(views)].all()
    assert not Path("exploded").exists()
