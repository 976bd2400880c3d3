"""The demonstration's figure: what a plan learned from n records is worth, what each bolt cost, which tests are run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from proband.figures.canvas import FAINT, INK, LINES, NEUTRAL_FILL, new_figure
from proband.vocabulary import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WINDOW = 200
BLUE, ORANGE = LINES[0], LINES[1]


@dataclass(frozen=True)
class DemoCurves:
    """What the figure shows.

    Attributes
    ----------
    records : FloatArray of shape (n,)
        Numbers of records that were planned from.
    values : FloatArray of shape (n,)
        What each of these plans is worth a subject, under the true law.
    clairvoyant, everything, nothing : float
        Value of the best plan, of testing everything, of deciding at once.
    costs : FloatArray of shape (subjects,)
        What each subject of the stream cost to test.
    clairvoyant_cost : float
        What testing costs under the best plan.
    switch : int
        How many subjects were tested completely.
    shares : mapping of str to (float, float)
        How often each test is run: under the learned plan, under the best plan.
    unit : str
    """

    records: FloatArray
    values: FloatArray
    clairvoyant: float
    everything: float
    nothing: float
    costs: FloatArray
    clairvoyant_cost: float
    switch: int
    shares: Mapping[str, tuple[float, float]]
    unit: str


def draw_demo(curves: DemoCurves) -> Figure:
    """Draw the three panels of the demonstration.

    Examples
    --------
    >>> curves = DemoCurves(
    ...     np.array([50.0, 100.0]), np.array([0.1, 0.4]), 0.5, -4.8, -1.8, np.full(400, 2.0), 2.3, 100,
    ...     {"ultrasonic": (0.1, 0.2)}, "USD",
    ... )  # fmt: skip
    >>> len(draw_demo(curves).axes)
    3
    """
    figure = new_figure(13.5, 4.2)
    figure.set_layout_engine("constrained", w_pad=0.12, h_pad=0.08)
    panels = figure.subplots(1, 3, width_ratios=(1, 1.1, 1))
    for axes, title in zip(panels, ("What a plan is worth", "What testing cost", "Which tests are run"), strict=True):
        axes.set_title(title, loc="left", weight="bold", color=INK)
        axes.spines[["top", "right"]].set_visible(False)
    _draw_values(panels[0], curves)
    _draw_costs(panels[1], curves)
    _draw_shares(panels[2], curves)
    return figure


def _draw_values(axes: Axes, curves: DemoCurves) -> None:
    axes.plot(curves.records, curves.values, "o-", color=BLUE, zorder=3)
    axes.annotate(
        "learned",
        (curves.records[-1], curves.values[-1]),
        (0, -18),
        textcoords="offset points",
        color=BLUE,
        ha="center",
    )
    for value, name in (
        (curves.clairvoyant, "knowing the true law"),
        (curves.nothing, "deciding at once"),
        (curves.everything, "testing everything"),
    ):
        axes.axhline(value, color=FAINT, linestyle="--", linewidth=1, zorder=1)
        axes.annotate(name, (curves.records[0], value), (0, 4), textcoords="offset points", color=INK, size=8)
    axes.set_xscale("log")
    axes.set_xticks(curves.records, [f"{n:g}" for n in curves.records], size=8)
    axes.minorticks_off()
    axes.set_xlabel("complete records to plan from")
    axes.set_ylabel(f"expected total reward a bolt{_in(curves.unit)}")
    low, high = curves.everything, curves.clairvoyant
    axes.set_ylim(low - 0.08 * (high - low), high + 0.12 * (high - low))


def _draw_costs(axes: Axes, curves: DemoCurves) -> None:
    from matplotlib.ticker import MaxNLocator

    window = min(WINDOW, len(curves.costs))
    sums = np.cumsum(np.concatenate([[0.0], curves.costs]))
    means = (sums[window:] - sums[:-window]) / window
    axes.plot(np.arange(window, len(curves.costs) + 1), means, color=BLUE, linewidth=1.2)
    axes.axhline(curves.clairvoyant_cost, color=FAINT, linestyle="--", linewidth=1)
    axes.axvspan(0, curves.switch, color=NEUTRAL_FILL, zorder=0)
    top = 1.22 * float(means.max())
    axes.set_ylim(0, top)
    axes.set_xlim(0, len(curves.costs))
    axes.text(curves.switch / 2, 0.95 * top, "every\ntest", color=INK, size=8, va="top", ha="center")
    axes.text(
        curves.switch + 0.02 * len(curves.costs), 0.95 * top, "following the learned plan", color=INK, size=8, va="top"
    )
    axes.annotate(
        "knowing the true law",
        (len(curves.costs), curves.clairvoyant_cost),
        (0, -12),
        textcoords="offset points",
        size=8,
        ha="right",
        color=INK,
    )
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.xaxis.set_major_formatter(lambda n, _: f"{n:,.0f}")
    axes.set_xlabel(f"bolt (mean of the last {window})")
    axes.set_ylabel(f"testing costs a bolt{_in(curves.unit)}")


def _draw_shares(axes: Axes, curves: DemoCurves) -> None:
    names = list(curves.shares)
    place = np.arange(len(names))
    learned, best = np.array(list(curves.shares.values())).T
    axes.barh(place - 0.18, 100 * learned, 0.36, color=BLUE, label="learned plan")
    axes.barh(place + 0.18, 100 * best, 0.36, color=ORANGE, label="knowing the true law")
    axes.set_yticks(place, names, size=8)
    axes.invert_yaxis()
    axes.set_xlim(0, 105)
    axes.set_xlabel("share of bolts (%)")
    axes.legend(frameon=False, fontsize=8, loc="center right")


def _in(unit: str) -> str:
    return f" ({unit})" if unit else ""
