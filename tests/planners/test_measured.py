from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.strict_json import strict

from proband import Gaussian, Problem, Test, evaluate, plan
from proband.errors import DistributionError, PlanError, PolicyError, StateError
from proband.instances import bolts, bolts_measured, monitoring_network, paper_entropy, shafts
from proband.planners import DiscretePlan
from proband.planners.files import load_policy, save_policy
from proband.planners.gaussian.plan import GaussianPlan
from proband.planners.gaussian.planner import plan_gaussian
from proband.planners.options import Options
from proband.planners.progress import Progress
from proband.planners.subset import enumerate_values
from proband.planners.subset.plan import SubsetPlan
from proband.planners.subset.planner import plan_subset
from proband.policies import DecideNow, FixedSet, follow, test_everything
from proband.rewards import Entropy

NAN = float("nan")


@pytest.fixture(scope="module")
def bolt_plan() -> GaussianPlan:
    instance = bolts_measured()
    best = plan(instance.problem, instance.distribution)
    assert isinstance(best, GaussianPlan)
    return best


def test_the_reward_chooses_the_planner(bolt_plan: GaussianPlan) -> None:
    network = monitoring_network()
    assert isinstance(plan(network.problem, network.distribution), SubsetPlan)
    listed = bolts()
    assert isinstance(plan(listed.problem, listed.distribution), DiscretePlan)
    assert "function of scores" in bolt_plan.explain_choice


def test_the_policy_earns_its_value(bolt_plan: GaussianPlan) -> None:
    figures = evaluate(bolt_plan.problem, bolt_plan.distribution, bolt_plan, subjects=2**17)
    assert figures.value == pytest.approx(bolt_plan.value, abs=3 * figures.standard_error)
    rows = bolt_plan.distribution.sample(np.random.default_rng(7), 100_000)
    episodes = follow(bolt_plan.problem, bolt_plan, rows)
    earned = bolt_plan.problem.realised(rows, episodes.actions) - episodes.costs
    assert earned.mean() == pytest.approx(bolt_plan.value, abs=3 * earned.std() / np.sqrt(len(rows)))


def test_no_fixed_policy_is_better(bolt_plan: GaussianPlan) -> None:
    problem, law = bolt_plan.problem, bolt_plan.distribution
    for policy in (
        test_everything(problem),
        DecideNow(problem, distribution=law),
        FixedSet(problem, ["hardness"], law),
        FixedSet(problem, ["hardness", "tensile strength"], law),
    ):
        figures = evaluate(problem, law, policy)
        assert figures.value <= bolt_plan.value + 3 * figures.standard_error + bolt_plan.error


def test_an_explanation_tells_the_belief_and_every_action(bolt_plan: GaussianPlan) -> None:
    problem = bolt_plan.problem
    state = problem.state({"hardness": 28.0})
    why = bolt_plan.explain(state)
    [belief] = why.beliefs
    posterior = bolt_plan.distribution.condition(state)
    assert belief.mean == pytest.approx(posterior.mean[5])
    assert belief.sd == pytest.approx(np.sqrt(posterior.covariance[5, 5]))
    assert sum(branch.probability for branch in belief.branches) == pytest.approx(1)
    assert {other.action for other in why.alternatives} == {0, 1, 2, 4, 5, 6, 7, 8}
    assert why.alternatives[0].action == why.action
    assert why.alternatives[0].value == pytest.approx(bolt_plan.values(state)[0], abs=1e-6)
    assert [other.loss for other in why.alternatives] == sorted(other.loss for other in why.alternatives)


def test_a_test_known_on_arrival_comes_first() -> None:
    instance = shafts()
    best = plan(instance.problem, instance.distribution, tolerance=0.02)
    assert best.act(instance.problem.state()).tolist() == [0]
    assert best.values(instance.problem.state())[0] == best.value
    with pytest.raises(StateError, match="it comes first"):
        best.values(instance.problem.state({"middle": 1.0}))
    figures = evaluate(instance.problem, instance.distribution, best)
    assert figures.value == pytest.approx(best.value, abs=3 * figures.standard_error + best.error)


def test_a_plan_survives_its_file(bolt_plan: GaussianPlan, tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    save_policy(bolt_plan, path)
    assert strict(path.read_text())["problem"]["reward"]["pieces"][1]["when"] == {"strength": [None, 800.0]}
    again = load_policy(path)
    assert again.value == bolt_plan.value
    states = bolt_plan.distribution.sample(np.random.default_rng(0), 300)
    states[np.random.default_rng(1).random(states.shape) < 0.6] = NAN
    assert (again.act(states) == bolt_plan.act(states)).all()


@pytest.mark.parametrize(
    ("change", "fragment"),
    [
        ({"schema": 9}, "schema 9"),
        ({"covariance": [[1.0]]}, "it is no policy"),
        ({"mean": None}, "it is no policy"),
        ({"problem": {}}, "it is no policy"),
        ({"options": {}}, "KeyError"),
        ({"mean": [10**400] * 6}, "it is no policy"),
        ({"mean": [1e308] * 6}, "at most 1e+150"),
        ({"options": {"tolerance": 10**400, "max_tests": None}}, "it is no policy"),
    ],
)
def test_broken_files(bolt_plan: GaussianPlan, tmp_path: Path, change: dict[str, object], fragment: str) -> None:
    path = tmp_path / "policy.json"
    save_policy(bolt_plan, path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(PolicyError) as caught:
        load_policy(path)
    assert fragment in str(caught.value)


def test_a_file_with_infinite_limits_is_still_read(bolt_plan: GaussianPlan, tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    save_policy(bolt_plan, path)
    text = path.read_text()
    path.write_text(text.replace("null,\n       800.0", "-Infinity,\n       800.0"))
    assert path.read_text() != text
    assert load_policy(path).problem == bolt_plan.problem


@pytest.fixture(scope="module")
def set_plan() -> SubsetPlan:
    instance = monitoring_network()
    best = plan(instance.problem, instance.distribution)
    assert isinstance(best, SubsetPlan)
    return best


def test_a_set_survives_its_file(set_plan: SubsetPlan, tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    save_policy(set_plan, path)
    again = load_policy(path)
    assert isinstance(again, SubsetPlan)
    assert (again.solution, again.problem) == (set_plan.solution, set_plan.problem)
    state = set_plan.problem.state({"site 4": 1.0})
    assert again.explain(state) == set_plan.explain(state)
    assert strict(path.read_text())["solution"]["chosen"][0] == "site 4"


@pytest.mark.parametrize(
    ("change", "fragment"),
    [
        ({"schema": 9}, "schema 9"),
        ({"solution": {"chosen": ["site 99"], "value": 1.0, "bound": 1.0}}, "site 99"),
        ({"solution": {"chosen": [], "value": "much", "bound": 1.0}}, "ValueError"),
        ({"solution": {"chosen": [], "value": 1.0, "bound": 1.0}}, "TypeError"),
        ({"mean": [0.0], "covariance": [[1.0]]}, "it is no policy"),
        ({"problem": bolts_measured().problem.to_dict()}, "it is no policy"),
    ],
)
def test_broken_files_of_sets(set_plan: SubsetPlan, tmp_path: Path, change: dict[str, object], fragment: str) -> None:
    path = tmp_path / "policy.json"
    save_policy(set_plan, path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(PolicyError) as caught:
        load_policy(path)
    assert fragment in str(caught.value)


def test_no_files() -> None:
    with pytest.raises(PolicyError, match="cannot be read"):
        load_policy("nowhere.json")


@pytest.mark.parametrize("seed", range(5))
def test_the_best_set_is_that_of_enumeration(seed: int) -> None:
    instance = paper_entropy(np.random.default_rng(seed), d=8)
    best = plan(instance.problem, instance.distribution)
    values = enumerate_values(instance.distribution.covariance, instance.problem.prices.cost, scale=1.0)
    assert best.value == pytest.approx(values.max())
    assert best.evaluation.value == pytest.approx(best.value)
    assert sum(1 << i for i in best.chosen) == int(values.argmax())
    assert best.values(instance.problem.state())[0] == pytest.approx(best.value)
    gains = [values[(mask := sum(1 << i for i in best.chosen)) | 1 << j] - values[mask] for j in range(8)]
    assert max(gains) <= 1e-12
    why = best.explain(instance.problem.state())
    assert why.alternatives[0].loss == 0


def test_the_search_for_a_set_is_told_of_and_ends_at_the_tolerance(set_plan: SubsetPlan) -> None:
    problem, law = set_plan.problem, set_plan.distribution
    told: list[Progress] = []
    best = plan(problem, law, progress=told.append)
    assert (told[-1].value, told[-1].bound) == (pytest.approx(best.value), pytest.approx(best.bound))
    assert best.gap < 1e-9 < plan(problem, law, tolerance=2.0).gap <= 2.0


def test_groups_make_sets_cheaper() -> None:
    tests = [Test(f"s{i}", 2.0, outcomes=None, group="van", group_cost=0.5) for i in range(3)]
    law = Gaussian(np.zeros(3), np.eye(3) * 2)
    problem = Problem(tests, ["stop"], Entropy())
    best = plan(problem, law)
    assert best.chosen == (0, 1, 2)
    assert best.evaluation.cost == pytest.approx(3.0)
    assert best.value == pytest.approx(law.entropy() - 3.0)


def test_the_set_is_run_in_its_cheapest_order() -> None:
    """The last test opens the van for 0.1 more than its own price, the others for 1.5."""
    tests = [Test(f"s{i}", 2.0, outcomes=None, group="van", group_cost=0.5) for i in range(2)]
    problem = Problem([*tests, Test("s2", 0.6, outcomes=None, group="van", group_cost=0.5)], ["stop"], Entropy())
    law = Gaussian(np.zeros(3), np.eye(3) * 2)
    best = plan(problem, law)
    assert best.act([[NAN] * 3]).tolist() == [2]
    for figures in (best.evaluation, evaluate(problem, law, test_everything(problem))):
        assert figures.cost == pytest.approx(1.6)
        assert figures.value == pytest.approx(best.value)
    assert best.values([[NAN, NAN, NAN]]) == pytest.approx(best.value)


def test_mistakes(bolt_plan: GaussianPlan) -> None:
    problem, law = bolt_plan.problem, bolt_plan.distribution
    network = monitoring_network()
    with pytest.raises(PlanError, match="no tree of outcomes"):
        bolt_plan.tree()
    with pytest.raises(PlanError, match="planners for measured outcomes and scores are gaussian; choose one"):
        plan(problem, law, method="dense")
    with pytest.raises(
        PlanError, match="for listed outcomes are dense, gpu, sparse, rollout, myopic, lookahead, gain;"
    ):
        plan(bolts().problem, bolts().distribution, method="gaussian")
    with pytest.raises(PlanError, match="planned on the cpu"):
        plan(problem, law, device="gpu")
    with pytest.raises(PlanError, match="no budget"):
        plan(problem, law, budget=1.0)
    with pytest.raises(PlanError, match="tolerance is 0"):
        plan(problem, law, tolerance=0.0)
    with pytest.raises(PlanError, match="method is 'gaussian'; planners for sets of measurements are subset"):
        plan(network.problem, network.distribution, method="gaussian")
    with pytest.raises(PlanError, match="needs a projection"):
        plan_gaussian(network.problem, network.distribution, Options())
    with pytest.raises(PlanError, match="method is 'subset'; planners for measured outcomes and scores are gaussian"):
        plan(problem, law, method="subset")
    with pytest.raises(PlanError, match="maximises entropy"):
        plan_subset(problem, law, Options())
    with pytest.raises(PlanError, match="weighs entropy against costs"):
        plan(network.problem, network.distribution, max_tests=3)
    with pytest.raises(PlanError, match="needs a projection"):
        plan(Problem(problem.tests, ["a", "b"], lambda x, y: x[:, 0]), law)
    with pytest.raises(DistributionError, match="6 tests and the problem 24"):
        plan(network.problem, law)
    with pytest.raises(StateError, match="one state is explained"):
        bolt_plan.explain([[NAN] * 6] * 2)
    with pytest.raises(PolicyError, match="a fixed set"):
        evaluate(network.problem, network.distribution, _Fickle(network.problem))


class _Fickle:
    """Measures site 1, then site 2 on some subjects only."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def act(self, states, coins=None):
        rows = self.problem.states(states)
        first = np.isnan(rows[:, 0])
        second = ~first & np.isnan(rows[:, 1]) & (rows[:, 0] > 30)
        return np.where(first, 0, np.where(second, 1, self.problem.d))
