"""The ranking of discards for people: equal pairs as one, and a sentence that names what decides."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from crib_env import analyse_discard, parse_cards
from crib_env.evaluate.commands.discard import choices_of, discard, reason, tie, too_close
from crib_env.tables.analysis import win_shares

SIX = "5H 5C JD QS 2H 3D"


def sentence(cards, dealer, scores):
    choices = choices_of(analyse_discard(cards, dealer=dealer, scores=scores))
    if close := too_close(choices, dealer, scores):
        return tie(close)
    shares = win_shares(cards, choices[0].row, choices[1].row, dealer=dealer, scores=scores)
    return reason(choices, shares, dealer)


def ranking_of(cards, *, dealer=False, scores=(0, 0)):
    choices = choices_of(analyse_discard(cards, dealer=dealer, scores=scores))
    return [{frozenset(pair) for pair in choice.pairs} for choice in choices]


def pairs(*texts):
    return {frozenset(parse_cards(text)) for text in texts}


def test_pairs_that_differ_in_suit_alone_are_one_choice():
    found = ranking_of("6C 6D 5H JS KD 2S")
    assert pairs("6C JS", "6D JS") in found
    assert pairs("6C 5H", "6D 5H") in found
    assert sum(map(len, found)) == len(frozenset.union(*map(frozenset, found))) == 15
    # The king of diamonds goes into the crib with a six of its suit, or of another.
    assert pairs("6C KD") in found
    assert pairs("6D KD") in found


def test_a_possible_flush_separates_equal_ranks():
    found = ranking_of("2H 4H 6H 9H 9C KD")
    assert pairs("9C KD") in found
    assert pairs("9H KD") in found


def test_far_from_the_end_the_reason_is_in_points():
    words = sentence(SIX, True, (96, 101))
    first, second = analyse_discard(SIX, dealer=True, scores=(96, 101))[:2]
    assert words.startswith(f"2H 3D leads 5C 5H by {first['total'] - second['total']:.2f} points: hand +5.57, ")


def test_the_reason_is_pegging_where_only_pegging_can_decide():
    words = sentence("9H 2H AH 7D 4D 3S", False, (120, 120))
    assert "at this score: pegging +" in words
    assert "hand" not in words
    assert "crib" not in words


def test_more_points_that_win_less_often_are_named():
    """Pone counts first, and at 110–112 needs a hand of eleven points at most, whatever the crib brings."""
    words = sentence("KS 3S 6C AC 7D 2S", False, (110, 112))
    assert words.startswith("6C 7D wins ")
    assert re.search(r"; 6C KS is worth \d\.\d\d points more$", words)


def test_a_choice_is_not_compared_with_itself():
    """Fives and sixes in twos: twins were "too close to call" before."""
    words = sentence("6C 6D 5H JS KD 2S", False, (118, 118))
    assert "6C JS" in words
    assert "6D JS" not in words


def test_a_tie_names_some_of_its_choices():
    words = sentence(SIX, False, (120, 0))
    assert words.startswith("too close to call: ")
    assert " more differ by less than the error of the tables" in words
    assert words.count(",") == 3


@pytest.mark.parametrize("cards", [(SIX,), tuple(SIX.split()), ("5h5cjdqs2h3d",), ("5H5C", "jd,QS", "2H 3D")])
def test_cards_are_given_as_people_write_them_and_the_table_fits(cards, capsys):
    discard(cards, dealer=True, scores=(96, 101))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert not any("…" in line for line in lines)
    page = (Path(__file__).parents[1] / "docs" / "evaluate" / "exact-values.md").read_text(encoding="utf-8")
    shown = page.partition("--scores 96 101\n```")[2].split("```")[1].splitlines()[1:]
    assert {line.strip() for line in shown} - {"…"} <= {line.strip() for line in lines}
    row = next(line.split() for line in lines if line.split()[:2] == ["2H", "3D"] and "%" in line)
    first = analyse_discard(SIX, dealer=True, scores=(96, 101))[0]
    sampled = [f"{first['pegging']:+.2f}", f"{first['total']:.2f}", f"{first['win_probability']:.2%}"]
    assert row == ["2H", "3D", "5C", "5H", "JD", "QS", "12.67", "10–21", "+7.00", *sampled]
    assert sum(line.split()[:1] != [] and line.split()[0] in {"5C", "5H"} and "JD" in line.split()[1] for line in lines)


def test_too_few_cards_are_counted():
    with pytest.raises(ValueError, match="five cards given, six are needed"):
        discard(("5H", "5C", "JD", "QS", "2H"))
