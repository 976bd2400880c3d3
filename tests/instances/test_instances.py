from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from proband import Gaussian, Problem, evaluate, plan
from proband.errors import DistributionError, ProblemError
from proband.instances import INSTANCES, PACKAGED, Instance, bolts, gout, packaged_problem, paper_discrete, problem_text
from proband.instances.examples import latent_class_law
from proband.instances.paper import SHAPE
from proband.policies import DecideNow, test_everything
from proband.rewards import Match, Table
from proband.testing import check_distribution
from proband.vocabulary import outcome_codes


@pytest.mark.parametrize("name", INSTANCES)
def test_a_named_instance_fits_together(name: str, rng: np.random.Generator) -> None:
    instance = INSTANCES[name]()
    assert instance.name == name
    assert instance.problem.name
    rows = instance.sample(rng, 200)
    assert rows.shape == (200, instance.problem.d)
    if isinstance(instance.distribution, Gaussian):
        assert instance.distribution.redundant == ()
    else:
        assert instance.distribution.probabilities.sum() == pytest.approx(1)
        assert (instance.distribution.mass(rows) > 0).all()


@pytest.mark.parametrize("name", INSTANCES)
def test_its_law_keeps_the_contract_of_laws(name: str, rng: np.random.Generator) -> None:
    check_distribution(INSTANCES[name]().distribution, rng)


@pytest.mark.parametrize("name", INSTANCES)
def test_a_named_instance_is_always_the_same(name: str) -> None:
    first, second = INSTANCES[name](), INSTANCES[name]()
    assert first.problem == second.problem
    for part in ("mean", "covariance") if isinstance(first.distribution, Gaussian) else ("probabilities",):
        np.testing.assert_array_equal(getattr(first.distribution, part), getattr(second.distribution, part))


@pytest.mark.parametrize("name", PACKAGED)
def test_packaged_problem_files_are_commented_and_round_trip(name: str, tmp_path: Path) -> None:
    text = problem_text(name)
    assert text.startswith("# ")
    problem = packaged_problem(name)
    problem.save(tmp_path / "again.toml")
    assert Problem.load(tmp_path / "again.toml") == problem == INSTANCES[name]().problem


def test_an_instance_checks_its_law() -> None:
    with pytest.raises(DistributionError):
        Instance("wrong", gout().problem, bolts().distribution)


def test_bolts_have_the_nine_tests_of_the_papers_table() -> None:
    assert [test.name for test in bolts().problem.tests] == [
        "thread pitch",
        "bolt length",
        "bolt weight",
        "shear strength",
        "tensile strength",
        "corrosion resistance",
        "ultrasonic",
        "fluorescent penetrant",
        "magnetic particle",
    ]
    assert {test.k for test in bolts().problem.tests} == {2, 3}
    assert {test.group for test in bolts().problem.tests} == {None, "strength rig", "surface preparation"}


def test_the_first_fitting_utility_of_the_bolts_wins() -> None:
    reward = bolts().problem.reward
    assert isinstance(reward, Table)
    crack, low, poor = 1, 1, 1
    np.testing.assert_array_equal(reward.utilities[crack, low, poor], [-60, -1])
    np.testing.assert_array_equal(reward.utilities[0, low, poor], [-30, -1])
    np.testing.assert_array_equal(reward.utilities[0, 0, poor], [-12, -1])
    np.testing.assert_array_equal(reward.utilities[0, 0, 0], [6, -2])


def test_the_best_plan_for_bolts_is_worth_looking_at() -> None:
    instance = bolts()
    problem, law = instance.problem, instance.distribution
    best = plan(problem, law)
    everything = evaluate(problem, law, test_everything(problem))
    nothing = evaluate(problem, law, DecideNow(problem, distribution=law))
    assert best.expected_cost < everything.cost / 3
    assert best.value > max(everything.value, nothing.value) + 1
    nodes = list(best.tree().nodes())
    used = {problem.tests[node.action].name for node in nodes if node.children}
    assert len(used) >= 6
    assert 20 <= len(nodes) <= 60


def test_gout_never_runs_its_gold_standard_but_is_paid_by_it() -> None:
    instance = gout()
    problem, law = instance.problem, instance.distribution
    best = plan(problem, law)
    tested = {node.action for node in best.tree().nodes() if node.children}
    assert problem.test_index("dual-energy CT") not in tested
    assert {problem.test_index("sex"), problem.test_index("podagra before")} <= tested
    perfect = evaluate(problem, law, test_everything(problem, law))
    assert best.value > perfect.value
    assert isinstance(problem.reward, Table)
    assert problem.reward.targets == ("dual-energy CT",)


def test_gouts_blood_sample_is_paid_once() -> None:
    problem = gout().problem
    urate, creatinine = problem.test_index("serum urate"), problem.test_index("creatinine")
    fresh = problem.costs(problem.state({"sex": "male"}))[0]
    drawn = problem.costs(problem.state({"sex": "male", "serum urate": "high"}))[0]
    assert (fresh[urate], fresh[creatinine], drawn[creatinine]) == (14.0, 13.0, 3.0)


class TestLatentClasses:
    problem = packaged_problem("gout")

    def test_marginals_mix(self) -> None:
        instance = gout()
        positive = instance.distribution.marginal(instance.problem.test_index("dual-energy CT"))[1]
        assert positive == pytest.approx(0.35)

    def test_given_the_hidden_state_tests_are_independent(self) -> None:
        instance = gout()
        scan, crystals, crp = (
            instance.problem.test_index(name) for name in ("dual-energy CT", "synovial MSU crystals", "CRP")
        )
        state = instance.problem.state()
        state[scan] = 1
        posterior = gout().distribution.condition(state)
        both = (posterior.support[:, crystals] == 1) & (posterior.support[:, crp] == 1)
        product = posterior.marginal(crystals)[1] * posterior.marginal(crp)[1]
        assert posterior.probabilities[both].sum() == pytest.approx(product)

    def test_wrong_marginals_are_named(self) -> None:
        problem = Problem([packaged_problem("bolts").tests[0]], reward=Match())
        with pytest.raises(DistributionError, match="'thread pitch' have probabilities"):
            latent_class_law(problem, [(1.0, [[0.5, 0.6]])])


class TestPaper:
    def test_pareto_over_all_vectors(self, rng: np.random.Generator) -> None:
        instance = paper_discrete(rng, d=10)
        law = instance.distribution
        assert len(law) == 1024
        assert isinstance(instance.problem.reward, Match)
        np.testing.assert_array_equal(outcome_codes(law.support, instance.problem.tests), np.arange(1024))
        assert {test.cost for test in instance.problem.tests} == {0.05}

    def test_the_draws_have_the_papers_shape_and_scale(self) -> None:
        assert math.log(5) / math.log(4) == pytest.approx(SHAPE)
        weights = paper_discrete(np.random.default_rng(1), d=16).distribution.probabilities
        draws = weights / weights.min()
        assert len(draws) / np.log(draws).sum() == pytest.approx(SHAPE, rel=0.02)  # likelihood estimate of the shape

    def test_costs_of_all_kinds(self, rng: np.random.Generator) -> None:
        given = paper_discrete(rng, d=3, cost=[0.1, 0.2, 0.3])
        assert [test.cost for test in given.problem.tests] == [0.1, 0.2, 0.3]
        drawn = [test.cost for test in paper_discrete(rng, d=5, cost_range=(0.01, 0.02)).problem.tests]
        assert len(set(drawn)) == 5
        assert all(0.01 <= cost <= 0.02 for cost in drawn)

    def test_bad_sizes_are_refused(self, rng: np.random.Generator) -> None:
        with pytest.raises(ProblemError, match="d is 0"):
            paper_discrete(rng, d=0)
        with pytest.raises(ProblemError, match="d is 60"):
            paper_discrete(rng, d=60)
        with pytest.raises(ProblemError, match=r"shape \(2,\)"):
            paper_discrete(rng, d=3, cost=[0.1, 0.2])

    def test_the_packaged_file_is_the_drawn_problem(self) -> None:
        assert packaged_problem("paper-discrete") == paper_discrete(np.random.default_rng(0)).problem
