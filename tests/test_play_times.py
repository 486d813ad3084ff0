"""`benchmark page`: it plays whole games with the page's server, and starts the command as a user does."""

import re

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from crib_env.evaluate.commands import benchmark_page
from crib_env.evaluate.play.page.times import StartTimes, measure_replies, measure_start
from crib_env.evaluate.ranges import checked


def test_the_command_prints_starts_and_replies_each_card_an_answer_a_note_and_a_hint(monkeypatch, capsys):
    starts, replies = [], []

    def started(agent, kernels):
        assert kernels.is_dir()
        starts.append(StartTimes(2.0, 2.5, 30.0, 40.0))
        return starts[-1]

    def measured(*arguments):
        replies.append(measure_replies(*arguments))
        return replies[-1]

    monkeypatch.setattr(benchmark_page, "measure_start", started)
    monkeypatch.setattr(benchmark_page, "measure_replies", measured)
    benchmark_page.page("random", games=1)
    said = capsys.readouterr().out
    assert len(starts) == 2
    (found,) = replies
    assert len(found.plays) == len(found.notes) == len(found.hints) > 20
    assert all(times.min() > 0 and times.max() < 60 for times in found)
    assert "first start: server up after 2.0 s, page there 0.5 s later, all kernels ready after 30 s" in said
    assert re.search(r"a card of yours and the reply of random: median \d+ ms, 95 % within \d+ ms, \d+ answers", said)
    (size,) = re.findall(r"the page: ([\d,]+) bytes", said)
    assert int(size.replace(",", "")) < 200_000


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="games=0"):
        checked(benchmark_page.page)("random", games=0)
    with pytest.raises(ValueError, match="'nobody'"):
        measure_replies("nobody", 1, 0, lambda: None)


@pytest.mark.slow
def test_a_start_compiles_into_the_folder_once(tmp_path):
    first, later = measure_start("greedy", tmp_path), measure_start("greedy", tmp_path)
    assert first.server < first.page < first.warm
    assert later.processor < first.processor / 2
