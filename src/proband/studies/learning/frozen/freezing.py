"""From an agent to bytes."""

from __future__ import annotations

import enum
import functools
import json
import types
import zlib
from typing import Any

import numpy as np

from proband.studies.learning.frozen.basis import GENERATORS, KINDS, PLAIN, Basis, FreezeError, attributes, name_of

_OWN = frozenset({np.ndarray, np.random.Generator, types.MethodType, bytes, functools.partial})
_CONTAINERS: dict[Any, str] = {list: "l", tuple: "t", set: "u", frozenset: "f"}


def freeze(content: object, basis: Basis) -> bytes:
    """Return an agent, or whatever holds one, as bytes."""
    freezer = _Freezer(basis)
    root = freezer.node(content)
    head = {"classes": list(freezer.classes), "root": root, "arrays": [_described(each) for each in freezer.arrays]}
    text = json.dumps(head, separators=(",", ":")).encode()
    parts = (len(text).to_bytes(8, "big"), text, *(each.tobytes(order="A") for each in freezer.arrays))
    return zlib.compress(b"".join(parts), 1)


class _Freezer:
    """Goes through objects once; what comes again is a number."""

    def __init__(self, basis: Basis) -> None:
        self._basis = basis
        self.classes: dict[str, int] = {}
        self.arrays: list[np.ndarray[Any, Any]] = []
        self._seen: dict[int, int] = {}
        self._alive: list[object] = []  # so that no number of an object is given twice

    def node(self, value: Any) -> Any:
        """Return a value as JSON."""
        if type(value) in PLAIN:
            return value
        if id(value) in self._seen:
            return ["=", self._seen[id(value)]]
        if value is self._basis.problem:
            return ["p"]
        if isinstance(value, types.FunctionType | type):
            return self._function(value)
        self._seen[id(value)] = len(self._seen)
        self._alive.append(value)
        return self._part(value)

    def _part(self, value: Any) -> Any:
        kind = type(value)
        if kind in _CONTAINERS:
            return [_CONTAINERS[kind], [self.node(each) for each in value]]
        if kind in (dict, types.MappingProxyType):
            tag = "d" if kind is dict else "m"
            return [tag, [[self.node(key), self.node(each)] for key, each in value.items()]]
        return self._object(value) if kind not in _OWN and not isinstance(value, np.generic) else self._own(value)

    def _own(self, value: Any) -> Any:
        """Return what has a way of its own."""
        kind, node = type(value), list[Any]()
        if kind is np.ndarray:
            node = self._array(value)
        elif kind is np.random.Generator:
            node = ["r", _plain_state(value.bit_generator.state)]
        elif kind is types.MethodType:
            node = ["y", self.node(value.__self__), value.__name__]
        elif kind is bytes:
            node = ["h", value.hex()]
        elif kind is functools.partial:
            node = ["q", self.node(value.func), self.node(list(value.args)), self.node(value.keywords)]
        else:
            node = ["s", self._add(np.asarray(value))]
        return node

    def _object(self, value: Any) -> Any:
        if isinstance(value, enum.Enum):
            return ["e", self._class(type(value)), value.name]
        if isinstance(value, tuple):
            return ["n", self._class(type(value)), [self.node(each) for each in value]]
        if hasattr(value, "_numba_type_"):  # a bundle, whose fields are made into a header with addresses
            return ["b", self._class(type(value)), [self.node(each) for each in _fields(value)]]
        return ["o", self._class(type(value)), [[name, self.node(each)] for name, each in attributes(value)]]

    def _array(self, array: np.ndarray[Any, Any]) -> Any:
        return ["a", self._add(array), bool(array.flags.writeable)]

    def _add(self, array: np.ndarray[Any, Any]) -> int:
        if array.dtype.kind not in KINDS or not array.flags.forc:
            raise FreezeError(f"an array of {array.dtype} with gaps, or of objects, cannot be frozen")
        self.arrays.append(array)
        return len(self.arrays) - 1

    def _function(self, value: Any) -> Any:
        if isinstance(value, type):
            return ["k", self._class(value)]
        if self._basis.functions.get(name_of(value)) is None:
            raise FreezeError(f"{name_of(value)} is no function of a new agent")
        return ["c", name_of(value)]

    def _class(self, kind: type) -> int:
        if not self._basis.owns(kind.__module__) or "<locals>" in kind.__qualname__:
            raise FreezeError(f"{kind.__module__}.{kind.__qualname__} is no class that an agent is made of")
        return self.classes.setdefault(f"{kind.__module__}:{kind.__qualname__}", len(self.classes))


def _fields(value: Any) -> list[Any]:
    return [getattr(value, name) for name in value.__dataclass_fields__]


def _plain_state(state: Any) -> Any:
    if not isinstance(state, dict) or state.get("bit_generator") not in GENERATORS:
        raise FreezeError("the generator of random numbers is of a kind that cannot be frozen")
    return state


def _described(array: np.ndarray[Any, Any]) -> list[Any]:
    fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    return [array.dtype.str, list(array.shape), "F" if fortran else "C"]
