"""Agents beside the best in hindsight, as tables for people and for programs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from proband.experiments.experiment import HORIZON, Experiment
from proband.experiments.hindsight import Place, geometric_means, places
from proband.experiments.plots import written
from proband.experiments.tidy import TidyTable
from proband.experiments.wording import markdown, number, or_none


def hindsight_section(table: TidyTable, experiment: Experiment) -> list[str]:
    """Return the parts of a page: every agent beside the best in hindsight, and the means over laws."""
    found = places(table, experiment.families, experiment.baselines)
    text = (
        "Of agents that differ in one setting only, the one is taken whose mean regret was least on these streams. "
        "For each agent its mean regret ± the standard error and its ratio to theirs; what it lost a subject from T/4 "
        "to T/2, from T/2 to T, and at the end; in how many runs that still fell, and in how many it was stuck (the "
        "same to within a tenth)."
    )
    means = "Geometric means of these ratios over the laws, and the largest, of agents that were run on all of them."
    parts = ["## Beside the best in hindsight", text, markdown(*place_rows(found))]
    header, rows = mean_rows(found, next(iter(experiment.sweeps)))
    return [*parts, means, markdown(header, rows)] if rows else parts


def place_rows(found: Sequence[Place]) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of agents beside the best in hindsight, for people."""
    points = [place.point for place in found]
    varied = [name for name in points[0] if len({point[name] for point in points}) > 1]
    compared = list(dict.fromkeys(name for place in found for name in place.ratios))
    header = ["agent", *("T" if name == HORIZON else name for name in varied), "regret"]
    header += [*(f"of {name}" for name in compared), "T/4 to T/2", "T/2 to T", "end", "falls", "stuck"]
    rows = []
    for place in found:
        name = f"{place.agent} (best of {', '.join(place.families)})" if place.families else place.agent
        row = [name, *(written(place.point[name]) for name in varied)]
        row.append(number(place.mean) + ("" if math.isnan(place.error) else f" ± {number(place.error)}"))
        row += [f"{place.ratios[to]:.3f}" if to in place.ratios else "" for to in compared]
        rows.append([*row, *(f"{gap:.4f}" for gap in place.gaps), f"{place.falls:.0%}", f"{place.stuck:.0%}"])
    return header, rows


def mean_rows(found: Sequence[Place], over: str) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of geometric means of ratios over a parameter, for people; no rows where it is fixed."""
    means = geometric_means(found, over)
    compared = list(dict.fromkeys(name for place in found for name in place.ratios))
    varied = [name for name in found[0].point if name != over and len({place.point[name] for place in found}) > 1]
    header = ["agent", *("T" if name == HORIZON else name for name in varied)]
    header += [cell for name in compared for cell in (f"of {name}", "largest")]
    rows = []
    for mean in means:
        cells = [f"{number:.3f}" for name in compared for number in mean.ratios.get(name, (math.nan, math.nan))]
        shown = ["" if cell == "nan" else cell for cell in cells]
        rows.append([mean.agent, *(written(mean.rest[name]) for name in varied), *shown])
    return header, rows


def place_content(table: TidyTable, experiment: Experiment) -> list[dict[str, Any]]:
    """Return where agents stand beside the best in hindsight, for programs."""
    return [
        {**place.point, "agent": place.agent, "best_of": list(place.families), "mean": place.mean}
        | {"standard_error": or_none(place.error), "ratios": dict(place.ratios), "gaps": list(place.gaps)}
        | {"falls": place.falls, "stuck": place.stuck}
        for place in places(table, experiment.families, experiment.baselines)
    ]
