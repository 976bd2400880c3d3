"""Boosted trees: what a round does by hand, what they learn, and that a grid says what rows say."""

from __future__ import annotations

import numpy as np
import pytest

from proband.errors import DistributionError
from proband.estimators.listed.boosting import Boosting, boost

ONE_TREE = Boosting(models=1, leaves=2, rate=1.0, rounds=1, least=1.0, held_out=0.0)


def test_one_split_is_the_newton_step_of_its_leaves() -> None:
    rows, labels = np.array([[0]] * 4 + [[1]] * 4), np.array([0, 0, 0, 1, 1, 1, 1, 0])
    model = boost(rows, labels, np.array([2]), 2, settings=ONE_TREE)
    # At p = 1/2 a leaf of four with three on one side has g = 1 and h = 1: it adds 1 / (1 + ridge).
    expected = 1 / (1 + np.exp(-np.array([-0.5, 0.5])))
    assert model.chances(np.array([[0], [1]]))[:, 1] == pytest.approx(expected)


def test_outcomes_are_parted_in_any_two_whatever_their_order() -> None:
    rows = np.repeat(np.arange(4), 50)[:, None]
    labels = np.isin(rows[:, 0], (0, 2)).astype(np.int64)
    [low, high] = np.unique(boost(rows, labels, np.array([4]), 2, settings=ONE_TREE).chances(rows)[:, 1])
    assert low < 0.2
    assert high > 0.8


def test_labels_that_depend_on_two_tests_together_are_learned() -> None:
    rng = np.random.default_rng(1)
    rows = rng.integers(3, size=(2000, 4))
    labels = np.where(rng.random(2000) < 0.1, rng.integers(3, size=2000), (rows[:, 0] + rows[:, 1]) % 3)
    model = boost(rows, labels, np.full(4, 3), 3, settings=Boosting(rounds=200))
    assert (model.chances(rows).argmax(axis=1) == (rows[:, 0] + rows[:, 1]) % 3).all()


def test_pure_noise_ends_early_near_the_shares() -> None:
    rng = np.random.default_rng(2)
    rows, labels = rng.integers(2, size=(1000, 5)), (rng.random(1000) < 0.3).astype(np.int64)
    assert boost(rows, labels, np.full(5, 2), 2).chances(rows)[:, 1] == pytest.approx(0.3, abs=0.12)


@pytest.mark.parametrize("n_labels", [2, 3])
def test_the_grid_says_what_rows_say(n_labels: int) -> None:
    rng = np.random.default_rng(3)
    k = np.array([2, 3, 4])
    rows = np.column_stack([rng.integers(size, size=300) for size in k])
    model = boost(rows, rng.integers(n_labels, size=300), k, n_labels, settings=Boosting(rounds=30, patience=30))
    cells = np.stack(np.unravel_index(np.arange(24), k), axis=1)
    assert model.on_grid() == pytest.approx(model.chances(cells))
    assert model.on_grid().sum(axis=1) == pytest.approx(1.0)


def test_weights_are_numbers_of_subjects() -> None:
    rows, labels = np.array([[0], [0], [1], [1]]), np.array([0, 1, 0, 1])
    weights = np.array([30.0, 10.0, 5.0, 20.0])
    times = weights.astype(np.int64)
    settings = Boosting(models=1, leaves=2, rounds=20, patience=20, least=1.0, held_out=0.0)
    weighted = boost(rows, labels, np.array([2]), 2, weights=weights, settings=settings)
    repeated = boost(np.repeat(rows, times, axis=0), np.repeat(labels, times), np.array([2]), 2, settings=settings)
    assert weighted.chances(rows) == pytest.approx(repeated.chances(rows))


def test_few_rows_and_one_label_do_no_harm() -> None:
    assert boost(np.zeros((1, 2), dtype=np.int64), np.array([1]), np.array([2, 2]), 2).chances(
        np.array([[0, 1]])
    ).sum() == pytest.approx(1.0)


def test_too_many_outcomes_are_refused() -> None:
    with pytest.raises(DistributionError, match="65 outcomes; trees part at most 64"):
        boost(np.array([[64]]), np.array([0]), np.array([65]), 2)
