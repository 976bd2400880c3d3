"""Attributes of packages that are loaded when they are first used (PEP 562).

A package's ``__init__`` imports what it offers for the type checker alone; from those lines, read as text, everybody
else learns where to find it when it is asked for::

    from typing import TYPE_CHECKING

    from proband.lazy import attributes

    if TYPE_CHECKING:
        from proband.distributions.discrete import Discrete
    else:
        __getattr__, __dir__ = attributes(__name__)

    __all__ = ["Discrete"]

Behind ``else``, so that the type checker does not take every name for granted. No name may be that of a submodule:
importing the submodule would put it in the place of what is meant.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable
from typing import Any


def attributes(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package.

    Examples
    --------
    >>> __getattr__, __dir__ = attributes("proband")
    >>> __getattr__("Problem").__module__, "Study" in __dir__()
    ('proband.problem', True)
    >>> __getattr__("Patient")
    Traceback (most recent call last):
    AttributeError: module 'proband' has no attribute 'Patient'
    """
    places = _places(package)

    def load(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(places[name]), name)
        setattr(sys.modules[package], name, value)  # the next time without this function
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *places})

    return load, names


def _places(package: str) -> dict[str, str]:
    """Return the module of each name that a package imports for the type checker."""
    lines = ast.parse(vars(sys.modules[package])["__spec__"].loader.get_source(package)).body
    [checked] = [line for line in lines if isinstance(line, ast.If) and ast.unparse(line.test) == "TYPE_CHECKING"]
    imports = [line for line in checked.body if isinstance(line, ast.ImportFrom)]
    return {alias.name: str(line.module) for line in imports for alias in line.names}
