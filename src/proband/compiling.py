"""Compiled functions: how they are made, and a word to whoever waits for them.

`kernel` makes a function that Python calls, `inner` one that only kernels call::

    @inner
    def double(x: float) -> float:
        return 2 * x


    @kernel(fastmath=SUMMING)
    def total(values: Array) -> float: ...

Both are kept on disk, so that a machine compiles them once. When it does, the logger ``proband.compiling`` warns (on
standard error, unless logging is set up otherwise) what is being compiled, for how long, and that it happens once.

Importing this module imports numba, which takes half a second; so only modules of kernels import it, and those are
imported where they are used.

Examples
--------
No line about compiling:

>>> logging.getLogger("proband.compiling").setLevel(logging.ERROR)
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast, overload

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import event
from numba.core.caching import FunctionCache
from numba.extending import intrinsic

__all__ = [
    "CONTRACTING",
    "FINITE",
    "SUMMING",
    "ZERO",
    "bits_of",
    "compiled",
    "inner",
    "kernel",
    "number_of",
    "popcount",
    "trailing_zeros",
]

P = ParamSpec("P")
R = TypeVar("R")

FINITE = frozenset({"nnan", "nsz"})
"""``fastmath`` of loops whose numbers are never NaN, so that minima are vectorised."""

SUMMING = frozenset({"reassoc", "contract", "nsz"})
"""``fastmath`` of loops whose sums may be taken in any order, so that they are vectorised."""

CONTRACTING = frozenset({"contract"})
"""``fastmath`` of polynomials: a product and a sum may become one instruction."""

ZERO: int = cast(int, np.int64(0))
"""0, to begin a count that is handed on: a plain 0 has a type of its own, for which all that takes it would be compiled
once more."""

SUBJECTS = {
    "proband.agents": ("the kernels of agents", "a few seconds"),
    "proband.estimators": ("the estimators", "a few seconds"),
    "proband.fitting": ("the planner of fits", "a few seconds"),
    "proband.piecewise": ("the expectations of scores", "a few seconds"),
    "proband.planners.dense": ("the dense planner", "about 5 seconds"),
    "proband.planners.gaussian": ("the planner for one score", "about 10 seconds"),
    "proband.planners.gaussian.plane": ("the planner for two scores", "about 5 seconds"),
    "proband.planners.rollout": ("the planner by rollouts", "about 5 seconds"),
    "proband.planners.sparse": ("the sparse search", "about 15 seconds"),
    "proband.planners.subset": ("the search for sets of tests", "about 15 seconds"),
    "proband.studies": ("the test for drift", "a few seconds"),
}
"""What the kernels below a module or package are for, and how long they take to compile (``make bench-start``)."""


class _Kept(FunctionCache):
    """What was compiled, on disk; what names modules that were moved since is compiled again."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return cast(Any, super()).load_overload(sig, target_context)
        except (ImportError, AttributeError):  # numba reads the index before it looks whether it is out of date
            cast(Any, self).flush()
            return None


def _decorator(wrapped: bool, fastmath: frozenset[str], inline: bool) -> Callable[[Any], Any]:
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": set(fastmath)}
    options["inline"] = "always" if inline else "never"
    # Without wrappers a third less is to be compiled: nobody calls from C, and from Python it would be a segfault.
    options |= {"no_cfunc_wrapper": True, "no_cpython_wrapper": not wrapped}

    def decorate(function: Any) -> Any:
        made: Any = numba.njit(**options)(function)
        if wrapped:  # what only kernels call is kept with each of them
            made._cache = cast(Any, _Kept)(function)  # as the option cache=True does, but for the class
        return made

    return decorate


@overload
def kernel(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def kernel(*, fastmath: frozenset[str] = ..., inline: bool = ...) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def kernel(function: Any = None, /, *, fastmath: frozenset[str] = frozenset(), inline: bool = False) -> Any:
    """Compile `function` for callers in Python and in kernels: kept on disk, without the interpreter lock.

    Parameters
    ----------
    fastmath : frozenset of str, optional
        `FINITE`, `SUMMING` or `CONTRACTING`, where the loop allows it.
    inline : bool, optional
        Into the source of its callers: one with a single caller is then compiled with it, and not before it as well.
    """
    decorate = _decorator(True, fastmath, inline)
    return decorate if function is None else decorate(function)


@overload
def inner(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def inner(*, fastmath: frozenset[str] = ..., inline: bool = ...) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def inner(function: Any = None, /, *, fastmath: frozenset[str] = frozenset(), inline: bool = False) -> Any:
    """Like `kernel`, for a function that only kernels call: quicker to compile; Python dies when it calls it."""
    decorate = _decorator(False, fastmath, inline)
    return decorate if function is None else decorate(function)


def _bits(name: str, generate: Callable[[Any, Any], Any], result: Any, argument: Any) -> Any:
    def typing(typing_context: Any, word: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return generate(builder, arguments[0])

        return result(argument), code

    typing.__name__ = typing.__qualname__ = name
    return intrinsic(typing)


popcount: Callable[[Any], Any] = _bits("popcount", lambda b, word: b.ctpop(word), types.uint64, types.uint64)
"""The number of bits set in a uint64 word."""

trailing_zeros: Callable[[Any], Any] = _bits(
    "trailing_zeros", lambda b, word: b.cttz(word, ir.Constant(ir.IntType(1), 1)), types.uint64, types.uint64
)
"""The position of the lowest bit set in a uint64 word, which is not zero."""

bits_of: Callable[[Any], Any] = _bits(
    "bits_of", lambda b, number: b.bitcast(number, ir.IntType(64)), types.int64, types.float64
)
"""The bits of a float64, as an int64."""

number_of: Callable[[Any], Any] = _bits(
    "number_of", lambda b, bits: b.bitcast(bits, ir.DoubleType()), types.float64, types.int64
)
"""The float64 of these bits."""


class _Notice(event.Listener):
    """Says once for each subject that its kernels are being compiled; numba is silent when it finds them on disk."""

    def __init__(self) -> None:
        self.depth = 0
        self.compiled = 0
        self.said: set[str] = set()

    def on_start(self, event: Any) -> None:
        module = event.data["dispatcher"].py_func.__module__
        self.compiled += module.startswith("proband.")
        # What a kernel calls is compiled within it, and belongs to its subject.
        place = _place(module) if self.depth == 0 else None
        if place is not None and place not in self.said:
            self.said.add(place)
            logging.getLogger(__name__).warning("compiling %s, once on this machine: %s", *SUBJECTS[place])
        self.depth += 1

    def on_end(self, event: Any) -> None:
        self.depth -= 1


def _place(module: str) -> str | None:
    return max((place for place in SUBJECTS if module.startswith(place)), key=len, default=None)


NOTICE = _Notice()
cast(Any, event.register)("numba:compile", NOTICE)


def compiled() -> int:
    """Return how many kernels this process had to compile so far; those that were found on disk do not count."""
    return NOTICE.compiled
