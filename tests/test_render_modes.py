"""``render_mode`` in every environment: pixels, a window, and what is said when their packages are missing."""

from __future__ import annotations

import copy
import io
import pickle
import re
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled

import crib_env
from crib_env import discard_game, parse_card, parse_cards, single_agent  # noqa: F401 -- they read FPS first
from crib_env.aec import PLAYERS
from crib_env.picture import rendering
from crib_env.picture.cards import HIDDEN
from crib_env.picture.colours import DARK, LIGHT
from crib_env.picture.rendering import Window, to_pixels
from crib_env.picture.seen import see
from crib_env.picture.table import draw_discard_game, draw_table
from tests.helpers.aec_play import is_over
from tests.helpers.refusals import refused

IDS = {
    "crib_env/Cribbage-v0": (720, 960, 3),
    "crib_env/CribbagePlay-v0": (720, 960, 3),
    "crib_env/CribbageDiscard-v0": (440, 960, 3),
}


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(rendering, "FPS", 1_000)


@pytest.mark.parametrize(("env_id", "shape"), IDS.items())
def test_an_rgb_array_shows_the_position(env_id, shape):
    env = gymnasium.make(env_id, render_mode="rgb_array")
    assert 1 <= env.metadata["render_fps"] <= 10
    _, info = env.reset(seed=1)
    first = env.render()
    assert first.shape == shape
    assert first.dtype == np.uint8
    np.testing.assert_array_equal(env.render(), first)
    env.step(int(info["action_mask"].argmax()))
    assert (env.render() != first).any()


def drawn_whole(drawing, width):
    """The pixels as resvg draws the whole SVG at once."""
    resvg, image = pytest.importorskip("resvg_py"), pytest.importorskip("PIL.Image")
    png = resvg.svg_to_bytes(svg_string=str(drawing), width=width, skip_system_fonts=True)
    return np.array(image.open(io.BytesIO(bytes(png))).convert("RGB"))


@pytest.mark.parametrize("width", [960, 640, 641, 300])
def test_a_composed_frame_looks_like_the_picture_drawn_whole(width):
    """In the discards, in the play with pale cards, and in the show; and the discard game."""
    drawings = [draw_discard_game(*map(parse_cards, ("5H 5C 5S JD", "2C 9S")), parse_card("5D"))]
    env = crib_env.raw_env()
    env.reset(seed=7)
    cards = 0
    while not is_over(env):
        if cards in (0, 7, 9):
            drawings.append(draw_table(see(env.games, None), DARK if cards == 7 else LIGHT))
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
        cards += 1
    end = see(env.games, 0)
    assert end.counted
    drawings.append(draw_table(end))
    for drawing in drawings:
        composed, whole = to_pixels(drawing, width), drawn_whole(drawing, width)
        assert composed.shape == whole.shape == (-(-width * drawing.height // drawing.width), width, 3)
        assert np.abs(composed.astype(int) - whole).mean() < 0.15
        moved = drawing._replace(parts=tuple(part._replace(x=part.x + 3) for part in drawing.parts))
        assert np.abs(to_pixels(moved, width).astype(int) - whole).mean() > 0.5


def test_a_frame_draws_anew_only_what_it_has_not_drawn_before(monkeypatch):
    """A card that moves is copied."""
    hand = parse_cards("5H 5C 5S JD 2C 9S")
    to_pixels(draw_discard_game(hand, [], HIDDEN))
    anew = []
    monkeypatch.setattr(rendering, "_drawn", lambda svg, width=None: anew.append(svg) or np.zeros((1, 1, 4), np.uint8))
    to_pixels(draw_discard_game(hand[1:], hand[:1], HIDDEN))
    assert re.findall('data-card="(..)"', "".join(anew)) == ["5H"]  # no longer of class legal
    assert len(anew) == 4  # it, what is left to discard, and the label of the discards


def test_the_vector_environment_of_gymnasium_draws_every_game():
    envs = gymnasium.make_vec("crib_env/Cribbage-v0", 2, vectorization_mode="sync", render_mode="rgb_array")
    envs.reset(seed=3)
    pictures = envs.render()
    assert [picture.shape for picture in pictures] == [(720, 960, 3)] * 2
    assert (pictures[0] != pictures[1]).any()


def test_videos_are_recorded(tmp_path):
    pytest.importorskip("moviepy")
    env = gymnasium.make("crib_env/CribbageDiscard-v0", render_mode="rgb_array")
    env = gymnasium.wrappers.RecordVideo(env, str(tmp_path), disable_logger=True)
    _, info = env.reset(seed=1)
    for _ in range(2):
        *_, info = env.step(int(info["action_mask"].argmax()))
    env.close()
    (video,) = tmp_path.glob("*.mp4")
    assert video.stat().st_size > 1_000


@pytest.mark.parametrize("env_id", IDS)
def test_a_window_follows_the_game(env_id, monkeypatch):
    shown = []
    monkeypatch.setattr(Window, "show", lambda self, pixels: shown.append(pixels))
    env, drawn = gymnasium.make(env_id, render_mode="human"), gymnasium.make(env_id, render_mode="rgb_array")
    (_, info), _ = env.reset(seed=4), drawn.reset(seed=4)
    for n in (1, 2, 3):
        assert len(shown) == n
        np.testing.assert_array_equal(shown[-1], drawn.render())
        if n < 3:
            card = int(info["action_mask"].argmax())
            (*_, info), _ = env.step(card), drawn.step(card)


def test_a_window_opens_shows_the_pixels_and_closes():
    pygame = pytest.importorskip("pygame")
    env = crib_env.env(render_mode="human")
    env.reset(seed=5)
    assert pygame.display.get_surface().get_size() == (960, 720)
    screen = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
    np.testing.assert_array_equal(screen, to_pixels(draw_table(see(env.games, PLAYERS.index(env.agent_selection)))))
    assert env.render() is None
    env.close()
    assert pygame.display.get_surface() is None


def test_a_window_that_a_person_closes_stays_closed():
    pygame = pytest.importorskip("pygame")
    window, picture = Window(1_000), np.zeros((40, 60, 3), np.uint8)
    window.show(picture)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    window.show(picture)
    assert pygame.display.get_surface() is None
    window.show(picture)
    assert pygame.display.get_surface() is None


def test_without_a_display_the_error_names_what_works(monkeypatch):
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "nothing-of-this-name")
    env = crib_env.env(render_mode="human")
    with refused("'rgb_array'", "'ansi'", error=RuntimeError):
        env.reset(seed=6)


@pytest.mark.parametrize(
    ("mode", "missing"), [("rgb_array", "resvg_py"), ("rgb_array", "PIL"), ("human", "resvg_py"), ("human", "pygame")]
)
def test_a_missing_package_is_an_error_that_names_the_extra(mode, missing, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    rendering._background.cache_clear()
    env = crib_env.env(render_mode=mode)
    show = env.reset
    if mode == "rgb_array":
        env.reset(seed=7)
        show = env.render
    with refused("'render'", error=DependencyNotInstalled):
        show()


def test_svg_and_text_need_no_extra(monkeypatch):
    for name in ("resvg_py", "PIL", "pygame"):
        monkeypatch.setitem(sys.modules, name, None)
    env = crib_env.env(render_mode="ansi")
    env.reset(seed=8)
    assert env.render().startswith("player_")
    assert env.picture().startswith("<svg")


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"])
def test_a_copy_shows_its_own_game(copied):
    env = crib_env.env(render_mode="rgb_array")
    env.reset(seed=9)
    other, before = copied(env), env.render()
    other.step(int(other.observe(other.agent_selection)["action_mask"].argmax()))
    np.testing.assert_array_equal(env.render(), before)
    assert (other.render() != before).any()
