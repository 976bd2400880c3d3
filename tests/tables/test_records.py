from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proband import Discrete, Problem, Records, Test
from proband.errors import DistributionError, TableError
from proband.rewards import Match
from proband.tables import read_distribution, read_records, write_table
from proband.texts import escaped

NAN = float("nan")
TESTS = [Test("length", 1.0, outcomes=("short", "long")), Test("visual", 0.1, outcomes=("clean", "rusty", "none"))]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return tmp_path / "table.csv"


def same(records: Records, rows: list[list[float]]) -> bool:
    return np.array_equal(records.outcomes, np.array(rows), equal_nan=True)


GOOD: dict[str, bytes] = {
    "plain": b"length,visual\nshort,rusty\nlong,\n",
    "columns in another order": b"visual,length\nrusty,short\n,long\n",
    "no newline at the end": b"length,visual\nshort,rusty\nlong,",
    "semicolons": b"length;visual\nshort;rusty\nlong;\n",
    "tabs": b"length\tvisual\nshort\trusty\nlong\t\n",
    "byte order mark": b"\xef\xbb\xbflength,visual\nshort,rusty\nlong,\n",
    "Windows lines": b"length,visual\r\nshort,rusty\r\nlong,\r\n",
    "old Macintosh lines": b"length,visual\rshort,rusty\rlong,\r",
    "quotes": b'"length","visual"\n"short","rusty"\n"long",""\n',
    "spaces around": b" length , visual \n short , rusty \n long , \n",
    "blank lines between and after": b"length,visual\n\nshort,rusty\n\n\nlong,\n\n",
    "blank lines before": b"\n\nlength,visual\nshort,rusty\nlong,\n",
    "NA": b"length,visual\nshort,rusty\nlong,NA\n",
    "nan": b"length,visual\nshort,rusty\nlong,nan\n",
    "n/a": b"length,visual\nshort,rusty\nlong,N/A\n",
    "null": b"length,visual\nshort,rusty\nlong,NULL\n",
}


@pytest.mark.parametrize("kind", GOOD)
def test_records_of_many_kinds(kind: str, table: Path) -> None:
    table.write_bytes(GOOD[kind])
    assert same(read_records(table, TESTS), [[0, 1], [1, NAN]])


def test_an_outcome_called_none_is_an_outcome(table: Path) -> None:
    table.write_text("length,visual\nshort,none\nnone,rusty\n")
    assert same(read_records(table, TESTS), [[0, 2], [NAN, 1]])


def test_quoted_separators_are_no_separators(table: Path) -> None:
    tests = [Test("a, b", outcomes=("x, y", 'say "z"')), Test("c")]
    table.write_text('"a, b",c\n"x, y",0\n"say ""z""",1\n')
    assert same(read_records(table, tests), [[0, 0], [1, 1]])


BAD: dict[str, tuple[bytes, tuple[str, ...]]] = {
    "empty": (b"", ("it is empty", "fill it")),
    "blank": (b" \n\t\n", ("it is empty",)),
    "a byte order mark alone": (b"\xef\xbb\xbf", ("it is empty",)),
    "header only": (b"length,visual\n", ("a header and no rows", "add them")),
    "header and blank lines": (b"length,visual\n\n\n", ("a header and no rows",)),
    "unknown column": (b"length,visual,age\nshort,rusty,3\n", ("unknown columns ['age']", "['length', 'visual']")),
    "missing column": (b"length\nshort\n", ("missing columns ['visual']", "empty where never run")),
    "unknown and missing": (
        b"lenght,visual\nshort,rusty\n",
        ("unknown columns ['lenght'] and missing columns", "did you mean 'length' by 'lenght'? rename"),
    ),
    "other capitals": (b"LENGTH,visual\nshort,rusty\n", ("did you mean 'length' by 'LENGTH'? rename",)),
    "a header of merged cells": (
        b"length,visual,,\nshort,rusty,1,2\n",
        ("columns [''] appear more than once", "name them, and where a row of merged cells stands above the names"),
    ),
    "a number of a subject": (
        b",length,visual\n0,short,rusty\n",
        ("unknown columns ['']", "'' is a column with entries and without a name; rename"),
    ),
    "repeated column": (b"length,visual,length\nshort,rusty,long\n", ("['length'] appear more than once", "drop one")),
    "another separator": (b"length|visual\nshort|rusty\n", ("unknown columns ['length|visual']",)),
    "unknown outcome": (
        b"length,visual\nshort,rusty\nshort,dirty\n",
        ("line 3, column 'visual'", "'dirty' is unknown", "clean, rusty, none", "correct the table or the problem"),
    ),
    "outcome in capitals": (
        b"length,visual\nSHORT,rusty\n",
        ("line 2, column 'length'", "'SHORT' is unknown", "did you mean 'short'?"),
    ),
    "a misspelt outcome": (b"length,visual\nshort,rutsy\n", ("line 2, column 'visual'", "did you mean 'rusty'?")),
    "number for an outcome": (b"length,visual\n0,1\n", ("line 2, column 'length'", "'0' is unknown")),
    "unknown outcome after blank lines": (b"length,visual\n\n\nshort,dirty\n", ("line 4, column 'visual'",)),
    "too few entries": (b"length,visual\nshort,rusty\nshort\n", ("line 3", "it has 1 entry;", "the header has 2")),
    "too many entries": (b"length,visual\nshort,rusty,clean\n", ("line 2", "3 entries", "the header has 2")),
    "missing everywhere": (b"length,visual\n,NA\nnan,\n", ("every entry is missing", "fill the table")),
    "another encoding": (
        b"length,visual\nk\xfcrz,rusty\n",
        ("line 2, column 'length'", "'kürz' is unknown", "was read as Windows-1252", "save it as UTF-8 if letters"),
    ),
    "UTF-16 cut off": ("length,visual\nshort,rusty\n".encode("utf-16")[:-1], ("damaged UTF-16", "save it again")),
    "a quote left open": (
        b'length,visual\nlong,rusty\n"short,rusty\nlong,none\n',
        ("lines 3 to 4: it has 1 entry", "close the quotation mark that is opened there"),
    ),
    "a quote left open on the last line": (b'length,visual\n"short,rusty\n', ("line 2: it has 1 entry", "close the")),
    "an entry of megabytes": (b'length,visual\n"' + b"x" * 200_000 + b'",rusty\n', ("cannot be read as a table",)),
    "null characters": (b"length,visual\nsho\x00rt,rusty\n", ("line 2, column 'length'", "is unknown")),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_records(kind: str, table: Path) -> None:
    content, fragments = BAD[kind]
    table.write_bytes(content)
    with pytest.raises(TableError) as caught:
        read_records(table, TESTS)
    message = str(caught.value)
    assert message.startswith(f"{table}: ")
    for fragment in fragments:
        assert fragment in message


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"nowhere.csv: it cannot be read \(No such file.*check the path"):
        read_records(tmp_path / "nowhere.csv", TESTS)
    with pytest.raises(TableError, match="cannot be read"):
        read_records(tmp_path, TESTS)


PROBLEM = Problem(TESTS, reward=Match())


def test_a_distribution(table: Path) -> None:
    table.write_text("probability,length,visual\n0.25,short,rusty\n0.5,long,none\n0.25,short,rusty\n")
    law = Discrete.load(table, PROBLEM)
    assert law.support.tolist() == [[0, 1], [1, 2]]
    assert law.probabilities.tolist() == [0.5, 0.5]


BAD_DISTRIBUTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "no probabilities": ("length,visual\nshort,rusty\n", ("missing columns ['probability']",)),
    "a gap": ("length,visual,probability\nshort,,1\n", ("line 2, column 'visual'", "it is empty", "fill it in")),
    "a gap after blank lines": ("length,visual,probability\n\nshort,,1\n", ("line 3, column 'visual'",)),
    "no number": (
        "length,visual,probability\nshort,rusty,half\n",
        ("line 2, column 'probability'", "'half' is no number", "give a probability"),
    ),
    "no number after blank lines": (
        "length,visual,probability\nshort,rusty,1\n\n\nshort,clean,half\n",
        ("line 5, column 'probability'",),
    ),
    "empty number": ("length,visual,probability\nshort,rusty,\n", ("'' is no number",)),
    "sum below one": (
        "length,visual,probability\nshort,rusty,0.5\nlong,rusty,0.4\n",
        ("sum to 0.9", "must sum to one", "divide them by their sum"),
    ),
    "sum above one": ("length,visual,probability\nshort,rusty,0.5\nlong,rusty,0.6\n", ("sum to 1.1",)),
    "negative": (
        "length,visual,probability\nshort,rusty,1.5\nlong,rusty,-0.5\n",
        ("a probability is -0.5", "0 or more", "correct it"),
    ),
    "NaN": ("length,visual,probability\nshort,rusty,1\nlong,rusty,nan\n", ("a probability is nan", "finite")),
    "infinite": (
        "length,visual,probability\nshort,rusty,inf\n",
        ("line 2, column 'probability': it is infinite; give a finite",),
    ),
    "all zero": ("length,visual,probability\nshort,rusty,0\n", ("every probability is zero",)),
    "empty": ("", ("it is empty",)),
    "header only": ("length,visual,probability\n", ("a header and no rows",)),
}


@pytest.mark.parametrize("kind", BAD_DISTRIBUTIONS)
def test_bad_distributions(kind: str, table: Path) -> None:
    content, fragments = BAD_DISTRIBUTIONS[kind]
    table.write_text(content)
    with pytest.raises((TableError, DistributionError)) as caught:
        Discrete.load(table, PROBLEM)
    message = str(caught.value)
    assert message.startswith(f"{table}: ")
    for fragment in fragments:
        assert fragment in message


ODD = ["a;b;c", "quote\"d'", "ünï 大", " spaced ", "=1+1", "'=1+1", "-", "+1", " =1", "@SUM(A1)", "'", "＝1"]


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_odd_names_round_trip(name: str, d: int, table: Path) -> None:
    tests = [Test(f"{name}{'~' * i}", outcomes=(f"{name}0", f"{name}1")) for i in range(d)]
    rows = np.array([[0.0, 1.0, NAN], [NAN, 0.0, 1.0], [1.0, 1.0, 0.0]])[:, :d]
    write_table(table, tests, rows)
    assert np.array_equal(read_records(table, tests).outcomes, rows, equal_nan=True)


def test_no_cell_of_text_begins_a_formula_and_numbers_stay_numbers(table: Path) -> None:
    names = ["=cmd|' /C calc'!A0", "'=both", "=both", "+1+1", "-2+3", "@SUM(1)", "ok", "-", "-1.5"]
    write_table(table, [Test("=1+1", outcomes=names)], np.arange(9.0)[:, None], np.array([*[0.1] * 8, 0.2]))
    header, *cells = csv.reader(table.read_text().splitlines())
    assert header == ["'=1+1", "probability"]
    assert [cell for cell, _ in cells] == [*("'" + name for name in names[:6]), "ok", "-", "-1.5"]
    assert read_distribution(table, [Test("=1+1", outcomes=names)])[0].ravel().tolist() == list(range(9))
    write_table(table, [Test("length", outcomes=None)], np.array([[-1.5]]))
    assert table.read_text() == "length\n-1.5\n"


def test_a_table_of_another_program_may_have_names_as_they_are(table: Path) -> None:
    table.write_text("=a,b\n+x,\n'+x,1\n")
    assert same(read_records(table, [Test("=a", outcomes=("+x", "ok")), Test("b")]), [[0, NAN], [0, 1]])


def test_a_test_called_probability_has_no_room_in_a_distribution(table: Path) -> None:
    tests = [Test("probability", 1.0), Test("b", 1.0)]
    problem = Problem(tests, reward=Match())
    write_table(table, tests, np.zeros((1, 2)))
    assert same(read_records(table, tests), [[0, 0]])
    with pytest.raises(TableError, match="a test is called 'probability'"):
        Discrete([[0, 0]], [1.0]).save(table, problem)
    with pytest.raises(TableError, match="a test is called 'probability'"):
        Discrete.load(table, problem)


TEXTS = st.text(st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"]), min_size=1, max_size=6).filter(
    lambda text: text.strip() and escaped(text) == text
)


@example(["{"], ["0", "00"])
@example(["[{]"], ["{", "}"])
@given(st.lists(TEXTS, min_size=1, max_size=3, unique=True), st.lists(TEXTS, min_size=2, max_size=3, unique=True))
def test_any_names_round_trip(tmp_path_factory: pytest.TempPathFactory, names: list[str], outcomes: list[str]) -> None:
    table = tmp_path_factory.mktemp("tables") / "table.csv"
    tests = [Test(name, outcomes=outcomes) for name in names]
    rows = np.arange(2 * len(names)).reshape(2, -1) % len(outcomes)
    write_table(table, tests, rows.astype(np.float64))
    assert read_records(table, tests).outcomes.tolist() == rows.tolist()


def test_a_law_round_trips(table: Path, rng: np.random.Generator) -> None:
    law = Discrete.from_weights([[a, b] for a in range(2) for b in range(3)], rng.exponential(size=6))
    law.save(table, PROBLEM)
    again = Discrete.load(table, PROBLEM)
    assert np.array_equal(again.support, law.support)
    assert np.allclose(again.probabilities, law.probabilities, rtol=1e-15, atol=0)
    rows, probabilities = read_distribution(table, TESTS)
    assert np.array_equal(rows, law.support)
    assert np.array_equal(probabilities, law.probabilities)
