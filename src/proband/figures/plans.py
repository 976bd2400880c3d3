"""The picture of any plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from proband.figures.regions import draw_regions
from proband.figures.sets import draw_chosen
from proband.figures.tree import draw_tree
from proband.planners.plans import Plan
from proband.vocabulary import Kind

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRAWINGS: dict[Kind, Callable[[Any], Figure]] = {
    Kind.LISTED: lambda plan: draw_tree(plan.tree()),
    Kind.SCORES: draw_regions,
    Kind.SETS: draw_chosen,
}


def draw_plan(plan: Plan) -> Figure:
    """Draw a plan: its tree, the regions of its actions, or what each test adds to its set."""
    return DRAWINGS[plan.problem.kind](plan)
