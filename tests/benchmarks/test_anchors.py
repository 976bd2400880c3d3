"""Counting acquisitions, and what CUBE's model believes, on examples small enough to check."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.anchors import cube, heart, syn
from benchmarks.anchors.__main__ import with_earlier

import proband
from proband.instances.published import cube_nm


def test_features_are_taken_by_value_until_all_that_is_needed_is_held() -> None:
    # y is x1 for certain if x2 is 0, and x3 otherwise; x4 tells nothing.
    k = np.array([2, 2, 2, 2])
    cells = np.stack(np.unravel_index(np.arange(16), k), axis=1)
    yes = np.where(cells[:, 1] == 0, cells[:, 0], cells[:, 2]) * 0.98 + 0.01
    rng = np.random.default_rng(0)
    law = syn.law_of(rng.random((4000, 4)), [np.array([0.5])] * 4, k, np.column_stack([1 - yes, yes]))
    plan = proband.plan(syn.problem_of(k), law, method="dense")
    needed = np.ones((16, 4), dtype=bool)
    needed[:, 3] = False
    needed[cells[:, 1] == 0, 2] = needed[cells[:, 1] == 1, 0] = False
    counts = syn.acquisitions(plan, cells, needed)
    assert set(counts.tolist()) <= {2, 3}
    assert counts.mean() == pytest.approx(2.0, abs=0.51)  # two are the least; which of x1 and x3 comes first is open


def test_means_that_do_not_differ_are_drawn_together_and_others_stay() -> None:
    rng = np.random.default_rng(1)
    truth = np.zeros((8, 200))
    truth[:, :20] = rng.choice([-0.5, 0.5], size=(8, 20))
    error = np.full(truth.shape, 0.08)
    found = cube.shrunk(truth + rng.normal(size=truth.shape) * error, error, np.ones((8, 1), dtype=bool))
    assert np.abs(found[:, 20:]).mean() < 0.01
    assert np.abs(found[:, :20] - truth[:, :20]).mean() < 0.09


def test_beliefs_are_bayes_rule() -> None:
    model = cube.known("CUBE")
    rows = np.full((1, 20), 0.5)
    rows[0, 3:6] = [1.0, 1.0, 0.0]  # the code of 3
    belief = model.log_shares + sum(model.told(test, rows) for test in range(model.tests))
    chances = model.of_classes(belief)
    gaps = np.array([((rows - mean) ** 2).sum() / 0.09 for mean in model.means])
    expected = np.exp(-gaps / 2)
    assert chances[0] == pytest.approx(expected / expected.sum())
    assert chances.argmax() == 3


def one_of_two() -> cube.Model:
    """Return a model in which two tests tell the class together, nothing alone, and a third one a little."""
    cells = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
    means = np.column_stack([cells, [0.0, 0.5, 0.5, 0.0]])
    sigma, alike = np.array([0.05, 0.05, 0.5]), np.log(np.full(4, 0.25))
    return cube.Model(alike, np.array([0, 1, 1, 0]), means, sigma, np.arange(3))


def test_the_last_two_are_planned_together() -> None:
    looking, belief, taken = cube.Looking(one_of_two()), np.log(np.full((1, 4), 0.25)), np.zeros((1, 3), dtype=bool)
    assert looking.best(belief, taken, cube.right) == 2
    assert looking.best_before_last(belief, taken) in (0, 1)
    rows, labels = one_of_two().draw(np.random.default_rng(0), 200)
    alone, together = (cube.follow(looking, rows, (2,), pairs=pairs)[0] for pairs in (None, looking))
    assert (together.argmax(axis=1) == labels).mean() > 0.99
    assert (alone.argmax(axis=1) == labels).mean() < 0.9


def test_a_frugal_tree_stops_where_it_has_a_way_out() -> None:
    columns = {
        "thal": ["rd", "normal", "normal", "normal"], "cp": ["a", "np", "a", "a"], "ca": ["0", "0", "1.0", "0"],
        "diagnosis": ["sick", "healthy", "healthy", "healthy"],
    }  # fmt: skip
    each = heart.frugal(columns)
    np.testing.assert_allclose(each, [[1, 102.9, 1], [1, 103.9, 2], [0, 204.8, 3], [1, 204.8, 3]])
    np.testing.assert_allclose(heart.lost(each, 100.0), [102.9, 103.9, 304.8, 204.8])
    assert heart.summary(each)["right"] == 3


@pytest.mark.slow
def test_the_kinds_of_a_bundle_are_found() -> None:
    subjects = cube_nm(np.random.default_rng(2), 200)
    sklearn = pytest.importorskip("sklearn")
    assert sklearn
    found = cube.clusters(subjects.features[:, :5], 0)
    context = subjects.features[:, :5].argmax(axis=1)
    assert len({(int(a), int(b)) for a, b in zip(found, context, strict=True)}) == 5


def test_what_is_not_measured_again_stays_as_it_was_found(tmp_path: Path) -> None:
    kept, page = tmp_path / "kept", tmp_path / "anchors.json"
    kept.mkdir()
    page.write_text(json.dumps({"cube-a": {"found": 1}, "cube-b": {"found": 2}, "syn-a": {"found": 3}}))
    (kept / "cube-c.json").write_text(json.dumps({"found": 4}))
    assert with_earlier(page, kept) == {"cube-c": {"found": 4}, "syn-a": {"found": 3}}
    assert json.loads(page.read_text()) == {"cube-c": {"found": 4}, "syn-a": {"found": 3}}
