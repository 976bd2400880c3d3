"""A limit on work: the same search on any machine and under any load, whoever looks on."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from tests.planners.sparse_cases import instance, policy_value, synth

from proband.planners.sparse import Limits, SupportPlan, solve_support

TREE = ("roots", "node_test", "node_column", "children")
COUNTS = ("value", "bound", "status", "expansions", "states", "memory", "work")


def alike(one: SupportPlan, other: SupportPlan) -> bool:
    """Whether two searches did the same, bit for bit."""
    trees = all(np.array_equal(getattr(one, name), getattr(other, name)) for name in TREE)
    return trees and all(getattr(one, name) == getattr(other, name) for name in COUNTS)


@pytest.mark.parametrize("work", [1, 1e5, 3e6, 3e7, 6e7])
def test_work_decides_and_never_the_clock(work: float, monkeypatch: pytest.MonkeyPatch) -> None:
    args = instance(*synth(2, 400, 16), 0.01)
    limits = Limits(work=work)
    plain = solve_support(*args, limits=limits)
    assert plain.status == "work"
    assert plain.value <= plain.bound
    assert policy_value(plain, *args) == pytest.approx(plain.value, abs=1e-12)
    ticks = itertools.count()
    with monkeypatch.context() as patch:
        patch.setattr(time, "perf_counter", lambda: 3.0 * next(ticks))  # a machine on which everything takes ages
        slow = solve_support(*args, limits=limits)
    watched = solve_support(*args, limits=limits, progress=lambda progress: None)
    assert alike(plain, slow)
    assert alike(plain, watched)


def test_states_and_memory_end_a_search_at_the_same_place(monkeypatch: pytest.MonkeyPatch) -> None:
    args = instance(*synth(2, 300, 14), 0.01)
    for limits in (Limits(states=2000), Limits(memory=3e6)):
        plain = solve_support(*args, limits=limits)
        ticks = itertools.count()
        with monkeypatch.context() as patch:
            patch.setattr(time, "perf_counter", lambda ticks=ticks: 3.0 * next(ticks))
            assert alike(plain, solve_support(*args, limits=limits))


def test_more_work_never_makes_a_search_worse() -> None:
    args = instance(*synth(5, 300, 14), 0.01)
    found = [solve_support(*args, limits=Limits(work=work)) for work in (1e5, 1e6, 1e7, 1e8)]
    for less, more in itertools.pairwise(found):
        assert more.value >= less.value - 1e-12
        assert more.bound <= less.bound + 1e-12


@pytest.mark.parametrize("shape", ["packed", "dense", "max", "outcomes"])
def test_the_limit_is_kept_to_an_expansion(shape: str) -> None:
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 4 if shape == "outcomes" else 2, size=(200, 12))
    weight = np.full(200, 1 / 200) if shape == "packed" else rng.uniform(0.5, 1.5, size=200) / 200
    stakes = weight[:, None] if shape == "max" else weight[:, None] * np.eye(2)[rng.integers(0, 2, size=200)]
    options: dict = {"kind": "max"} if shape == "max" else {}

    def run() -> SupportPlan:
        return solve_support(codes, weight, stakes, np.full(12, 0.005), limits=Limits(work=1e6), **options)

    one = run()
    assert one.status == "work"
    assert 1e6 <= one.work <= 2e6
    assert alike(one, run())
