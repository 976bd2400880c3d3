"""Drift: what raises the alarm, when, and whom it suspects."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

import numpy as np
import pytest

from proband import Problem, Test
from proband.errors import StateError, StudyError
from proband.rewards import Table
from proband.studies.drift.detection import Drift, DriftReport, Raised, drift
from proband.studies.drift.suspects import listed_moment, measured_moment
from proband.vocabulary import FloatArray

Observation = tuple[FloatArray, int, float]
NAN = float("nan")

LISTED = Problem(
    tests=[
        Test("visual", 0.1, outcomes=("clean", "rusty")),
        Test("ultrasonic", 0.6, outcomes=("ok", "crack")),
        Test("weight", 0.2, outcomes=("low", "right", "high")),
    ],
    decisions=["pass", "fail"],
    reward=Table(["ultrasonic"], [[1.0, 0.0], [-4.0, 0.0]]),
)
MEASURED = Problem(
    tests=[Test("width", 0.1, outcomes=None, unit="mm"), Test("length", 0.2, outcomes=None, unit="mm")],
    decisions=["pass", "fail"],
    reward=lambda x, y: (x[:, 1] > 0) * (y == 0),
)


def inspect(rng: np.random.Generator, n: int, crack_when_rusty: float) -> Iterator[Observation]:
    """All are looked at; rusty ones, and one in ten of the others, get the ultrasonic test."""
    for _ in range(n):
        state = np.full(3, np.nan)
        rusty = rng.random() < 0.4
        yield state.copy(), 0, float(rusty)
        state[0] = rusty
        if rusty or rng.random() < 0.1:
            yield state.copy(), 1, float(rng.random() < (crack_when_rusty if rusty else 0.05))


def measure(rng: np.random.Generator, n: int, *, shift: float = 0.0, slope: float = 2.0) -> Iterator[Observation]:
    """All widths are measured; lengths where the width is unusual."""
    for _ in range(n):
        width = 10 + rng.normal()
        yield np.array([NAN, NAN]), 0, width
        if abs(width - 10) > 0.3:
            yield np.array([width, NAN]), 1, 50 + slope * (width - 10) + shift + 0.5 * rng.normal()


def told(problem: Problem, observations: list[Observation], alpha: float = 0.01) -> Drift:
    check = Drift(problem, alpha=alpha)
    for state, test, outcome in observations:
        check.update(state, test, outcome)
    return check


def test_one_conditional_probability_that_changes_raises_the_alarm(rng: np.random.Generator) -> None:
    before = list(inspect(rng, 2000, 0.1))
    report = drift(LISTED, [*before, *inspect(rng, 1000, 0.3)])
    assert not drift(LISTED, before).alarm
    assert report.alarm
    assert report.raised is not None
    assert len(before) < report.raised.observation
    assert 2000 < report.raised.subject < 2600
    assert report.subjects == 3000
    suspect = report.suspects[0]
    assert (suspect.test, suspect.given) == ("ultrasonic", "visual=rusty")
    assert abs(suspect.since - len(before)) < 200
    assert suspect.before[1] == pytest.approx(0.1, abs=0.03)
    assert suspect.after[1] == pytest.approx(0.3, abs=0.05)
    assert suspect.text.startswith("ultrasonic after visual=rusty: crack ")
    assert suspect.text.endswith(f" since observation {suspect.since:,}")
    assert str(report).splitlines()[1].strip() == suspect.text


def test_an_outcome_that_never_came_before_raises_the_alarm_soon() -> None:
    nothing = LISTED.state()
    check = told(LISTED, [(nothing, 2, 1.0)] * 500 + [(nothing, 2, 2.0)] * 12)
    assert check.alarm
    assert check.suspects[0].text == "weight first: high 0 % → 100 % since observation 501"


@pytest.mark.parametrize("shift", [1.0, -3.0, 1e6])
def test_measurements_that_shift_raise_the_alarm(shift: float, rng: np.random.Generator) -> None:
    before = list(measure(rng, 1000))
    report = drift(MEASURED, [*before, *measure(rng, 200, shift=shift)])
    assert not drift(MEASURED, before).alarm
    assert report.raised is not None
    assert 1000 < report.raised.subject < 1100
    suspect = report.suspects[0]
    assert (suspect.test, suspect.given) == ("length", "width")
    assert suspect.before[0] == pytest.approx(0, abs=0.1)
    assert math.copysign(1, suspect.after[0]) == math.copysign(1, shift)
    assert "mm, spread 0." in suspect.text
    assert suspect.text.startswith("length after width: off by ")


def test_a_relation_that_changes_raises_the_alarm(rng: np.random.Generator) -> None:
    report = drift(MEASURED, [*measure(rng, 1000), *measure(rng, 600, slope=-1.0)])
    assert report.raised is not None
    assert report.suspects[0].test == "length"


def test_one_gross_error_raises_no_alarm(rng: np.random.Generator) -> None:
    observations = [*measure(rng, 500), (np.array([NAN, NAN]), 0, 1e9), *measure(rng, 500)]
    assert not drift(MEASURED, observations).alarm


def test_a_measurement_that_never_varied_and_then_does_raises_the_alarm() -> None:
    nothing = np.array([NAN, NAN])
    same = [(nothing, 0, 5.0)] * 300
    assert not drift(MEASURED, same).alarm
    report = drift(MEASURED, [*same, *[(nothing, 0, 5.0 + 0.1 * n) for n in range(20)]])
    assert report.alarm


def test_after_an_alarm_the_moment_stays(rng: np.random.Generator) -> None:
    nothing = LISTED.state()
    changed = [(nothing, 1, 0.0)] * 300 + [(nothing, 1, 1.0)] * 40
    check = told(LISTED, changed)
    raised, smallest = check.raised, check.p_value
    assert raised is not None
    for _ in range(2000):
        check.update(nothing, 1, float(rng.random() < 0.5))
    assert check.raised == raised
    assert check.p_value <= smallest
    assert check.alarm


def test_the_p_value_and_the_alarm_belong_together(rng: np.random.Generator) -> None:
    check = Drift(LISTED, alpha=0.01)
    largest = 0.0
    for state, test, outcome in [*inspect(rng, 400, 0.1), *inspect(rng, 300, 0.8)]:
        check.update(state, test, outcome)
        largest = max(largest, check.log_e)
        assert check.p_value == pytest.approx(math.exp(-largest))
        assert check.alarm == (check.p_value <= 0.01)
    assert check.alarm


def test_the_evidence_is_the_product_over_buckets(rng: np.random.Generator) -> None:
    check = told(LISTED, list(inspect(rng, 800, 0.2)))
    buckets = [bucket for found in check._buckets for bucket in found.values()]
    assert len(buckets) == 3
    product = math.prod(1 - bucket.share + bucket.share * math.exp(bucket.log_e) for bucket in buckets)
    assert check.log_e == pytest.approx(math.log(product))


def test_subjects_are_counted_by_what_was_known_or_as_told() -> None:
    check = Drift(LISTED)
    check.update([NAN, NAN, NAN], 0, 1)
    check.update([1, NAN, NAN], 1, 0)
    check.update([NAN, 0, NAN], 0, 1, begins=True)
    check.update([NAN, NAN, NAN], 0, 1, begins=False)
    assert (check.subjects, check.observations) == (2, 4)


def test_equal_states_share_a_bucket_however_they_are_written() -> None:
    strange = np.frombuffer(np.array([0x7FF8000000000001, 0x7FF8000000000002], dtype=np.uint64).tobytes())
    check = Drift(LISTED)
    check.update(np.array([-0.0, NAN, NAN]), 1, 0)
    check.update(np.array([0.0, *strange]), 1, 1)
    check.update([0, NAN, NAN], 1, 1)
    [bucket] = {id(bucket): bucket for bucket in check._buckets[1].values()}.values()
    assert list(bucket.seen) == [0, 1, 1]


def test_the_order_of_other_buckets_does_not_matter_to_a_bucket(rng: np.random.Generator) -> None:
    observations = list(inspect(rng, 300, 0.3))
    by_test = sorted(observations, key=lambda one: one[1])
    one, other = told(LISTED, observations), told(LISTED, by_test)
    evidence = [
        {bucket.state.tobytes(): bucket.log_e for bucket in check._buckets[1].values()} for check in (one, other)
    ]
    assert evidence[0] == evidence[1]


def test_the_same_observations_give_the_same_report(rng: np.random.Generator) -> None:
    observations = [*inspect(rng, 300, 0.1), *inspect(rng, 300, 0.9)]
    assert drift(LISTED, iter(observations)) == told(LISTED, observations).report()


def test_reports_are_json_and_text(rng: np.random.Generator) -> None:
    quiet = drift(LISTED, inspect(rng, 100, 0.1), alpha=0.05)
    assert str(quiet) == (
        f"no drift seen in {quiet.observations} observations of 100 subjects "
        f"(p = {quiet.p_value:.2g}; false-alarm rate 5 %)"
    )
    loud = drift(LISTED, [*inspect(rng, 300, 0.1), *inspect(rng, 300, 0.9)])
    assert isinstance(loud.raised, Raised)
    for report in (quiet, loud):
        content = json.loads(json.dumps(report.to_dict()))
        assert set(content) == set(DriftReport.__dataclass_fields__)
    assert content["raised"] == {"observation": loud.raised.observation, "subject": loud.raised.subject}
    assert content["suspects"][0]["given"] == "visual=rusty"
    assert "raised at observation" in str(loud)


def test_moments_are_found_where_the_law_changes() -> None:
    assert listed_moment(np.array([0.0] * 30 + [2.0] * 20), 3) == 30
    assert measured_moment(np.array([0.0, 0.1] * 15 + [5.0, 5.1] * 10)) == 30
    assert measured_moment(np.array([0.1, -0.1] * 15 + [2.0, -2.0] * 10)) == 30
    assert measured_moment(np.zeros(20)) >= 4


@pytest.mark.parametrize("alpha", [0, 1, -0.1, NAN])
def test_a_rate_lies_between_zero_and_one(alpha: float) -> None:
    with pytest.raises(StudyError, match="lies between 0 and 1"):
        Drift(LISTED, alpha=alpha)


@pytest.mark.parametrize(
    ("state", "test", "outcome", "message"),
    [
        ([NAN, NAN, NAN], 3, 0.0, "numbered from 0"),
        ([NAN, NAN, NAN], -1, 0.0, "numbered from 0"),
        ([NAN, NAN], 0, 0.0, r"shape \(2,\)"),
        ([[NAN, NAN, NAN]], 0, 0.0, r"shape \(1, 3\)"),
        ([NAN, NAN, NAN], 0, 2.0, "numbered 0 to 1"),
        ([NAN, NAN, NAN], 0, 0.5, "numbered 0 to 1"),
        ([NAN, NAN, NAN], 0, NAN, "numbered 0 to 1"),
        ([0, NAN, NAN], 0, 0.0, "known in the state"),
        ([7, NAN, NAN], 1, 0.0, "outcomes are numbered"),
    ],
)
def test_what_cannot_be_observed_is_refused(state: list[float], test: int, outcome: float, message: str) -> None:
    check = Drift(LISTED)
    with pytest.raises(StateError, match=message):
        check.update(state, test, outcome)
    assert (check.observations, check.subjects) == (0, 0)


@pytest.mark.parametrize(("state", "outcome"), [([NAN, NAN], math.inf), ([NAN, NAN], NAN), ([1e300, NAN], 1.0)])
def test_what_cannot_be_measured_is_refused(state: list[float], outcome: float) -> None:
    check = Drift(MEASURED)
    with pytest.raises(StateError, match="measurements are finite"):
        check.update(state, 1, outcome)
    assert check.observations == 0
