"""Functions of two variables that are affine on rectangles, jumps allowed, and their expectations under a Gaussian.

n functions g_1, ..., g_n share knots on both axes, which cut the plane into rectangular cells, closed on the left and
below. On a cell g_y(z) = a + b·z. For z ~ N(μ, T) every expectation is a sum over the *creases*, the segments along
which a function f changes by Δa + Δb·z when they are crossed in the direction of their unit normal ν:

    E f(z) = f(μ) + Σ over creases of  (Δa + Δb·μ)·Θ + (Δb·Tν)·Λ,
    Θ = ∫ exp(−r²/2) dθ / 2π,      Λ = ∫ density of z,      along the crease.

Here r and θ are polar coordinates around μ after z was scaled to unit covariance. (Both come from the divergence
theorem: (z − μ)·density = −T ∇density, and the probability of a polygon is 1 or 0, as μ is inside or not, minus the
integral Θ once around it.) Let α be the signed distance of the crease's line from μ and u the position of an end on
this line, both in standard deviations. Then Θ is the difference of ±T(|α|, u/|α|) at the ends, T being Owen's function,
and Λ that of φ(α)·Φ(u)/sd(ν·z): exact up to rounding. The best reward max_y g_y is affine on polygons: it has more
creases inside the cells, where two functions cross, and the same formula.

A singular T lets z move on a line only, on which f is piecewise linear; T = 0 gives f(μ).

Examples
--------
>>> import numpy as np
>>> both = PiecewisePlane(
...     ([0.0], [0.0]), [[[-1.0, -1.0], [-1.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]], np.zeros((2, 2, 2, 2))
... )
>>> both([[0.5, -0.5], [0.0, 0.0]])
array([[-1.,  0.],
       [ 1.,  0.]])
>>> both.expectation([[0.0, 0.0]], [[1.0, 0.5], [0.5, 1.0]]).round(6)
array([[-0.333333,  0.      ]])
>>> both.expected_maximum([[0.0, 0.0]], [[1.0, 0.5], [0.5, 1.0]]).round(6)
array([0.333333])
"""

from proband.piecewise_plane.functions import PiecewisePlane
from proband.piecewise_plane.kernel import Surfaces, bivariate_normal, expect_many, owens_t

__all__ = ["PiecewisePlane", "Surfaces", "bivariate_normal", "expect_many", "owens_t"]
