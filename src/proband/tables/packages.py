"""Parts of a workbook: XML in a zip archive that may lie, read in pieces.

An archive may unpack to a thousand times its size, and XML may define entities that repeat each other: what is unpacked
is counted while it is read, and a document type, where entities are defined, is refused. No workbook has one.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from xml.parsers import expat

from proband.errors import TableError
from proband.files import LARGEST_UNPACKED, MOST_PARTS, size

Start = Callable[[str, Mapping[str, str]], None]
End = Callable[[str], None]
Data = Callable[[str], None]

_PIECE = 2**16


class Package:
    """An open workbook."""

    def __init__(self, source: str, archive: zipfile.ZipFile) -> None:
        self._source, self._archive = source, archive
        self._left = LARGEST_UNPACKED
        self.names = frozenset(archive.namelist())

    def parse(self, name: str, start: Start, end: End = lambda tag: None, data: Data | None = None) -> None:
        """Go through the elements of a part, by their names without prefixes."""
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = lambda tag, attributes: start(_local(tag), attributes)
        parser.EndElementHandler = lambda tag: end(_local(tag))
        if data is not None:
            parser.CharacterDataHandler = data
        parser.StartDoctypeDeclHandler = self._refuse
        with self._archive.open(name) as file:
            while piece := file.read(_PIECE):
                self._left -= len(piece)
                if self._left < 0:
                    raise TableError(
                        f"{self._source}: it unpacks to more than {size(LARGEST_UNPACKED)}, which is the most that is "
                        "read of a workbook; save the sheet as CSV"
                    )
                parser.Parse(piece, False)
        parser.Parse(b"", True)

    def _refuse(self, *_: Any) -> None:
        raise TableError(
            f"{self._source}: it defines a document type, which no workbook does and which may do harm; save the sheet "
            "again in a spreadsheet program"
        )


@contextmanager
def opened(source: str, content: bytes) -> Iterator[Package]:
    """Open a workbook; what is wrong with the archive or its XML becomes one error."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if len(archive.infolist()) > MOST_PARTS:
                raise TableError(
                    f"{source}: it has {len(archive.infolist()):,} parts; at most {MOST_PARTS:,} are read; save the "
                    "sheet as CSV"
                )
            yield Package(source, archive)
    except TableError:
        raise
    except (
        zipfile.BadZipFile, zlib.error, expat.ExpatError, EOFError, OSError, RuntimeError, ValueError, LookupError,
        NotImplementedError, OverflowError, TypeError,
    ) as error:  # fmt: skip
        raise TableError(
            f"{source}: it cannot be read as a workbook ({str(error) or type(error).__name__}); save it again as "
            ".xlsx, or as CSV"
        ) from error


def _local(tag: str) -> str:
    return tag.rpartition(":")[2]
