"""The experiments by name, one file each."""

from proband.experiments.catalogue.easy import EASY
from proband.experiments.catalogue.entropy import ENTROPY_LARGE, ENTROPY_WIDTHS, PAPER_ENTROPY
from proband.experiments.catalogue.gaussian import GAUSSIAN_ETC, GAUSSIAN_QUALITY_CONTROL
from proband.experiments.catalogue.gaussian_lower_bound import GAUSSIAN_LOWER_BOUND, GAUSSIAN_PROXY
from proband.experiments.catalogue.horizon import HORIZONS
from proband.experiments.catalogue.lower_bound_many import LOWER_BOUND_MANY
from proband.experiments.catalogue.lower_bound_single import LOWER_BOUND_SINGLE
from proband.experiments.catalogue.missing_data import MISSING_DATA
from proband.experiments.catalogue.near_ties import NEAR_TIES
from proband.experiments.catalogue.paper_discrete import PAPER_DISCRETE
from proband.experiments.catalogue.paper_figures import FIGURE_DISCRETE, FIGURE_ENTROPY
from proband.experiments.experiment import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    "paper-discrete": PAPER_DISCRETE,
    "lower-bound-single": LOWER_BOUND_SINGLE,
    "lower-bound-many": LOWER_BOUND_MANY,
    "missing-data": MISSING_DATA,
    "horizon": HORIZONS,
    "easy": EASY,
    "gaussian-etc": GAUSSIAN_ETC,
    "gaussian-quality-control": GAUSSIAN_QUALITY_CONTROL,
    "gaussian-lower-bound": GAUSSIAN_LOWER_BOUND,
    "gaussian-proxy": GAUSSIAN_PROXY,
    "paper-entropy": PAPER_ENTROPY,
    "entropy-widths": ENTROPY_WIDTHS,
    "entropy-large": ENTROPY_LARGE,
    "entropy-near-ties": NEAR_TIES,
    "figure-discrete": FIGURE_DISCRETE,
    "figure-entropy": FIGURE_ENTROPY,
}
"""Name to experiment."""

__all__ = ["EXPERIMENTS"]
