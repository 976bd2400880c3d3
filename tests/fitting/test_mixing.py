"""Which model counts: the one that subjects speak for that it has not seen."""

from __future__ import annotations

import numpy as np
import pytest

from proband.fitting.mixing import FEW, likeliest, mixture, weights_of
from proband.fitting.models import BELIEFS, Taught
from proband.vocabulary import IntArray

K = np.array([3, 3, 2])


def taught(n: int, *, together: bool) -> Taught:
    """Subjects whose label depends on two tests together, or on each of them by itself."""
    rng = np.random.default_rng(5)
    rows = np.column_stack([rng.integers(k, size=n) for k in K])
    score = 2.0 * ((rows[:, 0] == rows[:, 1]) - 0.5) if together else 0.8 * (rows[:, 0] - rows[:, 1])
    labels = (rng.random(n) < 1 / (1 + np.exp(-3 * score))).astype(np.int64)
    return Taught(rows, labels, np.ones(n), K, 2, np.arange(n))


def test_models_that_know_what_tests_do_together_count_where_they_do() -> None:
    naive, augmented, logistic, stumps, trees = weights_of(taught(600, together=True))
    assert augmented + trees > 0.85
    assert max(naive, logistic, stumps) < 0.1
    assert weights_of(taught(600, together=False))[[0, 2, 3]].sum() > 0.4


def test_few_subjects_leave_all_models_alike() -> None:
    assert weights_of(taught(FEW - 1, together=True)) == pytest.approx(1 / len(BELIEFS))


def test_the_weights_make_what_was_seen_likeliest() -> None:
    rng = np.random.default_rng(6)
    told = rng.uniform(0.05, 0.95, size=(3, 500))
    found = likeliest(told, np.ones(500))

    def loss(weights: np.ndarray) -> float:
        return float(-np.log(weights @ told).sum() - 2 * np.log(weights).sum())

    nearby = [found + step for step in 0.02 * (np.eye(3) - 1 / 3)]
    assert all(loss(found) < loss(other) for other in nearby)


def test_the_parts_of_a_subject_stay_together() -> None:
    seen: list[tuple[set[int], set[int]]] = []
    subjects = np.repeat(np.arange(50), 4)
    rows = np.column_stack([subjects, np.zeros(200, dtype=np.int64)])

    def spy(part: Taught):  # type: ignore[no-untyped-def]
        def chances(features: IntArray) -> np.ndarray:
            seen.append((set(part.features[:, 0].tolist()), set(features[:, 0].tolist())))
            return np.full((len(features), 2), 0.5)

        return chances

    weights_of(Taught(rows, subjects % 2, np.ones(200), np.array([50, 1]), 2, subjects), [spy])
    assert len(seen) == 4
    assert all(not (learned & asked) for learned, asked in seen)


def test_a_mixture_is_a_law_with_a_floor_under_every_label() -> None:
    chances = mixture(taught(200, together=True), floor=0.1)(np.array([[0, 0, 0], [0, 1, 1]]))
    assert chances.sum(axis=1) == pytest.approx(1.0)
    assert chances.min() > 0.02
