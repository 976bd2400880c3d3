"""The score of tables with test costs, by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.tables.data import Prices, Split

from proband import Discrete
from proband.policies import FixedSet

COSTS = """0 10
40 0
Attribute-name test-cost discount group binarize-begin binarize-end
age 1.0 1.0 x 0 0
stain 5.0 2.0 a 1 3
smear 7.0 3.0 a 4 4
"""
ROWS = """0 0 1 0 0 0
0 1 0 1 0 0
1 1 0 0 1 1
0 0 0 0 1 1
"""


@pytest.fixture
def split(tmp_path: Path) -> Split:
    folder = tmp_path / "made"
    folder.mkdir()
    (folder / "made-low-costs.csv").write_text(COSTS)
    for part in ("train", "test"):
        (folder / f"made-{part}-1.csv").write_text(ROWS)
    return Split.read(tmp_path, "made", "low", 1)


def test_the_score_divides_by_all_tests_and_the_dearest_error_of_what_is_rare(split: Split) -> None:
    # All tests cost 1 + 5 + 3, the second of group a at its discount; a quarter is not of the commonest class.
    assert split.prices.everything == 9.0
    assert split.prices.score(np.array([2.0, 4.0, 0.0, 6.0]), split.test[:, 0]) == pytest.approx(3.0 / (9 + 0.25 * 40))


def test_one_test_with_several_columns_has_several_outcomes(split: Split) -> None:
    assert split.k == [2, 3, 2]
    assert split.outcomes(split.test).tolist() == [[0, 0, 0], [1, 1, 0], [1, 2, 1], [0, 2, 1]]


def test_a_policy_pays_for_its_tests_with_discounts_and_for_its_errors(split: Split) -> None:
    law = Discrete.from_records(split.records(split.train))
    policy = FixedSet(split.problem, ["stain", "smear"], law)
    # stain 5 and smear 3 for everybody; the law is known by heart but for rows 3 and 4, which differ in age alone:
    # class 1 is decided for both, since its error costs 40 against 10: one error of 10 in four.
    assert split.score_policy(policy) == pytest.approx((8 + 10 / 4) / (9 + 0.25 * 40))


def test_a_file_of_costs_is_read_as_it_stands(split: Split) -> None:
    assert isinstance(split.prices, Prices)
    assert split.prices.errors.tolist() == [[0, 10], [40, 0]]
    assert [(t.name, t.group, t.first, t.last) for t in split.prices.tests] == [
        ("age", "x", 0, 0), ("stain", "a", 1, 3), ("smear", "a", 4, 4),
    ]  # fmt: skip
