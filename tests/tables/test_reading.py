"""A table is the same one in every format, and is told apart by its content."""

from __future__ import annotations

import datetime as dt
import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.tables.formats import FORMATS, delimited, in_parquet, workbook

from proband import Problem, Test
from proband.errors import MissingExtraError, TableError
from proband.rewards import Match
from proband.tables import read_header, read_records

NAN = float("nan")
HEADER = ["id", "Härte [HRC]", "visual", "grade", "Datum"]
ROWS: list[list[Any]] = [
    ["a1", 59.5, "clean", 1, "2024-03-01"],
    ["a2", 60.0, "rusty", 2, "2024-03-02"],
    ["a3", 1234.25, "clean", 1, "2024-03-03"],
    ["a4", None, "n/a", 2, "2024-03-04"],
    ["a5", 74.75, None, 1, "2024-03-05"],
]
TESTS = [
    Test("visual", 0.1, outcomes=("clean", "rusty")),
    Test("Härte [HRC]", 1.0, cuts=[60, 75], unit="HRC"),
    Test("grade", 0.2, outcomes=("1", "2")),
]
PROBLEM = Problem(TESTS, reward=Match(), ignore=["id", "Datum"])
EXPECTED = [[0, 0, 0], [1, 1, 1], [0, 2, 0], [NAN, NAN, 1], [NAN, 1, 0]]


def same(outcomes: Any) -> bool:
    return np.array_equal(outcomes, np.array(EXPECTED), equal_nan=True)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_the_same_table(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(FORMATS[name](HEADER, ROWS))
    assert same(PROBLEM.records(path).outcomes)
    assert read_header(path) == HEADER


@pytest.mark.parametrize("name", FORMATS)
def test_an_open_file_is_read_alike(name: str) -> None:
    assert same(PROBLEM.records(io.BytesIO(FORMATS[name](HEADER, ROWS))).outcomes)


def columns() -> dict[str, list[Any]]:
    return {name: [row[i] for row in ROWS] for i, name in enumerate(HEADER)}


class Stream:
    """Something that offers itself as an Arrow stream, and in no other way."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


class Interchange:
    """Something that offers itself by the dataframe interchange, and in no other way."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> object:
        return self._table.__dataframe__(nan_as_null, allow_copy)


FRAMES = {
    "dictionary": columns,
    "pandas": lambda: pd.DataFrame(columns()),
    "pandas with its own types": lambda: pd.DataFrame(columns()).convert_dtypes(),
    "pandas with categories": lambda: pd.DataFrame(columns()).astype({"visual": "category"}),
    "pandas with dates": lambda: pd.DataFrame(columns()).assign(Datum=lambda f: pd.to_datetime(f["Datum"])),
    "polars": lambda: pl.DataFrame(columns()),
    "an Arrow table": lambda: pa.table(columns()),
    "an Arrow batch": lambda: pa.RecordBatch.from_pydict(columns()),
    "an Arrow reader": lambda: pa.table(columns()).to_reader(),
    "an Arrow stream": lambda: Stream(pa.table(columns())),
    "the dataframe interchange": lambda: Interchange(pa.table(columns())),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_by_the_names_of_their_columns(kind: str) -> None:
    assert same(PROBLEM.records(FRAMES[kind]()).outcomes)


def test_neither_pandas_nor_pyarrow_is_imported_for_a_dictionary(tmp_path: Path) -> None:
    code = (
        "import sys, proband; from proband.rewards import Match\n"
        "problem = proband.Problem([proband.Test('a', cuts=[2])], reward=Match())\n"
        "open('t.csv', 'w').write('a\\n1\\n3\\n')\n"
        "problem.records({'a': [1, 3]}); problem.records('t.csv')\n"
        "print({'pandas', 'polars', 'pyarrow', 'openpyxl'} & set(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_what_needs_pyarrow_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, content = Stream(pa.table(columns())), in_parquet(HEADER, ROWS)
    frame = pd.DataFrame(columns())
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(
        MissingExtraError, match=r"a Stream is read by pyarrow; install proband\[tables\], or give a dict"
    ):
        PROBLEM.records(stream)
    with pytest.raises(MissingExtraError, match=r"Parquet needs pyarrow; install proband\[tables\], or use CSV"):
        PROBLEM.records(io.BytesIO(content))
    assert same(PROBLEM.records(frame).outcomes)
    assert same(PROBLEM.records(pl.DataFrame(columns())).outcomes)


BAD: dict[str, tuple[Any, str]] = {
    "an old workbook": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "an old .xls workbook.*save it as .xlsx"),
    "gzip": (b"\x1f\x8b\x08\x00" + bytes(20), "compressed by gzip.*unpack it first"),
    "a page that is called .xls": (b"\xef\xbb\xbf\n<TABLE><tr><td>1</table>", "it is a web page"),
    "a database": (b"SQLite format 3\0" + bytes(20), "it is a database.*export the table"),
    "a PDF document": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", "it is a PDF document"),
    "a web page": (b"<html><table></table></html>", "it is a web page.*save it as .xlsx"),
    "a picture": (
        b"\x89PNG\r\n\x1a\n" + bytes(8),
        "it is no text .it has bytes that are zero.; tables are CSV, .xlsx or",
    ),
    "a policy file": (
        b'{\n "format": "proband policy"}',
        "it is JSON; tables are CSV, .xlsx or Parquet; save the table",
    ),
    "an Arrow file": (b"ARROW1\0\0" + bytes(20), "it is an Arrow file.*save it as Parquet"),
    "a zip archive": (b"PK\x05\x06" + bytes(18), "a zip archive and no Excel workbook"),
    "a damaged archive": (b"PK\x03\x04" + bytes(40), "cannot be read as a workbook.*save it again"),
    "damaged Parquet": (b"PAR1" + bytes(40), "cannot be read as Parquet.*save it again"),
    "text in place of bytes": (io.StringIO("a\n1\n"), "gives str and not bytes; open it in binary mode"),
    "a number": (7, "the table is a int; it must be a path"),
    "a lazy frame": (pl.LazyFrame({"visual": ["clean"]}), "collect or convert it"),
    "columns of different lengths": ({"visual": ["clean"], "grade": [1, 2]}, "1 to 2 entries.*equally long"),
    "an entry in place of a column": ({"visual": ["clean"], "grade": 1}, "its column 'grade' is 1; it needs an entry"),
    "a text in place of a column": ({"visual": "clean"}, "its column 'visual' is 'clean'; it needs an entry"),
    "no rows": (pd.DataFrame({"visual": []}), "it has no rows"),
    "no columns": ({}, "it has no rows"),
    "repeated columns": (pd.DataFrame([[1, 2]], columns=["visual", "visual"]), "names must differ"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_table_is_told_with_the_remedy(kind: str) -> None:
    given, message = BAD[kind]
    with pytest.raises(TableError, match=message):
        PROBLEM.records(io.BytesIO(given) if isinstance(given, bytes) else given)


@pytest.mark.parametrize("name", ["PK", "PAR1", "ARROW1 length", "SQLite format 3", "id"])
def test_a_text_may_begin_like_another_format(name: str) -> None:
    problem = Problem(
        [Test(name, outcomes=None), Test("b", outcomes=None)], reward=lambda x, y: x[:, 0], decisions=["y"]
    )
    assert problem.records(io.BytesIO(f"{name},b\n1,2\n".encode())).outcomes.tolist() == [[1, 2]]


def test_a_sheet_is_asked_of_a_workbook_alone(tmp_path: Path) -> None:
    for content in (delimited(HEADER, ROWS).encode(), in_parquet(HEADER, ROWS)):
        with pytest.raises(TableError, match=r"it has no sheets, and 'past' is asked for.*leave it out"):
            PROBLEM.records(io.BytesIO(content), sheet="past")
    with pytest.raises(TableError, match="it has no sheets"):
        PROBLEM.records(columns(), sheet="past")


def test_sheets_are_told_apart_by_name() -> None:
    other = [[*row[:2], "rusty", *row[3:]] for row in ROWS]
    book = workbook({"2022": (HEADER, other), "2023": (HEADER, ROWS), "empty": ([], [])})
    assert same(PROBLEM.records(io.BytesIO(book), sheet="2023").outcomes)
    assert PROBLEM.records(io.BytesIO(book), sheet="2022").outcomes[0, 0] == 1
    with pytest.raises(TableError, match=r"it has the sheets \['2022', '2023'\].*--sheet NAME, or sheet= in Python"):
        PROBLEM.records(io.BytesIO(book))
    with pytest.raises(TableError, match=r"no sheet '2024'; its sheets are \['2022', '2023', 'empty'\]; name one"):
        PROBLEM.records(io.BytesIO(book), sheet="2024")
    with pytest.raises(TableError, match="it is empty"):
        PROBLEM.records(io.BytesIO(book), sheet="empty")
    assert same(PROBLEM.records(io.BytesIO(workbook({"past": (HEADER, ROWS), "empty": ([], [])}))).outcomes)


def test_blank_columns_and_rows_at_the_end_are_no_subjects() -> None:
    text = delimited([*HEADER, "", ""], [[*row, None, None] for row in ROWS] + [[None] * 7] * 3, mark=";")
    assert same(PROBLEM.records(io.BytesIO(text.encode())).outcomes)
    with pytest.raises(TableError, match=r"unknown columns \[''\]"):
        PROBLEM.records(io.BytesIO(delimited(["", *HEADER], [[n, *row] for n, row in enumerate(ROWS)]).encode()))
    indexed = Problem(TESTS, reward=Match(), ignore=["", "id", "Datum"])
    text = delimited(["", *HEADER], [[n, *row] for n, row in enumerate(ROWS)])
    assert same(indexed.records(io.BytesIO(text.encode())).outcomes)


def test_titles_above_the_header_are_left_aside_and_said(tmp_path: Path) -> None:
    above = [["Castings, spring 2024"], [], ["as of 1 May"]]
    book = workbook({"past": (above[0], [*above[1:], HEADER, *ROWS])})
    padded = [[*row, *[None] * (5 - len(row))] for row in above]
    text = delimited(padded[0], [*padded[1:], HEADER, *ROWS], mark=";", decimal=",")
    bare = "Castings, spring 2024\n\nas of 1 May\n" + delimited(HEADER, ROWS, mark=";", decimal=",")
    for content, place in ((book, "rows 1 to 3"), (text.encode(), "lines 1 to 3"), (bare.encode(), "lines 1 to 3")):
        assert same(PROBLEM.records(io.BytesIO(content)).outcomes)
        (tmp_path / "t").write_bytes(content)
        assert read_header(tmp_path / "t") == HEADER
        with pytest.raises(TableError, match=f"unknown columns.*{place} above the header were taken for a title"):
            Problem(TESTS, reward=Match()).records(io.BytesIO(content))


def test_names_of_columns_may_be_broken_into_lines() -> None:
    header = ["id", "Härte\n[HRC]", " visual ", "grade", "Datum"]
    assert same(PROBLEM.records(io.BytesIO(workbook({"past": (header, ROWS)}))).outcomes)


CELLS: list[tuple[Test, Any, float | str]] = [
    (Test("a", cuts=[60, 75]), "60", 1),
    (Test("a", cuts=[60, 75]), 75.0, 2),
    (Test("a", cuts=[60, 75]), "60 to 75", 1),
    (Test("a", cuts=[60, 75]), "<5", 0),
    (Test("a", cuts=[60, 75]), "≥ 80", 2),
    (Test("a", cuts=[60, 75]), "-1e3", 0),
    (Test("a", cuts=[60, 75]), "'-5", 0),
    (Test("a", cuts=[60, 75], unit="HRC"), "63.2 HRC", 1),
    (Test("a", cuts=[60, 75]), "< 70", "'< 70' may be on either side of the cut 60; give the number"),
    (Test("a", cuts=[60, 75]), "soft", "'soft' is no number; give a number, or one of < 60, 60 to 75, >= 75"),
    (Test("a", cuts=[60, 75]), "1,234", "'1,234' may mean 1.234 or 1234; write it without a mark for thousands"),
    (Test("a", cuts=[60, 75]), "#DIV/0!", "'#DIV/0!' is an error of the spreadsheet; correct its formula, or empty"),
    (Test("a", cuts=[60, 75]), "=B2*2", "'=B2*2' is a formula whose value is not in the file; open and save it"),
    (Test("a", cuts=[60, 75]), dt.date(2024, 3, 1), "'2024-03-01' is a date, into which spreadsheets turn numbers"),
    (Test("a", cuts=[60, 75]), True, "'true' is no number; give a number"),
    (Test("a", cuts=[60, 75]), "#N/A", NAN),
    (Test("a", cuts=[60], outcomes=["soft", "hard"]), "hard", 1),
    (Test("a", cuts=[60], outcomes=["soft", "hard"]), 59.9, 0),
    (Test("a", outcomes=["ok", "bad"]), "OK", ("the outcome 'OK' is unknown; outcomes are ok, bad (empty when "
     "not run); did you mean 'ok'? correct the table or the problem")),
    (Test("a", outcomes=["ok", "bad"]), 63.2, ("the outcome '63.2' is unknown; outcomes are ok, bad (empty when not "
     "run); numbers become outcomes by cuts = [..] in the problem file; correct the table or the problem")),
    (Test("a", outcomes=["ok", "bad"]), "#REF!", "'#REF!' is an error of the spreadsheet"),
    (Test("a", outcomes=["0", "1"]), "1.0", 1),
    (Test("a", outcomes=["0", "1"]), 1.0, 1),
    (Test("a", outcomes=["0", "1"]), True, 1),
    (Test("a", outcomes=["no", "yes"]), False, 0),
    (Test("a", outcomes=["FALSE", "TRUE"]), True, 1),
    (Test("a", outcomes=["007", "7"]), "007", 0),
    (Test("a", outcomes=["2024-03-01", "never"]), dt.date(2024, 3, 1), 0),
    (Test("a", outcomes=None, unit="mm"), "12,5 mm", 12.5),
    (Test("a", outcomes=None), 7, 7),
    (Test("a", outcomes=None), "7 apples", "'7 apples' is no number; give a measurement"),
    (Test("a", outcomes=None), "1e999", "'1e999' is too large for a number; give a measurement"),
    (Test("a", outcomes=None), "-inf", "it is infinite; give a finite measurement"),
    (Test("a", outcomes=None), float("inf"), "it is infinite; give a finite measurement"),
]  # fmt: skip


@pytest.mark.parametrize(("test", "cell", "expected"), CELLS, ids=lambda value: ascii(value)[:30])
def test_what_a_cell_means_or_why_not(test: Test, cell: Any, expected: float | str) -> None:
    given = {"a": [cell, cell], "b": ["0", "1"]}
    tests = [test, Test("b", outcomes=None if test.measured else ("0", "1"))]
    if isinstance(expected, str):
        with pytest.raises(TableError) as caught:
            read_records(given, tests)
        assert f"row 1, column 'a': {expected}" in str(caught.value)
    else:
        assert np.array_equal(read_records(given, tests).outcomes[:, 0], [expected] * 2, equal_nan=True)


DECIMALS: list[tuple[str, list[float] | str]] = [
    ("a;b\n1,5;1\n1,234;1\n", [1.5, 1.234]),
    ("a;b\n1,234;1\n2,345;1\n", [1.234, 2.345]),
    ("a;b\n1.5;1\n1.234;1\n", [1.5, 1.234]),
    ("a;b\n1.234,5;1\n1.234;1\n", [1234.5, 1234.0]),
    ('a,b\n"1,234.5",1\n"1,234",1\n', [1234.5, 1234.0]),
    ('a,b\n"1,234",1\n"2,345",1\n', "line 2, column 'a': '1,234' may mean 1.234 or 1234"),
    ("a\tb\n1 234,5\t1\n12'345.5\t1\n", [1234.5, 12345.5]),
    ("a;b\n1.234;1,5\n7;1\n", "line 2, column 'a': '1.234' may mean 1.234 or 1234"),
    ("a;b\n1,5;1\n2.5;1\n", [1.5, 2.5]),
    ("a,b\n1.234,1\n2,1\n", [1.234, 2.0]),
]


@pytest.mark.parametrize(("text", "expected"), DECIMALS, ids=lambda value: ascii(value)[:30])
def test_decimal_marks_are_decided_by_the_column_then_by_the_table(text: str, expected: list[float] | str) -> None:
    tests = [Test("a", outcomes=None), Test("b", outcomes=None)]
    if isinstance(expected, str):
        with pytest.raises(TableError, match=expected):
            read_records(io.BytesIO(text.encode()), tests)
    else:
        assert read_records(io.BytesIO(text.encode()), tests).outcomes[:, 0].tolist() == expected


def test_all_bad_cells_are_told_at_once() -> None:
    rows = [[f"s{n}", "soft" if n % 2 else 61.5, "dirty" if n % 3 == 0 else "clean", 1, ""] for n in range(21)]
    with pytest.raises(TableError) as caught:
        PROBLEM.records(io.BytesIO(delimited(HEADER, rows).encode()))
    first, *lines = str(caught.value).splitlines()
    assert first == "the file: 17 cells cannot be read:"
    assert [line.split(":")[0].strip() for line in lines] == [
        "line 2, column 'visual'", "line 3, column 'Härte [HRC]'", "line 5, column 'Härte [HRC]'",
        "line 5, column 'visual'", "line 7, column 'Härte [HRC]'", "line 8, column 'visual'",
        "line 9, column 'Härte [HRC]'", "line 11, column 'Härte [HRC]'", "line 11, column 'visual'",
        "line 13, column 'Härte [HRC]'", "and 7 more",
    ]  # fmt: skip
    assert all("correct the table or the problem" in line or "give a number" in line for line in lines[:-1])


def test_all_lines_of_a_wrong_length_are_told_at_once() -> None:
    text = delimited(HEADER, [row[: 5 - n % 2] for n, row in enumerate(ROWS * 6)])
    with pytest.raises(TableError) as caught:
        PROBLEM.records(io.BytesIO(text.encode()))
    first, *lines = str(caught.value).splitlines()
    assert first == "the file: 15 lines cannot be read:"
    assert lines[0].startswith("  line 3: it has 4 entries; the header has 5; give each column an entry")
    assert lines[-1] == "  and 5 more"
    assert len(lines) == 11
