"""The store in PostgreSQL: what it does when the server or the way to it fails, and what it says."""

from __future__ import annotations

import os
import select
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest
from tests.postgres import Server, running_server
from tests.processes import fork, in_child

from proband.errors import ConflictError, StoreBusyError, StoreError, StudyExistsError, UnknownStudyError
from proband.studies.stores import Entry, open_store
from proband.studies.stores.postgresql import PostgreSQLStore, schema


def entry(number: int) -> Entry:
    return Entry(number, f"key {number}", f"{number:064x}", "{}")


def ask(url: str, *statements: str) -> None:
    """Go to a database behind the store's back."""
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


@pytest.fixture
def store(postgresql_url: str) -> Iterator[PostgreSQLStore]:
    """A store with one study of ten entries."""
    opened = PostgreSQLStore(postgresql_url)
    opened.create("bolts", entry(1))
    opened.append("bolts", [entry(number) for number in range(2, 11)], 1)
    yield opened
    opened.close()


class Cable:
    """The way to a server, which can be cut as a message goes through: after it has arrived, or before."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.far = str(server.folder / ".s.PGSQL.5432")
        self.folder = folder
        self.cut: tuple[bytes, bool] | None = None
        self.cuts = 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(folder / ".s.PGSQL.5432"))
        self.listener.listen()
        self.threads = [threading.Thread(target=self._accept, daemon=True)]
        self.threads[0].start()

    def cut_at(self, message: bytes, *, arrived: bool) -> None:
        """Cut at the next message that has a text in it; if it is to arrive, when its answer comes."""
        self.cut = message, arrived

    def close(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for thread in self.threads:
            thread.join()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                self.threads.append(threading.Thread(target=self._carry, args=(near,), daemon=True))
                self.threads[-1].start()

    def _carry(self, near: socket.socket) -> None:
        with near, socket.socket(socket.AF_UNIX) as far, suppress(OSError):
            far.connect(self.far)
            while True:
                for end in select.select([near, far], [], [])[0]:
                    data = end.recv(65536)
                    if not data or (end is near and self._cuts(data, far)):
                        return
                    (far if end is near else near).sendall(data)

    def _cuts(self, data: bytes, far: socket.socket) -> bool:
        if self.cut is None or self.cut[0] not in data:
            return False
        arrived, self.cut = self.cut[1], None
        self.cuts += 1
        if arrived:
            far.sendall(data)
            far.settimeout(0.2)
            with suppress(TimeoutError):  # some messages are answered only together with the next
                far.recv(65536)
        return True


@pytest.fixture
def cable(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cable]:
    made = Cable(server, tmp_path_factory.mktemp("c"))
    yield made
    made.close()


@pytest.fixture
def distant(cable: Cable, postgresql_url: str, server: Server, store: PostgreSQLStore) -> Iterator[PostgreSQLStore]:
    """The same store at the end of the cable."""
    opened = PostgreSQLStore(postgresql_url.replace(str(server.folder), str(cable.folder)))
    assert opened.length("bolts") == 10
    yield opened
    opened.close()


@pytest.mark.parametrize("arrived", [True, False])
@pytest.mark.parametrize("message", [b"COMMIT", b"INSERT INTO proband_entries", b"FOR NO KEY UPDATE", b"BEGIN"])
def test_an_append_whose_answer_is_lost_is_added_once(
    distant: PostgreSQLStore, store: PostgreSQLStore, cable: Cable, message: bytes, arrived: bool
) -> None:
    cable.cut_at(message, arrived=arrived)
    distant.append("bolts", [entry(11), entry(12)], 10)
    assert cable.cuts == 1
    assert [line.number for line in store.read("bolts")] == list(range(1, 13))


@pytest.mark.parametrize("arrived", [True, False])
def test_an_append_in_a_turn_whose_answer_is_lost_is_added_once(
    distant: PostgreSQLStore, store: PostgreSQLStore, cable: Cable, arrived: bool
) -> None:
    with distant.exclusive("bolts"):
        assert distant.length("bolts") == 10
        cable.cut_at(b"COMMIT", arrived=arrived)
        distant.append("bolts", [entry(11)], 10)
        distant.append("bolts", [entry(12)], 11)
    assert cable.cuts == 1
    assert [line.number for line in store.read("bolts")] == list(range(1, 13))


def test_an_append_whose_answer_is_lost_and_that_others_outran_is_a_conflict(
    distant: PostgreSQLStore, store: PostgreSQLStore, cable: Cable
) -> None:
    with distant.exclusive("bolts"):
        cable.cut_at(b"SELECT max", arrived=False)
        with suppress(ConflictError):
            assert distant.length("bolts") == 10
        store.append("bolts", [entry(11)._replace(key="another", hash="0")], 10)
        with pytest.raises(ConflictError, match="has 11 entries, not 10 as expected"):
            distant.append("bolts", [entry(11)], 10)


@pytest.mark.parametrize("arrived", [True, False])
def test_a_creation_whose_answer_is_lost_happens_once(
    distant: PostgreSQLStore, store: PostgreSQLStore, cable: Cable, arrived: bool
) -> None:
    cable.cut_at(b"COMMIT", arrived=arrived)
    distant.create("nuts", entry(1))
    assert cable.cuts == 1
    assert store.length("nuts") == 1
    with pytest.raises(StudyExistsError):
        distant.create("nuts", entry(1))


def test_a_store_survives_a_killed_server() -> None:
    with running_server() as server:
        store = PostgreSQLStore(server.url)
        store.create("bolts", entry(1))
        server.kill(whole=False)
        with ThreadPoolExecutor() as threads, closing(store):
            added = threads.submit(store.append, "bolts", [entry(2)], 1)
            read = threads.submit(store.read, "bolts")
            server.start()
            added.result()
            assert len(read.result()) in (1, 2)
            assert store.length("bolts") == 2
            with store.exclusive("bolts"):
                server.kill()
                server.start()
                store.append("bolts", [entry(3)], 2)
            assert store.length("bolts") == 3
        with closing(PostgreSQLStore(server.url, deadline=0.3)) as hasty:
            assert hasty.length("bolts") == 3
            server.kill()
            with pytest.raises(StoreError, match="no answer; look whether the server runs"):
                hasty.append("bolts", [entry(4)], 3)
            server.start()
            hasty.append("bolts", [entry(4)], 3)


def test_what_was_settled_or_found_outlives_the_server_and_what_was_not_is_said_to_be_uncertain() -> None:
    with running_server() as server, closing(PostgreSQLStore(server.url)) as store:
        store.create("bolts", entry(1))
        with store.deferring() as since:
            store.append("bolts", [entry(2)], 1)
        with closing(PostgreSQLStore(server.url)) as other:
            assert other.length("bolts") == 2  # before it is durable
            store.settle(since)
            server.kill()
            server.start()
            assert other.length("bolts") == 2
            with pytest.raises(StoreBusyError, match="do it again with the same key"):
                store.settle(since)
            with store.deferring() as later:
                store.append("bolts", [entry(3)], 2)
            assert later > since
            with other.turn("bolts", 1, 10, "key 3") as (news, found):
                assert [line.number for line in news] == [2, 3]
                assert found is not None
            server.kill()
            server.start()
            assert other.find("bolts", "key 3") == found
            with pytest.raises(StoreBusyError):
                store.settle(later)
            with store.deferring() as again:
                store.append("bolts", [entry(4)], 3)
                store.settle(again)
            with pytest.raises(StoreBusyError):
                store.settle(since)


def test_a_child_has_a_witness_of_its_own(store: PostgreSQLStore) -> None:
    with store.deferring() as since:
        store.append("bolts", [entry(11)], 10)

    def at_work() -> str:
        with store.deferring() as own:
            store.append("bolts", [entry(12)], 11)
        store.settle(own)
        with pytest.raises(StoreBusyError):
            store.settle(since)
        return "settled its own"

    assert in_child(at_work) == "settled its own"
    store.settle(since)
    assert store.length("bolts") == 12


def test_connections_that_the_server_ended_are_replaced(store: PostgreSQLStore, postgresql_url: str) -> None:
    with store.exclusive("bolts"):
        ask(postgresql_url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'proband'")
        assert store.length("bolts") == 10
        store.append("bolts", [entry(11)], 10)
    assert store.length("bolts") == 11


def test_a_commit_is_durable_even_if_the_role_says_otherwise(postgresql_url: str) -> None:
    lax = postgresql_url.replace("-csearch_path", "-csynchronous_commit%3Doff%20-csearch_path")
    with closing(PostgreSQLStore(lax)) as store:
        store.create("bolts", entry(1))
        setting = store._connections.run(lambda connection, _: connection.execute("SHOW synchronous_commit").fetchall())
    assert setting == [("on",)]


def test_a_turn_that_takes_too_long(store: PostgreSQLStore, postgresql_url: str) -> None:
    with store.exclusive("bolts"), closing(PostgreSQLStore(postgresql_url, deadline=0.1)) as hasty:
        with pytest.raises(StoreError, match="others hold it for longer than the deadline"):
            hasty.append("bolts", [entry(11)], 10)
        assert hasty.length("bolts") == 10


@pytest.fixture
def frozen() -> Iterator[Callable[[int], None]]:
    """Freezes processes of the server, until the end of the test."""
    stopped: list[int] = []

    def freeze(process: int) -> None:
        os.kill(process, signal.SIGSTOP)
        stopped.append(process)

    yield freeze
    for process in stopped:
        os.kill(process, signal.SIGCONT)


def backend_of(store: PostgreSQLStore) -> int:
    return store._connections.run(lambda connection, _: connection.info.backend_pid, "bolts")


@pytest.mark.parametrize("moment", ["idle", "in its turn"])
def test_a_frozen_backend_is_not_waited_for_beyond_the_deadline(
    store: PostgreSQLStore, postgresql_url: str, frozen: Callable[[int], None], moment: str
) -> None:
    hasty, ends = PostgreSQLStore(postgresql_url, deadline=1.0), list[str]()

    def write() -> None:
        with suppress(StoreBusyError), closing(hasty):
            if moment == "in its turn":
                with hasty.exclusive("bolts"):
                    frozen(backend_of(hasty))
                    hasty.append("bolts", [entry(11)], 10)
            else:
                frozen(backend_of(hasty))
                hasty.append("bolts", [entry(11)], 10)
            ends.append("acknowledged")
        ends.append("over")

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    thread.join(60)
    assert ends == ["over"]
    assert store.length("bolts") == 10


def test_after_a_frozen_backend_a_store_goes_on_with_another(
    store: PostgreSQLStore, postgresql_url: str, frozen: Callable[[int], None]
) -> None:
    with closing(PostgreSQLStore(postgresql_url, deadline=1.0)) as hasty:
        frozen(backend_of(hasty))
        with pytest.raises(StoreBusyError, match=r"no answer.*did not answer within 1 seconds"):
            hasty.length("bolts")
        hasty.append("bolts", [entry(11)], 10)
    assert store.length("bolts") == 11


def test_a_client_that_is_stopped_in_its_turn_loses_it(store: PostgreSQLStore, postgresql_url: str) -> None:
    reading, writing = os.pipe()
    child = fork()
    if not child:
        with PostgreSQLStore(postgresql_url, deadline=1.0).exclusive("bolts"):
            os.write(writing, b"x")
            time.sleep(600)
    os.read(reading, 1)
    os.kill(child, signal.SIGSTOP)
    try:
        store.append("bolts", [entry(11)], 10)  # the server has ended the other session
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reading)
        os.close(writing)
    assert store.length("bolts") == 11


def test_writers_of_other_studies_do_not_wait(store: PostgreSQLStore, postgresql_url: str) -> None:
    store.create("nuts", entry(1))
    with store.exclusive("bolts"), closing(PostgreSQLStore(postgresql_url, deadline=5)) as other:
        other.append("nuts", [entry(2)], 1)
    assert store.length("nuts") == 2


def test_reading_makes_no_tables(postgresql_url: str) -> None:
    with closing(PostgreSQLStore(postgresql_url)) as store:
        assert store.studies() == []
        attempts: list[Callable[[], object]] = [
            lambda: store.length("bolts"),
            lambda: store.append("bolts", [entry(1)], 0),
            lambda: store.exclusive("bolts").__enter__(),
        ]
        for attempt in attempts:
            with pytest.raises(UnknownStudyError, match="no study 'bolts' in postgresql://proband@/postgres"):
                attempt()
    with psycopg.connect(postgresql_url) as connection:
        assert connection.execute("SELECT to_regclass('proband_studies')").fetchall() == [(None,)]


def test_tables_are_made_once_however_many_begin_at_once(postgresql_url: str) -> None:
    stores = [PostgreSQLStore(postgresql_url) for _ in range(6)]
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda n: stores[n].create(f"study {n}", entry(1)), range(6)))
    assert stores[0].studies() == [f"study {n}" for n in range(6)]
    for store in stores:
        store.close()


def test_foreign_tables_are_left_untouched(postgresql_url: str) -> None:
    ask(postgresql_url, "CREATE TABLE proband_studies (flower text)")
    with closing(PostgreSQLStore(postgresql_url)) as store:
        for attempt in (store.studies, lambda: store.create("bolts", entry(1))):
            with pytest.raises(StoreError, match="a table proband_studies that proband did not make; it was left"):
                attempt()


def test_a_newer_database(store: PostgreSQLStore, postgresql_url: str) -> None:
    store.close()
    ask(postgresql_url, "INSERT INTO proband_migrations VALUES (7, '9.8.7')")
    with pytest.raises(StoreError, match=r"has format 7, written by proband 9\.8\.7; .* formats up to 1; upgrade"):
        store.append("bolts", [entry(11)], 10)


def test_older_tables_are_brought_up_to_date_when_they_are_opened(
    store: PostgreSQLStore, postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = schema.MIGRATIONS
    store.append("bolts", [entry(11)], 10)
    monkeypatch.setattr(schema, "MIGRATIONS", (*released, ("ALTER TABLE proband_studies ADD COLUMN note text",)))
    with closing(PostgreSQLStore(postgresql_url)) as later:
        assert later.length("bolts") == 11
        later.append("bolts", [entry(12)], 11)
    with psycopg.connect(postgresql_url) as connection:
        assert connection.execute("SELECT name, note FROM proband_studies").fetchall() == [("bolts", None)]
        assert connection.execute("SELECT number FROM proband_migrations").fetchall() == [(1,), (2,)]
    monkeypatch.setattr(schema, "MIGRATIONS", released)
    with pytest.raises(StoreError, match=r"has format 2, written by proband .*; upgrade proband"):
        store.append("bolts", [entry(13)], 12)  # by a connection from before


def test_a_database_in_another_encoding(server: Server) -> None:
    ask(server.url, "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
    with pytest.raises(StoreError, match="is encoded in LATIN1; a store needs UTF8"):
        PostgreSQLStore(server.url.replace("/postgres?", "/latin?")).studies()


def test_a_role_without_rights(server: Server, postgresql_url: str) -> None:
    ask(server.url, "CREATE ROLE guest LOGIN")
    with (
        closing(PostgreSQLStore(postgresql_url.replace("proband@", "guest@"))) as store,
        pytest.raises(StoreError, match=r"the role lacks a right; grant CREATE|42501|3F000"),
    ):
        store.create("bolts", entry(1))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("/postgres?", "/flowers?", 'database "flowers" does not exist'),
        ("proband@", "stranger@", 'role "stranger" does not exist'),
    ],
)
def test_who_is_not_let_in_is_told_at_once(postgresql_url: str, old: str, new: str, message: str) -> None:
    with pytest.raises(StoreError, match=message):
        PostgreSQLStore(postgresql_url.replace(old, new)).studies()


def test_an_address_that_is_none() -> None:
    with pytest.raises(StoreError, match=r"is no address of a PostgreSQL database .*; write postgresql://user@host"):
        open_store("postgresql://qa@host/bolts?colour=red")
