"""Compilation helpers: a typed ``kernel`` decorator and bit intrinsics for uint64 words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

__all__ = ["finite_kernel", "kernel", "mix", "popcount", "trailing_zeros"]

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile `function` with numba: cached on disk, without the interpreter lock."""
    return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy")(function))


def finite_kernel(function: F) -> F:
    """Like `kernel`, for loops whose numbers are never NaN, so that minima are vectorised."""
    return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"nnan", "nsz"})(function))


@intrinsic
def _popcount(typing_context: Any, word: Any) -> Any:
    """Count the bits set in a uint64 word (``llvm.ctpop``)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic
def _trailing_zeros(typing_context: Any, word: Any) -> Any:
    """Position of the lowest bit set in a non-zero uint64 word (``llvm.cttz``)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


popcount = cast(Callable[[Any], Any], _popcount)
trailing_zeros = cast(Callable[[Any], Any], _trailing_zeros)


@kernel
def mix(word: np.uint64) -> np.uint64:
    """Scramble a word (the finaliser of splitmix64)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))
