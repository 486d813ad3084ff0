"""A small piece of ``make attack``."""

from tests.attack import __main__ as command


def test_nothing_comes_through_in_small_samples(capsys):
    assert command.main(["--quick", "--only", "leaks", "lines", "table", "damage", "strangers"]) == 0
    shown = capsys.readouterr().out
    assert "| decisions of best that depend on hidden cards | 20 | 0 |" in shown
    assert "| hostile command lines that were not refused | 20 | 0 |" in shown
