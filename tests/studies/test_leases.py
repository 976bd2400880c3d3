"""A lease runs by what a station has seen pass: no date in the log, and no clock, keeps a subject or gives it away."""

from __future__ import annotations

from contextlib import suppress

import pytest
from tests.studies.crowd import Clock, bolts

from proband.errors import HeldError, StudyError
from proband.studies import Study, Subject
from proband.studies.ledger import leases as module
from proband.studies.ledger.leases import Leases
from proband.studies.log.journal import Journal
from proband.studies.stores import MemoryStore

LATE = 4_000_000_000.0  # in 2096


class Station:
    """A station whose clock can be wrong, and whose steady clock cannot."""

    def __init__(self, store: MemoryStore, name: str, now: list[float], *, ahead: float = 0.0) -> None:
        self.now, self.ahead = now, ahead
        self.study = Study.open("bolts", store=store, station=name, clock=self.clock, replan="never", lease=60.0)
        journal: Journal = self.study._journal
        journal.leases = Leases(journal.ledger, self.clock, self.steady)

    def clock(self) -> float:
        return self.now[0] + self.ahead

    def steady(self) -> float:
        return self.now[0]


@pytest.fixture
def store() -> MemoryStore:
    store = MemoryStore()
    Study.create(bolts(), agent="test-everything", store=store, clock=Clock(), lease=60.0)
    return store


@pytest.fixture
def now() -> list[float]:
    return [1_700_000_100.0]


def test_after_an_event_of_a_wrong_clock_leases_run_as_before(store: MemoryStore, now: list[float]) -> None:
    one, wrong = Station(store, "A", now), Station(store, "wrong", now, ahead=LATE - now[0])
    wrong.study.arrive(subject="of the wrong clock")
    later = one.study.arrive(subject="later")
    assert later.held_until < "2024"
    two = Station(store, "B", now)  # opened afterwards: it goes by the dates
    with pytest.raises(HeldError):
        two.study.tell(later, "visual", "clean")
    now[0] += 61
    assert two.study.summary(exploration=False, drift=False).waiting == 2  # that of the wrong clock, too: seen to pass
    assert two.study.tell(later, "visual", "clean").station == "B"


def test_a_subject_of_a_wrong_clock_is_free_when_its_lease_was_seen_to_pass(
    store: MemoryStore, now: list[float]
) -> None:
    wrong, other = Station(store, "wrong", now, ahead=LATE - now[0]), Station(store, "B", now)
    bolt = wrong.study.arrive()
    assert bolt.held_until > "2096"
    assert other.study.ask(bolt).action == "visual"  # now it has seen it
    now[0] += 59
    with pytest.raises(HeldError):
        other.study.take(bolt)
    now[0] += 2
    assert other.study.take(bolt).station == "B"


def test_a_station_whose_clock_is_ahead_does_not_take_what_others_hold(store: MemoryStore, now: list[float]) -> None:
    one, ahead = Station(store, "A", now), Station(store, "ahead", now, ahead=86_400.0)
    bolt = one.study.arrive()
    now[0] += 30
    for _ in range(2):  # it cannot be older than half a minute, whatever the clock says
        with pytest.raises(HeldError):
            ahead.study.take(bolt)
    now[0] += 31
    assert ahead.study.take(bolt).station == "ahead"


def test_a_station_that_was_idle_goes_by_the_dates(store: MemoryStore, now: list[float]) -> None:
    one, idle = Station(store, "A", now), Station(store, "B", now)
    bolt = one.study.arrive()
    now[0] += 61
    assert idle.study.take(bolt).station == "B"


def free_of(station: Station, subjects: list[tuple[Subject, float]]) -> list[float]:
    """Return when those subjects arrived that a station can take."""
    free = []
    for subject, arrived in subjects:
        with suppress(HeldError):
            station.study.take(subject)
            free.append(arrived)
    return free


@pytest.mark.parametrize("most", [8, 1000])
def test_few_marks_are_kept_and_no_lease_is_shortened_by_that(
    most: int, store: MemoryStore, now: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_MARKS", most)
    one, two = Station(store, "A", now), Station(store, "B", now, ahead=-1e6)  # no lease is over by its clock
    subjects = []
    for _ in range(200):
        subjects.append((one.study.arrive(), now[0]))
        two.study.subjects()
        now[0] += 0.2
    assert len(two.study._journal.leases._positions) <= min(most, 60)
    assert free_of(two, subjects) == []
    now[0] += 30
    free = free_of(two, subjects)
    assert max(free, default=0.0) <= now[0] - 60
    if most == 1000:
        assert len(free) >= 40  # ten seconds of arrivals, less the spacing
    now[0] += 31
    assert len(free_of(two, subjects)) == 200


@pytest.mark.parametrize("lease", [30 * 24 * 3600 + 1, 1e300, float("inf"), -1])
def test_a_lease_is_bounded_when_it_is_given(lease: float, store: MemoryStore) -> None:
    with pytest.raises(StudyError, match=r"lease is .* from 0 to 2,592,000 \(30 days\)"):
        Study.open("bolts", store=store, lease=lease)
