"""Lang's Table 4: people's discards from a file, and how often a strategy agrees with them."""

import numpy as np
import pytest

from crib_env import discard_statistics, parse_cards
from crib_env.evaluate.papers.claims import (
    Effort,
)
from crib_env.evaluate.papers.lang_2018.choices import (
    COLUMNS,
    EXAMPLE,
    chosen_by,
    pure_weights,
    read_choices,
    top_three,
)
from crib_env.evaluate.papers.run import Reproduction
from tests.helpers.claims import BY_KEY


def test_the_example_of_peoples_discards_says_that_it_is_made_up():
    assert EXAMPLE.read_text().startswith("# Made up")
    choices = read_choices(EXAMPLE)
    assert choices.cards.shape == (6, 6)
    assert choices.votes.shape == (6, 15)
    assert choices.votes.sum() == sum(int(line.rpartition(",")[2]) for line in EXAMPLE.read_text().splitlines()[3:])
    first = discard_statistics(choices.cards)["discard"][0]
    two_three = [k for k in range(15) if sorted(first[k].tolist()) == sorted(parse_cards("2H 3D"))]
    assert choices.votes[0, two_three].tolist() == [41]


HEADER = ",".join(COLUMNS)


def write_choices(path, *lines, header=HEADER):
    path.write_text("\n".join(["# a comment", header, *lines]) + "\n")
    return path


GOOD = "1,5H 5C JD QS 2H 3D,yes,0,0,2H 3D,4"


def test_top_three_by_hand(tmp_path):
    """Votes 4, 4, 1 and none: both of the first are most common, and a discard without votes is in no top."""
    lines = [GOOD, GOOD.replace("2H 3D,4", "5H 5C,4"), GOOD.replace("2H 3D,4", "QS 3D,1")]
    choices = read_choices(write_choices(tmp_path / "choices.csv", *lines))
    order = np.argsort(-choices.votes[0], kind="stable")
    tops = [top_three(np.array([k]), choices)[0].tolist() for k in order[:4]]
    assert tops == [[True] * 3, [True] * 3, [False, False, True], [False] * 3]


def test_a_pure_strategy_discards_its_best(tmp_path):
    choices = read_choices(write_choices(tmp_path / "choices.csv", GOOD))
    best = discard_statistics(choices.cards)["hand_mean"].argmax(axis=1)
    assert chosen_by(pure_weights("hand_max_avg"), choices).tolist() == best.tolist()


def test_a_byte_order_mark_and_endless_fields(tmp_path):
    path = write_choices(tmp_path / "choices.csv", GOOD)
    expected = read_choices(path)
    path.write_bytes(path.read_bytes().removeprefix(b"# a comment\n"))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    np.testing.assert_array_equal(read_choices(path).votes, expected.votes)
    for line in (GOOD.replace("1,", "1" * 131_073 + ",", 1), '"' + GOOD * 10_000):
        with pytest.raises(ValueError, match=r"choices\.csv cannot be read as a file of discards: field larger than"):
            read_choices(write_choices(path, line))
    with pytest.raises(ValueError, match=r"choices\.csv cannot be read as a file of discards"):
        read_choices(write_choices(path, GOOD, header="x" * 131_073))


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([GOOD.replace("yes", "maybe")], "line 3: dealer='maybe' is not allowed: give yes or no"),
        ([GOOD.replace("JD", "5H")], "line 3: 5H"),
        ([GOOD.replace(" QS", "")], "line 3: cards='5H 5C JD 2H 3D' are 5, not six"),
        ([GOOD.replace("2H 3D,4", "2H 4D,4")], "line 3: discard='2H 4D' is not two of '5H 5C JD QS 2H 3D'"),
        ([GOOD.replace(",0,0,", ",0,121,")], "line 3: opponent_score='121' is not allowed: give a whole number from 0"),
        ([GOOD.replace(",0,0,", ",-1,0,")], "line 3: own_score='-1' is not allowed"),
        ([GOOD.replace(",4", ",0")], "line 3: votes='0' is not allowed"),
        ([GOOD, GOOD.replace(",0,0,", ",0,9,")], "line 4: position '1' has other cards or scores than before"),
        ([GOOD.rpartition(",")[0]], "line 3: votes is empty"),
        ([], "holds no positions"),
    ],
)
def test_bad_lines_of_discards_are_named(lines, says, tmp_path):
    path = write_choices(tmp_path / "choices.csv", *lines)
    with pytest.raises(ValueError, match=r"choices\.csv") as error:
        read_choices(path)
    assert says in str(error.value)


def test_a_missing_file_or_column_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"nothing\.csv cannot be read"):
        read_choices(tmp_path / "nothing.csv")
    path = write_choices(tmp_path / "choices.csv", header=",".join(COLUMNS[:-1]))
    with pytest.raises(ValueError, match="has no column 'votes'"):
        read_choices(path)
    with pytest.raises(ValueError, match=r"nothing\.csv cannot be read"):
        Reproduction(("lang-2018",), True, 0, tmp_path / "nothing.csv")


@pytest.mark.parametrize("row", ["Random", "hand_max_avg", "crib_min_avg"])
def test_rows_of_table_4_that_need_no_training(row):
    keys = (f"table-4-{row}-top-1", f"table-4-{row}-top-2", f"table-4-{row}")
    tops = [BY_KEY["lang-2018", key].measure(Effort(1, choices=EXAMPLE)) for key in keys]
    assert {measured.sample for measured in tops} == {f"6 positions of {EXAMPLE.name}"}
    assert 0 <= tops[0].value <= tops[1].value <= tops[2].value <= 1
    assert row == "crib_min_avg" or tops[0].value < tops[2].value


def test_table_4_prints_counts_of_one_two_and_three():
    printed = [BY_KEY["lang-2018", f"table-4-Trained{top}"].published.printed for top in ("-top-1", "-top-2", "")]
    assert printed == ["1,706 of 3,623 (47.09%)", "2,426 of 3,623 (66.96%)", "2,821 of 3,623 (77.86%)"]
