"""Tables in Parquet, by pyarrow, an extra; how long they are is looked at before they are read."""

from __future__ import annotations

import io
from typing import Any

from proband.errors import MissingExtraError, TableError
from proband.files import MOST_ENTRIES
from proband.tables.frames import as_sheet
from proband.tables.sheets import Sheet


def read_parquet(source: str, content: bytes) -> Sheet:
    """Read a table in Parquet."""
    parquet = module()
    try:
        with parquet.ParquetFile(io.BytesIO(content)) as file:
            entries = file.metadata.num_rows * file.metadata.num_columns
            if entries > MOST_ENTRIES:
                raise TableError(f"{source}: it has {entries:,} entries; at most {MOST_ENTRIES:,} are read; split it")
            names = [str(name) for name in file.schema_arrow.names]
            table = file.read()
            return as_sheet(source, names, [table.column(n).to_pylist() for n in range(len(names))])
    except TableError:
        raise
    except (OSError, ValueError, LookupError, TypeError, NotImplementedError, OverflowError) as error:
        # pyarrow's own are among these
        raise TableError(f"{source}: it cannot be read as Parquet ({error}); save it again") from error


def module() -> Any:
    """Return pyarrow's module for Parquet, or say how to install it."""
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError("Parquet needs pyarrow; install proband[tables], or use CSV") from error
    return parquet
