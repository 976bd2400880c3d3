from __future__ import annotations

import numpy as np
import pytest
from tests.studies.crowd import Crowd, bolts, gout

from proband.studies import Study, folded
from proband.studies.fold import fold
from proband.studies.ledger import Ledger
from proband.studies.snapshots import NAME, freeze, load, milestone_between, pack
from proband.studies.stores import MemoryStore


@pytest.fixture(params=[bolts, gout])
def crowd(request: pytest.FixtureRequest) -> Crowd:
    crowd = Crowd(request.param(), "doubling-keep", np.random.default_rng(6))
    crowd.run(150)
    return crowd


def same(one: Ledger, other: Ledger) -> bool:
    frozen, thawed = freeze(one), freeze(other)
    return frozen.keys() == thawed.keys() and all(
        np.array_equal(frozen[name], thawed[name], equal_nan=frozen[name].dtype.kind == "f") for name in frozen
    )


def test_a_ledger_comes_back_and_goes_on(crowd: Crowd) -> None:
    entries = crowd.store.read(crowd.problem.name)
    for position in (1, len(entries) // 2, len(entries)):
        early = load(pack(freeze(folded(entries[:position]))))
        assert early is not None
        assert same(early, folded(entries[:position]))
        fold(early, entries[position:])
        assert same(early, folded(entries))


def test_a_study_opens_from_its_snapshot_and_from_what_followed(crowd: Crowd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proband.studies.journal.WORTH", 1)
    name = crowd.problem.name
    crowd.open("closing").close()
    content = crowd.store.cached(name, NAME)
    assert content is not None
    crowd.run(20)
    again = crowd.open("again")
    assert same(again._journal.ledger, folded(crowd.store.read(name)))
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
        "of another fold": whole.replace(b"ledger 1 ", b"ledger 0 ", 1),
        "of another log": pack(freeze(folded(other.store.read("bolts")[:40]))),
    }[damage]
    store.keep("bolts", NAME, content)
    again = Study.open("bolts", store=store, station="x", clock=crowd.clock)
    assert same(again._journal.ledger, folded(store.read("bolts")))


def test_whoever_passes_a_milestone_makes_a_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proband.studies.snapshots.EVERY", 10)
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
    passed = [n for n in range(1, 2_000_000, 1000) if milestone_between(n - 1, n + 999)]
    assert 15 < len(passed) < 40
