"""Every store keeps the contract, for threads, for processes, and across a fork."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.processes import fork, in_child

from proband.errors import ConflictError
from proband.studies.stores import Entry, Store
from proband.testing import check_store

MakeStore = Callable[[], Store]


def entry(number: int) -> Entry:
    key = os.urandom(8).hex()
    return Entry(number, key, key * 8, f'{{"key":"{key}"}}')


def add(store: Store, appends: int) -> list[str]:
    """Add entries in turns; return their keys."""
    keys = []
    for _ in range(appends):
        with store.exclusive("bolts"):
            new = entry(store.length("bolts") + 1)
            store.append("bolts", [new], new.number - 1)
        keys.append(new.key)
    return keys


def test_it_keeps_the_contract(make_store: MakeStore) -> None:
    check_store(make_store, appends=8)


def test_it_is_a_store(make_store: MakeStore) -> None:
    assert isinstance(make_store(), Store)


def test_a_cache_is_kept(make_store: MakeStore) -> None:
    make_store().create("bolts", entry(1))
    make_store().keep("bolts", "snapshot", b"\0content")
    assert make_store().cached("bolts", "snapshot") == b"\0content"
    assert make_store().cached("bolts", "another") is None


def test_a_cache_is_kept_within_a_turn_that_ends_without_an_append(make_store: MakeStore) -> None:
    store = make_store()
    store.create("bolts", entry(1))
    with store.exclusive("bolts"):
        store.keep("bolts", "snapshot", b"content")
    assert store.cached("bolts", "snapshot") == b"content"


def test_a_turn_within_a_turn_is_the_same_turn(make_store: MakeStore) -> None:
    store = make_store()
    store.create("bolts", entry(1))
    store.create("nuts", entry(1))
    with store.exclusive("bolts"), store.exclusive("bolts"), store.exclusive("nuts"):
        store.append("bolts", [entry(2)], 1)
        store.append("nuts", [entry(2)], 1)
        store.append("bolts", [entry(3)], 2)
    assert store.length("bolts") == 3


def test_a_conflict_within_a_turn_leaves_the_store_usable(make_store: MakeStore) -> None:
    store = make_store()
    store.create("bolts", entry(1))
    with store.exclusive("bolts"):
        with pytest.raises(ConflictError):
            store.append("bolts", [entry(1)], 0)
        store.append("bolts", [entry(2)], 1)
    assert store.length("bolts") == 2


@pytest.mark.parametrize("make_store", ["sqlite", "postgresql"], indirect=True)
def test_thirty_two_processes_are_shown_no_error(make_store: MakeStore, tmp_path: Path) -> None:
    store = make_store()
    store.create("bolts", entry(1))
    children = []
    for n in range(32):
        children.append(fork())
        if not children[-1]:
            try:
                result = " ".join(add(store, 3))
            except BaseException as error:
                result = repr(error)
            (tmp_path / f"{n}.keys").write_text(result)
            os._exit(0)
    for child in children:
        os.waitpid(child, 0)
    told = " ".join(path.read_text() for path in tmp_path.glob("*.keys")).split()
    assert sorted(told) == sorted(line.key for line in store.read("bolts", after=1))
    assert len(told) == 96


@pytest.mark.parametrize("make_store", ["sqlite", "postgresql"], indirect=True)
def test_a_store_goes_on_in_a_forked_child_while_the_parent_writes(make_store: MakeStore) -> None:
    store = make_store()
    store.create("bolts", entry(1))
    parents: list[str] = []
    busy = threading.Event()

    def write() -> None:
        busy.set()
        parents.extend(add(store, 30))

    thread = threading.Thread(target=write)
    thread.start()
    busy.wait()
    children = [in_child(lambda: " ".join(add(store, 5))) for _ in range(3)]
    thread.join()
    told = [*parents, *" ".join(children).split()]
    assert sorted(told) == sorted(line.key for line in store.read("bolts", after=1))
    assert store.length("bolts") == 1 + 30 + 15


@pytest.mark.parametrize("make_store", ["sqlite", "postgresql"], indirect=True)
def test_a_child_that_is_forked_within_a_turn_does_not_keep_the_turn(make_store: MakeStore) -> None:
    store = make_store()
    store.create("bolts", entry(1))
    with store.exclusive("bolts"):
        store.length("bolts")
        reading, writing = os.pipe()
        child = fork()
        if not child:
            os.close(writing)
            os.read(reading, 1)  # lives on after the parent's turn
            os._exit(0)
    os.close(reading)
    try:
        assert add(make_store(), 2)
    finally:
        os.close(writing)
        os.waitpid(child, 0)
