"""Tables as they come, through every command that takes one; and what each mistake of a spreadsheet is told."""

from __future__ import annotations

import csv
import datetime as dt
import io
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli import castings
from tests.cli.test_crossings import EXAMPLES
from tests.tables.formats import FORMATS, delimited, workbook

from proband import Problem, Study

SOME = ("german.csv", "excel-sep.csv", "utf-16.txt", "workbook.xlsx", "table.parquet")


def as_cell(text: str) -> Any:
    """Return a cell of a measured table as a number with so many digits as every program writes."""
    try:
        return float(f"{float(text):.9g}")
    except ValueError:
        return text


def standard_input(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    given = io.BytesIO(content)
    given.name = "<stdin>"  # type: ignore[attr-defined]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(given))


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_kind_of_problem_takes_every_kind_of_table(
    run, example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("example", example, "--records", "60").status == 0
    with Path(f"{example}-records.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    problem = Path(f"{example}.toml").read_text(encoding="utf-8")
    measured = Problem.load(f"{example}.toml").measured
    Path("with-ids.toml").write_text('ignore = ["id"]\n' + problem, encoding="utf-8")
    cells = [[as_cell(cell) if measured else cell for cell in row] for row in rows]
    Path("plain.csv").write_bytes(FORMATS["comma.csv"](header, cells))
    cells = [[f"s{n}", *row] for n, row in enumerate(cells)]
    expected = run("evaluate", f"{example}.toml", "now", "--data", "plain.csv", "--json").json
    monkeypatch.setenv("PROBAND_STORE", "sqlite:///studies.db")
    assert run("study", "create", "with-ids.toml", "--name", "s").status == 0
    for n, name in enumerate(SOME):
        Path(name).write_bytes(FORMATS[name](["id", *header], cells))
        found = run("evaluate", "with-ids.toml", "now", "--data", name, "--json").json
        assert found["value"] == pytest.approx(expected["value"], rel=1e-12)
        learned = run("study", "import", "s", name, "--json").json
        assert learned == {"subjects_added": 60 * (n == 0), "subjects_recognised": 60 * (n > 0)}
    standard_input(monkeypatch, Path("workbook.xlsx").read_bytes())
    found = run("evaluate", "with-ids.toml", "now", "--data", "-", "--json").json
    assert found["law"].startswith("standard input: ")
    assert found["value"] == pytest.approx(expected["value"], rel=1e-12)


@pytest.fixture
def cast(run, monkeypatch: pytest.MonkeyPatch):
    castings.write()
    monkeypatch.setenv("PROBAND_STORE", "sqlite:///studies.db")
    return run


def test_plan_and_next_take_numbers(cast) -> None:
    table = ("--data", "castings.xlsx", "--sheet", "past")
    planned = cast("plan", "castings.toml", *table, "--out", "policy.json", "--json").json
    again = cast("plan", "castings.toml", "--data", "castings-records.csv", "--json").json
    assert planned["value"] == again["value"]
    named = cast("next", "policy.json", "--known", "furnace [°C]=>= 1450 °C", "--json").json
    assert cast("next", "policy.json", "--known", "furnace [°C]=1462,5", "--json").json == named
    assert named["known"] == {"furnace [°C]": ">= 1450 °C"}
    shown = cast("next", "policy.json", "--known", "furnace [°C]=1450", "--known", "porosity=0.499")
    assert "known" in shown.out
    assert "furnace [°C]=>= 1450 °C, porosity=dense" in shown.out
    wrong = cast("next", "policy.json", "--known", "furnace [°C]=hot")
    assert wrong.status == 2
    assert "'hot' is no number); give a number of °C, or one of < 1450 °C, >= 1450 °C" in wrong.err


def test_a_policy_for_other_cuts_is_refused(cast) -> None:
    table = ("--data", "castings-records.csv")
    assert cast("plan", "castings.toml", *table, "--out", "policy.json").status == 0
    Path("other.toml").write_text(castings.PROBLEM.replace("cuts = [0.5]", "cuts = [0.6]"), encoding="utf-8")
    refused = cast("evaluate", "other.toml", "policy.json", *table)
    assert refused.status == 2
    assert "it was made for other tests, outcomes or decisions" in refused.err


def test_a_study_is_told_numbers_and_records_outcomes(cast) -> None:
    assert cast("study", "create", "castings.toml", "--name", "c", "--agent", "test-everything").status == 0
    imported = cast("study", "import", "c", "castings.xlsx", "--sheet", "past", "--json").json
    assert imported == {"subjects_added": 300, "subjects_recognised": 0}
    assert cast("study", "import", "c", "castings-records.csv", "--json").json["subjects_added"] == 0
    came = cast("study", "arrive", "c", "--subject", "x", "--known", "furnace [°C]=1462.5", "--json").json
    assert came["subject"]["known"] == {"furnace [°C]": ">= 1450 °C"}
    told = cast("study", "tell", "c", "x", "hardness [HRC]=63,2", "visual=rough")
    assert told.out.startswith("recorded  hardness [HRC]: 60 to 75 HRC\n")
    for same in ("63.9 HRC", "60 to 75 HRC"):
        again = cast("study", "correct", "c", "x", f"hardness [HRC]={same}", "--reason", "again")
        assert "is '60 to 75 HRC' already; there is nothing to correct" in again.err
    wrong = cast("study", "tell", "c", "x", "porosity=much")
    assert (wrong.status, "'much' is no number" in wrong.err) == (2, True)
    assert cast("study", "tell", "c", "x", "porosity=0.72", "--json").json["subject"]["known"]["porosity"] == "porous"
    assert cast("study", "decide", "c", "x", "scrap").status == 0
    assert cast("study", "reveal", "c", "x", "quality=bad").status == 0
    assert cast("study", "verify", "c", "--replay").status == 0
    with Study.open("c", store="sqlite:///studies.db", replan="never") as study:
        log = [event.data.get("outcome") for event in study.events() if event.kind == "observed"]
        assert log == ["60 to 75 HRC", "rough", "porous"]
        y = study.arrive({"furnace [°C]": 1300})
        study.tell(y, "hardness [HRC]", 63.2, key="k")
        assert study.tell(y, "hardness [HRC]", 61.0, key="k").known["hardness [HRC]"] == "60 to 75 HRC"


def test_the_terminal_asks_for_the_number(cast, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cast("study", "create", "castings.toml", "--name", "c", "--agent", "test-everything").status == 0
    lines = [
        "1", "y",  # a new subject, called y
        "1", "1462,5",  # the advised test, known on arrival: enter the number
        "1", "hot",  # the next one, a mistake
        "3",  # and by its outcome
        "4", "1", "1", "0.72",  # another test, and its number
        "q", "q",
    ]  # fmt: skip
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines) + "\n"))
    shown = cast("study", "run", "c")
    assert "1  furnace [°C]: enter the number" in shown.out
    assert "furnace [°C] in °C: recorded as furnace [°C]: >= 1450 °C" in shown.out
    assert "That cannot be recorded: outcome of test" in shown.err
    known = cast("study", "ask", "c", "y", "--json")
    assert known.status == 0
    with Study.open("c", store="sqlite:///studies.db", replan="never") as study:
        assert study.subject("y").known == {
            "furnace [°C]": ">= 1450 °C", "hardness [HRC]": "60 to 75 HRC", "porosity": "porous",
        }  # fmt: skip


def cells_of(**changes: Any) -> list[list[Any]]:
    """Return the rows of castings with some cells of the first row changed."""
    first, *rest = castings.rows(40)
    return [[changes.get(name.split()[0], cell) for name, cell in zip(castings.HEADER, first, strict=True)], *rest]


TEXT = delimited(castings.HEADER, castings.rows(40), mark=";", decimal=",")
MISTAKES: dict[str, tuple[bytes, str]] = {
    "a column that nobody knows": (
        delimited([*castings.HEADER, "shift"], [[*row, 1] for row in castings.rows(40)]).encode(),
        (
            "unknown columns ['shift']; the columns must be ['furnace [°C]', 'hardness [HRC]', 'porosity', 'visual', "
            "'quality']; rename, add (empty where never run) or drop, or name what is no test in the problem's list "
            "ignore"
        ),
    ),
    "a column that is not there": (
        delimited(castings.HEADER[:-1], [row[:-1] for row in castings.rows(40)]).encode(),
        "missing columns ['quality']",
    ),
    "a word for a number": (
        delimited(castings.HEADER, cells_of(hardness="soft")).encode(),
        (
            "line 2, column 'hardness [HRC]': 'soft' is no number; give a number, or one of < 60 HRC, 60 to 75 HRC, "
            ">= 75 HRC"
        ),
    ),
    "a date for a number": (
        workbook({"past": (castings.HEADER, cells_of(hardness=dt.date(2024, 3, 1)))}),
        (
            "row 2, column 'hardness [HRC]': '2024-03-01' is a date, into which spreadsheets turn numbers such as 3/1; "
            "give a number, in a cell that is formatted as a number"
        ),
    ),
    "an error of the spreadsheet": (
        workbook({"past": (castings.HEADER, cells_of(hardness="#DIV/0!"))}),
        "column 'hardness [HRC]': '#DIV/0!' is an error of the spreadsheet; correct its formula, or empty the cell",
    ),
    "a formula that was never calculated": (
        workbook({"past": (castings.HEADER, cells_of(hardness="=1+62"))}),
        "'=1+62' is a formula whose value is not in the file; open and save it in a spreadsheet program",
    ),
    "thousands or decimals": (
        delimited(castings.HEADER, [[*row[:2], "1,462", 61, 1, *row[5:]] for row in castings.rows(40)]).encode(),
        "40 cells cannot be read:\n  line 2, column 'furnace [°C]': '1,462' may mean 1.462 or 1462; write it",
    ),
    "a misspelt outcome": (
        delimited(castings.HEADER, cells_of(visual="Clean")).encode(),
        (
            "line 2, column 'visual': the outcome 'Clean' is unknown; outcomes are clean, rough (empty when not run); "
            "did you mean 'clean'? correct the table or the problem"
        ),
    ),
    "a quotation mark that is not closed": (
        (TEXT + '"C-9;01.03.2024\n').encode(),
        "line 42: it has 1 entry; the header has 7; close the quotation mark that is opened there",
    ),
    "a column twice": (
        delimited([*castings.HEADER, "visual"], [[*row, "clean"] for row in castings.rows(40)]).encode(),
        "columns ['visual'] appear more than once; columns must differ; rename or drop one",
    ),
    "a misspelt column": (
        delimited([*castings.HEADER[:-1], "qualty"], castings.rows(40)).encode(),
        "did you mean 'quality' by 'qualty'? rename",
    ),
    "a header alone": (delimited(castings.HEADER, []).encode(), "it has a header and no rows"),
    "several sheets": (
        workbook({"2022": (castings.HEADER, castings.rows(40)), "2023": (castings.HEADER, castings.rows(40))}),
        "it has the sheets ['2022', '2023']; a table is one of them; name it (--sheet NAME, or sheet= in Python)",
    ),
    "an old workbook": (b"\xd0\xcf\x11\xe0" + bytes(64), "it is an old .xls workbook, or one with a password"),
    "lines of different lengths": (
        TEXT.replace(";good", "", 3).encode(),
        "3 lines cannot be read:\n  line ",
    ),
    "twelve bad cells": (
        delimited(castings.HEADER, [[*row[:3], "soft", *row[4:]] for row in castings.rows(12)]).encode(),
        "\n  and 2 more",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", MISTAKES)
@pytest.mark.parametrize("command", ["plan", "fit", "evaluate", "study import"])
def test_each_mistake_of_a_spreadsheet_by_its_sentence(cast, kind: str, command: str) -> None:
    content, sentence = MISTAKES[kind]
    Path("table").write_bytes(content)
    arguments = {
        "plan": ("plan", "castings.toml", "--data", "table"),
        "fit": ("fit", "castings.toml", "--data", "table", "--report", "report.html"),
        "evaluate": ("evaluate", "castings.toml", "now", "--data", "table"),
        "study import": ("study", "import", "c", "table"),
    }[command]
    if command == "study import":
        assert cast("study", "create", "castings.toml", "--name", "c").status == 0
    result = cast(*arguments)
    assert result.status == 2
    assert result.err.startswith("error: table: ")
    assert sentence in result.err


def test_sheet_belongs_to_data(cast) -> None:
    result = cast("plan", "bolts", "--sheet", "past")
    assert result.status == 2
    assert "--sheet is about the table of --data" in result.err
    result = cast("plan", "castings.toml", "--data", "castings-records.csv", "--sheet", "past")
    assert "it has no sheets, and 'past' is asked for" in result.err


class TestInit:
    def test_from_a_table_to_a_plan(self, cast) -> None:
        drafted = cast("init", "castings.xlsx", "--sheet", "past")
        assert drafted.status == 0
        assert "label    quality (a guess, from its name): bad, good" in drafted.out
        assert "ignored  Nr: all entries differ: it seems to tell subjects apart" in drafted.out
        assert 'Now fill in every "?" in problem.toml' in drafted.out
        table = ("--data", "castings.xlsx", "--sheet", "past")
        refused = cast("plan", "problem.toml", *table)
        assert refused.status == 2
        assert (
            "the prices of 'furnace [°C]', 'hardness [HRC]', 'porosity' and 'visual' and the utilities" in refused.err
        )
        assert cast("study", "create", "problem.toml").status == 2
        text = Path("problem.toml").read_text(encoding="utf-8")
        Path("problem.toml").write_text(
            text.replace('cost = "?"', "cost = 0.1").replace('"?"', "1.0"), encoding="utf-8"
        )
        assert cast("plan", "problem.toml", *table).status == 0

    def test_nothing_is_overwritten_unless_asked(self, cast) -> None:
        Path("problem.toml").write_text("mine")
        result = cast("init", "castings-records.csv")
        assert (result.status, Path("problem.toml").read_text()) == (1, "mine")
        assert (
            "problem.toml: it exists already; nothing was written; choose another --out, or add --force" in result.err
        )
        assert cast("init", "castings-records.csv", "--force").status == 0

    def test_from_standard_input_as_json(self, cast, monkeypatch: pytest.MonkeyPatch) -> None:
        standard_input(monkeypatch, Path("castings-records.csv").read_bytes())
        found = cast("init", "-", "--label", "visual", "--out", "d.toml", "--json").json
        assert found["label"]["name"] == "visual"
        assert [test["name"] for test in found["tests"]] == ["furnace [°C]", "hardness [HRC]", "porosity", "quality"]
        assert found["tests"][1]["unit"] == "HRC"
        assert [column["name"] for column in found["ignored"]] == ["Nr", "Datum"]
        assert found["written"] == "d.toml"

    def test_a_table_that_cannot_be_read_leaves_nothing(self, cast) -> None:
        Path("bad.csv").write_bytes(b"a,b\n1\n")
        result = cast("init", "bad.csv")
        assert (result.status, Path("problem.toml").exists()) == (2, False)
        assert "line 2: it has 1 entry; the header has 2" in result.err
