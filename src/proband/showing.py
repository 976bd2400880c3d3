"""How things look in a notebook: one page of HTML each, written where everything is known, and loaded when it is asked.

A plan, a tree or a table stands in a low layer, and what draws it in a high one. So the way up is by place, as for
pieces by name (:mod:`proband.registries`): nothing is imported before a notebook asks.
"""

from __future__ import annotations

import importlib
from typing import Any

PLACE = "proband.reporting.notebooks"


class Shown:
    """Something that a notebook shows as a picture or a table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        html: str = importlib.import_module(PLACE).html_of(self)
        return html

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return what it is as text, and how it looks as HTML."""
        return {"text/plain": repr(self), "text/html": self._repr_html_()}
