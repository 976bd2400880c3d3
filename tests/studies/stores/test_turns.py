from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.processes import fork, in_child

from proband.errors import StoreBusyError, StoreError
from proband.studies.stores.patience import Patience, within
from proband.studies.stores.sqlite.turns import Turns


def test_one_at_a_time(tmp_path: Path) -> None:
    path, inside, seen = str(tmp_path / "bolts.db"), [0], []
    queues = [Turns(path) for _ in range(2)]

    def work(n: int) -> None:
        with queues[n % 2].turn(30):
            inside[0] += 1
            time.sleep(0.001)
            seen.append(inside[0])
            inside[0] -= 1

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(40)))
    assert seen == [1] * 40


def test_processes_exclude_each_other_under_whatever_name_they_know_the_file(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "bolts.db")
    other = Turns(str(tmp_path / "link.db"))

    def attempt() -> str:
        with other.turn(0.05):
            return "in"

    with Turns(str(tmp_path / "bolts.db")).turn(1) as turn:
        assert f"StoreBusyError: {other.path} was locked by process {os.getpid()} for 0.05 seconds" in in_child(attempt)
        turn.end()
        assert in_child(attempt) == "in"


def test_whoever_waits_too_long_gives_up(tmp_path: Path) -> None:
    turns = Turns(str(tmp_path / "bolts.db"))
    with turns.turn(1):
        for _ in range(3):
            told = r"-lock was locked by process .* for 0\.05 seconds"
            with pytest.raises(StoreBusyError, match=told), turns.turn(0.05):
                pass
    with turns.turn(10):
        pass


def test_a_fault_in_a_turn_ends_it(tmp_path: Path) -> None:
    turns = Turns(str(tmp_path / "bolts.db"))
    with pytest.raises(ZeroDivisionError), turns.turn(1):
        _ = 1 / 0
    with turns.turn(1):
        pass


def test_a_turn_that_ended_early_is_not_ended_again(tmp_path: Path) -> None:
    turns = Turns(str(tmp_path / "bolts.db"))
    with turns.turn(1) as first:
        first.end()
        assert not first.held
        with turns.turn(1) as second:
            first.end()
            assert second.held


def test_a_process_that_dies_or_is_forked_in_its_turn(tmp_path: Path) -> None:
    turns = Turns(str(tmp_path / "bolts.db"))
    reading, writing = os.pipe()
    child = fork()
    if not child:
        with turns.turn(1):
            os.write(writing, b"x")
            time.sleep(600)
    os.read(reading, 1)
    with pytest.raises(StoreBusyError, match=f"locked by process {child} "), turns.turn(0.05):
        pass
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with turns.turn(1) as mine:
        assert in_child(lambda: str(mine.held)) == "False"
        assert in_child(lambda: str(mine.end())) == "None"
        assert mine.held
        with pytest.raises(StoreBusyError), turns.turn(0.05):
            pass
    os.close(reading)
    os.close(writing)


def test_a_lock_file_that_cannot_be_made(tmp_path: Path) -> None:
    turns = Turns(str(tmp_path / "nowhere" / "bolts.db"))
    for _ in range(2):
        told = r"cannot be locked \(No such file or directory\); writing needs"
        with pytest.raises(StoreError, match=told), turns.turn(1):
            pass


def test_no_handle_is_left_open(tmp_path: Path) -> None:
    turns = Turns(str(tmp_path / "bolts.db"))
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


def test_deadlines_nest() -> None:
    with within(60.0):
        with within(0.0):
            assert Patience(60).left == 0
            with within(60.0):
                assert Patience(60).left == 0
        assert 0 < Patience(600).left <= 60
    assert Patience(600).left > 60
