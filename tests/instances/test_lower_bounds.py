from __future__ import annotations

import numpy as np
import pytest

from proband import evaluate, plan
from proband.errors import ProblemError
from proband.instances import easy, many_states, single_test
from proband.policies import test_everything


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.4])
def test_never_testing_is_best_for_a_single_test(epsilon: float, sign: int) -> None:
    instance = single_test(epsilon=epsilon, sign=sign)
    best = plan(instance.problem, instance.distribution)
    assert best.value == pytest.approx((1 + epsilon) / 2)
    assert best.expected_tests == 0
    tested = evaluate(instance.problem, instance.distribution, test_everything(instance.problem))
    assert tested.value == pytest.approx(1 / 4)
    if epsilon:
        assert list(best.decision_probabilities) == ["0" if sign == 1 else "1"]


def test_every_state_is_a_single_test_of_its_own() -> None:
    signs = [1, -1, -1, 1, 1]
    instance = many_states(5, epsilon=0.2, signs=signs)
    problem, law = instance.problem, instance.distribution
    assert len(law) == 10
    np.testing.assert_allclose(law.marginal(1), 0.2)
    best = plan(problem, law)
    assert best.value == pytest.approx(0.6)
    assert best.expected_cost == pytest.approx(0)
    for value, sign in enumerate(signs):
        state = problem.state({"state": str(value)})
        assert problem.action_name(int(best.act(state)[0])) == ("0" if sign == 1 else "1")
        assert law.condition(state).marginal(0)[0] == pytest.approx((1 + 0.2 * sign) / 2)


def test_signs_are_drawn_from_a_generator() -> None:
    first, second = (many_states(64, rng=np.random.default_rng(seed)).distribution for seed in (0, 1))
    assert not np.array_equal(first.probabilities, second.probabilities)
    again = many_states(64, rng=np.random.default_rng(0)).distribution
    np.testing.assert_array_equal(first.probabilities, again.probabilities)


def test_bad_numbers_are_refused(rng: np.random.Generator) -> None:
    with pytest.raises(ProblemError, match=r"epsilon is 1\.5"):
        single_test(epsilon=1.5)
    with pytest.raises(ProblemError, match="a sign is"):
        single_test(sign=0)
    for wrong in ({"states": 0}, {"states": 2, "signs": [1]}):
        with pytest.raises(ProblemError, match="one sign for each"):
            many_states(**wrong)  # type: ignore[arg-type]
    with pytest.raises(ProblemError, match="no rng"):
        many_states(1, signs=[1], rng=rng)


def test_the_easy_instance_has_a_large_gap() -> None:
    instance = easy()
    best = plan(instance.problem, instance.distribution)
    losses = sorted(other.loss for other in best.explain(instance.problem.state()).alternatives)
    assert losses == pytest.approx([0.0, 0.65, 0.8])
