"""Workbooks: what their cells are, and what a file that lies is told."""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import random
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from tests.tables.formats import raw_workbook, workbook

from proband import files
from proband.errors import TableError
from proband.tables.workbooks import read_workbook


def read(content: bytes, sheet: str | None = None):
    return read_workbook("past.xlsx", content, sheet)


def test_cells_are_what_they_were_when_they_were_saved() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["number", "text", "truth", "date", "moment", "time", "formula", "error"])
    sheet.append(
        [63.2, "Größe ≤ 5", True, dt.date(2024, 3, 1), dt.datetime(2024, 3, 1, 12, 30), dt.time(6, 15), "=1+1", "#N/A"]
    )
    sheet.append([-7, " padded ", False, dt.date(1999, 12, 31), None, None, None, "#DIV/0!"])
    sheet["A4"] = 1e20
    sheet["A5"] = 0.5
    sheet["A5"].number_format = '0.00" days"'
    sheet["B6"] = 45000.25
    sheet["B6"].number_format = "[h]:mm"
    out = io.BytesIO()
    book.save(out)
    found = read(out.getvalue())
    assert found.header == ["number", "text", "truth", "date", "moment", "time", "formula", "error"]
    assert found.columns[0] == [63.2, -7, 1e20, 0.5, None]
    assert found.columns[1][:2] == ["Größe ≤ 5", " padded "]
    assert found.columns[1][4] == dt.datetime(2023, 3, 15, 6, 0)
    assert found.columns[2][:2] == [True, False]
    assert found.columns[3][:2] == [dt.date(2024, 3, 1), dt.date(1999, 12, 31)]
    assert found.columns[4][0] == dt.datetime(2024, 3, 1, 12, 30)
    assert found.columns[5][0] == dt.time(6, 15)
    assert found.columns[6][0] == "=1+1"
    assert found.columns[7][:2] == ["#N/A", "#DIV/0!"]
    assert list(found.places) == [2, 3, 4, 5, 6]


def test_days_may_be_counted_from_1904() -> None:
    book = openpyxl.Workbook()
    book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    book.active.append(["day"])
    book.active.append([dt.date(2024, 3, 1)])
    out = io.BytesIO()
    book.save(out)
    assert read(out.getvalue()).columns == [[dt.date(2024, 3, 1)]]


def test_hand_written_cells_of_every_type() -> None:
    cells = (
        '<row><c t="inlineStr"><is><t>a</t></is></c><c t="str"><v>b</v></c><c t="s"><v>0</v></c></row>'
        '<row><c t="d"><v>2024-03-01</v></c><c t="b"><v>1</v></c><c t="e"><v>#REF!</v></c></row>'
        '<row r="9"><c r="C9"><f>A1</f><v>7</v></c><c r="A9"/></row>'
    )
    rich = "<sst><si><r><t>r</t></r><r><t>ich</t></r><rPh><t>spoken</t></rPh></si></sst>"
    found = read(raw_workbook(cells, more={"xl/sharedStrings.xml": rich}))
    assert found.header == ["a", "b", "rich"]
    assert found.columns == [[dt.date(2024, 3, 1), None], [True, None], ["#REF!", 7]]
    assert list(found.places) == [2, 9]


def test_prefixes_and_a_header_further_down_do_no_harm() -> None:
    sheet = (
        '<x:worksheet xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><x:sheetData>'
        '<x:row r="4"><x:c r="B4" t="inlineStr"><x:is><x:t>length</x:t></x:is></x:c></x:row>'
        '<x:row r="6"><x:c r="B6"><x:v>1.5</x:v></x:c></x:row></x:sheetData></x:worksheet>'
    )
    found = read(raw_workbook("", sheet=sheet))
    assert (found.header, found.columns, list(found.places)) == (["length"], [[1.5]], [6])


def test_hidden_sheets_are_read_by_name_alone() -> None:
    book = openpyxl.Workbook()
    book.active.append(["a"])
    book.active.append([1])
    hidden = book.create_sheet("lists")
    hidden.append(["b"])
    hidden.append([2])
    hidden.sheet_state = "hidden"
    out = io.BytesIO()
    book.save(out)
    assert read(out.getvalue()).header == ["a"]
    assert read(out.getvalue(), "lists").header == ["b"]


LAUGHS = '<!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;&lol;">]><worksheet>&lol2;</worksheet>'
BAD: dict[str, tuple[bytes, str]] = {
    "empty": (raw_workbook(""), "it is empty; a table has a header"),
    "header only": (workbook({"past": (["a"], [])}), "a header and no rows; a table has one row a subject; add them"),
    "entities": (raw_workbook("", sheet=LAUGHS), "it defines a document type, which no workbook does"),
    "entities in the workbook": (raw_workbook("", workbook=LAUGHS), "it defines a document type"),
    "no XML": (raw_workbook("", sheet="<worksheet><sheetData>"), "cannot be read as a workbook"),
    "a text that is not there": (raw_workbook('<row><c t="s"><v>7</v></c></row>'), "cannot be read as a workbook"),
    "a number that is none": (raw_workbook("<row><c><v>many</v></c></row>"), "cannot be read as a workbook"),
    "a row that is none": (raw_workbook('<row r="x"><c><v>1</v></c></row>'), "cannot be read as a workbook"),
    "a far corner": (
        raw_workbook(
            '<row r="1">' + "".join(f'<c r="{a}{b}1"><v>1</v></c>' for a in "ABCDEFG" for b in "ABCDEFGHIJ") + "</row>"
            + "".join(f'<row r="{n}"><c r="A{n}"><v>1</v></c></row>' for n in range(2, 70_000))
        ),
        "its sheet has more than 4,194,304 cells",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_bad_workbooks(kind: str) -> None:
    content, message = BAD[kind]
    with pytest.raises(TableError, match=message) as caught:
        read(content)
    assert str(caught.value).startswith("past.xlsx: ")


def test_what_unpacks_to_too_much_is_left_before_memory_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = raw_workbook("<row>" + " " * 2**22 + "</row>")
    assert len(bomb) < 2**16
    monkeypatch.setattr("proband.tables.packages.LARGEST_UNPACKED", 2**20)
    with pytest.raises(TableError, match=r"unpacks to more than .* save the sheet as CSV"):
        read(bomb)


def test_an_archive_of_too_many_parts(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for n in range(files.MOST_PARTS + 1):
            archive.writestr(str(n), "")
    with pytest.raises(TableError, match="it has 10,001 parts; at most 10,000 are read"):
        read(out.getvalue())


def test_a_part_with_a_password_is_told() -> None:
    content = bytearray(workbook({"past": (["a"], [[1]])}))
    at = 0
    while (at := content.find(b"PK\x01\x02", at)) >= 0:
        content[at + 8] |= 1  # the flag of encryption, in the directory
        at += 4
    with pytest.raises(TableError, match=r"cannot be read as a workbook \(.*encrypted"):
        read(bytes(content))


@pytest.mark.parametrize("seed", range(60))
def test_damaged_workbooks_are_told(seed: int) -> None:
    rng = random.Random(seed)
    rows: list[list[Any]] = [[n, "ok", True, dt.date(2024, 1, 1)] for n in range(5)]
    content = bytearray(workbook({"past": (["a", "b", "c", "d"], rows)}))
    for _ in range(rng.randrange(1, 6)):
        content[rng.randrange(len(content))] = rng.randrange(256)
    with contextlib.suppress(TableError):
        read(bytes(content))
