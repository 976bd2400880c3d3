"""A limit on work: the same search on any machine and under any load, whoever looks on."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.planners.sparse_cases import instance, policy_value, synth

from proband.planners.sparse import Limits, SupportPlan, driver, solve_support
from proband.planners.sparse.instance import distinct_rows
from proband.planners.sparse.memo import WORK

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


def test_the_clock_is_looked_at_after_every_stride(monkeypatch: pytest.MonkeyPatch) -> None:
    args = instance(*synth(2, 400, 16), 0.01)
    now, slices = [0.0], []

    def watched(slice_: Callable[..., int], place: int) -> Callable[..., int]:
        def run(*arguments: Any) -> int:
            assert now[0] < 1.0, "a slice began after the limit"
            memo, until = arguments[1], arguments[place]
            slices.append(until - int(memo.size[WORK]))
            now[0] += 0.01
            return slice_(*arguments)

        return run

    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(driver, "search_slice", watched(driver.search_slice, 4))
    monkeypatch.setattr(driver, "beam_slice", watched(driver.beam_slice, 4))
    made = solve_support(*args, limits=Limits(seconds=1.0, node_seconds=0.0))
    assert made.status == "time"
    assert len(slices) >= 99
    assert max(slices) <= driver.STRIDE


def test_time_is_kept_for_what_is_made_of_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    args, now = instance(*synth(2, 400, 16), 0.01), [0.0]
    plain = driver.search_slice

    def slow(*arguments: Any) -> int:
        now[0] += 0.01
        return int(plain(*arguments))

    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(driver, "search_slice", slow)
    made = solve_support(*args, limits=Limits(seconds=1.0, node_seconds=0.002))
    assert made.status == "time"
    assert now[0] <= 1.0 - 0.002 * 0.8 * made.node_test.size + 0.02  # the tree may have grown since it was counted


@pytest.mark.parametrize("largest", [1, 5, 255, 256, 70000])
def test_distinct_rows_are_those_of_a_sort(largest: int) -> None:
    rng = np.random.default_rng(largest)
    codes = rng.integers(0, 2, size=(300, 5)) * rng.integers(0, largest + 1, size=5)
    rows, inverse = np.unique(codes, axis=0, return_inverse=True)
    first, number = distinct_rows(codes)
    assert np.array_equal(codes[first], rows)
    assert np.array_equal(number, inverse.reshape(-1))
    assert distinct_rows(codes[:, :0])[0].tolist() == [0]
