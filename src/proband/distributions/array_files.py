"""Arrays on disk, read without trust: NumPy's NPY and NPZ, MATLAB's level 5 (versions 5 to 7) and level 4.

What a file says of an array is checked before any memory is taken for it: real numbers, not more of them than the file
holds, and not more than :data:`proband.files.LARGEST_ARRAYS` in one file. NumPy's own reader is not used: it evaluates
the header as Python, and takes the shape on faith. What is no matrix or vector of real numbers (texts, structures,
cells, sparse and complex ones) is left out.

MATLAB's level-5 file is a header of 128 bytes and elements, each with a tag (type, number of bytes) and padded to 8
bytes; up to four bytes fit into the tag itself. A matrix is an element that holds others: flags with its class,
dimensions, name, real part. In a compressed file each matrix is deflated by itself. A level-4 file is a list of
matrices, each with five integers, a name and its numbers. Matrices lie column by column. Version 7.3 is another format
(HDF5), and is refused.
"""

from __future__ import annotations

import io
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from proband.files import LARGEST_ARRAYS, MOST_ARRAYS, size

Arrays = dict[str, NDArray[Any]]

MAGIC = b"\x93NUMPY"
LONGEST_HEADER = 10_000
MAT_HEADER = 128
BEGINNING = 4096
"""Bytes of a compressed matrix that are inflated to see what it is: flags, dimensions and name."""

_FIELD = re.compile(r"\s*['\"](\w+)['\"]\s*:\s*(True|False|'[^']*'|\"[^\"]*\"|\([\d\s,L]*\)|\[[^\]]*\])\s*(?:,|(?=\}))")
_REAL = re.compile(r"[<>|=]?(?:f(?:2|4|8)|[iu](?:1|2|4|8))")
_LEVEL_5_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_LEVEL_4_TYPES = ("f8", "f4", "i4", "i2", "u2", "u1")
_INTEGERS, _FLAGS, _MATRIX, _COMPRESSED = 5, 6, 14, 15
_REAL_CLASSES = range(6, 16)
_COMPLEX = 0x800
_PADDING = 8
_TOO_MANY = f"it has more than {MOST_ARRAYS} elements, which is the most that is read"


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


class Element(NamedTuple):
    """An element: its type, where its content begins, how many bytes that has, and where the next one begins."""

    type: int
    start: int
    nbytes: int
    end: int


class Matrix(NamedTuple):
    """A matrix: its name and shape, the type of its numbers, and where these are."""

    name: str
    shape: tuple[int, int]
    type: str
    start: int
    nbytes: int


def read_mat(content: bytes) -> Arrays:
    """Return the real matrices of a file, by name; raise ValueError if it lies."""
    found = _level_5(content) if content[126:MAT_HEADER] in (b"IM", b"MI") else _level_4(content)
    arrays: Arrays = {}
    for matrix, whole in found:
        rows, columns = matrix.shape
        if rows < 0 or columns < 0 or rows * columns * np.dtype(matrix.type).itemsize != matrix.nbytes:
            raise ValueError(f"the matrix {matrix.name!r} of shape {matrix.shape} has {matrix.nbytes:,} bytes in it")
        numbers = np.frombuffer(_part(whole, matrix.start, matrix.nbytes), dtype=matrix.type)
        arrays[matrix.name] = numbers.reshape(matrix.shape, order="F")
    return arrays


def _level_5(content: bytes) -> Iterator[tuple[Matrix, bytes]]:
    """Yield the real matrices, each with the bytes in which it is."""
    order = "<" if content[126:MAT_HEADER] == b"IM" else ">"
    [version] = struct.unpack(f"{order}H", content[124:126])
    if version >> 8 != 1:
        raise ValueError("it is of MATLAB's version 7.3 (HDF5), or later; save it with -v7")
    place, left = MAT_HEADER, LARGEST_ARRAYS
    for _ in range(MOST_ARRAYS):
        if place >= len(content):
            return
        element = _element(content, place, order)
        packed = _part(content, element.start, element.nbytes)
        deflated = element.type == _COMPRESSED
        shown = _inflated(packed, BEGINNING) if deflated else content[place : element.start + element.nbytes]
        place = element.end
        outer = _element(shown, 0, order)
        matrix = _matrix(shown, outer, order) if outer.type == _MATRIX else None
        if matrix is not None:
            left -= matrix.start + matrix.nbytes
            check_room(left)
            yield matrix, _inflated(packed, matrix.start + matrix.nbytes, whole=True) if deflated else shown
    raise ValueError(_TOO_MANY)


def _level_4(content: bytes) -> Iterator[tuple[Matrix, bytes]]:
    """Yield the real matrices, each with the bytes in which it is."""
    place = 0
    for n in range(MOST_ARRAYS):
        if n and place >= len(content):
            return
        start = _part(content, place, 20)
        order = "<" if struct.unpack("<i", start[:4])[0] in range(5000) else ">"
        kind, rows, columns, imaginary, letters = struct.unpack(f"{order}5i", start)
        precision, structure = kind // 10 % 10, kind % 10
        if (
            not 0 <= kind < 2000
            or precision >= len(_LEVEL_4_TYPES)
            or min(rows, columns) < 0
            or not 1 <= letters <= 1000
        ):
            raise ValueError("it is no file of MATLAB, or none of level 4 or 5; save it with -v7")
        name = _part(content, place + 20, letters).split(b"\0")[0].decode("latin-1")
        kind_of_number = order + _LEVEL_4_TYPES[precision]
        nbytes = rows * columns * np.dtype(kind_of_number).itemsize
        begin = place + 20 + letters
        place = begin + nbytes * (2 if imaginary else 1)
        _part(content, begin, place - begin)
        if not structure and not imaginary:
            yield Matrix(name, (rows, columns), kind_of_number, begin, nbytes), content
    raise ValueError(_TOO_MANY)


def _element(content: bytes, place: int, order: str) -> Element:
    first, nbytes = struct.unpack(f"{order}2I", _part(content, place, 8))
    if first >> 16:  # a small element: its content is in the tag
        return Element(first & 0xFFFF, place + 4, min(first >> 16, 4), place + 8)
    padding = 0 if first == _COMPRESSED else -nbytes % 8
    return Element(first, place + 8, nbytes, place + 8 + nbytes + padding)


def _matrix(content: bytes, outer: Element, order: str) -> Matrix | None:
    """Return what a matrix says of itself; None if it is no real matrix."""
    flags = _element(content, outer.start, order)
    if flags.type != _FLAGS or flags.nbytes != 8:
        raise ValueError("a matrix does not say of which class it is")
    [word] = struct.unpack(f"{order}I", _part(content, flags.start, 4))
    if word & 0xFF not in _REAL_CLASSES or word & _COMPLEX:
        return None
    dimensions = _element(content, flags.end, order)
    if dimensions.type != _INTEGERS or dimensions.nbytes != 8:
        return None
    rows, columns = struct.unpack(f"{order}2i", _part(content, dimensions.start, 8))
    name = _element(content, dimensions.end, order)
    label = _part(content, name.start, name.nbytes).decode("latin-1")
    numbers = _element(content, name.end, order)
    if numbers.type not in _LEVEL_5_TYPES:
        raise ValueError(f"the matrix {label!r} is of numbers of type {numbers.type}, which does not exist")
    return Matrix(label, (rows, columns), order + _LEVEL_5_TYPES[numbers.type], numbers.start, numbers.nbytes)


def _inflated(packed: bytes, nbytes: int, *, whole: bool = False) -> bytes:
    """Return the first bytes of what was deflated, and inflate no more; a `whole` ends there, with its checksum."""
    inflating = zlib.decompressobj()
    try:
        beginning = inflating.decompress(packed, nbytes)
        if whole:
            inflating.decompress(inflating.unconsumed_tail, _PADDING)
    except zlib.error as error:
        raise ValueError(f"it is damaged: {error}") from error
    if whole and not inflating.eof:
        raise ValueError("a compressed matrix does not end where it says")
    return beginning


def _part(content: bytes, start: int, nbytes: int) -> bytes:
    part = content[start : start + nbytes]
    if len(part) < nbytes:
        raise ValueError(f"it ends at byte {len(content):,}, in the middle of a matrix; it was cut off")
    return part
