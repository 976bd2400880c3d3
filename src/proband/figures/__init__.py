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
    __getattr__, __dir__ = attributes(
        __name__,
        {
            "can_draw": "proband.figures.canvas",
            "save_figure": "proband.figures.canvas",
            "DemoCurves": "proband.figures.demo",
            "draw_demo": "proband.figures.demo",
            "draw_plan": "proband.figures.plans",
            "draw_regions": "proband.figures.regions",
            "Curve": "proband.figures.regret",
            "Words": "proband.figures.regret",
            "draw_mean": "proband.figures.regret",
            "draw_regret": "proband.figures.regret",
            "draw_sweep": "proband.figures.regret",
            "draw_chosen": "proband.figures.sets",
            "draw_map": "proband.figures.sets",
            "draw_sizes": "proband.figures.sets",
            "study_report": "proband.figures.study",
            "draw_tree": "proband.figures.tree",
            "save_tree": "proband.figures.tree",
        },
    )

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
