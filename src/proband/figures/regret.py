"""Figures of experiments: cumulative regret against subjects, and final regret against a parameter.

They draw curves that are already computed, from nothing but a table of results: means, spreads, slopes, and ratios to
a baseline on the same instances. An agent looks the same in all of them (:mod:`proband.figures.agents`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from proband.figures.agents import Look, looks
from proband.figures.canvas import FAINT, INK, SMALL, literal, new_figure
from proband.quantities import marked, with_powers
from proband.vocabulary import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHORT = 20.0
"""Scales over which values grow by less have too few powers of ten to be marked by them alone."""

THOUSANDS = 10_000
"""Subjects from which on they are counted in thousands."""
LEADER = 1.05
"""Where a leader ends, in widths of the panel."""
SEEN = 1e-3
"""The share of a mean that a band is wide, at least, where it can be seen."""
FEWEST = 64
"""Subjects from which on logarithmic figures begin."""
LABELS = {"explore-then-commit": "explore-then-commit, knows T", "doubling-keep": "doubling, keeps its data"}
"""What an agent is called in a figure, where it is not its name with spaces."""


@dataclass(frozen=True)
class Curve:
    """One agent's line.

    Attributes
    ----------
    agent : str
    x, mean, spread : FloatArray of shape (n,)
        The band reaches from mean − spread to mean + spread.
    slope : str
        The fitted slope in log-log coordinates, as it is to be written.
    """

    agent: str
    x: FloatArray
    mean: FloatArray
    spread: FloatArray
    slope: str = ""

    @property
    def label(self) -> str:
        """What the agent is called in the figure."""
        return LABELS.get(self.agent, literal(_spoken(self.agent)))


@dataclass(frozen=True)
class Words:
    """What is written beside the curves: title, the line below it, the baseline's name, parameter, what is shown."""

    title: str
    subtitle: str
    baseline: str
    parameter: str = ""
    quantity: str = "regret"


def draw_regret(regrets: Sequence[Curve], ratios: Sequence[Curve], words: Words) -> Figure:
    """Draw cumulative regret against subjects: linear, log-log with slopes, and relative to the baseline.

    Other quantities do not add up, and have no linear panel.

    Examples
    --------
    >>> t = np.array([1.0, 10.0, 100.0])
    >>> curve = Curve("explore-then-commit", t, t**0.5, 0.1 * t**0.5, "0.5")
    >>> len(draw_regret([curve], [curve], Words("Title", "subtitle", "explore-then-commit")).axes)
    3
    """
    adds_up = words.quantity == "regret"  # what falls over decades is a line at zero on linear axes
    figure = _figure(15.5 if adds_up else 11.0, words)
    *linear, logarithmic, relative = figure.subplots(1, 3 if adds_up else 2)
    for axes in linear:
        _draw_linear(axes, regrets, words)
    _draw_logarithmic(logarithmic, regrets)
    heading = ", ".join(["In logarithms: mean", *_band(regrets, "sd"), "fitted slopes"])
    _finish(logarithmic, heading, "subjects t", _unit(words.quantity))
    _draw_ratios(relative, ratios, words, "subjects t")
    last = max(curve.x[-1] for curve in regrets)
    for axes in (logarithmic, relative):
        axes.set_xlim(FEWEST if last > 4 * FEWEST else 1, last)
    _label_ends(relative, ratios)
    return figure


def draw_mean(regrets: Sequence[Curve], words: Words) -> Figure:
    """Draw cumulative regret against subjects, as the paper does: mean and band on linear axes.

    Examples
    --------
    >>> t = np.array([1.0, 10.0, 100.0])
    >>> curve = Curve("explore-then-commit", t, t**0.5, 0.1 * t**0.5)
    >>> len(draw_mean([curve], Words("Title", "subtitle", "explore-then-commit")).axes)
    1
    """
    figure = _figure(7.6, words)
    _draw_linear(figure.subplots(), regrets, words)
    return figure


def draw_sweep(regrets: Sequence[Curve], ratios: Sequence[Curve], words: Words) -> Figure:
    """Draw final regret against a parameter: in logarithms with slopes, and relative to the baseline.

    Examples
    --------
    >>> size = np.array([4.0, 16.0, 64.0])
    >>> curve = Curve("explore-then-commit", size, size ** (1 / 3), 0.1 * size, "0.333")
    >>> len(draw_sweep([curve], [curve], Words("Title", "", "explore-then-commit", "size of the support")).axes)
    2
    """
    figure = _figure(11.0, words)
    logarithmic, relative = figure.subplots(1, 2)
    _draw_logarithmic(logarithmic, regrets, marker="o")
    heading = ", ".join(["Final regret: mean", *_band(regrets, "standard error"), "slopes"])
    _finish(logarithmic, heading, words.parameter, _unit("regret"))
    _draw_ratios(relative, ratios, words, words.parameter, marker="o")
    for axes in (logarithmic, relative):
        _ticks(axes, regrets[0].x)
    _label_ends(relative, ratios)
    return figure


def _figure(width: float, words: Words) -> Figure:
    figure = new_figure(width, 4.9)
    figure.set_layout_engine("constrained", w_pad=0.12, h_pad=0.08, rect=(0, 0, 1, 0.88))
    figure.text(0.012, 0.955, literal(words.title), size=13, weight="bold", color=INK, va="center")
    figure.text(0.012, 0.905, literal(words.subtitle), size=SMALL + 0.5, color=INK, va="center")
    return figure


def _draw_linear(axes: Axes, regrets: Sequence[Curve], words: Words) -> None:
    """Draw means and bands on linear axes."""
    shown = _looks(regrets)
    for curve in regrets:
        _draw(axes, curve, shown[curve.agent])
    heading = "Cumulative regret" if words.quantity == "regret" else words.quantity.capitalize()
    last = max(curve.x[-1] for curve in regrets)
    thousands = bool(last >= THOUSANDS)
    heading = ", ".join([f"{heading}: mean", *_band(regrets, "sd")])
    _finish(axes, heading, f"subjects t{' (thousands)' * thousands}", _unit(words.quantity))
    axes.xaxis.set_major_formatter(lambda x, _: marked(x / 1000 if thousands else x))
    axes.yaxis.set_major_formatter(lambda y, _: marked(y))
    axes.set_xlim(0, last)
    axes.set_ylim(0)
    _label_ends(axes, regrets)


def _draw(axes: Axes, curve: Curve, look: Look, *, marker: str = "") -> None:
    """Draw one agent's line and band."""
    slope = f" (slope {curve.slope.replace('-', '−')})" if curve.slope else ""
    line: Any = {"color": look.colour, "linestyle": look.dashes, "label": curve.label + slope}
    axes.plot(curve.x, curve.mean, marker=marker, markersize=4, zorder=3, **line)
    low = np.maximum(curve.mean - curve.spread, 1e-9)
    axes.fill_between(curve.x, low, curve.mean + curve.spread, color=look.colour, alpha=0.16, linewidth=0, zorder=2)


def _draw_ratios(axes: Axes, ratios: Sequence[Curve], words: Words, x: str, *, marker: str = "") -> None:
    looked = _looks(ratios)
    baseline = looked.get(words.baseline, Look(FAINT, "-"))
    axes.axhline(1, color=baseline.colour, linestyle=baseline.dashes, linewidth=1, zorder=1)
    for curve in ratios:
        if curve.agent != words.baseline:
            _draw(axes, curve, looked[curve.agent], marker=marker)
    axes.set_xscale("log")
    axes.set_yscale("log")
    shown = np.concatenate([curve.mean[curve.x >= (0.0 if marker else FEWEST)] for curve in ratios])
    shown = shown[(shown > 0) & np.isfinite(shown)]
    if shown.size:
        axes.set_ylim(min(0.5, shown.min() / 1.4), max(2.0, shown.max() * 1.4))
    _mark_numbers(axes)
    others = [curve for curve in ratios if curve.agent != words.baseline]
    heading = ": ".join([f"Relative to {_spoken(words.baseline)}", *_band(others, "standard error")])
    _finish(axes, heading, x, f"ratio of mean {words.quantity}s")


def _mark_numbers(axes: Axes) -> None:
    """Mark numbers, and no powers of ten, on a logarithmic scale."""
    from matplotlib.ticker import LogLocator, NullFormatter

    low, high = axes.get_ylim()
    decades = np.log10(high / low)
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 3 else (1, 3) if decades < 5 else (1,)))
    axes.yaxis.set_major_formatter(lambda y, _: marked(y))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _finish(axes: Axes, title: str, x: str, y: str) -> None:
    axes.set_title(literal(title), loc="left", size=10, weight="bold", color=INK)
    axes.set_xlabel(literal(x).replace("T^(-1/3)", "$T^{-1/3}$"), color=INK)
    axes.set_ylabel(literal(y), color=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=SMALL)
    axes.grid(color="#e6eaed", linewidth=0.6, zorder=0)


def _draw_logarithmic(axes: Axes, curves: Sequence[Curve], *, marker: str = "") -> None:
    """Draw in logarithms, with room above the curves for the legend."""
    shown = _looks(curves)
    for curve in curves:
        _draw(axes, curve, shown[curve.agent], marker=marker)
    axes.set_xscale("log")
    axes.set_yscale("log")
    means = np.concatenate([curve.mean[curve.x >= (0.0 if marker else FEWEST)] for curve in curves])
    means = means[means > 0]
    if means.size:
        low, high = means.min() / 1.4, means.max() * 1.4
        axes.set_ylim(low, high * (high / low) ** (0.075 * (len(curves) + 0.5)))
        if high / low < SHORT:
            _mark_numbers(axes)
    axes.legend(frameon=False, fontsize=SMALL, loc="upper left", handlelength=2.6, borderaxespad=0.2)


def _ticks(axes: Axes, x: FloatArray) -> None:
    """Mark the values that were tried; large powers of two as such."""
    from matplotlib.ticker import NullLocator

    values = x if len(x) <= 7 else x[::2]
    powers = values[-1] >= 2**10 and all(float(np.log2(value)).is_integer() for value in values)
    names = [f"$2^{{{np.log2(value):.0f}}}$" if powers else marked(value) for value in values]
    axes.set_xticks(values, names)
    axes.xaxis.set_minor_locator(NullLocator())


def _label_ends(axes: Axes, curves: Sequence[Curve]) -> None:
    """Write each agent's name at the right end of its line; where they would meet, moved apart, with a leader."""
    ends = [curve for curve in curves if np.isfinite(curve.mean[-1]) and curve.mean[-1] > 0]
    axes.get_xlim(), axes.get_ylim()  # settles the scales, on which the places depend
    shown, to_axes = _looks(curves), axes.transData + axes.transAxes.inverted()
    heights = [min(max(float(to_axes.transform((1.0, curve.mean[-1]))[1]), 0.0), 1.0) for curve in ends]
    reaches = [min(float(to_axes.transform((curve.x[-1], 1.0))[0]), 1.0) for curve in ends]
    for curve, reach, end, height in zip(ends, reaches, heights, _apart(heights, gap=0.09), strict=True):
        colour = shown[curve.agent].colour
        moved = abs(height - end) > 0.01
        if moved:
            leader: Any = {"transform": axes.transAxes, "clip_on": False, "linewidth": 0.7, "color": colour}
            axes.plot([reach, LEADER], [end, height], label="_leader", **leader)
        axes.annotate(
            curve.label.replace(", ", ",\n").replace(" completion", "\ncompletion"),
            (LEADER if moved else 1.0, height),
            (3 if moved else 5, 0),
            xycoords="axes fraction",
            textcoords="offset points",
            color=colour,
            size=SMALL,
            va="center",
            linespacing=1.05,
            annotation_clip=False,
        )


def _looks(curves: Sequence[Curve]) -> dict[str, Look]:
    return looks(curve.agent for curve in curves)


def _band(curves: Sequence[Curve], spread: str) -> list[str]:
    """Return what the bands are, nothing where none can be seen: one replication has none, nor what is always alike.

    Examples
    --------
    >>> one = np.array([1.0])
    >>> _band([Curve("greedy", one, one, one)], "sd"), _band([Curve("greedy", one, one, 0 * one)], "sd")
    (['band ± sd'], [])
    """
    return [f"band ± {spread}"] * any((curve.spread > SEEN * np.abs(curve.mean)).any() for curve in curves)


def _unit(quantity: str) -> str:
    """Return what is measured, with its unit."""
    return "regret (units of the reward)" if quantity == "regret" else quantity


def _apart(heights: Sequence[float], *, gap: float) -> list[float]:
    """Move heights apart, in their order, until neighbours are `gap` from each other, or as far as all of them fit."""
    order = np.argsort(heights)
    placed = np.clip(np.array(heights, dtype=np.float64)[order], 0.0, 1.0)
    gap = min(gap, 1 / max(len(placed) - 1, 1))
    for _ in range(1000):
        for n in range(1, len(placed)):
            short = gap - (placed[n] - placed[n - 1])
            if short > 0:
                placed[n - 1 : n + 1] += (-short / 2, short / 2)
        placed = np.clip(placed, 0.0, 1.0)
    result = np.empty(len(placed))
    result[order] = placed
    return [float(height) for height in result]


def _spoken(name: str) -> str:
    """Return an agent's name as it is read.

    Examples
    --------
    >>> _spoken("elimination-1.5e12"), _spoken("leaf-completion")
    ('elimination 1.5 × 10¹²', 'leaf completion')
    """
    return name if name == "explore-then-commit" else with_powers(name.replace("-", " "))
