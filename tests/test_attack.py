"""``make attack`` finds what is planted: leaks, wrong rules, lost checkpoints, lines and files that come through."""

import re

import numpy as np
import pytest
from rich.console import Console

from crib_env.evaluate.console import LiteralConsole
from crib_env.evaluate.matches import resuming
from crib_env.evaluate.play.page.games import Games
from crib_env.train.loop.run_folder import RunFolder
from tests.attack import __main__ as command
from tests.attack import damage, kernels, leaks, lines, table
from tests.attack.attempts import QUICK, Attempts
from tests.helpers import killed_runs
from tests.helpers.wrong_rules import WRONG_RULES, play_in_python, rules_in_python


@pytest.mark.parametrize(("rule", "status"), [("", 0), ("heels for a queen", 1)])
def test_a_wrong_rule_is_reported(monkeypatch, rule, status, capsys):
    play_in_python(monkeypatch, rules_in_python(*WRONG_RULES[rule][:2] if rule else ()))
    assert command.main(["--only", "referee", "--plays", "2000"]) == status
    assert ("scores differ: " in capsys.readouterr().out) == bool(status)


def test_nothing_comes_through_in_small_samples(capsys):
    assert command.main(["--quick", "--only", "leaks", "lines", "table", "damage", "strangers"]) == 0
    shown = capsys.readouterr().out
    assert "| decisions of best that depend on hidden cards | 20 | 0 |" in shown
    assert "| names that were not shown as they are | 3 | 0 |" in shown
    assert "| hostile command lines that were not refused | 20 | 0 |" in shown
    assert "| lines to MCP after which it did not go on | 40 | 0 |" in shown


class Careless(kernels.Copy):
    """Its folder of kernels has one name for all sources, and is not checked."""

    def __init__(self, folder):
        super().__init__(folder)
        cache = folder / "crib_env" / "kernel_cache.py"
        careless = cache.read_text().replace("return found.hexdigest()", 'return "any"')
        cache.write_text(careless.replace("= self._checked()", "= {}"))


class Peeks:
    """Chooses by the opponent's hand, which :func:`leaking` puts in place of the count."""

    name = "peeks"

    def act(self, views):
        first, last = views.action_mask.argmax(axis=1), 51 - views.action_mask[:, ::-1].argmax(axis=1)
        return np.where(views.count % 2 == 1, first, last)


def test_a_leak_is_reported(monkeypatch):
    monkeypatch.setattr(leaks, "player", lambda name: Peeks())
    assert leaks.decide_twice("peeks", 100, seed=0)[1] == []
    views_of = leaks.views_of

    def leaking(games, rows, seats, game_ids):
        shown = views_of(games, rows, seats, game_ids)
        shown.count[:] = games["hand"][rows, 1 - seats] % 2
        return shown

    monkeypatch.setattr(leaks, "views_of", leaking)
    asked, other = leaks.decide_twice("peeks", 100, seed=0)
    assert asked >= 100
    assert other


def test_a_cache_that_believes_its_files_is_reported(monkeypatch, capsys):
    monkeypatch.setattr(kernels, "Copy", Careless)
    assert command.main(["--quick", "--only", "kernels"]) == 1
    shown = capsys.readouterr().out
    assert "| first runs after an edit of a rule, on a full disk, that played another rule | 1 | 1 |" in shown


def test_a_message_that_is_not_answered_in_words_is_reported(monkeypatch):
    monkeypatch.setattr(Games, "progress", lambda games, message: 1 / 0)
    monkeypatch.setattr(table, "MESSAGES", {"progress": table.MESSAGES["progress"]})
    monkeypatch.setattr(table, "hostile_messages", lambda game: [("progress", {}), ("progress", {"another": 1})])
    monkeypatch.setattr(table, "HOSTILE", {})
    found = next(table.attack(QUICK, 0))
    assert (found.tried, len(found.faults)) == (2, 1)
    assert "500" in found.faults[0]


@pytest.mark.slow
def test_a_run_that_loses_its_checkpoint_is_reported(monkeypatch, tmp_path):
    """It comes to the same weights, but only by beginning again."""
    load, asked = RunFolder.load_checkpoint, []

    def lost(folder):
        asked.append(folder)
        return load(folder) if len(asked) == 1 else None

    monkeypatch.setattr(RunFolder, "load_checkpoint", lost)
    found = Attempts("kills")
    found.make(killed_runs.kill_and_compare, killed_runs.KINDS["discard-game"], tmp_path)
    assert "it goes on at [0, 0] episodes, and had " in found.faults[0]


def test_lines_and_files_that_come_through_are_reported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = Attempts("lines and files")
    found.make(lines.refuse, lambda: None, ["match"])
    found.make(lines.refuse, lambda: 1 / 0, ["match"])
    good = tmp_path / "a.json"
    found.make(damage.refuse_or_read, good, lambda: {"a": 1}, {"a": 2})
    found.make(damage.refuse_or_read, good, lambda: {}["a"], None)
    found.make(damage.refuse_or_read, good, lambda: int("x"), None)
    assert [fault.split(": ", 1)[1].split(":")[0] for fault in found.faults[:2]] == ["ValueError", "ZeroDivisionError"]
    assert len(found.faults) == found.tried == 5


def test_names_read_as_markup_and_records_that_are_cut_are_reported(monkeypatch, capsys):
    monkeypatch.setattr(LiteralConsole, "render_str", Console.render_str)
    monkeypatch.setattr(resuming, "_check_half", lambda *asked: None)
    assert command.main(["--quick", "--only", "strangers", "--damages", "20"]) == 1
    faults = re.findall(r"^\| (files|names) .* (\d+) \|$", capsys.readouterr().out, re.MULTILINE)
    assert [what for what, n in faults if int(n)] == ["files", "names"]
