"""Coins: one number u in [0, 1) for each subject, from the study's seed and the subject's number alone.

A counter-based generator (Philox) has no state to keep: the coin of subject n is the first draw of its n-th counter. So
a log can be replayed from any place, and stations need not agree on anything but numbers.
"""

from __future__ import annotations

import numpy as np

_KEY = 0x70726F62616E6400
"""Sets coins apart from whatever else uses the seed."""


def coin(seed: int, number: int) -> float:
    """Return the coin of a subject.

    Parameters
    ----------
    seed : int
        Of the study, 0 or more.
    number : int
        Of the subject: 1, 2, ... in order of arrival.

    Examples
    --------
    >>> coin(0, 1) == coin(0, 1) != coin(0, 2)
    True
    """
    generator = np.random.Philox(key=[seed % 2**64, _KEY + (seed >> 64) % 2**56], counter=[0, number, 0, 0])
    return float(generator.random_raw() >> 11) * 2.0**-53
