from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from proband.experiments import EXPERIMENTS, Experiment, ExperimentError, play
from proband.experiments.cells import digest, draw, load, save


def test_every_agent_of_a_replication_meets_the_same_subjects(small: Experiment) -> None:
    cells = [cell for cell in small.cells(seed=5) if cell.replication == 1]
    draws = [draw(small, cell) for cell in cells]
    for other in draws[1:]:
        assert np.array_equal(draws[0].stream, other.stream)
        assert np.array_equal(draws[0].instance.distribution.probabilities, other.instance.distribution.probabilities)


def test_replications_and_seeds_draw_anew(small: Experiment) -> None:
    first, *_ = small.cells(seed=5)
    other_replication = dataclasses.replace(first, replication=1)
    other_seed = dataclasses.replace(first, seed=6)
    laws = [draw(small, cell).instance.distribution for cell in (first, other_replication, other_seed)]
    assert len({law.probabilities.tobytes() for law in laws}) == 3


def test_a_longer_stream_begins_with_the_shorter_one() -> None:
    experiment = EXPERIMENTS["horizon"].changed(horizon=2**12, replications=1, agents=["doubling"])
    long, short = (draw(experiment, cell) for cell in experiment.cells(seed=5))
    assert len(long.stream) > len(short.stream)
    assert np.array_equal(long.stream[: len(short.stream)], short.stream)


def test_other_costs_keep_the_law() -> None:
    experiment = EXPERIMENTS["paper-discrete"].changed(
        horizon=64, replications=1, agents=["doubling"], settings={"d": "3", "costs": "0.05,0.02,uniform"}
    )
    draws = [draw(experiment, cell).instance for cell in experiment.cells(seed=5)]
    assert len({each.distribution.probabilities.tobytes() for each in draws}) == 1
    assert [each.problem.tests[0].cost for each in draws[:2]] == [0.05, 0.02]
    assert len({test.cost for test in draws[2].problem.tests}) == 3


def test_points_do_not_depend_on_which_others_are_run() -> None:
    both = EXPERIMENTS["lower-bound-many"].changed(horizon=64, replications=1, settings={"size": "8,16"})
    alone = EXPERIMENTS["lower-bound-many"].changed(horizon=64, replications=1, settings={"size": "16"})
    names = {digest(cell) for cell in both.cells(seed=5)}
    assert {digest(cell) for cell in alone.cells(seed=5)} <= names


def test_signs_alternate_between_replications_of_the_lower_bound() -> None:
    experiment = EXPERIMENTS["lower-bound-single"].changed(
        horizon=1000, replications=2, agents=["doubling"], settings={"m": "1", "horizon": "1000"}
    )
    zero = [draw(experiment, cell).instance.distribution.probabilities[0] for cell in experiment.cells(seed=5)]
    assert zero == pytest.approx([0.55, 0.45])


def test_a_result_is_kept_and_found_again(small: Experiment, tmp_path: Path) -> None:
    cell, other, *_ = small.cells(seed=5)
    outcome = play(small, cell)
    save(tmp_path, cell, outcome)
    assert load(tmp_path, cell) == outcome
    assert load(tmp_path, other) is None
    assert [path.name for path in tmp_path.iterdir()] == [f"{digest(cell)}.json"]


@pytest.mark.parametrize("text", ["", "{", '{"cell": {}}', "[]"])
def test_a_broken_file_is_no_result(small: Experiment, tmp_path: Path, text: str) -> None:
    cell = small.cells(seed=5)[0]
    (tmp_path / f"{digest(cell)}.json").write_text(text)
    assert load(tmp_path, cell) is None


def test_a_result_of_other_settings_is_not_taken(small: Experiment, tmp_path: Path) -> None:
    cell = small.cells(seed=5)[0]
    save(tmp_path, cell, play(small, cell))
    path = tmp_path / f"{digest(cell)}.json"
    content = json.loads(path.read_text())
    content["cell"]["seed"] = 6
    path.write_text(json.dumps(content))
    assert load(tmp_path, cell) is None


def test_a_worker_with_other_code_refuses(small: Experiment) -> None:
    with pytest.raises(ExperimentError, match="deadbeef"):
        play(small, small.cells(seed=5)[0], "deadbeef")
