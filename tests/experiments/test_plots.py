from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from proband.experiments import EXPERIMENTS, Experiment, TidyTable, read_table, run
from proband.experiments.plots import plot, written
from proband.figures import Curve, Words, draw_regret, draw_sweep
from proband.figures.regret import _apart


def test_regret_and_every_sweep_are_drawn(swept: TidyTable, tmp_path: Path) -> None:
    paths = plot(swept, EXPERIMENTS["lower-bound-single"], tmp_path / "new", stem="s-")
    assert [path.name for path in paths] == ["s-regret.png", "s-by-m.png", "s-by-horizon.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)


@pytest.mark.parametrize("measure", ["pseudo_regret", "realised_regret"])
def test_a_table_read_from_disk_is_enough(folder: Path, tmp_path: Path, small: Experiment, measure: str) -> None:
    [path] = plot(read_table(folder), small, tmp_path, measure=measure)
    assert path.stat().st_size > 10_000


def test_one_replication_of_one_agent_can_be_drawn(tmp_path: Path) -> None:
    experiment = EXPERIMENTS["easy"].changed(horizon=32, replications=1, agents=["greedy"])
    [path] = plot(run(experiment, tmp_path), experiment, tmp_path)
    assert path.exists()


def test_the_legend_names_agents_and_slopes() -> None:
    x = np.array([64.0, 256.0, 1024.0])
    curves = [Curve("explore-then-commit", x, x**0.6, x**0.5, "0.600"), Curve("doubling", x, x**0.7, x**0.5, "0.700")]
    for draw in (draw_regret, draw_sweep):
        figure = draw(curves, curves, Words("Title", "below", "explore-then-commit", "x"))
        [legend] = [axes.get_legend() for axes in figure.axes if axes.get_legend()]
        assert [text.get_text() for text in legend.get_texts()] == [
            "explore-then-commit, knows T (slope 0.600)",
            "doubling (slope 0.700)",
        ]
        assert [text.get_text() for text in figure.texts] == ["Title", "below"]


@pytest.mark.parametrize(("power", "mark"), [(0.5, "200"), (1.0, r"$\mathdefault{10^{3}}$")])
def test_a_short_scale_is_marked_by_numbers_and_not_by_powers_of_ten_alone(power: float, mark: str) -> None:
    x = np.array([64.0, 256.0, 4096.0])
    curve = Curve("greedy", x, 8 * x**power, x**0.1, "0.5")
    figure = draw_sweep([curve], [curve], Words("Title", "", "doubling", "x"))
    figure.draw_without_rendering()
    assert mark in [text.get_text() for text in figure.axes[0].get_yticklabels(which="both")]


def test_labels_keep_their_order_and_their_distance() -> None:
    placed = _apart([0.5, 0.01, 0.02, 0.0], gap=0.1)
    assert np.argsort(placed).tolist() == [3, 1, 2, 0]
    assert np.diff(sorted(placed)).min() > 0.099
    assert min(placed) >= 0
    many = _apart([0.0] * 13 + [0.9], gap=0.1)  # more than fit: as far apart as the panel is high
    assert np.diff(sorted(many)).min() > 0.9 / 13
    assert 0 <= min(many) < max(many) <= 1


def test_values_are_written_for_people() -> None:
    shown = [written(each) for each in (2**20, 0.05, 1000, 200_000, "uniform", "1.4-2.4", 8.0)]
    assert shown == ["2²⁰", "0.05", "1,000", "200,000", "uniform", "1.4–2.4", "8"]
