"""Bounds of single nodes, against all sets of the node."""

from __future__ import annotations

import numpy as np
import pytest

from proband.compiling import kernel
from proband.planners.subset import enumerate_values
from proband.planners.subset.bound_kernel import (
    count_groups,
    measure,
    measure_drops,
    new_scratch,
    opening_range,
    tighten,
)
from proband.planners.subset.checking import checked_candidates
from proband.planners.subset.node_kernel import BOTTOM, INSIDE, LEFT, WHOLE, new_levels, restore
from proband.planners.subset.objective import hadamard, objective_of, with_price
from proband.planners.subset.relaxation_kernel import new_relaxation, relax

D = 13


@kernel
def restored(objective, levels, state):
    restore(objective, levels, state, np.inf)


@kernel
def bounded(objective, levels, scratch):
    """What open groups pay at least in the node of level 0, its mixed bound without that, and the price in it."""
    at_least, _ = measure(objective, levels, BOTTOM, scratch)
    bound, price = tighten(objective, levels, BOTTOM, scratch, -np.inf)
    return at_least, bound, price


@kernel
def fill_drops(objective, levels, scratch, bound, price):
    measure_drops(objective, levels, BOTTOM, scratch, bound, price)


@kernel
def relaxed(objective, levels, openings, price, enough, stubborn, relaxation):
    return relax(objective, levels, BOTTOM, openings, price, enough, stubborn, relaxation)


@kernel
def range_in(objective, state, openings, test):
    count_groups(objective, state, openings)
    return opening_range(objective, openings, test)


def node_of(rng, covariance, options, size):
    """Candidates, their objective, a random node in level 0, and F of all sets of the node."""
    candidates = checked_candidates(
        covariance, forced_in=(), forced_out=(), **{"groups": None, "group_costs": None, **options}
    )
    objective = objective_of(candidates, size=size)
    state = rng.choice(np.array([0, 0, 0, 0, 1, 2], dtype=np.int8), D)
    levels, scratch = new_levels(D), new_scratch(D, candidates.groups)
    restored(objective, levels, state)
    values = 2 / candidates.scale * enumerate_values(covariance, **options)
    sets = np.arange(len(values))
    inside = sets[:, None] >> np.arange(D) & 1 == 1
    allowed = inside[:, state == 1].all(axis=1) & ~inside[:, state == 2].any(axis=1)
    if size is not None:
        allowed &= inside.sum(axis=1) == size
    return objective, levels, scratch, values[allowed], inside[allowed], state


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("size", [None, 6])
def test_bounds_hold_and_drop_as_promised(size, grouped, hard_case):
    rng = np.random.default_rng([13, grouped, size or 0])
    checked = 0
    for _ in range(40):
        covariance, options = hard_case(rng, D, grouped=grouped)
        objective, levels, scratch, values, inside, state = node_of(rng, covariance, options, size)
        needed = 0 if size is None else size - (state == 1).sum()
        if size is not None and not 0 < needed < levels.counts[0, LEFT]:
            continue
        checked += 1
        at_least, bound, price = bounded(objective, levels, scratch)
        bound += objective.margin - at_least
        assert values.max() <= bound
        fill_drops(objective, levels, scratch, bound, price)
        drops = [(scratch.drop_in.copy(), scratch.drop_out.copy(), bound)]
        relaxation = new_relaxation(D)
        tight = relaxed(objective, levels, scratch.openings, price, -np.inf, True, relaxation)
        tight += objective.margin - at_least
        assert values.max() <= tight
        drops.append((np.maximum(-relaxation.gradient, 0), np.maximum(relaxation.gradient, 0), tight))
        for drop_in, drop_out, top in drops:
            for i in range(levels.counts[0, LEFT]):
                test = levels.tests[0, i]
                for side, drop in ((inside[:, test], drop_in[i]), (~inside[:, test], drop_out[i])):
                    assert values[side].max(initial=-np.inf) <= top - drop + 1e-9
    assert checked > 10


def test_an_envelope_settles_tests_only_rightly(hard_case):
    """The best F at a price, over sets of all sizes, bounds what sets of one size lose with and without a test."""
    rng = np.random.default_rng(17)
    sharp = 0
    for _ in range(60):
        covariance, options = hard_case(rng, D, grouped=rng.random() < 0.5)
        covariance = np.diag(np.exp(rng.normal(size=D))) + rng.choice([0.0, 0.1]) * covariance
        objective, levels, scratch, values, inside, state = node_of(rng, covariance, options, 6)
        if not 0 < 6 - (state == 1).sum() < levels.counts[0, LEFT]:
            continue
        every = 2 / options["scale"] * enumerate_values(covariance, **options)
        counts = np.bitwise_count(np.arange(len(every))).astype(np.float64)
        price = (every[counts == 7].max() - every[counts == 5].max()) / 2
        envelope = (every - price * (counts - 6)).max()
        at_least, bound, multiplier = bounded(objective, levels, scratch)
        bound += objective.margin - at_least
        fill_drops(objective, levels, scratch, bound, multiplier)
        before = scratch.drop_in.copy(), scratch.drop_out.copy()
        enveloped = objective._replace(price=price, envelope=envelope)
        fill_drops(enveloped, levels, scratch, bound, multiplier)
        for i in range(levels.counts[0, LEFT]):
            test = levels.tests[0, i]
            sides = (inside[:, test], scratch.drop_in[i]), (~inside[:, test], scratch.drop_out[i])
            for (side, drop), old in zip(sides, (before[0][i], before[1][i]), strict=True):
                best = values[side].max(initial=-np.inf)
                assert best <= bound - drop + 1e-9
                sharp += drop > old and best > bound - drop - 0.01
    assert sharp > 10


def test_what_a_test_adds_to_the_openings_stays_in_its_range():
    rng = np.random.default_rng(5)
    group, extra = np.array([0, 0, 0, 1, 1, -1]), np.array([0.3, 0.1, 0.7, 0.2, 0.2, 0.0])
    covariance = np.eye(6)
    candidates = checked_candidates(
        covariance, 1 + extra, scale=2.0, groups=group, group_costs=np.ones(6), forced_in=(), forced_out=()
    )
    objective, openings = objective_of(candidates), np.empty((5, 3))
    for _ in range(60):
        state = rng.integers(0, 3, 6).astype(np.int8)
        free = np.flatnonzero(state == 0)
        for test in free:
            added = []
            for number in range(2 ** len(free)):
                chosen = {int(i) for i in np.flatnonzero(state == 1)}
                chosen |= {int(i) for place, i in enumerate(free) if number >> place & 1} - {int(test)}
                added.append(candidates.prices.of(chosen | {int(test)}) - candidates.prices.of(chosen) - 1)
            least, most = range_in(objective, state, openings, test)
            assert least - 1e-12 <= min(added)
            assert max(added) <= most + 1e-12
            assert least == pytest.approx(min(added))


def test_a_node_holds_the_ends_of_its_sets(hard_case):
    rng = np.random.default_rng(0)
    for _ in range(20):
        covariance, options = hard_case(rng, D, grouped=False)
        _, levels, _, values, inside, _ = node_of(rng, covariance, options, None)
        sizes = inside.sum(axis=1)
        assert levels.figures[0, INSIDE] == pytest.approx(values[sizes == sizes.min()][0], abs=1e-9)
        assert levels.figures[0, WHOLE] == pytest.approx(values[sizes == sizes.max()][0], abs=1e-9)


def test_the_relaxation_is_exact_at_a_set(hard_case):
    """At the indicator of a set its value is F, so that a search learns early when a node cannot be closed."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        covariance, options = hard_case(rng, D, grouped=False)
        objective, levels, scratch, values, inside, _ = node_of(rng, covariance, options, None)
        bounded(objective, levels, scratch)
        k = int(rng.integers(len(values)))
        levels.point[0] = inside[k]
        lower = values[k] - 1e-9
        assert relaxed(objective, levels, scratch.openings, 0.0, lower, False, new_relaxation(D)) == np.inf


@pytest.mark.parametrize("size", [None, 5])
def test_the_first_bound_holds(size, hard_case, best_by_enumeration):
    for seed in range(10):
        covariance, options = hard_case(np.random.default_rng([seed, 9]), 9, grouped=True)
        candidates = checked_candidates(covariance, forced_in=[1], forced_out=[2], **options)
        best = best_by_enumeration(covariance, options, size=size, forced_in=(1,), forced_out=(2,))
        assert hadamard(candidates, objective_of(candidates, size=size)) >= 2 / candidates.scale * best - 1e-11


def test_a_price_is_paid_by_every_test(hard_case):
    covariance, options = hard_case(np.random.default_rng(3), 6, grouped=False)
    candidates = checked_candidates(covariance, groups=None, group_costs=None, forced_in=(), forced_out=(), **options)
    objective = objective_of(candidates)
    dearer = with_price(objective, 0.25)
    np.testing.assert_allclose(dearer.offset, objective.offset - 0.25)
    assert dearer.everything == pytest.approx(objective.everything - 1.5)
