from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import numpy as np
import pytest
from tests.studies.chain import forged
from tests.studies.crowd import Crowd, bolts, gout

from proband.errors import TamperedError
from proband.studies import Study, folded
from proband.studies.ledger.ledger import Ledger
from proband.studies.log.fold import fold
from proband.studies.log.snapshots import NAME, Frozen, freeze, load, next_milestone, pack, same
from proband.studies.stores import MemoryStore


@pytest.fixture(params=[bolts, gout])
def crowd(request: pytest.FixtureRequest) -> Crowd:
    crowd = Crowd(request.param(), "doubling-keep", np.random.default_rng(6))
    crowd.run(150)
    return crowd


def equal(one: Ledger, other: Ledger) -> bool:
    return same(freeze(one), freeze(other))


def test_a_ledger_comes_back_and_goes_on(crowd: Crowd) -> None:
    entries = crowd.store.read(crowd.problem.name)
    for position in (1, len(entries) // 2, len(entries)):
        early = load(pack(freeze(folded(entries[:position]))))
        assert early is not None
        assert equal(early, folded(entries[:position]))
        fold(early, entries[position:])
        assert equal(early, folded(entries))


def test_a_study_opens_from_its_snapshot_and_from_what_followed(crowd: Crowd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proband.studies.log.journal.WORTH", 1)
    name = crowd.problem.name
    crowd.open("closing").close()
    content = crowd.store.cached(name, NAME)
    assert content is not None
    crowd.run(20)
    again = crowd.open("again")
    assert equal(again._journal.ledger, folded(crowd.store.read(name)))
    assert again.table() == crowd.studies[0].table()


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "foreign", "of another fold", "of another log"])
def test_a_snapshot_that_does_not_fit_is_ignored(damage: str) -> None:
    crowd = Crowd(bolts(), "doubling-keep", np.random.default_rng(6))
    crowd.run(60)
    store = crowd.store
    whole = pack(freeze(folded(store.read("bolts"))))
    other = Crowd(bolts(), "doubling-keep", np.random.default_rng(7))
    other.run(60)
    content = {
        "cut": whole[:-100],
        "flipped": whole[:-100] + bytes([whole[-100] ^ 1]) + whole[-99:],
        "empty": b"",
        "foreign": b"\x80\x04N.",
        "of another fold": whole.replace(b"ledger 2 ", b"ledger 0 ", 1),
        "of another log": pack(freeze(folded(other.store.read("bolts")[:40]))),
    }[damage]
    store.keep("bolts", NAME, content)
    again = Study.open("bolts", store=store, station="x", clock=crowd.clock)
    assert equal(again._journal.ledger, folded(store.read("bolts")))
    assert again.verify().length == store.length("bolts")
    assert store.cached("bolts", NAME) == (content if damage in ("foreign", "of another fold") else b"")


def test_whoever_passes_a_milestone_makes_a_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proband.studies.log.snapshots.EVERY", 10)
    kept: list[int] = []

    class Store(MemoryStore):
        def keep(self, study: str, name: str, content: bytes) -> None:
            kept.append(int(content.split(b" ")[3]))
            super().keep(study, name, content)

    crowd = Crowd(bolts(), "test-everything", np.random.default_rng(6), store=Store(), past=0)
    while crowd.store.length("bolts") < 75:
        crowd.work()
    assert kept == [10, 20, 30, 40, 50, 62]


def test_milestones_grow_with_the_log() -> None:
    passed = [n for n in range(1, 2_000_000, 1000) if next_milestone(n - 1) <= n + 999]
    assert 15 < len(passed) < 40


def repacked(content: bytes, change: Callable[[Frozen, dict[str, Any]], object]) -> bytes:
    """Return a snapshot whose content was altered, and its digest with it."""
    with np.load(io.BytesIO(content.partition(b"\n")[2])) as arrays:
        frozen = dict(arrays)
    facts = json.loads(frozen["facts"].tobytes())
    change(frozen, facts)
    frozen["facts"] = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
    return pack(frozen)


@pytest.fixture
def forger() -> tuple[Crowd, bytes]:
    crowd = Crowd(bolts(), "doubling-keep", np.random.default_rng(6))
    crowd.run(100)
    return crowd, pack(freeze(folded(crowd.store.read("bolts"))))


def other_outcome(frozen: Frozen, facts: dict[str, Any]) -> None:
    rows = frozen["column rows"]
    rows[0] = np.where(np.isnan(rows[0]), 1.0, 1.0 - np.minimum(rows[0], 1.0))


FORGERIES: dict[str, Callable[[Frozen, dict[str, Any]], object]] = {
    "an outcome": other_outcome,
    "a price": lambda frozen, facts: frozen["column spent"].__setitem__(0, 1e6),
    "a decision": lambda frozen, facts: facts["decisions"].__setitem__(frozen["order"][0], "scrapped"),
    "a name": lambda frozen, facts: facts["names"].__setitem__(0, "somebody else"),
    "a time": lambda frozen, facts: facts.__setitem__("time", "2020-01-01T00:00:00.000000Z"),
    "an open subject": lambda frozen, facts: frozen.__setitem__("open", np.append(frozen["open"], frozen["order"][0])),
    "an order": lambda frozen, facts: frozen.__setitem__("order", frozen["order"][::-1].copy()),
}


@pytest.mark.parametrize("kind", FORGERIES)
@pytest.mark.parametrize("look", ["verify", "replay"])
def test_a_forged_snapshot_is_found_and_replaced(kind: str, look: str, forger: tuple[Crowd, bytes]) -> None:
    crowd, content = forger
    store, honest = crowd.store, folded(crowd.store.read("bolts"))
    store.keep("bolts", NAME, repacked(content, FORGERIES[kind]))
    fooled = Study.open("bolts", store=store, station="x", clock=crowd.clock)
    assert not equal(fooled._journal.ledger, honest)
    for told in ("the snapshot kept beside the log", "what this process has of the study"):
        store.keep("bolts", NAME, repacked(content, FORGERIES[kind]))
        with pytest.raises(TamperedError, match=f"is whole, but .*{told}, as of entry {honest.position},"):
            getattr(fooled, look)()
    kept = load(store.cached("bolts", NAME) or b"")
    assert kept is not None
    assert equal(kept, honest)
    again = Study.open("bolts", store=store, station="x", clock=crowd.clock)
    assert equal(again._journal.ledger, honest)
    getattr(again, look)()


def test_a_snapshot_that_was_forged_after_opening_is_found_too(forger: tuple[Crowd, bytes]) -> None:
    crowd, content = forger
    study = crowd.open("early")
    crowd.store.keep("bolts", NAME, repacked(content, other_outcome))
    with pytest.raises(TamperedError, match="the snapshot kept beside the log") as caught:
        study.verify()
    assert "this process" not in str(caught.value)
    assert study.verify().length == crowd.store.length("bolts")


def test_a_study_that_saw_another_log_says_so(forger: tuple[Crowd, bytes]) -> None:
    crowd, _ = forger
    study, store = crowd.open("early"), crowd.store
    entries = store.read("bolts")
    number = next(n for n, entry in enumerate(entries, start=1) if '"kind":"observed"' in entry.body)
    log = store._logs["bolts"]  # type: ignore[attr-defined]
    log.entries[:] = forged(entries, number, lambda event: dataclasses.replace(event, actor="somebody else"))
    with pytest.raises(TamperedError, match="what this process has of the study"):
        study.verify()


HOPELESS: dict[str, Callable[[Frozen, dict[str, Any]], object]] = {
    "no column": lambda frozen, facts: frozen.pop("column coin"),
    "a short column": lambda frozen, facts: frozen.__setitem__("column coin", frozen["column coin"][1:]),
    "a wide column": lambda frozen, facts: frozen.__setitem__("column rows", frozen["column rows"][:, :1]),
    "a column of texts": lambda frozen, facts: frozen.__setitem__("column coin", frozen["column coin"].astype("U9")),
    "an outcome that is none": lambda frozen, facts: frozen["column rows"].__setitem__((0, 0), 17.0),
    "no facts": lambda frozen, facts: facts.clear() or facts.update(position=9, hash="0"),
    "facts of wrong kinds": lambda frozen, facts: facts.update(names=None),
    "two subjects of one name": lambda frozen, facts: facts["names"].__setitem__(0, facts["names"][1]),
    "a subject that is none": lambda frozen, facts: frozen.__setitem__("open", np.array([10**9])),
    "an order of subjects that are none": lambda frozen, facts: frozen["order"].__setitem__(0, -5),
    "a decision without its event": lambda frozen, facts: frozen.__setitem__("ended", frozen["ended"][1:]),
    "another problem": lambda frozen, facts: facts["founding"].update(problem=gout().to_dict()),
    "a broken problem": lambda frozen, facts: facts["founding"].update(problem={}),
    "another seed": lambda frozen, facts: facts["founding"].update(seed=5),
    "another place": lambda frozen, facts: facts.update(position=3),
    "a place that is none": lambda frozen, facts: facts.update(position="nine"),
    "a time that is none": lambda frozen, facts: facts.update(time="tomorrow"),
    "kinds that do not add up": lambda frozen, facts: facts.update(kinds={}),
}


@pytest.mark.parametrize("kind", HOPELESS)
def test_a_snapshot_that_makes_no_sense_is_a_reason_to_fold(kind: str, forger: tuple[Crowd, bytes]) -> None:
    crowd, content = forger
    crowd.store.keep("bolts", NAME, repacked(content, HOPELESS[kind]))
    study = Study.open("bolts", store=crowd.store, station="x", clock=crowd.clock)
    assert equal(study._journal.ledger, folded(crowd.store.read("bolts")))
    assert study.verify().length == crowd.store.length("bolts")


def test_no_altered_byte_keeps_a_study_from_opening(forger: tuple[Crowd, bytes], rng: np.random.Generator) -> None:
    crowd, content = forger
    head, _, payload = content.partition(b"\n")
    start = head.rpartition(b" ")[0] + b" "
    honest = folded(crowd.store.read("bolts"))
    for _ in range(60):
        broken = bytearray(payload)
        for place in rng.integers(len(broken), size=rng.integers(1, 5)):
            broken[place] = rng.integers(256)
        digest = sha256(start + broken).hexdigest().encode()
        crowd.store.keep("bolts", NAME, start + digest + b"\n" + bytes(broken))
        study = Study.open("bolts", store=crowd.store, station="x", clock=crowd.clock)
        if not equal(study._journal.ledger, honest):
            with pytest.raises(TamperedError, match="the snapshot kept beside the log"):
                study.verify()
