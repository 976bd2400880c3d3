"""Compiled arithmetic: a decorator for sums, and an exponential that compilers can put into vector registers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from proband.planners.sparse.compiling import kernel

__all__ = ["exponential", "kernel", "summing_kernel"]

F = TypeVar("F", bound=Callable[..., Any])

ROUNDING = 1.5 * 2**52
"""Adding this leaves the nearest whole number in the lowest bits."""

PER_OCTAVE = 1 / math.log(2)
C0, C1, C2, C3, C4, C5, C6, C7, C8, C9, C10, C11 = (math.log(2) ** k / math.factorial(k) for k in range(12))


def summing_kernel(function: F) -> F:
    """Like `kernel`, for loops whose sums may be taken in any order, so that they are vectorised."""
    fastmath = {"reassoc", "contract", "nsz"}
    return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=fastmath)(function))


def _contracting_kernel(function: F) -> F:
    return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})(function))


@intrinsic
def _bits_of(typing_context: Any, number: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def _number_of(typing_context: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


bits_of = cast(Callable[[Any], Any], _bits_of)
number_of = cast(Callable[[Any], Any], _number_of)


@_contracting_kernel
def exponential(x: float) -> float:
    """Return exp(x) for −700 < x < 700, to about 1e-14 of itself: 2^n times a polynomial on [−½, ½]."""
    rounded = x * PER_OCTAVE + ROUNDING
    f = x * PER_OCTAVE - (rounded - ROUNDING)
    p = ((((C11 * f + C10) * f + C9) * f + C8) * f + C7) * f + C6
    p = (((((p * f + C5) * f + C4) * f + C3) * f + C2) * f + C1) * f + C0
    power: float = number_of((bits_of(rounded) + 1023) << 52)
    return p * power
