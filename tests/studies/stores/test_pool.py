from __future__ import annotations

import os
import sqlite3
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.processes import in_child

from proband.errors import ConflictError
from proband.studies.stores.pool import NothingYetError, Pool


class Wire:
    """A connection that only knows whether it is open."""

    def __init__(self) -> None:
        self.open = True

    def close(self) -> None:
        self.open = False


def make_pool(usable: Callable[[Wire], bool] = lambda wire: wire.open) -> Pool[Wire]:
    return Pool(Wire, Wire.close, usable)


def test_a_connection_is_used_again() -> None:
    pool = make_pool()
    with pool.borrow() as first:
        pass
    with pool.borrow() as second, pool.borrow() as third:
        assert second is first
        assert third is not first


def test_one_that_is_of_no_use_is_closed() -> None:
    pool = make_pool(usable=lambda wire: False)
    with pool.borrow() as first:
        pass
    with pool.borrow() as second:
        assert second is not first
        assert not first.open


def test_after_a_fault_it_is_closed_and_after_a_refusal_kept() -> None:
    pool = make_pool()
    with pytest.raises(OSError, match="broken"), pool.borrow() as first:
        raise OSError("broken")
    assert not first.open
    with pytest.raises(ConflictError), pool.borrow() as second:
        raise ConflictError("refused")
    assert second.open
    with pool.borrow() as third:
        assert third is second


def test_closing_closes_what_is_idle_now_and_what_is_busy_later() -> None:
    pool = make_pool()
    with pool.borrow() as idle:
        pass
    busy, other = pool.take(), pool.take()
    assert busy is idle
    pool.give(other)
    pool.close()
    assert (other.open, busy.open) == (False, True)
    pool.give(busy)
    assert (other.open, busy.open) == (False, False)
    with pool.borrow() as again:
        assert again.open


def test_a_connection_that_cannot_be_opened_is_not_counted() -> None:
    def refuse() -> Wire:
        raise NothingYetError

    pool = Pool(refuse, Wire.close, lambda wire: True)
    for _ in range(3):
        with pytest.raises(NothingYetError):
            pool.take()
    assert not pool._loans


def test_a_child_gets_connections_of_its_own() -> None:
    pool = make_pool()
    with pool.borrow() as before:
        pass
    busy = pool.take()

    def look() -> str:
        pool.give(busy)  # the parent's: neither closed nor used again
        with pool.borrow() as own:
            return f"{own is before} {own is busy} {busy.open} {len(pool._abandoned)}"

    assert busy is before
    assert in_child(look) == "False False True 1"
    assert busy.open
    pool.give(busy)
    assert in_child(lambda: str(len(pool._idle))) == "0"
    assert not before.open, "an idle connection is closed before a fork"


def test_a_fork_waits_for_threads_at_work() -> None:
    pool, taken, done = make_pool(), threading.Event(), threading.Event()

    def work() -> None:
        with pool.borrow():
            taken.set()
            done.wait(0.2)

    thread = threading.Thread(target=work)
    thread.start()
    taken.wait()
    assert in_child(lambda: str(len(pool._abandoned))) == "0"
    thread.join()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists the locks of a process")
@pytest.mark.parametrize("at_fork", ["open", "closed"])
def test_why_the_number_of_the_process_is_not_enough(tmp_path: Path, at_fork: str) -> None:
    """SQLite believes the parent's locks to be the child's, as long as a connection was open when it was forked."""
    path = str(tmp_path / "bolts.db")
    parents = sqlite3.connect(path, isolation_level=None)
    parents.executescript("PRAGMA journal_mode = WAL; CREATE TABLE bolts (name)")

    def locks() -> int:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("BEGIN")
            connection.execute("SELECT * FROM bolts").fetchall()
            own = {str(os.stat(file).st_ino) for file in (path, f"{path}-shm")}
            lines = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
            return sum(line[-4] == str(os.getpid()) and line[-3].split(":")[-1] in own for line in lines)

    parents.execute("BEGIN")
    parents.execute("SELECT * FROM bolts").fetchall()
    if at_fork == "closed":
        parents.close()
    assert (in_child(lambda: str(locks())) == "0") == (at_fork == "open")
    parents.close()
