"""The store in a file: what it writes, and what it says when the file is not as it should be."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from tests.processes import fork, in_child

from proband.errors import ConflictError, StoreError, UnknownStudyError
from proband.studies.stores import Entry, JournalMode, SQLiteStore, journal_mode
from proband.studies.stores.sqlite import schema
from proband.testing import check_store

WAL = JournalMode("WAL", "FULL", "for a test")
PERSIST = JournalMode("PERSIST", "FULL", "WAL is not safe here")


def entry(number: int, size: int = 0) -> Entry:
    return Entry(number, f"key {number}", f"{number:064x}", "x" * size)


def ask(path: Path, *statements: str) -> list[tuple[object, ...]]:
    """Go to a file behind the store's back."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        rows: list[tuple[object, ...]] = []
        for statement in statements:
            rows = connection.execute(statement).fetchall()
        return rows


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "bolts.db"


@pytest.fixture
def store(path: Path) -> Iterator[SQLiteStore]:
    """A store with one study of ten entries."""
    opened = SQLiteStore(str(path))
    opened.create("bolts", entry(1))
    opened.append("bolts", [entry(number, 300) for number in range(2, 11)], 1)
    yield opened
    opened.close()


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that other users may enter."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


def test_a_commit_is_synced(store: SQLiteStore, path: Path) -> None:
    with store._pool.borrow() as connection:
        [[mode]] = connection.execute("PRAGMA journal_mode")
        [[synchronous]] = connection.execute("PRAGMA synchronous")
        [[full]] = connection.execute("PRAGMA fullfsync")
    assert (mode.upper(), synchronous, full) == (journal_mode().name, 2, 1)


@pytest.mark.parametrize(
    ("version", "name"),
    [
        ((3, 37, 0), "PERSIST"),
        ((3, 40, 1), "PERSIST"),
        ((3, 51, 2), "PERSIST"),
        ((3, 51, 3), "WAL"),
        ((4, 0, 0), "WAL"),
    ],
)
def test_wal_is_used_where_it_is_safe(version: tuple[int, ...], name: str) -> None:
    mode = journal_mode(version)
    assert mode.name == name
    assert mode.synchronous == "FULL"
    assert ".".join(map(str, version)) in mode.why


def test_a_store_in_wal_mode_keeps_the_contract(path: Path) -> None:
    check_store(lambda: SQLiteStore(str(path), journal=WAL), appends=5)
    assert ask(path, "PRAGMA journal_mode") == [("wal",)]


def test_an_unsafe_sqlite_turns_wal_back(path: Path) -> None:
    with closing(SQLiteStore(str(path), journal=WAL)) as new:
        new.create("bolts", entry(1))
    with closing(SQLiteStore(str(path), journal=PERSIST)) as old:
        assert old.length("bolts") == 1
        old.append("bolts", [entry(2)], 1)
    assert ask(path, "PRAGMA journal_mode") == [("delete",)]


def test_an_unsafe_sqlite_refuses_a_file_in_wal_mode_that_others_have_open(path: Path) -> None:
    with closing(SQLiteStore(str(path), journal=WAL)) as new:
        new.create("bolts", entry(1))
        new.length("bolts")
        with (
            closing(SQLiteStore(str(path), journal=PERSIST, deadline=0.2)) as old,
            pytest.raises(StoreError, match="in WAL mode and in use by others; WAL is not safe here; close it"),
        ):
            old.length("bolts")
        new.append("bolts", [entry(2)], 1)


def test_a_safe_sqlite_leaves_a_rollback_journal_alone(path: Path) -> None:
    """As a process with an older SQLite may have it open."""
    with closing(SQLiteStore(str(path), journal=PERSIST)) as old:
        old.create("bolts", entry(1))
    with closing(SQLiteStore(str(path), journal=WAL)) as new:
        new.append("bolts", [entry(2)], 1)
    assert ask(path, "PRAGMA journal_mode") == [("delete",)]


def test_reading_makes_no_file(path: Path) -> None:
    store = SQLiteStore(str(path))
    assert store.studies() == []
    for question in (store.length, store.read):
        with pytest.raises(UnknownStudyError, match="no study 'bolts' in sqlite:///"):
            question("bolts")
    with pytest.raises(UnknownStudyError):
        store.append("bolts", [entry(1)], 0)
    assert not path.exists()


def test_a_path_is_that_of_the_folder_where_it_was_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = SQLiteStore("odd ?#% name.db")
    monkeypatch.chdir("/")
    with closing(store):
        store.create("bolts", entry(1))
    assert (tmp_path / "odd ?#% name.db").exists()
    assert store.url == "sqlite:///odd ?#% name.db"


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"the folder .*nowhere of .* does not exist; make it, or correct the path"):
        SQLiteStore(str(tmp_path / "nowhere" / "bolts.db"))
    with pytest.raises(StoreError, match="is a folder; a store is a file"):
        SQLiteStore(str(tmp_path))


def test_an_empty_file_is_a_store_to_be(path: Path) -> None:
    path.touch()
    with closing(SQLiteStore(str(path))) as store:
        assert store.studies() == []
        store.create("bolts", entry(1))
        assert store.studies() == ["bolts"]


def test_a_foreign_database_is_left_untouched(path: Path) -> None:
    ask(path, "CREATE TABLE flowers (name)", "INSERT INTO flowers VALUES ('rose')")
    before = path.read_bytes()
    with closing(SQLiteStore(str(path))) as store:
        for attempt in (store.studies, lambda: store.create("bolts", entry(1)), lambda: store.length("bolts")):
            with pytest.raises(StoreError, match=r"bolts.db is another program's database .* left untouched; give"):
                attempt()
    assert path.read_bytes() == before
    assert {file.name for file in path.parent.iterdir()} == {"bolts.db", "bolts.db-lock"}


def test_a_file_that_is_no_database_is_left_untouched(path: Path) -> None:
    path.write_text("Dear diary, " * 1000)
    before = path.read_bytes()
    with closing(SQLiteStore(str(path))) as store:
        for attempt in (store.studies, lambda: store.create("bolts", entry(1))):
            with pytest.raises(StoreError, match=r"bolts\.db: it is damaged, or no SQLite database.*SQLITE_NOTADB"):
                attempt()
    assert path.read_bytes() == before


@pytest.mark.parametrize("keep", [0.3, 0.75, "a page less", "a byte less"])
def test_a_truncated_file(store: SQLiteStore, path: Path, keep: float | str) -> None:
    store.append("bolts", [entry(number, 5000) for number in range(11, 40)], 10)
    store.close()
    size = path.stat().st_size
    cut = {"a page less": size - 4096, "a byte less": size - 1}.get(str(keep)) or int(size * float(keep))
    os.truncate(path, cut)
    with closing(SQLiteStore(str(path))) as again:
        for attempt in (lambda: again.read("bolts"), lambda: again.append("bolts", [entry(40)], 39)):
            with pytest.raises(StoreError, match=r"bolts\.db.*(damaged|cut off).*(put back a copy|export)"):
                attempt()
    assert path.stat().st_size == cut


def test_a_newer_database(store: SQLiteStore, path: Path) -> None:
    store.close()
    ask(path, "INSERT INTO migrations VALUES (7, '9.8.7', 'later')", "PRAGMA user_version = 7")
    before = path.read_bytes()
    with (
        closing(SQLiteStore(str(path))) as again,
        pytest.raises(StoreError, match=r"has format 7, written by proband 9\.8\.7; .* formats up to 1; upgrade"),
    ):
        again.append("bolts", [entry(11)], 10)
    assert path.read_bytes() == before


def test_an_older_file_is_brought_up_to_date_when_it_is_opened(
    store: SQLiteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = schema.MIGRATIONS
    store.append("bolts", [entry(11)], 10)
    new = ("ALTER TABLE studies ADD COLUMN note TEXT", "UPDATE studies SET note = 'old'")
    monkeypatch.setattr(schema, "MIGRATIONS", (*released, new))
    with closing(SQLiteStore(str(path))) as later:
        assert later.length("bolts") == 11
        later.append("bolts", [entry(12)], 11)
    assert ask(path, "SELECT name, note FROM studies") == [("bolts", "old")]
    assert ask(path, "SELECT number FROM migrations") == [(1,), (2,)]
    monkeypatch.setattr(schema, "MIGRATIONS", released)
    with pytest.raises(StoreError, match=r"has format 2, written by proband .*; upgrade proband"):
        store.append("bolts", [entry(13)], 12)  # by a connection from before


def test_a_migration_that_fails_changes_nothing(
    store: SQLiteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.close()
    wrong = ("ALTER TABLE studies ADD COLUMN note TEXT", "UPDATE flowers SET note = 'old'")
    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, wrong))
        with closing(SQLiteStore(str(path))) as later, pytest.raises(StoreError, match="no such table: flowers"):
            later.length("bolts")
    with closing(SQLiteStore(str(path))) as again:
        again.append("bolts", [entry(11)], 10)
        assert again.length("bolts") == 11


def test_a_read_only_file_can_be_read(shared: Path) -> None:
    path = shared / "bolts.db"
    with closing(SQLiteStore(str(path))) as store:
        store.create("bolts", entry(1))
    path.chmod(0o444)

    def read() -> str:
        with closing(SQLiteStore(str(path))) as store:
            return f"{store.studies()} {store.length('bolts')}"

    def write() -> str:
        with closing(SQLiteStore(str(path))) as store:
            store.append("bolts", [entry(2)], 1)
        return "acknowledged"

    assert in_child(read, as_nobody=True) == "['bolts'] 1"
    assert "bolts.db: it can only be read; give write access" in in_child(write, as_nobody=True)
    shared.chmod(0o555)
    assert in_child(read, as_nobody=True) == "['bolts'] 1"
    assert "bolts.db: it can only be read; give write access" in in_child(write, as_nobody=True)
    with closing(SQLiteStore(str(path))) as store:
        assert store.length("bolts") == 1


@pytest.mark.parametrize("journal", [WAL, PERSIST])
def test_a_file_in_wal_mode_that_can_only_be_read(shared: Path, journal: JournalMode) -> None:
    path = shared / "bolts.db"
    with closing(SQLiteStore(str(path), journal=WAL)) as store:
        store.create("bolts", entry(1))
    path.chmod(0o444)

    def read() -> str:
        with closing(SQLiteStore(str(path), journal=journal)) as store:
            return f"{store.studies()} {store.length('bolts')}"

    assert in_child(read, as_nobody=True) == "['bolts'] 1"
    for beside in ("-wal", "-shm"):
        path.with_name(path.name + beside).unlink(missing_ok=True)
    shared.chmod(0o555)
    assert "its folder can only be read; writing, and in WAL mode reading too" in in_child(read, as_nobody=True)


def test_a_folder_that_can_only_be_read(shared: Path) -> None:
    shared.chmod(0o555)

    def create() -> str:
        with closing(SQLiteStore(str(shared / "bolts.db"))) as store:
            store.create("bolts", entry(1))
        return "acknowledged"

    assert "cannot be opened (Permission denied)" in in_child(create, as_nobody=True)


def test_a_file_that_must_not_grow(path: Path) -> None:
    """The file system refuses a write: nothing is acknowledged, and the store goes on when there is room."""

    def fill() -> str:
        with closing(SQLiteStore(str(path))) as store:
            store.create("bolts", entry(1))
            resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
            length = 1
            try:
                while True:
                    store.append("bolts", [entry(length + 1, 10_000)], length)
                    length += 1
            except StoreError as error:
                message = str(error)
            kept = store.length("bolts")
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            store.append("bolts", [entry(length + 1, 10_000)], length)
            return f"{length} {kept} {store.length('bolts')} {message}"

    length, kept, later, message = in_child(fill).split(" ", 3)
    assert int(length) > 3
    assert (int(kept), int(later)) == (int(length), int(length) + 1)
    assert "nothing of this write was acknowledged" in message
    assert ask(path, "PRAGMA integrity_check") == [("ok",)]


def test_a_full_disk(shared: Path) -> None:
    """A disk of 400 kB, mounted in a namespace of its own: nothing is acknowledged that does not fit."""
    script = """
import sys
from proband.errors import StoreError
from proband.studies.stores import Entry, SQLiteStore
folder = sys.argv[1]
store = SQLiteStore(folder + "/bolts.db")
store.create("bolts", Entry(1, "key 1", "0", "{}"))
ballast = open(folder + "/ballast", "wb")
ballast.write(b"x" * 150_000)
ballast.flush()
length = 1
try:
    while True:
        store.append("bolts", [Entry(length + 1, f"key {length + 1}", "0", "x" * 10_000)], length)
        length += 1
except StoreError as error:
    print(error)
print(length, store.length("bolts"))
ballast.truncate(0)
store.append("bolts", [Entry(length + 1, f"key {length + 1}", "0", "x" * 10_000)], length)
print(store.length("bolts"), [entry.number for entry in store.read("bolts")] == list(range(1, length + 2)))
"""
    mount = f'mount -t tmpfs -o size=400k none "{shared}" && exec "{sys.executable}" -c "$0" "{shared}"'
    ended = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", mount, script],
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode and "Traceback" not in ended.stderr:
        pytest.skip(f"no disk can be mounted here: {ended.stderr.strip()}")
    message, lengths, after = ended.stdout.splitlines()
    assert "the disk is full; nothing of this write was acknowledged; make room and do it again" in message
    length, kept = map(int, lengths.split())
    assert length == kept > 3
    assert after == f"{length + 1} True"


def test_a_file_that_was_removed_or_put_back_is_opened_anew(store: SQLiteStore, path: Path) -> None:
    shutil.copy(path, path.with_suffix(".copy"))
    store.append("bolts", [entry(11)], 10)
    os.replace(path.with_suffix(".copy"), path)
    assert store.length("bolts") == 10
    store.append("bolts", [entry(11)], 10)
    assert ask(path, "SELECT max(number) FROM entries") == [(11,)]
    path.unlink()
    with pytest.raises(UnknownStudyError):
        store.append("bolts", [entry(12)], 11)


def test_other_programs_that_hold_the_file_are_waited_for(store: SQLiteStore, path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with closing(SQLiteStore(str(path), deadline=0.1)) as hasty:
            for attempt in (lambda: hasty.length("bolts"), lambda: hasty.append("bolts", [entry(11)], 10)):
                with pytest.raises(StoreError, match="others hold it for longer than the deadline"):
                    attempt()
        with ThreadPoolExecutor() as threads:
            length = threads.submit(store.length, "bolts")
            added = threads.submit(store.append, "bolts", [entry(11)], 10)
            time.sleep(0.1)
            assert not length.done()
            assert not added.done()
            other.execute("COMMIT")
            assert length.result() in (10, 11)
            added.result()
    assert store.length("bolts") == 11


def test_a_turn_that_takes_too_long(store: SQLiteStore, path: Path) -> None:
    with store.exclusive("bolts"), closing(SQLiteStore(str(path), deadline=0.1)) as hasty:
        with pytest.raises(StoreError, match=r"bolts\.db-lock was locked by others for 0\.1 seconds"):
            hasty.append("bolts", [entry(11)], 10)
        assert hasty.length("bolts") == 10
    with closing(SQLiteStore(str(path), deadline=10)) as patient:
        patient.append("bolts", [entry(11)], 10)


def test_a_process_that_is_killed_in_its_turn_ends_it(store: SQLiteStore, path: Path) -> None:
    reading, writing = os.pipe()
    child = fork()
    if not child:
        with SQLiteStore(str(path)).exclusive("bolts"):
            os.write(writing, b"x")
            time.sleep(60)
        os._exit(0)
    os.read(reading, 1)
    with closing(SQLiteStore(str(path), deadline=0.1)) as hasty, pytest.raises(StoreError):
        hasty.append("bolts", [entry(11)], 10)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    store.append("bolts", [entry(11)], 10)
    os.close(reading)
    os.close(writing)


def test_a_writer_that_knows_nothing_of_turns_does_no_harm(store: SQLiteStore, path: Path) -> None:
    with store.exclusive("bolts"):
        ask(path, "INSERT INTO entries VALUES (1, 11, 'stranger', '0', '')")
        with pytest.raises(ConflictError, match="has 11 entries, not 10 as expected"):
            store.append("bolts", [entry(11)], 10)


def test_a_large_cache_leaves_no_large_journal(store: SQLiteStore, path: Path) -> None:
    for _ in range(3):
        store.keep("bolts", "snapshot", os.urandom(5_000_000))
    journal = path.with_name("bolts.db-journal")
    assert not journal.exists() or journal.stat().st_size <= 2**20
