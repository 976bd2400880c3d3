from __future__ import annotations

import math

import numpy as np
import pytest

from proband.experiments import EXPERIMENTS, Slope, TidyTable, fit_slope, run, slopes, summarise
from proband.experiments.summary import along, compare, sweeps


def test_mean_spread_and_error_are_those_of_the_final_regrets(swept: TidyTable) -> None:
    [found] = [s for s in summarise(swept) if s.agent == "doubling" and s.point == swept.points()[0]]
    final = swept.final().where({**swept.points()[0], "agent": "doubling"})["pseudo_regret"]
    assert found.replications == 20
    assert found.mean == pytest.approx(final.mean())
    assert found.sd == pytest.approx(final.std(ddof=1))
    assert found.error == pytest.approx(final.std(ddof=1) / math.sqrt(20))
    assert "doubling" not in found.ratios


def test_ratios_are_paired() -> None:
    regret, baseline = np.array([1.0, 2.0, 6.0]), np.array([2.0, 4.0, 3.0])
    ratio = compare(regret, baseline)
    assert ratio.ratio == 1
    assert ratio.median == 0.5
    assert ratio.spread == pytest.approx(np.std([0.5, 0.5, 2], ddof=1))
    assert ratio.wins == 2
    assert ratio.error == pytest.approx(math.sqrt(2 / 3 * np.sum((np.array([8 / 7, 7 / 5, 3 / 6]) - 71 / 70) ** 2)))


def test_one_replication_and_no_regret_have_no_spread() -> None:
    assert math.isnan(compare(np.array([1.0]), np.array([2.0])).spread)
    nothing = compare(np.array([1.0, 1.0]), np.array([0.0, 1.0]))
    assert nothing.ratio == 2
    assert math.isnan(nothing.spread)
    assert math.isnan(nothing.median)
    assert str(fit_slope([1, 2], np.array([[1.0, 2.0]]))) == "1.000"


def test_a_power_law_has_its_slope_and_an_exact_one_no_error() -> None:
    x = np.array([2.0, 5.0, 11.0])
    slope = fit_slope(x, np.array([x**0.7, 3 * x**0.7]))
    assert slope.slope == pytest.approx(0.7)
    assert slope.error == pytest.approx(0, abs=1e-12)


def test_a_slope_is_written_with_a_true_minus_sign() -> None:
    assert str(Slope(-0.5, 0.01)) == "−0.500 ± 0.010"


def test_slopes_need_positive_regrets() -> None:
    assert math.isnan(fit_slope([1, 2], np.zeros((2, 2))).slope)


def test_sweeps_are_found_in_the_table(swept: TidyTable) -> None:
    assert sweeps(swept) == ["m", "horizon"]
    assert [point["m"] for point in along(swept, "m")] == [0.5, 1, 4]
    assert {point["m"] for point in along(swept, "horizon")} == {1.0}


def test_explore_then_commit_grows_like_the_two_thirds_power_of_t(swept: TidyTable) -> None:
    slope = slopes(swept)["horizon"]["explore-then-commit"]
    assert abs(slope.slope - 0.655) < 0.03 + 3 * slope.error


def test_explore_then_commit_grows_like_the_cube_root_of_the_support(tmp_path_factory: pytest.TempPathFactory) -> None:
    experiment = EXPERIMENTS["lower-bound-many"].changed(
        horizon=2**16, replications=10, agents=["explore-then-commit"], settings={"horizon": "2^16"}
    )
    table = run(experiment, tmp_path_factory.mktemp("many"))
    slope: Slope = slopes(table)["size"]["explore-then-commit"]
    assert abs(slope.slope - 0.36) < 0.06 + 3 * slope.error


def test_naive_statistics_are_worse_than_none_and_the_likelihood_is_better(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    experiment = EXPERIMENTS["missing-data"].changed(
        horizon=2**18, replications=3, settings={"d": "8", "explore": "1024"}
    )
    found = {
        s.agent: s
        for s in summarise(run(experiment, tmp_path_factory.mktemp("missing")), baselines=experiment.baselines)
    }
    assert found["complete-case-pooling"].ratios["ignore-commit-data"].ratio > 1.5
    assert found["available-case"].ratios["ignore-commit-data"].ratio > 1.5
    assert found["likelihood"].ratios["ignore-commit-data"].ratio < 1
