"""JSON as other languages read it."""

from __future__ import annotations

import json
from typing import Any


def strict(text: str) -> Any:
    """Read JSON; NaN and the infinities, which Python's own reader takes, are none."""
    return json.loads(text, parse_constant=_refuse)


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")
