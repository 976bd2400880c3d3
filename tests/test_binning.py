from __future__ import annotations

import numpy as np
import pytest

from proband import Gaussian, Problem, Records, Test, evaluate, plan
from proband.binning import discretise, to_bins
from proband.errors import DistributionError, ProblemError, TooLargeError
from proband.instances import bolts, bolts_measured
from proband.policies import follow
from proband.rewards import Entropy

NAN = float("nan")
TESTS = [Test("length", 0.1, outcomes=None, unit="mm"), Test("width", 0.05, outcomes=None)]
AREA = Problem(TESTS, ["pass", "fail"], lambda x, y: (1 - y) * (x[:, 0] * x[:, 1] - 1.0))
LAW = Gaussian([1.0, 1.0], [[0.04, 0.01], [0.01, 0.04]])


def test_finer_bins_lose_less() -> None:
    losses = [discretise(AREA, LAW, bins=bins).loss for bins in (2, 4, 8, 16)]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.2 * losses[0]
    assert losses[-1] > -1e-12


def test_the_values_of_bins_are_those_of_measurements() -> None:
    binning = discretise(AREA, LAW, bins=8)
    best = plan(binning.problem, binning.distribution)
    rows = LAW.sample(np.random.default_rng(9), 100_000)
    episodes = follow(AREA, binning.policy(best), rows)
    earned = AREA.realised(rows, episodes.actions) - episodes.costs
    assert earned.mean() == pytest.approx(best.value, abs=4 * earned.std() / np.sqrt(len(rows)) + 2e-3)


def test_a_projection_keeps_its_limits_as_edges() -> None:
    instance = bolts_measured()
    binning = discretise(instance.problem, instance.distribution, bins=3)
    assert {800.0, 860.0, 1000.0} <= set(binning.edges[5].tolist())
    assert binning.problem.tests[3].group == "laboratory"
    assert "below 800 MPa" in binning.problem.tests[5].names
    exact = plan(instance.problem, instance.distribution)
    best = plan(binning.problem, binning.distribution)
    value = evaluate(instance.problem, instance.distribution, binning.policy(best))
    assert value.value <= exact.value + 4 * value.standard_error
    assert value.value >= exact.value - 0.25


def test_records_serve_as_well() -> None:
    rows = LAW.sample(np.random.default_rng(0), 5000)
    rows[:100, 1] = NAN
    binning = discretise(AREA, Records(rows), bins=4)
    assert binning.distribution.probabilities.sum() == pytest.approx(1)
    assert [len(cuts) for cuts in binning.edges] == [3, 3]


def test_ties_and_constants_make_fewer_bins() -> None:
    rows = np.column_stack([np.repeat([1.0, 2.0], 50), np.full(100, 3.0)])
    binning = discretise(AREA, Records(rows), bins=4)
    assert [test.k for test in binning.problem.tests] == [2, 1]


def test_missing_stays_missing() -> None:
    assert np.array_equal(
        to_bins(np.array([[NAN, 5.0]]), (np.array([1.0]), np.array([5.0]))), [[NAN, 1]], equal_nan=True
    )


def test_mistakes() -> None:
    with pytest.raises(ProblemError, match="2 or more"):
        discretise(AREA, LAW, bins=1)
    with pytest.raises(DistributionError, match="binning needs two or more"):
        discretise(AREA, Records([[1.0, NAN]]))
    with pytest.raises(ProblemError, match="list outcomes already"):
        discretise(bolts().problem, LAW)
    many = [Test(f"t{i}", 1.0, outcomes=None) for i in range(9)]
    wide = Problem(many, ["yes"], lambda x, y: x[:, 0])
    with pytest.raises(TooLargeError, match="take fewer bins"):
        discretise(wide, Gaussian(np.zeros(9), np.eye(9)), bins=8, subjects=1000)
    with pytest.raises(ProblemError, match="no single subject"):
        discretise(Problem(TESTS, ["stop"], Entropy()), LAW)
