from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from tests.studies.crowd import Clock, Crowd, bolts, gout

from proband import Records
from proband.policies import branches
from proband.studies import Study
from proband.studies.stores import MemoryStore


def test_costs_and_savings_add_up() -> None:
    study = Study.create(bolts(), agent="test-everything", store=MemoryStore(), clock=Clock(), replan="now")
    one, two, three = study.arrive(), study.arrive({"visual": "clean"}), study.arrive()
    study.tell(one, "ultrasonic", "ok")
    study.decide(one, "pass")
    study.tell(two, "weight", "light")
    study.tell(two, "ultrasonic", "ok")
    study.decide(two)
    study.tell(three, "visual", "rusty")
    summary = study.summary()
    assert (summary.open, summary.finished, summary.events) == (1, 2, 10)
    assert summary.mean_cost == pytest.approx((0.3 + 0.35) / 2)
    assert summary.mean_tests == 1.5
    assert summary.tests_saved == 2
    assert summary.cost_saved == pytest.approx((0.05 + 0.1 + 0.25) + (0.1 + 0.25) - 0.3 - 0.35)
    assert [stretch.last for stretch in summary.stretches] == [1, 2]
    assert (summary.tests_against_advice, summary.decisions_against_advice) == (1, 1)
    assert summary.exploration is not None
    assert (summary.exploration.commitment, summary.exploration.completing) == (None, 0.0)


def test_exploration_still_to_come_is_that_of_the_policy() -> None:
    study = Study.create(
        bolts(), agent="safe-leaf-completion", store=MemoryStore(), clock=Clock(), replan="now", station="A"
    )
    first = study.summary().exploration
    assert first is not None
    assert (first.position, first.commitment, first.completing) == (1, 64, 1.0)
    rows = np.random.default_rng(0).integers(0, [2, 3, 2], size=(300, 3))
    study.learn_from(Records(rows))
    study.replan()
    later = study.summary().exploration
    assert later is not None
    assert later.commitment is not None
    policy = study.policy()
    law = policy.base.distribution  # type: ignore[attr-defined]
    [_, (falls, _)] = branches(study.problem, policy, law.support)
    stopped = policy.stopped(law.support).states  # type: ignore[attr-defined]
    expected = float(law.probabilities @ np.where(np.isnan(stopped).any(axis=1), falls, 0))
    assert later.completing == pytest.approx(expected)
    study.decide(study.arrive({"visual": "clean", "weight": "light", "ultrasonic": "ok"}))
    after = study.summary().exploration
    assert after is not None
    assert (after.behind, after.commitment) == (1, later.commitment - 1)


def test_a_summary_is_json() -> None:
    crowd = Crowd(gout(), "thompson", np.random.default_rng(5))
    crowd.run(80)
    summary = crowd.studies[0].summary()
    content = json.loads(json.dumps(summary.to_dict()))
    assert content["finished"] == summary.finished
    assert sum(content["decisions"].values()) == summary.finished
    assert content["drift"]["observations"] == len(crowd.studies[0].observations())
    plain = crowd.studies[0].summary(exploration=False, drift=False)
    assert (plain.exploration, plain.drift) == (None, None)
    subject = crowd.studies[0].subjects()[0]
    assert json.loads(json.dumps(subject.to_dict()))["name"] == subject.name


def test_long_studies_are_told_in_stretches() -> None:
    study = Study.create(bolts(), agent="test-everything", store=MemoryStore(), clock=Clock(), replan="never")
    for _ in range(100):
        study.decide(study.arrive({"visual": "clean", "weight": "light", "ultrasonic": "ok"}))
    stretches = study.summary().stretches
    assert len(stretches) == 40
    assert stretches[0].first == 1
    assert stretches[-1].last == 100
    assert all(one.last + 1 == other.first for one, other in itertools.pairwise(stretches))


def test_advice_is_json_and_explains_itself() -> None:
    study = Study.create(bolts(), agent="safe-leaf-completion", store=MemoryStore(), clock=Clock(), replan="now")
    bolt = study.arrive()
    first = study.ask(bolt)
    assert first.reason == "Every test is run on this subject, whatever they show."
    assert first.exploring
    assert first.alternatives == ()
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, 2, 300), rng.integers(0, 3, 300), rng.random(300) < 0.5])
    study.learn_from(Records(rows))
    study.replan()
    reasons: dict[bool, set[str]] = {True: set(), False: set()}
    for _ in range(150):
        bolt = study.arrive()
        while (advice := study.ask(bolt)).kind == "test":
            reasons[advice.exploring].add(advice.reason)
            losses = [other.loss for other in advice.alternatives]
            assert losses == sorted(losses)
            assert {other.name for other in advice.alternatives} >= {"pass", "fail"}
            study.tell(bolt, advice.action, {"visual": "clean", "weight": "light", "ultrasonic": "ok"}[advice.action])
        reasons[advice.exploring].add(advice.reason)
        assert json.loads(json.dumps(advice.to_dict()))["action"] == study.decide(bolt)
    assert any("tested completely, and this is one of them" in reason for reason in reasons[True])
    assert all("EUR are expected from here on" in reason for reason in reasons[False])
    assert study.tree().root.alternatives
