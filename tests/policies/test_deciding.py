from __future__ import annotations

import numpy as np
import pytest

from proband import Discrete, Problem, Test
from proband.errors import DistributionError
from proband.policies import Decider
from proband.rewards import Match, Table
from proband.testing import BruteForce, random_distribution, random_problem, random_states

NAN = float("nan")


def test_decisions_are_those_of_brute_force(rng: np.random.Generator) -> None:
    for _ in range(60):
        problem = random_problem(rng)
        law = random_distribution(rng, problem)
        brute_force, decider = BruteForce(problem, law), Decider(problem, law)
        states = [s for s in brute_force.states() if all(s[i] is not None for i in problem.context)][:100]
        rows = np.array([[NAN if b is None else b for b in state] for state in states])
        actions, values = decider.decide(rows)
        for state, action, value in zip(states, actions, values, strict=True):
            known = {a: v for a, v in brute_force.action_values(state).items() if a >= problem.d}
            assert value == pytest.approx(max(known.values()), abs=1e-12)
            assert known[int(action)] == pytest.approx(value, abs=1e-12)


def test_values_of_every_decision(problem: Problem, law: Discrete) -> None:
    decider = Decider(problem, law)
    assert decider.values_of([NAN, NAN]) == pytest.approx([0.75 - 4 * 0.25, 0.0])
    assert decider.values_of([NAN, 1]) == pytest.approx([-4.0, 0.0])
    matched = Decider(Problem(problem.tests, reward=Match()), law)
    assert matched.values_of([0, NAN]) == pytest.approx([0.7 / 0.75])


def test_ties_go_to_the_first() -> None:
    problem = Problem([Test("a", 1.0)], ["y", "z"], Table(["a"], [[1, 1], [0, 0]]))
    law = Discrete([[0], [1]], [0.5, 0.5])
    assert Decider(problem, law).decide([[NAN]])[0].tolist() == [1]
    assert Decider(Problem(problem.tests, reward=Match()), law).decide([[NAN]])[0].tolist() == [1]


def test_an_impossible_state_is_decided_as_its_nearest_neighbours() -> None:
    tests = [Test(name, 1.0, outcomes=("0", "1", "2")) for name in "abc"]
    law = Discrete([[0, 0, 0], [0, 1, 1], [1, 1, 1]], [0.5, 0.3, 0.2])
    problem = Problem(tests, ["zero", "one"], Table(["c"], [[1, 0], [0, 1], [0, 0]]))
    actions, values = Decider(problem, law).decide([[1, 0, NAN], [2, 1, NAN], [2, 2, 2]])
    # [1, 0, ?] shares one outcome with rows 0 and 2; [2, 1, ?] with rows 1 and 2; [2, 2, 2] with none
    assert [problem.action_name(a) for a in actions] == ["zero", "one", "zero"]
    assert values == pytest.approx([0.5 / 0.7, 1.0, 0.5])


@pytest.mark.parametrize("ties", [False, True])
def test_many_impossible_states_are_decided_as_each_alone(ties: bool) -> None:
    rng = np.random.default_rng(4)
    tests = [Test(f"test {i}", 1.0, outcomes=("0", "1", "2")) for i in range(12)]
    utilities = [[1, 0, 0.4], [0, 1, 0.4], [0.3, 0.3, 0.4]]
    problem = Problem(tests, ["zero", "one", "either"], Table(["test 11"], utilities))
    support = np.unique(rng.integers(3, size=(300, 12)), axis=0)
    weights = np.ones(len(support)) if ties else rng.random(len(support))
    decider = Decider(problem, Discrete.from_weights(support, weights))
    states = np.where(rng.random((600, 12)) < 0.1, NAN, rng.integers(3, size=(600, 12)).astype(float))
    states[:, 11] = NAN
    actions, values = decider.decide(states)
    alone = [decider.decide(states[[n]]) for n in range(len(states))]
    assert actions.tolist() == [int(action[0]) for action, _ in alone]
    assert values == pytest.approx([float(value[0]) for _, value in alone])
    assert len(np.unique(actions)) == 3


def test_an_impossible_state_of_a_match_keeps_what_is_known() -> None:
    tests = [Test(name, 1.0, outcomes=("0", "1", "2")) for name in "abc"]
    law = Discrete([[0, 0, 0], [0, 1, 1], [1, 1, 2]], [0.5, 0.3, 0.2])
    problem = Problem(tests, reward=Match())
    actions, values = Decider(problem, law).decide([[1, 0, NAN], [2, 1, NAN], [2, 2, 2]])
    assert [problem.action_name(a) for a in actions] == ["a=1, b=0, c=0", "a=2, b=1, c=1", "a=2, b=2, c=2"]
    assert np.isfinite(values).all()


def test_no_state_crashes_a_decider(rng: np.random.Generator) -> None:
    for _ in range(60):
        problem = random_problem(rng)
        decider = Decider(problem, random_distribution(rng, problem, max_support=3))
        actions, values = decider.decide(random_states(rng, problem, 30))
        assert ((actions >= problem.d) & (actions < problem.d + problem.n_decisions)).all()
        assert np.isfinite(values).all()
        assert decider.decide(np.empty((0, problem.d)))[0].shape == (0,)


def test_a_law_of_other_tests_is_refused(problem: Problem) -> None:
    with pytest.raises(DistributionError, match="the distribution has 1 tests and the problem 2"):
        Decider(problem, Discrete([[0]], [1.0]))


@pytest.mark.parametrize("seed", range(30))
def test_perfect_information_is_the_mean_over_whole_outcome_vectors(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    law = random_distribution(rng, problem)
    decider = Decider(problem, law)
    assert decider.perfect_information() == float(law.probabilities @ decider.decide(law.support)[1])
