"""Figures: the only folder that knows matplotlib, an extra (``pip install "proband[figures]"``)."""

from proband.figures.canvas import save_figure
from proband.figures.demo import DemoCurves, draw_demo
from proband.figures.tree import draw_tree, save_tree

__all__ = ["DemoCurves", "draw_demo", "draw_tree", "save_figure", "save_tree"]
