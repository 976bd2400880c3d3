"""A file that SQLite can open, and that holds what no store writes; see ``tests/fuzz`` for bytes that are damaged."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from tests.studies.crowd import Crowd, bolts

from proband.errors import ProbandError, StoreError, TamperedError
from proband.studies import Study
from proband.studies.stores import SQLiteStore
from proband.studies.stores.sqlite.file import explain


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    opened = SQLiteStore(str(tmp_path / "bolts.db"))
    crowd = Crowd(bolts(), "test-everything", np.random.default_rng(1), store=opened, past=0)
    crowd.run(20)
    opened.keep("bolts", "note", b"content")
    yield opened
    opened.close()


def change(store: SQLiteStore, statement: str) -> None:
    """Go to a file behind the store's back."""
    store.close()
    with closing(sqlite3.connect(store.path, isolation_level=None)) as connection:
        connection.execute(statement)


ENTRIES = {
    "a body of bytes": ("UPDATE entries SET body = x'00ff80' WHERE number = 3", "entry 3 was altered"),
    "a body of three megabytes": (
        "UPDATE entries SET body = zeroblob(3000000) WHERE number = 3",
        "entry 3 was altered",
    ),
    "a hash of bytes": ("UPDATE entries SET hash = x'00' WHERE number = 3", "entry 3 was altered"),
    "a key of bytes": ("UPDATE entries SET key = x'00' WHERE number = 3", "entry 3 was altered or moved"),
    "a body that is no UTF-8": ("UPDATE entries SET body = CAST(x'c328' AS TEXT) WHERE number = 3", "decode to UTF-8"),
    "a number in words": ("UPDATE entries SET number = 'three' WHERE number = 3", "has no number"),
    "half a number": ("UPDATE entries SET number = 3.5 WHERE number = 3", "has no number"),
    "a number of bytes": ("UPDATE entries SET number = x'03' WHERE number = 3", "has no number"),
    "no entries": ("DELETE FROM entries", "the study 'bolts' has no entries"),
    "an entry dropped": ("DELETE FROM entries WHERE number = 3", "entry 3 is missing"),
    "no table": ("DROP TABLE entries", "no such table"),
}


@pytest.mark.parametrize("name", ENTRIES)
def test_entries_that_no_store_writes(store: SQLiteStore, name: str) -> None:
    statement, message = ENTRIES[name]
    change(store, statement)
    with pytest.raises((StoreError, TamperedError), match=message):
        Study.open("bolts", store=store)


def test_a_study_without_entries(store: SQLiteStore) -> None:
    change(store, "DELETE FROM entries")
    for attempt in (
        lambda: store.length("bolts"),
        lambda: store.read("bolts"),
        lambda: store.append("bolts", [], 0),
        lambda: store.keep("bolts", "note", b""),
    ):
        with pytest.raises(StoreError, match=r"bolts\.db: it is damaged.*the study 'bolts' has no entries"):
            attempt()


def test_a_last_entry_without_a_number(store: SQLiteStore) -> None:
    change(store, "UPDATE entries SET number = 'last' WHERE number = 9")
    for attempt in (lambda: store.length("bolts"), lambda: store.append("bolts", [], 0)):
        with pytest.raises(StoreError, match="one without a number"):
            attempt()


@pytest.mark.parametrize("name", ["x'ff00'", "CAST(x'ff41' AS TEXT)"])
def test_names_of_studies_that_are_no_texts(store: SQLiteStore, name: str) -> None:
    change(store, f"UPDATE studies SET name = {name}")
    with pytest.raises(StoreError, match=r"is no text|UTF-8"):
        store.studies()


@pytest.mark.parametrize("content", ["5", "999999999999", "1e18", "'text'"])
def test_a_cache_that_is_none_is_not_there(store: SQLiteStore, content: str) -> None:
    assert store.cached("bolts", "note") == b"content"
    change(store, f"UPDATE cache SET content = {content}")
    assert store.cached("bolts", "note") is None
    Study.open("bolts", store=store).close()


def test_a_schema_that_is_no_text() -> None:
    """SQLite repeats a broken schema in its message, which is then no text either."""
    error = explain(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), "bolts.db")
    assert isinstance(error, StoreError)
    assert "bolts.db: it is damaged" in str(error)
    assert "invalid start byte" in str(error)


def test_every_byte_of_the_first_page(store: SQLiteStore, tmp_path: Path) -> None:
    """What opens is what was written."""
    bodies = [entry.body for entry in store.read("bolts")]
    store.close()
    whole = Path(store.path).read_bytes()
    other = tmp_path / "other"
    other.mkdir()
    for place in range(0, 4096, 7):
        (other / "bolts.db").write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        again = SQLiteStore(str(other / "bolts.db"), deadline=1.0)
        try:
            read = [entry.body for entry in again.read("bolts")]
            assert read == bodies[: len(read)]
        except ProbandError:
            pass
        again.close()
