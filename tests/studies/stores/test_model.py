"""Every store against a model: dictionaries of lists."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from proband.errors import ConflictError, StudyExistsError, UnknownStudyError
from proband.studies.stores import Entry, Store

MakeStore = Callable[[], Store]
NAMES = ("bolts", "nuts", "Bolts")
KEYS = st.sampled_from([f"key {n}" for n in range(12)])
_runs = count()


class Machine(RuleBasedStateMachine):
    """Two handles of one store, and what ought to be in it."""

    make: MakeStore

    def __init__(self) -> None:
        super().__init__()
        run = next(_runs)
        self.names = [f"{name} {run}" for name in NAMES]
        self.stores = [type(self).make(), type(self).make()]
        self.logs: dict[str, list[Entry]] = {}
        self.caches: dict[str, bytes] = {}

    def entry(self, number: int, key: str) -> Entry:
        return Entry(number, key, f"{number:x}", f'{{"é":"{key}"}}')

    @rule(which=st.integers(0, 1), name=st.integers(0, 2), key=KEYS)
    def create(self, which: int, name: int, key: str) -> None:
        study, first = self.names[name], self.entry(1, key)
        if study in self.logs:
            with pytest.raises(StudyExistsError):
                self.stores[which].create(study, first)
        else:
            self.stores[which].create(study, first)
            self.logs[study] = [first]

    @precondition(lambda self: self.logs)
    @rule(
        which=st.integers(0, 1),
        name=st.integers(0, 2),
        behind=st.sampled_from([0, 0, 0, 1, -1]),
        keys=st.lists(KEYS, max_size=3),
        exclusive=st.booleans(),
    )
    def append(self, which: int, name: int, behind: int, keys: list[str], exclusive: bool) -> None:
        study, store = self.names[name], self.stores[which]
        log = self.logs.get(study, [])
        expected = max(0, len(log) - behind)
        entries = [self.entry(expected + 1 + n, key) for n, key in enumerate(keys)]
        known = {entry.key for entry in log}
        fits = expected == len(log) and len(set(keys)) == len(keys) and known.isdisjoint(keys)

        def write() -> None:
            if not exclusive:
                store.append(study, entries, expected)
                return
            with store.exclusive(study):
                assert store.length(study) == len(log)
                store.append(study, entries, expected)

        if study not in self.logs:
            with pytest.raises(UnknownStudyError):
                write()
        elif fits:
            write()
            log.extend(entries)
        else:
            with pytest.raises(ConflictError):
                write()

    @rule(which=st.integers(0, 1), name=st.integers(0, 2), content=st.binary(max_size=20))
    def keep(self, which: int, name: int, content: bytes) -> None:
        study = self.names[name]
        if study in self.logs:
            self.stores[which].keep(study, "snapshot", content)
            self.caches[study] = content
            assert self.stores[1 - which].cached(study, "snapshot") == content

    @rule(which=st.integers(0, 1))
    def reopen(self, which: int) -> None:
        self.stores[which].close()
        self.stores[which] = type(self).make()

    @rule(which=st.integers(0, 1), name=st.integers(0, 2), after=st.integers(0, 5), limit=st.none() | st.integers(0, 3))
    def read(self, which: int, name: int, after: int, limit: int | None) -> None:
        study = self.names[name]
        if study in self.logs:
            assert self.stores[which].read(study, after, limit) == self.logs[study][after:][:limit]

    @rule(which=st.integers(0, 1), name=st.integers(0, 2), key=KEYS)
    def find(self, which: int, name: int, key: str) -> None:
        study = self.names[name]
        if study in self.logs:
            expected = next((entry for entry in self.logs[study] if entry.key == key), None)
            assert self.stores[which].find(study, key) == expected

    @invariant()
    def the_same_studies(self) -> None:
        for store in self.stores:
            assert [study for study in store.studies() if study in self.names] == sorted(self.logs)
            for study, log in self.logs.items():
                assert store.length(study) == len(log)

    def teardown(self) -> None:
        for store in self.stores:
            store.close()


def test_a_store_does_what_the_model_does(make_store: MakeStore) -> None:
    machine: Any = type("MachineHere", (Machine,), {"make": staticmethod(make_store)})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=12, stateful_step_count=25, suppress_health_check=list(HealthCheck), deadline=None
        ),
    )
