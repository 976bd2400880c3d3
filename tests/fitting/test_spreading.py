"""Folds are worked on by threads, processes, joblib and Dask alike, and the value is the same."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import proband
from proband import Problem, Records, Test
from proband.cluster import connected
from proband.errors import PlanError, ServiceError
from proband.fitting.spreading import spread
from proband.rewards import Table

TESTS = [Test("scale", 0.05), Test("gauge", 0.1), Test("magnet", 0.3), Test("crack", 2.0)]
PROBLEM = Problem(TESTS, ["pass", "fail"], Table(["crack"], [[1.0, 0.0], [-9.0, 0.0]]))
CRACKED = np.random.default_rng(1).random(90) < 0.3
WRONG = np.random.default_rng(2).random((90, 4)) < [0.4, 0.25, 0.1, 0.0]
ROWS = Records((CRACKED[:, None] ^ WRONG).astype(float))


def value(jobs: Any) -> Any:
    heard: list[int] = []
    found = proband.fit(PROBLEM, ROWS, folds=3, strength=0.3, jobs=jobs, progress=lambda each: heard.append(each.done))
    assert heard == [1, 2, 3, 4, 5, 6]
    return found.validation


@pytest.fixture(scope="module")
def alone() -> Any:
    return value(1)


def test_threads(alone: Any) -> None:
    with ThreadPoolExecutor(2) as threads:
        assert value(2) == value(threads) == alone


def test_joblib(alone: Any) -> None:
    joblib = pytest.importorskip("joblib")
    from joblib.externals.loky import get_reusable_executor

    assert value(joblib.Parallel(2)) == alone
    get_reusable_executor().shutdown(kill_workers=True)


@pytest.mark.slow
def test_joblib_by_other_ways(alone: Any) -> None:
    joblib = pytest.importorskip("joblib")
    from joblib.externals.loky import get_reusable_executor

    assert value(joblib.Parallel(2, return_as="generator")) == alone
    processes = get_reusable_executor(2)
    assert value(processes) == alone
    processes.shutdown(kill_workers=True)


@pytest.fixture
def cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as made:
        yield made


def test_dask(alone: Any, cluster: Any) -> None:
    import distributed

    address = cluster.scheduler_address
    assert value(address) == alone
    with distributed.Client(address, set_as_default=False) as client:
        assert value(client) == alone
        assert value(client.get_executor()) == alone


@pytest.mark.parametrize("jobs", [0, -1, 1.5, None, True])
def test_what_cannot_work_is_refused(jobs: Any) -> None:
    with pytest.raises(PlanError, match=rf"jobs is {jobs}; it is a number of threads .1 or more., an executor"):
        value(jobs)


def test_an_address_without_a_cluster_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connected.__kwdefaults__, "seconds", 0.2)
    with pytest.raises(ServiceError, match=r"no cluster answers at 'tcp://127\.0\.0\.1:9'"):
        value("tcp://127.0.0.1:9")


def test_threads_leave_products_of_matrices_one_core_each() -> None:
    threadpoolctl = pytest.importorskip("threadpoolctl")
    with spread(2):
        assert {each["num_threads"] for each in threadpoolctl.threadpool_info() if each["user_api"] == "blas"} == {1}
