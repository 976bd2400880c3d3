"""The induction for two scores on one grid: the losses of all sets of tests, largest sets first.

With the losses r_O against perfect information (:mod:`~proband.planners.gaussian.plane.instance`), sets of one size
depend on those with one test more only, and are solved side by side by all cores.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from proband.piecewise.plane_kernel import expect_many
from proband.planners.gaussian.plane.conditioning_kernel import condition_many
from proband.planners.gaussian.plane.expectation_kernel import expect_losses, nodes_along
from proband.planners.gaussian.plane.instance import Instance
from proband.planners.gaussian.plane.tables import (
    BoolArray,
    P,
    Table,
    axis,
    best_somewhere,
    half_width,
    nodes_of,
    polynomials,
    within_reach,
)
from proband.vocabulary import FloatArray

AT_REST = 1e-14
"""A mean whose variance is below this does not move: rounding."""
OUTSET = 1e-9
"""Means this close to the prior one, in prior deviations, are where a subject starts."""
CLOSEST = 0.03
"""Spacing of the ε in an integral over two of them."""
LARGEST_SPACING = 0.35
"""Of the ε in an integral: then a Gaussian of variance 1 is summed to rounding."""


class Rule(NamedTuple):
    """How finely everything is computed: the widest panel in prior deviations, and how far a mean or an ε may stray."""

    width: float
    reach: float

    def spacing(self, step: FloatArray) -> float:
        """Return the spacing of ε for a step: the mean then moves by half a node's distance at most."""
        return min(LARGEST_SPACING, self.width / (2 * P) / max(float(np.abs(step).max()), 1e-300))


@dataclass(frozen=True)
class Sets:
    """All tested sets, as bits of the tests that can be run, what is believed after each, and what may follow.

    Attributes
    ----------
    instance : Instance
    most : int
        Most tests that are run.
    scores, steps : (2^m, 3), (2^m, m, 2)
        Posterior covariance of z, and the step of each test.
    """

    instance: Instance
    most: int
    scores: FloatArray
    steps: FloatArray

    @classmethod
    def of(cls, instance: Instance, most: int) -> Sets:
        """Return the sets of an instance of which tests are run up to some number."""
        every = np.arange(2 ** len(instance.peers), dtype=np.int64)
        return cls(instance, most, *condition_many(instance.factors, every, instance.noise))

    @cached_property
    def levels(self) -> tuple[list[int], ...]:
        """The sets with 0, 1, ... tests."""
        sizes = np.bitwise_count(np.arange(len(self.scores)))
        return tuple(np.flatnonzero(sizes == size).tolist() for size in range(self.most + 1))

    def children(self, done: int) -> Iterator[tuple[int, int, float, FloatArray]]:
        """Yield test, set with it, price and step for each test that can follow a set."""
        if done.bit_count() < self.most:
            for i, peers in enumerate(self.instance.peers):
                if not done >> i & 1:
                    price = float(self.instance.prices[1 if done & peers else 0, i])
                    yield i, done | 1 << i, price, self.steps[done, i]

    def revealed(self, done: int) -> bool:
        """Return whether a set leaves nothing unknown about z."""
        return not (self.scores[done, 0] > 0 or self.scores[done, 2] > 0)


class Induction:
    """Solves level after level on one grid and keeps the tables; None for a set that reveals z."""

    def __init__(self, sets: Sets, rule: Rule) -> None:
        self.sets, self.rule = sets, rule
        self.tables: dict[int, Table | None] = {}

    def solve(self) -> Generator[int, None, None]:
        """Solve all levels; yields how many sets are done."""
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            for level in self.sets.levels[::-1]:
                for done, table in zip(level, threads.map(self._solve, level), strict=True):
                    self.tables[done] = table
                    yield len(self.tables)

    def action_losses(self, done: int, points: FloatArray, *, every: bool = False, coarser: float = 1.0) -> FloatArray:
        """Return the loss of every action at points (k, 2) after a set, decisions first: shape (n + m, k).

        It is infinite for tests that cannot follow, and, unless `every` one is asked for, for those that cost more than
        deciding at once loses. Before anything is known, it is computed two tests ahead, past the grid of the first,
        with a spacing that may be `coarser`.
        """
        instance = self.sets.instance
        n, m = len(instance.surfaces.heights), len(instance.peers)
        losses = np.full((n + m, len(points)), np.inf)
        losses[:n] = self.stopping_losses(done, points)
        worst = np.full(len(points), np.inf) if every else losses[:n].min(axis=0)
        outset = done == 0 and bool((np.abs(points) < OUTSET).all())
        for i, child, price, step in self.sets.children(done):
            if not outset:
                losses[n + i] = self.after(child, points, price < worst, price, step)
            elif (price < worst).any():
                losses[n + i] = price + self._two_ahead(child, step, coarser)
        return losses

    def _two_ahead(self, child: int, step: FloatArray, coarser: float) -> float:
        """Return E r(step·ε) from the best actions after a set, not from its own table."""
        table, rule = self.tables[child], self.rule
        if table is None:
            return 0.0
        spacing = coarser * rule.spacing(step) / 16
        epsilon, weights = nodes_along(table, np.zeros(2), step, reach=rule.reach, spacing=spacing)
        return float(weights @ self.action_losses(child, np.outer(epsilon, step)).min(axis=0))

    def loss_on_arrival(self, *, coarser: float = 1.0) -> float:
        """Return what a new subject loses against perfect information, before anything is known.

        What is known on arrival moves the mean of z by first·ε + second·ε', where `second` is along the second score.
        Where the sums over ε are `coarser`, the difference tells how exact they are.
        """
        first, second = self.sets.instance.arrival_steps
        table, reach = self.tables[0], self.rule.reach
        if table is None:
            return 0.0
        if not (first.any() or second.any()):
            return float(self.action_losses(0, np.zeros((1, 2)), coarser=coarser).min())
        both = bool(second.any())
        finest, share = (CLOSEST, 2) if both else (CLOSEST / 10, 8)
        spacing = coarser * max(self.rule.spacing(np.concatenate([first, second])) / share, finest)
        points, weights = [], []
        jumping = first * [1, not both]  # what the second step is averaged over is smooth in the second score
        for epsilon, weight in zip(
            *nodes_along(table, np.zeros(2), jumping, reach=reach, spacing=spacing), strict=True
        ):
            start = epsilon * first
            inner, shares = nodes_along(table, start, second, reach=reach, spacing=spacing)
            points.append(start + np.outer(inner, second))
            weights.append(weight * shares)
        losses = self.action_losses(0, np.concatenate(points)).min(axis=0)
        return float(np.concatenate(weights) @ losses)

    def stopping_losses(self, done: int, points: FloatArray) -> FloatArray:
        """Return what each decision loses at points (k, 2) after a set, shape (n, k)."""
        surfaces = self.sets.instance.surfaces
        n = len(surfaces.heights)
        expected = expect_many(surfaces, points, self.sets.scores[done], n + 1)
        return np.ascontiguousarray(np.maximum(expected[:, n:] - expected[:, :n], 0.0).T)

    def after(self, child: int, points: FloatArray, wanted: BoolArray, price: float, step: FloatArray) -> FloatArray:
        """Return price + E r(point + step·ε) for the wanted points (k, 2), infinity for the others."""
        out, table = np.full(len(points), np.inf), self.tables[child]
        if table is None:
            out[wanted] = price
        elif wanted.any():
            expect_losses(table, points, wanted, step, self.rule.reach, self.rule.spacing(step), price, out)
        return out

    def _solve(self, done: int) -> Table | None:
        if self.sets.revealed(done):
            return None
        scores, instance, rule = self.sets.scores[done], self.sets.instance, self.rule
        spread = instance.prior - scores
        follow = rule.reach, rule.width * (1 + done.bit_count()), rule.width
        (breaks_1, cuts_1), (breaks_2, cuts_2) = (
            axis(half_width(spread[j], *follow) if spread[j] > AT_REST else 0.0, knots, scores[j] ** 0.5, rule.width)
            for j, knots in ((0, instance.surfaces.knots_1), (2, instance.surfaces.knots_2))
        )
        points = nodes_of(breaks_1, breaks_2)
        within = np.repeat(within_reach(breaks_1, breaks_2, spread, *follow), P * P)
        first, blocks = polynomials(*self._losses(done, points, within))
        return Table(breaks_1, breaks_2, cuts_1, cuts_2, first, blocks)

    def _losses(self, done: int, points: FloatArray, within: BoolArray) -> tuple[FloatArray, BoolArray]:
        """Return the losses of actions at all nodes, and which of them to keep in each cell."""
        stopping = self.stopping_losses(done, points)
        n, worst = len(stopping), stopping.min(axis=0)
        followers = [child for child in self.sets.children(done) if (within & (child[2] < worst)).any()]
        losses = np.concatenate([stopping, np.empty((len(followers), len(points)))])
        for found, (_, child, price, step) in zip(losses[n:], followers, strict=True):
            found[:] = self.after(child, points, within & (price < worst), price, step)
        kept = best_somewhere(losses, len(points) // P**2)
        for found, best, (_, child, price, step) in zip(losses[n:], kept[n:], followers, strict=True):
            missing = np.repeat(best, P * P) & np.isinf(found)
            found[missing] = self.after(child, points, missing, price, step)[missing]
        return losses, kept
