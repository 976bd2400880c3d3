"""From a number to one of a few outcomes: cuts c₁ < ... < c_m make the outcomes x < c₁, c₁ ≤ x < c₂, ..., x ≥ c_m."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Sequence

import numpy as np

from proband.errors import ProblemError, shown
from proband.numerals import UNMARKED, Marks, limit, number, written

MOST_CUTS = 1000
"""Cut points of a test."""


def checked_cuts(test: str, cuts: object) -> tuple[float, ...]:
    """Return the cut points of a test: finite numbers, each larger than the one before.

    Examples
    --------
    >>> checked_cuts("hardness", [60, 75])
    (60.0, 75.0)
    """
    if isinstance(cuts, str) or not isinstance(cuts, Sequence | np.ndarray):
        raise ProblemError(f"test {test!r}: cuts are {shown(cuts)}; they must be a list of numbers; write [60, 75]")
    points = []
    for cut in cuts:
        if isinstance(cut, bool) or not isinstance(cut, int | float | np.integer | np.floating):
            raise ProblemError(f"test {test!r}: a cut is {shown(cut)}; it must be a number; write it without quotes")
        try:
            points.append(float(cut))
        except OverflowError:  # a whole number of hundreds of digits
            points.append(math.inf)
    rising = all(a < b for a, b in itertools.pairwise(points))
    if not 1 <= len(points) <= MOST_CUTS or not rising or not all(map(math.isfinite, points)):
        raise ProblemError(
            f"test {test!r}: cuts are {shown(list(cuts))}; they must be 1 to {MOST_CUTS:,} finite numbers, each larger "
            "than the one before; sort them, and drop repeated ones"
        )
    return tuple(points)


def cut_names(cuts: Sequence[float], unit: str = "") -> tuple[str, ...]:
    """Return how the outcomes are called if nobody names them.

    Examples
    --------
    >>> cut_names([60, 75], "HRC")
    ('< 60 HRC', '60 to 75 HRC', '>= 75 HRC')
    """
    words, numbers = f" {unit}" if unit else "", [written(cut) for cut in cuts]
    between = [f"{a} to {b}{words}" for a, b in itertools.pairwise(numbers)]
    return (f"< {numbers[0]}{words}", *between, f">= {numbers[-1]}{words}")


def place(cuts: Sequence[float], value: float) -> int:
    """Return which outcome a number is; a cut point itself belongs to the outcome above it.

    Examples
    --------
    >>> [place([60, 75], value) for value in (59.9, 60, 75)]
    [0, 1, 2]
    """
    return bisect_right(cuts, value)


def place_of_text(cuts: Sequence[float], text: str, *, unit: str = "", marks: Marks = UNMARKED) -> int:
    """Return which outcome a text is: a number, or a limit such as "< 5" if no cut lies beyond it.

    Examples
    --------
    >>> place_of_text([60, 75], "63,2"), place_of_text([60, 75], "<12")
    (1, 0)
    >>> place_of_text([60, 75], "< 70")
    Traceback (most recent call last):
    ValueError: '< 70' may be on either side of the cut 60; give the number
    """
    found = limit(text, unit=unit, marks=marks)
    if found is None:
        return place(cuts, number(text, unit=unit, marks=marks))
    side, value = found
    if side.startswith("<"):
        beyond = [cut for cut in cuts if cut < value or (cut == value and side == "<=")]
    else:
        beyond = [cut for cut in cuts if cut > value]
    if beyond:
        raise ValueError(
            f"{shown(text.strip())} may be on either side of the cut {written(beyond[0])}; give the number"
        )
    return 0 if side.startswith("<") else len(cuts)


def stated_limits(name: str, unit: str = "") -> tuple[float, float] | None:
    """Return the limits that the name of an outcome states; a number is both limits; None if it states none.

    Examples
    --------
    >>> stated_limits("60 to 75 HRC", "HRC"), stated_limits("< 60"), stated_limits("7"), stated_limits("soft")
    ((60.0, 75.0), (-inf, 60.0), (7.0, 7.0), None)
    """
    try:
        found = limit(name, unit=unit)
        if found is not None:
            return (-math.inf, found.number) if found.side.startswith("<") else (found.number, math.inf)
        low, between, high = name.partition(" to ")
        return (number(low, unit=unit), number(high, unit=unit)) if between else (number(low, unit=unit),) * 2
    except ValueError:
        return None
