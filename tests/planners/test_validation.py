"""What plans bring to rows that they have not seen."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from proband import Discrete, Problem, Records, Test, evaluate, plan
from proband.errors import PlanError
from proband.instances import INSTANCES, bolts
from proband.planners import Progress
from proband.planners.validation import cross_validate, interval
from proband.policies import DecideNow, follow, test_everything
from proband.rewards import Match, Table

BOLTS = bolts()


def some(n: int, seed: int = 3) -> Records:
    return Records(BOLTS.distribution.sample(np.random.default_rng(seed), n))


def made(law: Discrete):
    return plan(BOLTS.problem, law)


def test_each_row_is_treated_by_what_did_not_see_it() -> None:
    """Every policy is made of the other rows, and each row meets one of each."""
    records, learned = some(101), list[np.ndarray]()

    def learn(rows: Records) -> Discrete:
        learned.append(rows.outcomes)
        return Discrete.from_records(rows)

    found = cross_validate(BOLTS.problem, records, learn, made, folds=7)
    problem, values = BOLTS.problem, {name: list[float]() for name in ("plan", "everything", "now")}
    everyone, again = sorted(map(tuple, records.outcomes)), list[float]()
    for rows in learned:
        left = list(everyone)
        for row in map(tuple, rows):
            left.remove(row)
        law = Discrete.from_records(Records(rows))
        policies = (plan(problem, law), test_everything(problem, law), DecideNow(problem, distribution=law))
        for name, policy in zip(values, policies, strict=True):
            ended = follow(problem, policy, np.array(left))
            brought = problem.realised(np.array(left), ended.actions) - ended.costs
            if len(left) in (14, 15):
                values[name] += brought.tolist()
            elif name == "plan":
                again.append(float(brought.sum()))
    assert len(learned) == 28
    assert len(again) == 21
    assert (found.folds, found.scored, found.left_out) == (7, 101, 0)
    assert found.plan.value.mean == pytest.approx(np.mean(values["plan"]))
    for name in ("everything", "now"):
        assert found.others[name].value.mean == pytest.approx(np.mean(values[name]))
        assert found.others[name].ahead is not None
        assert found.others[name].ahead.mean == pytest.approx(np.mean(values["plan"]) - np.mean(values[name]))
    assert found.others["everything"].tests == 9
    assert (found.others["now"].cost, found.others["now"].tests) == (0, 0)


def test_the_jackknife_widens_the_interval_where_plans_hang_on_few_rows() -> None:
    """Its means are those of cross-validations without a fold, whose rows are dealt as before."""
    records, folds = some(90), 3
    found = cross_validate(BOLTS.problem, records, Discrete.from_records, made, folds=folds)
    fold = np.random.default_rng(0).permutation(np.arange(90) % folds)
    means = []
    for left_out in range(folds):
        values = []
        for k in {0, 1, 2} - {left_out}:
            best = made(Discrete.from_records(Records(records.outcomes[(fold != k) & (fold != left_out)])))
            rows = records.outcomes[fold == k]
            ended = follow(BOLTS.problem, best, rows)
            values += (BOLTS.problem.realised(rows, ended.actions) - ended.costs).tolist()
        means.append(np.mean(values))
    wanted = math.sqrt(2 / 3 * sum((mean - np.mean(means)) ** 2 for mean in means))
    assert found.plan.value.standard_error >= wanted - 1e-12
    assert interval(np.array([1.0, 1.0, 1.0]), again=np.array(means)).standard_error == pytest.approx(wanted)


def test_the_interval_reaches_to_where_more_rows_lead() -> None:
    """By 0.6 of what the mean rose from three to four fifths of the rows, and never less far on the other side."""
    numbers = np.array([1.0, 2.0, 3.0])
    still, rising, falling = (interval(numbers, again=np.full(5, mean)) for mean in (2.0, 1.0, 3.0))
    assert still == interval(numbers)
    assert (rising.low, rising.high) == pytest.approx((still.low, still.high + 0.6))
    assert (falling.low, falling.high) == pytest.approx((still.low - 0.6, still.high))
    assert rising.mean == falling.mean == 2.0


def test_in_sample_values_are_far_from_the_truth_and_cross_validated_ones_are_not() -> None:
    stated, seen, true = [], [], []
    for seed in range(20):
        records = some(300, seed)
        best = made(Discrete.from_records(records))
        stated.append(best.value)
        true.append(evaluate(BOLTS.problem, BOLTS.distribution, best).value)
        seen.append(cross_validate(BOLTS.problem, records, Discrete.from_records, made, folds=4).plan.value.mean)
    off = np.array(seen) - true
    assert np.mean(stated) - np.mean(true) > 1.0
    assert abs(off.mean()) < 3 * off.std() / math.sqrt(len(off)) < 0.6


def test_incomplete_rows_teach_and_are_counted() -> None:
    rows = some(60).outcomes.copy()
    rows[:11, 2] = np.nan
    taught = []

    def learn(records: Records) -> Discrete:
        taught.append(records.n)
        return Discrete.from_records(records.complete())

    found = cross_validate(BOLTS.problem, Records(rows), learn, made, folds=6)
    assert (found.scored, found.left_out) == (49, 11)
    assert sorted(taught) == [40] * 15 + [50] * 6


def test_counts_are_subjects() -> None:
    records = some(40)
    doubled = Records(records.outcomes, counts=np.full(40, 2))
    assert cross_validate(BOLTS.problem, doubled, Discrete.from_records, made, folds=4).scored == 80


def test_the_same_deal_by_default_and_another_by_another_generator() -> None:
    def value(rng: np.random.Generator | None = None) -> float:
        return cross_validate(BOLTS.problem, some(80), Discrete.from_records, made, folds=4, rng=rng).plan.value.mean

    assert value() == value() == value(np.random.default_rng(0))
    assert value() != value(np.random.default_rng(1))


def test_progress_is_told_after_each_plan() -> None:
    told: list[Progress] = []
    cross_validate(BOLTS.problem, some(40), Discrete.from_records, made, folds=4, progress=told.append)
    assert [(each.done, each.total, each.what) for each in told] == [(k, 10, "plans") for k in range(1, 11)]
    assert all(math.isnan(each.value) for each in told)


@pytest.mark.parametrize(("folds", "rows"), [(2, 20), (0, 20), (21, 20)])
def test_folds_that_cannot_be_are_refused(folds: int, rows: int) -> None:
    with pytest.raises(PlanError, match=f"folds is {folds}, and {rows} rows are complete"):
        cross_validate(BOLTS.problem, some(rows), Discrete.from_records, made, folds=folds)


def test_the_entropy_of_a_set_is_told_by_no_row() -> None:
    network = INSTANCES["network"]()
    records = Records(network.distribution.sample(np.random.default_rng(0), 20))
    with pytest.raises(PlanError, match="no sum over subjects"):
        cross_validate(network.problem, records, lambda _: network.distribution, lambda law: None, folds=3)


def test_the_interval_holds_for_what_rows_are_drawn_from(rng: np.random.Generator) -> None:
    inside = 0
    for _ in range(2000):
        found = interval(rng.normal(3, 2, size=12))
        inside += found.low <= 3 <= found.high
    assert 0.88 < inside / 2000 < 0.92


def test_one_test_and_a_match() -> None:
    problem = Problem([Test("a", 0.1)], reward=Match())
    records = Records([[0.0], [1.0]] * 20)
    found = cross_validate(problem, records, Discrete.from_records, lambda law: plan(problem, law), folds=4)
    assert found.plan.value.mean == pytest.approx(0.9)
    assert found.plan.value.high == pytest.approx(0.9)


def classes(seed: int, d: int, k: int) -> tuple[Problem, Discrete]:
    """Return a random law of two classes, in each of which the outcomes of d tests are independent."""
    rng = np.random.default_rng(seed)
    tests = [Test(f"t{i}", float(rng.uniform(0.05, 0.4)), outcomes=tuple("abc"[:k])) for i in range(d)]
    reward = Table(["label"], [[2.0, -1.0], [-10.0, -1.0]])
    problem = Problem([*tests, Test("label", available=False)], ["ship", "scrap"], reward)
    chances, grid = rng.dirichlet(np.full(k, 1.5), size=(2, d)), np.indices((k,) * d).reshape(d, -1).T
    mass = [share * np.prod(chances[y, np.arange(d), grid], axis=1) for y, share in enumerate((0.75, 0.25))]
    rows = [np.column_stack([grid, np.full(len(grid), y)]) for y in (0, 1)]
    return problem, Discrete.from_weights(np.vstack(rows), np.concatenate(mass))


LAWS = {
    **{name: (INSTANCES[name]().problem, INSTANCES[name]().distribution) for name in ("bolts", "gout", "easy")},
    "classes 11": classes(11, 5, 3),
    "classes 13": classes(13, 6, 2),
    "classes 14": classes(14, 7, 2),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "rows"),
    [
        ("bolts", 200),
        ("bolts", 600),
        ("gout", 200),
        ("gout", 600),
        ("gout", 2000),
        ("easy", 200),
        ("classes 11", 800),
        ("classes 13", 1000),
        ("classes 14", 200),
    ],
)
def test_the_interval_covers_what_the_plan_brings_to_new_subjects(law: str, rows: int) -> None:
    (problem, truth), covered = LAWS[law], []
    for seed in range(200):
        rng = np.random.default_rng([seed, rows])
        records = Records(truth.sample(rng, rows))
        best = plan(problem, Discrete.from_records(records))
        found = cross_validate(problem, records, Discrete.from_records, lambda given: plan(problem, given), rng=rng)
        value = evaluate(problem, truth, best).value
        covered.append(found.plan.value.low <= value <= found.plan.value.high)
    sys.stdout.write(f"{law}, {rows} rows: {np.mean(covered):.3f}\n")
    assert np.mean(covered) >= 0.86  # two standard errors below 0.9
