from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.processes import fork
from tests.studies.crowd import Crowd, bolts, gout

from proband.errors import StudyError, StudyExistsError, TamperedError
from proband.studies import Study, import_study
from proband.studies.stores import Entry, MemoryStore, SQLiteStore, Store


@pytest.fixture
def crowd() -> Crowd:
    crowd = Crowd(bolts(), "doubling-keep", np.random.default_rng(1))
    crowd.run(60)
    return crowd


def test_an_export_is_the_log_line_by_line(crowd: Crowd, tmp_path: Path) -> None:
    found = crowd.studies[0].export(tmp_path / "bolts.jsonl")
    head, *bodies = (tmp_path / "bolts.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(head) == {
        "format": 1,
        "kind": "proband study",
        "study": "bolts",
        "length": found.length,
        "hash": found.hash,
    }
    assert bodies == [entry.body for entry in crowd.store.read("bolts")]
    assert sha256(bodies[-1].encode()).hexdigest() == found.hash
    assert [file.name for file in tmp_path.iterdir()] == ["bolts.jsonl"]


def test_an_import_is_equal_and_adds_nothing_twice(crowd: Crowd, tmp_path: Path) -> None:
    path = tmp_path / "bolts.jsonl"
    crowd.studies[0].export(path)
    store = SQLiteStore(str(tmp_path / "other.db"))
    for _ in range(2):
        import_study(path, store=store)
        assert store.read("bolts") == crowd.store.read("bolts")
    with Study.open("bolts", store=store, station="0", clock=crowd.clock) as copy:
        assert copy.table() == crowd.studies[0].table()
        for subject in copy.subjects(open=True):
            assert copy.ask(subject) == crowd.studies[0].ask(subject)
        assert copy.verify() == crowd.studies[0].verify()
    store.close()
    import_study(path, store=f"sqlite:///{tmp_path}/third.db")
    with Study.open("bolts", store=f"sqlite:///{tmp_path}/third.db") as third:
        assert third.verify() == crowd.studies[0].verify()


class Killer:
    """A store whose process is killed as it writes an entry."""

    def __init__(self, store: Store, entry: int) -> None:
        self._store, self._entry = store, entry

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def create(self, study: str, first: Entry, rest: Iterable[Entry] = ()) -> None:
        self._store.create(study, first, *([self.until(rest)] if rest else []))

    def append(self, study: str, entries: Iterable[Entry], expected: int) -> None:
        self._store.append(study, list(self.until(entries)), expected)

    def until(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        for entry in entries:
            if entry.number == self._entry:
                os.kill(os.getpid(), signal.SIGKILL)
            yield entry


@pytest.mark.parametrize("make_store", ["sqlite", "postgresql"], indirect=True)
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_an_import_that_is_killed_leaves_nothing(
    make_store: Callable[[], Store], crowd: Crowd, tmp_path: Path, share: float
) -> None:
    path = tmp_path / "bolts.jsonl"
    found = crowd.studies[0].export(path)
    child = fork()
    if not child:
        import_study(path, store=Killer(make_store(), 2 + int(share * (found.length - 2))))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    store = make_store()
    assert store.studies() == []
    assert import_study(path, store=store) == found
    assert store.read("bolts") == crowd.store.read("bolts")


def test_what_is_missing_of_a_longer_export_is_added_all_or_none(crowd: Crowd, tmp_path: Path) -> None:
    path, store = tmp_path / "bolts.jsonl", SQLiteStore(str(tmp_path / "s.db"))
    crowd.studies[0].export(path)
    import_study(path, store=store)
    before = store.length("bolts")
    crowd.run(40)
    after = crowd.studies[0].export(path).length
    store.close()
    child = fork()
    if not child:
        import_study(path, store=Killer(store, after))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert store.length("bolts") == before
    import_study(path, store=store)
    assert store.read("bolts") == crowd.store.read("bolts")
    store.close()


def test_a_file_that_cannot_be_written_leaves_the_one_before(
    crowd: Crowd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = crowd.studies[0]
    for name in ("log.jsonl", "table.csv", "table.parquet"):
        write = study.export if name == "log.jsonl" else study.write_table
        write(tmp_path / name)
        before = (tmp_path / name).read_bytes()
        study.arrive()
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fail)
            with pytest.raises(StudyError, match=rf"{name}: it cannot be written \(No space left"):
                write(tmp_path / name)
        assert (tmp_path / name).read_bytes() == before
        with pytest.raises(StudyError, match="it cannot be written"):
            write(tmp_path / "nowhere" / name)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["log.jsonl", "table.csv", "table.parquet"]


def fail(_: int) -> None:
    raise OSError(28, "No space left on device")


def test_a_longer_export_goes_on_where_the_store_ends(crowd: Crowd, tmp_path: Path) -> None:
    store = MemoryStore()
    for _ in range(2):
        crowd.run(20)
        crowd.studies[0].export(tmp_path / "bolts.jsonl")
        import_study(tmp_path / "bolts.jsonl", store=store)
        assert store.read("bolts") == crowd.store.read("bolts")
    crowd.run(20)
    import_study(tmp_path / "bolts.jsonl", store=crowd.store)  # a shorter one adds nothing
    assert store.length("bolts") < crowd.store.length("bolts")


def test_another_log_of_the_same_name_is_refused(crowd: Crowd, tmp_path: Path) -> None:
    crowd.studies[0].export(tmp_path / "bolts.jsonl")
    store = MemoryStore()
    Study.create(bolts(), store=store)
    with pytest.raises(StudyExistsError, match=r"differs from entry 1 on.*another store"):
        import_study(tmp_path / "bolts.jsonl", store=store)
    assert store.length("bolts") == 1


def test_broken_exports(crowd: Crowd, tmp_path: Path) -> None:
    path = tmp_path / "bolts.jsonl"
    crowd.studies[0].export(path)
    lines = path.read_text(encoding="utf-8").splitlines()
    crowd.run(10)
    crowd.studies[0].export(path)
    longer = path.read_text(encoding="utf-8").splitlines()
    broken = {
        "no exported study": ["{}", *lines[1:]],
        "is no exported study": ["not JSON"],
        "of format 9": [lines[0].replace('"format":1', '"format":9'), *lines[1:]],
        "first line is incomplete": ['{"format":1,"kind":"proband study"}'],
        "its end was dropped": lines[:-1],
        "and its first line says": [lines[0], *longer[1:]],
        "line 4 is no event": [*lines[:3], "garbage", *lines[4:]],
        "was altered": [*lines[:3], lines[3].replace('"actor"', '"actor" '), *lines[4:]],
    }
    for message, content in broken.items():
        path.write_text("\n".join(content) + "\n", encoding="utf-8")
        store = MemoryStore()
        with pytest.raises((StudyError, TamperedError), match=message):
            import_study(path, store=store)
        assert store.studies() == []
    with pytest.raises(StudyError, match="cannot be read"):
        import_study(tmp_path / "missing.jsonl", store=MemoryStore())


def test_verify_names_the_first_wrong_entry(crowd: Crowd, tmp_path: Path) -> None:
    study = crowd.studies[0]
    seen = study.verify()
    study.export(tmp_path / "bolts.jsonl")
    crowd.run(10)
    assert study.verify(length=seen.length, hash=seen.hash).length > seen.length
    study.verify(export=tmp_path / "bolts.jsonl")
    log = crowd.store._logs["bolts"].entries  # type: ignore[attr-defined]
    last = log[-1]
    log[-1] = last._replace(body=last.body + " ")
    with pytest.raises(TamperedError, match=f"entry {last.number} was altered"):
        study.verify()
    log[-1] = last
    del log[seen.length - 3 :]
    study.verify()  # a shorter log is a log
    with pytest.raises(TamperedError, match=f"entry {seen.length - 2} is missing.*its end was dropped"):
        study.verify(length=seen.length, hash=seen.hash)
    with pytest.raises(TamperedError, match=f"entry {seen.length - 2} is not the one of"):
        study.verify(export=tmp_path / "bolts.jsonl")


def test_a_hash_alone_is_looked_for(crowd: Crowd) -> None:
    study = crowd.studies[0]
    seen = study.verify()
    crowd.run(10)
    assert study.verify(hash=seen.hash).length > seen.length
    assert study.verify(hash=f" {seen.hash.upper()}\n").length > seen.length
    with pytest.raises(TamperedError, match=r"none of the .* entries has the hash 00000"):
        study.verify(hash="0" * 64)
    log = crowd.store._logs["bolts"].entries  # type: ignore[attr-defined]
    del log[seen.length - 1 :]
    with pytest.raises(TamperedError, match=f"none of the {seen.length - 1} entries has the hash {seen.hash}"):
        study.verify(hash=seen.hash)
    for given in ("", seen.hash[:12], f"{seen.hash[:12]}...", "x" * 64):
        with pytest.raises(StudyError, match="it has 64 hexadecimal digits; copy it whole"):
            study.verify(hash=given)


def test_a_log_that_was_written_anew_does_not_fit_an_earlier_look(crowd: Crowd, tmp_path: Path) -> None:
    seen = crowd.studies[0].verify()
    crowd.studies[0].export(tmp_path / "bolts.jsonl")
    other = Crowd(bolts(), "doubling-keep", np.random.default_rng(2))
    other.run(100)
    with pytest.raises(TamperedError, match="when it was looked at before"):
        other.studies[0].verify(length=seen.length, hash=seen.hash)
    with pytest.raises(TamperedError, match="entry 2 is not the one of"):
        other.studies[0].verify(export=tmp_path / "bolts.jsonl")


def test_a_gout_study_travels_too(tmp_path: Path) -> None:
    crowd = Crowd(gout(), "test-everything", np.random.default_rng(5))
    crowd.run(60)
    crowd.studies[0].export(tmp_path / "gout.jsonl")
    store = MemoryStore()
    import_study(tmp_path / "gout.jsonl", store=store)
    assert Study.open("gout", store=store).replay().differences == ()
