"""Logs from elsewhere are checked like direct calls."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.studies.chain import export, forged, saying
from tests.studies.crowd import PROBLEMS, Crowd, bolts, gout

from proband import Records
from proband.errors import StudyError
from proband.studies import Event, Study, import_study
from proband.studies.ledger.chain import unseal
from proband.studies.stores import Entry, MemoryStore
from proband.texts import escaped

AGENTS = {"rods": "test-everything", "network": "test-everything"}


@pytest.mark.parametrize("name", PROBLEMS)
def test_an_honest_log_is_taken(name: str, tmp_path: Path) -> None:
    crowd = Crowd(PROBLEMS[name](), AGENTS.get(name, "doubling-keep"), np.random.default_rng(3))
    crowd.run(120)
    crowd.studies[0].export(tmp_path / "log.jsonl")
    store = MemoryStore()
    import_study(tmp_path / "log.jsonl", store=store)
    assert store.read(crowd.problem.name) == crowd.store.read(crowd.problem.name)


@pytest.fixture(scope="module")
def logs() -> dict[str, list[Entry]]:
    made = {}
    for problem in (bolts(), gout()):
        crowd = Crowd(problem, "doubling-keep", np.random.default_rng(3))
        crowd.run(200)
        study = crowd.studies[0]
        study.restart(reason="new supplier")
        made[problem.name] = crowd.store.read(problem.name)
    return made


def field(**changes: Any) -> Callable[[Event], Event]:
    return lambda event: dataclasses.replace(event, **changes)


ESCAPE = "\x1b[2J"
FORGERIES: dict[str, tuple[str, Callable[[Event], Event], str]] = {
    "an actor that acts": ("observed", field(actor=f"QA{ESCAPE}"), r"the actor is 'QA\\x1b"),
    "a station that acts": ("observed", field(station="line\u202e1"), "the station is"),
    "a station without a name": ("observed", field(station=" "), "the station is ' '"),
    "a long actor": ("observed", field(actor="x" * 201), "the actor is 'xxx"),
    "a version that acts": ("observed", field(version="0\x07"), "the version is"),
    "a key that acts": ("observed", field(key="k\r\n"), "the key is"),
    "a key that was used": ("observed", field(key="created"), "its key 'created' was used before"),
    "a subject that acts": ("arrived", field(subject=f"7{ESCAPE}"), "the name of a subject is"),
    "a subject of 300 letters": ("arrived", field(subject="7" * 300), "the name of a subject is"),
    "no subject": ("arrived", field(subject=None), "the name of a subject is"),
    "an unknown subject": ("observed", field(subject="nobody"), "subject 'nobody' does not exist"),
    "a time that runs back": ("observed", field(time="1999-01-01T00:00:00.000000Z"), "never run back"),
    "a time in the far future": ("restarted", field(time="2100-01-01T00:00:00.000000Z"), "a day ahead"),
    "a time in another form": ("restarted", field(time="2024-01-01"), "times are in UTC"),
    "a time of a man": ("restarted", field(time="tomorrow"), "no event that proband writes"),
    "an unknown kind": ("restarted", field(kind="ended"), "of the kind 'ended'; a log has arrived"),
    "an unknown test": ("observed", saying(test="colour"), "test 'colour' does not exist"),
    "an unknown outcome": ("observed", saying(outcome="blue"), "'blue' does not exist"),
    "an outcome of a wrong kind": ("observed", saying(outcome=["ok"]), "an outcome is a name or a number"),
    "a price of one's own": ("observed", saying(cost=-5.0), "it says -5.0 under 'cost'; a direct call would have"),
    "another policy": ("observed", saying(policy=10**6), "under 'policy'"),
    "no advice": ("observed", saying(advised=...), "no event that proband writes"),
    "advice that nobody can give": ("observed", saying(advised="colour"), "'colour' does not exist"),
    "advice followed that was not": ("observed", saying(advised="pass", followed=True), "under 'followed'"),
    "an unknown decision": ("decided", saying(decision="perhaps"), "decision 'perhaps' does not exist"),
    "a chance of two": ("decided", saying(chance=2.0), "a chance is 2.0"),
    "a chance of its own kind": ("decided", saying(chance="high"), "a chance is 'high'"),
    "costs of one's own": ("decided", saying(cost=0.125), "under 'cost'"),
    "a coin of one's own": ("arrived", saying(coin=0.5), "under 'coin'"),
    "a policy of the future": ("arrived", saying(policy=10**9), "policy is 1000000000; it is a whole number from 0"),
    "an endless lease": ("arrived", saying(lease=-1), "lease is -1"),
    "what is not known": ("arrived", saying(known={"colour": "blue"}), "test 'colour' does not exist"),
    "a reason that acts": ("restarted", saying(reason=f"why{ESCAPE}"), r"'why\\x1b\[2J'"),
    "no reason": ("restarted", saying(reason=" "), "whoever reads the log later needs one"),
    "another past": ("corrected", saying(was="heavy as lead"), "under 'was'"),
    "an empty correction": ("corrected", saying(outcome="nothing"), "'nothing' does not exist"),
    "a voiding without a reason": ("voided", saying(reason=""), "whoever reads the log later needs one"),
    "a source that acts": ("imported", saying(source="a\x9bb"), "U.009B"),
    "counts below 1": ("imported", saying(counts=[0]), "counts and|a count is 0"),
    "rows of other tests": ("imported", saying(tests=["a", "b", "c"]), "under 'tests'"),
    "from somebody else": ("taken", saying(**{"from": "nowhere"}), "under 'from'"),
    "a text beside the others": ("decided", saying(note="\u200bhidden"), "U.200B"),
    "another name": ("created", saying(name="nuts"), "begins with 'created' of 'nuts'"),
    "another format": ("created", saying(format=9), "format"),
    "a seed that is none": ("created", saying(seed=-1), "seed is -1"),
    "an agent that is none": ("created", saying(agent="oracle"), "agent 'oracle' does not exist"),
    "an agent by its place": ("created", saying(agent="antigravity:Greedy"), "a place; a log from elsewhere"),
    "another beginning": ("created", field(kind="restarted"), "the log begins with 'restarted'"),
}  # fmt: skip


@pytest.mark.parametrize("kind", FORGERIES)
def test_a_forged_event_is_refused_with_its_line(kind: str, logs: dict[str, list[Entry]], tmp_path: Path) -> None:
    event, change, message = FORGERIES[kind]
    entries = logs["bolts"]
    number = [unseal(entry).kind for entry in entries].index(event) + 1
    path = export(tmp_path / "forged.jsonl", "bolts", forged(entries, number, change))
    store = MemoryStore()
    with pytest.raises(StudyError, match=message) as caught:
        import_study(path, store=store)
    assert str(caught.value).startswith(f"{path}: line {number + 1}: ")
    assert escaped(str(caught.value)) == str(caught.value)
    assert store.studies() == []


def test_a_truth_that_was_revealed_before(logs: dict[str, list[Entry]], tmp_path: Path) -> None:
    entries = logs["gout"]
    number = [unseal(entry).kind for entry in entries].index("revealed") + 1
    path = export(tmp_path / "forged.jsonl", "gout", forged(entries, number, saying(outcomes={"crystals": "many"})))
    with pytest.raises(StudyError, match=f"line {number + 1}: outcome of test 'crystals' 'many' does not exist"):
        import_study(path, store=MemoryStore())


def test_a_log_is_exported_and_imported_under_its_own_name(logs: dict[str, list[Entry]], tmp_path: Path) -> None:
    path = export(tmp_path / "forged.jsonl", "nuts", logs["bolts"])
    with pytest.raises(StudyError, match="line 2: the log begins with 'created' of 'bolts'; it must begin with"):
        import_study(path, store=MemoryStore())


def test_direct_calls_refuse_texts_that_act() -> None:
    study = Study.create(bolts(), store="memory:")
    study.arrive(subject="a")
    attempts: list[Callable[[], object]] = [
        lambda: study.arrive(subject=f"b{ESCAPE}"),
        lambda: study.arrive(key="k\u2066"),
        lambda: study.void("a", reason=f"dropped{ESCAPE}"),
        lambda: study.restart(reason="two\nlines"),
        lambda: study.learn_from(Records([[0, 0, 0]]), source="a\x7fb"),
        lambda: Study.create(bolts(), store="memory:", name=f"bolts{ESCAPE}"),
        lambda: Study.open("bolts", store=study.store, station=f"line{ESCAPE}"),
        lambda: Study.open("bolts", store=study.store, actor="Q\u200bA"),
    ]
    for attempt in attempts:
        with pytest.raises(StudyError) as caught:
            attempt()
        assert escaped(str(caught.value)) == str(caught.value)
    assert study.verify().length == 2
