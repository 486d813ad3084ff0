"""The command lines: their help, how options are read, and what is refused before any work."""

import re
import shlex
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from crib_env.agents.registry import NAMES as AGENTS
from crib_env.evaluate.__main__ import COMMANDS, OF_AGENTS, about, names, names_under
from crib_env.evaluate.__main__ import main as evaluate
from crib_env.evaluate.command_line import choose
from crib_env.train import ppo, td
from crib_env.train.__main__ import Start, crib_env, main, read_command
from crib_env.train.registry import LEARNERS, learner_named, presets_of
from tests.helpers.command_here import run_here
from tests.helpers.refusals import refused


def settings_of(name):
    """The dataclass of a learner's settings."""
    return type(presets_of(learner_named(name))["default"])


def read(name, *arguments):
    return read_command(name, learner_named(name), "What it is.", list(arguments))


def shown_by(capsys, call, *arguments):
    """What a call prints before it exits, with its status."""
    with pytest.raises(SystemExit) as stopped:
        call(*arguments)
    done = capsys.readouterr()
    return re.sub(r"\x1b\[[0-9;]*m", "", done.out + done.err), stopped.value.code or 0


def test_settings_and_start_options_are_read():
    start, settings = read("td", "--seeds", "5", "--hidden", "8", "4", "--executor=ray", "--epsilon", "0.5")
    assert start == Start(seeds=5, executor="ray")
    assert settings == td.TDSettings(hidden=(8, 4), epsilon=0.5)
    assert read("td", "--folder", "here")[0] == Start(folder=Path("here"))
    assert read("ppo")[1] == ppo.PPOSettings()


@pytest.mark.parametrize("given", [["--preset", "paper", "--gamma", "0.5"], ["--gamma=0.5", "--preset=paper"]])
def test_a_preset_sets_the_defaults(given):
    _, settings = read("ddqn", *given)
    assert (settings.preset, settings.gamma, settings.opponent) == ("paper", 0.5, "random")


def test_a_resumed_run_keeps_its_settings():
    start, beside = read("ddqn", "--resume", "run", "--executor", "ray")
    assert start == Start(resume=Path("run"), executor="ray")
    assert beside.opponent is beside.device is None
    assert read("mmd", "--resume", "run", "--device", "cuda")[1].device == "cuda"
    assert read("ddqn", "--opponent", "mine:Player", "--resume", "run")[1].opponent == "mine:Player"
    for given in (["--gamma", "1.0"], ["--seeds", "3"], ["--folder", "there"], ["--preset", "paper"]):
        with refused(given[0]):
            read("ddqn", *given, "--resume", "run")


@pytest.mark.parametrize("number", ["1", "0", "-3", "10001", "100000000"])
def test_a_bad_number_of_seeds_is_named(number):
    with refused(f"seeds={number}"):
        read("td", "--seeds", number)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--seeds", "many"], "Error parsing --seeds"),
        (["--sedes", "3"], "Perhaps you meant:"),
        (["--preset", "mine"], "invalid choice 'mine'"),
        (["extra"], "Unrecognized options: extra"),
        (["--seed", "None"], "Error parsing --seed"),
    ],
)
def test_an_unreadable_option_is_answered_with_a_command_that_runs(given, message, capsys):
    shown, status = shown_by(capsys, read, "td", *given)
    assert message in shown
    assert "crib-env train td --help" in shown
    assert status == 2


@pytest.mark.parametrize("name", LEARNERS)
def test_help_of_a_learner_has_all_its_options(name, capsys):
    shown, status = shown_by(capsys, read, name, "--help")
    assert status == 0
    assert shown.startswith("What it is.\n\nusage: crib-env train")
    for one in (*fields(Start), *fields(settings_of(name))):
        assert f"--{one.name.replace('_', '-')}" in shown
    assert "None" not in shown
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_of_evaluate(name, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["evaluate", *name.split(), "--help"])
    shown, status = shown_by(capsys, evaluate)
    assert status == 0
    words = " ".join(shown.split())
    assert words.startswith(about(name))
    assert all(f"{name} {second}: {about}" in words for second, about in names_under(name).items())
    assert "None" not in shown
    assert "STR" not in shown  # what is meant has a name
    if name.partition(" ")[0] in OF_AGENTS:
        assert f"Agents: {', '.join(AGENTS)}." in words


@pytest.mark.parametrize(
    ("arguments", "says", "status"),
    [
        (["--help"], "usage: crib-env COMMAND", 0),
        (["match", "--help"], about("match"), 0),
        (["train", "td", "--help"], LEARNERS["td"][1], 0),
        (["trian"], "error: there is no command 'trian': did you mean train?", 2),
        (["train"], "usage: crib-env train", 2),
    ],
)
def test_the_console_command_has_the_commands_of_both(arguments, says, status, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["crib-env", *arguments])
    shown, found = shown_by(capsys, crib_env)
    assert (" ".join(shown.split()).startswith(says), found) == (True, status)
    if arguments == ["--help"]:
        words = " ".join(shown.replace("│", " ").split())
        assert all(f" {name} {about}" in words for name, about in names().items())
        assert len(names()) < 12  # and train


def test_the_list_of_commands_imports_none_of_them():
    code = "import crib_env.train.__main__, sys; print(*sys.modules)"
    imported = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert "crib_env.evaluate.__main__" in imported
    assert not {"matplotlib", "torch", "crib_env.agents", "crib_env.evaluate.commands.match"} & set(imported)


def test_a_misspelled_option_is_answered_with_a_command_that_runs(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["evaluate", "match", "greedy", "random", "--gmaes", "10"])
    shown, status = shown_by(capsys, evaluate)
    assert status == 2
    assert shown.count("--games") == 1  # no other command's options
    assert re.findall("crib-env .*--help", shown) == ["crib-env match --help"]


def test_a_misspelled_command_is_answered_with_similar_ones():
    commands = {"match": "", "league": "", "reproduce": ""}
    assert choose("prog", "command", "", commands, ["match", "a", "b"]) == ("match", ["a", "b"])
    with refused("'mach'", "did you mean match?"):
        choose("prog", "command", "", commands, ["mach", "a"])
    with refused("'fly'", "match, league, reproduce"):
        choose("prog", "command", "", commands, ["fly"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dqn"], "there is no learner 'dqn': did you mean drqn or ddqn"),
        (["td", "--final-games", "7"], "final_games=7 is not allowed: give an even number of at least 2"),
        (["td", "--folder", "."], "exists already: continue it with --resume, or give another"),
    ],
)
def test_bad_input_is_one_line_and_creates_no_folder(arguments, message, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["train", *arguments])
    shown, status = shown_by(capsys, main)
    assert status == 2
    assert shown.startswith("error: ")
    assert message in shown
    assert len(shown.splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("module", "work", "main", "words"),
    [
        ("train.loop.run", "run_learner", main, ("td",)),
        ("evaluate.commands.league", "play_and_report", evaluate, ("league", "random", "greedy")),
        ("evaluate.commands.suite", "_measure_and_report", evaluate, ("suite", "random")),
    ],
)
def test_the_printed_command_that_goes_on_can_be_pasted(tmp_path, monkeypatch, module, work, main, words):
    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"crib_env.{module}.{work}", stop)
    folder = tmp_path / "what's $HOME; a b"
    done = run_here(main, *words, "--folder", folder)
    assert done.status == 130
    said = shlex.split(done.errors.rpartition("continue with: ")[2])
    assert said[-2:] == ["--resume" if words[0] == "td" else "--folder", str(folder)]
