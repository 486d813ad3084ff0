"""Recorded games as pictures: a page to step through, and a GIF."""

import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from crib_env import parse_cards
from crib_env.agents import make_agent
from crib_env.engine import WIN
from crib_env.evaluate.commands.analyse_replay import replay
from crib_env.evaluate.matches.game_records import read_record
from crib_env.evaluate.matches.match import play_games
from crib_env.evaluate.matches.mirrored import Games
from crib_env.evaluate.play.replay import frames, milliseconds, replay_page
from crib_env.picture.colours import LIGHT, STYLED
from crib_env.picture.rendering import _background, to_pixels
from crib_env.picture.table import draw_table
from tests.helpers.refusals import refused


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("games") / "games.jsonl"
    agents = make_agent("greedy"), make_agent("random")
    games = Games.merged(list(play_games(*agents, 2, seed=5, keep_records=True)))
    path.write_text("".join(record.to_line() + "\n" for record in games.records))
    return path


@pytest.fixture(scope="module")
def record(file):
    return read_record(file, 0)


def test_frames_show_every_card_and_every_hand_of_the_show(record):
    found = list(frames(record))
    assert [frame.deal for frame in found] == sorted(frame.deal for frame in found)
    n_cards = sum(len(parse_cards(cards)) for cards in record.cards)
    shows = [frame.table.counted.kind for frame in found if frame.table.counted]
    assert len(found) == len(record.deals) + n_cards + len(shows)
    assert shows[:3] == ["pone's hand", "dealer's hand", "crib"]
    assert len(record.deals) - 1 <= len(shows) / 3 <= len(record.deals)
    scores = np.array([[side.score for side in frame.table.sides] for frame in found])
    assert (np.diff(scores, axis=0) >= 0).all()
    assert tuple(scores[-1]) == record.scores
    assert {side.name for frame in found for side in frame.table.sides} == {"greedy", "random"}
    assert [frame for frame in found if frame.deal == 2] == list(frames(record, 2))


class Links(HTMLParser):
    """What a page would load or lead to."""

    def __init__(self):
        super().__init__()
        self.found, self.tags = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.found += [value for name, value in attrs if name in ("src", "href", "action", "data", "srcset")]


def test_the_page_is_whole_and_loads_nothing(record):
    found = list(frames(record))
    page = replay_page("greedy against random", found)
    links = Links()
    links.feed(page)
    assert not {"link", "img", "iframe", "object", "embed"} & set(links.tags)
    assert links.found == []  # the cards stand in the script's data
    assert set(re.findall(r"https?://[^\"'\s<]+", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|import\(", page)
    data = json.loads(re.search(r"^const \{parts, frames\} = (.*);$", page, re.MULTILINE)[1])
    assert len(data["frames"]) == len(found)
    ids = set(re.findall(r'<g id="(\w+)">', page))
    for frame, shown in zip(found, data["frames"]):
        drawn = [data["parts"][part] for part in shown["parts"]]
        drawing = draw_table(frame.table, STYLED)
        assert drawn == [drawing.background, *map(str, drawing.parts)]
        assert shown["says"] == frame.table.caption
        assert set(re.findall(r'href="#(\w+)"', "".join(drawn))) <= ids
    assert len(page) < 2_000_000
    assert f"wins {WIN} to" in data["frames"][-1]["says"]


def test_a_name_cannot_break_out_of_the_page(record):
    name = '</script><script>alert("x")</script> TITLE & co'
    frame = next(frames(record, 1))
    sides = tuple(side._replace(name=name) for side in frame.table.sides)
    page = replay_page(name, [frame._replace(table=replace(frame.table, sides=sides, caption=name))])
    assert page.count("<script>") == page.count("</script>") == 1
    assert "alert(&quot;x&quot;)" in page
    assert page.count("co</title>") == 2


def test_the_command_writes_the_page_and_the_text_of_one_deal(file, record, tmp_path, capsys):
    replay(file, html=tmp_path / "game.html", deal=2)
    assert capsys.readouterr().out == ""
    page = (tmp_path / "game.html").read_text(encoding="utf-8")
    assert page == replay_page("greedy against random", list(frames(record, 2)))
    replay(file, deal=2)
    told = capsys.readouterr().out
    assert told.count("deal ") == 1
    assert "deal 2: " in told
    assert "wins" not in told
    for deal in (0, 99):
        with refused(f"deal={deal}"):
            replay(file, deal=deal)


def test_the_moving_picture_shows_every_frame(file, record, tmp_path):
    image = pytest.importorskip("PIL.Image")
    replay(file, deal=1, gif=tmp_path / "deal.gif")
    with image.open(tmp_path / "deal.gif") as gif:
        found = list(frames(record, 1))
        assert gif.size == (640, 480)
        assert gif.info["loop"] == 0
        assert gif.n_frames == len({str(draw_table(frame.table)) for frame in found})
        for k, frame in ((0, found[0]), (gif.n_frames - 1, found[-1])):
            gif.seek(k)
            difference = np.abs(np.array(gif.convert("RGB"), int) - to_pixels(draw_table(frame.table, LIGHT), 640))
            assert difference.mean() < 3
        assert gif.info["duration"] == 4_000
        durations = {milliseconds(frame.table) for frame in found}
        assert len(durations) == 3  # the discard, the play, the show
    assert (tmp_path / "deal.gif").stat().st_size < 400_000


def test_without_the_extra_the_error_names_it(file, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    _background.cache_clear()
    with refused("--gif", "'render'"):
        replay(file, deal=1, gif=tmp_path / "deal.gif")
    assert not list(tmp_path.iterdir())


def test_the_moving_picture_of_the_readme_is_drawn_as_today():
    """``crib-env analyse replay docs/game.jsonl --deal 3 --gif docs/deal.gif`` makes it anew."""
    image = pytest.importorskip("PIL.Image")
    docs = Path(__file__).parents[1] / "docs"
    found = list(frames(read_record(docs / "game.jsonl", 0), 3))
    assert (docs / "deal.gif").stat().st_size < 400_000
    with image.open(docs / "deal.gif") as gif:
        assert gif.n_frames == len(found)
        gif.seek(len(found) - 1)
        drawn = to_pixels(draw_table(found[-1].table), 640)
        assert np.abs(np.array(gif.convert("RGB"), int) - drawn).mean() < 3
