"""Attributes of packages that are loaded when they are first used (PEP 562).

A package's ``__init__`` names what it offers and imports none of it, except for the type checker::

    from typing import TYPE_CHECKING

    from proband.lazy import attributes

    if TYPE_CHECKING:
        from proband.distributions.discrete import Discrete
    else:
        __getattr__, __dir__ = attributes(__name__, {"Discrete": "proband.distributions.discrete"})

    __all__ = ["Discrete"]

Behind ``else``, so that the type checker does not take every name for granted. No name may be that of a submodule:
importing the submodule would put it in the place of what is meant.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def attributes(package: str, places: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package whose names are found in these modules.

    Examples
    --------
    >>> __getattr__, __dir__ = attributes("proband.lazy", {"pi": "math", "sqrt": "cmath"})
    >>> __getattr__("pi"), "sqrt" in __dir__()
    (3.141592653589793, True)
    >>> __getattr__("tau")
    Traceback (most recent call last):
    AttributeError: module 'proband.lazy' has no attribute 'tau'
    """

    def load(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(places[name]), name)
        setattr(sys.modules[package], name, value)  # the next time without this function
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *places})

    return load, names
