from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from proband.errors import MissingExtraError
from proband.experiments import EXPERIMENTS, Experiment, ExperimentError, executors, on_cluster, run

distributed = pytest.importorskip("distributed")


@pytest.fixture
def local() -> Iterator[object]:
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as made:
        yield made


@pytest.fixture
def experiment() -> Experiment:
    return EXPERIMENTS["easy"].changed(horizon=1024, replications=8, agents=["explore-then-commit", "leaf-completion"])


def test_a_worker_is_killed_and_nothing_is_lost(local: object, experiment: Experiment, tmp_path: Path) -> None:
    pids = [worker.pid for worker in local.workers.values()]  # type: ignore[attr-defined]
    assert len(set(pids)) == 2
    killed: list[int] = []

    def kill_half_way(done: int, total: int) -> None:
        if done == total // 2 and not killed:
            os.kill(pids[0], signal.SIGKILL)
            killed.append(pids[0])

    address = local.scheduler_address  # type: ignore[attr-defined]
    run(experiment, tmp_path / "cluster", executor=on_cluster(address), how="on a cluster", progress=kill_half_way)
    run(experiment, tmp_path / "here")
    assert killed
    assert (tmp_path / "cluster" / "table.csv").read_bytes() == (tmp_path / "here" / "table.csv").read_bytes()
    assert len(list((tmp_path / "cluster" / "cells").glob("*.json"))) == 16
    assert address not in (tmp_path / "cluster" / "manifest.json").read_text()


def test_an_address_without_a_cluster_is_named(
    experiment: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "SECONDS_TO_CONNECT", 0.2)
    with pytest.raises(ExperimentError, match=r"tcp://127\.0\.0\.1:9"):
        run(experiment, tmp_path, executor=on_cluster("tcp://127.0.0.1:9"))


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"proband\[cluster\]"):
        on_cluster("tcp://127.0.0.1:9")
