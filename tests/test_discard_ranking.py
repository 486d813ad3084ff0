"""The ranking of discards for people: equal pairs as one, and a sentence that names what decides."""

from __future__ import annotations

from pathlib import Path

import pytest

from crib_env import analyse_discard, parse_cards
from crib_env.evaluate.commands.analyse import choices_of, discard

SIX = "5H 5C JD QS 2H 3D"


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
