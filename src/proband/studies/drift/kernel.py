"""One observation of a bucket at a time, compiled; the formulas and their proof are in ``docs/drift.md``.

For each start of a bucket the posterior (w₀, w₁, …, w_G) says which predictive holds now: the steady one (0), or one of
the G fading ones. It begins with w₀ = 1. Before the (n + 1)-th observation the share 1 − √(n/(n+1)) of w₀ moves to the
others in equal parts, so that the prior probability of no change between the m-th and the n-th is √(m/n); and the tiny
share `RETURN` of the others moves back, so that no number ever vanishes. The predictive is θ = Σ w_g θ_g.

A measured outcome y is put into one of five bins, whose edges (around a linear function of what was known) are fixed at
the first start. Its density is φ(y | bin)·θ(bin): θ as above, φ the normal law of the regression on what was known,
with a share 1/(n+1) of a Cauchy law, so that no outlier costs more than a few nats.

The rows (1, x_O, y) of a regression are kept as the triangular factor R of their QR decomposition, updated by Givens
rotations: no cross products are formed, so nothing cancels, and the last entry of the diagonal is the root of the sum
of squared residuals.
"""

from __future__ import annotations

import math

import numpy as np

from proband.compiling import kernel
from proband.vocabulary import FloatArray

STARTS = (16, 128, 1024, 8192, 65536)
"""A bucket is tested from its so many-th observation on: each of them gives an e-process, and their average counts."""

HALF_LIVES = (16, 64, 256, 1024)
"""After so many observations of a bucket a fading predictive counts an observation half."""

FADES = np.array([0.5 ** (1 / h) for h in HALF_LIVES])
RETURN = 1e-9

EDGES = np.array([-1.8, -0.6, 0.6, 1.8])
"""Where the bins of measurements lie, in spreads around what was expected."""

FINEST = 1e-9
"""A predictive of measurements is never narrower than this share of their size."""

NARROWEST = 1e-100
"""Nor narrower than this."""

ROUNDING = 1e-13
"""Residuals below this share of the size of the measurements are rounding."""

SMALLEST_MASS = 1e-12
"""No bin counts as less likely than this: rounding would show. More is allowed, it only lowers the evidence."""


@kernel
def mixed(posterior: FloatArray, ratios: FloatArray, n: float) -> float:
    """Move a posterior (1 + G,) on by the (n + 1)-th observation; return log(θ/θ₀), given the ratios θ_g/θ₀ (G,)."""
    hazard = 1 - math.sqrt(n / (n + 1))
    changing, returning = posterior[0] * hazard / len(ratios), (1 - posterior[0]) * RETURN
    posterior[0] = posterior[0] * (1 - hazard) + returning
    total = posterior[0]
    for g in range(len(ratios)):
        posterior[g + 1] = (posterior[g + 1] * (1 - RETURN) + changing) * ratios[g]
        total += posterior[g + 1]
    for g in range(len(posterior)):
        posterior[g] /= total
    return math.log(total)


@kernel
def averaged(logs: FloatArray) -> float:
    """Return the logarithm of the average of exp(logs)."""
    largest = logs.max()
    if largest == -np.inf:
        return -np.inf
    total = 0.0
    for log in logs:
        total += math.exp(log - largest)
    return float(largest + math.log(total / len(logs)))


@kernel
def most_likely(counts: FloatArray, before: FloatArray) -> float:
    """Return the logarithm of the largest probability that one law gives to the outcomes since the counts `before`."""
    n, value = 0.0, 0.0
    for b in range(len(counts)):
        seen = counts[b] - before[b]
        n += seen
        if seen > 0:
            value += seen * math.log(seen)
    return value - n * math.log(n) if n > 0 else 0.0


@kernel
def listed_step(
    x: int,
    started: int,  # how many starts lie behind
    bounds: FloatArray,  # (starts,): the denominator since each start is to be exp of this at least
    counts: FloatArray,  # (k,): how often each outcome was seen
    faded: FloatArray,  # (G, k): the same, faded
    before: FloatArray,  # (starts, k): the counts at each start
    posterior: FloatArray,  # (starts, 1 + G)
    predicted: FloatArray,  # (starts,): the sum of log θ since each start
) -> float:
    """Add outcome x of k to a bucket, and return its log E."""
    k, n = len(counts), counts.sum()
    steady = (counts[x] + 0.5) / (n + 0.5 * k)
    ratios = np.empty(len(faded))
    for g in range(len(faded)):
        ratios[g] = (faded[g, x] + 0.5) / (faded[g].sum() + 0.5 * k) / steady
        for b in range(k):
            faded[g, b] *= FADES[g]
        faded[g, x] += 1
    counts[x] += 1
    logs = np.zeros(len(predicted))
    for j in range(started):
        predicted[j] += math.log(steady) + mixed(posterior[j], ratios, n)
        logs[j] = predicted[j] - max(bounds[j], most_likely(counts, before[j]))
    return averaged(logs)


@kernel
def absorb(root: FloatArray, row: FloatArray) -> None:
    """Add a row to a triangular factor R (q, q), so that RᵀR grows by row·rowᵀ; the row is used up."""
    q = len(row)
    for i in range(q):
        if row[i] != 0.0:
            length = math.hypot(root[i, i], row[i])
            cosine, sine = root[i, i] / length, row[i] / length
            for j in range(i, q):
                kept = cosine * root[i, j] + sine * row[j]
                row[j] = cosine * row[j] - sine * root[i, j]
                root[i, j] = kept


@kernel
def regress(root: FloatArray, n: float, out: FloatArray) -> None:
    """Write the coefficients of the regression of the last column on the others, and the spread of its residuals."""
    p = len(root) - 1
    size = root[p, p] ** 2
    for j in range(p - 1, -1, -1):
        left, length = root[j, p], 0.0
        size += left * left
        for i in range(j + 1, p):
            left -= root[j, i] * out[i]
        for i in range(j + 1):
            length = max(length, abs(root[i, j]))
        # Else the column is a combination of those before it.
        out[j] = left / root[j, j] if root[j, j] > FINEST * length else 0.0
    spread = root[p, p] / math.sqrt(max(1.0, n - p))
    out[p] = max(spread, FINEST * math.sqrt(size / max(1.0, n)), NARROWEST)


@kernel
def expected(coefficients: FloatArray, row: FloatArray) -> float:
    """Return what a regression expects of the last entry of a row."""
    value = 0.0
    for i in range(len(row) - 1):
        value += coefficients[i] * row[i]
    return value


@kernel
def most_dense(root: FloatArray, n: float) -> float:
    """Return the logarithm of the largest density that a Gaussian regression gives to n rows with the factor `root`."""
    p = len(root) - 1
    size = 0.0
    for i in range(p + 1):
        size += root[i, p] ** 2
    squares = root[p, p] ** 2
    if n <= p or squares <= ROUNDING * ROUNDING * size:
        return np.inf
    return -0.5 * n * (math.log(2 * math.pi * squares / n) + 1)


@kernel
def beyond(v: float, heavy: float) -> float:
    """Return the probability of more than v ≥ 0 under a standard normal law with a share `heavy` of a Cauchy law."""
    return (1 - heavy) * 0.5 * math.erfc(v / math.sqrt(2)) + heavy * math.atan2(1.0, v) / math.pi


@kernel
def between(low: float, high: float, heavy: float) -> float:
    """Return the probability of (low, high) under the same law."""
    if low >= 0:
        return beyond(low, heavy) - beyond(high, heavy)
    if high <= 0:
        return beyond(-high, heavy) - beyond(-low, heavy)
    return 1 - beyond(-low, heavy) - beyond(high, heavy)


@kernel
def log_density(u: float, heavy: float) -> float:
    """Return the log density of the same law."""
    if abs(u) > 50:
        return math.log(heavy / math.pi) - 2 * math.log(abs(u)) - math.log1p(1 / (u * u))
    normal = math.exp(-0.5 * u * u) / math.sqrt(2 * math.pi)
    return math.log((1 - heavy) * normal + heavy / (math.pi * (1 + u * u)))


@kernel
def bin_of(u: float) -> int:
    """Return the number of the bin of a difference of u spreads from what was expected."""
    b = 0
    for edge in EDGES:
        b += u > edge
    return b


@kernel
def log_shape(y: float, centre: float, spread: float, middle: float, unit: float, heavy: float) -> float:
    """Return the log density of y within its bin; the bins are laid around `middle`, the law around `centre`."""
    b = bin_of((y - middle) / unit)
    low = (middle + EDGES[b - 1] * unit - centre) / spread if b > 0 else -np.inf
    high = (middle + EDGES[b] * unit - centre) / spread if b < len(EDGES) else np.inf
    mass = max(between(low, high, heavy), SMALLEST_MASS)
    return log_density((y - centre) / spread, heavy) - math.log(spread) - math.log(mass)


@kernel
def measured_start(j: int, q: int) -> int:
    """Return after how many measurements start j comes, for rows of q numbers: later where there is more to fit."""
    return STARTS[j] + 4 + 16 * (q - 2)


@kernel
def measured_step(
    row: FloatArray,  # (q,): 1, what was known, and what was measured; afterwards, less the origin
    started: int,  # how many starts lie behind
    n: int,
    origin: FloatArray,  # (q,): the first row; numbers near it lose no digits
    root: FloatArray,  # (q, q): the factor R of all rows before
    laid: FloatArray,  # (q,): the coefficients and the spread by which the bins were laid
    since: FloatArray,  # (starts, q, q): the factor of the rows since each start
    shapes: FloatArray,  # (starts,): the sum of log φ(y | bin) since each start
    counts: FloatArray,  # of the bins, and so on: see `listed_step`
    faded: FloatArray,
    before: FloatArray,
    posterior: FloatArray,
    predicted: FloatArray,
) -> tuple[float, float]:
    """Add the (n + 1)-th measurement to a bucket; return its log E, and how far it is from what was expected."""
    for i in range(1, len(row)):
        row[i] -= origin[i]
    y, fitted = row[-1], np.empty(len(row))
    regress(root, n, fitted)
    centre, spread = expected(fitted, row), fitted[-1] * math.sqrt(1 + (len(row) - 1) / max(1, n))
    log_e = 0.0
    if started > 0:
        middle, unit = expected(laid, row), laid[-1]
        shape = log_shape(y, centre, spread, middle, unit, 1 / (n + 1))
        bounds = np.empty(len(shapes))
        for j in range(started):
            shapes[j] += shape
            absorb(since[j], row.copy())
            bounds[j] = most_dense(since[j], n + 1 - measured_start(j, len(row))) - shapes[j]
        log_e = listed_step(bin_of((y - middle) / unit), started, bounds, counts, faded, before, posterior, predicted)
    absorb(root, row.copy())
    return log_e, y - centre
