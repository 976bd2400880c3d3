from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from proband.experiments import EXPERIMENTS, Experiment, ExperimentError, in_processes, run
from proband.experiments.cells import digest

PROGRAM = [sys.executable, "-c", "from proband.cli import main; main()", "experiment", "run"]


def table(folder: Path) -> bytes:
    return (folder / "table.csv").read_bytes()


def test_the_table_is_the_same_in_processes(small: Experiment, folder: Path, tmp_path: Path) -> None:
    run(small, tmp_path, seed=1000, executor=in_processes(2))
    assert table(tmp_path) == table(folder)
    assert (tmp_path / "table.parquet").read_bytes() == (folder / "table.parquet").read_bytes()


def test_another_seed_gives_another_table(small: Experiment, folder: Path, tmp_path: Path) -> None:
    run(small, tmp_path, seed=1001)
    assert table(tmp_path) != table(folder)


def test_finished_cells_are_not_run_again(small: Experiment, folder: Path, tmp_path: Path) -> None:
    half = small.changed(replications=2)
    run(half, tmp_path, seed=1000)
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "cells").iterdir()}
    told: list[tuple[int, int]] = []
    run(small, tmp_path, seed=1000, progress=lambda done, total: told.append((done, total)))
    after = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "cells").iterdir()}
    assert told == [(done, 9) for done in (6, 7, 8, 9)]
    assert before.items() <= after.items()
    assert table(tmp_path) == table(folder)


def test_a_fresh_run_does_everything_again(small: Experiment, tmp_path: Path) -> None:
    told: list[int] = []
    for _ in range(2):
        run(small.changed(replications=1), tmp_path, fresh=True, progress=lambda done, total: told.append(done))
    assert told == [0, 1, 2, 3] * 2


def test_what_a_killed_run_left_half_written_is_removed(small: Experiment, tmp_path: Path) -> None:
    cell = small.cells(seed=1000)[0]
    half = tmp_path / "cells" / f".{digest(cell)}.json.123"
    half.parent.mkdir()
    half.write_text("{")
    run(small.changed(replications=1), tmp_path)
    assert not half.exists()


def test_a_folder_is_for_one_experiment(small: Experiment, tmp_path: Path) -> None:
    run(small.changed(replications=1, agents=["doubling"]), tmp_path)
    with pytest.raises(ExperimentError, match="'paper-discrete'"):
        run(EXPERIMENTS["easy"].changed(horizon=8, replications=1), tmp_path)


def test_the_manifest_says_what_was_run(folder: Path) -> None:
    text = (folder / "manifest.json").read_text()
    manifest = json.loads(text)
    assert manifest["experiment"] == "paper-discrete"
    assert manifest["points"] == [{"d": 3, "costs": 0.05, "horizon": 256}]
    assert manifest["seed"] == 1000
    assert {"proband", "python", "numpy", "numba"} <= set(manifest["versions"])
    assert manifest["machine"]["cores"] >= 1
    assert manifest["finished"] >= manifest["started"]
    assert set(manifest["seconds"]) == set(manifest["agents"])
    assert str(folder) not in text
    assert os.uname().nodename not in text


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_dead_worker_is_reported_and_finished_cells_are_kept(tmp_path: Path) -> None:
    experiment = EXPERIMENTS["easy"].changed(horizon=64, replications=300, agents=["doubling"])

    def kill_one(done: int, total: int) -> None:
        if done == 3:
            os.kill(multiprocessing.active_children()[0].pid or 0, signal.SIGKILL)

    with pytest.raises(ExperimentError, match="run the same command again"):
        run(experiment, tmp_path, executor=in_processes(1), progress=kill_one)
    assert len(list((tmp_path / "cells").iterdir())) >= 3


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def workers(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="watches processes through /proc")
def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    options = ["--horizon", "512", "--replications", "40", "--agents", "greedy"]
    process = subprocess.Popen([*PROGRAM, "easy", *options, "--jobs", "2", "--out", str(tmp_path / "killed")])
    cells = tmp_path / "killed" / "cells"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not cells.exists() or len(list(cells.glob("*.json"))) < 5):
        time.sleep(0.005)
    children = workers(process.pid)
    process.send_signal(signal.SIGKILL)
    process.wait()
    finished = {path.name: path.stat().st_mtime_ns for path in cells.glob("*.json")}
    assert 5 <= len(finished) < 40
    assert json.loads((tmp_path / "killed" / "manifest.json").read_text())["finished"] is None
    experiment = EXPERIMENTS["easy"].changed(horizon=512, replications=40, agents=["greedy"])
    told: list[int] = []
    run(experiment, tmp_path / "killed", seed=1000, progress=lambda done, total: told.append(done))
    assert told == list(range(len(finished), 41))
    assert finished.items() <= {path.name: path.stat().st_mtime_ns for path in cells.glob("*.json")}.items()
    run(experiment, tmp_path / "whole", seed=1000)
    assert table(tmp_path / "killed") == table(tmp_path / "whole")
    while any(map(alive, children)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(map(alive, children))
