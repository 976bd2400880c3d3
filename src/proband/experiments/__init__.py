"""Experiments: agents side by side on the same subjects, from one seed to one table, its figures and its report."""

from typing import TYPE_CHECKING

from proband.lazy import attributes

if TYPE_CHECKING:
    from proband.errors import ExperimentError
    from proband.experiments.catalogue import EXPERIMENTS
    from proband.experiments.cells import Outcome, play
    from proband.experiments.executors import Executor, in_process, in_processes, on_cluster
    from proband.experiments.experiment import Cell, Entrant, Experiment, Parameter
    from proband.experiments.runner import run
    from proband.experiments.summary import Ratio, Slope, Summary, fit_slope, slopes, summarise
    from proband.experiments.tidy import TidyTable, read_table
else:
    __getattr__, __dir__ = attributes(__name__)

__all__ = [
    "EXPERIMENTS",
    "Cell",
    "Entrant",
    "Executor",
    "Experiment",
    "ExperimentError",
    "Outcome",
    "Parameter",
    "Ratio",
    "Slope",
    "Summary",
    "TidyTable",
    "fit_slope",
    "in_process",
    "in_processes",
    "on_cluster",
    "play",
    "read_table",
    "run",
    "slopes",
    "summarise",
]
