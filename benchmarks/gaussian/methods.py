"""Every method of the benchmark behind one interface: from a line to a function that solves it once.

Peers are written as a competent user would write them, in NumPy and SciPy; the first is also what the tests check the
planner with.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from scipy import integrate, ndimage, signal, special

from proband import Discrete, Problem, Test, plan
from proband.planners.gaussian import Line, solve_line
from proband.planners.gaussian.plane import solve_plane


@dataclass(frozen=True)
class Answer:
    """A value, the error that the method itself reports (if it does), and the size of what it keeps."""

    value: float
    error: float | None = None
    panels: int = 0
    kept: int = 0


def proband(line, *, tolerance):
    def solve():
        if isinstance(line, Line):
            solution = solve_line(line, tolerance=tolerance)
            return Answer(solution.value, solution.error, solution.n_panels, solution.nbytes)
        solution = solve_plane(line, tolerance=tolerance)
        return Answer(solution.value, solution.error, kept=solution.nbytes)

    return solve


def posterior(line, mask):
    """Return the deviation of z and the steps of all tests given a set."""
    known = [i for i in range(line.d) if mask >> i & 1]
    gain = np.linalg.solve(line.covariance[np.ix_(known, known)], line.covariance[known]).T
    rest = line.covariance - gain @ line.covariance[known]
    own, joint = np.diag(rest), rest @ line.weights
    free = ~np.isin(np.arange(line.d), known)
    steps = np.where(free, np.abs(joint) / np.sqrt(np.where(free, own, 1.0)), 0.0)
    return math.sqrt(max(line.weights @ rest @ line.weights, 0.0)), steps


def induction(line, grid, expectation):
    """Backward induction over all sets on a grid of means; the last sets reveal z and are in closed form."""
    envelope, everything = line.reward.upper_envelope(), (1 << line.d) - 1
    values = {}
    for size in range(line.d - 1, -1, -1):
        for chosen in itertools.combinations(range(line.d), size):
            mask = sum(1 << i for i in chosen)
            sd, steps = posterior(line, mask)
            best = line.reward.expectation(grid, sd).max(axis=1)
            for i in set(range(line.d)) - set(chosen):
                child = mask | 1 << i
                after = (
                    envelope.expectation(grid, steps[i])[:, 0]
                    if child == everything
                    else expectation(values[child], steps[i])
                )
                best = np.maximum(best, after - line.costs[i])
            values[mask] = best
    return Answer(float(np.interp(line.mean_z, grid, values[0])), kept=sum(v.nbytes for v in values.values()))


def uniform_grid(line, *, points):
    """Values on a uniform grid; the interpolant between them is integrated exactly, by a convolution."""
    grid = line.mean_z + np.linspace(-8, 8, points)
    spacing = grid[1] - grid[0]

    def expectation(values, step):
        reach = int(np.ceil(8 * step / spacing)) + 2
        places = np.arange(1, reach + 1)
        left = values[0] - places[::-1] * (values[1] - values[0])
        right = values[-1] + places * (values[-1] - values[-2])
        u = np.arange(-reach - 1, reach + 2) * spacing / step
        psi = np.maximum(u, 0) + np.exp(-u * u / 2) / np.sqrt(2 * np.pi) - np.abs(u) * special.ndtr(-np.abs(u))
        weights = np.diff(psi, 2) * step / spacing
        return signal.fftconvolve(np.concatenate([left, values, right]), weights, mode="valid")

    return lambda: induction(line, grid, expectation)


def hermite(line, *, points, nodes=32):
    """Gauss-Hermite quadrature of the interpolant: what comes to mind first."""
    grid = line.mean_z + np.linspace(-8, 8, points)
    places, weights = np.polynomial.hermite_e.hermegauss(nodes)
    weights = weights / weights.sum()

    def expectation(values, step):
        return np.interp(grid[:, None] + step * places, grid, values) @ weights

    return lambda: induction(line, grid, expectation)


def square_grid(plane, *, points, nodes=128):
    """Two scores on a square grid of means: Gauss-Hermite quadrature of the interpolant along the step of a test.

    The last test is in closed form.
    """
    axis = np.linspace(-7, 7, points)
    means = np.stack(np.meshgrid(*(mean + axis for mean in plane.mean_z), indexing="ij"), axis=-1).reshape(-1, 2)
    places, weights = np.polynomial.hermite_e.hermegauss(nodes)
    weights, cells, everything = weights / weights.sum(), np.indices((points, points)), (1 << plane.d) - 1

    def after(mask):
        known = [i for i in range(plane.d) if mask >> i & 1]
        gain = np.linalg.solve(plane.covariance[np.ix_(known, known)], plane.covariance[known]).T
        rest = plane.covariance - gain @ plane.covariance[known]
        own = np.where(np.isin(np.arange(plane.d), known), 1.0, np.diag(rest))
        return plane.weights @ rest @ plane.weights.T, rest @ plane.weights.T / np.sqrt(own)[:, None]

    def expectation(values, step):
        shifts = step / (axis[1] - axis[0])
        moved = (
            weight * ndimage.map_coordinates(values, cells + (place * shifts)[:, None, None], order=1, mode="nearest")
            for place, weight in zip(places, weights, strict=True)
        )
        return sum(moved)

    def solve():
        values = {}
        for mask in sorted(range(everything), key=int.bit_count, reverse=True):
            spread, steps = after(mask)
            best = plane.reward.expectation(means, spread).max(axis=1).reshape(points, points)
            for i in (i for i in range(plane.d) if not mask >> i & 1):
                child = mask | 1 << i
                follow = (
                    plane.reward.expected_maximum(means, spread).reshape(points, points)
                    if child == everything
                    else expectation(values[child], steps[i])
                )
                best = np.maximum(best, follow - plane.costs[i])
            values[mask] = best
        return Answer(float(values[0][points // 2, points // 2]), kept=sum(v.nbytes for v in values.values()))

    return solve


def quadrature(line, *, accuracy):
    """Adaptive quadrature inside adaptive quadrature; the last test is in closed form."""
    everything = (1 << line.d) - 1
    after = {mask: posterior(line, mask) for mask in range(everything)}
    envelope = line.reward.upper_envelope()

    def mean_of(function, epsilon):
        density = lambda e: function(e) * math.exp(-e * e / 2) / math.sqrt(2 * math.pi)  # noqa: E731
        return integrate.quad(density, -7.5, 7.5, epsabs=epsilon, epsrel=0, limit=200)[0]

    def value(mask, mean, epsilon):
        sd, steps = after[mask]
        best = float(line.reward.expectation(mean, sd).max())
        for i in range(line.d):
            child = mask | 1 << i
            if child == mask:
                continue
            if child == everything:
                follow = float(envelope.expectation(mean, steps[i])[0])
            else:
                follow = mean_of(lambda e, c=child, s=steps[i]: value(c, mean + s * e, epsilon / 10), epsilon)
            best = max(best, follow - line.costs[i])
        return best

    return lambda: Answer(value(0, line.mean_z, accuracy))


def binned(line, *, bins, subjects):
    """Bin every test at its quantiles, draw subjects, and plan for the binned problem with the dense planner.

    The value is what the plan brings to fresh subjects, whose outcomes are numbers; planning alone is timed.
    """
    rng = np.random.default_rng(1)
    root = np.linalg.cholesky(line.covariance)
    edges = special.ndtri(np.arange(1, bins) / bins) * np.sqrt(np.diag(line.covariance))[:, None]
    tests = [Test(f"t{i}", float(cost), outcomes=[str(b) for b in range(bins)]) for i, cost in enumerate(line.costs)]

    def draw(n):
        x = rng.normal(size=(n, line.d)) @ root.T
        rows = np.array([np.searchsorted(edge, column) for edge, column in zip(edges, x.T, strict=True)]).T
        return rows.astype(np.float64), line.reward(line.mean_z + x @ line.weights)

    rows, rewards = draw(subjects)
    codes = rows @ float(bins) ** np.arange(line.d)
    cells, first, of_row, counts = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
    payoff = np.stack([np.bincount(of_row, column) / counts for column in rewards.T], axis=1)

    def reward(x, y):
        return payoff[np.searchsorted(cells, x @ float(bins) ** np.arange(line.d)), y]

    problem = Problem(tests, [str(y) for y in range(line.reward.n)], reward)
    law = Discrete.from_weights(rows[first], counts)

    def solve():
        return plan(problem, law, method="dense")

    def brought(found):
        fresh, realised = draw(400_000)
        episodes = found.run(fresh)
        gained = np.take_along_axis(realised, episodes.actions[:, None] - line.d, axis=1)[:, 0] - episodes.costs
        return Answer(float(gained.mean()), float(gained.std() / len(gained) ** 0.5))

    return solve, brought


METHODS = {
    "proband": proband,
    "uniform grid": uniform_grid,
    "Gauss-Hermite": hermite,
    "square grid": square_grid,
    "nested quadrature": quadrature,
    "binned, dense plan": binned,
}
