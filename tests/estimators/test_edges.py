"""Edges of bins: quantiles, and where labels change."""

from __future__ import annotations

import numpy as np
import pytest

from proband.estimators.listed.edges import chosen_edges, outcomes_of, quantile_edges


def test_outcomes_count_the_edges_at_or_below() -> None:
    edges = [np.array([0.0, 1.0]), np.array([5.0])]
    made = outcomes_of(np.array([[-1.0, 5.0], [0.0, 4.9], [0.5, 9.0], [1.0, 0.0]]), edges)
    assert made.tolist() == [[0, 1], [1, 0], [1, 1], [2, 0]]


def test_an_edge_goes_where_labels_change_and_the_others_stay() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(3000, 2))
    yes = np.where(x[:, 0] < 0.13, 0.2, 0.9)
    labels = (rng.random(3000) < yes).astype(np.int64)
    edges = chosen_edges(x, labels, 2, bins=(2,))
    assert edges[0][0] == pytest.approx(0.13, abs=0.03)
    assert edges[1] == pytest.approx(quantile_edges(x, 2)[1])


def test_edges_stay_in_order() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(2000, 2))
    labels = ((x[:, 0] > -0.1) & (x[:, 0] < 0.1) | (rng.random(2000) < 0.1)).astype(np.int64)
    for own in chosen_edges(x, labels, 2, bins=(4,)):
        assert (np.diff(own) > 0).all()


def test_as_many_bins_are_taken_as_labels_ask_for() -> None:
    x = np.random.default_rng(5).normal(size=(1000, 1))
    middle = (np.abs(x[:, 0]) < 0.6745).astype(np.int64)
    assert len(chosen_edges(x, middle, 2, bins=(2, 4))[0]) == 3
