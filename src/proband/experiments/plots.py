"""From a table to its figures: everything that is drawn is computed here from the table alone."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np

from proband.experiments.curves import Drawing, draw
from proband.experiments.experiment import HORIZON, Experiment, Value
from proband.experiments.hindsight import shown
from proband.experiments.summary import along, compare, fit_slope, regrets_along, sweeps, trajectories
from proband.experiments.tidy import TidyTable
from proband.figures import Curve, Words
from proband.quantities import marked, said
from proband.vocabulary import FloatArray

MEASURE_NAMES = {"pseudo_regret": "pseudo-regret", "realised_regret": "realised regret"}
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
LAST_FACTOR = 1024
"""Slopes against t are fitted over the last such factor of t."""


def plot(
    table: TidyTable, experiment: Experiment, folder: Path, *, stem: str = "", measure: str = "pseudo_regret"
) -> list[Path]:
    """Write the figures of a table: regret against subjects, and one for each sweep; return their paths."""
    return draw(drawings(table, experiment, measure=measure), folder, stem)


def drawings(table: TidyTable, experiment: Experiment, *, measure: str = "pseudo_regret") -> list[Drawing]:
    """Return what the figures of a table show."""
    table = shown(table, experiment.families)
    found = [Drawing("regret", "mean" if experiment.plain else "regret", *_over_time(table, experiment, measure))]
    for parameter, value in others(table):
        part = table.where({parameter: value})
        found.append(Drawing(f"regret-{parameter}-{value}", "regret", *_over_time(part, experiment, measure)))
    swept = [(name, _over_parameter(table, experiment, name, measure)) for name in sweeps(table)]
    return [*found, *(Drawing(f"by-{name}", "sweep", *drawn) for name, drawn in swept)]


def others(table: TidyTable) -> list[tuple[str, Value]]:
    """Return the second one of two values of each parameter, for which a figure of its own is drawn.

    Examples
    --------
    >>> others(TidyTable({"costs": np.array(["1-3", "1-3", "1.4-2.4"]), "horizon": np.array([8, 4, 8])}))
    [('costs', '1.4-2.4')]
    """
    named = [name for name in table.parameters if name != HORIZON]
    return [(name, table.unique(name)[1]) for name in named if len(table.unique(name)) == 2]


def _over_time(table: TidyTable, experiment: Experiment, measure: str) -> tuple[Words, list[Curve], list[Curve]]:
    agents = table.unique("agent")
    baseline = _baseline(table, experiment)
    regrets, ratios = [], []
    reference = trajectories(table, baseline, measure)[1]
    for agent in agents:
        t, values = trajectories(table, agent, measure)
        late = t >= t[-1] / LAST_FACTOR
        slope = fit_slope(t[late], values[:, late])
        regrets.append(Curve(agent, t, values.mean(axis=0), _sd(values), f"{slope.slope:.2f}"))
        ratios.append(_ratio(agent, t, values, reference))
    note = "" if experiment.plain else f" Slopes are fitted over the last factor {marked(LAST_FACTOR)} of t."
    subtitle = f"{_setting(table, experiment, measure, '')}{note}"
    return Words(experiment.title, subtitle, baseline, quantity=experiment.quantity), regrets, ratios


def _over_parameter(
    table: TidyTable, experiment: Experiment, parameter: str, measure: str
) -> tuple[Words, list[Curve], list[Curve]]:
    baseline = _baseline(table, experiment)
    x = np.array([float(point[parameter]) for point in along(table, parameter)])
    reference = regrets_along(table, parameter, baseline, measure)
    regrets, ratios = [], []
    for agent in table.unique("agent"):
        values = regrets_along(table, parameter, agent, measure)
        spread = _sd(values) / math.sqrt(len(values))
        regrets.append(Curve(agent, x, values.mean(axis=0), spread, str(fit_slope(x, values))))
        ratios.append(_ratio(agent, x, values, reference))
    about = "T, number of subjects" if parameter == HORIZON else experiment.parameters[parameter].about
    name = about if parameter == HORIZON else f"{parameter}: {about}"
    words = Words(experiment.title, _setting(table, experiment, measure, parameter), baseline, name)
    return words, regrets, ratios


def _ratio(agent: str, x: FloatArray, values: FloatArray, reference: FloatArray) -> Curve:
    pairs = [compare(values[:, n], reference[:, n]) for n in range(len(x))]
    return Curve(agent, x, np.array([pair.ratio for pair in pairs]), np.nan_to_num([pair.error for pair in pairs]))


def _sd(values: FloatArray) -> FloatArray:
    return values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros(values.shape[1])


def _baseline(table: TidyTable, experiment: Experiment) -> str:
    agents = table.unique("agent")
    return next((name for name in experiment.baselines if name in agents), str(agents[0]))


def _setting(table: TidyTable, experiment: Experiment, measure: str, varied: str) -> str:
    """Return in words what was run."""
    main = table.points()[0]
    values = [
        f"{'T' if name == HORIZON else name.replace('_', ' ')} = {written(value)}"
        for name, value in main.items()
        if name != varied
    ]
    replications = len(table.unique("replication"))
    shown = f"Cumulative {MEASURE_NAMES.get(measure, measure)}" if experiment.measure is None else experiment.quantity
    return f"{shown[0].upper()}{shown[1:]}; {', '.join(values)}; {replications} replication{'s' * (replications != 1)}."


def written(value: object) -> str:
    """Return a value for people: 2²⁰ for 1048576, 10,000, and a dash between the ends of a range."""
    if isinstance(value, int) and value >= 1024 and value & (value - 1) == 0:
        return "2" + str(value.bit_length() - 1).translate(SUPERSCRIPTS)
    if isinstance(value, int) and not isinstance(value, bool):
        return marked(value, 16)
    return said(value, 6) if isinstance(value, float) else re.sub(r"(?<=[0-9])-(?=[0-9])", "–", str(value))
