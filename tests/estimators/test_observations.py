from __future__ import annotations

import numpy as np
import pytest

from proband.errors import StateError, TableError, TooLargeError
from proband.estimators import Observations
from proband.estimators.listed.cells import ProductAgreement, RowAgreement
from proband.estimators.listed.supports import ProductSupport, SeenSupport, choose_support, seen_rows
from proband.vocabulary import outcome_rows

nan = np.nan


def as_dict(seen):
    return {tuple(np.nan_to_num(row, nan=-1.0)): n for row, n in zip(seen.rows, seen.counts, strict=True)}


@pytest.mark.parametrize("d", [5, 60])
def test_counts_in_blocks_are_counts_at_once(d, kit, rng):
    problem = kit.make_problem((2, 3) * (d // 2) + (2,) * (d % 2))
    rows = kit.hide(np.floor(rng.random((500, d)) * problem.k), rng)
    rows = rows[rng.integers(0, 20, 500)]
    at_once, blocks, aggregated = Observations(problem), Observations(problem), Observations(problem)
    at_once.add(rows)
    for block in np.array_split(rows, 7):
        blocks.add(block)
    aggregated.add(at_once.rows, at_once.counts)
    assert as_dict(at_once) == as_dict(blocks) == as_dict(aggregated)
    assert blocks.total == 500
    assert len(blocks) <= 20


def test_nothing_and_zero_counts_add_nothing(kit):
    seen = Observations(kit.make_problem((2, 2)))
    seen.add(np.empty((0, 2)))
    seen.add([[0, 1]], [0])
    assert len(seen) == 0


@pytest.mark.parametrize("counts", [[1], [1, -1], [1, nan]])
def test_wrong_counts_are_named(counts, kit):
    with pytest.raises(TableError, match="count"):
        Observations(kit.make_problem((2, 2))).add([[0, 1], [1, nan]], counts)


def test_unknown_outcomes_are_named(kit):
    with pytest.raises(StateError, match="outcomes are numbered"):
        Observations(kit.make_problem((2, 2))).add([[0, 2]])


@pytest.mark.parametrize("k", [(2, 2, 2), (3, 1, 2, 4)])
def test_product_and_row_agreement_list_the_agreeing_rows(k, kit, rng):
    problem = kit.make_problem(k)
    support = outcome_rows(np.arange(problem.size), problem.tests)
    observations = kit.hide(support[rng.integers(0, len(support), 40)], rng)
    product, listed = ProductAgreement(problem.k), RowAgreement(support)
    for part in (observations[:15], observations[15:]):
        product.extend(part)
        listed.extend(part)
    for o, row in enumerate(observations):
        expected = np.flatnonzero(((support == row) | np.isnan(row)).all(axis=1))
        for agreement in (product, listed):
            span = agreement.offsets[agreement.start[o] : agreement.start[o] + agreement.size[o]]
            assert sorted(agreement.base[o] + span) == expected.tolist()


def test_orphans_bring_their_nearest_row(kit):
    seen = Observations(kit.make_problem((3, 2, 2)))
    seen.add([[0, 0, 0], [0, 0, 0], [1, 1, 1], [2, nan, 1], [2, nan, nan], [nan, 0, nan], [nan, nan, nan]])
    # [2, ?, 1] is nearest to [1, 1, 1]; its row agrees with [2, ?, ?], which then brings none
    assert seen_rows(seen).tolist() == [[0, 0, 0], [1, 1, 1], [2, 1, 1]]


def test_without_complete_rows_orphans_take_frequent_outcomes(kit):
    seen = Observations(kit.make_problem((2, 2, 2)))
    seen.add([[1, nan, nan], [nan, 1, nan], [nan, 1, nan], [nan, 0, nan]])
    rows = seen_rows(seen)
    assert not np.isnan(rows).any()
    for row in seen.rows:
        assert ((rows == row) | np.isnan(row)).all(axis=1).any()


def test_a_seen_support_grows_with_what_is_seen(kit):
    problem = kit.make_problem((2, 2))
    seen, support = Observations(problem), SeenSupport(problem)
    for row, size in ([0, 0], 1), ([0, nan], 1), ([1, nan], 2), ([1, 1], 2):
        seen.add([row])
        assert (support.agreement(seen).size > 0).all()
        assert len(support.rows) == size


def test_a_product_space_may_be_too_large(kit):
    problem = kit.make_problem((2,) * 40)
    assert isinstance(choose_support(problem, None), SeenSupport)
    with pytest.raises(TooLargeError, match='support="seen"'):
        ProductSupport(problem)
    with pytest.raises(ValueError, match="one of product, seen"):
        choose_support(problem, "everything")
    with pytest.raises(ValueError, match="complete outcome vectors"):
        choose_support(problem, [[nan] * 40])
