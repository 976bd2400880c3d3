"""Figures: the only folder that knows matplotlib, an extra (``pip install "proband[figures]"``)."""

from proband.figures.canvas import save_figure
from proband.figures.demo import DemoCurves, draw_demo
from proband.figures.regret import Curve, Words, draw_regret, draw_sweep
from proband.figures.tree import draw_tree, save_tree

__all__ = [
    "Curve",
    "DemoCurves",
    "Words",
    "draw_demo",
    "draw_regret",
    "draw_sweep",
    "draw_tree",
    "save_figure",
    "save_tree",
]
