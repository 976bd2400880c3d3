"""The experiments by name."""

from proband.experiments.catalogue.discrete import EASY, HORIZONS, LOWER_BOUND_MANY, LOWER_BOUND_SINGLE, PAPER_DISCRETE
from proband.experiments.catalogue.entropy import ENTROPY_LARGE, ENTROPY_WIDTHS, NEAR_TIES, PAPER_ENTROPY
from proband.experiments.catalogue.gaussian import (
    GAUSSIAN_ETC,
    GAUSSIAN_LOWER_BOUND,
    GAUSSIAN_PROXY,
    GAUSSIAN_QUALITY_CONTROL,
)
from proband.experiments.catalogue.many_tests import MANY, MANY_LONG
from proband.experiments.catalogue.missing_data import MISSING_DATA
from proband.experiments.catalogue.paper_figures import FIGURE_DISCRETE, FIGURE_ENTROPY
from proband.experiments.experiment import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        PAPER_DISCRETE, LOWER_BOUND_SINGLE, LOWER_BOUND_MANY, MISSING_DATA, HORIZONS, EASY,
        GAUSSIAN_ETC, GAUSSIAN_QUALITY_CONTROL, GAUSSIAN_LOWER_BOUND, GAUSSIAN_PROXY,
        PAPER_ENTROPY, ENTROPY_WIDTHS, ENTROPY_LARGE, NEAR_TIES, FIGURE_DISCRETE, FIGURE_ENTROPY, MANY,
        MANY_LONG,
    )
}  # fmt: skip
"""Name to experiment."""

__all__ = ["EXPERIMENTS"]
