"""False alarms of drift in studies without drift, whatever policy chose the tests."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from proband import Discrete, Gaussian, Problem, Test, plan, policies
from proband.agents import Setting, build_agent
from proband.instances import bolts_measured
from proband.policies import AtLeaves, Completing, follow
from proband.rewards import Table
from proband.studies.drift.detection import Drift, drift
from proband.vocabulary import FloatArray, Policy, Records

ALPHA = 0.05
Observation = tuple[FloatArray, int, float]
Study = Callable[[int], Iterator[Observation]]

PROBLEM = Problem(
    tests=[
        Test("shift", outcomes=("day", "night"), on_arrival=True),
        Test("visual", 0.1, outcomes=("clean", "worn", "rusty")),
        Test("ultrasonic", 0.3, outcomes=("ok", "crack")),
    ],
    decisions=["pass", "fail"],
    reward=Table(["ultrasonic"], [[1.0, 0.0], [-4.0, 0.0]]),
)
VECTORS = np.array(list(itertools.product(range(2), range(3), range(2))), dtype=np.float64)
MEASURED = bolts_measured()


def observed(
    problem: Problem, policy: Policy, rows: FloatArray, rng: np.random.Generator
) -> tuple[list[Observation], FloatArray]:
    """Take subjects through a policy side by side; return the observations in some order, and what was known."""
    coins = rng.random(len(rows))
    states = np.full(rows.shape, np.nan)
    found: list[tuple[float, Observation]] = []
    begun, step = rng.random(len(rows)) * 5, 0

    def read(t: int, i: int) -> None:
        found.append((begun[t] + step, (states[t].copy(), i, float(rows[t, i]))))
        states[t, i] = rows[t, i]

    for t, i in itertools.product(range(len(rows)), problem.context):
        read(t, int(i))
    active = np.arange(len(rows))
    while len(active):
        step += 1
        actions = policy.act(states[active], coins[active])
        active, actions = active[actions < problem.d], actions[actions < problem.d]
        for t, i in zip(active.tolist(), actions.tolist(), strict=True):
            read(t, i)
    found.sort(key=lambda one: one[0])
    return [one for _, one in found], states


def planned_study(seed: int) -> Iterator[Observation]:
    """Plans for a law drawn from what complete subjects showed, and coins that complete: new ones in each block."""
    rng = np.random.default_rng([seed, 1])
    law = Discrete.from_weights(VECTORS, rng.dirichlet(np.full(len(VECTORS), 0.5)))
    counts = np.zeros(len(VECTORS))
    for _ in range(3):
        guess = Discrete.from_weights(VECTORS, rng.dirichlet(counts + 0.5))
        best = plan(PROBLEM, guess)
        leaves = np.unique(follow(PROBLEM, best, VECTORS).states, axis=0)
        policy = Completing(PROBLEM, best, AtLeaves(leaves, rng.random(len(leaves)) ** 2))
        found, states = observed(PROBLEM, policy, law.sample(rng, 50), rng)
        complete = states[~np.isnan(states).any(axis=1)]
        counts += (complete[:, None] == VECTORS).all(axis=2).sum(axis=0)
        yield from found


def agent_study(name: str) -> Study:
    def study(seed: int) -> Iterator[Observation]:
        rng = np.random.default_rng([seed, 2])
        law = Discrete.from_weights(VECTORS, rng.dirichlet(np.ones(len(VECTORS))))
        agent = build_agent(name, Setting(PROBLEM, horizon=400, seed=seed))
        t = 0
        while t < 400:
            n = min(400 - t, agent.commitment)
            found, states = observed(PROBLEM, agent.policy(), law.sample(rng, n), rng)
            yield from found
            agent.learn(Records(states))
            t += n

    return study


@functools.cache
def measured_plans() -> list[Policy]:
    """Plans for laws around the true one."""
    rng, truth = np.random.default_rng(3), MEASURED.distribution
    shifts = 0.5 * np.sqrt(np.diag(truth.covariance)) * rng.normal(size=(3, truth.d))
    laws = [Gaussian(truth.mean + shift, truth.covariance * rng.uniform(0.5, 2)) for shift in shifts]
    return [policies.test_everything(MEASURED.problem, truth), *(plan(MEASURED.problem, law) for law in laws)]


def measured_study(seed: int) -> Iterator[Observation]:
    """One plan after another: what was measured says which."""
    rng = np.random.default_rng([seed, 3])
    chosen = 0
    for _ in range(4):
        rows = MEASURED.distribution.sample(rng, 50)
        found, _ = observed(MEASURED.problem, measured_plans()[chosen], rows, rng)
        yield from found
        chosen = int(sum(outcome for _, _, outcome in found)) % len(measured_plans())


def evidence(problem: Problem, study: Study, seeds: range) -> tuple[int, float]:
    """Return how many studies raised an alarm, and the average of E at their ends."""
    alarms, total = 0, 0.0
    for seed in seeds:
        check = Drift(problem, alpha=ALPHA)
        for state, test, outcome in study(seed):
            check.update(state, test, outcome)
        alarms += check.alarm
        total += math.exp(check.log_e)
    return alarms, total / len(seeds)


@pytest.mark.parametrize("n", [200, pytest.param(1000, marks=pytest.mark.slow)])
def test_studies_without_drift_raise_few_alarms(n: int) -> None:
    alarms, average = evidence(PROBLEM, planned_study, range(n))
    assert alarms <= ALPHA * n
    assert average <= 1


@pytest.mark.parametrize("name", ["safe-leaf-completion", "thompson", "doubling-keep"])
def test_agents_without_drift_raise_few_alarms(name: str) -> None:
    alarms, average = evidence(PROBLEM, agent_study(name), range(5))
    assert alarms == 0
    assert average <= 1


def test_measured_studies_without_drift_raise_few_alarms() -> None:
    alarms, average = evidence(MEASURED.problem, measured_study, range(60))
    assert alarms <= ALPHA * 60
    assert average <= 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["safe-leaf-completion", "thompson", "doubling-keep"])
def test_thousands_of_agents_without_drift_raise_few_alarms(name: str) -> None:
    alarms, average = evidence(PROBLEM, agent_study(name), range(1000))
    assert alarms <= ALPHA * 1000
    assert average <= 1


@pytest.mark.slow
def test_a_thousand_measured_studies_without_drift_raise_few_alarms() -> None:
    alarms, average = evidence(MEASURED.problem, measured_study, range(1000))
    assert alarms <= ALPHA * 1000
    assert average <= 1


def selective_study(rng: np.random.Generator, n: int) -> Iterator[Observation]:
    """No drift; at first every subject gets the ultrasonic test, later the rusty ones only."""
    law = Discrete.from_weights(VECTORS, [9, 1, 3, 1, 1, 4] * 2)
    for t, row in enumerate(law.sample(rng, 2 * n)):
        state = np.full(3, np.nan)
        for i in range(3 if t < n or row[1] == 2 else 2):
            yield state.copy(), i, float(row[i])
            state[i] = row[i]


def test_selection_is_no_drift_but_looks_like_it_without_the_states(rng: np.random.Generator) -> None:
    observations = list(selective_study(rng, 400))
    assert not drift(PROBLEM, observations, alpha=ALPHA).alarm
    marginal = [(np.full(3, np.nan), test, outcome) for _, test, outcome in observations]
    report = drift(PROBLEM, marginal, alpha=ALPHA)
    assert report.alarm
    assert report.suspects[0].test == "ultrasonic"


SHAPES: dict[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "heavy tails": lambda rng, n: rng.standard_t(3, size=n),
    "skewed": lambda rng, n: np.exp(rng.normal(size=n)),
    "rounded": lambda rng, n: np.round(rng.normal(size=n)),
    "two humps": lambda rng, n: rng.normal(size=n) + 5 * rng.integers(0, 2, n),
}


def shaped_alarms(shape: str, *, curve: float, turning: bool) -> int:
    """Return how many of 50 studies raise an alarm: the second measurement depends on the first, and no law changes.

    A policy that turns measures all subjects twice, and after half of them only those with a large first measurement.
    """
    alarms, n = 0, 2000
    for seed in range(50):
        rng, check = np.random.default_rng(seed), Drift(MEASURED.problem, alpha=ALPHA)
        first, noise = SHAPES[shape](rng, n), SHAPES[shape](rng, n)
        second, large = first + curve * first**2 + noise, np.quantile(first, 0.7)
        for t in range(n):
            state = MEASURED.problem.state()
            check.update(state, 0, first[t])
            if not turning or t < n / 2 or first[t] > large:
                state[0] = first[t]
                check.update(state, 1, second[t])
        alarms += check.alarm
    return alarms


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("curve", [0.0, 0.3])
def test_shapes_and_curves_are_no_drift_while_the_policy_stays(shape: str, curve: float) -> None:
    assert shaped_alarms(shape, curve=curve, turning=False) <= ALPHA * 50


@pytest.mark.slow
def test_lines_hold_when_the_policy_turns_but_curves_do_not() -> None:
    """The limit that docs/drift.md states: a Gaussian law is needed where the policy turns."""
    assert shaped_alarms("normal", curve=0.0, turning=True) <= ALPHA * 50
    assert shaped_alarms("skewed", curve=0.3, turning=True) > ALPHA * 50


@pytest.mark.parametrize("shape", SHAPES)
def test_the_shape_of_measurements_is_no_drift(shape: str, rng: np.random.Generator) -> None:
    nothing = MEASURED.problem.state()
    for _ in range(10):
        observations = [(nothing, 0, y) for y in SHAPES[shape](rng, 1500)]
        assert not drift(MEASURED.problem, observations, alpha=ALPHA).alarm


def test_the_program_of_the_documentation_runs(capsys: pytest.CaptureFixture[str]) -> None:
    text = (Path(__file__).parents[2] / "docs" / "drift.md").read_text(encoding="utf-8")
    [program] = re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    sizes = "STUDIES, BEFORE, AFTER = 50, 2000, 4000"
    assert sizes in program
    exec(compile(program.replace(sizes, "STUDIES, BEFORE, AFTER = 2, 40, 20"), "drift.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 15
    assert all(line.endswith("inf    inf   0 early") for line in printed)
