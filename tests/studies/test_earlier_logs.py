"""A log with every kind of event, and a snapshot of it, as the first release wrote them: they are read for ever."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proband.studies import Study, folded, import_study
from proband.studies.events import EVENTS
from proband.studies.exchange.exports import read_export
from proband.studies.log.snapshots import NAME, freeze, load, same
from proband.studies.stores import MemoryStore

DATA = Path(__file__).parent / "data"
EXPORT, SNAPSHOT = DATA / "every-kind.jsonl", DATA / "every-kind.snapshot"
SAID: dict[str, Any] = json.loads((DATA / "every-kind.json").read_text())


@pytest.fixture
def store() -> MemoryStore:
    store = MemoryStore()
    import_study(EXPORT, store=store)
    return store


def test_every_kind_is_there(store: MemoryStore) -> None:
    assert set(SAID["kinds"]) == {"created", *EVENTS}
    assert folded(store.read("bolts")).kinds == SAID["kinds"]


def test_it_says_what_it_said(store: MemoryStore) -> None:
    with Study.open("bolts", store=store, station="line 1", replan="now") as study:
        assert study.table() == SAID["table"]
        assert study.subject("bolt 1").to_dict() == SAID["subject"]
        assert study.ask("left open").to_dict() == SAID["advice"]
        found = study.replay()
        assert [found.events, found.advices, found.policies, len(found.differences)] == SAID["replayed"]
        summary = json.loads(json.dumps(study.summary().to_dict()))
        assert {name: summary[name] for name in SAID["summary"]} == SAID["summary"]


def test_it_goes_out_as_it_came_in(store: MemoryStore, tmp_path: Path) -> None:
    with Study.open("bolts", store=store, replan="never") as study:
        study.export(tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == EXPORT.read_bytes()


def test_its_snapshot_is_what_the_log_says(store: MemoryStore) -> None:
    kept = load(SNAPSHOT.read_bytes())
    assert kept is not None
    assert same(freeze(kept), freeze(folded(read_export(EXPORT)[1])))
    store.keep("bolts", NAME, SNAPSHOT.read_bytes())
    with Study.open("bolts", store=store, replan="never") as study:
        study.verify()
    assert store.cached("bolts", NAME) == SNAPSHOT.read_bytes()
