"""Pictures of Gaussian plans: value and best action against the posterior mean, one panel for each tested set.

With one score a panel shows the value of acting optimally against the value of deciding at once, with the background
coloured by the best action. With two scores it shows the best action over the plane of their posterior means. Panels
are those of the tested sets that subjects most often reach under the plan.
"""

from __future__ import annotations

import itertools
import math
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from proband.figures.canvas import FAINT, FILLS, INK, in_unit, literal, new_figure
from proband.policies.beliefs import members
from proband.problem import Problem
from proband.quantities import marked, percent
from proband.rewards import Projection, Score
from proband.vocabulary import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from proband.planners.gaussian.plan import GaussianPlan

MOST_PANELS = 6
POINTS = 400
TEST_COLOURS = ("#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#F0E442", "#0072B2", "#D55E00", "#999999")
SMALL = 8


@dataclass(frozen=True)
class Visited:
    """A tested set, how many of the subjects pass through it, and where the posterior means of the scores lie."""

    mask: int
    share: float
    low: FloatArray
    high: FloatArray


def visited_sets(plan: GaussianPlan, *, subjects: int = 20_000, most: int = MOST_PANELS) -> list[Visited]:
    """Return the tested sets that subjects most often pass through, the earliest first."""
    rows = plan.distribution.sample(np.random.default_rng(0), subjects)
    found: dict[int, list[FloatArray]] = {}
    for states in _passed(plan, rows):
        masks, means = plan.decider.beliefs.of(states)
        for mask in np.unique(masks).tolist():
            found.setdefault(mask, []).append(means[masks == mask])
    beliefs = plan.decider.beliefs
    spread, prior = 3.5 * np.sqrt(np.diagonal(beliefs.covariance(0))), beliefs.prior
    largest = sorted(found, key=lambda mask: -sum(map(len, found[mask])))[:most]
    return [
        Visited(mask, sum(map(len, found[mask])) / subjects, prior - spread, prior + spread)
        for mask in sorted(largest, key=lambda mask: (mask.bit_count(), -sum(map(len, found[mask]))))
    ]


def _passed(plan: GaussianPlan, rows: FloatArray) -> list[FloatArray]:
    """Return the states in which subjects are asked for an action, one array for each number of tests."""
    problem, passed = plan.problem, []
    states = np.full_like(rows, np.nan)
    states[:, problem.context] = rows[:, problem.context]
    active = np.arange(len(rows))
    while len(active):
        passed.append(states[active])
        actions = plan.act(states[active])
        testing = actions < problem.d
        active, tests = active[testing], actions[testing]
        states[active, tests] = rows[active, tests]
    return passed


def draw_regions(plan: GaussianPlan) -> Figure:
    """Draw where each action is best, for the tested sets that matter."""
    panels = visited_sets(plan)
    columns = min(3, len(panels))
    lines = math.ceil(len(panels) / columns)
    figure = new_figure(4.6 * columns, 3.4 * lines + 0.9)
    axes: Any = figure.subplots(lines, columns, squeeze=False)
    colours, shown = _colours(plan), set[int]()
    for axis, panel in itertools.zip_longest(axes.flat, panels):
        if panel is None:
            axis.set_axis_off()
            continue
        draw = _draw_line if len(plan.decider.beliefs.prior) == 1 else _draw_plane
        shown |= draw(axis, plan, panel, colours)
        axis.set_title(_title(plan, panel), fontsize=9, color=INK, loc="left")
        axis.tick_params(labelsize=SMALL)
        for each in (axis.xaxis, axis.yaxis):
            each.set_major_formatter(lambda value, _: marked(value))
        axis.set_axisbelow(False)
    _legend(figure, plan, shown, colours)
    figure.suptitle(literal(plan.problem.name or "Plan"), fontsize=12, color=INK, x=0.01, ha="left", fontweight="bold")
    figure.tight_layout(rect=(0, 0.06 if lines > 1 else 0.11, 1, 0.98))
    return figure


def _colours(plan: GaussianPlan) -> dict[int, str]:
    d, count = plan.problem.d, len(plan.problem.decisions)
    tests = {i: TEST_COLOURS[i % len(TEST_COLOURS)] for i in range(d)}
    return tests | {d + n: FILLS[n % len(FILLS)] for n in range(count)}


def _title(plan: GaussianPlan, panel: Visited) -> str:
    names = [plan.problem.tests[i].name for i in members(panel.mask, plan.problem.d)]
    known = " + ".join(names) if names else "nothing known yet"
    return literal(textwrap.fill(f"{known}  ({percent(panel.share)} of subjects)".replace(" %", "\u00a0%"), width=52))


def _draw_line(axis: Axes, plan: GaussianPlan, panel: Visited, colours: dict[int, str]) -> set[int]:
    reward = plan.problem.reward
    assert isinstance(reward, Projection)
    grid = np.linspace(panel.low[0], panel.high[0], POINTS)
    masks = np.full(POINTS, panel.mask, dtype=np.int64)
    actions, values = plan.solution.actions(masks, grid), plan.solution.values(masks, grid)
    stopping = plan.decider.expected_of(grid[:, None], plan.decider.beliefs.covariance(panel.mask)).max(axis=1)
    for start, stop in _runs(actions):
        right = grid[min(stop, POINTS - 1)]
        axis.axvspan(grid[start], right, color=colours[int(actions[start])], alpha=0.55, lw=0)
    axis.plot(grid, stopping, color=FAINT, lw=1.2, ls="--")
    axis.plot(grid, values, color=INK, lw=1.6)
    axis.set_xlabel(_mean_of(reward.scores[0]), fontsize=SMALL)
    axis.set_ylabel(f"value{in_unit(plan.problem.unit)}", fontsize=SMALL)
    axis.set_xlim(grid[0], grid[-1])
    low = np.quantile(values, 0.02)
    axis.set_ylim(low - 0.15 * (values.max() - low), values.max() + 0.1 * (values.max() - low))
    return set(np.unique(actions).tolist())


def _draw_plane(axis: Axes, plan: GaussianPlan, panel: Visited, colours: dict[int, str]) -> set[int]:
    from matplotlib.colors import ListedColormap

    reward = plan.problem.reward
    assert isinstance(reward, Projection)
    size = 140
    x, y = (np.linspace(panel.low[n], panel.high[n], size) for n in range(2))
    points = np.column_stack([a.ravel() for a in np.meshgrid(x, y)])
    actions = plan.solution.actions(np.full(len(points), panel.mask, dtype=np.int64), points)
    present = np.unique(actions)
    picture = np.searchsorted(present, actions).reshape(size, size)
    table = ListedColormap([colours[int(action)] for action in present])
    axis.pcolormesh(x, y, picture, cmap=table, vmin=-0.5, vmax=len(present) - 0.5, shading="nearest", rasterized=True)
    across, up = reward.scores
    axis.set_xlabel(_mean_of(across), fontsize=SMALL)
    axis.set_ylabel(_mean_of(up), fontsize=SMALL)
    return set(present.tolist())


def _mean_of(score: Score) -> str:
    return literal(f"posterior mean of {score.name}") + in_unit(score.unit)


def _runs(actions: IntArray) -> list[tuple[int, int]]:
    """Return where equal actions begin and end."""
    cuts = [0, *(np.flatnonzero(np.diff(actions)) + 1).tolist(), len(actions)]
    return list(itertools.pairwise(cuts))


def _legend(figure: Figure, plan: GaussianPlan, shown: set[int], colours: dict[int, str]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [Patch(color=colours[a], alpha=0.6, label=_label(plan.problem, a)) for a in sorted(shown)]
    if len(plan.decider.beliefs.prior) == 1:
        handles += [
            Line2D([], [], color=INK, lw=1.6, label="value of the plan"),
            Line2D([], [], color=FAINT, lw=1.2, ls="--", label="deciding at once"),
        ]
    figure.legend(handles=handles, loc="lower center", ncol=min(len(handles), 6), fontsize=SMALL, frameon=False)


def _label(problem: Problem, action: int) -> str:
    """Return the name of an action for the legend, which would leave it out if it began with a low line."""
    name = literal(problem.action_name(action))
    return f"run {name}" if action < problem.d else f" {name}" if name.startswith("_") else name
