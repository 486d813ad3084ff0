"""``render_mode`` in every environment: pixels, a window, and what is said when their packages are missing."""

from __future__ import annotations

import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled

import crib_env
from crib_env import discard_game, parse_card, parse_cards, single_agent  # noqa: F401 -- they read FPS first
from crib_env.picture import drawing
from crib_env.picture.drawing import Renderer
from tests.helpers.refusals import refused

IDS = {
    "crib_env/Cribbage-v0": (720, 960, 3),
    "crib_env/CribbagePlay-v0": (720, 960, 3),
    "crib_env/CribbageDiscard-v0": (440, 960, 3),
}


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(drawing, "FPS", 1_000)


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
    monkeypatch.setattr(Renderer, "show", lambda self, pixels: shown.append(pixels))
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
    np.testing.assert_array_equal(screen, np.asarray(env.picture(env.agent_selection)))
    assert env.render() is None
    env.close()
    assert pygame.display.get_surface() is None


def test_a_window_that_a_person_closes_stays_closed():
    pygame = pytest.importorskip("pygame")
    window, picture = Renderer("human"), np.zeros((40, 60, 3), np.uint8)
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


@pytest.mark.parametrize(("mode", "missing"), [("rgb_array", "PIL"), ("human", "PIL"), ("human", "pygame")])
def test_a_missing_package_is_an_error_that_names_the_extra(mode, missing, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    env = crib_env.env(render_mode=mode)
    show = env.reset
    if mode == "rgb_array":
        env.reset(seed=7)
        show = env.render
    with refused("'render'", error=DependencyNotInstalled):
        show()


def test_text_needs_no_extra(monkeypatch):
    for name in ("PIL", "pygame"):
        monkeypatch.setitem(sys.modules, name, None)
    env = crib_env.env(render_mode="ansi")
    env.reset(seed=8)
    assert env.render().startswith(f"{env.agent_selection}\nyou 0")
    with refused("'render'", error=DependencyNotInstalled):
        env.picture()
