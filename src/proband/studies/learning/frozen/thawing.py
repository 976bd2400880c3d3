"""From bytes to an agent."""

from __future__ import annotations

import functools
import json
import types
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from proband.studies.learning.frozen.basis import GENERATORS, KINDS, Basis, FreezeError, class_of

_MADE = {
    "l": "list", "t": "tuple", "u": "set", "f": "frozenset", "d": "dict", "m": "view", "a": "array", "s": "scalar",
    "r": "generator", "y": "method", "q": "partial", "e": "enum", "n": "named", "b": "bundle", "o": "object",
    "h": "bytes",
}  # fmt: skip


def thaw(frozen: bytes, basis: Basis) -> Any:
    """Return what was frozen; raise :class:`FreezeError` if that cannot be."""
    try:
        whole = zlib.decompress(frozen)
        size = int.from_bytes(whole[:8], "big")
        head = json.loads(whole[8 : 8 + size])
        return _Thawer(basis, head["classes"], list(_arrays(head["arrays"], whole, 8 + size))).made(head["root"])
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError, ImportError, zlib.error) as error:
        raise FreezeError(f"these bytes are no frozen agent ({type(error).__name__}: {error})") from error


class _Thawer:
    """Makes what a freezer went through, in the same order."""

    def __init__(self, basis: Basis, classes: list[str], arrays: list[np.ndarray[Any, Any]]) -> None:
        self._basis = basis
        self._classes = [class_of(name, basis) for name in classes]
        self._arrays = arrays
        self._made: list[Any] = []

    def made(self, node: Any) -> Any:
        """Return what a node stands for."""
        if not isinstance(node, list):
            return node
        tag, *rest = node
        if tag == "=":
            return self._made[rest[0]]
        if tag == "p":
            return self._basis.problem
        if tag == "c":
            return self._basis.functions[rest[0]]
        if tag == "k":
            return self._classes[rest[0]]
        place = len(self._made)
        self._made.append(None)
        made: Callable[..., Any] = getattr(self, f"_{_MADE[tag]}")
        self._made[place] = value = made(place, *rest)
        return value

    def _list(self, place: int, parts: list[Any]) -> Any:
        value: list[Any] = []
        self._made[place] = value
        value.extend(self.made(part) for part in parts)
        return value

    def _dict(self, place: int, parts: list[Any]) -> Any:
        value: dict[Any, Any] = {}
        self._made[place] = value
        for key, part in parts:
            own = self.made(key)
            value[own] = self.made(part)
        return value

    def _view(self, place: int, parts: list[Any]) -> Any:
        return types.MappingProxyType(self._dict(place, parts))

    def _tuple(self, place: int, parts: list[Any]) -> Any:
        return tuple(self.made(part) for part in parts)

    def _set(self, place: int, parts: list[Any]) -> Any:
        return {self.made(part) for part in parts}

    def _frozenset(self, place: int, parts: list[Any]) -> Any:
        return frozenset(self.made(part) for part in parts)

    def _array(self, place: int, number: int, writeable: bool) -> Any:
        array = self._arrays[number]
        array.flags.writeable = bool(writeable)
        return array

    def _bytes(self, place: int, digits: str) -> Any:
        return bytes.fromhex(digits)

    def _scalar(self, place: int, number: int) -> Any:
        return self._arrays[number][()]

    def _generator(self, place: int, state: Any) -> Any:
        bits = GENERATORS[state["bit_generator"]]()
        bits.state = state
        return np.random.Generator(bits)

    def _method(self, place: int, owner: Any, name: str) -> Any:
        thawed = self.made(owner)
        function = getattr(type(thawed), name)
        if not isinstance(function, types.FunctionType):
            raise FreezeError(f"{name} is no method")
        return types.MethodType(function, thawed)

    def _partial(self, place: int, function: Any, given: Any, named: Any) -> Any:
        called = self.made(function)
        return functools.partial(called, *self.made(given), **self.made(named))

    def _enum(self, place: int, number: int, name: str) -> Any:
        members: Any = self._classes[number]
        return members[name]

    def _named(self, place: int, number: int, parts: list[Any]) -> Any:
        kind = self._classes[number]
        if not issubclass(kind, tuple):
            raise FreezeError(f"{kind} is no tuple")
        return tuple.__new__(kind, [self.made(part) for part in parts])

    def _bundle(self, place: int, number: int, parts: list[Any]) -> Any:
        kind = self._classes[number]
        if not hasattr(kind, "_complete"):
            raise FreezeError(f"{kind} is no bundle")
        return kind(*(self.made(part) for part in parts))

    def _object(self, place: int, number: int, parts: list[Any]) -> Any:
        value: Any = object.__new__(self._classes[number])
        self._made[place] = value
        for name, part in parts:
            object.__setattr__(value, name, self.made(part))
        return value


def _arrays(described: list[Any], whole: bytes, start: int) -> Iterator[np.ndarray[Any, Any]]:
    for kind, shape, order in described:
        dtype = np.dtype(kind)
        if dtype.kind not in KINDS or order not in ("C", "F") or any(n < 0 for n in shape):
            raise FreezeError("an array of another kind")
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        flat = np.frombuffer(whole[start : start + size], dtype=dtype)
        yield flat.reshape(shape, order=order).copy(order=order)
        start += size
