from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.studies.crowd import PROBLEMS, Clock, Crowd, bolts, gout

from proband.errors import StudyError
from proband.studies import Study, folded
from proband.studies.log.snapshots import freeze
from proband.studies.stores import MemoryStore


@given(st.integers(0, 10**6), st.sampled_from(list(PROBLEMS)))
def test_folding_at_once_is_folding_along(seed: int, problem: str) -> None:
    crowd = Crowd(PROBLEMS[problem](), "test-everything", np.random.default_rng(seed), past=0, stations=2)
    crowd.run(40)
    whole = freeze(folded(crowd.store.read(crowd.problem.name)))
    for study in crowd.studies:
        study.summary(exploration=False, drift=False)
        along = freeze(study._journal.ledger)
        for name, array in whole.items():
            assert np.array_equal(array, along[name], equal_nan=array.dtype.kind == "f"), name


def test_an_empty_log() -> None:
    with pytest.raises(StudyError, match="the log is empty"):
        folded([])


def test_observations_are_told_in_order_with_what_was_known_before() -> None:
    study = Study.create(gout(), agent="test-everything", store=MemoryStore(), clock=Clock(), replan="now")
    study.arrive({"sex": "m"})
    study.arrive({"sex": "f", "urate": "high"})
    study.tell("2", "swelling", "yes")
    study.tell("1", "urate", "low")
    study.tell("1", "swelling", "no")
    study.correct("1", "urate", "high", reason="typo")
    study.decide("1")
    study.reveal("1", {"crystals": "found"})
    study.arrive({"sex": "m"})
    study.tell("3", "urate", "low")
    study.void("3", reason="wrong patient")
    nan = math.nan
    expected = [
        ([nan, nan, nan, nan], 0, 1.0),
        ([nan, nan, nan, nan], 0, 0.0),
        ([0.0, nan, 1.0, nan], 1, 1.0),  # what came with her is known, and is no observation
        ([1.0, nan, nan, nan], 2, 1.0),  # as it was corrected
        ([1.0, nan, 1.0, nan], 1, 0.0),
    ]
    found = study.observations()
    assert [(test, outcome) for _, test, outcome in found] == [(test, outcome) for _, test, outcome in expected]
    for (state, _, _), (known, _, _) in zip(found, expected, strict=True):
        np.testing.assert_array_equal(state, known)
    study.restart(reason="new laboratory")
    assert study.observations() == []
    study.arrive({"sex": "f"})
    assert [(test, outcome) for _, test, outcome in study.observations()] == [(0, 0.0)]


def test_several_context_outcomes_of_one_arrival_follow_each_other() -> None:
    crowd = Crowd(bolts(), "test-everything", np.random.default_rng(0), past=0)
    crowd.run(100)
    ledger = folded(crowd.store.read("bolts"))
    known = 0
    for state, test, outcome in ledger.observations(after=0):
        assert np.isnan(state[test])
        assert outcome in range(crowd.problem.tests[test].k)
        known += int((~np.isnan(state)).sum())
    assert known > 20
