"""Pictures of sets of tests: what is chosen, value against size, and a map of sites."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from proband.figures.canvas import FAINT, GRID, INK, SMALL, in_unit, label_axes, literal, new_figure
from proband.planners.plans import Plan
from proband.policies import follow
from proband.quantities import marked, scaled
from proband.vocabulary import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

IN, OUT, UNDECIDED = "#0072B2", "#C9D1D8", "#E69F00"


def draw_chosen(plan: Plan) -> Figure:
    """Draw what each test would add to the best set, or take from it, as bars; the chosen ones stand out."""
    problem = plan.problem
    chosen = set(np.flatnonzero(~np.isnan(_measured(plan))).tolist())
    worth = {a.action: a.value for a in plan.explain(problem.state()).alternatives if a.action < problem.d}
    kept = plan.value
    times, unit = scaled(problem.unit)
    gains = [times * (_gain(plan, i, chosen) if i in chosen else worth[i] - kept) for i in range(problem.d)]
    order = np.argsort(gains)
    figure = new_figure(7.0, 1.4 + 0.24 * problem.d)
    axis = figure.subplots()
    axis.barh(range(problem.d), [gains[i] for i in order], color=[IN if i in chosen else OUT for i in order])
    axis.set_yticks(range(problem.d), [literal(problem.tests[i].name) for i in order], fontsize=SMALL)
    axis.axvline(0, color=INK, lw=0.8)
    axis.set_xlabel(f"gain of measuring it, given the rest of the set{in_unit(unit)}", fontsize=SMALL)
    title = f"{literal(problem.name or 'Best set')}: {len(chosen)} of {problem.d} are worth their costs"
    axis.set_title(title, fontsize=10, color=INK)
    figure.tight_layout()
    return figure


def _measured(plan: Plan) -> FloatArray:
    return np.asarray(follow(plan.problem, plan, np.zeros((1, plan.problem.d))).states[0])


def _gain(plan: Plan, test: int, chosen: set[int]) -> float:
    """Return what a chosen test adds to the rest of its set."""
    state = np.where(np.isin(np.arange(plan.problem.d), sorted(chosen - {test})), 0.0, np.nan)
    worth = {a.action: a.value for a in plan.explain(state).alternatives}
    return worth[test] - worth[plan.problem.d]


def draw_sizes(
    sizes: Sequence[int],
    values: Sequence[float],
    bounds: Sequence[float],
    *,
    title: str,
    best: int | None,
    unit: str = "",
) -> Figure:
    """Draw the value of the best set of each size, with its proved bound where that is higher.

    Examples
    --------
    >>> figure = draw_sizes([1, 2], [1.0, 2.0], [1.0, 2.0], title="Sites", best=2, unit="100 EUR")
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()], figure.axes[0].get_ylabel()
    (['best set found', 'best size: 2'], 'value (EUR)')
    """
    times, unit = scaled(unit)
    found, most = times * np.asarray(values), times * np.asarray(bounds)
    figure = new_figure(7.0, 4.2)
    axis = figure.subplots()
    if not np.allclose(found, most):
        axis.fill_between(sizes, found, most, color=UNDECIDED, alpha=0.5, lw=0, label="not decided by the proof")
    axis.plot(sizes, found, color=IN, lw=1.8, marker="o", ms=3, label="best set found")
    if best is not None:
        axis.axvline(best, color=FAINT, lw=1, ls="--", label=f"best size: {best}")
    axis.yaxis.set_major_formatter(lambda value, _: marked(value))
    axis.legend(fontsize=SMALL, frameon=False)
    return _finished(figure, axis, title, "size of the set", f"value{in_unit(unit)}")


def draw_map(
    positions: FloatArray, names: Sequence[str], standing: Sequence[str], costs: FloatArray, *, title: str
) -> Figure:
    """Draw sites on a map, coloured by what is certified of them.

    Parameters
    ----------
    positions : FloatArray of shape (d, 2)
    names : sequence of str
    standing : sequence of str
        "in", "out" or "undecided" for each site.
    costs : FloatArray of shape (d,)
        Size of the marks.
    title : str
    """
    from matplotlib.lines import Line2D

    figure = new_figure(8.4, 6.6)
    axis = figure.subplots()
    colours = {"in": IN, "out": OUT, "undecided": UNDECIDED}
    size = 60 + 160 * (costs - costs.min()) / max(float(np.ptp(costs)), 1e-12)
    x, y, fills = positions[:, 0], positions[:, 1], [colours[each] for each in standing]
    axis.scatter(x, y, s=size, c=fills, edgecolors=INK, linewidths=0.8, zorder=3)
    for place, name in zip(positions, names, strict=True):
        axis.annotate(literal(name), place, (0, 9), textcoords="offset points", ha="center", fontsize=7, color=INK)
    labels = {kind: f"{kind}: {list(standing).count(kind)}" for kind in colours}
    handles = [
        Line2D([], [], marker="o", ls="", markerfacecolor=colours[kind], markeredgecolor=INK, label=label)
        for kind, label in labels.items()
    ]
    axis.legend(
        handles=handles, title="size: cost of a site", fontsize=SMALL, title_fontsize=SMALL, frameon=False,
        loc="upper left", bbox_to_anchor=(1.0, 1.0),
    )  # fmt: skip
    axis.set_aspect("equal")
    return _finished(figure, axis, title, "km", "km")


def _finished(figure: Figure, axis: Axes, title: str, x: str, y: str) -> Figure:
    axis.set_title(literal(title), fontsize=11, color=INK, loc="left")
    label_axes(axis, x, y)
    axis.grid(color=GRID, lw=0.6)
    figure.tight_layout()
    return figure
