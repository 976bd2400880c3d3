from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from proband.errors import StoreError
from proband.studies.stores.patience import Patience
from proband.studies.stores.sqlite.turns import Turns


@pytest.mark.parametrize("polling", [False, True])
def test_one_at_a_time(tmp_path: Path, polling: bool) -> None:
    path, inside, seen = str(tmp_path / "lock"), [0], []
    queues = [Turns(path, polling=polling) for _ in range(2)]

    def work(n: int) -> None:
        with queues[n % 2].turn(30):
            inside[0] += 1
            time.sleep(0.001)
            seen.append(inside[0])
            inside[0] -= 1

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(40)))
    assert seen == [1] * 40


@pytest.mark.parametrize("polling", [False, True])
def test_whoever_waits_too_long_gives_up_and_leaves_the_queue(tmp_path: Path, polling: bool) -> None:
    turns = Turns(str(tmp_path / "lock"), polling=polling)
    with turns.turn(1):
        for _ in range(3):
            with pytest.raises(StoreError, match=r"lock was locked by others for 0\.05 seconds"), turns.turn(0.05):
                pass
    for _ in range(3):
        with turns.turn(10):
            pass
    for thread in threading.enumerate():
        if thread.name == "proband-turn":
            thread.join(10)
    assert not turns._files


def test_a_fault_in_a_turn_ends_it(tmp_path: Path) -> None:
    turns = Turns(str(tmp_path / "lock"))
    with pytest.raises(ZeroDivisionError), turns.turn(1):
        _ = 1 / 0
    with turns.turn(1):
        pass


def test_a_lock_file_that_may_only_be_read_serves_too(tmp_path: Path) -> None:
    (tmp_path / "lock").touch(mode=0o444)
    with Turns(str(tmp_path / "lock")).turn(1):
        pass


def test_no_handle_is_left_open(tmp_path: Path) -> None:
    turns = Turns(str(tmp_path / "lock"))
    before = len(os.listdir("/dev/fd"))
    for _ in range(20):
        with turns.turn(1):
            pass
    assert len(os.listdir("/dev/fd")) == before


def test_patience_ends() -> None:
    patience = Patience(0.02)
    pauses = 0
    while patience.wait():
        pauses += 1
    assert pauses >= 1
    assert patience.left == 0
    assert not Patience(0).wait()
