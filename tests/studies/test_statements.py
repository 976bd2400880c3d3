"""What the agent of a study certifies, and when that is withdrawn."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from tests.studies.crowd import Clock, network

from proband import Problem, Records, Study, Test
from proband.cli.study.printing import summary_facts
from proband.figures import study_report
from proband.rewards import Entropy
from proband.studies.learning.learner import Statement
from proband.studies.stores import MemoryStore

NAMES = ("harbour", "station")
COSTS = (1.12, 0.6)
"""The harbour's deviation is 1: it brings 1.42, but only 0.8 if its readings within ±1 alone counted."""


def begun(*, clock: Clock | None = None, **options: Any) -> Study:
    tests = [Test(name, cost, outcomes=None) for name, cost in zip(NAMES, COSTS, strict=True)]
    problem = Problem(tests, ["stop"], Entropy(), name="network")
    where = {"store": MemoryStore(), "clock": clock or Clock(), "replan": "now"}
    return Study.create(problem, agent="certified", **where, **options)


def advised(study: Study, reading: dict[str, float]) -> None:
    """Measure what is advised."""
    subject = study.arrive()
    while (advice := study.ask(subject)).kind == "test":
        study.tell(subject, advice.action, reading[advice.action])
    study.decide(subject)


def broken_off(study: Study, reading: dict[str, float]) -> None:
    """Measure the harbour first, and stop if it is far out."""
    subject = study.arrive()
    if abs(reading["harbour"]) > 1:
        study.tell(subject, "harbour", reading["harbour"])
        study.decide(subject, "stop")
        return
    while (advice := study.ask(subject)).kind == "test":
        study.tell(subject, advice.action, reading[advice.action])
    study.decide(subject)


def readings(seed: int, n: int) -> list[dict[str, float]]:
    rows = np.random.default_rng(seed).normal(size=(n, 2))
    return [dict(zip(NAMES, row, strict=True)) for row in rows.tolist()]


def stated(study: Study) -> Statement:
    statement = study.summary(drift=False).statement
    assert statement is not None
    return statement


def withdrawn(study: Study) -> str:
    certificate = stated(study).certificate
    assert certificate is not None
    return certificate.withdrawn


def test_a_study_shows_what_its_agent_certifies() -> None:
    study = begun()
    for reading in readings(0, 250):
        advised(study, reading)
    certificate = stated(study).certificate
    assert certificate is not None
    assert str(certificate).startswith("With probability 0.95: measuring harbour, station is within 0.0")
    assert stated(study).notices == ()
    summary = study.summary()
    assert ("certificate", str(certificate)) in summary_facts(summary)
    assert f'<p class="calm">{certificate}</p>' in study_report(summary, tree=None)
    written = json.loads(json.dumps(summary.to_dict(), allow_nan=False))["statement"]
    assert written["certificate"]["says"] == str(certificate)


def test_an_operator_who_breaks_off_gets_no_certificate() -> None:
    study = begun()
    for reading in readings(0, 250):
        broken_off(study, reading)
    statement = stated(study)
    assert statement.certificate is not None
    assert statement.certificate.outside == ()
    assert "did not measure the tests that they were given" in statement.certificate.withdrawn
    assert statement.notices == (statement.certificate.withdrawn,)
    summary = study.summary()
    assert ("notice", statement.notices[0]) in summary_facts(summary)
    assert '<p class="alarm">Nothing is certified any more.' in study_report(summary, tree=None)
    assert json.loads(json.dumps(summary.to_dict(), allow_nan=False))["statement"]["certificate"]["bound"] is None


def test_after_a_restart_the_agent_certifies_again() -> None:
    study = begun()
    for reading in readings(0, 30):
        broken_off(study, reading)
    study.restart(reason="rounds were broken off")
    for reading in readings(1, 250):
        advised(study, reading)
    assert withdrawn(study) == ""
    assert study.replay().differences == ()


def test_an_operator_who_measures_more_gets_no_certificate() -> None:
    study = Study.create(
        Problem(
            [Test("harbour", 1.12, outcomes=None), Test("park", 3.0, outcomes=None)], ["stop"], Entropy(), name="parks"
        ),
        agent="certified", store=MemoryStore(), clock=Clock(), replan="now",
    )  # fmt: skip
    rng = np.random.default_rng(0)
    for _ in range(60):
        subject = study.arrive()
        while (advice := study.ask(subject)).kind == "test":
            study.tell(subject, advice.action, rng.normal())
        study.decide(subject)
    certificate = stated(study).certificate
    assert certificate is not None
    assert certificate.outside == ("park",)
    assert not certificate.reached
    subject = study.arrive()
    study.tell(subject, "harbour", 0.1)
    study.tell(subject, "park", 0.2)
    study.decide(subject)
    study.replan()
    assert "1 of 61 rounds" in withdrawn(study)


@pytest.mark.parametrize("finished", [True, False], ids=["finished", "open"])
def test_voided_subjects_cost_the_certificate_until_a_restart(finished: bool) -> None:
    study = begun()
    study.void(study.arrive(), reason="nothing was seen of it")
    assert withdrawn(study) == ""
    subject = study.arrive()
    study.tell(subject, "harbour", 5.0)
    if finished:
        study.tell(subject, "station", 0.0)
        study.decide(subject)
    study.void(subject, reason="an outlier")
    assert "were voided (1)" in withdrawn(study)
    assert stated(study).notices[0] == withdrawn(study)
    study.restart(reason="once more")
    assert withdrawn(study) == ""


def test_subjects_left_open_are_noticed() -> None:
    clock = Clock()
    study = begun(lease=10.0, clock=clock)
    subject = study.arrive()
    study.tell(subject, "harbour", 5.0)
    assert stated(study).notices == ()
    clock.seconds += 11
    [notice] = stated(study).notices
    assert "were left open (1)" in notice
    assert withdrawn(study) == ""


def test_corrected_values_leave_the_certificate_and_withdrawn_ones_do_not() -> None:
    study = begun()
    for reading in readings(0, 12):
        advised(study, reading)
    study.correct("3", "harbour", 0.25, reason="a slip of the pen")
    study.replan()
    assert withdrawn(study) == ""
    study.correct("3", "harbour", None, reason="the wrong site")
    study.replan()
    assert "1 of 12 rounds" in withdrawn(study)


def test_past_records_with_gaps_cost_the_certificate_and_complete_ones_do_not() -> None:
    study = begun()
    study.learn_from(Records(np.random.default_rng(0).normal(size=(20, 2))))
    assert withdrawn(study) == ""
    study.learn_from(Records([[0.1, float("nan")]]))
    assert "1 of 21 rounds" in withdrawn(study)


def test_agents_without_a_certificate_state_none() -> None:
    study = Study.create(network(), store=MemoryStore(), clock=Clock(), replan="now")
    statement = stated(study)
    assert statement.certificate is None
    assert "certifies nothing" in statement.notices[0]
    assert study.summary(exploration=False).statement is None
