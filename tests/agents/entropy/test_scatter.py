"""Scatter matrices, against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from proband.agents.entropy.learning.scatter import Scatter


@pytest.fixture
def rows(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(40, 5)) @ rng.normal(size=(5, 5)) + rng.normal(scale=100, size=5)


def expected(rows: np.ndarray, mean: np.ndarray | None) -> np.ndarray:
    centred = rows - (rows.mean(axis=0) if mean is None else mean)
    return np.asarray(centred.T @ centred)


@pytest.mark.parametrize("known", [True, False])
def test_rows_may_come_in_parts(rows: np.ndarray, known: bool) -> None:
    mean = rows[0] if known else None
    whole, parts = Scatter([0, 2, 3], mean), Scatter([0, 2, 3], mean)
    whole.add(rows)
    for part in np.split(rows, [1, 7, 30]):
        parts.add(part)
    right = expected(rows, mean)[np.ix_([0, 2, 3], [0, 2, 3])]
    assert whole.matrix == pytest.approx(right)
    assert parts.matrix == pytest.approx(right)
    assert (parts.n, parts.degrees) == (40, 40 if known else 39)


@pytest.mark.parametrize("known", [True, False])
def test_scatters_of_other_rounds_merge(rows: np.ndarray, known: bool) -> None:
    mean = rows[0] if known else None
    small, large = Scatter([1, 4], mean), Scatter([0, 1, 3, 4], mean)
    small.add(rows[:10])
    large.add(rows[10:])
    assert large.restrict([1, 4]).matrix == pytest.approx(expected(rows[10:], mean)[np.ix_([1, 4], [1, 4])])
    small.merge(large)
    assert small.matrix == pytest.approx(expected(rows, mean)[np.ix_([1, 4], [1, 4])])
    assert small.degrees == (40 if known else 39)


def test_only_rounds_that_show_every_test_count(rows: np.ndarray) -> None:
    rows[3, 1] = rows[5, 2] = np.nan
    scatter = Scatter([1, 3])
    scatter.add(rows, np.full(40, 2))
    kept = np.repeat(np.delete(rows, 3, axis=0), 2, axis=0)
    assert scatter.matrix == pytest.approx(expected(kept, None)[np.ix_([1, 3], [1, 3])])
    assert scatter.n == 78


def test_nothing_added_is_nothing() -> None:
    scatter = Scatter([0, 1])
    scatter.add(np.full((3, 2), np.nan))
    scatter.merge(Scatter([0, 1]))
    assert (scatter.n, scatter.degrees) == (0, 0)
    assert not scatter.matrix.any()
