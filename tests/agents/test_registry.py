"""Every agent of the registry keeps the contract of the kit, and the kit catches agents that do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proband import Discrete, Gaussian, Problem, Records, Test
from proband.agents import (
    AGENTS,
    DEFAULT_AGENT,
    FOREVER,
    Agent,
    ExploreThenCommit,
    Setting,
    agents_for,
    build_agent,
    default_agent,
)
from proband.agents import TestEverything as EveryTest
from proband.errors import AgentError
from proband.instances import bolts, bolts_measured, monitoring_network
from proband.policies import AtLeaves, Completing, test_everything
from proband.rewards import Match, Table
from proband.testing import check_agent, check_measured_agent
from proband.vocabulary import Kind

DOCUMENT = Path(__file__).parents[2] / "docs" / "agents.md"


def serving(kind: str) -> list[str]:
    return [name for name, agent in AGENTS.items() if kind in agent.kinds]


@pytest.mark.parametrize("name", serving(Kind.LISTED))
def test_every_agent_keeps_the_contract(name: str) -> None:
    def make(problem: Problem, distribution: Discrete, horizon: int) -> Agent:
        return build_agent(name, Setting(problem, horizon=horizon, seed=5, truth=distribution))

    check_agent(make, np.random.default_rng(1), instances=5, subjects=90)


@pytest.mark.parametrize("name", serving(Kind.SCORES))
def test_every_agent_of_measured_outcomes_keeps_the_contract(name: str) -> None:
    def make(problem: Problem, distribution: Gaussian, horizon: int) -> Agent:
        setting = Setting(problem, horizon=horizon, seed=5, truth=distribution, condition_number=2.0)
        return build_agent(name, setting)

    check_measured_agent(make, np.random.default_rng(1), instances=3, subjects=40)


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_of_problem_has_its_agents(kind: Kind) -> None:
    problem = {Kind.LISTED: bolts, Kind.SCORES: bolts_measured, Kind.SETS: monitoring_network}[kind]().problem
    assert problem.kind is kind
    assert agents_for(problem) == serving(kind)
    assert default_agent(problem) in agents_for(problem)
    for name in set(AGENTS) - set(serving(kind)):
        with pytest.raises(AgentError, match=f"{name} is no agent for {kind.value}"):
            build_agent(name, Setting(problem, horizon=100))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("leaf-completion", Kind.LISTED),
        ("leaf-completion", Kind.SCORES),
        ("safe-leaf-completion", Kind.LISTED),
        ("thrifty", Kind.SETS),
    ],
)
def test_agents_that_use_the_horizon_are_told_it_by_name(name: str, kind: str) -> None:
    problem = {Kind.LISTED: bolts, Kind.SCORES: bolts_measured, Kind.SETS: monitoring_network}[kind]().problem
    assert build_agent(name, Setting(problem, horizon=100)).horizon == 100  # type: ignore[attr-defined]
    assert build_agent(name, Setting(problem)).horizon is None  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", AGENTS)
def test_every_agent_is_documented(name: str) -> None:
    assert f"| `{name}` |" in DOCUMENT.read_text(encoding="utf-8")


def test_the_default_agent_exists() -> None:
    assert DEFAULT_AGENT in AGENTS


def test_agents_that_lack_what_they_need_say_so(problem: Problem) -> None:
    with pytest.raises(AgentError, match="needs a horizon"):
        build_agent("explore-then-commit", Setting(problem))
    with pytest.raises(AgentError, match="was not told the true law"):
        build_agent("clairvoyant", Setting(problem))
    with pytest.raises(AgentError, match="needs the condition number"):
        build_agent("elimination", Setting(monitoring_network().problem))


class Spoiled:
    """Explore-then-commit with one fault."""

    def __init__(self, problem: Problem, horizon: int, fault: str) -> None:
        self.problem, self.fault = problem, fault
        self.right = ExploreThenCommit(problem, horizon=horizon)
        self.asked = self.told = self.learned = self.calls = 0
        self.last: float | None = None

    @property
    def commitment(self) -> Any:
        if self.fault == "no commitment":
            return 0
        if self.fault == "half a commitment":
            return 0.5
        return FOREVER if self.fault == "promises too much" else self.right.commitment

    def policy(self) -> Any:
        self.asked += 1
        odd = {
            "asking counts": self.asked > 3,
            "calls count": self.calls > 2,
            "counts every subject": self.told % 2 == 1,
            "believes only coins": self.told > self.learned,
            "remembers the last": self.last == 1,
        }
        if odd.get(self.fault, False):
            return Always(self.problem, self.problem.d)
        return Always(self.problem, -1) if self.fault == "illegal" else self.right.policy()

    def learn(self, records: Records) -> None:
        self.calls += 1
        self.told += records.n
        self.learned += records.n
        if self.fault == "fails on no records" and not len(records):
            raise AssertionError("no records")
        if self.fault == "fails on gaps" and np.isnan(records.outcomes).any():
            raise AssertionError("gaps")
        if records.n:
            self.last = records.outcomes[-1, 0]
        if self.fault == "believes only coins" and records.chances is not None:
            self.told += records.n
        self.right.learn(records)


class Always:
    def __init__(self, problem: Problem, action: int) -> None:
        self.problem, self.action = problem, action

    def act(self, states: Any, coins: Any = None) -> np.ndarray:
        return np.full(len(self.problem.states(states)), self.action)


class Lying(Completing):
    """Completes more often than it tells."""

    def act(self, states: Any, coins: Any = None) -> np.ndarray:
        return super().act(states, np.where(np.asarray(coins) < 1, np.asarray(coins) / 2, coins))


class Liar:
    commitment = FOREVER

    def __init__(self, problem: Problem) -> None:
        states = np.full((1, problem.d), np.nan)
        self._policy = Lying(problem, Always(problem, problem.d), AtLeaves(states, np.array([0.2])))

    def policy(self) -> Any:
        return self._policy

    def learn(self, records: Records) -> None:
        pass


FAULTS = {
    "no commitment": "serves one subject or more",
    "half a commitment": "must be a whole number",
    "promises too much": "the policy is another one",
    "asking counts": "the policy is another one",
    "calls count": "the policy is another one",
    "counts every subject": "the policy is another one",
    "remembers the last": "the policy is another one",
    "believes only coins": "told with which chances they were tested completely, the policy is another one",
    "illegal": "does not exist",
    "fails on no records": "no records",
    "fails on gaps": "gaps",
}


@pytest.mark.parametrize(("fault", "message"), FAULTS.items())
def test_the_kit_catches(fault: str, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_agent(
            lambda problem, distribution, horizon: (
                Spoiled(problem, horizon, fault)
                if all(test.available for test in problem.tests)
                else ExploreThenCommit(problem, horizon=horizon)
            ),
            np.random.default_rng(2),
            subjects=40,
        )


def test_the_kit_catches_a_false_propensity() -> None:
    def make(problem: Problem, distribution: Discrete, horizon: int) -> Any:
        return Liar(problem) if problem.d == len(problem.operable) else EveryTest(problem, distribution)

    with pytest.raises(AssertionError, match="differ from those of its branches"):
        check_agent(make, np.random.default_rng(4), subjects=20)


def test_the_kit_wants_an_agent() -> None:
    def make(problem: Problem, distribution: Discrete, horizon: int) -> Any:
        return object()

    with pytest.raises(AssertionError, match="is no Agent"):
        check_agent(make, subjects=5)


def test_history_teaches_what_is_unavailable_at_once() -> None:
    problem = Problem(
        [Test("sign", 0.1), Test("gold", available=False)], ["no", "yes"], Table(["gold"], [[1.0, 0.0], [0.0, 1.0]])
    )
    history = Records([[0, 1], [1, 0]], counts=[20, 20])
    seen = Records([[0, np.nan], [1, np.nan]], counts=[3, 2])
    for agent in (EveryTest(problem), ExploreThenCommit(problem, horizon=1000, explore=100)):
        agent.learn(seen)
        agent.learn(history)
        assert agent.policy().act([[0, np.nan], [1, np.nan]]).tolist() == [3, 2]
        assert agent.commitment >= 55


def test_test_everything_uses_the_law_it_is_given() -> None:
    problem = Problem(
        [Test("sign", 0.1), Test("gold", available=False)], ["no", "yes"], Table(["gold"], [[1.0, 0.0], [0.0, 1.0]])
    )
    agent = EveryTest(problem, Discrete([[0, 1], [1, 0]], [0.5, 0.5]))
    agent.learn(Records([[0, 0]], counts=[1000]))
    assert agent.policy().act([[0, np.nan], [1, np.nan]]).tolist() == [3, 2]


def test_test_everything_needs_no_law_where_all_is_seen() -> None:
    problem = Problem([Test("a"), Test("b")], (), Match())
    assert EveryTest(problem).policy().act([[1, 0]]).tolist() == test_everything(problem).act([[1, 0]]).tolist()
