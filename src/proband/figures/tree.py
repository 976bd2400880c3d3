"""A decision tree as a picture: tests in boxes from left to right, decisions in rounded boxes of their colour.

Layout: leaves take equal heights from top to bottom, a test stands at the middle of its children, and a column is as
wide as its longest label. Everything is placed in inches, so that the picture grows with the tree and the letters
stay the same size.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from proband.errors import TooLargeError
from proband.figures.canvas import FAINT, INK, check_ending, colours, new_figure, save_figure
from proband.policies import Node, Tree
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
    """A node on the way from the root: the state there, its column, its parent, and the outcome that leads to it."""

    node: Node
    state: FloatArray
    column: int
    parent: int | None
    outcome: str


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
    leaves = sum(not node.children for node in tree.nodes())
    if leaves > MOST_LEAVES:
        raise TooLargeError(
            f"the tree has {leaves} leaves; a picture shows up to {MOST_LEAVES}; cut it with a smaller depth, or write "
            "it as text"
        )
    figure = new_figure(1, 1)  # before anything else: says so if matplotlib is missing
    places = _places(tree)
    lefts, widths = _columns(places)
    head = [tree.problem.name or "Decision tree", _subtitle(tree)]
    letters = max(_width(head[0], SIZE + 3, bold=True), _width(head[1], SIZE - 1))
    width = max(lefts[-1] + widths[-1], MARGIN + letters) + MARGIN
    height = leaves * ROW + HEAD + MARGIN
    figure.set_size_inches(width, height)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    _write(axes, MARGIN, 0.32, head[0], SIZE + 3, weight="bold")
    _write(axes, MARGIN, 0.56, head[1], SIZE - 1)
    for place in places:
        if place.step.parent is not None:
            _draw_edge(axes, place, places[place.step.parent], lefts, widths)
    for place in places:
        _draw_node(axes, place, tree, lefts[place.step.column])
    return figure


def save_tree(tree: Tree, path: str | os.PathLike[str]) -> None:
    """Draw a decision tree into a file: SVG, PNG or PDF, by its ending."""
    check_ending(Path(path))
    save_figure(draw_tree(tree), path)


def _places(tree: Tree) -> list[Place]:
    """Return the places of all nodes, a parent before its children."""
    steps = list(_walk(tree))
    children: list[list[int]] = [[] for _ in steps]
    for n, step in enumerate(steps):
        if step.parent is not None:
            children[step.parent].append(n)
    rows = np.cumsum([not below for below in children]) - 0.5
    for n in reversed(range(len(steps))):
        if children[n]:
            rows[n] = (rows[children[n][0]] + rows[children[n][-1]]) / 2
    return [Place(step, float(row), *_label(tree, step)) for step, row in zip(steps, rows, strict=True)]


def _walk(tree: Tree) -> Iterator[Step]:
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


def _label(tree: Tree, step: Step) -> tuple[str, str]:
    """Return what is written in a box: the name; the price in this state and the value."""
    problem, action = tree.problem, step.node.action
    if action < problem.d:
        test = problem.tests[action]
        price = "on arrival" if test.on_arrival else f"cost {problem.costs(step.state)[0, action]:.4g}"
        return test.name, f"{price} · value {step.node.value:.4g}"
    if problem.decisions:
        return problem.action_name(action), f"{step.node.value:.4g}"
    guess = outcome_rows([action - problem.d], problem.tests)[0]
    outcomes = [test.names[int(x)] for test, x in zip(problem.tests, guess, strict=True)]
    return ("" if all(len(name) == 1 for name in outcomes) else " ").join(outcomes), f"{step.node.value:.4g}"


def _subtitle(tree: Tree) -> str:
    unit = f" {tree.problem.unit}" if tree.problem.unit else ""
    return (
        f"Expected total reward {tree.root.value:.4g}{unit} a subject. Percentages: share of all subjects. "
        "In the boxes: price, and reward expected from there on."
    )


def _edge_label(place: Place) -> str:
    share = place.step.node.probability
    return f"{place.step.outcome} · {100 * share:.3g} %" if share > 0 else f"{place.step.outcome} · never seen"


def _columns(places: Sequence[Place]) -> tuple[list[float], list[float]]:
    """Return the left edge and the width of each column, in inches, leaving room for the labels of the edges."""
    count = 1 + max(place.step.column for place in places)
    widths, gaps = [0.0] * count, [0.0] * count
    for place in places:
        column = place.step.column
        widths[column] = max(widths[column], _box_width(place))
        if column:
            gaps[column] = max(gaps[column], _width(_edge_label(place), SIZE - 1.5) + 0.42)
    lefts, left = [], MARGIN
    for width, gap in zip(widths, gaps, strict=True):
        lefts.append(left + gap)
        left += gap + width
    return lefts, widths


def _box_width(place: Place) -> float:
    name = _width(place.title, SIZE, bold=True)
    detail = _width(place.detail, SIZE - 1.5)
    return 0.26 + (max(name, detail) if place.step.node.children else name + 0.1 + detail)


def _width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of a text in inches."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    width, _, _ = TextToPath().get_text_width_height_descent(
        text, FontProperties(size=size, weight="bold" if bold else "normal"), ismath=False
    )
    return float(width) / 72


def _height(place: Place) -> float:
    return HEAD + place.row * ROW


def _draw_edge(axes: Axes, place: Place, parent: Place, lefts: Sequence[float], widths: Sequence[float]) -> None:
    """Draw the way from a test to one of its outcomes: across, up or down, across; as thick as its share."""
    share = place.step.node.probability
    start = lefts[parent.step.column] + _box_width(parent)
    end = lefts[place.step.column]
    turn = lefts[parent.step.column] + widths[parent.step.column] + 0.16
    x, y = [start, turn, turn, end], [_height(parent)] * 2 + [_height(place)] * 2
    style: Any = {"linewidth": 0.7 + 4 * np.sqrt(share)} if share > 0 else {"linewidth": 0.7, "linestyle": (0, (2, 2))}
    axes.plot(x, y, color=FAINT, solid_joinstyle="round", solid_capstyle="butt", zorder=1, **style)
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1.2}
    _write(axes, (turn + end) / 2, _height(place), _edge_label(place), SIZE - 1.5, ha="center", bbox=box, zorder=2)


def _draw_node(axes: Axes, place: Place, tree: Tree, left: float) -> None:
    from matplotlib.patches import FancyBboxPatch

    testing = bool(place.step.node.children)
    fill, line = (
        ("white", INK) if testing else colours(place.step.node.action - tree.problem.d, tree.problem.n_decisions)
    )
    width, middle = _box_width(place), _height(place)
    style = "round,pad=0,rounding_size=0.03" if testing else "round,pad=0,rounding_size=0.13"
    height = BOX if testing else 0.75 * BOX
    corner = (left, middle - height / 2)
    axes.add_patch(FancyBboxPatch(corner, width, height, boxstyle=style, facecolor=fill, edgecolor=line, zorder=3))
    inside, right = left + 0.1, left + width - 0.1
    above = 0.07 if testing else 0.0
    _write(axes, inside, middle - above, place.title, SIZE, weight="bold", va="center_baseline", zorder=4)
    x, y, side = (inside, middle + 0.085, "left") if testing else (right, middle, "right")
    _write(axes, x, y, place.detail, SIZE - 1.5, ha=side, va="center_baseline", zorder=4)


def _write(axes: Axes, x: float, y: float, text: str, size: float, *, va: str = "center", **options: Any) -> None:
    axes.text(x, y, text, size=size, color=INK, va=va, parse_math=False, **options)
