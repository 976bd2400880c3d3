"""Elementary functions that compilers can put into vector registers, as no call of a library stands in the way."""

from __future__ import annotations

import math

from proband.compiling import CONTRACTING, bits_of, inner, number_of

ROUNDING = 1.5 * 2**52
"""Adding this leaves the nearest whole number in the lowest bits."""

PER_OCTAVE = 1 / math.log(2)
C0, C1, C2, C3, C4, C5, C6, C7, C8, C9, C10, C11 = (math.log(2) ** k / math.factorial(k) for k in range(12))

LOWEST = 0x3FE6A09E667F3BCD
"""The bits of the root of a half: logarithms are those of numbers from there to twice as much, and octaves."""

ONE = 0x3FF0000000000000
WHOLE = 0x4338000000000000
"""The bits of 1, and of `ROUNDING`."""


@inner(fastmath=CONTRACTING)
def exponential(x: float) -> float:
    """Return exp(x) for −700 < x < 700, to about 1e-14 of itself: 2^n times a polynomial on [−½, ½]."""
    rounded = x * PER_OCTAVE + ROUNDING
    f = x * PER_OCTAVE - (rounded - ROUNDING)
    p = ((((C11 * f + C10) * f + C9) * f + C8) * f + C7) * f + C6
    p = (((((p * f + C5) * f + C4) * f + C3) * f + C2) * f + C1) * f + C0
    power: float = number_of((bits_of(rounded) + 1023) << 52)  # n, moved to where the exponent is kept
    return p * power


@inner(fastmath=CONTRACTING)
def logarithm(x: float) -> float:
    """Return log(x) for x > 1e-300, to about 1e-15: of m in [√½, √2), by artanh((m − 1)/(m + 1)), and of octaves."""
    octaves = ((bits_of(x) - LOWEST + ONE) >> 52) - 1023
    m: float = number_of(bits_of(x) - (octaves << 52))
    f = (m - 1.0) / (m + 1.0)
    s = f * f
    p = ((((1 / 19 * s + 1 / 17) * s + 1 / 15) * s + 1 / 13) * s + 1 / 11) * s + 1 / 9
    p = (((p * s + 1 / 7) * s + 1 / 5) * s + 1 / 3) * s + 1.0
    whole: float = number_of(octaves + WHOLE)  # which is ROUNDING and so many more
    return (whole - ROUNDING) * math.log(2) + 2.0 * f * p
