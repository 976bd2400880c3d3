"""Figures: the only folder that knows matplotlib, an extra (``pip install "proband[figures]"``)."""

from typing import TYPE_CHECKING

from proband.lazy import attributes

if TYPE_CHECKING:
    from proband.figures.canvas import can_draw, save_figure
    from proband.figures.demo import DemoCurves, draw_demo
    from proband.figures.plans import draw_plan
    from proband.figures.regions import draw_regions
    from proband.figures.regret import Curve, Words, draw_mean, draw_regret, draw_sweep
    from proband.figures.sets import draw_chosen, draw_map, draw_sizes
    from proband.figures.study import study_report
    from proband.figures.tree import draw_tree, save_tree
else:
    __getattr__, __dir__ = attributes(__name__)

__all__ = [
    "Curve",
    "DemoCurves",
    "Words",
    "can_draw",
    "draw_chosen",
    "draw_demo",
    "draw_map",
    "draw_mean",
    "draw_plan",
    "draw_regions",
    "draw_regret",
    "draw_sizes",
    "draw_sweep",
    "draw_tree",
    "save_figure",
    "save_tree",
    "study_report",
]
