"""Decision times in the form of Anderson et al. (2022)."""

import pytest

from crib_env.evaluate.speed import decision_times
from crib_env.evaluate.speed.decision_times import ENUMERATION, PUBLISHED, enumerate_cribs
from tests.helpers.refusals import refused


def test_one_row_for_each_player_and_one_for_the_enumeration(monkeypatch):
    monkeypatch.setattr(decision_times, "enumerate_cribs", lambda six: [0.0] * 15)
    told = []
    rows = decision_times.measure_decisions(["greedy", "random:seed=1"], deals=2, on_progress=told.append)
    assert [row.name for row in rows] == told == ["greedy", "random:seed=1", ENUMERATION]
    assert all(0 < row.discard < 1 and 0 < row.play < 1 for row in rows[:2])
    assert (rows[0].published_discard, rows[0].published_play) == PUBLISHED["greedy"]
    assert rows[1].published_discard is None


@pytest.mark.parametrize(("agents", "deals", "message"), [(["greedy"], 0, "deals=0"), (["nobody"], 5, "nobody")])
def test_bad_input_is_named(agents, deals, message):
    with refused(message):
        decision_times.measure_decisions(agents, deals)


@pytest.mark.slow
def test_the_enumeration_counts_every_three_unseen_cards():
    """A pair of fives and a pair of nines: the mean crib differs, and the nines' is the lower."""
    means = enumerate_cribs([4, 17, 8, 21, 12, 25])  # 5C 5D 9C 9D KC KD
    assert len(means) == 15
    assert means[0] == max(means)
    assert means[0] == pytest.approx(8.7, abs=0.5)
