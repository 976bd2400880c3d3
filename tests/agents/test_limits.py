"""Limits for each subject while an agent learns: they bind who is decided as planned, and nobody else."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from proband import Discrete, Problem, Test
from proband.agents import Setting, build_agent
from proband.agents.estimates import PerSubject
from proband.errors import AgentError, PlanError, StudyError
from proband.instances import INSTANCES
from proband.policies import branches
from proband.rewards import Table
from proband.simulation import draw_stream, simulate
from proband.studies import Study, open_store
from proband.studies.events.created import make_agent

Case = Callable[[], tuple[Problem, Discrete]]


def panel() -> tuple[Problem, Discrete]:
    tests = [Test(f"test {i}", 0.02) for i in range(20)]
    problem = Problem([*tests, Test("label", 0.25)], ["pass", "fail"], Table(["label"], [[1, 0], [0, 1]]))
    rng = np.random.default_rng(0)
    rows = rng.integers(2, size=(2000, 21)).astype(float)
    rows[:, 20] = np.maximum(rows[:, 0], rows[:, 1] * rows[:, 2])
    return problem, Discrete.from_weights(rows, np.ones(len(rows)))


def few() -> tuple[Problem, Discrete]:
    bolts = INSTANCES["bolts"]()
    return bolts.problem, bolts.distribution


@pytest.mark.parametrize(
    ("agent", "case", "limits"),
    [
        ("safe-leaf-completion", panel, {"max_tests": 2}),
        ("greedy", panel, {"budget": 0.05}),
        ("safe-leaf-completion", few, {"max_tests": 3}),
        ("leaf-completion", few, {"budget": 2.0}),
    ],
)
def test_plans_keep_to_limits_while_an_agent_learns(agent: str, case: Case, limits: dict[str, float]) -> None:
    problem, law = case()
    learner = build_agent(agent, Setting(problem, seed=1, **limits))  # type: ignore[arg-type]
    stream = draw_stream(problem, law, np.random.default_rng(0), 150)
    simulate(problem, law, learner, stream, rng=np.random.default_rng(1), at=np.array([150]))
    planned, *others = branches(problem, learner.policy(), law.support)
    episodes = planned[1]
    assert episodes.tests.max() <= limits.get("max_tests", 99)
    assert episodes.costs.max() <= limits.get("budget", np.inf) + 1e-9
    assert 0 < episodes.tests.max() < len(problem.operable)
    for chance, completed in others[:1]:
        assert not chance.any() or completed.tests.max() == len(problem.operable)


def test_the_plan_of_the_veto_keeps_to_limits() -> None:
    for problem, law in (panel(), few()):
        learner = build_agent("safe-leaf-completion", Setting(problem, seed=1, max_tests=1))
        rows = law.sample(np.random.default_rng(0), 200)
        learner.reference.threshold = 0.0  # type: ignore[attr-defined]
        learner.reference.add(rows, np.ones(200), np.ones(200, dtype=np.int64), lowest=0.1, subjects=200)  # type: ignore[attr-defined]
        worst = build_agent("test-everything", Setting(problem)).policy()
        rival = learner.reference.against_plan(worst)  # type: ignore[attr-defined]
        assert branches(problem, rival, law.support)[0][1].tests.max() <= 1


def test_who_keeps_to_no_limits_says_so() -> None:
    problem, _ = few()
    with pytest.raises(AgentError, match=r"keeps to no limits.*choose safe-leaf-completion"):
        build_agent("test-everything", Setting(problem, max_tests=2))
    with pytest.raises(AgentError, match="these are measured"):
        build_agent("safe-leaf-completion", Setting(INSTANCES["bolts-measured"]().problem, budget=2.0))
    with pytest.raises(PlanError, match="whole number"):
        PerSubject(max_tests=1.5)  # type: ignore[arg-type]


def test_a_study_keeps_its_limits_and_old_ones_have_none() -> None:
    problem, _ = few()
    store = open_store("memory:")
    with Study.create(problem, name="short", store=store, max_tests=2, budget=3.0, replan="never") as study:
        first = next(iter(study.events(limit=1))).data
        assert (first["max_tests"], first["budget"]) == (2, 3.0)
        assert make_agent(problem, first).limits == PerSubject(2, 3.0)  # type: ignore[attr-defined]
    with Study.create(problem, name="free", store=store, replan="never") as study:
        assert {"max_tests", "budget"}.isdisjoint(next(iter(study.events(limit=1))).data)
    for wrong in ({"max_tests": -1}, {"budget": float("nan")}):
        with pytest.raises(StudyError, match="must be a"):
            Study.create(problem, name="wrong", store=store, **wrong)  # type: ignore[arg-type]
