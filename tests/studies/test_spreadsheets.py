from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.studies.crowd import Clock, Crowd, bolts, gout
from tests.tables.formats import workbook

from proband import Problem, Test
from proband.errors import StudyError, TableError
from proband.rewards import Table
from proband.studies import Study
from proband.studies.stores import MemoryStore

PAST: list[dict[str, Any]] = [
    {"visual": "clean", "weight": "light", "ultrasonic": "ok"},
    {"visual": "rusty", "weight": None, "ultrasonic": None},
    {"visual": "clean", "weight": "light", "ultrasonic": "ok"},
]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    if path.suffix == ".parquet":
        parquet.write_table(pa.Table.from_pylist(rows), path)
    else:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    return path


def make() -> Study:
    return Study.create(bolts(), agent="greedy", store=MemoryStore(), clock=Clock(), replan="now")


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_past_records_come_from_a_spreadsheet(tmp_path: Path, ending: str) -> None:
    study = make()
    path = write(tmp_path / f"past{ending}", PAST)
    assert study.learn_from(path) == 3
    assert study.learn_from(path) == 0
    *_, event = study.events()
    assert event.data["source"] == path.name
    assert event.data["rows"] == [["clean", "light", "ok"], ["rusty", None, None]]
    assert event.data["counts"] == [2, 1]


def test_past_records_come_from_frames_files_and_workbooks(tmp_path: Path) -> None:
    columns = {name: [row[name] for row in PAST] for name in PAST[0]}
    book = workbook({"notes": (["a"], [["b"]]), "past": (list(columns), [list(row.values()) for row in PAST])})
    (tmp_path / "past.xlsx").write_bytes(book)
    for records, sheet in (
        (pd.DataFrame(columns), None),
        (pl.DataFrame(columns), None),
        (pa.table(columns), None),
        (columns, None),
        (io.BytesIO(write(tmp_path / "past.txt", PAST).read_bytes()), None),
        (tmp_path / "past.txt", None),
        (tmp_path / "past.xlsx", "past"),
    ):
        study = make()
        assert study.learn_from(records, sheet=sheet) == 3
        assert study._journal.ledger.imports[0].outcomes[0].tolist() == [0.0, 0.0, 0.0]
        assert study.learn_from(columns) == 0
        *_, event = study.events()
        named = isinstance(records, Path)
        assert event.data["source"] == (
            records.name if named else "the file" if hasattr(records, "read") else "records"
        )


def test_the_same_content_in_another_file_adds_nothing(tmp_path: Path) -> None:
    study = make()
    assert study.learn_from(write(tmp_path / "past.csv", PAST)) == 3
    assert study.learn_from(write(tmp_path / "again.parquet", PAST)) == 0


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_table_that_comes_back_is_recognised_row_by_row(tmp_path: Path, ending: str) -> None:
    study, path = make(), tmp_path / f"past{ending}"
    more = [*PAST, PAST[0], {"visual": "rusty", "weight": "heavy", "ultrasonic": "crack"}]
    for rows, added, recognised in (
        (PAST, 3, 0),
        (PAST[::-1], 0, 3),
        (more, 2, 3),
        (more[::-1], 0, 5),
        (PAST, 0, 3),  # as it was before
    ):
        learned = study.learn_from(write(path, rows))
        assert (learned, learned.recognised) == (added, recognised)
    assert study.summary().imported == 5
    *_, event = study.events()
    assert (event.data["rows"], event.data["counts"]) == (
        [["clean", "light", "ok"], ["rusty", "heavy", "crack"]],
        [1, 1],
    )
    assert study.replay().differences == ()
    study.restart(reason="new supplier")
    assert study.learn_from(write(path, more)) == 5


def test_other_subjects_come_under_another_name(tmp_path: Path) -> None:
    study, path = make(), tmp_path / "past.csv"
    study.learn_from(write(path, PAST))
    before = study.verify()
    other = [PAST[0], PAST[0], PAST[0]]  # some of the rows, and not all
    with pytest.raises(StudyError, match=r"2 of its 3 rows are among the 3 .* 1 are missing now.*give another source"):
        study.learn_from(write(path, other))
    assert study.verify() == before
    assert study.learn_from(path, source="June") == 3
    assert study.learn_from(path, key="once more") == 3
    assert study.learn_from(path, key="once more") == 0


def test_a_table_is_compared_anew_if_others_import_meanwhile(tmp_path: Path) -> None:
    study, path = make(), write(tmp_path / "past.csv", PAST)
    longer = write(tmp_path / "longer.csv", [*PAST, PAST[1]])
    other = Study.open("bolts", store=study.store, station="B", clock=Clock(), replan="never")
    catch_up, others = study._journal.catch_up, iter([path])

    def catch_up_and_be_overtaken() -> None:
        catch_up()
        for table in others:
            other.learn_from(table, source="past")

    study._journal.catch_up = catch_up_and_be_overtaken  # type: ignore[method-assign]
    learned = study.learn_from(longer, source="past")
    assert (learned, learned.recognised) == (1, 3)


def test_the_name_of_a_table_is_short_and_printable(tmp_path: Path) -> None:
    study = make()
    study.learn_from(write(tmp_path / "past\x1b[2J.csv", PAST))
    *_, event = study.events()
    assert event.data["source"] == r"past\x1b[2J.csv"
    for source in ("x" * 201, "a\nb", ""):
        with pytest.raises(StudyError, match="the source is"):
            study.learn_from(tmp_path / "past\x1b[2J.csv", source=source)


def test_columns_may_stand_in_another_order(tmp_path: Path) -> None:
    study = make()
    turned = [dict(reversed(row.items())) for row in PAST]
    assert study.learn_from(write(tmp_path / "past.parquet", turned)) == 3
    assert study._journal.ledger.imports[0].outcomes[0].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("name", "rows", "message"),
    [
        ("past.parquet", [{"visual": "clean"}], "missing columns \\['weight', 'ultrasonic'\\]"),
        ("past.parquet", [{**PAST[0], "weight": "huge"}], "row 1, column 'weight'.*'huge'"),
        ("past.parquet", [dict.fromkeys(PAST[0], None)], "every entry is missing"),
        ("past.csv", [{**PAST[0], "weight": "huge"}], "column 'weight'.*'huge'"),
    ],
)
def test_tables_that_cannot_be_read(tmp_path: Path, name: str, rows: list[dict[str, Any]], message: str) -> None:
    study = make()
    with pytest.raises(TableError, match=message):
        study.learn_from(write(tmp_path / name, rows))
    assert study.verify().length == 1


def test_a_file_that_is_no_table_and_one_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "past.parquet").write_text("no table")
    for name in ("past.parquet", "missing.parquet", "missing.csv"):
        with pytest.raises(TableError, match="cannot be read"):
            make().learn_from(tmp_path / name)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_the_table_of_subjects_goes_out(tmp_path: Path, ending: str) -> None:
    crowd = Crowd(gout(), "test-everything", np.random.default_rng(3))
    crowd.run(60)
    study = crowd.studies[0]
    path = tmp_path / f"table{ending}"
    study.write_table(path)
    expected = study.table()
    if ending == ".parquet":
        assert parquet.read_table(path).to_pylist() == expected
    else:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert rows == [{name: "" if cell is None else str(cell) for name, cell in row.items()} for row in expected]
    first = study.subject(expected[0]["subject"])
    assert {name: expected[0][name] for name in first.known} == dict(first.known)
    assert expected[0]["decision"] == first.decision
    assert expected[0]["cost"] == first.spent
    assert expected[0]["tests"] == len(first.ran)


def test_a_test_called_like_a_column() -> None:
    problem = Problem([Test("cost", 1.0)], ["x"], Table(["cost"], [[1.0], [0.0]]), name="odd")
    study = Study.create(problem, agent="test-everything", store=MemoryStore(), clock=Clock())
    study.tell(study.arrive(), "cost", "1")
    [row] = study.table()
    assert (row["cost"], row["study cost"]) == ("1", 1.0)


def test_an_empty_table(tmp_path: Path) -> None:
    study = make()
    assert study.table() == []
    for ending in (".csv", ".parquet"):
        study.write_table(tmp_path / f"empty{ending}")
        assert (tmp_path / f"empty{ending}").exists()


def test_no_cell_of_an_exported_table_begins_a_formula(tmp_path: Path) -> None:
    names = ['=HYPERLINK("http://a";"b")', "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)"]
    problem = Problem(
        [Test("=visual", 0.1, outcomes=("=clean", "-"))],
        ["+pass", "fail"],
        Table(["=visual"], [[1, 0], [0, 1]]),
        name="odd",
    )
    with Study.create(problem, agent="test-everything", store="memory:", station="=line 1") as study:
        for name in names:
            study.arrive(subject=name)
            study.tell(name, "=visual", "=clean")
            study.decide(name, "+pass")
        study.arrive(subject="last")
        study.tell("last", "=visual", "-")
        study.write_table(tmp_path / "subjects.csv")
        table = study.table()
    with (tmp_path / "subjects.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["subject"] for row in rows] == [*("'" + name for name in names), "last"]
    assert [row["'=visual"] for row in rows] == ["'=clean"] * 4 + ["-"]
    assert [row["decision"] for row in rows] == ["'+pass"] * 4 + [""]
    assert {row["station"] for row in rows} == {"'=line 1"}
    assert [float(row["cost"]) for row in rows] == [row["cost"] for row in table]
    assert [int(row["number"]) for row in rows] == [1, 2, 3, 4, 5]


def test_names_that_were_kept_from_acting_are_read_back(tmp_path: Path) -> None:
    problem = Problem(
        [Test("=visual", 0.1, outcomes=("=clean", "@x"))], ["a", "b"], Table(["=visual"], [[1, 0], [0, 1]])
    )
    (tmp_path / "past.csv").write_text("'=visual\n'=clean\n'@x\n@x\n")
    with Study.create(problem, name="odd", agent="greedy", store="memory:") as study:
        assert study.learn_from(tmp_path / "past.csv") == 3
        assert study._journal.ledger.imports[0].counts.tolist() == [1, 2]
