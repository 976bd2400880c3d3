from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from proband.errors import TableError
from proband.experiments import EXPERIMENTS, Experiment, read_table, run
from proband.experiments.tidy import FIXED, write_tables


def test_csv_and_parquet_hold_the_same_numbers_to_the_last_bit(folder: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = read_table(folder)
    columns = parquet.read_table(folder / "table.parquet").to_pydict()
    assert list(columns) == list(table.columns)
    for name, column in columns.items():
        assert column == table[name].tolist()


def test_the_table_is_tidy(small: Experiment, folder: Path) -> None:
    table = read_table(folder)
    assert set(table.columns) == {*FIXED, "d", "costs", "horizon"}
    assert table.parameters == ["d", "costs", "horizon"]
    keys = list(zip(table["agent"], table["replication"], table["t"], strict=True))
    assert len(set(keys)) == len(keys) == 9 * len(table.unique("t"))
    assert table.unique("agent") == [entrant.name for entrant in small.agents]
    final = table.final()
    assert final["t"].tolist() == [256] * 9
    assert (np.diff(table.where({"agent": "doubling", "replication": 0})["pseudo_regret"]) >= 0).all()


def test_texts_and_numbers_of_one_parameter_become_texts(tmp_path: Path) -> None:
    experiment = EXPERIMENTS["paper-discrete"].changed(
        horizon=16, replications=1, agents=["doubling"], settings={"d": "2", "costs": "0.05,uniform"}
    )
    made = run(experiment, tmp_path)
    assert made.unique("costs") == read_table(tmp_path).unique("costs") == ["0.05", "uniform"]


def test_without_pyarrow_there_is_a_csv_table(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert write_tables(tmp_path, read_table(folder)) == ["table.csv"]
    assert (tmp_path / "table.csv").read_bytes() == (folder / "table.csv").read_bytes()


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="run the experiment first"):
        read_table(tmp_path)
    (tmp_path / "table.csv").write_text("agent,t\ngreedy,1\n")
    with pytest.raises(TableError, match="horizon"):
        read_table(tmp_path)


@pytest.mark.parametrize("content", [b"", b"agent,t\n", b"\xff", b"agent,t\n1\n", b"agent\n" + b"x" * 200_000])
def test_a_table_that_is_damaged(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_bytes(content)
    with pytest.raises(TableError, match=r"table\.csv: "):
        read_table(tmp_path)
