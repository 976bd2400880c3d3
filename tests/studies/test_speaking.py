"""One study for many: other actors and stations of a process speak through it, and ask what would be."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from tests.studies.crowd import Clock, bolts, gout

from proband.errors import HeldError, StateError, StudyError, UnknownNameError
from proband.studies import Study, open_store
from proband.studies.stores import MemoryStore


def make(**options: object) -> Study:
    settings = {"store": MemoryStore(), "station": "A", "actor": "QA", "agent": "test-everything", **options}
    return Study.create(bolts(), **settings)  # type: ignore[arg-type]


def test_others_speak_through_a_study_as_themselves() -> None:
    study = make()
    other = study.speaking(actor="Ada", station="B")
    mine, hers = study.arrive(), other.arrive()
    assert (mine.station, hers.station) == ("A", "B")
    with pytest.raises(HeldError, match="held by station 'A'"):
        other.tell(mine, "visual", "clean")
    study.tell(mine, "visual", "clean")
    assert [(event.actor, event.station) for event in study.events(1)] == [("QA", "A"), ("Ada", "B"), ("QA", "A")]
    assert study.speaking().arrive().station == "A"
    with pytest.raises(StudyError, match="the station is"):
        study.speaking(station="\n")
    other.close()
    with pytest.raises(StudyError, match="was closed"):
        study.arrive()


@pytest.mark.parametrize("url", ["memory:", "sqlite:///{}/store.db"])
def test_many_threads_share_one_study(tmp_path: Path, url: str) -> None:
    study = make(store=url.format(tmp_path))
    study.arrive()
    wrong: list[Exception] = []

    def work(n: int) -> None:
        here = study.speaking(station=f"line {n}", actor=f"operator {n}")
        try:
            for _ in range(10):
                subject = here.arrive()
                while (advice := here.ask(subject)).kind == "test":
                    test = study.problem.tests[study.problem.test_index(advice.action)]
                    here.tell(subject, test.name, test.names[0])
                here.decide(subject, advice.action)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(study.subjects(open=False)) == 80
    assert all(e.actor.split()[1] == e.station.split()[1] for e in study.events(2))
    assert not study.replay().differences
    study.close()


def test_subjects_and_events_in_pages() -> None:
    study = make()
    for _ in range(5):
        study.arrive()
    study.decide("3", "pass")
    assert [s.number for s in study.subjects(after=1, limit=2)] == [2, 3]
    assert [s.number for s in study.subjects(open=True, after=1, limit=2)] == [2, 4]
    assert [s.number for s in study.subjects(open=False)] == [3]
    assert study.subjects(after=5) == study.subjects(limit=0) == []
    assert [e.number for e in study.events(2, limit=2)] == [3, 4]


def test_what_if_is_the_advice_of_a_newcomer_without_exploring() -> None:
    study = make(clock=Clock())
    advice = study.what_if()
    assert (advice.subject, advice.action, advice.spent) == ("", "visual", 0.0)
    assert study.what_if({"visual": "clean"}) == study.what_if({"visual": "clean"})
    known = {"weight": "light", "ultrasonic": "crack"}
    asked = study.what_if(known)
    assert asked.spent == pytest.approx(study.problem.prices.of([1, 2]))
    assert study.what_if({**known, "visual": "clean"}).kind == "decision"
    bolt = study.arrive()
    study.tell(bolt, known)
    assert study.ask(bolt).action == asked.action
    with pytest.raises(UnknownNameError, match="'colour'"):
        study.what_if({"colour": "red"})
    assert study.summary(exploration=False, drift=False).events == 4, "nothing is written"


def test_what_if_cannot_know_what_nobody_can_test() -> None:
    study = Study.create(gout(), store=MemoryStore(), replan="now")
    hidden = next(test for test in study.problem.tests if not test.available)
    with pytest.raises(StudyError, match="are unavailable"):
        study.what_if({hidden.name: hidden.names[0]})
    with pytest.raises((StateError, UnknownNameError)):
        study.what_if({hidden.name: "nothing"})


def test_appends_that_are_deferred_are_durable_when_settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from proband.studies.stores.sqlite import file

    study = make(store=f"sqlite:///{tmp_path}/store.db")
    store, synced = study.store, []
    monkeypatch.setattr(file, "_sync", lambda path, real=file._sync: (synced.append(path), real(path)))
    study.arrive()
    assert len(synced) == 1
    with store.deferring():  # type: ignore[attr-defined]
        study.arrive()
        study.arrive()
        assert len(synced) == 1
        assert open_store(store.url).length(study.name) == 4, "others see it, as between commit and sync"
    store.settle()  # type: ignore[attr-defined]
    assert len(synced) == 2
    study.arrive()
    assert len(synced) == 3
    study.close()


def test_a_settling_that_fails_acknowledges_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from proband.errors import StoreError
    from proband.studies.stores.sqlite import file

    study = make(store=f"sqlite:///{tmp_path}/store.db")

    def fail(path: str) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(file, "_sync", fail)
    with study.store.deferring():  # type: ignore[attr-defined]
        study.arrive(key="k")
    with pytest.raises(StoreError, match="could not keep"):
        study.store.settle()  # type: ignore[attr-defined]
    with pytest.raises(StoreError, match="could not keep"):
        study.arrive(key="k")
