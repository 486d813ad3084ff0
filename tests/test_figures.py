"""Pictures: one style for all, saved as PNG and SVG; learning curves of several runs."""

import ast
import json
from pathlib import Path

import numpy as np
import pytest
from torch.utils.tensorboard import SummaryWriter

from evaluate.figures import new_figure, save_figure
from evaluate.files import picture_paths
from evaluate.learning_curves import draw_and_report, draw_curves, mean_and_range, read_curve

ROOT = Path(__file__).resolve().parent.parent


def test_only_one_module_makes_and_saves_figures():
    for folder in ("crib_env", "agents", "evaluate", "train"):
        for path in (ROOT / folder).rglob("*.py"):
            if path != ROOT / "evaluate" / "figures.py":
                calls = {
                    ast.unparse(node.func).rpartition(".")[2]
                    for node in ast.walk(ast.parse(path.read_text()))
                    if isinstance(node, ast.Call)
                }
                assert not calls & {"Figure", "savefig", "rc_context", "subplot_mosaic"}, path


@pytest.mark.parametrize("name", ["board", "board.png", "board.svg"])
def test_a_picture_is_saved_as_png_and_svg(name, tmp_path):
    figure = new_figure(2, 1)
    figure.subplots().plot([1, 2])
    for _ in range(2):
        save_figure(figure, tmp_path / name)
    assert {path.name for path in tmp_path.iterdir()} == {"board.png", "board.svg"}
    assert (tmp_path / "board.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "board.svg").read_text()


def test_the_same_picture_is_the_same_file(tmp_path):
    for name in ("one", "two"):
        figure = new_figure(2, 1)
        figure.subplots().plot([1, 2], label="a line")
        save_figure(figure, tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_other_endings_are_refused_and_no_picture_is_no_path():
    with pytest.raises(ValueError, match=r"board\.pdf is not allowed: a picture ends in \.png or \.svg"):
        picture_paths(Path("board.pdf"))
    assert picture_paths(None) == ()


def test_curves_are_joined_where_all_of_them_reach():
    one = np.array([0.0, 10.0, 20.0]), np.array([0.0, 1.0, 2.0])
    two = np.array([5.0, 15.0, 30.0]), np.array([1.5, 2.5, 4.0])
    places, mean, low, high = mean_and_range([one, two])
    assert places.tolist() == [5, 10, 15, 20]
    assert low.tolist() == [0.5, 1, 1.5, 2]
    assert high.tolist() == [1.5, 2, 2.5, 3]
    assert mean.tolist() == [1, 1.5, 2, 2.5]


def test_curves_without_a_place_in_common_are_refused():
    one, two = (np.array([0.0, 10.0]), np.zeros(2)), (np.array([20.0, 30.0]), np.zeros(2))
    with pytest.raises(ValueError, match="no learning curve in common"):
        mean_and_range([one, two])


def make_run(folder, rates, speed):
    """A run that measured itself every 200 episodes and wrote its speed every 100."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"learner": "ddqn", "settings": {}}))
    with SummaryWriter(str(folder)) as writer:
        for k in range(1, 2 * len(rates) + 1):
            writer.add_scalar("speed/episodes per second", speed * k, 100 * k)
            if k % 2 == 0:
                writer.add_scalar("strength/win rate against greedy", rates[k // 2 - 1], 100 * k)
    return folder


def test_a_run_is_read_over_episodes_and_over_seconds(tmp_path):
    run = make_run(tmp_path / "run", [0.25, 0.5], speed=10)
    episodes, rates = read_curve(run, "greedy", "episodes")
    assert episodes.tolist() == [200, 400]
    assert rates == pytest.approx([0.25, 0.5])
    seconds, _ = read_curve(run, "greedy", "seconds")
    assert seconds == pytest.approx([10 + 5, 10 + 5 + 10 / 3 + 2.5])
    with pytest.raises(ValueError, match="holds no curve of win rates against 'random' over episodes"):
        read_curve(run, "random", "episodes")


def test_runs_of_a_learner_are_one_curve(tmp_path, capsys):
    runs = tuple(make_run(tmp_path / f"run-{k}", [0.25 + 0.1 * k, 0.5], speed=10) for k in range(3))
    draw_and_report(runs, (), tmp_path / "curves.png", "greedy", "seconds")
    assert "ddqn, mean and range of 3 runs" in (tmp_path / "curves.svg").read_text()
    draw_and_report(runs, ("a", "a", "b"), tmp_path / "curves.png", "greedy", "episodes")
    drawn = (tmp_path / "curves.svg").read_text()
    assert "a, mean and range of 2 runs" in drawn
    assert "games won against greedy" in drawn
    figure = draw_curves({"a": [read_curve(run, "greedy", "episodes") for run in runs]}, "greedy", "episodes")
    assert figure.axes[0].lines[0].get_ydata() == pytest.approx([35, 50])


def test_bad_runs_and_labels_are_refused(tmp_path):
    run = make_run(tmp_path / "run", [0.25], speed=10)
    with pytest.raises(ValueError, match="there are 1 runs and 2 labels"):
        draw_and_report((run,), ("a", "b"), tmp_path / "curves", "greedy", "episodes")
    with pytest.raises(ValueError, match="is not the folder of a run"):
        draw_and_report((tmp_path,), ("a",), tmp_path / "curves", "greedy", "episodes")
    with pytest.raises(ValueError, match="there are no runs"):
        draw_and_report((), (), tmp_path / "curves", "greedy", "episodes")
