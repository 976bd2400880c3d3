"""What docs/safe-gaussian.md says is true of the agent as shipped, and of the numbers that its proofs name."""

from __future__ import annotations

import contextlib
import inspect
import io
import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr

from proband.agents import SafeLeafCompletion
from proband.instances import bolts_measured

PAGE = (Path(__file__).parents[3] / "docs" / "safe-gaussian.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture
def names():
    [code] = blocks("python")
    found, out = {}, io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "safe-gaussian.md", "exec"), found)
    return found | {"printed": out.getvalue()}


def test_the_bound_is_as_large_as_the_page_says(names):
    [expected] = blocks("text")
    assert names["printed"] == expected
    bound = names["bound"]
    for d, G, C, exponent in ((1, 1.75, 0.75, 38.8), (6, 1.5, 0.5, 42.7)):
        below, above = (bound(d, 2**e, G, C) / 2**e for e in (exponent, exponent - 0.2))
        assert below < C < above


def test_the_page_speaks_of_the_agent_as_shipped(names):
    given = {name: p.default for name, p in inspect.signature(names["bound"]).parameters.items()}
    shipped = vars(SafeLeafCompletion(bolts_measured().problem))
    shipped["first"] = shipped["left"]
    for here, there in {"c0": "floor", "c1": "cap", "tau": "threshold", "first": "first"}.items():
        assert given[here] == shipped[there]
        assert f"(`{there}`, {shipped[there]:g})" in PAGE
    assert given["beta"] == pytest.approx(1 + max(shipped["growth"], 8 / shipped["first"]))


def test_the_bound_has_the_rate_that_the_page_says(names):
    bound = names["bound"]
    for T in (2**36, 2**42, 2**48):
        assert bound(6, 8 * T, 1.5, 0.5) / bound(6, T, 1.5, 0.5) == pytest.approx(4, rel=0.05)
    many, few = (bound(d, 2.0**90, 1.0, 1.0) for d in (800_000, 100_000))
    assert many / few == pytest.approx(4, rel=0.05)  # d^(2/3)


@pytest.mark.parametrize("horizon", [10, 100, 2**16, 2**30])
def test_the_constants_of_the_lower_bound(horizon):
    """g < 1/4, h increases, and half of h(0) = gT/4 is T^(2/3)/16 or more."""
    epsilon = 2 / 3 * horizon ** (-1 / 3)
    g = 2 * ndtr(epsilon) - 1
    assert g < 1 / 4
    n = np.linspace(0, 10 * horizon ** (2 / 3), 10_001)
    h = n / 8 + g * horizon / 4 * np.exp(-2 * n * epsilon**2)
    assert h.argmin() == 0
    assert h[0] / 2 >= horizon ** (2 / 3) / 16


def test_explore_then_commit_pays_in_both_phases_as_the_page_says():
    horizon = 2.0**60
    n, epsilon = horizon ** (2 / 3), horizon ** (-1 / 3)
    explored = n * (ndtr(epsilon) - 1 / 4)
    committed = (horizon - n) * math.erf(epsilon / math.sqrt(2)) * ndtr(-epsilon * math.sqrt(n))
    assert [round(part / n, 3) for part in (explored, committed)] == [0.25, 0.127]
