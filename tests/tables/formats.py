"""One table in every format that is read: written by other programs' libraries where there are any."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import openpyxl
import pyarrow as pa
from pyarrow import parquet

Rows = Sequence[Sequence[Any]]

WORKBOOK = (
    '<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">'
    '<sheets><sheet name="one" sheetId="1" r:id="rId1"/></sheets></workbook>'
)
RELATIONS = '<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>'


def delimited(header: Sequence[str], rows: Rows, *, mark: str = ",", decimal: str = ".", first: str = "") -> str:
    """Return a table as text; numbers with the given decimal mark."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=mark, lineterminator="\r\n")
    for row in [header, *rows]:
        writer.writerow([str(c).replace(".", decimal) if isinstance(c, float) else "" if c is None else c for c in row])
    return first + out.getvalue()


def workbook(sheets: Mapping[str, tuple[Sequence[str], Rows]]) -> bytes:
    """Return a workbook as openpyxl writes it."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, (header, rows) in sheets.items():
        sheet = book.create_sheet(name)
        for row in [header, *rows]:
            sheet.append(list(row))
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def raw_workbook(cells: str, *, more: Mapping[str, str] | None = None, **parts: str) -> bytes:
    """Return a workbook of hand-written XML: the rows of its only sheet."""
    content = {
        "xl/workbook.xml": parts.get("workbook", WORKBOOK),
        "xl/_rels/workbook.xml.rels": RELATIONS,
        "xl/worksheets/sheet1.xml": parts.get("sheet", f"<worksheet><sheetData>{cells}</sheetData></worksheet>"),
        **(more or {}),
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in content.items():
            archive.writestr(name, text)
    return out.getvalue()


def in_parquet(header: Sequence[str], rows: Rows) -> bytes:
    """Return a table in Parquet."""
    columns = {name: [row[i] for row in rows] for i, name in enumerate(header)}
    for name, cells in columns.items():
        if len({type(cell) for cell in cells if cell is not None}) > 1:  # a column of Parquet is of one type
            columns[name] = [None if cell is None else str(cell) for cell in cells]
    out = io.BytesIO()
    parquet.write_table(pa.table(columns), out)
    return out.getvalue()


FORMATS: dict[str, Callable[[Sequence[str], Rows], bytes]] = {
    "comma.csv": lambda header, rows: delimited(header, rows).encode(),
    "semicolon.csv": lambda header, rows: delimited(header, rows, mark=";").encode(),
    "tab.tsv": lambda header, rows: delimited(header, rows, mark="\t").encode(),
    "german.csv": lambda header, rows: delimited(header, rows, mark=";", decimal=",").encode(),
    "quoted-decimal-comma.csv": lambda header, rows: delimited(header, rows, decimal=",").encode(),
    "excel-sep.csv": lambda header, rows: delimited(header, rows, mark=";", decimal=",", first="sep=;\r\n").encode(),
    "sep-bar.csv": lambda header, rows: delimited(header, rows, mark="|", first='"sep=|"\n').encode(),
    "bom.csv": lambda header, rows: delimited(header, rows).encode("utf-8-sig"),
    "latin-1.csv": lambda header, rows: delimited(header, rows, mark=";", decimal=",").encode("latin-1"),
    "utf-16.txt": lambda header, rows: delimited(header, rows, mark="\t").encode("utf-16"),
    "utf-16-be-sep.csv": lambda header, rows: (
        b"\xfe\xff" + delimited(header, rows, mark=";", first="sep=;\n").encode("utf-16-be")
    ),
    "utf-16-unmarked.csv": lambda header, rows: delimited(header, rows).encode("utf-16-le"),
    "workbook.xlsx": lambda header, rows: workbook({"past": (header, rows)}),
    "named-by-mistake.csv": lambda header, rows: workbook({"past": (header, rows)}),
    "exported.xls": lambda header, rows: delimited(header, rows, mark="\t").encode("latin-1"),
    "table.parquet": in_parquet,
    "no-ending": in_parquet,
}
"""How a table is written under each name."""
