"""The examples of CONTRIBUTING.md work as pasted, and it names files that exist."""

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from crib_env import agents, kernels, train
from crib_env.agents import make_agent, registry
from crib_env.evaluate.__main__ import main as evaluate
from crib_env.evaluate.commands.registry import COMMANDS, Command
from crib_env.evaluate.matches.match import play_match
from crib_env.train import __main__ as learners

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text()


def blocks(section):
    """The Python blocks of a section."""
    text = PAGE.split(f"## {section}\n")[1].split("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def entry(line, **names):
    """The value of a dictionary entry, as it is written in a source file."""
    ((name, value),) = eval(f"{{{line}}}", names).items()
    return name, value


@pytest.fixture
def pasted(tmp_path, monkeypatch):
    """Writes a block into a folder that counts as a part of its package."""

    def write(block, package):
        folder = tmp_path / package.__name__.split(".")[-1]
        (file,) = re.findall(rf"# {folder.name}/(\w+)\.py\n", block)
        folder.mkdir()
        (folder / f"{file}.py").write_text(block)
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
        monkeypatch.delitem(sys.modules, f"{package.__name__}.{file}", raising=False)

    yield write
    for name in ("crib_env.agents.high_card", "crib_env.train.high_card"):
        sys.modules.pop(name, None)
    for package in (agents, train):
        vars(package).pop("high_card", None)


def test_an_agent_is_one_file_and_one_line(pasted, monkeypatch):
    file, line = blocks("A new agent")
    pasted(file, agents)
    name, target = entry(line)
    outside = make_agent(target)
    monkeypatch.setitem(registry._AGENTS, name, target)
    high, low = make_agent(name), make_agent(f"{name}:high=no")
    assert (high.name, low.name) == ("high-card", "high-card:high=no")
    first, second = (play_match(agent, low, 40, seed=3) for agent in (outside, high))
    assert first.win_rate == second.win_rate
    assert play_match(high, high, 40, seed=3).win_rate == 0.5


def test_a_learner_is_one_file_and_one_entry(pasted, monkeypatch, tmp_path, capsys):
    pasted(blocks("A new agent")[0], agents)
    file, line = blocks("A new learner")
    pasted(file, train)
    name, learner = entry(line, Entry=learners.Entry)
    monkeypatch.setitem(learners.LEARNERS, name, learner)
    run = tmp_path / "run"
    arguments = ["--episodes", "20", "--final-games", "20", "--folder", str(run)]
    monkeypatch.setattr(sys, "argv", ["train", name, *arguments])
    learners.main()
    assert "40 episodes" in capsys.readouterr().out
    assert (run / "final.safetensors").is_file()


def test_a_measurement_is_one_file_and_one_entry(monkeypatch, capsys):
    file, line = blocks("A new measurement")
    module = ModuleType("crib_env.evaluate.commands.hand_points")
    exec(compile(file, "hand_points.py", "exec"), vars(module))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    name, command = entry(line, Command=Command)
    monkeypatch.setitem(COMMANDS, name, command)
    monkeypatch.setattr(sys, "argv", ["evaluate", name, "--hands", "500"])
    evaluate()
    found = re.fullmatch(r"(.*) points a hand, 95 % interval (.*) to (.*), 500 hands\n", capsys.readouterr().out)
    mean, low, high = map(float, found.groups())
    assert low < mean < high
    assert mean == pytest.approx(4.77, abs=0.5)  # the mean over all hands and starters
    monkeypatch.setattr(sys, "argv", ["evaluate", name, "--help"])
    with pytest.raises(SystemExit):
        evaluate()
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.startswith(command.about)
    assert "Number of hands. (default: 2000)" in shown


def changed(path, changes):
    """A module of the source at a path after some lines are replaced, its kernels left as plain Python."""
    source = (ROOT / path).read_text()
    for before, after in changes:
        assert source.count(f"{before}\n") == 1, before
        source = source.replace(f"{before}\n", f"{after}\n")
    module = ModuleType("changed")
    sys.modules["changed"] = module  # a dataclass or NamedTuple looks its module up
    exec(compile(source, path, "exec"), vars(module))
    return module


def test_a_rule_is_changed_in_the_scoring_and_in_the_reference(monkeypatch):
    (diff,) = re.findall(r"```diff\n(.*?)```", PAGE, re.DOTALL)
    changes = {}
    for path, before, after in re.findall(r"--- (.*)\n-(.*)\n\+(.*)\n", diff):
        changes.setdefault(path, []).append((before, after))
    monkeypatch.setattr(kernels, "kernel", lambda function: function)
    monkeypatch.setitem(sys.modules, "changed", None)
    scoring, reference = (
        changed(path, changes.pop(path)) for path in ("crib_env/scoring.py", "tests/helpers/reference.py")
    )
    assert not changes
    flush, starter = [0, 2, 5, 8], 13 + 12  # ace, three, six and nine of clubs: 2 for 6 + 9, and now 4 for the flush
    for crib in (False, True):
        assert scoring.show_points(sum(1 << card for card in flush), starter, crib) == 6
        assert sum(item.points for item in scoring.explain_show(flush, starter, crib=crib)) == 6
        assert reference.score_show(flush, starter, crib) == 6


def test_card_values_are_stated_once():
    """``explain_show`` states it again on purpose, as a check."""
    sources = [path for layer in ("crib_env", "agents", "evaluate", "train") for path in (ROOT / layer).rglob("*.py")]
    found = {str(path.relative_to(ROOT)): len(re.findall(r"\+ 1, 10\)", path.read_text())) for path in sources}
    assert {path: n for path, n in found.items() if n} == {"crib_env/scoring.py": 2}


def test_the_annotated_tree_names_existing_files():
    (tree,) = re.findall(r"```text\n(.*?)```", (ROOT / "docs" / "architecture.md").read_text(), re.DOTALL)
    package, missing = "", []
    for line in tree.splitlines():
        names = re.findall(r"[\w/]+(?:\.py|/)(?=\s|$|;)", re.split(r"\s{2,}(?=\S)", line.strip())[0])
        if not line.startswith(" "):
            package, names = names[0], names[1:]
        missing += [name for name in names if not (ROOT / package / name).exists()]
    assert not missing


def test_paths_in_contributing_exist():
    examples = {"agents/high_card.py", "train/high_card.py", "evaluate/commands/hand_points.py"}
    paths = set(re.findall(r"(?:crib_env|agents|evaluate|train|tests)/[\w/]+\.py", PAGE)) - examples
    assert not [path for path in paths if not (ROOT / path).is_file()]
