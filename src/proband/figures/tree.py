"""A decision tree as a picture: tests in boxes from left to right, decisions in rounded boxes of their colour.

Layout: leaves take equal heights from top to bottom, a test stands at the middle of its children, and a column is as
wide as its longest label. Everything is placed in inches, so that the picture grows with the tree and the letters
stay the same size. What does not fit a sheet of paper is drawn in parts (:mod:`proband.figures.tree_parts`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from proband.errors import TooLargeError
from proband.figures.canvas import FAINT, INK, check_ending, colours, new_figure, save_figure, save_pages
from proband.policies import Node, Tree
from proband.problem import Problem
from proband.quantities import percent, said, scaled
from proband.vocabulary import FloatArray, outcome_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_LEAVES = 1000
ROW = 0.40
"""Height of a leaf with its gap, in inches."""
BOX = 0.34
SIZE = 9.0
"""Points of names; all else is a little smaller."""
MARGIN = 0.30
HEAD = 0.75


@dataclass(frozen=True)
class Step:
    """A node on the way from the root: the state there, its column, its parent, and the outcome that leads to it.

    `onward` is the number of the part of the picture in which a test goes on that has no children here, else 0.
    """

    node: Node
    state: FloatArray
    column: int
    parent: int | None
    outcome: str
    onward: int = 0


@dataclass(frozen=True)
class Place:
    """Where a node stands, in rows from the top, and what is written there."""

    step: Step
    row: float
    title: str
    detail: str


def draw_tree(tree: Tree) -> Figure:
    """Draw a decision tree.

    Examples
    --------
    >>> from proband import Discrete, Problem, Test, plan
    >>> from proband.rewards import Table
    >>> problem = Problem([Test("crack", 0.1)], ["pass", "fail"], Table(["crack"], [[1, 0], [-20, 0]]))
    >>> figure = draw_tree(plan(problem, Discrete([[0], [1]], [0.75, 0.25])).tree())
    >>> len(figure.axes)
    1
    """
    check_leaves(tree)
    figure = new_figure(1, 1)  # before anything else: says so if matplotlib is missing
    places = _places(tree)
    lefts, widths = _columns(places)
    head = tree.problem.name or "Decision tree", subtitle(tree)
    letters = max(text_width(head[0], SIZE + 3, bold=True), text_width(head[1], SIZE - 1))
    width = max(lefts[-1] + widths[-1], MARGIN + letters) + MARGIN
    height = sum(not place.step.node.children for place in places) * ROW + HEAD + MARGIN
    figure.set_size_inches(width, height)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    pen = Pen(axes)
    pen.head(MARGIN, 0.32, head)
    for place in places:
        if place.step.parent is not None:
            _draw_edge(pen, place, places[place.step.parent], lefts, widths)
    for place in places:
        pen.node(tree.problem, place, lefts[place.step.column], _height(place))
    return figure


def check_leaves(tree: Tree) -> None:
    """Raise if a tree has more leaves than anybody looks at."""
    leaves = sum(not node.children for node in tree.nodes())
    if leaves > MOST_LEAVES:
        raise TooLargeError(
            f"the tree has {leaves} leaves; a picture shows up to {MOST_LEAVES}; cut it with a smaller depth, or write "
            "it as text"
        )


def save_tree(tree: Tree, path: str | os.PathLike[str]) -> None:
    """Draw a decision tree into a file, by its ending: one picture (SVG, PNG), or pages of A4 (PDF)."""
    if check_ending(Path(path)) == ".pdf":
        from proband.figures.tree_parts import draw_sheets

        save_pages(draw_sheets(tree), path)
    else:
        save_figure(draw_tree(tree), path)


def walk(tree: Tree) -> Iterator[Step]:
    """Yield every node of a tree, a parent before its children."""
    stack = [Step(tree.root, tree.problem.state(), 0, None, "")]
    number = 0
    while stack:
        step = stack.pop()
        yield step
        for b in reversed(range(len(step.node.children))):
            state = step.state.copy()
            state[step.node.action] = b
            outcome = tree.problem.tests[step.node.action].names[b]
            stack.append(Step(step.node.children[b], state, step.column + 1, number, outcome))
        number += 1


def _places(tree: Tree) -> list[Place]:
    """Return the places of all nodes, a parent before its children."""
    steps = list(walk(tree))
    children: list[list[int]] = [[] for _ in steps]
    for n, step in enumerate(steps):
        if step.parent is not None:
            children[step.parent].append(n)
    rows = np.cumsum([not below for below in children]) - 0.5
    for n in reversed(range(len(steps))):
        if children[n]:
            rows[n] = (rows[children[n][0]] + rows[children[n][-1]]) / 2
    return [Place(step, float(row), *label(tree.problem, step)) for step, row in zip(steps, rows, strict=True)]


def subtitle(tree: Tree) -> str:
    """Return what the picture shows; a number that the unit holds is multiplied out, here and in the boxes."""
    times, unit = scaled(tree.problem.unit)
    return (
        f"Expected total reward {said(times * tree.root.value)} {unit}".rstrip()
        + " a subject. Percentages: share of all subjects. In the boxes: price, and reward expected from there on."
    )


def label(problem: Problem, step: Step) -> tuple[str, str]:
    """Return what is written in a box: the name; the price in this state and the value."""
    times, _ = scaled(problem.unit)
    action, value = step.node.action, said(times * step.node.value)
    if action < problem.d:
        test = problem.tests[action]
        price = "on arrival" if test.on_arrival else f"cost {said(times * problem.costs(step.state)[0, action])}"
        onward = f" · goes on in part {step.onward}" if step.onward else ""
        return test.name, f"{price} · value {value}{onward}"
    if problem.decisions:
        return problem.action_name(action), value
    guess = outcome_rows([action - problem.d], problem.tests)[0]
    outcomes = [test.names[int(x)] for test, x in zip(problem.tests, guess, strict=True)]
    return ("" if all(len(name) == 1 for name in outcomes) else " ").join(outcomes), value


def edge_label(place: Place) -> str:
    """Return what is written at the way to a node: the outcome, and the share of subjects who come there."""
    share = place.step.node.probability
    return f"{place.step.outcome} · " + (percent(share) if share > 0 else "never seen")


def _columns(places: Sequence[Place]) -> tuple[list[float], list[float]]:
    """Return the left edge and the width of each column, in inches, leaving room for the labels of the edges."""
    count = 1 + max(place.step.column for place in places)
    widths, gaps = [0.0] * count, [0.0] * count
    for place in places:
        column = place.step.column
        widths[column] = max(widths[column], box_width(place))
        if column:
            gaps[column] = max(gaps[column], text_width(edge_label(place), SIZE - 1.5) + 0.42)
    lefts, left = [], MARGIN
    for width, gap in zip(widths, gaps, strict=True):
        lefts.append(left + gap)
        left += gap + width
    return lefts, widths


def box_width(place: Place) -> float:
    """Return the width of a node's box in inches."""
    name = text_width(place.title, SIZE, bold=True)
    detail = text_width(place.detail, SIZE - 1.5)
    below = bool(place.step.node.children) or place.step.onward > 0
    return 0.26 + (max(name, detail) if below else name + 0.1 + detail)


@lru_cache(maxsize=10_000)
def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of a text in inches."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    width, _, _ = TextToPath().get_text_width_height_descent(
        text, FontProperties(size=size, weight="bold" if bold else "normal"), ismath=False
    )
    return float(width) / 72


def _height(place: Place) -> float:
    return HEAD + place.row * ROW


def _draw_edge(pen: Pen, place: Place, parent: Place, lefts: Sequence[float], widths: Sequence[float]) -> None:
    """Draw the way from a test to one of its outcomes: across, up or down, across."""
    column = parent.step.column
    start, turn = lefts[column] + box_width(parent), lefts[column] + widths[column] + 0.16
    end, height = lefts[place.step.column], _height(place)
    pen.line([start, turn, turn, end], [_height(parent)] * 2 + [height] * 2, place.step.node.probability)
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1.2}
    pen.write((turn + end) / 2, height, edge_label(place), SIZE - 1.5, ha="center", bbox=box, zorder=2)


@dataclass(frozen=True)
class Pen:
    """Draws the pieces of a tree into axes of inches; letters and lines at a scale."""

    axes: Axes
    scale: float = 1.0

    def head(self, x: float, y: float, lines: Sequence[str]) -> None:
        """Write the title and what the picture shows."""
        self.write(x, y, lines[0], SIZE + 3, weight="bold")
        for n, line in enumerate(lines[1:]):
            self.write(x, y + 0.24 + 0.17 * n, line, SIZE - 1)

    def line(self, x: Sequence[float], y: Sequence[float], share: float) -> None:
        """Draw a way, as thick as the share of subjects that take it; dotted if nobody does."""
        style: Any = {"linewidth": 0.7 + 4 * np.sqrt(share)} if share > 0 else {"linewidth": 0.7}
        dashes: Any = {} if share > 0 else {"linestyle": (0, (2, 2))}
        style["linewidth"] *= self.scale
        self.axes.plot(x, y, color=FAINT, solid_joinstyle="round", solid_capstyle="butt", zorder=1, **style, **dashes)

    def node(self, problem: Problem, place: Place, left: float, middle: float) -> None:
        """Draw the box of a test or of a decision."""
        from matplotlib.patches import FancyBboxPatch

        action, testing = place.step.node.action, place.step.node.action < problem.d
        fill, line = ("white", INK) if action < problem.d else colours(action - problem.d, problem.n_decisions)
        width, height = box_width(place), BOX if testing else 0.75 * BOX
        style = "round,pad=0,rounding_size=0.03" if testing else "round,pad=0,rounding_size=0.13"
        box = FancyBboxPatch(
            (left, middle - height / 2), width, height, boxstyle=style, facecolor=fill, edgecolor=line, zorder=3,
            linewidth=self.scale,
        )  # fmt: skip
        self.axes.add_patch(box)
        inside, right = left + 0.1, left + width - 0.1
        above = 0.07 if testing else 0.0
        self.write(inside, middle - above, place.title, SIZE, weight="bold", va="center_baseline", zorder=4)
        x, y, side = (inside, middle + 0.085, "left") if testing else (right, middle, "right")
        self.write(x, y, place.detail, SIZE - 1.5, ha=side, va="center_baseline", zorder=4)

    def write(self, x: float, y: float, text: str, size: float, *, va: str = "center", **options: Any) -> None:
        """Write a text that is no formula."""
        self.axes.text(x, y, text, size=size * self.scale, color=INK, va=va, parse_math=False, **options)
