"""Numbers and tables as a page has them."""

from __future__ import annotations

import math
from collections.abc import Sequence


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown, numbers to the right.

    Examples
    --------
    >>> print(markdown(["agent", "mean"], [["greedy", "3"]]))
    | agent | mean |
    |---|---:|
    | greedy | 3 |
    """
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(
        "|" + "|".join(cell if cell.startswith("---") else f" {cell} " for cell in row) + "|" for row in lines
    )


def number(value: float) -> str:
    """Return a number for people; nothing where there is none, more digits where it is small.

    Examples
    --------
    >>> number(12345.6), number(4.56), number(math.nan), number(1e-14)
    ('12,346', '4.56', '', '0')
    """
    if math.isnan(value):
        return ""
    if abs(value) < 1e-6:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def or_none(value: float) -> float | None:
    """Return a number for programs; None where there is none."""
    return value if math.isfinite(value) else None
