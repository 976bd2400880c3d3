"""Two searches side by side: as exact as one, the same whenever the work is the same, and gone when stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
import pytest
from tests.planners.sparse_cases import instance, policy_value, random_case, reference_value, synth
from tests.planners.test_sparse_limits import alike

from proband.planners.sparse import Limits, pair, solve_support


@pytest.mark.parametrize("seed", range(60))
def test_two_equal_plain_recursion(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    arrays, options = random_case(rng)
    options["penalty"] = float(rng.choice([0.0, 0.01]))
    monkeypatch.setattr(pair, "FIRST_MEETING", 2e3)  # they meet often
    made = solve_support(*arrays, **options, limits=Limits(cores=2))
    truth = reference_value(*arrays, **options)
    assert made.status == "optimal"
    assert made.penalised == pytest.approx(truth, abs=1e-9)
    assert truth - 1e-12 <= made.bound <= truth + 1e-7
    assert policy_value(made, *arrays, **options) == pytest.approx(made.penalised, abs=1e-9)


class Last:
    """A machine on which the other thread has its turn when it is waited for."""

    def __init__(self, workers: int) -> None:
        assert workers == 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        return None

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return SimpleNamespace(result=lambda: function(*arguments))


class First(Last):
    """A machine on which the other thread has its turn at once."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        found = function(*arguments)
        return SimpleNamespace(result=lambda: found)


@pytest.mark.parametrize("work", [1, 3e6, 3e7])
def test_with_a_limit_on_work_two_do_the_same_under_any_load(work: float, monkeypatch: pytest.MonkeyPatch) -> None:
    args, limits = instance(*synth(2, 400, 16), 0.01), Limits(work=work, cores=2)
    monkeypatch.setattr(pair, "FIRST_MEETING", 1e6)
    plain = solve_support(*args, limits=limits)
    assert plain.status == "work"
    for order in (First, Last):
        with monkeypatch.context() as patch:
            patch.setattr(pair, "ThreadPoolExecutor", order)
            assert alike(plain, solve_support(*args, limits=limits))
    assert plain.value <= plain.bound
    assert policy_value(plain, *args) == pytest.approx(plain.value, abs=1e-12)
    warm = solve_support(*args, limits=Limits(work=1, cores=2), warm=plain)
    assert warm.value >= plain.value - 1e-12


def test_stopped_from_outside_both_end() -> None:
    args, before = instance(*synth(2, 400, 16), 0.01), threading.active_count()

    def interrupt(progress: object) -> None:
        raise KeyboardInterrupt

    made = solve_support(*args, limits=Limits(cores=2), progress=interrupt)
    assert made.status == "interrupted"
    assert made.value < made.bound
    assert solve_support(*args, limits=Limits(cores=2), progress=lambda progress: False).status == "interrupted"
    assert solve_support(*args, limits=Limits(cores=2, memory=3e6)).status == "memory"
    assert threading.active_count() == before


def test_a_search_runs_on_one_core_or_two() -> None:
    with pytest.raises(ValueError, match="cores is 3; a search runs on 1 or on 2"):
        Limits(cores=3)
