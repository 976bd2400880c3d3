"""Arrays on disk, read without trust: NumPy's NPY and NPZ.

What a file says of an array is checked before any memory is taken for it: real numbers, not more of them than the file
holds, and not more than :data:`proband.files.LARGEST_ARRAYS` in one file. NumPy's own reader is not used: it evaluates
the header as Python, and takes the shape on faith. What is no matrix or vector of real numbers is left out.
"""

from __future__ import annotations

import io
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from proband.files import LARGEST_ARRAYS, MOST_ARRAYS, size

Arrays = dict[str, NDArray[Any]]

MAGIC = b"\x93NUMPY"
LONGEST_HEADER = 10_000

_FIELD = re.compile(r"\s*['\"](\w+)['\"]\s*:\s*(True|False|'[^']*'|\"[^\"]*\"|\([\d\s,L]*\)|\[[^\]]*\])\s*(?:,|(?=\}))")
_REAL = re.compile(r"[<>|=]?(?:f(?:2|4|8)|[iu](?:1|2|4|8))")


class Layout(NamedTuple):
    """How an array lies in a file."""

    type: np.dtype[Any]
    fortran: bool
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of the array."""
        return math.prod(self.shape) * self.type.itemsize


def read_npy(content: bytes) -> Arrays:
    """Return the array of an NPY file, called ""; none if it is not of real numbers."""
    header, rest = _header(io.BytesIO(content))
    layout = _layout(header)
    return {} if layout is None else {"": _array(layout, rest.read())}


def read_npz(content: bytes) -> Arrays:
    """Return the arrays of an NPZ file that are of real numbers."""
    if content.count(b"PK\1\2") > MOST_ARRAYS:  # the mark of an entry in the table of contents
        raise ValueError(f"it has more than {MOST_ARRAYS} arrays, which is the most that is read")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _members(archive)
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, LookupError, RuntimeError) as error:
        raise ValueError(f"it is no archive that NumPy wrote: {error}") from error


def _members(archive: zipfile.ZipFile) -> Arrays:
    arrays: Arrays = {}
    left = LARGEST_ARRAYS
    for member in archive.infolist():
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"it is compressed in a way that NumPy never uses (method {member.compress_type})")
        with archive.open(member) as file:
            header, rest = _header(file)
            layout = _layout(header)
            if layout is None:
                continue
            left -= layout.nbytes
            check_room(left)
            arrays[member.filename.removesuffix(".npy")] = _array(layout, rest.read(layout.nbytes + 1))
    return arrays


def check_room(left: int) -> None:
    """Raise ValueError if arrays take more memory than a file may ask for."""
    if left < 0:
        raise ValueError(
            f"its arrays would take {size(LARGEST_ARRAYS - left)} of memory; at most {size(LARGEST_ARRAYS)} are read"
        )


def _header(file: Any) -> tuple[str, Any]:
    """Return the header of an array, and the file behind it."""
    start = file.read(8)
    if len(start) < 8 or start[:6] != MAGIC:
        raise ValueError("it does not begin as NumPy's files do")
    code = "<H" if start[6] == 1 else "<I"
    length = file.read(struct.calcsize(code))
    if start[6] not in (1, 2, 3) or len(length) < struct.calcsize(code):
        raise ValueError(f"it is of NumPy's format {start[6]}.{start[7]}; formats 1 to 3 are read")
    [n] = struct.unpack(code, length)
    if n > LONGEST_HEADER:
        raise ValueError(f"its header has {n} bytes; at most {LONGEST_HEADER} are read")
    return file.read(n).decode("utf-8" if start[6] == 3 else "latin-1"), file


def _layout(header: str) -> Layout | None:
    """Return what a header says; None if the array is not of real numbers, in two dimensions at most."""
    fields = _fields(header)
    if fields.keys() != {"descr", "fortran_order", "shape"}:
        raise ValueError(f"its header is {header.strip()[:80]!r}; it must say descr, fortran_order and shape")
    kind = fields["descr"][1:-1]
    if fields["descr"][0] == "[" or not _REAL.fullmatch(kind):
        return None
    numbers = re.findall(r"\d+", fields["shape"])
    if any(len(number) > 18 for number in numbers):
        raise ValueError(f"it has the shape {fields['shape'][:80]}, more than any memory holds")
    if len(numbers) > 2:
        return None
    return Layout(np.dtype(kind), fields["fortran_order"] == "True", tuple(map(int, numbers)))


def _fields(header: str) -> Mapping[str, str]:
    """Return the fields of a header, as they are written there; nothing if it is not of this form."""
    body, fields, place = header.strip(), {}, 1
    if not body.startswith("{") or not body.endswith("}"):
        return {}
    while found := _FIELD.match(body, place):
        fields[found[1]] = found[2]
        place = found.end()
    return fields if not body[place:-1].strip() else {}


def _array(layout: Layout, content: bytes) -> NDArray[Any]:
    if len(content) != layout.nbytes:
        raise ValueError(
            f"an array of shape {layout.shape} has {layout.nbytes:,} bytes and the file holds {len(content):,} for it"
        )
    array = np.frombuffer(content, dtype=layout.type)
    return array.reshape(layout.shape, order="F" if layout.fortran else "C")
