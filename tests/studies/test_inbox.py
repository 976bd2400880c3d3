"""Requests of many writers in one commit, and what the dead leave behind."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.studies.crowd import Clock, bolts

from proband.errors import TamperedError
from proband.studies import Study
from proband.studies.inbox import Inbox, LocalInbox
from proband.studies.inbox_folder import FolderInbox
from proband.studies.stores import Entry, MemoryStore, SQLiteStore, Store

ROW = {"visual": "clean", "weight": "light", "ultrasonic": "ok"}


@pytest.fixture(params=["threads", "folder"])
def inbox(request: pytest.FixtureRequest, tmp_path: Path) -> Inbox:
    return LocalInbox() if request.param == "threads" else FolderInbox(str(tmp_path / "s.db"), "bolts")


def test_one_leads_and_takes_the_requests_of_the_others(inbox: Inbox) -> None:
    with inbox.waiting("one") as one, inbox.waiting("two") as two, inbox.waiting("three"):
        with inbox.leading(one) as served:
            assert served == []
            with inbox.leading(two) as nobody:
                assert nobody is None
            others = inbox.others(one)
            assert sorted(slip.text for slip in others) == ["three", "two"]
            for slip in others:
                if slip.text == "two":
                    slip.take()
                    served.append(slip)
            assert [slip.text for slip in inbox.others(one)] == ["three"]
        assert one.taken
        assert two.taken
        two.wait(30)  # the bell was rung
        with inbox.leading(two) as served:
            assert served == []


def test_the_next_in_line_is_rung_for(inbox: Inbox) -> None:
    with inbox.waiting("one") as one, inbox.waiting("two") as two:
        with inbox.leading(one):
            thread = threading.Thread(target=two.wait, args=(60,))
            thread.start()
        thread.join(30)
        assert not thread.is_alive()
        assert not two.taken


def test_slips_are_used_again(tmp_path: Path) -> None:
    inbox = FolderInbox(str(tmp_path / "s.db"), "bolts")
    for text in ("a long request", "short", "é"):
        with inbox.waiting(text), inbox.waiting("other") as other:
            assert [slip.text for slip in inbox.others(other)] == [text]
    with inbox.waiting("x") as own:
        assert inbox.others(own) == []
    [folder] = (tmp_path / "s.db-inbox").iterdir()
    assert len(list(folder.glob("*.request"))) == 2
    inbox.close()
    assert list(folder.glob("*.*")) == []


def test_what_the_dead_left_is_thrown_away_unread(tmp_path: Path) -> None:
    path = str(tmp_path / "s.db")
    program = (
        "import os, sys\n"
        "from proband.studies.inbox_folder import FolderInbox\n"
        f"inbox = FolderInbox({path!r}, 'bolts')\n"
        "with inbox.waiting('last words'):\n"
        "    print('waiting', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    inbox = FolderInbox(path, "bolts")
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        with inbox.waiting("mine") as own:
            assert [slip.text for slip in inbox.others(own)] == ["last words"]
            process.kill()
            process.wait()
            assert inbox.others(own) == []
    [folder] = (tmp_path / "s.db-inbox").iterdir()
    assert len(list(folder.glob("*.request"))) == 1


def test_garbage_in_the_folder_is_ignored(tmp_path: Path) -> None:
    inbox = FolderInbox(str(tmp_path / "s.db"), "bolts")
    [folder] = (tmp_path / "s.db-inbox").iterdir()
    with inbox.waiting("x") as own, inbox.waiting("y") as other:
        file = os.open(other.path + ".request", os.O_WRONLY)  # type: ignore[attr-defined]
        os.pwrite(file, b"1garbage", 0)
        os.close(file)
        (folder / "stray.request").write_text("1garbage")
        (folder / "news").write_bytes(b"\xff\xff")
        assert inbox.others(own) == []
        assert inbox.news(0) is None


def test_news_are_those_after_a_number(tmp_path: Path) -> None:
    inbox, other = (FolderInbox(str(tmp_path / "s.db"), "bolts") for _ in range(2))
    assert other.news(0) is None
    entries = [Entry(n, f"k{n}", "h", f"é {n}") for n in range(5, 9)]
    inbox.publish(entries)
    assert other.news(8) == []
    assert other.news(9) == []
    assert other.news(6) == entries[2:]
    assert other.news(4) == entries
    assert other.news(3) is None
    inbox.publish(entries[2:])  # shorter than what was there
    assert other.news(6) == entries[2:]
    other.forget()
    assert inbox.news(6) is None


class Gated(MemoryStore):
    """Lets the first append wait until it is told to go on, and counts how many entries come together."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.sizes, self.writing = threading.Event(), list[int](), threading.Event()

    def append(self, study: str, entries: object, expected: int) -> None:
        self.sizes.append(len(entries))  # type: ignore[arg-type]
        self.writing.set()
        assert self.gate.wait(30)
        super().append(study, entries, expected)  # type: ignore[arg-type]


def test_threads_that_wait_are_written_together() -> None:
    store = Gated()
    study = Study.create(bolts(), agent="test-everything", store=store, station="A", clock=Clock(), replan="never")
    study.replan()
    first = threading.Thread(target=study.arrive)
    first.start()
    assert store.writing.wait(30)
    names: list[str] = []
    errors: list[Exception] = []

    def arrive(name: str | None) -> None:
        try:
            names.append(study.arrive(ROW, subject=name).name)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=arrive, args=(name,)) for name in (None, None, None, "7", "7", "bad\nname")]
    for thread in threads:
        thread.start()
    while len(study._journal._inbox._slips) < 6:  # type: ignore[attr-defined]
        pass
    store.gate.set()
    for thread in [first, *threads]:
        thread.join(30)
    assert len(errors) == 2  # the second 7, and the bad name
    assert len(set(names)) == 4
    assert store.length("bolts") == 1 + 5
    assert max(store.sizes) >= 3
    assert len(store.sizes) < 5
    assert study.replay().differences == ()


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_many_threads_on_one_study(kind: str, tmp_path: Path) -> None:
    store: Store = MemoryStore() if kind == "memory" else SQLiteStore(str(tmp_path / "s.db"))
    study = Study.create(bolts(), agent="test-everything", store=store, station="A")
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


def test_an_older_copy_of_the_file_in_its_place(tmp_path: Path) -> None:
    path, copy = tmp_path / "s.db", tmp_path / "copy.db"
    url = f"sqlite:///{path}"
    with Study.create(bolts(), agent="test-everything", store=url, station="A") as study:
        study.arrive()
        shutil.copy(path, copy)
        study.arrive()
        study.arrive()
        os.replace(copy, path)
        with pytest.raises(TamperedError, match=r"entry 3 is missing.*an older copy"):
            study.arrive()
    with Study.open("bolts", store=url, station="A") as again:
        assert again.arrive().name == "2"
        assert again.verify().length == 3


def test_somebody_writes_without_leaving_news(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SQLiteStore(str(tmp_path / "s.db"))
    study = Study.create(bolts(), agent="test-everything", store=store, station="A")
    bolt = study.arrive()
    silent = Study.open("bolts", store=store, station="A")
    silent._journal._inbox = LocalInbox()
    silent.tell(bolt, "visual", "clean")
    monkeypatch.setattr("proband.studies.journal.SILENCE", 0.0)
    assert study.ask(bolt).action == "weight"
    study.tell(bolt, "weight", "light")
    assert study.verify().length == 4
    study.close()
    store.close()


def test_whoever_asks_does_not_ask_a_store_that_is_at_work(tmp_path: Path) -> None:
    class Busy(SQLiteStore):
        reads = 0

        def read(self, study: str, after: int = 0, limit: int | None = None) -> list[Entry]:
            self.reads += 1
            return super().read(study, after, limit)

    store, other = Busy(str(tmp_path / "s.db")), SQLiteStore(str(tmp_path / "s.db"))
    one = Study.create(bolts(), agent="test-everything", store=other, station="A")
    two = Study.open("bolts", store=store, station="A")
    bolt = one.arrive()
    before = store.reads
    assert two.ask(bolt).action == "visual"
    one.tell(bolt, "visual", "clean")
    assert two.ask(bolt).action == "weight"
    assert store.reads == before
    for study in (one, two):
        study.close()
    for each in (store, other):
        each.close()


def test_requests_that_do_not_go_together_are_written_one_after_the_other() -> None:
    store = Gated()
    study = Study.create(bolts(), agent="test-everything", store=store, station="A", clock=Clock(), replan="never")
    study.replan()
    store.gate.set()
    bolt = study.arrive()
    store.gate.clear()
    store.writing.clear()
    first = threading.Thread(target=study.arrive)
    first.start()
    assert store.writing.wait(30)
    ends: list[str] = []

    def attempt(work: Callable[[], object]) -> None:
        try:
            work()
            ends.append("done")
        except Exception as error:
            ends.append(type(error).__name__)

    jobs: list[Callable[[], object]] = [
        lambda: study.tell(bolt, "visual", "clean"),
        lambda: study.tell(bolt, "weight", "light"),
        lambda: study.arrive({"visual": "clean"}, key="same"),
        lambda: study.arrive({"visual": "rusty"}, key="same"),
        lambda: study.arrive({"visual": "clean"}, key="twice"),
        lambda: study.arrive({"visual": "clean"}, key="twice"),
    ]
    threads = [threading.Thread(target=attempt, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    while len(study._journal._inbox._slips) < 7:  # type: ignore[attr-defined]
        pass
    with study._journal._inbox.waiting('{"garbage": 1}'):
        store.gate.set()
        for thread in [first, *threads]:
            thread.join(30)
    assert sorted(ends) == ["KeyReusedError", *["done"] * 5]
    assert store.length("bolts") == 2 + 1 + 4
    assert study.subject(bolt.name).known == {"visual": "clean", "weight": "light"}
    assert study.replay().differences == ()


def test_a_request_that_waited_long_does_not_look_like_a_clock_that_is_behind() -> None:
    store = Gated()
    study = Study.create(bolts(), agent="test-everything", store=store, station="A", replan="never")
    study.replan()
    asked = study._journal.request("arrived", None, {"known": {}, "policy": 1, "lease": 60.0}, None)
    late = dataclasses.replace(asked, clock=asked.clock - 100, stamp=asked.stamp - 100)
    store.gate.set()
    study._journal.write(late)
    study.arrive()
    assert study.summary().clock == ()
