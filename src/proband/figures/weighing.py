"""Pictures of what a report weighs: costs of tests and of mistakes, prices of tests, and chances as told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from proband.figures.canvas import FAINT, GRID, INK, LINES, SMALL, brief, in_unit, label_axes, literal, new_figure
from proband.quantities import marked, said
from proband.vocabulary import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SEEN, TOLD = LINES[0], FAINT
"""Colours of what happened to rows, and of what the law says."""
SIZE = 7.4
"""Inches that a picture is wide: it fits a sheet of A4 unreduced."""


@dataclass(frozen=True)
class PriceCurve:
    """Points of plans for multiplied prices, all (n,): multiplier, cost of tests, cost of mistakes, share right."""

    name: str
    multiplier: FloatArray
    cost: FloatArray
    lost: FloatArray
    right: FloatArray


def draw_price_curves(curves: Sequence[PriceCurve], *, unit: str) -> Figure:
    """Draw the costs of mistakes, and how many decisions are right, against the costs of tests; the first curve leads.

    Examples
    --------
    >>> two = np.array([1.0, 2.0])
    >>> len(draw_price_curves([PriceCurve("by the law", two, two[::-1], two, 1 / two)], unit="EUR").axes)
    2
    """
    figure = new_figure(SIZE, 3.6)
    figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.06)
    left, right = figure.subplots(1, 2)
    for n, curve in enumerate(curves):
        look = {"color": TOLD if n else SEEN, "linestyle": (0, (4, 1.5)) if n else "-", "lw": 1.3 if n else 1.8}
        order = np.argsort(curve.multiplier)
        for axes, y in ((left, curve.lost), (right, 100 * curve.right)):
            axes.plot(curve.cost[order], y[order], marker="o", ms=3, label=literal(curve.name), **look)
            now = np.flatnonzero(curve.multiplier == 1)
            axes.plot(curve.cost[now], y[now], "o", ms=9, mfc="none", mec=INK, mew=1.2, ls="")
    for axes, y in ((left, curves[0].lost), (right, 100 * curves[0].right)):
        _mark(axes, curves[0], y, below=axes is right)
    label_axes(left, f"cost of tests, a subject{in_unit(unit)}", f"cost of wrong decisions, a subject{in_unit(unit)}")
    label_axes(right, f"cost of tests, a subject{in_unit(unit)}", "best decisions (%)")
    left.set_ylim(bottom=0)
    left.plot([], [], "o", ms=9, mfc="none", mec=INK, mew=1.2, ls="", label="present prices")
    left.legend(fontsize=SMALL, frameon=False)
    for axes in (left, right):
        _plain(axes)
        axes.set_xlim(left=0 if curves[0].cost.min() < 0.2 * curves[0].cost.max() else None)
    return figure


def draw_price_limits(names: Sequence[str], prices: FloatArray, limits: FloatArray, *, unit: str) -> Figure:
    """Draw the price of each test, and up to which price it is run: NaN where at none, infinite where at any.

    Examples
    --------
    >>> names, prices, limits = ["a", "b"], np.array([1.0, 2.0]), np.array([4.0, float("nan")])
    >>> len(draw_price_limits(names, prices, limits, unit="EUR").axes)
    1
    """
    figure = new_figure(SIZE, 1.1 + 0.3 * len(names))
    figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.06)
    axes = figure.subplots()
    place = np.arange(len(names))[::-1]
    positive = np.concatenate([prices[prices > 0], limits[np.isfinite(limits) & (limits > 0)]])
    low, high = (positive.min() / 1.6, positive.max() * 1.6) if positive.size else (0.1, 10.0)
    ends = np.clip(np.where(np.isnan(limits), low, limits), low, high)
    run = limits >= prices
    axes.hlines(place, low, ends, color=np.where(run, LINES[2], GRID).tolist(), lw=5, zorder=1)
    axes.plot(np.maximum(prices, low), place, "o", ms=7, color=INK, zorder=3, label="price now")
    axes.hlines([], 0, 0, color=LINES[2], lw=5, label="it is run up to here")
    axes.hlines([], 0, 0, color=GRID, lw=5, label="it would be run up to here")
    axes.set_yticks(place, [literal(brief(name)) for name in names], fontsize=SMALL, color=INK)
    axes.set_ylim(-0.7, len(names) - 0.3)
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    label_axes(axes, f"price{in_unit(unit)}", "")
    _plain(axes, grid="x")
    _few_ticks(axes, low, high)
    axes.legend(fontsize=SMALL, frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
    return figure


def draw_calibration(
    told: FloatArray, observed: FloatArray, low: FloatArray, high: FloatArray, *, event: str
) -> Figure:
    """Draw the observed shares of groups of rows, with their intervals, against the probabilities that were told.

    Examples
    --------
    >>> half = np.array([0.5])
    >>> len(draw_calibration(half, half, half - 0.1, half + 0.1, event="it is bad").axes)
    1
    """
    figure = new_figure(4.4, 4.2)
    figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.06)
    axes = figure.subplots()
    axes.plot([0, 100], [0, 100], color=TOLD, lw=1.2, ls=(0, (4, 1.5)), label="as told")
    reach = 100 * np.maximum(0, np.array([observed - low, high - observed]))
    axes.errorbar(
        100 * told,
        100 * observed,
        reach,
        fmt="o",
        label="observed, 90 % interval",
        color=SEEN,
        ms=5,
        lw=1.3,
        capsize=2.5,
    )
    axes.set(xlim=(-3, 103), ylim=(-3, 103), aspect="equal")
    label_axes(axes, "told, without the row (%)", "observed (%)")
    axes.set_title(literal(brief(event, 60)), loc="left", fontsize=SMALL + 1, color=INK)
    axes.legend(fontsize=SMALL, frameon=False, loc="upper left")
    _plain(axes)
    return figure


def _mark(axes: Axes, curve: PriceCurve, y: FloatArray, *, below: bool) -> None:
    """Write by which factor prices are multiplied, beside points that are far enough from others, off the lines."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    taken: list[tuple[float, float]] = []
    for n in np.argsort(np.abs(np.log(curve.multiplier))).tolist():
        x_pixel, y_pixel = axes.transData.transform((curve.cost[n], y[n])) / figure.dpi
        if all(np.hypot(x_pixel - x, y_pixel - y_) > 0.3 for x, y_ in taken):
            taken.append((float(x_pixel), float(y_pixel)))
            text = factor(float(curve.multiplier[n]))
            at = (float(curve.cost[n]), float(y[n]))
            off = (6, -10 if below else 5)
            axes.annotate(text, at, off, textcoords="offset points", fontsize=SMALL - 1, color=INK)


def factor(multiplier: float) -> str:
    """Return a multiplier as people write it.

    Examples
    --------
    >>> factor(0.25), factor(1.0), factor(2**1.5)
    ('×1/4', '×1', '×2.8')
    """
    below = multiplier < 1 and abs(1 / multiplier - round(1 / multiplier)) < 1e-9
    return f"×1/{round(1 / multiplier)}" if below else f"×{said(multiplier, digits=2)}"


def _plain(axes: Axes, *, grid: Literal["both", "x"] = "both") -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)
    axes.tick_params(labelsize=SMALL, color=FAINT, labelcolor=INK)
    axes.grid(axis=grid, color=GRID, lw=0.6)
    axes.set_axisbelow(True)


def _few_ticks(axes: Axes, low: float, high: float) -> None:
    """Mark 1, 2 and 5 times powers of ten, or fewer of them, as people write numbers."""
    from matplotlib.ticker import NullLocator

    steps = (1, 2, 5) if high / low < 300 else (1, 3) if high / low < 3000 else (1,)
    powers = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    ticks = [step * power for power in powers for step in steps if low <= step * power <= high]
    axes.set_xticks(ticks, [marked(tick) for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
