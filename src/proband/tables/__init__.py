"""Tables as they come: CSV of many kinds, workbooks, Parquet, frames; read into records, laws and prices by name."""

from typing import TYPE_CHECKING

from proband.lazy import attributes

if TYPE_CHECKING:
    from proband.tables.reading import read_header, read_sheet
    from proband.tables.records import (
        PROBABILITY,
        read_distribution,
        read_lines,
        read_names,
        read_prices,
        read_records,
        write_table,
    )
    from proband.tables.sheets import Cell, Sheet
    from proband.tables.words import MISSING
else:
    __getattr__, __dir__ = attributes(__name__)

__all__ = [
    "MISSING",
    "PROBABILITY",
    "Cell",
    "Sheet",
    "read_distribution",
    "read_header",
    "read_lines",
    "read_names",
    "read_prices",
    "read_records",
    "read_sheet",
    "write_table",
]
