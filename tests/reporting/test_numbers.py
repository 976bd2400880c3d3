"""The numbers of a report, against planning again, evaluating and cross-validating."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from proband import Discrete, Problem, Records, Test, evaluate, fit, plan
from proband.fitting.cutpoints import with_cuts
from proband.instances import INSTANCES, bolts
from proband.planners import Plan
from proband.planners.validation import cross_validate
from proband.policies.episodes import follow
from proband.reporting import Planned, planned, report_on
from proband.reporting.calibration import grouped, wilson
from proband.reporting.curve import price_curve
from proband.reporting.held_out import calibration, mistakes, treat
from proband.reporting.recipes import Acting, folds_of, law_of
from proband.reporting.worth import test_worths as worths
from proband.rewards import Match, Table


def share_run(made: Plan, problem: Problem, test: int) -> float:
    law = law_of(made)
    return float(law.probabilities @ ~np.isnan(follow(problem, Acting(made), law.support).states[:, test]))


@pytest.mark.parametrize("name", ["bolts", "gout"])
def test_a_test_is_run_just_below_the_price_that_is_told_and_not_above(name: str) -> None:
    instance = INSTANCES[name]()
    problem, law = instance.problem, instance.distribution
    found = [one for one in worths(planned(problem, law)) if one.run_up_to is not None]
    assert len(found) >= 5
    for one in found:
        i = problem.test_index(one.test)
        assert one.run_up_to is not None
        for factor, run in ((0.99, True), (1.01, False)):
            again = problem.priced(factor * one.run_up_to / one.price, [i])
            assert (share_run(plan(again, law), again, i) > 0) == run, (one, factor)
        assert (one.share > 0) == (one.price <= one.run_up_to)


def test_a_test_is_worth_what_the_plan_loses_without_it() -> None:
    problem, law = bolts().problem, bolts().distribution
    whole = plan(problem, law).value
    for one in worths(planned(problem, law)):
        i = problem.test_index(one.test)
        less = list(problem.tests)
        less[i] = replace(problem.tests[i], available=False)
        assert one.worth == pytest.approx(whole - plan(replace(problem, tests=tuple(less)), law).value, abs=1e-12)
        assert one.worth >= -1e-12


def test_free_tests_and_tests_that_tell_nothing_have_no_price_or_any() -> None:
    tests = [Test("free", 0.0), Test("noise", 1.0), Test("label", available=False)]
    problem = Problem(tests, ["no", "yes"], Table(["label"], [[1, 0], [0, 1]]))
    law = Discrete([[0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1]], [0.3, 0.3, 0.2, 0.2])
    free, noise = worths(planned(problem, law))
    assert (free.test, free.price, free.share) == ("free", 0.0, 1.0)
    assert free.run_up_to == pytest.approx(0.4, rel=0.01)  # by guessing 0.4 of the subjects are wrong
    assert noise.run_up_to is None
    shared = [Test("a", 0.1, group="g", group_cost=0.0), Test("b", 0.1, group="g", group_cost=0.0), tests[2]]
    both = Discrete([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 1]], [0.25] * 4)
    assert any(one.run_up_to == math.inf for one in worths(planned(replace(problem, tests=tuple(shared)), both)))


def test_the_curve_counts_every_plan_at_the_present_prices() -> None:
    problem, law = bolts().problem, bolts().distribution
    for point in price_curve(planned(problem, law), (0.25, 1.0, 3.0)):
        policy = plan(problem.priced(point.multiplier), law)
        figures = evaluate(problem, law, Acting(policy))
        assert (point.cost, point.tests) == (pytest.approx(figures.cost), pytest.approx(figures.tests))
        perfect = law.probabilities @ problem.payoff(law.support).max(axis=1)
        assert point.lost == pytest.approx(perfect - figures.reward)
        decided = follow(problem, Acting(policy), law.support).actions - problem.d
        right = decided == problem.payoff(law.support).argmax(axis=1)
        assert point.right == pytest.approx(law.probabilities @ right)


def learned(rows: int = 200, *, gaps: bool = False) -> Planned:
    instance = bolts()
    outcomes = instance.sample(np.random.default_rng(1), rows).copy()
    if gaps:
        outcomes[::20, 0] = np.nan
    records = Records(outcomes)

    def learn(some: Records) -> Discrete:
        return Discrete.from_records(some.complete())

    return Planned(instance.problem, learn(records), plan, records, learn)


def test_rows_are_treated_by_plans_that_have_not_seen_them() -> None:
    recipe = learned()
    treated = treat(recipe, (1.0,), folds=4).treated
    brought = recipe.problem.realised(treated.outcomes, treated.actions) - treated.costs
    assert recipe.records is not None
    assert recipe.learn is not None
    seen = cross_validate(recipe.problem, recipe.records, recipe.learn, lambda law: plan(recipe.problem, law), folds=4)
    assert brought.mean() == pytest.approx(seen.plan.value.mean)
    assert treated.costs.mean() == pytest.approx(seen.plan.cost)


def test_mistakes_are_told_by_the_names_of_their_rows_the_worst_first() -> None:
    recipe = learned(gaps=True)
    assert recipe.records is not None
    names = [f"line {n + 2}" for n in range(len(recipe.records))]
    found = report_on(recipe, names=names, folds=3, multipliers=(1.0,)).held_out
    assert found is not None
    assert (found.rows, found.left_out) == (190, 10)
    losses = [one.lost for one in found.mistakes]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] > 0
    assert found.wrong >= len(losses)
    problem = recipe.problem
    for one in found.mistakes:
        row = recipe.records.outcomes[names.index(one.row)]
        payoff = problem.payoff(row[None])[0]
        decided, better = (problem.decisions.index(name) for name in (one.decision, one.better))
        assert one.lost == pytest.approx(payoff[better] - payoff[decided])
        assert payoff[better] == payoff.max()
        assert all(problem.describe(row)[name] == outcome for name, outcome in one.known)


def test_chances_are_as_told_where_the_law_is_true() -> None:
    """Rows of a law of which every outcome vector was seen in proportion."""
    tests = [Test("sign", 0.01), Test("label", available=False)]
    problem = Problem(tests, ["no", "yes"], Table(["label"], [[1, 0], [0, 1]]))
    law = Discrete([[0, 0], [0, 1], [1, 0], [1, 1]], [0.45, 0.05, 0.2, 0.3])
    rows = Records(law.support, np.round(1000 * law.probabilities))
    recipe = Planned(problem, law, plan, rows, lambda _: law)
    treated = treat(recipe, (1.0,), folds=5).treated
    found = calibration(problem, treated)
    assert found.event == "yes is the best decision"
    assert [(g.rows, round(g.told, 9), round(g.observed, 9)) for g in found.groups] == [
        (500, 0.1, 0.1),
        (500, 0.6, 0.6),
    ]
    assert all(group.low < group.told < group.high for group in found.groups)
    assert len(mistakes(problem, treated, ["a", "b", "c", "d"], most=7)) == 7


def test_a_match_has_a_report_too() -> None:
    problem = Problem([Test("a", 0.1), Test("b", 0.2)], reward=Match())
    rows = Records([[0, 0]] * 30 + [[1, 1]] * 20 + [[0, 1]] * 10)
    recipe = Planned(problem, Discrete.from_records(rows), plan, rows, Discrete.from_records)
    found = report_on(recipe, folds=3)
    assert found.held_out is not None
    assert found.held_out.calibration.event == "the decision that was taken is the best one"
    assert "b=1" in found.markdown()


def test_groups_hold_every_row_once_and_equal_chances_together(rng: np.random.Generator) -> None:
    told = rng.choice([0.0, 0.1, 0.1, 0.5, 0.9], 333)
    groups = grouped(told, rng.random(333) < told)
    assert sum(group.rows for group in groups) == 333
    assert len({group.told for group in groups}) == len(groups) <= 4


@pytest.mark.parametrize(("count", "n"), [(0, 5), (3, 20), (20, 20), (50, 100)])
def test_wilsons_interval_holds_what_could_be_so(count: int, n: int) -> None:
    low, high = wilson(count, n)
    for edge in (low, high):
        if 1e-9 < edge < 1 - 1e-9:  # where the score test just does not reject
            assert abs(count / n - edge) / math.sqrt(edge * (1 - edge) / n) == pytest.approx(1.6448536, rel=1e-6)


def test_cuts_are_chosen_again_without_the_rows_that_are_treated() -> None:
    """Each row is coded, treated and told of by the cuts of its own fold."""
    rng = np.random.default_rng(3)
    x = rng.normal(60, 8, 120)
    rows = np.column_stack([x, rng.random(120) < 0.4, (x + rng.normal(0, 4, 120) < 58)]).astype(float)
    tests = [Test("x", 0.1, choose_cuts=True), Test("z", 0.1), Test("bad", available=False)]
    problem = Problem(tests, ["ship", "scrap"], Table(["bad"], [[2, -1], [-9, -1]]))
    found = fit(problem, Records(rows), strength=0.3, validate=False)
    treated = treat(found, (1.0, 2.0), [0], folds=3).treated
    fold = folds_of(120, 3)
    for k, own in enumerate(treated.problems):
        assert own.tests[0].cuts == with_cuts(problem, rows[fold != k]).tests[0].cuts
    assert len({own.tests[0].cuts for own in treated.problems}) > 1
    cuts = [treated.problems[k].tests[0].cuts for k in fold]
    assert treated.outcomes[:, 0].tolist() == [
        np.searchsorted(c, v, side="right") for c, v in zip(cuts, x, strict=True)
    ]
    names = [f"row {n}" for n in range(120)]
    for one in mistakes(found.problem, treated, names, most=5):
        known, n = dict(one.known), int(one.row.removeprefix("row "))
        assert known["x"] == treated.problems[fold[n]].tests[0].names[int(np.searchsorted(cuts[n], x[n], side="right"))]
