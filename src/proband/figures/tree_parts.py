"""A decision tree for paper: an outline, in parts that fit a sheet of A4 with letters that can be read there.

An outline has a row for each node, its outcome before it, and its children below it, further to the right: it needs
little width. A part begins with one node. Its tests are opened one after the other, those that most subjects come to
first, as long as the part still fits; a test that is left closed says in which part it goes on, and that part says how
it is reached.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from proband.figures.canvas import brief, new_figure
from proband.figures.tree import (
    BOX,
    MARGIN,
    SIZE,
    Pen,
    Place,
    Step,
    box_width,
    check_leaves,
    edge_label,
    label,
    subtitle,
    text_width,
    walk,
)
from proband.policies import Tree
from proband.problem import Problem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

A4 = 8.27, 11.69
"""Width and height of a sheet, in inches."""
BORDER = 0.45
"""Inches that are left free at each side of a sheet."""
SMALLEST = 0.85
"""By how much a part may be reduced: letters of 9 points become 7.6, those of 7.5 become 6.4."""
ROOM = (A4[0] - 2 * BORDER) / SMALLEST, (A4[1] - 2 * BORDER) / SMALLEST
"""Width and height of a part, in inches, before it is reduced."""
INDENT = 0.36
TEST_ROW, LEAF_ROW = 0.42, 0.31
"""Heights of rows, in inches."""
LINE = 0.17


@dataclass(frozen=True)
class Part:
    """A part of a tree, laid out.

    Attributes
    ----------
    problem : Problem
    number : int
        Counted from 1, the part with the root.
    head : tuple of str
        The title, and the lines below it.
    places : list of Place
        Their `row` is the height of the middle, in inches from the top.
    boxes : list of float
        Where the box of each begins, in inches from the left.
    width, height : float
        Of the whole, in inches.
    """

    problem: Problem
    number: int
    head: tuple[str, ...]
    places: list[Place]
    boxes: list[float]
    width: float
    height: float


def parts(tree: Tree, *, room: tuple[float, float] = ROOM) -> list[Part]:
    """Return a tree in parts that are no larger than a room, width and height in inches.

    A single test with its outcomes is a part however large it is.

    Examples
    --------
    >>> from proband.instances import bolts
    >>> from proband import plan
    >>> first, *others = parts(plan(bolts().problem, bolts().distribution).tree())
    >>> first.height < ROOM[1], others[0].head[0]
    (True, 'Bolt inspection, part 2')
    """
    check_leaves(tree)
    new_figure(1, 1)  # says so if matplotlib is missing
    return list(_Splitting(tree, room).parts())


def draw_part(part: Part) -> Figure:
    """Draw a part as a figure of its own size."""
    figure = new_figure(part.width, part.height)
    _draw(figure.add_axes((0, 0, 1, 1)), part)
    return figure


def draw_sheets(tree: Tree) -> list[Figure]:
    """Draw a tree on sheets of A4, upright, as many parts on each as fit."""
    sheets: list[Figure] = []
    top = A4[1]
    for part in parts(tree):
        scale = min(1.0, (A4[0] - 2 * BORDER) / part.width, (A4[1] - 2 * BORDER) / part.height)
        width, height = scale * part.width, scale * part.height
        if top + height > A4[1] - BORDER + 1e-6:
            sheets.append(new_figure(*A4))
            top = BORDER
        corner = (BORDER / A4[0], 1 - (top + height) / A4[1], width / A4[0], height / A4[1])
        _draw(sheets[-1].add_axes(corner), part, scale)
        top += height + 0.1
    return sheets


def _draw(axes: Axes, part: Part, scale: float = 1.0) -> None:
    axes.set(xlim=(0, part.width), ylim=(part.height, 0))
    axes.set_axis_off()
    pen = Pen(axes, scale)
    pen.head(MARGIN, 0.32, part.head)
    for place in part.places:
        if place.step.parent is not None:
            parent, left = part.places[place.step.parent], _left(place)
            rail, top = _left(parent) + 0.12, parent.row + (0.1 if parent.step.parent is not None else BOX / 2)
            pen.line([rail, rail, left - 0.04], [top, place.row, place.row], place.step.node.probability)
            pen.write(left, place.row, edge_label(place), SIZE - 1.5)
    for place, left in zip(part.places, part.boxes, strict=True):
        pen.node(part.problem, place, left, place.row)


def _left(place: Place) -> float:
    return MARGIN + INDENT * place.step.column


class _Splitting:
    """The nodes of a tree, by number, and the parts in which they are shown."""

    def __init__(self, tree: Tree, room: tuple[float, float]) -> None:
        self.tree, self.room = tree, room
        self.steps = [replace(step, outcome=brief(step.outcome)) for step in walk(tree)]
        self.children: list[list[int]] = [[] for _ in self.steps]
        for n, step in enumerate(self.steps):
            if step.parent is not None:
                self.children[step.parent].append(n)

    def parts(self) -> Iterator[Part]:
        """Yield the parts; those that are met first have the lower numbers."""
        begins, done = [0], 0
        while done < len(begins):
            start = begins[done]
            opened = self._opened(start, done + 1)
            closed = [n for n in self._shown(start, opened) if self.children[n] and n not in opened]
            onward = {n: len(begins) + 1 + k for k, n in enumerate(closed)}
            begins += closed
            yield self._part(start, opened, onward, done + 1)
            done += 1

    def _opened(self, start: int, number: int) -> set[int]:
        """Return the tests of a part that are shown with their outcomes."""
        opened, refused = {start} if self.children[start] else set[int](), set[int]()
        while True:
            shown = self._shown(start, opened)
            closed = [n for n in shown if self.children[n] and n not in opened and n not in refused]
            if not closed:
                return opened
            likeliest = max(closed, key=lambda n: (self.steps[n].node.probability, -n))
            if self._fits(start, opened | {likeliest}, number):
                opened.add(likeliest)
            else:
                refused.add(likeliest)

    def _fits(self, start: int, opened: set[int], number: int) -> bool:
        shown = self._shown(start, opened)
        if len(shown) * LEAF_ROW > self.room[1]:
            return False
        part = self._part(start, opened, {n: 99 for n in shown if self.children[n] and n not in opened}, number)
        return part.width <= self.room[0] and part.height <= self.room[1]

    def _shown(self, start: int, opened: set[int]) -> list[int]:
        """Return the nodes of a part, a parent before its children, these in the order of the outcomes."""
        stack, shown = [start], []
        while stack:
            n = stack.pop()
            shown.append(n)
            if n in opened:
                stack.extend(reversed(self.children[n]))
        return shown

    def _part(self, start: int, opened: set[int], onward: dict[int, int], number: int) -> Part:
        shown = self._shown(start, opened)
        numbers, first = {n: k for k, n in enumerate(shown)}, self.steps[start].column
        steps = []
        for n in shown:
            step = self.steps[n]
            parent = None if n == start else numbers[step.parent or 0]
            steps.append(replace(step, column=step.column - first, parent=parent, onward=onward.get(n, 0)))
        return laid_out(self.tree.problem, number, steps, self._head(number, start))

    def _head(self, number: int, start: int) -> tuple[str, ...]:
        name = textwrap.shorten(self.tree.problem.name or "Decision tree", 60, placeholder=" …")
        if number == 1:
            return name, *textwrap.wrap(subtitle(self.tree), 110)
        way, n, parent = [], start, self.steps[start].parent
        while parent is not None:
            test = self.tree.problem.tests[self.steps[parent].node.action].name
            way.append(f"{brief(test)}: {self.steps[n].outcome}")
            n, parent = parent, self.steps[parent].parent
        return f"{name}, part {number}", *textwrap.wrap(f"after {'; '.join(reversed(way))}", 110)


def laid_out(problem: Problem, number: int, steps: Sequence[Step], head: tuple[str, ...]) -> Part:
    """Return a part of which the steps and the lines above it are given."""
    height, places = 0.5 + LINE * len(head), []
    for step in steps:
        row = TEST_ROW if step.node.action < problem.d else LEAF_ROW
        title, detail = label(problem, step)
        places.append(Place(step, height + row / 2, brief(title), detail))
        height += row
    labels = [0.0 if place.step.parent is None else text_width(edge_label(place), SIZE - 1.5) + 0.1 for place in places]
    aligned: dict[int | None, float] = {}
    for place, width in zip(places, labels, strict=True):
        aligned[place.step.parent] = max(aligned.get(place.step.parent, 0.0), width)
    boxes = [_left(place) + aligned[place.step.parent] for place in places]
    letters = [text_width(head[0], SIZE + 3, bold=True), *(text_width(line, SIZE - 1) for line in head[1:])]
    right = max(left + box_width(place) for left, place in zip(boxes, places, strict=True))
    return Part(problem, number, head, places, boxes, max(right, MARGIN + max(letters)) + MARGIN, height + 0.15)
