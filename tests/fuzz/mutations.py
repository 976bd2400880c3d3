"""How a file goes wrong: bytes that were damaged, numbers that were blown up, structures that were rearranged.

Everything is drawn from a :class:`random.Random`, so that a case can be made again from its seed and its number.
"""

from __future__ import annotations

import copy
import csv
import io
import math
import random
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

LONGEST = 2**20
"""Bytes of a damaged file; more comes from files that claim it than from files that have it."""

_WORDS = (
    0,
    1,
    2**7,
    2**8 - 1,
    2**15,
    2**16 - 1,
    2**24,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**40,
    2**63 - 1,
    2**63,
    2**64 - 1,
)
_NUMBERS = (
    b"-1", b"0", b"1e400", b"-1e400", b"nan", b"-inf", b"1e-400", b"2147483648", b"9223372036854775808", b"8e12",
    b"18446744073709551616", b"0x" + b"f" * 5000, b"9" * 400, b"1" + b"0" * 5000, b"0.1.2", b"1_000", b"",
)  # fmt: skip
_NESTING = (b"[", b"{", b"(", b"a.", b'{"a":', b"[[", b'"a".', b"-")
_DIGITS = re.compile(rb"[0-9]+(?:\.[0-9]+)?")

Bytes = Callable[[random.Random, bytearray, Sequence[bytes]], None]


def damaged(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Return a file with one to four damages; `others` are files of the same kind."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
        rng.choice(_DAMAGES)(rng, changed, others)
        del changed[LONGEST:]
    return bytes(changed)


def _place(rng: random.Random, data: bytearray) -> int:
    """Return a place, in the first bytes as often as in all others: formats have headers."""
    return rng.randrange(min(len(data), 200) if rng.random() < 0.5 else len(data)) if data else 0


def _part(rng: random.Random, data: bytearray) -> slice:
    start = _place(rng, data)
    return slice(start, start + rng.choice((1, 2, 4, 8, 40, 400)))


def _flip(rng: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    if data:
        data[_place(rng, data)] ^= 1 << rng.randrange(8)


def _change(rng: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    for _ in range(rng.choice((1, 1, 8))):
        if data:
            data[_place(rng, data)] = rng.randrange(256)


def _word(rng: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    """Write a number that programs like to trip over, in some width and order of bytes."""
    code = rng.choice(("<I", ">I", "<Q", ">Q", "<H", ">H", "B"))
    start, size = _place(rng, data), struct.calcsize(code)
    data[start : start + size] = struct.pack(code, rng.choice(_WORDS) % 2 ** (8 * size))


def _cut(rng: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    start = _place(rng, data)
    del data[slice(start, None) if rng.random() < 0.7 else slice(start)]


def _drop(rng: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    del data[_part(rng, data)]


def _insert(rng: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    start = _place(rng, data)
    data[start:start] = rng.randbytes(rng.choice((1, 2, 4, 8, 40, 400)))


def _double(rng: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    part = _part(rng, data)
    data[part.start : part.start] = bytes(data[part]) * rng.choice((1, 1, 2, 10, 300))


def _splice(rng: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    other = rng.choice(others)
    data[_place(rng, data) :] = other[rng.randrange(len(other) or 1) :]


def _blow_up(rng: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    """Replace a number that is written in digits."""
    found = list(_DIGITS.finditer(data))
    if found:
        chosen = rng.choice(found)
        data[chosen.start() : chosen.end()] = rng.choice(_NUMBERS)


def _nest(rng: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    start = _place(rng, data)
    data[start:start] = rng.choice(_NESTING) * rng.choice((3, 70, 1000, 50_000))


_DAMAGES: tuple[Bytes, ...] = (
    _flip, _flip, _change, _change, _word, _word, _cut, _drop, _insert, _double, _splice, _blow_up, _blow_up, _nest,
)  # fmt: skip


def _deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


_STRANGE: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 3, 2**31, 2**63, 2**64, 10**400, -(10**400), 0.5, -0.5, 1.5, 1e15, 1e308, -1e308,
    5e-324, math.nan, math.inf, -math.inf, "", " ", "x", "0", "NaN", "1e999", "\x00", "\x1b[31m", "\ud800", "é" * 1000,
    [], {}, [[]], [None], {"": {}}, {"a": {"a": 1}}, ["a", 1], _deep(10), _deep(90), "2024-05-01",
    "2024-05-01T12:00:00", "9999-12-31T23:59:59.999999Z", "0001-01-01T00:00:00.000000Z",
)  # fmt: skip

Place = tuple[Any, Any]


def altered(rng: random.Random, value: Any) -> Any:
    """Return a structure of lists, dictionaries and plain values in which one to three things are wrong."""
    top = [copy.deepcopy(value)]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        places = list(_places(top))
        if not places:
            break
        container, key = rng.choice(places)
        rng.choice(_ALTERATIONS)(rng, container, key, places)
    return top[0] if top else None


def _places(value: Any) -> Iterator[Place]:
    """Yield every place in which something stands: its container and its key."""
    stack = [value]
    while stack:
        container = stack.pop()
        keys = list(container) if isinstance(container, dict) else range(len(container))
        for key in keys:
            yield container, key
            if isinstance(container[key], dict | list):
                stack.append(container[key])


def _replace(rng: random.Random, container: Any, key: Any, places: list[Place]) -> None:
    container[key] = copy.deepcopy(rng.choice(_STRANGE))


def _nudge(rng: random.Random, container: Any, key: Any, places: list[Place]) -> None:
    """Change a value into another one of its kind."""
    was = container[key]
    if isinstance(was, bool):
        container[key] = not was
    elif isinstance(was, int | float):
        container[key] = rng.choice((was + 1, was - 1, -was, was * 1000, was / 3, float(was), math.ldexp(1.0, 1000)))
    elif isinstance(was, str):
        container[key] = rng.choice((was + "x", was[:-1], was.upper(), was * 50, was[::-1]))
    else:
        _replace(rng, container, key, places)


def _move(rng: random.Random, container: Any, key: Any, places: list[Place]) -> None:
    """Put a copy of something that stands elsewhere here."""
    other, there = rng.choice(places)
    try:
        container[key] = copy.deepcopy(other[there])
    except LookupError:  # it was just taken away
        _replace(rng, container, key, places)


def _remove(rng: random.Random, container: Any, key: Any, places: list[Place]) -> None:
    del container[key]


def _rename(rng: random.Random, container: Any, key: Any, places: list[Place]) -> None:
    if isinstance(container, dict):
        container[rng.choice(("", "x", key + "x", key[:-1], *container))] = container.pop(key)
    else:
        container.insert(key, copy.deepcopy(container[key]))


def _wrap(rng: random.Random, container: Any, key: Any, places: list[Place]) -> None:
    container[key] = rng.choice(([container[key]], {"a": container[key]}, {str(container[key])[:9]: 1}))


def _multiply(rng: random.Random, container: Any, key: Any, places: list[Place]) -> None:
    was = container[key]
    container[key] = was * rng.choice((0, 2, 30)) if isinstance(was, list) else [copy.deepcopy(was) for _ in range(40)]


_ALTERATIONS: tuple[Callable[[random.Random, Any, Any, list[Place]], None], ...] = (
    _replace, _replace, _replace, _nudge, _nudge, _nudge, _move, _move, _remove, _rename, _wrap, _multiply,
)  # fmt: skip

_CELLS = (
    "", " ", "NA", "nan", "inf", "-inf", "1e400", "1e-400", "1e308", "-1e308", "1e200", "5e-324", "-1", "0", "1",
    "9" * 400, "x" * 140_000, "\0", '"', "\x1b[2J", "=1+1", "é", "\ufeff", "a\nb", "1,5", "mean", "probability", "site",
    "cost",
)  # fmt: skip


def rearranged(rng: random.Random, table: bytes) -> bytes:
    """Return a CSV in which cells, rows or columns are wrong."""
    rows = [list(row) for row in csv.reader(io.StringIO(table.decode(), newline=""))]
    for _ in range(rng.choice((1, 1, 2, 3))):
        row = rng.choice(rows)
        column = rng.randrange(len(row) or 1)
        what = rng.randrange(8)
        if what < 3 and row:
            row[column] = rng.choice((*_CELLS, rng.choice(rng.choice(rows) or [""])))
        elif what == 3:
            rows.insert(rng.randrange(len(rows)), list(row))
        elif what == 4 and len(rows) > 1:
            rows.remove(row)
        elif what == 5:
            for each in rows:
                each[column : column + 1] = [] if rng.random() < 0.9 else each[column : column + 1] * 2
        elif what == 6:
            row.insert(column, rng.choice(_CELLS))
        else:
            rng.shuffle(row)
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=rng.choice(",,,,;\t"), lineterminator=rng.choice(("\n", "\r\n"))).writerows(rows)
    return text.getvalue().encode("utf-8", "surrogatepass")
