"""Files may lie: what is read from a disk has limits, kept before memory is taken, and is answered by our own errors.

The limits of every reader are here, in one place; ``docs/problem-files.md`` lists them. They are far above what the
planners can use, and far below what would bring a machine down.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from proband.errors import ProbandError

LARGEST_FILE = 2**28
"""Bytes of a table, a policy or a covariance, and of one line of an exported study: 256 MiB."""

LARGEST_PROBLEM_FILE = 2**24
"""Bytes of a problem file: 16 MiB."""

MOST_SITES = 4096
"""Tests of a covariance, in a file."""

LARGEST_ARRAYS = 2**28
"""Bytes that the arrays of one file unfold to, together: 256 MiB, two covariances of the largest kind."""

MOST_ARRAYS = 1000
"""Arrays in one file."""

MOST_CELLS = 2**20
"""Combinations of target outcomes and decisions in the table of a reward, in a file."""

MOST_TARGETS = 32
"""Target tests of such a table."""

MOST_ENTRIES = 2**26
"""Entries of a table in Parquet, which may say the same a million times in few bytes."""

LARGEST_UNPACKED = 2**28
"""Bytes that the parts of a workbook unpack to, together: 256 MiB."""

MOST_PARTS = 10_000
"""Parts of a workbook."""

MOST_SHEET_CELLS = 2**22
"""Rows times columns of a sheet in a workbook."""

DEEPEST = 400
"""Levels of lists and tables within each other, in problem files, policies and the first event of a study."""

MOST_DOTS = 64
"""Dots in a key of a problem file."""

LARGEST_NUMBER = sys.float_info.max
"""The largest number; whole ones of more than 309 digits are none."""

MOST_DIGITS = 4300
"""Digits of a number that is wrong, yet can be shown; Python itself reads no longer ones but in hexadecimal digits."""


def read_bytes(path: str | os.PathLike[str], error: type[ProbandError], *, most: int = LARGEST_FILE) -> bytes:
    """Return the content of a file; raise `error` if it cannot be read or is larger than `most` bytes."""
    try:
        with Path(path).open("rb") as file:
            too_large = os.fstat(file.fileno()).st_size > most
            content = b"" if too_large else file.read(most + 1)
    except (OSError, ValueError) as cause:  # a path with a NUL character is a ValueError
        raise error(f"{path}: it cannot be read ({getattr(cause, 'strerror', cause)}); check the path") from cause
    if too_large or len(content) > most:
        raise error(f"{path}: it has more than {size(most)}, which is the most that is read; split or shorten it")
    return content


def read_stream(stream: BinaryIO, name: str, error: type[ProbandError], *, most: int = LARGEST_FILE) -> bytes:
    """Return what an open binary file, or standard input, still has; `name` begins every message."""
    try:
        content = stream.read(most + 1)
    except (OSError, ValueError) as cause:  # a closed file is a ValueError
        raise error(
            f"{name}: it cannot be read ({getattr(cause, 'strerror', cause) or cause}); open it again"
        ) from cause
    if not isinstance(content, bytes):
        raise error(f"{name}: it gives {type(content).__name__} and not bytes; open it in binary mode")
    if len(content) > most:
        raise error(f"{name}: it has more than {size(most)}, which is the most that is read; split or shorten it")
    return content


def read_text(path: str | os.PathLike[str], error: type[ProbandError], *, most: int = LARGEST_FILE) -> str:
    """Return the content of a text file in UTF-8."""
    try:
        return read_bytes(path, error, most=most).decode("utf-8-sig")
    except UnicodeDecodeError as cause:
        raise error(f"{path}: it is not UTF-8 text ({cause.reason}); save it as UTF-8") from cause


def read_json(
    path: str | os.PathLike[str], error: type[ProbandError], *, what: str = "a file that proband wrote"
) -> Any:
    """Return the content of a JSON file; `what` is needed here."""
    text = read_text(path, error)
    try:
        content = json.loads(text)
        check_nesting(content)
    except (ValueError, RecursionError) as cause:
        raise error(f"{path}: it is not JSON ({cause}); give {what}") from cause
    return content


def check_nesting(content: object) -> None:
    """Raise ValueError if lists and tables lie in each other too deep, or a number is too long to be shown."""
    level = [content]
    for _ in range(DEEPEST):
        below: list[object] = []
        for value in level:
            if isinstance(value, Mapping):
                below.extend(value.values())
            elif isinstance(value, list):
                below.extend(value)
            elif isinstance(value, int) and value.bit_length() > 3.32 * MOST_DIGITS:
                raise ValueError(f"a number has more than {MOST_DIGITS} digits, the most that is read")
        level = below
        if not level:
            return
    raise ValueError(f"lists and tables lie in each other more than {DEEPEST} deep, the most that is read")


def size(n: int) -> str:
    """Return a number of bytes for people.

    Examples
    --------
    >>> size(2**28), size(8 * 10**12)
    ('256 MiB', '7,629,395 MiB')
    """
    return f"{n / 2**20:,.0f} MiB"
