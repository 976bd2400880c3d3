"""An independent recursion for Gaussian planning, and random instances for it.

The oracle keeps values on a uniform grid of posterior means and integrates the piecewise-linear interpolant exactly
against the Gaussian kernel: with ψ(u) = u·Φ(u) + φ(u), the hat function at a grid point weighs a second difference
of ψ. It shares no code with the planner but the closed form of stopping, which has tests of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from scipy import signal, special

from proband.piecewise import PiecewiseLinear
from proband.planners.gaussian import Line
from proband.vocabulary import FloatArray

Oracle = Callable[..., float]


def posterior(line: Line, mask: int) -> tuple[float, FloatArray]:
    """Return the variance of z and the steps of all tests given a set, by pseudo-inverse."""
    known = [i for i in range(line.d) if mask >> i & 1]
    given = line.covariance[:, known] @ np.linalg.pinv(
        line.covariance[np.ix_(known, known)], rcond=1e-11, hermitian=True
    )
    rest = line.covariance - given @ line.covariance[known]
    variance = float(line.weights @ rest @ line.weights)
    own, joint = np.diag(rest), rest @ line.weights
    informative = own > 1e-9 * np.diag(line.covariance)
    steps = np.where(informative, np.abs(joint) / np.sqrt(np.where(informative, own, 1.0)), 0.0)
    total = float(line.weights @ line.covariance @ line.weights)
    return (variance if variance > 1e-12 * total else 0.0), np.where(steps**2 > 1e-12 * total, steps, 0.0)


def price(line: Line, mask: int, test: int) -> float:
    group = line.groups[test]
    peers = [j for j in line.tests if j != test and group >= 0 and line.groups[j] == group]
    return float(line.group_costs[test] if any(mask >> j & 1 for j in peers) else line.costs[test])


def expectation_on_grid(values: FloatArray, spacing: float, step: float) -> FloatArray:
    """Return E v(m + step·ε) at every grid point, v linear between grid points and beyond both ends."""
    if step == 0:
        return values
    reach = int(np.ceil(9 * step / spacing)) + 2
    padding = np.arange(1, reach + 1)
    left = values[0] - padding[::-1] * (values[1] - values[0])
    right = values[-1] + padding * (values[-1] - values[-2])
    u = np.arange(-reach - 1, reach + 2) * spacing / step
    psi = np.where(u > 0, u, 0.0) + np.exp(-u * u / 2) / np.sqrt(2 * np.pi) - np.abs(u) * special.ndtr(-np.abs(u))
    weights = np.diff(psi, 2) * step / spacing
    return signal.fftconvolve(np.concatenate([left, values, right]), weights, mode="valid")


def solve_on_grid(line: Line, points: int, *, max_tests: int | None = None) -> float:
    """Return the value of a line from a uniform grid with this many points."""
    sd = float(line.weights @ line.covariance @ line.weights) ** 0.5
    ends = [line.mean_z, *line.reward.upper_envelope().knots]
    low, high = min(ends) - 9 * sd, max(ends) + 9 * sd
    grid = np.linspace(low, high, points)
    grid += line.mean_z - grid[np.abs(grid - line.mean_z).argmin()]
    envelope, spacing = line.reward.upper_envelope(), grid[1] - grid[0]
    tests = [int(i) for i in line.tests]
    limit = len(tests) if max_tests is None else max_tests
    values: dict[int, FloatArray | None] = {}
    for size in range(limit, -1, -1):
        for chosen in itertools.combinations(tests, size):
            mask = line.context | sum(1 << i for i in chosen)
            variance, steps = posterior(line, mask)
            if variance == 0:
                values[mask] = None
                continue
            best = line.reward.expectation(grid, variance**0.5).max(axis=1)
            for i in tests if size < limit else []:
                if not mask >> i & 1:
                    child = values[mask | 1 << i]
                    if child is None:
                        after = envelope.expectation(grid, steps[i])[:, 0]
                    else:
                        after = expectation_on_grid(child, spacing, steps[i])
                    best = np.maximum(best, after - price(line, mask, i))
            values[mask] = best
    arrival = max(sd**2 - posterior(line, line.context)[0], 0.0) ** 0.5
    root = values[line.context]
    if root is None:
        return float(envelope.expectation(line.mean_z, sd)[0])
    if arrival > 1e-6 * sd:
        root = expectation_on_grid(root, spacing, arrival)
    return float(root[np.abs(grid - line.mean_z).argmin()])


def random_reward(rng: np.random.Generator, *, n: int, knots: int) -> PiecewiseLinear:
    sloped = rng.random((n, 1)) < 0.6
    slopes = np.where(sloped, rng.normal(size=(n, knots + 1)), 0.0) * rng.choice([0.0, 0.5, 1.0])
    levels = rng.normal(size=(n, knots + 1))
    if rng.random() < 0.3:
        levels[:, :] = levels[:, :1]
    return PiecewiseLinear(np.sort(rng.normal(scale=1.5, size=knots)), levels, slopes)


def random_line(rng: np.random.Generator, *, d: int | None = None) -> Line:
    """Draw tests, some known on arrival, unavailable, redundant or in groups, and a reward with jumps."""
    d = int(rng.integers(1, 7)) if d is None else d
    factors = rng.normal(size=(d, d + 1)) * rng.uniform(0.2, 2.0, size=(d, 1))
    kind = rng.random()
    if d > 1 and kind < 0.2:
        factors[d - 1] = rng.normal(size=d - 1) @ factors[: d - 1]
    if d > 1 and kind > 0.9:
        factors[1] = 2 * factors[0]
    covariance = factors @ factors.T
    weights = np.where(rng.random(d) < 0.7, rng.normal(size=d), 0.0)
    weights[rng.integers(d)] += 1.0
    sd = float(weights @ covariance @ weights) ** 0.5
    weights = weights / (sd if sd > 1e-6 else 1.0)
    role = rng.choice(3, size=d, p=[0.76, 0.12, 0.12])
    costs = rng.choice([0.0, 0.02, 0.1, 0.3], p=[0.1, 0.3, 0.4, 0.2]) * rng.uniform(0.3, 1.5, size=d)
    return Line(
        covariance,
        weights,
        float(rng.normal()),
        costs,
        random_reward(rng, n=int(rng.integers(1, 5)), knots=int(rng.integers(0, 5))),
        groups=rng.integers(-1, 2, size=d),
        group_costs=costs * rng.uniform(0.0, 1.0, size=d),
        operable=sum(1 << i for i in range(d) if role[i] == 0),
        context=sum(1 << i for i in range(d) if role[i] == 1),
    )


@pytest.fixture(name="oracle")
def oracle_fixture() -> Oracle:
    return solve_on_grid


@pytest.fixture(name="draw_line")
def draw_line_fixture() -> Callable[..., Line]:
    return random_line
