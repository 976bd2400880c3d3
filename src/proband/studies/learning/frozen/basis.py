"""What frozen agents rest on, and of which classes they may be."""

from __future__ import annotations

import functools
import importlib
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from proband.problem import Problem

PARTS = (
    "agents", "distributions", "estimators", "piecewise", "planners", "policies", "prices", "problem", "rewards",
    "vocabulary",
)  # fmt: skip
"""Parts of the library whose classes an agent is made of."""

PLAIN = (bool, int, float, str, type(None))
GENERATORS = {"PCG64": np.random.PCG64}
KINDS = "biufcSU"
"""Of arrays: numbers and texts."""

_ENDS: tuple[type, ...] = (bytes, np.ndarray, np.generic, type, Problem)
"""Where there are no functions within."""


class FreezeError(ValueError):
    """Something cannot be frozen, or bytes are no frozen agent."""


class Basis:
    """What frozen agents of a study rest on, and do not hold: its problem, and the functions of a new agent."""

    def __init__(self, problem: Problem, agent: object) -> None:
        self.problem = problem
        self.roots = {type(agent).__module__.partition(".")[0]} - {"proband", "builtins"}
        self.functions: dict[str, Any] = {}
        for function in _functions(agent):
            if self.functions.setdefault(name_of(function), function) is not function:
                raise FreezeError(f"two functions of the agent are called {name_of(function)}")

    def owns(self, module: str) -> bool:
        """Whether an agent may be made of classes of a module."""
        root, _, rest = module.partition(".")
        return root in self.roots or (root == "proband" and rest.partition(".")[0] in PARTS)


def _functions(root: object) -> Iterator[types.FunctionType]:
    """Yield the functions that something holds, wherever."""
    seen, pending = set[int](), [root]
    while pending:
        value = pending.pop()
        if (
            id(value) in seen
            or type(value) in PLAIN
            or isinstance(value, bytes | np.ndarray | np.generic | type | Problem)
        ):
            continue
        seen.add(id(value))
        if isinstance(value, types.FunctionType):
            yield value
        else:
            pending += _within(value)


def _within(value: Any) -> Iterable[Any]:
    if isinstance(value, dict | types.MappingProxyType):
        return [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return value
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, types.MethodType):
        return [value.__self__]
    return [each for _, each in attributes(value)]


def attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of an object that it would not find again by itself."""
    kind = type(value)
    for name in (name for base in kind.__mro__ for name in vars(base).get("__slots__", ())):
        if name not in ("__dict__", "__weakref__") and hasattr(value, name):
            yield name, getattr(value, name)
    for name, own in getattr(value, "__dict__", {}).items():
        if not isinstance(getattr(kind, name, None), functools.cached_property):
            yield name, own


def name_of(function: Any) -> str:
    """Return the module and the name of a function."""
    return f"{function.__module__}:{function.__qualname__}"


def class_of(name: str, basis: Basis) -> type:
    """Return a class by its name, if an agent may be made of it."""
    module, _, path = name.partition(":")
    if not basis.owns(module) or (module not in sys.modules and not module.startswith("proband.")):
        raise FreezeError(f"{name} is no class that an agent is made of")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = vars(found)[part]
    if not isinstance(found, type):
        raise FreezeError(f"{name} is no class")
    return found
