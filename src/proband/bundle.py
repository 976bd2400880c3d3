"""Arrays that travel together into compiled code, behind one pointer.

Numba passes a tuple of arrays as all of its parts, seven words for each array, through every call; what that takes
to compile grows with their number, and was most of the time of the first search on a machine. A `Bundle` is handed on
as one address. There lies a header of 64-bit slots, in the order of the fields: for an array its address and its
shape, for a number the number itself. A compiled function reads the slots of the fields that it names, and no others::

    @dataclass(frozen=True, eq=False)
    class Prices(Bundle):
        price: FloatArray
        tests: int


    @kernel
    def first(prices: Prices) -> float:
        return prices.price[0] if prices.tests else 0.0

In compiled code a field that is an array is a *view*: ``x[i, j]``, ``x[i]`` (a view of a row), ``x.size`` and
``x.shape`` are all it knows. It counts no references and no index from the end, which is why it compiles in a third of
the time of an array.

Compiled code may write into the arrays of a bundle, never its fields: a header does not change, and that is what lets
the compiler read a slot once before a loop. The bundle in Python owns the arrays, so it must outlive the call.
"""

from __future__ import annotations

import functools
import math
import operator
import struct
from typing import Any, Self, cast, get_args, get_type_hints

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate
from numba.extending import models
from numpy.typing import NDArray

# Numba ships no annotations of these.
extending: Any = numba.extending
kinds: Any = types
templates: Any = numba.core.typing.templates

WORD = ir.IntType(64)
LINE = 64
"""Bytes of a line of the processor's cache, where arrays begin."""


class ViewType(types.Type):
    """A C-contiguous array that somebody else owns."""

    def __init__(self, dtype: Any, ndim: int) -> None:
        super().__init__(f"View({dtype}, {ndim})")
        self.dtype, self.ndim = dtype, ndim


class BundleType(types.Type):
    """What the compiler knows of a bundle: the types of its fields, and the slot where each begins."""

    def __init__(self, name: str, members: tuple[tuple[str, Any], ...]) -> None:
        super().__init__(f"{name}{members}")
        self.members = dict(members)
        self.slots: dict[str, int] = {}
        slot = 0
        for field, kind in members:
            self.slots[field] = slot
            slot += 1 + (kind.ndim if isinstance(kind, ViewType) else 0)


class Bundle:
    """Base of frozen dataclasses whose fields are C-contiguous arrays, integers, floats and booleans."""

    _header: NDArray[np.int64]
    _address: int
    _numba_type_: BundleType  # under this name numba looks for it first, which saves a microsecond a call

    def __post_init__(self) -> None:
        slots: list[int] = []
        kinds = [_described(name, getattr(self, name), slots) for name in cast(Any, self).__dataclass_fields__]
        self._complete(slots, kinds)

    def _complete(self, slots: list[int], kinds: list[Any]) -> None:
        header = np.array(slots, dtype=np.int64)
        kind = cast(Any, _kind)(type(self), *kinds)
        self.__dict__.update(_header=header, _address=header.ctypes.data, _numba_type_=kind)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are made anew: what is at an address here is nothing elsewhere."""
        return type(self), tuple(getattr(self, name) for name in cast(Any, self).__dataclass_fields__)

    @classmethod
    def zeros(cls, **shapes: int | tuple[int, ...]) -> Self:
        """Make one of arrays of zeros, each of its shape and of the type that its field is annotated with.

        They share one piece of memory, so that its address is asked for once: small plans are quicker than ten arrays.
        """
        numbers: dict[str, Any] = cast(Any, _numbers)(cls)
        made, places, end = cls.__new__(cls), [], 0
        for name, number in numbers.items():
            shape = _shaped(shapes[name])
            places.append((name, number, shape, end))
            end += -(-math.prod(shape) * number.itemsize // LINE) * LINE
        memory = np.zeros(end + LINE, dtype=np.uint8)
        start = memory.ctypes.data
        skipped = -start % LINE
        slots: list[int] = []
        for name, number, shape, place in places:
            made.__dict__[name] = np.ndarray(shape, number, memory, skipped + place)
            slots += (start + skipped + place, *shape)
        made._complete(slots, [(number, len(shape)) for _, number, shape, _ in places])
        return made


@functools.cache
def _numbers(bundle: Any) -> dict[str, Any]:
    """The types of the numbers in the arrays of a class of bundles; looking them up takes a millisecond."""
    hints = get_type_hints(bundle)
    return {name: np.dtype(_number(hints[name])) for name in bundle.__dataclass_fields__}


def _number(hint: Any) -> Any:
    """The type of the numbers of an annotated array: somewhere within, as NumPy spells it in several ways."""
    if hint in np.sctypeDict.values():
        return hint
    return next((found for part in get_args(hint) if (found := _number(part)) is not None), None)


def _shaped(given: int | tuple[int, ...]) -> tuple[int, ...]:
    return given if isinstance(given, tuple) else (given,)


def _described(name: str, value: Any, slots: list[int]) -> Any:
    """Return what decides on the type of a field, and add what goes into its slots."""
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise ValueError(f"the field {name} is an array with gaps; compiled code wants it contiguous; copy it")
        slots += (value.__array_interface__["data"][0], *value.shape)
        return value.dtype, value.ndim
    number = not isinstance(value, int)
    slots.append(struct.unpack("q", struct.pack("d", value))[0] if number else int(value))
    return types.float64 if number else types.boolean if isinstance(value, bool) else types.int64


@functools.cache
def _kind(bundle: Any, *kinds: Any) -> BundleType:
    """The type of a class of bundles with such fields."""
    members = [kind if isinstance(kind, types.Type) else ViewType(numba.from_dtype(kind[0]), kind[1]) for kind in kinds]
    return BundleType(bundle.__qualname__, tuple(zip(bundle.__dataclass_fields__, members, strict=True)))


# How the compiler holds them: a bundle is a pointer, a view a pointer and a shape.


class _BundleModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        cast(Any, super()).__init__(manager, kind, WORD.as_pointer())


class _ViewModel(models.StructModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        shape = [(f"n{k}", types.int64) for k in range(kind.ndim)]
        cast(Any, super()).__init__(manager, kind, [("data", kinds.CPointer(kind.dtype)), *shape])


def _unbox(kind: Any, value: Any, c: Any) -> Any:
    number = c.pyapi.object_getattr_string(value, "_address")
    address = c.pyapi.long_as_longlong(number)
    c.pyapi.decref(number)
    return extending.NativeValue(c.builder.inttoptr(address, WORD.as_pointer()), is_error=c.pyapi.c_api_error())


extending.register_model(BundleType)(_BundleModel)
extending.register_model(ViewType)(_ViewModel)
extending.unbox(BundleType)(_unbox)


# What may be asked of them, and the types of the answers.


def _indices(index: Any) -> tuple[Any, ...]:
    """Types of the indices within brackets; none unless all are integers."""
    parts = tuple(index) if isinstance(index, kinds.BaseTuple) else (index,)
    return parts if all(isinstance(part, types.Integer) for part in parts) else ()


def _field(self: Any, kind: Any, name: str) -> Any:
    return kind.members.get(name)


class _Fields(AttributeTemplate):
    key = BundleType
    generic_resolve: Any = _field


class _Shape(AttributeTemplate):
    key = ViewType

    def resolve_size(self, kind: Any) -> Any:
        return types.int64

    def resolve_shape(self, kind: Any) -> Any:
        return kinds.UniTuple(types.int64, kind.ndim)


class _GetItem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        view, index = args
        if not isinstance(view, ViewType) or not 0 < len(_indices(index)) <= view.ndim:
            return None
        left = view.ndim - len(_indices(index))
        return templates.signature(ViewType(view.dtype, left) if left else view.dtype, view, index)


class _SetItem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        view, index, _ = args
        if not isinstance(view, ViewType) or len(_indices(index)) != view.ndim:
            return None
        return templates.signature(types.none, view, index, view.dtype)


extending.infer_getattr(_Fields)
extending.infer_getattr(_Shape)
templates.infer_global(operator.getitem)(_GetItem)
templates.infer_global(operator.setitem)(_SetItem)


# The code of the answers.


def _view(context: Any, builder: Any, kind: Any, data: Any, shape: list[Any]) -> Any:
    view = ir.Constant(context.get_value_type(kind), ir.Undefined)
    for k, part in enumerate([data, *shape]):
        view = builder.insert_value(view, part, k)
    return view


def _lengths(builder: Any, kind: Any, view: Any) -> list[Any]:
    return [builder.extract_value(view, 1 + k) for k in range(kind.ndim)]


def _read(context: Any, builder: Any, kind: Any, header: Any, name: str) -> Any:
    """Read a field from its slots."""

    def slot(number: int) -> Any:
        word = builder.load(builder.gep(header, [ir.Constant(WORD, number)], inbounds=True))
        word.set_metadata("invariant.load", builder.module.add_metadata([]))
        return word

    member, place = kind.members[name], kind.slots[name]
    first = slot(place)
    if isinstance(member, ViewType):
        data = builder.inttoptr(first, context.get_data_type(member.dtype).as_pointer())
        return _view(context, builder, member, data, [slot(place + 1 + k) for k in range(member.ndim)])
    if member == types.boolean:
        return builder.trunc(first, ir.IntType(1))
    return builder.bitcast(first, ir.DoubleType()) if member == types.float64 else first


def _shape(context: Any, builder: Any, kind: Any, view: Any) -> Any:
    return context.make_tuple(builder, kinds.UniTuple(types.int64, kind.ndim), _lengths(builder, kind, view))


def _size(context: Any, builder: Any, kind: Any, view: Any) -> Any:
    size, *others = _lengths(builder, kind, view)
    for length in others:
        size = builder.mul(size, length)
    return size


def _place(context: Any, builder: Any, asked: Any, view: Any, index: Any) -> Any:
    """Address of an element, or of the first one of a row."""
    parts = _indices(asked[1])
    several = isinstance(asked[1], kinds.BaseTuple)
    values = [builder.extract_value(index, k) for k in range(len(parts))] if several else [index]
    offset = ir.Constant(WORD, 0)
    for k, length in enumerate(_lengths(builder, asked[0], view)):
        offset = builder.mul(offset, length) if k else offset
        if k < len(parts):
            offset = builder.add(offset, context.cast(builder, values[k], parts[k], types.int64))
    return builder.gep(builder.extract_value(view, 0), [offset], inbounds=True)


def _get(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    place = _place(context, builder, sig.args, *args)
    kind = sig.return_type
    if not isinstance(kind, ViewType):
        return context.unpack_value(builder, kind, place)
    return _view(context, builder, kind, place, _lengths(builder, sig.args[0], args[0])[-kind.ndim :])


def _set(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    view, index, value = args
    place = _place(context, builder, sig.args, view, index)
    context.pack_value(builder, sig.args[0].dtype, value, place)
    return context.get_dummy_value()


extending.lower_getattr_generic(BundleType)(_read)
extending.lower_getattr(ViewType, "shape")(_shape)
extending.lower_getattr(ViewType, "size")(_size)
extending.lower_builtin(operator.getitem, ViewType, types.Any)(_get)
extending.lower_builtin(operator.setitem, ViewType, types.Any, types.Any)(_set)
