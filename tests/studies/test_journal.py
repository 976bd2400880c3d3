"""Turns at the log: whoever comes in between, and whatever the store says, nothing is lost, doubled or refused."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.processes import fork, in_child
from tests.studies.crowd import Clock, bolts

from proband.errors import KeyReusedError, StoreBusyError, StoreError, StudyError, TamperedError
from proband.studies import Study
from proband.studies.stores import Entry, MemoryStore, SQLiteStore, Store

ROW = {"visual": "clean", "weight": "light", "ultrasonic": "ok"}


def make(store: Store) -> Study:
    return Study.create(bolts(), agent="test-everything", store=store, station="A", replan="never")


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_many_threads_on_one_study(kind: str, tmp_path: Path) -> None:
    store: Store = MemoryStore() if kind == "memory" else SQLiteStore(str(tmp_path / "s.db"))
    study = make(store)
    failed: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(4):
                bolt = study.arrive()
                for test, outcome in ROW.items():
                    assert study.ask(bolt).action == test
                    study.tell(bolt, test, outcome)
                study.decide(bolt)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failed == []
    assert study.verify().length == 1 + 6 * 4 * 5
    assert study.replay().differences == ()
    study.close()
    store.close()


def test_an_older_log_in_its_place() -> None:
    store = MemoryStore()
    study = make(store)
    for _ in range(3):
        study.arrive()
    log = store._logs["bolts"]
    for entry in log.entries[2:]:
        del log.by_key[entry.key]
    del log.entries[2:]
    with pytest.raises(TamperedError, match=r"entry 3 is missing.*an older copy"):
        study.arrive()
    with Study.open("bolts", store=store, station="A") as again:
        assert again.arrive().name == "2"
        assert again.verify().length == 3


class Lossy(MemoryStore):
    """Loses the answer to an append, and may then be away for good."""

    lost = away = False

    def append(self, study: str, entries: Sequence[Entry], expected: int) -> None:
        super().append(study, entries, expected)
        if self.lost:
            raise StoreBusyError("the connection was lost")

    def find(self, study: str, key: str) -> Entry | None:
        if self.away:
            raise StoreError("the store is away")
        return super().find(study, key)


def test_a_write_is_never_refused_although_it_was_recorded() -> None:
    store = Lossy()
    study = make(store)
    store.lost = True
    for key in (None, "mine"):
        bolt = study.arrive(key=key)
        study.tell(bolt, {"visual": "clean", "weight": "light"})
    assert study.verify().length == 1 + 2 * 3


def test_when_nobody_can_know_the_key_is_told() -> None:
    store = Lossy()
    study = make(store)
    store.lost = store.away = True
    with pytest.raises(StoreBusyError, match=r"connection was lost; should it be recorded .* '[0-9a-f]+'") as told:
        study.arrive()
    store.lost = store.away = False
    key = str(told.value).split("'")[-2]
    assert study.arrive(key=key).name == "1"
    assert study.verify().length == 2


def test_a_key_that_stands_for_a_further_event_of_another_request() -> None:
    study = make(MemoryStore())
    bolt = study.arrive(key="scan part 2")
    with pytest.raises(KeyReusedError, match="'scan part 2' was used already, and this request needs it"):
        study.tell(bolt, {"visual": "clean", "weight": "light"}, key="scan")
    assert study.verify().length == 2
    study.tell(bolt, {"visual": "clean"}, key="scan")


def test_a_stopped_writer_holds_off_writes_for_a_while_and_questions_not_at_all(tmp_path: Path) -> None:
    path = str(tmp_path / "s.db")
    study = make(SQLiteStore(path, deadline=0.3))
    bolt = study.arrive()
    reading, writing = os.pipe()
    child = fork()
    if not child:
        with SQLiteStore(path).exclusive("bolts"):
            os.write(writing, b"x")
            time.sleep(600)
    os.read(reading, 1)
    os.kill(child, signal.SIGSTOP)
    try:
        assert study.ask(bolt).action == "visual"
        with pytest.raises(StoreBusyError, match=f"locked by process {child} for 0.3 seconds.*nothing .* recorded"):
            study.tell(bolt, "visual", "clean")
        assert study.ask(bolt).action == "visual"
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert study.tell(bolt, "visual", "clean").known == {"visual": "clean"}
    assert study.ask(bolt).action == "weight"
    for end in (reading, writing):
        os.close(end)


class Held(MemoryStore):
    """Others hold it, even for those who read."""

    held = False

    def read(self, study: str, after: int = 0, limit: int | None = None) -> list[Entry]:
        if self.held:
            raise StoreBusyError("others hold it")
        return super().read(study, after, limit)


def test_a_question_is_answered_by_what_is_known_if_the_store_is_held() -> None:
    store = Held()
    study = make(store)
    bolt = study.arrive()
    store.held = True
    assert study.ask(bolt).action == "visual"
    with pytest.raises(StoreBusyError):
        study.tell(bolt, "visual", "clean")


def test_a_study_goes_on_while_a_child_that_was_forked_as_a_thread_wrote_lives(tmp_path: Path) -> None:
    study = make(SQLiteStore(str(tmp_path / "s.db")))
    stop, told = threading.Event(), list[str]()

    def write() -> None:
        while not stop.is_set():
            told.append(study.arrive().name)

    thread = threading.Thread(target=write)
    thread.start()
    reading, writing = os.pipe()
    children = []
    for _ in range(8):
        seen = len(told)
        while len(told) == seen:  # so that each fork meets a writer at work
            time.sleep(0.001)
        children.append(fork())
        if not children[-1]:
            os.close(writing)
            os.read(reading, 1)
            os._exit(0)
    seen = len(told)
    with Study.open("bolts", store=f"sqlite:///{tmp_path}/s.db", station="B", replan="never") as other:
        for _ in range(20):
            other.arrive()
    stop.set()
    thread.join(60)
    assert not thread.is_alive()
    assert len(told) > seen
    assert study.verify().length == 1 + len(told) + 20
    os.close(writing)
    for child in children:
        os.waitpid(child, 0)
    os.close(reading)


def test_another_user_is_told_what_to_do(tmp_path: Path) -> None:
    path = Path("/tmp") / f"proband-{os.getpid()}.db"
    try:
        with Study.create(bolts(), agent="test-everything", store=f"sqlite:///{path}", station="A") as study:
            study.arrive()

            def arrive() -> str:
                return Study.open("bolts", store=f"sqlite:///{path}", replan="never").arrive().name

            assert "StoreError" in (answer := in_child(arrive, as_nobody=True))
            assert "give access to the file and its folder" in answer
            for file in path.parent.glob(path.name + "*"):
                file.chmod(0o666)
            assert in_child(arrive, as_nobody=True) == "2"
            assert study.arrive().name == "3"
    finally:
        for file in path.parent.glob(path.name + "*"):
            file.unlink()


def test_a_clock_that_jumps_ahead_by_a_century_is_refused() -> None:
    clock = Clock()
    study = Study.create(bolts(), agent="test-everything", store=MemoryStore(), clock=clock, replan="never")
    for wrong in (4_102_444_800.0, 0.0, float("nan"), 1e300):
        was, clock.seconds = clock.seconds, wrong
        with pytest.raises(StudyError, match=r"the clock says .* between the years 2000 and 2100; set the clock"):
            study.arrive()
        with pytest.raises(StudyError, match="set the clock"):
            Study.create(bolts(), name="x", store=MemoryStore(), clock=clock)
        clock.seconds = was
    assert study.arrive().name == "1"
