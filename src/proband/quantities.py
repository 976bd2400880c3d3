"""Numbers as people read them: true minus signs, no exponents, thousands set apart, units multiplied out.

Programs are given JSON and CSV, in which numbers are written as programs write them.
"""

from __future__ import annotations

import math
import re

SMALLEST, LARGEST = 1e-6, 1e15
"""Numbers outside are written with powers of ten."""

_SCALED = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*[×x*]?\s+(\S.*)")
_EXPONENT = re.compile(r"\b([0-9]+(?:\.[0-9]+)?)e([+-]?[0-9]+)\b")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float, digits: int = 4) -> str:
    """Return a number with so many digits that count, a true minus sign, and without an exponent.

    Examples
    --------
    >>> number(0.1234567), number(9.08e-06), number(1234567), number(1234, 3), number(-2.5e-9), number(0)
    ('0.1235', '0.00000908', '1,235,000', '1230', '−2.5 × 10⁻⁹', '0')
    """
    return _plainly(float(value) + 0.0, digits).replace("-", "−")


def _plainly(value: float, digits: int) -> str:
    text = f"{value:.{digits}g}"
    if not math.isfinite(value) or value == 0:
        return text
    rounded = abs(float(text))
    if not SMALLEST <= rounded < LARGEST:
        mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        return f"{mantissa} × 10{str(int(power)).translate(_RAISED)}"
    if rounded >= 10_000:
        text = f"{float(text):,.{max(0, digits - len(str(int(rounded))))}f}"
    elif "e" in text:
        text = f"{float(text):.{max(0, digits - 1 - math.floor(math.log10(rounded)))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def counted(n: int, what: str) -> str:
    """Return a number of things, whose name takes an s for several.

    Examples
    --------
    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{n:,} {what}" + "s" * (n != 1)


def with_powers(text: str) -> str:
    """Return a text whose numbers with exponents are written with powers of ten.

    Examples
    --------
    >>> with_powers("c = 1e12"), with_powers("to 2.5e-06"), with_powers("explore 64")
    ('c = 10¹²', 'to 2.5 × 10⁻⁶', 'explore 64')
    """

    def written(found: re.Match[str]) -> str:
        power = f"10{str(int(found[2])).translate(_RAISED)}"
        return power if found[1] == "1" else f"{found[1]} × {power}"

    return _EXPONENT.sub(written, text)


def said(value: float, digits: int = 4) -> str:
    """Return a number as it stands in pictures and on pages: a dash where it is not known, a sign where it is infinite.

    Examples
    --------
    >>> said(-1234567.0), said(float("nan")), said(float("-inf"))
    ('−1,235,000', '–', '−∞')
    """
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞" if value > 0 else "−∞"
    return number(value, digits)


def marked(value: float, digits: int = 6) -> str:
    """Return a number as it stands at an axis, where 1,000 stands beside 10,000.

    Examples
    --------
    >>> marked(1000), marked(10_000), marked(-2500.5), marked(0.25), marked(0)
    ('1,000', '10,000', '−2,500.5', '0.25', '0')
    """
    text = said(value, digits)
    return text if abs(value) >= 10_000 else re.sub(r"^(−?[0-9])([0-9]{3})(?![0-9])", r"\1,\2", text)


def amount(value: float, unit: str, digits: int = 4) -> str:
    """Return a number with its unit, as it stands in sentences, in tables and on pages.

    Examples
    --------
    >>> amount(-0.5, "EUR"), amount(0.5, ""), amount(4.3, "100 EUR/month")
    ('−0.5 EUR', '0.5', '430 EUR/month')
    """
    times, name = scaled(unit)
    return f"{said(value * times, digits)} {name}".rstrip()


def alike(*values: float, digits: int = 3) -> tuple[str, ...]:
    """Return numbers that belong together, such as a mean and its limits: as exact as the largest of them is.

    Examples
    --------
    >>> alike(-0.00648, -0.643, 0.639), alike(1.0, 0.459, 1.58), alike(-0.0001, -2)
    (('−0.006', '−0.643', '0.639'), ('1', '0.46', '1.58'), ('0', '−2'))
    """
    largest = max(map(abs, values))
    if not math.isfinite(largest) or largest < SMALLEST:
        return tuple(number(value, digits) for value in values)
    places = digits - 1 - math.floor(math.log10(largest))
    return tuple(number(round(value, places) + 0.0, digits) for value in values)


def plain(value: float, unit: str, digits: int = 4) -> str:
    """Return a number without its unit, which is said elsewhere, multiplied by the number that the unit holds.

    Examples
    --------
    >>> plain(4.3, "100 EUR/month"), plain(4.3, "EUR")
    ('430', '4.3')
    """
    return number(value * scaled(unit)[0], digits)


def scaled(unit: str) -> tuple[float, str]:
    """Return the number that a unit holds, and the unit without it.

    Examples
    --------
    >>> scaled("100 EUR/month"), scaled("EUR")
    ((100.0, 'EUR/month'), (1.0, 'EUR'))
    """
    found = _SCALED.fullmatch(unit)
    return (float(found[1]), found[2]) if found else (1.0, unit)


def percent(share: float, digits: int = 3) -> str:
    """Return a probability as a percentage.

    Examples
    --------
    >>> percent(0.98765), percent(1.0000000000000002), percent(9.08e-08), percent(0)
    ('98.8 %', '100 %', 'under 0.01 %', '0 %')
    """
    if 0 < share < 0.0001:
        return "under 0.01 %"
    return f"{number(100 * share, digits)} %"


def percents(low: float, high: float, digits: int = 3) -> str:
    """Return an interval of probabilities as percentages, as exact as the digits of the larger one.

    Examples
    --------
    >>> percents(0.0000672, 0.0636), percents(0.0624, 0.764), percents(0, 0), percents(0.2, 1)
    ('0.01 to 6.36 %', '6.2 to 76.4 %', '0 to 0 %', '20 to 100 %')
    """
    larger = 100 * abs(high)
    places = max(0, digits - 1 - math.floor(math.log10(larger))) if larger > 0 else 0
    return f"{number(round(100 * low, places), digits)} to {number(100 * high, digits)} %"
