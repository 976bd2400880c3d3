from __future__ import annotations

import dataclasses
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from tests.studies.chain import forged
from tests.studies.crowd import Crowd, bolts

from proband.errors import StudyError, StudyExistsError, TamperedError, UnknownStudyError
from proband.studies import Event, Study, copy_study, open_store
from proband.studies.stores import MemoryStore, SQLiteStore


@pytest.fixture
def crowd(tmp_path: Path) -> Crowd:
    """Stations at work on a file."""
    crowd = Crowd(bolts(), "doubling-keep", np.random.default_rng(1), store=SQLiteStore(str(tmp_path / "bolts.db")))
    crowd.run(60)
    return crowd


def test_a_study_moves_from_sqlite_to_postgresql_while_it_runs(crowd: Crowd, postgresql_url: str) -> None:
    with closing(open_store(postgresql_url)) as target:
        for _ in range(2):
            found = copy_study("bolts", source=crowd.store, target=target)
            assert target.read("bolts") == crowd.store.read("bolts")
            assert found == crowd.studies[0].verify()
            crowd.run(10)
        copy_study("bolts", source=crowd.store, target=target)
        crowd.store.close()
        with Study.open("bolts", store=target, station="0", clock=crowd.clock) as moved:
            assert moved.table() == crowd.studies[0].table()
            assert moved.replay().differences == ()
            before = moved.verify()
            moved.decide(moved.arrive(subject="new"), "pass")
            assert moved.verify(length=before.length, hash=before.hash).length == before.length + 2
        back = MemoryStore()
        assert copy_study("bolts", source=target, target=back).length == target.length("bolts")


def test_a_copy_that_went_on_by_itself_is_left_alone(crowd: Crowd) -> None:
    target = MemoryStore()
    copy_study("bolts", source=crowd.store, target=target)
    with Study.open("bolts", store=target, station="there", clock=crowd.clock) as copy:
        copy.arrive(subject="there")
    longer = target.read("bolts")
    with pytest.raises(StudyExistsError, match="it has gone on there by itself; nothing was copied"):
        copy_study("bolts", source=crowd.store, target=target)
    crowd.studies[0].arrive(subject="here")
    with pytest.raises(
        StudyExistsError, match=r"study 'bolts' of sqlite:///.*: the store has another study 'bolts', which"
    ):
        copy_study("bolts", source=crowd.store, target=target)
    assert target.read("bolts") == longer


def test_a_log_that_is_not_whole_is_not_copied(crowd: Crowd) -> None:
    target, source = MemoryStore(), MemoryStore()
    entries = crowd.store.read("bolts")
    source.create("bolts", entries[0])
    source.append("bolts", [*entries[1:5], entries[5]._replace(hash="0" * 64)], 1)
    with pytest.raises(TamperedError, match="entry 6 was altered"):
        copy_study("bolts", source=source, target=target)
    assert target.studies() == []
    odd = MemoryStore()
    odd.create("bolts", entries[0])
    odd.append("bolts", forged(entries, 4, lambda event: dataclasses.replace(event, actor="\x1b"))[1:], 1)
    with pytest.raises(StudyError, match=r"study 'bolts' of memory:: line 5: the actor is '\\x1b'"):
        copy_study("bolts", source=odd, target=target)
    assert target.studies() == []


def test_a_study_whose_agent_is_a_place_is_not_copied_and_nothing_is_imported(crowd: Crowd) -> None:
    target, sent = MemoryStore(), MemoryStore()
    place = forged(crowd.store.read("bolts"), 1, lambda event: renamed(event, "antigravity:Greedy"))
    sent.create("bolts", place[0])
    sent.append("bolts", place[1:], 1)
    with pytest.raises(StudyError, match="the study's agent is 'antigravity:Greedy', a place; a log from elsewhere"):
        copy_study("bolts", source=sent, target=target)
    assert "antigravity" not in sys.modules
    own = MemoryStore()
    with Study.create(bolts(), store=own, agent="proband.agents.replanning:Greedy") as study:
        study.arrive(subject="a")
    with pytest.raises(StudyError, match=r"'proband\.agents\.replanning:Greedy', a place; .*; let its package"):
        copy_study("bolts", source=own, target=target)
    assert target.studies() == []


def renamed(event: Event, agent: str) -> Event:
    """Return the first event of a study, with another agent."""
    return dataclasses.replace(event, data={**event.data, "agent": agent})


def test_there_must_be_something_to_copy(tmp_path: Path) -> None:
    with (
        closing(open_store(f"sqlite:///{tmp_path}/nothing.db")) as source,
        pytest.raises(UnknownStudyError, match="there is no study 'bolts' in sqlite:///"),
    ):
        copy_study("bolts", source=source, target=MemoryStore())
    assert not list(tmp_path.iterdir())
