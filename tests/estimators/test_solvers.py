from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from proband.estimators import Dirichlet, Likelihood, solve_dual, solve_em
from proband.estimators.listed import solvers
from proband.estimators.listed.cells import Cells, Fit, ProductAgreement, observed_mass
from proband.estimators.listed.observations import Observations
from proband.estimators.listed.supports import ProductSupport, count_cells


def members_of(cells, o):
    """Return the rows that agree with one partial observation."""
    return cells.base[o] + cells.offsets[cells.start[o] : cells.start[o] + cells.size[o]]


def cells_of(problem, rows):
    seen = Observations(problem)
    seen.add(rows)
    return count_cells(seen, ProductSupport(problem).agreement(seen), problem.size)


def brute_force(cells, mass):
    """Maximise Σ c log p + Σ n log p(o) over softmax parameters, the last one fixed at zero."""
    n = len(mass)
    total = mass.sum() + cells.counts.sum()
    members = np.zeros((len(cells.counts), n))
    for o in range(len(members)):
        members[o, members_of(cells, o)] = 1

    def law(z):
        e = np.exp(np.append(z, 0.0) - max(z.max(), 0.0))
        return e / e.sum()

    def value(z):
        p = law(z)
        return -(mass @ np.log(p) + cells.counts @ np.log(members @ p)) / total

    def gradient(z):
        p = law(z)
        return (total * p - mass - p * (members.T @ (cells.counts / (members @ p))))[:-1] / total

    def hessian(z):
        p = law(z)
        q = members * p / (members @ p)[:, None]
        spread = total * (np.diag(p) - np.outer(p, p)) - np.diag(cells.counts @ q) + (q.T * cells.counts) @ q
        return spread[:-1, :-1] / total

    start = minimize(value, np.zeros(n - 1), jac=gradient, method="BFGS", options={"gtol": 1e-6}).x
    found = minimize(value, start, jac=gradient, hess=hessian, method="trust-exact", options={"gtol": 1e-13})
    z = found.x
    for _ in range(3):
        z = z - np.linalg.solve(hessian(z), gradient(z))
    assert value(z) <= found.fun + 1e-14
    return law(z)


SOURCES = ["patterns", "policies"]


@pytest.mark.filterwarnings("ignore:.*approximation:RuntimeWarning")
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("alpha", [1.0, 0.3])
@pytest.mark.parametrize("k", [(2, 2, 2), (2, 3, 2), (3, 2, 2, 2)])
def test_em_dual_and_brute_force_agree(source, alpha, k, kit, rng):
    problem = kit.make_problem(k)
    for _ in range(3):
        cells = cells_of(problem, kit.sources[source](problem, rng))
        mass = cells.own + alpha
        rate = np.full(problem.size, cells.total + alpha * problem.size)
        nothing = Fit(np.empty(0), np.zeros(len(cells.counts)), 0, 0.0, np.empty(0))  # no step of EM before the sweeps
        em, twin = solve_em(cells, mass, rate), solve_dual(cells, mass, rate, start=nothing)
        assert np.abs(em.probabilities - twin.probabilities).max() < 1e-10
        assert np.abs(solve_dual(cells, mass, rate).probabilities - twin.probabilities).max() < 1e-10
        assert np.abs(brute_force(cells, mass) - twin.probabilities).max() < 1e-10
        np.testing.assert_allclose(twin.multipliers * observed_mass(cells, twin.probabilities), cells.counts, rtol=1e-9)


def test_maximum_likelihood_agrees_with_brute_force_where_every_cell_was_seen(kit, rng):
    problem = kit.make_problem((2, 3, 2))
    rows = np.vstack([kit.policy_states(problem, rng, 60), ProductSupport(problem).rows])
    cells = cells_of(problem, rows)
    rate = np.full(problem.size, cells.total)
    em, twin = solve_em(cells, cells.own, rate), solve_dual(cells, cells.own, rate)
    assert np.abs(em.probabilities - twin.probabilities).max() < 1e-10
    assert np.abs(brute_force(cells, cells.own) - twin.probabilities).max() < 1e-10


@pytest.mark.parametrize("seed", range(6))
def test_maximum_likelihood_with_unseen_cells_agrees_in_what_is_identified(seed, kit):
    rng = np.random.default_rng(seed)
    problem = kit.make_problem((2, 2, 3))
    cells = cells_of(problem, kit.policy_states(problem, rng, 30, complete=0.2))
    assert (cells.own == 0).any()
    rate = np.full(problem.size, cells.total)
    em, twin = solve_em(cells, cells.own, rate), solve_dual(cells, cells.own, rate)
    seen = [observed_mass(cells, fit.probabilities) for fit in (em, twin)]
    np.testing.assert_allclose(seen[0], seen[1], atol=1e-8)
    own = cells.own > 0
    values = [
        cells.own[own] @ np.log(fit.probabilities[own]) + cells.counts @ np.log(mass)
        for fit, mass in zip((em, twin), seen, strict=True)
    ]
    assert abs(values[0] - values[1]) < 1e-9
    gaps = rate - np.array([(twin.multipliers[[x in members_of(cells, o) for o in range(len(seen[0]))]]).sum()
                            for x in range(problem.size)])  # fmt: skip
    assert gaps.min() > -1e-6 * cells.total  # the Karush-Kuhn-Tucker conditions: no cell would add likelihood


@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("source", SOURCES)
def test_the_likelihood_never_decreases(alpha, source, kit, rng):
    problem = kit.make_problem((2, 3, 2, 2))
    for _ in range(5):
        cells = cells_of(problem, kit.sources[source](problem, rng))
        mass = cells.own + alpha
        path = solve_em(cells, mass, np.full(problem.size, mass.sum() + cells.counts.sum())).path
        assert len(path) > 1
        assert np.diff(path).min() > -1e-13 * np.abs(path).max()  # rounding of the sum itself


def test_one_sweep_is_exact_for_disjoint_leaves():
    agreement = ProductAgreement(np.array([2, 2, 2]))
    agreement.extend(np.array([[0, np.nan, np.nan], [1, 0, np.nan]]))
    own = np.arange(1.0, 9.0)
    counts = np.array([1e6, 30.0])
    cells = Cells(own, counts, agreement.base, agreement.start, agreement.size, agreement.offsets)
    total = own.sum() + counts.sum()
    expected = own.copy()
    expected[:4] *= 1 + 1e6 / own[:4].sum()
    expected[4:6] *= 1 + 30 / own[4:6].sum()
    fit = solve_dual(cells, own, np.full(8, total))
    assert fit.iterations <= 3
    np.testing.assert_allclose(fit.probabilities, expected / total, rtol=1e-9)


def test_a_warm_start_changes_nothing_but_the_work(kit, rng):
    problem = kit.make_problem((2,) * 6)
    rows = kit.policy_states(problem, rng, 400, policies=6)
    warm, cold = Likelihood(problem), Likelihood(problem)
    warm.update_counts(rows[:2000], None)
    warm.fit()
    warm.update_counts(rows[2000:], None)
    cold.update_counts(rows, None)
    assert warm.fit().iterations < 15
    np.testing.assert_allclose(warm.probabilities, cold.probabilities, atol=1e-12)


@pytest.mark.parametrize("solver", [solve_dual, solve_em])
def test_a_fit_goes_on_from_the_last_one(solver, kit, rng):
    problem = kit.make_problem((2, 3, 2))
    estimator = Likelihood(problem, solver=solver)
    for _ in range(3):
        estimator.update_counts(kit.policy_states(problem, rng, 50), None)
        cold = Likelihood(problem)
        cold.update_counts(estimator.observations.rows, estimator.observations.counts)
        np.testing.assert_allclose(estimator.probabilities, cold.probabilities, atol=1e-11)


def test_em_takes_over_where_sweeps_do_not_suffice(kit, rng, monkeypatch):
    problem = kit.make_problem((2, 3, 2))
    cells = cells_of(problem, kit.sources["patterns"](problem, rng))
    mass, rate = cells.own + 0.1, np.full(problem.size, cells.total + 0.1 * problem.size)
    expected = solve_em(cells, mass, rate).probabilities
    monkeypatch.setattr(solvers, "SWEEP_LIMIT", 1)
    nothing = Fit(np.empty(0), np.zeros(len(cells.counts)), 0, 0.0, np.empty(0))
    fit = solve_dual(cells, mass, rate, start=nothing)
    assert np.abs(fit.probabilities - expected).max() < 1e-10


def test_few_complete_rows_among_very_many_partial_ones(kit):
    problem = kit.make_problem((2,) * 4)
    counts = [1e7, 1e6, 1e6, 3, 1, 2, 1]
    nan = np.nan
    rows = [
        [0, nan, nan, nan],
        [nan, 0, 1, nan],
        [1, 1, nan, nan],
        [0, 0, 1, 1],
        [1, 1, 0, 0],
        [0, 1, 1, 0],
        [1, 0, 1, 0],
    ]
    fits = []
    for solver in (solve_dual, solve_em):
        estimator = Likelihood(problem, solver=solver, prior=Dirichlet(1))
        estimator.update_counts(rows, counts)
        fits.append(estimator)
    assert fits[0].fit().residual < 1e-9
    assert fits[0].log_likelihood() >= fits[1].log_likelihood() - 1e-6
