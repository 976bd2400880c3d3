"""The estimator for many tests: what it must get right whatever it believes of the rest."""

from __future__ import annotations

import numpy as np
import pytest

from proband import Discrete, Problem, Records, Test
from proband.errors import DistributionError
from proband.estimators import ESTIMATORS, Structured
from proband.estimators.listed.agreement import Agreeing, agreeing
from proband.estimators.listed.labels import INTERCEPT, RIDGE, design, fit_labels, label_chances
from proband.estimators.listed.latent import LatentClasses, Levels, fit_classes
from proband.rewards import Match, Table
from proband.vocabulary import FloatArray


def panel(d: int = 20, **label: object) -> Problem:
    tests = [Test(f"test {i}", 0.02, outcomes=("a", "b", "c") if i == 0 else ("0", "1")) for i in range(d)]
    tests.append(Test("label", 0.25, **label))  # type: ignore[arg-type]
    return Problem(tests, ["pass", "fail"], Table(["label"], [[1, 0], [0, 1]]))


def subjects(problem: Problem, n: int, seed: int = 0) -> FloatArray:
    """Two kinds of subjects; the label is test 3, misread one time in ten."""
    rng = np.random.default_rng(seed)
    kind = rng.random(n) < 0.4
    rows = (rng.random((n, problem.d)) < np.where(kind, 0.8, 0.3)[:, None]).astype(float)
    rows[:, 0] = rng.integers(3, size=n)
    rows[:, -1] = np.where(rng.random(n) < 0.1, 1 - rows[:, 3], rows[:, 3])
    return rows


def state(problem: Problem, **known: float) -> FloatArray:
    row = np.full(problem.d, np.nan)
    for name, outcome in known.items():
        row[problem.test_index(name.replace("_", " "))] = outcome
    return row


def test_masses_are_near_the_truth() -> None:
    problem = panel()
    estimator = Structured(problem, seed=1, draws=600)
    estimator.update(Records(subjects(problem, 600)))
    law = estimator.distribution()
    assert law.mass(state(problem, test_3=1, label=1))[0] == pytest.approx(0.9 * 0.5, abs=0.06)
    assert law.mass(state(problem, test_3=1, label=0))[0] == pytest.approx(0.1 * 0.5, abs=0.04)
    assert law.mass(state(problem, test_1=1, test_2=1))[0] == pytest.approx(0.4 * 0.64 + 0.6 * 0.09, abs=0.06)


def test_completing_some_more_often_than_others_does_not_bias_the_masses() -> None:
    """All with test 3 = 1 are completed and few of the others, as a policy would do it."""
    problem, rows = panel(), subjects(panel(), 3000, seed=2)
    rng = np.random.default_rng(3)
    seen = rows.copy()
    skipped = (rows[:, 3] == 0) & (rng.random(len(rows)) < 0.9)
    seen[np.ix_(skipped, [i for i in range(problem.d) if i != 3])] = np.nan
    estimator = Structured(problem, seed=1, draws=600)
    estimator.update(Records(seen))
    law = estimator.distribution()
    assert law.mass(state(problem, test_3=1))[0] == pytest.approx((rows[:, 3] == 1).mean(), abs=0.02)
    assert (seen[~skipped, -1] == 1).mean() > 0.8  # what counting complete subjects would say
    assert law.mass(state(problem, label=1))[0] == pytest.approx((rows[:, -1] == 1).mean(), abs=0.06)


def test_same_records_same_estimate_in_whatever_pieces() -> None:
    problem, rows = panel(), subjects(panel(), 200)
    rows[::3, 5:] = np.nan
    one, two = Structured(problem, seed=1, draws=100), Structured(problem, seed=1, draws=100)
    one.update(Records(rows))
    two.update(Records(rows[:50]))
    two.distribution()
    two.update(Records(rows[50:]))
    assert np.array_equal(one.support, two.support)
    assert np.array_equal(one.probabilities, two.probabilities)


@pytest.mark.parametrize("label", [{}, {"available": False}], ids=["bought", "unavailable"])
def test_without_any_record_it_is_a_law(label: dict[str, object]) -> None:
    problem = panel(**label)
    law = Structured(problem, draws=50).distribution()
    law.check(problem)
    assert isinstance(law, Discrete)


def test_a_reward_that_is_no_table_has_no_labels() -> None:
    problem = Problem([Test(f"test {i}", 0.1) for i in range(5)], (), Match())
    estimator = Structured(problem, draws=50)
    estimator.update(Records(np.random.default_rng(0).integers(2, size=(40, 5)).astype(float)))
    assert estimator.n_labels == 1
    assert estimator.distribution().probabilities.sum() == pytest.approx(1)
    assert estimator.telling == 40


def test_draws_are_laws_around_the_estimate() -> None:
    problem = panel()
    estimator = Structured(problem, seed=1, draws=300)
    estimator.update(Records(subjects(problem, 300)))
    draws = estimator.draws(np.random.default_rng(0), 30)
    assert draws.shape == (30, len(estimator.support))
    assert draws.sum(axis=1) == pytest.approx(1)
    label = estimator.support[:, -1] == 1
    spread = draws[:, label].sum(axis=1)
    assert spread.mean() == pytest.approx(estimator.probabilities[label].sum(), abs=0.03)
    assert 0.003 < spread.std() < 0.1


def test_more_that_tells_means_a_smaller_penalty() -> None:
    problem, rows = panel(), subjects(panel(), 400)
    few, many, bare = (Structured(problem, draws=100) for _ in range(3))
    few.update(Records(rows[:100]))
    many.update(Records(rows))
    unlabelled = rows.copy()
    unlabelled[100:, -1] = np.nan
    bare.update(Records(unlabelled))
    assert (few.telling, many.telling, bare.telling) == (100, 400, 100)
    assert many.penalty < few.penalty


def test_halves_share_those_who_tell() -> None:
    problem = panel()
    rows = subjects(problem, 300)
    rows[100:, 3:] = np.nan  # two hundred who show three tests and no label
    estimator = Structured(problem, seed=1, draws=100, prior=50.0)
    estimator.update(Records(rows))
    first, second = estimator.halves(np.random.default_rng(0))
    assert first.telling + second.telling == estimator.telling == 100
    assert 30 < first.telling < 70
    for half in (first, second):
        assert half.observations.total - half.telling == 200
        assert (half.prior, half.n_draws) == (50.0, 100)


@pytest.mark.parametrize(("d", "prior"), [(13, 300), (45, 450), (100, 600)])
def test_pseudo_subjects_grow_with_the_tests(d: int, prior: float) -> None:
    assert Structured(panel(d - 1)).pseudo == prior


def test_by_name_and_with_wrong_options() -> None:
    assert ESTIMATORS["structured"] is Structured
    with pytest.raises(DistributionError, match="classes is 0"):
        Structured(panel(), classes=0)


def test_observations_without_a_label_leave_labels_alone() -> None:
    """Many steps of plain EM, written out, come to where few steps of ours do; most observations have no label."""
    rng = np.random.default_rng(2)
    base = rng.random(12)  # six rows, two labels
    known = [(rng.permutation(6)[:3], label, float(n)) for label, n in ((0, 4), (1, 3), (None, 400), (None, 250))]
    members = [
        np.sort([2 * x + y for x in rows for y in ((0, 1) if label is None else (label,))]) for rows, label, _ in known
    ]
    plain = base.copy()
    for _ in range(40_000):
        given = base.copy()
        for rows, (_, _, n) in zip(members, known, strict=True):
            given[rows] += n * plain[rows] / plain[rows].sum()
        plain = given
    first = np.concatenate([[0], np.cumsum([len(rows) for rows in members])]).astype(np.int64)
    counts, labelled = np.array([n for *_, n in known]), np.array([label is not None for _, label, _ in known])
    agree = Agreeing(first, np.concatenate(members).astype(np.uint32), counts, labelled, 2)
    ours = base.copy()
    agree.spread(base, ours, 2000)
    assert ours == pytest.approx(plain, rel=1e-6)
    short = base.copy()
    agree.spread(base, short, 30)
    labels, right = short.reshape(6, 2), plain.reshape(6, 2)
    assert labels[:, 0] / labels.sum(axis=1) == pytest.approx(right[:, 0] / right.sum(axis=1), abs=0.02)


def test_agreeing_rows() -> None:
    rows = np.array([[0.0, 1.0], [0.0, 0.0], [1.0, 1.0]])
    first, members = agreeing(np.array([[0.0, np.nan], [np.nan, np.nan], [1.0, 0.0]]), rows)
    assert [members[first[o] : first[o + 1]].tolist() for o in range(3)] == [[0, 1], [0, 1, 2], []]


def test_latent_classes_find_two_kinds() -> None:
    rng = np.random.default_rng(0)
    kind = rng.random(2000) < 0.3
    rows = (rng.random((2000, 12)) < np.where(kind, 0.9, 0.2)[:, None]).astype(float)
    rows[rng.random(rows.shape) < 0.2] = np.nan
    levels = Levels.of(np.full(12, 2))
    model = fit_classes(levels, levels.shown(rows), np.ones(2000), rng, classes=2, steps=60)
    assert sorted(model.shares) == pytest.approx([0.3, 0.7], abs=0.05)
    drawn = model.completed(rng, rows)
    assert np.array_equal(drawn[~np.isnan(rows)], rows[~np.isnan(rows)])
    assert drawn.mean() == pytest.approx(0.3 * 0.9 + 0.7 * 0.2, abs=0.03)


def test_regression_of_labels() -> None:
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(2, size=900), rng.integers(3, size=900)]).astype(float)
    labels = np.where(rng.random(900) < 0.9, rows[:, 1], rng.integers(3, size=900)).astype(np.int64)
    features = design(rows, np.array([2, 3]))
    assert features[0].tolist() == [*(2.0 * (rows[0, [0, 1, 1]] == [1, 1, 2]) - 1), 1.0]
    chances = label_chances(features, fit_labels(features, np.eye(3)[labels]))
    right = chances[np.arange(900), rows[:, 1].astype(int)]
    assert right.mean() == pytest.approx(0.93, abs=0.04)


def test_a_posterior_of_classes_is_bayes_rule_and_counts_are_its_sums() -> None:
    rng = np.random.default_rng(3)
    levels, rows = Levels.of(np.array([2, 3, 2])), np.array([[0, 2, np.nan], [np.nan] * 3, [1, 0, 1], [1, 0, 1]])
    outcomes = rng.uniform(size=(4, 7))
    model = LatentClasses(levels, np.array([0.1, 0.2, 0.3, 0.4]), outcomes / levels.totals(outcomes))
    onehot = np.column_stack([rows[:, i] == b for i, k in enumerate((2, 3, 2)) for b in range(k)]).astype(float)
    counts, shown = np.array([2.0, 0.0, 1.5, 4.0]), levels.shown(rows)
    right = model.shares * np.exp(onehot @ np.log(model.outcomes).T)
    right /= right.sum(axis=1, keepdims=True)
    assert model.posterior(shown) == pytest.approx(right, rel=1e-12)
    of_class, seen = model.counted(shown, counts)
    assert of_class == pytest.approx(counts @ right, rel=1e-12)
    assert seen == pytest.approx((right * counts[:, None]).T @ onehot, rel=1e-12)


@pytest.mark.parametrize("labels", [2, 3])
def test_regression_is_where_its_gradient_is_nothing(labels: int) -> None:
    rng = np.random.default_rng(labels)
    features = np.column_stack([rng.choice([-1.0, 1.0], size=(401, 5)), np.ones(401)])
    taught = rng.multinomial(3, np.full(labels, 1 / labels), size=401) * (
        rng.random((401, labels)) < 0.5 + 0.2 * features[:, :1]
    )
    found = None
    for _ in range(40):
        found = fit_labels(features, taught, found)
    counts, chances = taught.sum(axis=1), label_chances(features, found)
    scores = np.exp(features @ found)
    assert chances == pytest.approx(scores / scores.sum(axis=1, keepdims=True), rel=1e-9)
    ridge = np.append(np.full(5, RIDGE), INTERCEPT)
    assert features.T @ (chances * counts[:, None] - taught) + ridge[:, None] * found == pytest.approx(0, abs=1e-4)
