"""Elementary functions of compiled loops, against those of the library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from proband.compiling import kernel
from proband.elementary_kernel import exponential, logarithm


@kernel
def tabulate(x: Any, powers: Any, logarithms: Any) -> None:
    for i in range(x.size):
        powers[i] = exponential(x[i])
        logarithms[i] = logarithm(powers[i])


def test_they_are_those_of_the_library() -> None:
    x = np.concatenate(
        [np.linspace(-690, 690, 100_001), np.linspace(-1, 1, 10_001), np.log(2) * np.arange(-20, 21) / 2]
    )
    powers, logarithms = np.empty_like(x), np.empty_like(x)
    tabulate(x, powers, logarithms)
    assert powers == pytest.approx(np.exp(x), rel=1e-13)
    right = np.log(powers)
    assert np.abs(logarithms - right).max() < 5e-13
    assert logarithms == pytest.approx(right, rel=2e-15, abs=2e-16)
