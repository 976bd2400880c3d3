from __future__ import annotations

import numpy as np
import pytest

from proband import Gaussian, Problem, Test
from proband.errors import ProblemError
from proband.instances import bolts_measured, monitoring_network, shafts
from proband.policies import DecideNow, FixedSet, ProjectionDecider, decider_for, follow, test_everything
from proband.policies.beliefs import Beliefs, masks_of, members
from proband.rewards import Entropy

NAN = float("nan")


@pytest.mark.parametrize("make", [bolts_measured, shafts])
def test_beliefs_and_decisions_agree_with_simulation(make) -> None:
    instance = make()
    problem, law = instance.problem, instance.distribution
    rng = np.random.default_rng(0)
    row = instance.sample(rng, 1)[0]
    decider = ProjectionDecider(problem, law)
    for known in ([], [0], [1, 3], [0, 2, 3]):
        state = np.full(problem.d, NAN)
        state[known] = row[known]
        rows = law.condition(state).sample(rng, 200_000)
        payoff = problem.payoff(rows)
        error = payoff.std(axis=0) / np.sqrt(len(rows))
        assert (np.abs(decider.values_of(state) - payoff.mean(axis=0)) <= 5 * error + 1e-4).all()
        masks, means = decider.beliefs.of(state[None])
        z = rows @ problem.reward.matrix(problem.tests).T + problem.reward.offsets
        assert means[0] == pytest.approx(z.mean(axis=0), abs=0.02 * z.std() + 1e-9)
        assert decider.beliefs.covariance(int(masks[0])) == pytest.approx(
            np.atleast_2d(np.cov(z.T)), abs=0.02 * z.var() + 1e-9
        )


def test_everything_known_is_decided_exactly() -> None:
    instance = bolts_measured()
    rows = instance.sample(np.random.default_rng(1), 500)
    exact = instance.problem.payoff(rows)
    actions, values = decider_for(instance.problem, instance.distribution).decide(rows)
    assert values == pytest.approx(exact.max(axis=1), abs=1e-9)
    assert exact[np.arange(500), actions - 6] == pytest.approx(exact.max(axis=1), abs=1e-9)


def test_fixed_policies_of_measured_tests() -> None:
    instance = bolts_measured()
    problem, law = instance.problem, instance.distribution
    rows = instance.sample(np.random.default_rng(2), 200)
    everything = follow(problem, test_everything(problem), rows)
    assert everything.costs == pytest.approx(0.01 + 0.02 + 0.02 + 0.08 + 0.22 + 0.55)
    some = follow(problem, FixedSet(problem, ["hardness", "bolt length"], law), rows)
    assert (some.tests == 2).all()
    assert (follow(problem, DecideNow(problem, "ship"), rows).actions == problem.d).all()
    assert (follow(problem, DecideNow(problem, distribution=law), rows).costs == 0).all()


def test_an_entropy_problem_only_stops() -> None:
    problem = monitoring_network().problem
    policy = FixedSet(problem, ["site 3", "site 1"])
    episodes = follow(problem, policy, np.zeros((1, problem.d)))
    assert np.flatnonzero(~np.isnan(episodes.states[0])).tolist() == [0, 2]
    assert episodes.actions.tolist() == [problem.d]


def test_masks() -> None:
    assert masks_of(np.array([[NAN, 1.0, 0.0], [NAN, NAN, NAN]])).tolist() == [6, 0]
    assert members(6, 3).tolist() == [1, 2]


def test_beliefs_need_a_projection() -> None:
    problem = Problem([Test("a", 1.0, outcomes=None)], ["stop"], Entropy())
    with pytest.raises(ProblemError, match="need a Projection"):
        Beliefs(problem, Gaussian([0], [[1]]))
