"""Records as frames of others, and back."""

from __future__ import annotations

import sys

import numpy as np
import polars
import pyarrow
import pytest

from proband import Problem, Records, Test
from proband.errors import MissingExtraError, TableError
from proband.rewards import Match
from proband.vocabulary import Records as Plain

PROBLEM = Problem(
    [Test("visual", 0.1, outcomes=("clean", "rusty")), Test("hardness", 0.5, cuts=[60, 75], unit="HRC")], reward=Match()
)
TABLE = {"visual": ["rusty", None, "clean"], "hardness": [63.2, 80.0, None]}


def test_records_go_out_as_frames_and_come_back_the_same() -> None:
    records = PROBLEM.records(TABLE)
    wanted = {"visual": ["rusty", None, "clean"], "hardness": ["60 to 75 HRC", ">= 75 HRC", None]}
    assert records.columns() == wanted
    frame = records.to_pandas()
    assert frame["visual"].cat.categories.tolist() == ["clean", "rusty"]
    assert frame.astype(object).where(frame.notna(), None).to_dict("list") == wanted
    assert pyarrow.table(records).to_pydict() == wanted
    assert polars.from_arrow(pyarrow.table(records)).to_dict(as_series=False) == wanted  # type: ignore[union-attr]
    assert polars.DataFrame(records).to_dict(as_series=False) == wanted
    for back in (records, frame, pyarrow.table(records), polars.DataFrame(records), wanted):
        assert PROBLEM.records(back) == records


def test_measurements_and_uncut_numbers_stay_numbers() -> None:
    uncut = PROBLEM.records(TABLE, uncut=True)
    assert uncut.columns()["hardness"] == [63.2, 80.0, None]
    assert uncut.to_pandas()["hardness"].dtype == np.float64
    assert pyarrow.table(uncut).schema.field("hardness").type == pyarrow.float64()


def test_records_without_names_have_numbers_and_counts_a_column() -> None:
    records = Records([[0, np.nan], [1, 2]], counts=[3, 1])
    assert records.columns() == {"test 1": [0.0, 1.0], "test 2": [None, 2.0], "count": [3, 1]}
    assert records.to_pandas()["count"].tolist() == [3, 1]
    named = Records([[0, 1]], counts=[2], tests=[Test("count"), Test("b")])
    assert named.columns() == {"count": ["0"], "b": ["1"], "count of subjects": [2]}


def test_parts_keep_the_names_and_wrong_ones_are_refused() -> None:
    records = PROBLEM.records(TABLE)
    assert records.complete().columns() == {"visual": ["rusty"], "hardness": ["60 to 75 HRC"]}
    assert Plain.joined([records, records]).tests == records.tests
    with pytest.raises(TableError, match="records have 2 columns and 1 tests"):
        Records([[0, 1]], tests=[Test("a")])


def test_without_the_packages_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    records = PROBLEM.records(TABLE)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"records\.columns\(\)"):
        records.to_pandas()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"proband\[tables\]"):
        records.__arrow_c_stream__()
