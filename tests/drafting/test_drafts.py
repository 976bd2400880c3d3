"""Drafts: what each kind of column becomes, which doubts are told; a filled-in draft reads its own table."""

from __future__ import annotations

import datetime as dt
import io
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables.formats import FORMATS, delimited

from proband import Problem, draft
from proband.drafting import Draft
from proband.drafting.friendly import friendly_cuts, roundest
from proband.errors import ProblemFileError, TableError
from proband.texts import escaped

N = 120
HEADER = ["Nr", "Datum", "Härte [HRC]", "visual", "grade", "furnace", "empty", "remark", "quality"]


def rows(n: int = N) -> list[list[Any]]:
    rng = np.random.default_rng(5)
    bad = rng.random(n) < 0.3
    return [
        [
            f"B{1000 + i}", f"{1 + i % 28:02d}.03.2024",
            round(float(rng.normal(66 - 9 * bad[i], 8)), 1) if i % 9 else "-",
            "rusty" if rng.random() < 0.2 + 0.5 * bad[i] else "clean", 1 + int(rng.integers(3)), 7, None,
            f"see the note of day {i}, furnace {i % 7}" if i % 2 else None, "bad" if bad[i] else "good",
        ]
        for i in range(n)
    ]  # fmt: skip


def filled(text: str) -> str:
    return text.replace('= "?"', "= 1.5")


def load(found: Draft, tmp_path: Path) -> Problem:
    path = tmp_path / "problem.toml"
    path.write_text(filled(found.text), encoding="utf-8")
    return Problem.load(path)


def test_cuts_may_be_left_to_be_chosen_as_the_draft_says_but_for_the_label(tmp_path: Path) -> None:
    ages = [20.0 + i % 61 for i in range(120)]
    found = draft({"age": ages, "lives": [age / 2 for age in ages], "good": ["yes", "no"] * 60}, label="good")
    lines = found.text.splitlines()
    places = [n for n, line in enumerate(lines) if line.startswith("cuts = ")]
    assert len(places) == 2
    for n in places:
        lines[n], lines[n + 1] = "", lines[n + 1].removeprefix("# ")
    path = tmp_path / "problem.toml"
    path.write_text(filled("\n".join(lines)), encoding="utf-8")
    assert [test.choose_cuts for test in Problem.load(path).tests] == [True, True, False]
    assert draft({"age": ages, "score": ages}, label="score").text.count('cuts = "choose"') == 1


@pytest.mark.parametrize("name", FORMATS)
def test_a_draft_of_every_format_reads_its_own_table(name: str, tmp_path: Path) -> None:
    content = FORMATS[name](HEADER, rows())
    found = draft(io.BytesIO(content))
    assert [column.name for column in found.ignored] == ["Nr", "Datum", "furnace", "empty", "remark"]
    assert (found.label.name, found.label.outcomes, found.why) == ("quality", ("bad", "good"), "a guess, from its name")
    hardness, visual, grade = found.tests
    assert (hardness.column.unit, visual.outcomes, grade.outcomes) == ("HRC", ("clean", "rusty"), ("1", "2", "3"))
    assert len(hardness.cuts) == 2
    assert found.missing == ("-",)
    problem = load(found, tmp_path)
    outcomes = problem.records(io.BytesIO(content)).outcomes
    assert outcomes.shape == (N, 4)
    assert np.isnan(outcomes).sum(axis=0).tolist() == [14, 0, 0, 0]
    assert not problem.tests[3].available
    assert problem.decisions == ("bad", "good")


def test_a_draft_is_refused_before_it_is_filled_in(tmp_path: Path) -> None:
    path = tmp_path / "problem.toml"
    path.write_text(draft(io.BytesIO(delimited(HEADER, rows()).encode())).text)
    with pytest.raises(
        ProblemFileError, match=r"the prices of 'Härte \[HRC\]', 'visual' and 'grade' and the utilities"
    ):
        Problem.load(path)


def column(*cells: Any, name: str = "a", times: int = 1) -> Draft:
    values = list(cells) * times
    labels = [("good", "bad", "good", "bad", "bad")[i % 5] for i in range(len(values))]
    other = [("x", "y", "x")[i % 3] for i in range(len(values))]
    return draft({name: values, "other": other, "label": labels})


IGNORED: list[tuple[str, list[Any], str]] = [
    ("a", [f"{n:04x}" for n in range(30)], "all entries differ: it seems to tell subjects apart"),
    ("row", list(range(7, 37)), "all entries differ: it seems to tell subjects apart"),
    ("PatientID", [n * n for n in range(30)], "all entries differ: it seems to tell subjects apart"),
    ("a", [dt.date(2024, 1, 1 + n) for n in range(30)], "it holds dates or times"),
    ("a", [f"2024-01-{1 + n:02d}T12:00:00" for n in range(30)], "it holds dates or times"),
    ("a", [f"{1 + n % 12}/{1 + n % 28}/24" for n in range(30)], "it holds dates or times"),
    ("a", [f"{n % 24:02d}:30" for n in range(30)], "it holds dates or times"),
    ("a", [f"{1 + n % 28}. Mai 2024" for n in range(30)], "it holds dates or times"),
    ("a", [f"March {1 + n % 28}, 2024" for n in range(30)], "it holds dates or times"),
    ("a", [20240301 + n % 20 for n in range(30)], "it holds dates or times"),
    ("Start date", [45000 + 7 * n % 200 for n in range(30)], "it holds dates or times"),
    ("a", [f"=B{n} * 2" for n in range(30)], "it holds formulas whose values are not in the file"),
    ("a", [f"€{n % 9},50" for n in range(30)], "a sign stands before its numbers"),
    ("a", [None, ""] * 15, "it is empty"),
    ("a", ["x"] * 29 + [""], "it never varies: 'x'"),
    ("a", [f"ask {n // 2} again" for n in range(31)], "it seems to be free text"),
    ("a", ["very long " * 10, "short"] * 15, "it seems to be free text"),
    ("a", [f"batch {n % 25}" for n in range(100)], "it has too many different entries"),
    ("a", ["ok\x1b", "bad"] * 15, "its entries have characters that act on a terminal"),
    ("", ["x", "y"] * 15, "it has no name"),
    ("zip", [f"0{1000 + 37 * n}" for n in range(30)], "all entries differ: it seems to tell subjects apart"),
    ("a", [f"{1 + n % 9},500" for n in range(30)], "nobody can tell whether '1,500' has decimals or thousands"),
]


@pytest.mark.parametrize(("name", "cells", "why"), IGNORED, ids=lambda value: ascii(value)[:30])
def test_columns_that_are_no_tests_are_named_with_the_reason(
    name: str, cells: list[Any], why: str, tmp_path: Path
) -> None:
    found = column(*cells, name=name)
    assert [(seen.name, seen.ignored) for seen in found.ignored] == [(name, why)]
    assert load(found, tmp_path).ignore == (name,)
    assert f"# {'  ' + (name or '(no name)')}: {escaped(why)[:40]}" in found.text


TESTS: list[tuple[list[Any], tuple[Any, ...], str]] = [
    (["ok", "rusty", " ok"] * 20, ("ok", "rusty"), ""),
    (["OK", "ok", "bad"] * 20, ("bad", "OK", "ok"), "'OK', 'ok' differ in capitals only; are they one outcome?"),
    (["ok"] * 60 + ["bad"] * 30 + ["bda"], ("bad", "bda", "ok"), "'bda': in fewer than 5 rows; a misspelling"),
    (["none", "scratch", "dent"] * 20, ("dent", "none", "scratch"), "'none' is listed as an outcome; if it means"),
    ([True, False, None] * 20, ("false", "true"), ""),
    ([1, 2, 3.0, None] * 20, ("1", "2", "3"), ""),
    (["1.0", "2.0", ""] * 20, ("1", "2"), ""),
    ([0.5, 1.5, 2.5] * 20, (1.0, 2.0), ""),
    (["01", "02", "10"] * 20, ("01", "02", "10"), ""),
    (["1,5 mm", "2,5 mm", "7 mm", "9,25 mm", "11 mm", "12 mm"] * 20, (5.0, 10.0), ""),
    (["37%", "41%", "45%", "48%", "52%", "60%"] * 20, (45.0, 50.0), ""),
    (
        [*range(1, 90), "broken"],
        (30.0, 60.0),
        "rows without a number: 1 ('broken'); these entries are taken for missing ones",
    ),
    ([*range(1, 90), float("inf")], (30.0, 60.0), "rows without a number: 1 ('inf'); these entries are"),
    ([*range(1, 90), -999, -999], (30.0, 60.0), "'-999' lies far from the other numbers: taken for a missing entry"),
    (["<5", "<5", *range(5, 95)], (30.0, 60.0), "limits such as <5: 2; no cut lies beyond them"),
    ([0] * 90 + [1, 2, 3, 7, 9, 11], (1.0,), ""),
    ([45000 + 7 * n % 200 for n in range(90)], (45050.0, 45130.0), "such numbers may be dates, as spreadsheets count"),
]


@pytest.mark.parametrize(("cells", "expected", "doubt"), TESTS, ids=lambda value: ascii(value)[:30])
def test_columns_that_are_tests(cells: list[Any], expected: tuple[Any, ...], doubt: str, tmp_path: Path) -> None:
    found = column(*cells)
    seen = found.tests[0]
    assert (seen.cuts or seen.outcomes) == expected
    assert bool(doubt) == bool(seen.doubts)
    assert doubt in " ".join(seen.doubts)
    assert doubt[:30] in found.text
    problem = load(found, tmp_path)
    labels = {"other": ["x"] * len(cells), "label": ["good"] * len(cells)}
    known = ~np.isnan(problem.records({"a": cells, **labels}).outcomes[:, 0])
    words = [cell is not None and str(cell).strip() not in ("", "broken", "-999", "inf") for cell in cells]
    assert known.tolist() == words


def test_the_label_is_guessed_or_named() -> None:
    table = {"diagnosis": ["a", "b"] * 20, "x": list(range(40)), "last": ["u", "v", "w", "v"] * 10}
    assert draft(table).label.name == "diagnosis"
    assert draft(table, label="last").label.name == "last"
    del table["diagnosis"]
    found = draft({**table, "z": [n * 1.5 for n in range(40)]})
    assert (found.label.name, found.why) == ("last", "a guess: the last column with few outcomes")
    assert draft({"z": [n * 1.5 for n in range(40)], **table}).why == "a guess: the last column"
    numbers = draft({"z": [n * 1.5 for n in range(40)], **table}, label="z").label
    assert numbers.cuts == (30.0,)


@pytest.mark.parametrize(
    ("table", "label", "message"),
    [
        ({"a": [1, 2], "b": ["x", "y"]}, "c", r"no column 'c' for the label; its columns are \['a', 'b'\]; name one"),
        ({"a": ["x", "y"], "b": ["z", "z"]}, "b", "'b' cannot be decided about .it never varies: 'z'.; name another"),
        ({"a": [0.5 * n for n in range(40)], "b": [1.5 * n for n in range(40)]}, None, "no column could be .*--label"),
        (
            {"a": ["x", "x"], "b": ["y", "z"]}, None,
            "no column beside the label 'b' could be a test .'a': it never varies: 'x'.; a problem",
        ),
        ({"a": ["x"], "b": ["y"]}, None, "it has a single row; nothing can be told from one subject; add more"),
        ({"a": ["x", "y"]}, None, r"a single column, 'a'.*first line such as sep="),
        ({"1": [1, 2], "0": [0, 1]}, None, r"its first row is \['1', '0'\]; a table has a header"),
        ({"a\u200b": ["x", "y"], "b": ["y", "z"]}, None, "a column is 'a\\\\u200b', with the character U.200B"),
    ],
)  # fmt: skip
def test_tables_that_cannot_be_drafted(table: dict[str, Any], label: str | None, message: str) -> None:
    with pytest.raises(TableError, match=message):
        draft(table, label=label)


def test_a_header_of_merged_cells_is_refused_with_the_remedy() -> None:
    text = b"Lab,,Ergebnis,\nhardness,visual,quality,seen\n61,ok,good,1\n70,bad,bad,2\n62,ok,good,1\n"
    with pytest.raises(TableError, match=r"columns 2, 4 have entries and no name.*merged cells stands above the names"):
        draft(io.BytesIO(text))


def test_doubts_about_the_whole_table() -> None:
    n = 40
    table = {"x": ["p", "q"] * 20, "twin": ["p1", "q1"] * 20, "label": ["good", "bad"] * 19 + ["", "bad"]}
    found = draft(table)
    assert found.doubts[0] == "no label in 1 of 40 rows: such rows tell nothing of what to decide"
    assert "x: it tells the label exactly: is it the label under another name" in " ".join(found.all_doubts)
    few = draft({"x": ["p", "q"] * 5, "label": ["good", "bad", "bad", "good", "good"] * 2})
    assert few.doubts == ("10 rows with a label, for 1 test, are few: a plan will fit them, not what comes",)
    codes = draft({"machine no": [100 + n % 7 for n in range(40)], "label": ["good", "bad"] * 20})
    assert codes.all_doubts[0].startswith(
        "machine no: by its name its numbers may stand for things; if they measure no"
    )
    row = draft({"ok": ["ok", "bad"] * 20, "y": ["u", "v"] * 20})
    assert row.doubts[0].startswith("is the first row a header? ['ok'] may be entries of a subject")
    alike = draft({"x": ["p", "q"] * 20, "quality": ["good"] * 40, "z": ["u", "v"] * 20})
    assert (alike.label.name, alike.doubts[0][:57]) == (
        "z",
        "quality is called like a label, and it never varies: 'goo",
    )
    latin = delimited(["größe", "label"], [["ü", "a"], ["ö", "b"]] * n).encode("latin-1")
    assert "was read as Windows-1252" in draft(io.BytesIO(latin)).doubts[0]


CELLS = st.one_of(
    st.none(), st.booleans(), st.integers(-50, 50), st.floats(), st.text(max_size=4), st.dates(), st.times(),
    st.sampled_from(["ok", "bad", "-", "NA", "<5", "1,5", "=1", '"', "#", "\\"]),
)  # fmt: skip


@given(
    st.text(min_size=1, max_size=6).filter(
        lambda t: t.strip() and escaped(t) == t and t.strip() not in ("label", "b", "?")
    ),
    st.lists(st.tuples(CELLS, CELLS), min_size=2, max_size=12),
    st.integers(1, 12),
)
def test_any_draft_is_a_problem_file(name: str, pairs: list[tuple[Any, Any]], times: int) -> None:
    pairs = pairs * times
    table = {name: [a for a, _ in pairs], "b": [b for _, b in pairs]}
    table["label"] = [("good", "bad", "ugly")[i % 3] for i in range(len(pairs))]
    try:
        found = draft(table, label="label")
    except TableError:
        return
    problem = Problem.from_dict(tomllib.loads(filled(found.text)))
    records = problem.records(table)
    assert len(records) <= len(pairs)


FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(FINITE, FINITE)
def test_the_roundest_number_lies_in_its_stretch(one: float, other: float) -> None:
    low, high = sorted((one, other))
    if low < high:
        assert low < roundest(low, high, near=low) <= high


@given(st.lists(FINITE, min_size=2, max_size=200), st.sampled_from([2, 3, 4]))
def test_every_piece_between_cuts_holds_something(values: list[float], pieces: int) -> None:
    cuts = friendly_cuts(np.array(values), pieces)
    assert cuts == sorted(set(cuts))
    assert len(cuts) < pieces
    assert bool(cuts) == (len(set(values)) > 1)
    assert (np.bincount(np.searchsorted(cuts, values, side="right"), minlength=len(cuts) + 1) > 0).all()
