"""The store in a file: what it writes, and what it says when the file is not as it should be."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from tests.processes import fork, in_child

from proband.errors import ConflictError, StoreBusyError, StoreError, UnknownStudyError
from proband.studies.stores import Entry, SQLiteStore
from proband.studies.stores.patience import within
from proband.studies.stores.sqlite import schema


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


def journal_of(path: Path) -> object:
    [[mode]] = ask(path, "PRAGMA journal_mode")
    return mode


def syncs_while(work: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return which files were synced by this process, SQLite's own syncs aside, while something is done."""
    synced: list[str] = []
    fsync = os.fsync

    def spy(file: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{file}"))
        fsync(file)

    monkeypatch.setattr(os, "fsync", spy)
    work()
    return synced


def test_a_write_is_synced_before_it_is_acknowledged(
    store: SQLiteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = f"{path}-wal"
    assert journal_of(path) == "wal"
    assert syncs_while(lambda: store.append("bolts", [entry(11)], 10), monkeypatch) == [log]
    assert syncs_while(lambda: store.find("bolts", "key 11"), monkeypatch) == [log]
    assert syncs_while(lambda: store.create("nuts", entry(1)), monkeypatch) == [log]
    assert syncs_while(lambda: store.read("bolts"), monkeypatch) == []


def test_others_write_while_one_syncs(store: SQLiteStore, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(SQLiteStore(str(path), deadline=30)) as other:

        def sync(_: int) -> None:
            monkeypatch.undo()
            other.append("bolts", [entry(12)], 11)

        monkeypatch.setattr(os, "fsync", sync)
        with store.exclusive("bolts"):
            store.append("bolts", [entry(11)], 10)
        assert store.length("bolts") == 12


def test_what_could_not_be_synced_is_never_acknowledged(
    store: SQLiteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(StoreError, match=r"the disk could not keep .*Input/output error.*open the store again"):
            store.append("bolts", [entry(11)], 10)
    for attempt in (lambda: store.find("bolts", "key 11"), lambda: store.append("bolts", [entry(12)], 11)):
        with pytest.raises(StoreError, match="the disk could not keep"):
            attempt()
    with closing(SQLiteStore(str(path))) as again:
        assert again.find("bolts", "key 11") is not None


def with_rollback_journal(path: Path) -> None:
    """Turn a closed file to the journal of earlier versions."""
    assert ask(path, "PRAGMA journal_mode = PERSIST") == [("persist",)]


def test_a_rollback_journal_is_read_and_turned_to_wal_by_the_next_write(store: SQLiteStore, path: Path) -> None:
    store.close()
    with_rollback_journal(path)
    with closing(SQLiteStore(str(path))) as again:
        assert again.length("bolts") == 10
        assert journal_of(path) == "delete"
        again.append("bolts", [entry(11)], 10)
        assert journal_of(path) == "wal"
    with closing(SQLiteStore(str(path))) as third:
        assert third.length("bolts") == 11


def test_a_rollback_journal_that_others_are_at_work_on_stays_and_is_synced(store: SQLiteStore, path: Path) -> None:
    store.close()
    with_rollback_journal(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as reader, closing(SQLiteStore(str(path))) as again:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM entries").fetchall()
        with again._connections._pool.borrow() as connection:
            again._connections.file._use_wal(connection)
            assert not connection.wal
            assert connection.execute("PRAGMA synchronous").fetchall() == [(2,)]
        reader.execute("COMMIT")
        again.append("bolts", [entry(11)], 10)
    assert journal_of(path) == "wal"


def test_only_the_owner_may_read_a_new_store_and_its_files_have_its_rights(path: Path) -> None:
    with closing(SQLiteStore(str(path))) as store:
        store.create("bolts", entry(1))
        store.append("bolts", [entry(2)], 1)
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert modes == dict.fromkeys(["bolts.db", "bolts.db-lock", "bolts.db-wal", "bolts.db-shm"], 0o600)
    path.chmod(0o660)
    path.with_name("bolts.db-lock").unlink()
    with closing(SQLiteStore(str(path))) as store:
        store.append("bolts", [entry(3)], 2)
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert set(modes.values()) == {0o660}


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
    assert "bolts.db-lock cannot be locked (Permission denied)" in in_child(write, as_nobody=True)
    (shared / "bolts.db-lock").chmod(0o666)
    assert "bolts.db: it can only be read; give write access" in in_child(write, as_nobody=True)
    shared.chmod(0o555)
    assert in_child(read, as_nobody=True) == "['bolts'] 1"
    assert "bolts.db: it can only be read; give write access" in in_child(write, as_nobody=True)
    with closing(SQLiteStore(str(path))) as store:
        assert store.length("bolts") == 1


def test_a_file_that_is_written_to_can_be_read_by_others_if_they_may(shared: Path) -> None:
    path = shared / "bolts.db"
    with closing(SQLiteStore(str(path))) as store:
        store.create("bolts", entry(1))

        def read() -> str:
            with closing(SQLiteStore(str(path))) as other:
                return f"{other.studies()} {other.length('bolts')}"

        shared.chmod(0o755)
        assert "cannot be opened; give access to the file and its folder" in in_child(read, as_nobody=True)
        for file in shared.iterdir():
            file.chmod(0o644)
        assert in_child(read, as_nobody=True) == "['bolts'] 1"
        for file in shared.iterdir():
            file.chmod(0o666)
        store.append("bolts", [entry(2)], 1)
        assert in_child(read, as_nobody=True) == "['bolts'] 2"


def test_a_folder_that_can_only_be_read(shared: Path) -> None:
    shared.chmod(0o555)

    def create() -> str:
        with closing(SQLiteStore(str(shared / "bolts.db"))) as store:
            store.create("bolts", entry(1))
        return "acknowledged"

    assert "cannot be locked (Permission denied)" in in_child(create, as_nobody=True)


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
from proband.studies.stores.patience import within
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
    copy = path.with_suffix(".copy")
    ask(path, f"VACUUM INTO '{copy}'")
    store.append("bolts", [entry(11)], 10)
    for beside in ("-wal", "-shm"):  # they belong to the file that goes
        path.with_name(path.name + beside).unlink()
    os.replace(copy, path)
    assert store.length("bolts") == 10
    store.append("bolts", [entry(11)], 10)
    assert ask(path, "SELECT max(number) FROM entries") == [(11,)]
    store.close()
    path.unlink()
    with pytest.raises(UnknownStudyError):
        store.append("bolts", [entry(12)], 11)


def test_a_folder_that_was_removed(store: SQLiteStore, path: Path) -> None:
    shutil.rmtree(path.parent)
    with pytest.raises(StoreError, match=r"bolts\.db-lock cannot be locked \(No such file.*put the folder back"):
        store.append("bolts", [entry(11)], 10)
    with pytest.raises(UnknownStudyError):
        store.read("bolts")
    path.parent.mkdir()
    store.create("bolts", entry(1))
    store.append("bolts", [entry(2)], 1)
    assert store.length("bolts") == 2


def test_other_programs_that_hold_the_file_are_waited_for(store: SQLiteStore, path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with closing(SQLiteStore(str(path), deadline=0.1)) as hasty:
            assert hasty.length("bolts") == 10  # whoever reads waits for nobody
            with pytest.raises(StoreBusyError, match="others hold it for longer than the deadline"):
                hasty.append("bolts", [entry(11)], 10)
        with ThreadPoolExecutor() as threads:
            added = threads.submit(store.append, "bolts", [entry(11)], 10)
            time.sleep(0.1)
            assert not added.done()
            other.execute("COMMIT")
            added.result()
    assert store.length("bolts") == 11


def test_a_turn_that_takes_too_long(store: SQLiteStore, path: Path) -> None:
    with store.exclusive("bolts"), closing(SQLiteStore(str(path), deadline=0.1)) as hasty:
        held = rf"bolts\.db-lock was locked by process {os.getpid()} for 0\.\d+ seconds.*nothing .* was recorded"
        with pytest.raises(StoreBusyError, match=held):
            hasty.append("bolts", [entry(11)], 10)
        assert hasty.length("bolts") == 10
    with closing(SQLiteStore(str(path), deadline=10)) as patient:
        patient.append("bolts", [entry(11)], 10)


def stopped_in_its_turn(path: Path) -> int:
    """Return a process that was stopped in its turn, half-way through a commit."""
    reading, writing = os.pipe()
    child = fork()
    if not child:
        other = SQLiteStore(str(path))
        with other.exclusive("bolts"), other._connections.reading() as connection:
            connection.execute("INSERT INTO entries VALUES (1, 11, 'half', '0', '')")
            os.write(writing, b"x")
            time.sleep(600)
        os._exit(0)
    os.read(reading, 1)
    os.close(reading)
    os.close(writing)
    os.kill(child, signal.SIGSTOP)
    return child


def test_a_process_that_is_stopped_in_its_turn_is_named_and_nobody_waits_for_long(
    store: SQLiteStore, path: Path
) -> None:
    child = stopped_in_its_turn(path)
    try:
        with closing(SQLiteStore(str(path), deadline=0.3)) as hasty:
            assert hasty.length("bolts") == 10  # questions are answered all the same
            for attempt in (
                lambda: hasty.append("bolts", [entry(11)], 10),
                lambda: hasty.create("nuts", entry(1)),
                lambda: hasty.keep("bolts", "cache", b""),
                lambda: hasty.exclusive("bolts").__enter__(),
            ):
                with pytest.raises(StoreBusyError, match=rf"was locked by process {child} for 0\.\d+ .*kill -CONT"):
                    attempt()
    finally:
        os.kill(child, signal.SIGKILL)  # ends its turn, and undoes what it had half done
        os.waitpid(child, 0)
    store.append("bolts", [entry(11)], 10)
    assert store.length("bolts") == 11


def test_a_turn_has_one_deadline_for_all_of_its_steps(store: SQLiteStore, path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other, closing(SQLiteStore(str(path))) as patient:
        other.execute("BEGIN EXCLUSIVE")
        with within(0.1), pytest.raises(StoreBusyError), patient.exclusive("bolts"):
            patient.append("bolts", [entry(11)], 10)


def test_a_child_that_is_forked_while_a_thread_writes_holds_nothing(
    store: SQLiteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even if it outlives the parent's turn, and never does anything."""
    monkeypatch.setattr("proband.studies.stores.pool.SECONDS_BEFORE_FORK", 0.05)
    reading, writing = os.pipe()
    inside, go_on = threading.Event(), threading.Event()

    def write() -> None:
        with store.exclusive("bolts"):
            inside.set()
            go_on.wait(60)
            store.append("bolts", [entry(11)], 10)

    thread = threading.Thread(target=write)
    thread.start()
    inside.wait()
    child = fork()
    if not child:
        os.close(writing)
        os.read(reading, 1)
        os._exit(0)
    os.close(reading)
    go_on.set()
    thread.join()
    with closing(SQLiteStore(str(path), deadline=30)) as other:
        other.append("bolts", [entry(12)], 11)
    os.close(writing)
    os.waitpid(child, 0)


def test_a_child_that_is_forked_in_the_middle_of_a_statement_is_told_so(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite would believe to have the parent's locks."""
    monkeypatch.setattr("proband.studies.stores.pool.SECONDS_BEFORE_FORK", 0.05)
    inside, go_on = threading.Event(), threading.Event()

    def read() -> None:
        with store._connections._pool.borrow():
            inside.set()
            go_on.wait(60)

    thread = threading.Thread(target=read)
    thread.start()
    inside.wait()
    told = "was in use by another thread when this process was forked"
    assert told in in_child(lambda: str(store.length("bolts")))
    assert told in in_child(lambda: str(SQLiteStore(store.path).length("bolts")))
    go_on.set()
    thread.join()
    assert in_child(lambda: str(store.length("bolts"))) == "10"


def test_a_writer_that_knows_nothing_of_turns_does_no_harm(store: SQLiteStore, path: Path) -> None:
    stranger = "INSERT INTO entries VALUES (1, 11, 'stranger', '0', '')"
    with (
        closing(sqlite3.connect(path, timeout=0)) as other,
        store.exclusive("bolts"),
        pytest.raises(sqlite3.OperationalError, match="locked"),
    ):
        other.execute(stranger)
    ask(path, stranger)
    with pytest.raises(ConflictError, match="has 11 entries, not 10 as expected"):
        store.append("bolts", [entry(11)], 10)


def test_a_large_cache_leaves_no_large_journal(store: SQLiteStore, path: Path) -> None:
    for _ in range(3):
        store.keep("bolts", "snapshot", os.urandom(5_000_000))
    store.append("bolts", [entry(11)], 10)
    assert path.with_name("bolts.db-wal").stat().st_size <= 2**22
