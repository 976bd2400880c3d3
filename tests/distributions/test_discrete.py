from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proband import Discrete, Problem, Records, Test
from proband.distributions.discrete import row_ids, weighted_sum
from proband.errors import DistributionError, StateError, TooLargeError
from proband.rewards import Match
from proband.testing import check_distribution, random_distribution, random_problem

NAN = float("nan")


def test_the_kit_on_random_laws(rng: np.random.Generator) -> None:
    for _ in range(40):
        check_distribution(random_distribution(rng, random_problem(rng)), rng)


def test_the_kit_on_a_sparse_law_in_a_huge_space(rng: np.random.Generator) -> None:
    check_distribution(Discrete.from_weights(rng.integers(0, 4, size=(300, 200)), rng.random(300)), rng)


@pytest.mark.parametrize("tests", [1, 5, 61, 62, 63, 64, 130])
def test_rows_are_numbered_in_the_order_of_their_entries(tests: int, rng: np.random.Generator) -> None:
    """In as many words as they need."""
    for most in (2, 3, 1000, 2**53):
        rows = np.floor(rng.random((40, tests)) * most)
        rows[:, rng.random(tests) < 0.5] = 0
        rows = rows[rng.integers(0, 40, size=60)]
        ids = row_ids(rows)
        expected = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
        assert np.unique(ids, return_inverse=True)[1].tolist() == expected.tolist()
    assert row_ids(np.empty((0, tests))).tolist() == []


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.float32, np.bool_, object])
def test_supports_of_many_kinds(dtype: type) -> None:
    law = Discrete(np.array([[0, 1], [1, 0]], dtype=dtype), [0.5, 0.5])
    assert law.support.tolist() == [[0, 1], [1, 0]]


def test_rows_are_merged_sorted_and_dropped() -> None:
    law = Discrete([[1, 1], [0, 1], [1, 1], [1, 0]], [0.25, 0.25, 0.5, 0.0])
    assert law.support.tolist() == [[0, 1], [1, 1]]
    assert law.probabilities.tolist() == [0.25, 0.75]
    assert len(law) == 2
    assert law.d == 2
    assert repr(law) == "Discrete(2 outcome vectors of 2 tests)"


@pytest.mark.parametrize("d", [1, 70])
def test_minus_zero_is_zero(d: int) -> None:
    law = Discrete(np.vstack([np.full(d, -0.0), np.zeros(d), np.full(d, 2.0)]), [0.25, 0.25, 0.5])
    assert len(law) == 2
    assert law.mass(np.full((1, d), -0.0)).tolist() == [0.5]


def test_a_law_is_its_own() -> None:
    support, probabilities = np.zeros((1, 2)), np.ones(1)
    law = Discrete(support, probabilities)
    support[0, 0] = 5
    probabilities[0] = 7
    assert law.support.tolist() == [[0, 0]]
    assert law.probabilities.tolist() == [1.0]


@pytest.mark.parametrize(
    ("support", "probabilities", "fragments"),
    [
        ([[0], [1]], [1.0], ("shapes (2, 1) and (1,)", "one probability for each row")),
        ([0, 1], [0.5, 0.5], ("shapes (1, 2) and (2,)",)),
        ([], [], ("with n and d of one or more",)),
        (np.empty((0, 3)), [], ("shapes (0, 3) and (0,)",)),
        (np.empty((1, 0)), [1.0], ("shapes (1, 0)",)),
        (np.zeros((1, 1, 1)), [1.0], ("shapes (1, 1, 1)",)),
        ([[0], [1]], [[0.5], [0.5]], ("shapes (2, 1) and (2, 1)",)),
        ([[0.5]], [1.0], ("the support holds 0.5", "outcome numbers 0, 1, ...")),
        ([[-1]], [1.0], ("the support holds -1",)),
        ([[NAN]], [1.0], ("the support holds nan",)),
        ([[math.inf]], [1.0], ("the support holds inf",)),
        ([[1e300]], [1.0], ("the support holds 1e+300",)),
        ([[0], [1]], [1.5, -0.5], ("a probability is -0.5", "0 or more")),
        ([[0], [1]], [NAN, 1], ("a probability is nan", "finite")),
        ([[0], [1]], [math.inf, 1], ("a probability is inf",)),
        ([[0], [1]], [0.5, 0.4], ("sum to 0.9", "must sum to one", "divide them by their sum")),
        ([[0], [1]], [0.0, 0.0], ("every probability is zero",)),
    ],
)
def test_every_rule_of_a_law(support: object, probabilities: object, fragments: tuple[str, ...]) -> None:
    with pytest.raises(DistributionError) as caught:
        Discrete(support, probabilities)  # type: ignore[arg-type]
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_probabilities_may_be_off_by_rounding() -> None:
    law = Discrete([[b] for b in range(10)], [0.1] * 10)
    assert law.probabilities.sum() == pytest.approx(1, abs=1e-15)


def test_weights() -> None:
    assert Discrete.from_weights([[0], [1]], [1, 3]).probabilities.tolist() == [0.25, 0.75]
    assert Discrete.from_weights([[0]], [5e-324]).probabilities.tolist() == [1.0]
    with pytest.raises(DistributionError, match="every probability is zero"):
        Discrete.from_weights([[0]], [0.0])
    with pytest.raises(DistributionError, match="too large"):
        Discrete.from_weights([[0], [1]], [1e308, 1e308])


def test_records_make_an_empirical_law() -> None:
    law = Discrete.from_records(Records([[0, 1], [1, 1], [0, 1], [0, 1]]))
    assert law.support.tolist() == [[0, 1], [1, 1]]
    assert law.probabilities.tolist() == [0.75, 0.25]


def test_counted_records() -> None:
    law = Discrete.from_records(Records([[0, 1], [1, 1], [0, 1], [NAN, 0]], counts=[1, 2, 1, 0]))
    assert law.support.tolist() == [[0, 1], [1, 1]]
    assert law.probabilities.tolist() == [0.5, 0.5]
    with pytest.raises(DistributionError, match="3 of 4 records are incomplete"):
        Discrete.from_records(Records([[0, 1], [NAN, 1]], counts=[1, 3]))
    with pytest.raises(DistributionError, match="there are no records"):
        Discrete.from_records(Records([[0, 1]], counts=[0]))


def test_incomplete_records_are_refused() -> None:
    records = Records([[0, 1], [NAN, 1], [0, NAN]])
    with pytest.raises(DistributionError, match=r"2 of 3 records are incomplete.*records\.complete\(\)"):
        Discrete.from_records(records)
    assert len(Discrete.from_records(records.complete())) == 1
    with pytest.raises(DistributionError, match="there are no records"):
        Discrete.from_records(Records(np.empty((0, 2))))
    with pytest.raises(DistributionError, match="the support holds -1"):
        Discrete.from_records(Records([[-1.0]]))


def test_a_product_of_marginals() -> None:
    law = Discrete.product([[0.5, 0.5], [0.9, 0.1, 0.0], [1.0]])
    assert law.support.tolist() == [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]]
    assert law.probabilities == pytest.approx([0.45, 0.05, 0.45, 0.05])
    assert [law.marginal(i).tolist() for i in range(3)] == [[0.5, 0.5], pytest.approx([0.9, 0.1]), [1.0]]


@pytest.mark.parametrize("marginals", [[], [[]], [[[0.5, 0.5]]], [1.0], [[0.5, 0.6]], [[0.5, 0.5], [2.0, -1.0]]])
def test_bad_marginals(marginals: list[list[float]]) -> None:
    with pytest.raises(DistributionError):
        Discrete.product(marginals)


def test_a_product_of_many_marginals() -> None:
    assert len(Discrete.product([[1.0]] * 70)) == 1
    with pytest.raises(TooLargeError, match="outcome vectors"):
        Discrete.product([[0.5, 0.5]] * 60)


def test_a_law_must_fit_its_problem() -> None:
    problem = Problem([Test("a", 1.0), Test("b", 1.0, outcomes=("0", "1", "2"))], reward=Match())
    Discrete([[1, 2]], [1.0]).check(problem)
    with pytest.raises(DistributionError, match="the distribution has 1 tests and the problem 2"):
        Discrete([[0]], [1.0]).check(problem)
    with pytest.raises(DistributionError, match="outcome 3 of test 'b', which has outcomes 0 to 2"):
        Discrete([[0, 3]], [1.0]).check(problem)


LAW = Discrete([[0, 0, 0], [0, 1, 2], [1, 1, 1]], [0.5, 0.2, 0.3])


def test_masses() -> None:
    states = [[NAN, NAN, NAN], [0, NAN, NAN], [NAN, 1, NAN], [1, 1, NAN], [1, 0, NAN], [0, 1, 2], [7, NAN, NAN]]
    assert LAW.mass(states) == pytest.approx([1, 0.7, 0.5, 0.3, 0, 0.2, 0])
    assert LAW.mass([NAN, 1, NAN]) == pytest.approx([0.5])
    assert LAW.mass(np.empty((0, 3))).shape == (0,)
    assert LAW.mass(np.asfortranarray(states)).tolist() == LAW.mass(states).tolist()


@pytest.mark.parametrize("entry", [0.5, -1.0, -0.25, math.inf, -math.inf, 1e300, 2.0**62])
def test_what_is_no_outcome_has_no_mass(entry: float) -> None:
    assert LAW.mass([[entry, NAN, NAN], [0, NAN, NAN]]) == pytest.approx([0.0, 0.7])
    with pytest.raises(DistributionError, match="probability zero"):
        LAW.condition([entry, NAN, NAN])


@pytest.mark.parametrize("shape", [(2,), (4,), (1, 4), (2, 2, 3), (0,), ()])
def test_states_have_the_shape_of_the_law(shape: tuple[int, ...]) -> None:
    with pytest.raises(StateError, match="3 tests"):
        LAW.mass(np.zeros(shape))
    with pytest.raises(StateError, match="3 tests"):
        LAW.condition(np.zeros(shape))


def test_one_state_at_a_time_is_conditioned_on() -> None:
    assert LAW.condition([[0, NAN, NAN]]).probabilities.tolist() == LAW.condition([0, NAN, NAN]).probabilities.tolist()
    with pytest.raises(StateError):
        LAW.condition(np.full((2, 3), NAN))


def test_conditions() -> None:
    posterior = LAW.condition([0, NAN, NAN])
    assert posterior.support.tolist() == [[0, 0, 0], [0, 1, 2]]
    assert posterior.probabilities == pytest.approx([5 / 7, 2 / 7])
    assert LAW.condition([NAN] * 3).probabilities == pytest.approx(LAW.probabilities)
    assert LAW.agrees([NAN, 1, NAN]).tolist() == [False, True, True]
    with pytest.raises(DistributionError, match=r"\[1\.0, 0\.0, nan\] has probability zero.*smooth"):
        LAW.condition([1, 0, NAN])


def test_a_tiny_posterior_is_exact() -> None:
    law = Discrete.from_weights([[0, 0], [1, 0], [1, 1]], [1.0, 1e-300, 3e-300])
    assert law.condition([1, NAN]).probabilities == pytest.approx([0.25, 0.75])
    assert law.mass([[1, NAN]])[0] == pytest.approx(4e-300)


def test_entropy() -> None:
    assert Discrete([[0], [1]], [0.5, 0.5]).entropy() == pytest.approx(math.log(2))
    sure = Discrete([[0]], [1.0]).entropy()
    assert math.copysign(1, sure) == 1
    assert sure == 0


def test_samples(rng: np.random.Generator) -> None:
    assert LAW.sample(rng, 0).shape == (0, 3)
    drawn = LAW.sample(np.random.default_rng(1), 1000)
    assert np.array_equal(drawn, LAW.sample(np.random.default_rng(1), 1000))
    assert {tuple(row) for row in drawn.tolist()} == {tuple(row) for row in LAW.support.tolist()}
    drawn[0, 0] = 9  # a copy, not the support


@given(st.integers(0, 2**32))
def test_masses_are_sums_over_agreeing_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = int(rng.choice([1, 3, 80]))
    law = Discrete.from_weights(rng.integers(0, 3, size=(20, d)), rng.random(20))
    states = np.where(rng.random((15, d)) < 0.3, rng.integers(0, 4, size=(15, d)), NAN)
    states[:5] = np.where(np.isnan(states[:5]), NAN, law.support[:1])
    expected = [
        math.fsum(
            p
            for x, p in zip(law.support.tolist(), law.probabilities.tolist(), strict=True)
            if all(math.isnan(b) or b == x[i] for i, b in enumerate(state))
        )
        for state in states.tolist()
    ]
    assert law.mass(states) == pytest.approx(expected, abs=1e-14)


def test_the_shape_of_the_support_does_not_matter(rng: np.random.Generator) -> None:
    rows = np.asfortranarray(rng.integers(0, 3, size=(30, 6)).astype(float))[::2, ::-1]
    law = Discrete.from_weights(rows, np.ones(15))
    again = Discrete.from_weights(np.ascontiguousarray(rows), np.ones(15))
    assert np.array_equal(law.support, again.support)


def test_many_outcomes_of_one_test() -> None:
    law = Discrete.from_weights(np.arange(5000)[:, None], np.ones(5000))
    assert law.mass([[4999], [5000]]) == pytest.approx([1 / 5000, 0])
    assert law.marginal(0).shape == (5000,)


@pytest.mark.parametrize("n", [0, 1, 8192, 8193, 20_000])
def test_weighted_sums_are_sums_of_all_parts(n: int) -> None:
    rng = np.random.default_rng(n)
    weights, values = rng.random(n), rng.normal(size=n)
    assert weighted_sum(weights, values) == pytest.approx(float((weights * values).sum()), rel=1e-12, abs=1e-12)
