from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

from proband import evaluate, plan
from proband.errors import ProblemError
from proband.instances import proxied, single_measurement
from proband.policies import DecideNow, test_everything


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.4])
def test_never_measuring_is_best_and_measuring_loses_a_quarter(epsilon: float, sign: int) -> None:
    instance = single_measurement(epsilon=epsilon, sign=sign)
    problem, law = instance.problem, instance.distribution
    best = plan(problem, law)
    assert best.value == pytest.approx(ndtr(epsilon), abs=1e-6)
    assert best.expected_tests == 0
    assert evaluate(problem, law, test_everything(problem)).value == pytest.approx(1 / 4)
    right, wrong = ("positive", "negative")[::sign]
    assert evaluate(problem, law, DecideNow(problem, right)).value == pytest.approx(ndtr(epsilon))
    assert evaluate(problem, law, DecideNow(problem, wrong)).value == pytest.approx(1 - ndtr(epsilon))


@pytest.mark.parametrize("correlation", [-0.5, -0.1, 0.1, 0.5])
def test_the_proxy_is_read_and_followed_or_contradicted(correlation: float) -> None:
    instance = proxied(correlation=correlation)
    problem, law = instance.problem, instance.distribution
    best = plan(problem, law)
    assert best.value == pytest.approx(0.5 + math.asin(abs(correlation)) / math.pi, abs=1e-6)
    assert best.expected_cost == pytest.approx(0)
    chosen = [problem.action_name(int(a)) for a in best.act([[1.0, np.nan], [-1.0, np.nan]])]
    assert chosen == ["positive", "negative"][:: 1 if correlation > 0 else -1]
    misled = evaluate(problem, law, plan(problem, proxied(correlation=-correlation).distribution))
    assert best.value - misled.value == pytest.approx(2 * math.asin(abs(correlation)) / math.pi, abs=0.01)


@pytest.mark.parametrize(("correlation", "read"), [(0.25, 0.0), (0.35, 1.0)])
def test_at_its_price_the_proxy_is_worth_reading_above_a_correlation(correlation: float, read: float) -> None:
    instance = proxied(correlation=correlation, price=math.asin(0.3) / math.pi)
    assert plan(instance.problem, instance.distribution).expected_tests == pytest.approx(read)


def test_bad_numbers_are_refused() -> None:
    with pytest.raises(ProblemError, match=r"epsilon is -0\.1"):
        single_measurement(epsilon=-0.1)
    with pytest.raises(ProblemError, match="sign 0"):
        single_measurement(sign=0)
    with pytest.raises(ProblemError, match="between -1 and 1"):
        proxied(correlation=1.0)
