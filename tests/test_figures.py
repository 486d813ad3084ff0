"""Pictures: one style for all, saved as PNG and SVG; learning curves of several runs."""

import json
from pathlib import Path

import numpy as np
import pytest
from torch.utils.tensorboard import SummaryWriter

from crib_env.evaluate.commands.runs import curves
from crib_env.evaluate.files import picture_paths, plain
from crib_env.evaluate.runs.format import with_band
from crib_env.evaluate.runs.learning_curves import (
    NO_POINTS,
    Curve,
    Points,
    curve_of_json,
    curves_by_label,
    draw_curves,
    mean_curve,
    new_figure,
    read_curve,
    save_figure,
)
from tests.helpers.refusals import refused
from tests.helpers.written_runs import write_run


@pytest.mark.parametrize("name", ["curve", "curve.png", "curve.svg"])
def test_a_picture_is_saved_as_png_and_svg_the_same_twice(name, tmp_path):
    saved = []
    for _ in range(2):
        figure = new_figure(2, 1)
        figure.subplots().plot([1, 2], label="a line")
        save_figure(figure, tmp_path / name)
        saved.append((tmp_path / "curve.svg").read_bytes())
    assert saved[0] == saved[1]
    assert {path.name for path in tmp_path.iterdir()} == {"curve.png", "curve.svg"}
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "curve.svg").read_text()


def test_other_endings_are_refused():
    with refused("curve.pdf"):
        picture_paths(Path("curve.pdf"))


def points(places, values):
    """Measurements without intervals."""
    unknown = np.full(len(places), np.nan)
    return Points(np.array(places, float), np.array(values), unknown, unknown)


def training(*curves):
    return mean_curve([Curve(curve, NO_POINTS) for curve in curves]).training


def test_curves_are_joined_where_all_of_them_reach():
    one, two = points([0, 10, 20], [0.0, 1.0, 2.0]), points([5, 15, 30], [1.5, 2.5, 4.0])
    places, mean, low, high = training(one, two)
    assert places.tolist() == [5, 10, 15, 20]
    assert mean.tolist() == [1, 1.5, 2, 2.5]
    half = 12.7062 * 0.5  # Student's t with one degree of freedom, and the standard error of 0.5 and 1.5
    assert (high - mean).tolist() == pytest.approx([half] * 4) == (mean - low).tolist()
    with pytest.raises(ValueError, match="no learning curve in common"):
        training(one, points([40, 50], [0.0, 0.0]))


def test_a_single_run_keeps_its_own_intervals():
    run = Points(*np.array([[0.0, 10.0], [0.5, 0.6], [0.4, 0.5], [0.6, 0.7]]))
    assert training(run) is run


def test_finished_players_are_marks_of_their_own():
    """They are no points of the line, and their intervals are whiskers."""
    runs = [Curve(points([0, 10], [0.5, 0.6]), points([10 + k], [0.4 + k / 100])) for k in range(2)]
    figure = draw_curves({"a": runs}, "greedy", "processor-seconds", {"somebody": 45.0})
    (axes,) = figure.axes
    assert axes.lines[0].get_ydata() == pytest.approx([50, 60])
    (bars,) = axes.containers
    assert bars.lines[0].get_xydata().tolist() == [pytest.approx([10.5, 40.5])]
    ((_, low), (_, high)) = bars.lines[2][0].get_segments()[0]
    assert (low, high) == pytest.approx((40.5 - 12.7062 * 0.5, 40.5 + 12.7062 * 0.5))
    assert [text.get_text() for text in axes.texts] == ["somebody"]
    of_one_finished = mean_curve([runs[0], Curve(runs[1].training, NO_POINTS)])
    assert of_one_finished.final == NO_POINTS


def test_curves_are_kept_as_json():
    curve = Curve(points([0, 10], [0.5, 0.6]), NO_POINTS)
    again = curve_of_json(json.loads(json.dumps(plain(curve))))
    for part, of_again in zip(curve, again):
        for values, of_these in zip(part, of_again):
            np.testing.assert_array_equal(values, of_these)


def log(writer, values, episodes):
    for tag, value in values.items():
        writer.add_scalar(tag, value, episodes)


def make_run(folder, rates, speed, learner="ddqn", **settings):
    """A run that measured itself every 200 episodes and wrote its speed every 100."""
    write_run(folder, learner, **settings)
    with SummaryWriter(str(folder)) as writer:
        for k in range(1, 2 * len(rates) + 1):
            writer.add_scalar("speed/episodes per second", speed * k, 100 * k)
            writer.add_scalar("speed/processor seconds", k, 100 * k)
            if k % 2 == 0:
                rate = rates[k // 2 - 1]
                log(writer, with_band("evaluation/win rate against greedy", rate, rate - 0.1, rate + 0.1), 100 * k)
    return folder


def test_a_run_is_read_over_episodes_and_over_processor_seconds(tmp_path):
    run = make_run(tmp_path / "run", [0.25, 0.5], speed=10)
    (episodes, rates, low, high), final = read_curve(run, "greedy", "episodes")
    assert episodes.tolist() == [200, 400]
    assert rates == pytest.approx([0.25, 0.5])
    assert low == pytest.approx([0.15, 0.4])
    assert high == pytest.approx([0.35, 0.6])
    assert not len(final.places)
    on_processor = read_curve(run, "greedy", "processor-seconds").training.places
    assert on_processor.tolist() == [2.0, 4.0]
    with refused(run, "'random'"):
        read_curve(run, "random", "episodes")


def make_seeds(folder, seeds):
    write_run(folder, seed=0, seeds=seeds)
    for k in range(seeds):
        make_run(folder / f"seed-{k}", [0.25 + 0.1 * k, 0.5], speed=10)
    return folder


def test_runs_of_several_seeds_are_one_curve(tmp_path, capsys):
    runs = make_seeds(tmp_path / "runs", 3)
    curves((runs,), tmp_path / "curves.png", over="processor-seconds")
    assert "ddqn, mean of 3 runs" in (tmp_path / "curves.svg").read_text()
    curves((runs,), tmp_path / "curves.png", json_file=tmp_path / "curves.json")
    kept = json.loads((tmp_path / "curves.json").read_text())
    assert {label: len(of_label) for label, of_label in kept["curves"].items()} == {"ddqn": 3}
    assert kept["curves"]["ddqn"][2]["training"]["values"] == pytest.approx([0.45, 0.5])
    assert "games won against greedy" in (tmp_path / "curves.svg").read_text()
    figure = draw_curves(curves_by_label([runs], "greedy", "episodes"), "greedy", "episodes")
    assert figure.axes[0].lines[0].get_ydata() == pytest.approx([35, 50])


def test_runs_of_one_learner_are_named_by_their_folders(tmp_path):
    runs = [make_run(tmp_path / name, [0.5, 0.6], 10) for name in "ab"]
    td = make_run(tmp_path / "td", [0.5, 0.6], 10, "td", seed=0)
    found = curves_by_label((*runs, td), "greedy", "episodes")
    assert [*found] == [f"ddqn, {runs[0]}", f"ddqn, {runs[1]}", "td"]


def test_runs_of_several_seeds_are_taken_and_what_has_no_curve_is_left_out(tmp_path, capsys):
    """Seed 5 is not begun yet, and another run measured nothing."""
    sweep = write_run(tmp_path / "sweep", "td", seed=3, seeds=3)
    for seed in (3, 4):
        make_run(sweep / f"seed-{seed}", [0.5, 0.6], 10, "td", seed=seed)
    silent = make_run(tmp_path / "silent", [], 10, "ddqn", seed=0)
    found = curves_by_label((sweep, silent), "greedy", "episodes")
    assert {label: len(curves) for label, curves in found.items()} == {"td": 2}
    said = capsys.readouterr().out
    assert f"left out: {sweep / 'seed-5'} holds no curve" in said
    assert f"left out: {silent} holds no curve" in said
    with refused("'greedy'"):
        curves_by_label((silent,), "greedy", "episodes")


def test_bad_runs_are_refused(tmp_path):
    with refused(tmp_path):
        curves((tmp_path,), tmp_path / "curves")
    with pytest.raises(ValueError, match="there are no runs"):
        curves((), tmp_path / "curves")


def test_curves_of_exploitability(tmp_path):
    """Against a best response the curve is exploitability, in points, on logarithmic axes."""
    runs = write_run(tmp_path / "runs", "td", seeds=2)
    for seed in range(2):
        with SummaryWriter(str(write_run(runs / f"seed-{seed}", "td"))) as writer:
            for episodes, value in ((1_000, 0.9), (2_000, 0.4 + seed / 10)):
                log(writer, with_band("strength/exploitability", value, value, value), episodes)
    figure = draw_curves(curves_by_label([runs], "best-response", "episodes"), "best-response", "episodes")
    (axes,) = figure.axes
    assert axes.get_ylabel() == "exploitability, points a deal"
    assert axes.lines[0].get_ydata() == pytest.approx([0.9, 0.45])
    assert (axes.get_xscale(), axes.get_yscale(), len(axes.lines)) == ("log", "log", 1)
    with refused("'greedy'"):
        curves_by_label([runs], "greedy", "episodes")
