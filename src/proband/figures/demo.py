"""The demonstration's figure: what agents lost along one stream, what a bolt cost, which tests are run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from proband.figures.agents import looks
from proband.figures.canvas import FAINT, INK, NEUTRAL_FILL, in_unit, literal, new_figure
from proband.quantities import marked
from proband.vocabulary import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTHS = (1.8, 1.6, 2.4)
"""Of the lines of the agents."""
FROM = 10
"""Costs of fewer bolts than this are single bolts' and are not drawn."""


@dataclass(frozen=True)
class DemoCurves:
    """What the figure shows, for three agents, the last of which is the one to look at.

    Attributes
    ----------
    t : IntArray of shape (n,)
        Numbers of subjects.
    regret : mapping of str to FloatArray of shape (n,)
        What each agent lost to the clairvoyant on the first `t` subjects.
    edges : IntArray of shape (m + 1,)
        Numbers of subjects between which costs are averaged.
    costs : mapping of str to FloatArray of shape (m,)
        What testing a subject cost each agent on average between two edges.
    clairvoyant_cost : float
        What testing costs under the best plan.
    shares : mapping of str to (float, float)
        How often each test is run: under the learned plan, under the best plan.
    unit : str
    """

    t: IntArray
    regret: Mapping[str, FloatArray]
    edges: IntArray
    costs: Mapping[str, FloatArray]
    clairvoyant_cost: float
    shares: Mapping[str, tuple[float, float]]
    unit: str


def draw_demo(curves: DemoCurves) -> Figure:
    """Draw the three panels of the demonstration.

    Examples
    --------
    >>> names = ("explore-then-commit", "doubling", "safe-leaf-completion")
    >>> curves = DemoCurves(
    ...     np.array([50, 100]), {name: np.array([1.0, 2.0]) for name in names},
    ...     np.array([0, 50, 100]), {name: np.array([9.0, 2.0]) for name in names}, 2.3,
    ...     {"ultrasonic": (0.1, 0.2)}, "USD",
    ... )  # fmt: skip
    >>> len(draw_demo(curves).axes)
    3
    """
    figure = new_figure(14.5, 4.9)
    figure.set_layout_engine("constrained", w_pad=0.14, h_pad=0.1)
    title = f"Three agents learn to inspect the same {curves.t[-1]:,} bolts (one simulated stream)"
    figure.suptitle(title, x=0.012, ha="left", color=INK, size=13)
    panels = figure.subplots(1, 3, width_ratios=(1.1, 1.1, 0.9))
    titles = ("Lost to the clairvoyant so far", "What testing a bolt costs", "Which tests are run in the end")
    for axes, title in zip(panels, titles, strict=True):
        axes.set_title(title, loc="left", weight="bold", color=INK, size=11)
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(FAINT)
        axes.tick_params(color=FAINT, labelcolor=INK, labelsize=9)
    _draw_regret(panels[0], curves)
    _draw_costs(panels[1], curves)
    _draw_shares(panels[2], curves)
    return figure


def _draw_regret(axes: Axes, curves: DemoCurves) -> None:
    from matplotlib.ticker import MaxNLocator

    end = int(curves.t[-1])
    offsets = ((0, -26), (0, 5), (0, 5))  # below its line the first: above it another one may pass
    shown = looks(curves.regret)
    for (name, regret), width, offset in zip(curves.regret.items(), WIDTHS, offsets, strict=True):
        look: Any = {"color": shown[name].colour, "linestyle": shown[name].dashes, "linewidth": width}
        axes.plot(np.append(0, curves.t), np.append(0, regret), **look)
        _label(axes, f"{name}\n{regret[-1]:,.0f}", (end, float(regret[-1])), offset, shown[name].colour, ha="right")
    axes.set_xlim(0, end)
    axes.set_ylim(0, 1.15 * max(float(regret[-1]) for regret in curves.regret.values()))
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_locator(MaxNLocator(6))
    axes.yaxis.set_major_formatter(lambda n, _: marked(n))
    axes.set_ylabel(f"cumulative regret{in_unit(curves.unit)}", color=INK)
    _finish(axes)


def _draw_costs(axes: Axes, curves: DemoCurves) -> None:
    from matplotlib.ticker import LogLocator, NullLocator

    shown = curves.edges[:-1] >= FROM
    edges = np.append(curves.edges[:-1][shown], curves.edges[-1])
    colours = {name: look.colour for name, look in looks(curves.costs).items()}
    for (name, costs), width, order in zip(curves.costs.items(), WIDTHS, (2, 1, 3), strict=True):
        axes.stairs(costs[shown], edges, baseline=None, color=colours[name], linewidth=0.8 * width, zorder=order)
    axes.axhline(curves.clairvoyant_cost, color=INK, linestyle=":", linewidth=1.2)
    first, second, last = curves.costs
    highest = max(float(costs.max()) for costs in curves.costs.values())
    end = float(edges[-1])
    _label(axes, first, (FROM, highest), (2, 17), colours[first])
    _label(axes, second, (FROM, highest), (2, 5), colours[second])
    _label(axes, last, (end, curves.clairvoyant_cost), (-2, -16), colours[last], ha="right")
    _label(axes, "clairvoyant", (FROM, curves.clairvoyant_cost), (2, -14), INK)
    axes.set_xscale("log")
    axes.set_xlim(FROM, end)
    axes.set_ylim(0, 1.2 * highest)
    axes.xaxis.set_major_locator(LogLocator())
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_ylabel(f"mean testing costs of a bolt{in_unit(curves.unit)}", color=INK)
    _finish(axes)


def _draw_shares(axes: Axes, curves: DemoCurves) -> None:
    names = sorted(curves.shares, key=lambda name: curves.shares[name][1])
    place = np.arange(len(names))
    learned, best = 100 * np.array([curves.shares[name] for name in names]).T
    axes.hlines(place, 0, np.maximum(learned, best), color=NEUTRAL_FILL, linewidth=3, zorder=1)
    axes.plot(best, place, "o", markersize=11, markerfacecolor="white", markeredgecolor=INK, markeredgewidth=1.3)
    colour = looks(curves.regret)[list(curves.regret)[-1]].colour
    axes.plot(learned, place, "o", markersize=6, color=colour)
    _label(axes, "○ clairvoyant", (100, 1.5), (0, 0), INK, ha="right")
    _label(axes, "● learned plan", (100, 1.0), (0, 0), colour, ha="right")
    axes.set_yticks(place, map(literal, names))
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.set_xlim(-3, 105)
    axes.set_xlabel("share of bolts (%)", color=INK)
    axes.set_ylabel(f"test{in_unit(f'price in {curves.unit}' if curves.unit else 'price')}", color=INK)


def _finish(axes: Axes) -> None:
    axes.xaxis.set_major_formatter(lambda n, _: marked(n))
    axes.grid(axis="y", color=NEUTRAL_FILL)
    axes.set_axisbelow(True)
    axes.set_xlabel("bolts inspected", color=INK)


def _label(
    axes: Axes, words: str, at: tuple[float, float], offset: tuple[float, float], colour: str, *, ha: str = "left"
) -> None:
    """Write next to a line, in its colour."""
    axes.annotate(words, at, offset, textcoords="offset points", color=colour, ha=ha, size=9, weight="bold")
