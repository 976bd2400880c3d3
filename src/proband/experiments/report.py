"""A run as a page: what it shows, the command that reproduces it, the numbers, the figures."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

from proband.errors import TableError
from proband.experiments.curves import ENDING, draw, read_curves, write_curves
from proband.experiments.experiment import HORIZON, Experiment, Switch
from proband.experiments.hindsight_report import hindsight_section, place_content
from proband.experiments.manifest import read_manifest
from proband.experiments.phases import phases, slopes_by_phase
from proband.experiments.plots import drawings, written
from proband.experiments.summary import Summary, slopes, summarise
from proband.experiments.tidy import TidyTable, read_table, write_csv
from proband.experiments.wording import markdown, number, or_none

SHORT = {"explore-then-commit": "ETC", "ignore-commit-data": "ignoring"}
"""What a baseline is called where there is little room."""
RATIO_COLUMNS = ("ratio_to", "ratio_error_to", "ratio_median_to", "ratio_sd_to", "wins_over")
"""What the numbers of a :class:`Ratio` are called in a CSV table, before the baseline's name."""


def report(experiment: Experiment, run: Path, folder: Path) -> list[Path]:
    """Write the page of a run, ``NAME.md``, with its figures, what they show and its summary as CSV; return the paths.

    The experiment is as it is in the catalogue, `run` is the folder of the run, and `folder`, made if missing, where
    the page goes.
    """
    table = read_table(run)
    manifest = read_manifest(run)
    if manifest is None or manifest["finished"] is None:
        raise TableError(
            f"{run}: its manifest is missing or not finished; a report needs a whole run; run it to its end"
        )
    folder.mkdir(parents=True, exist_ok=True)
    curves = folder / f"{experiment.name}{ENDING}"
    write_curves(curves, drawings(table, experiment))
    pictures = draw(read_curves(curves), folder, f"{experiment.name}-")
    summaries = summarise(table, baselines=experiment.baselines)
    numbers = folder / f"{experiment.name}.csv"
    write_summary(numbers, summaries, experiment.baselines)
    parts = [
        f"# {experiment.title}",
        experiment.shows,
        *(f"![{picture.stem}]({picture.name})" for picture in pictures[:1]),
        "## Regret after all subjects",
        markdown(*summary_rows(summaries, experiment.baselines)),
        _explanation(experiment, summaries),
        *_slope_section(table),
        *([] if experiment.switch is None else _phase_section(table, experiment.switch)),
        *(hindsight_section(table, experiment) if experiment.families else []),
        *(f"![{picture.stem}]({picture.name})" for picture in pictures[1:]),
        "## How to run it again",
        "    " + "\n    ".join(commands(experiment, manifest)),
        _provenance(manifest, numbers, curves),
    ]
    page = folder / f"{experiment.name}.md"
    page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return [page, numbers, curves, *pictures]


def summary_rows(
    summaries: Sequence[Summary], baselines: Sequence[str], *, short: bool = False
) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the summaries, for people: parameters that vary, then the numbers."""
    points = [summary.point for summary in summaries]
    varied = [name for name in points[0] if len({point[name] for point in points}) > 1]
    compared = [name for name in baselines if any(name in summary.ratios for summary in summaries)]
    header = ["agent", *("T" if name == HORIZON else name for name in varied), "mean", "error", "sd"]
    for name in compared:
        header += [f"of {SHORT.get(name, name) if short else name}", *([] if short else ["median", "its sd"]), "wins"]
    rows = []
    for summary in summaries:
        row = [summary.agent, *(written(summary.point[name]) for name in varied)]
        row += [number(summary.mean), number(summary.error), number(summary.sd)]
        for name in compared:
            row += _ratio_cells(summary, name, short=short)
        rows.append(row)
    return header, rows


def _ratio_cells(summary: Summary, baseline: str, *, short: bool) -> list[str]:
    ratio = summary.ratios.get(baseline)
    if ratio is None:
        return [""] * (2 if short else 4)
    on_instances = [] if short else [ratio.median, ratio.spread]
    shown = ["" if math.isnan(value) else f"{value:,.3f}" for value in on_instances]
    return [f"{ratio.ratio:,.3f}", *shown, f"{ratio.wins}/{summary.replications}"]


def run_content(experiment: Experiment, table: TidyTable) -> dict[str, Any]:
    """Return what a run found, for programs."""
    return {
        "summaries": summary_content(summarise(table, baselines=experiment.baselines)),
        "slopes": {
            key: {agent: {"slope": slope.slope, "standard_error": slope.error} for agent, slope in by_agent.items()}
            for key, by_agent in slopes(table).items()
        },
        **({"hindsight": place_content(table, experiment)} if experiment.families else {}),
    }


def summary_content(summaries: Sequence[Summary]) -> list[dict[str, Any]]:
    """Return the summaries for programs."""
    return [
        {
            **summary.point,
            "agent": summary.agent,
            "replications": summary.replications,
            "mean": summary.mean,
            "sd": or_none(summary.sd),
            "standard_error": or_none(summary.error),
            "ratios": {
                name: {
                    "ratio": or_none(ratio.ratio),
                    "standard_error": or_none(ratio.error),
                    "median_over_instances": or_none(ratio.median),
                    "sd_over_instances": or_none(ratio.spread),
                    "wins": ratio.wins,
                }
                for name, ratio in summary.ratios.items()
            },
        }
        for summary in summaries
    ]


def write_summary(path: Path, summaries: Sequence[Summary], baselines: Sequence[str]) -> None:
    """Write the summaries as a CSV table, in full precision."""
    header = [*summaries[0].point, "agent", "replications", "mean", "sd", "standard_error"]
    for name in baselines:
        header += [f"{field}_{name}" for field in RATIO_COLUMNS]
    rows = []
    for summary in summaries:
        row = [*summary.point.values(), summary.agent, summary.replications, summary.mean, summary.sd, summary.error]
        for name in baselines:
            ratio = summary.ratios.get(name)
            row += [""] * len(RATIO_COLUMNS) if ratio is None else astuple(ratio)
        rows.append(row)
    write_csv(path, header, rows)


def commands(experiment: Experiment, manifest: dict[str, Any]) -> list[str]:
    """Return the command lines that reproduce a run and its page."""
    options = ["--seed", str(manifest["seed"]), "--replications", str(manifest["replications"])]
    main = manifest["points"][0]
    if main[HORIZON] != experiment.horizon:
        options += ["--horizon", str(main[HORIZON])]
    if manifest["agents"] != [entrant.name for entrant in experiment.agents]:
        options += ["--agents", ",".join(manifest["agents"])]
    swept = experiment.changed(horizon=main[HORIZON]).points()
    if manifest["points"] != swept:
        for name in experiment.parameters:
            values = list(dict.fromkeys([main[name], *(point[name] for point in manifest["points"])]))
            options += ["--set", f"{name}={','.join(map(str, values))}"]
    line = shlex.join(["proband", "experiment", "run", experiment.name, *options])
    return [line, f"proband experiment report {experiment.name}"]


def _explanation(experiment: Experiment, summaries: Sequence[Summary]) -> str:
    if experiment.measure is not None:
        return f"{experiment.quantity.capitalize()} after T rounds, and its ratio to that of the baselines."
    numbers = (
        f"Cumulative pseudo-regret after T subjects over {summaries[0].replications} replications: mean, its "
        "standard error, standard deviation."
    )
    if not experiment.baselines:
        return numbers
    return (
        f"{numbers} Then, for {' and '.join(experiment.baselines)}: the ratio of the mean regrets, the median and the "
        "standard deviation over replications of the ratio on the same instance, and in how many replications the "
        "agent's regret was the smaller one."
    )


def _slope_section(table: TidyTable) -> list[str]:
    found = slopes(table)
    if not found:
        return []
    header = ["agent", *(f"in {'T' if name == HORIZON else name}" for name in found)]
    rows = [[agent, *(str(found[name][agent]) for name in found)] for agent in table.unique("agent")]
    text = "Least squares through the logarithms of mean final regret, ± the jackknife's standard error."
    return ["## Slopes", markdown(header, rows), text]


def _phase_section(table: TidyTable, switch: Switch) -> list[str]:
    found = phases(table, switch)
    varied = [name for name in found[0].point if len({phase.point[name] for phase in found}) > 1]
    header = ["agent", *("T" if name == HORIZON else name for name in varied)]
    header += ["N", "until N", "after N", "error", "share", "stuck"]
    rows = []
    for phase in found:
        row = [phase.agent, *(written(phase.point[name]) for name in varied), f"{phase.length:,}"]
        row += [number(value) for value in (phase.before.mean(), phase.after.mean(), phase.after_error)]
        rows.append([*row, f"{phase.share:.0%}", f"{phase.stuck:.0%}"])
    text = (
        "N is how many subjects explore-then-commit tests completely. Mean regret until then; mean regret after it and "
        "the standard error; the share that came after; and in how many of the runs the agent was stuck: over the "
        "subjects from T/4 to T/2 and over those from T/2 to T it lost the same a subject, to within a tenth, and more "
        "than nothing."
    )
    parts = ["## Before and after explore-then-commit commits", markdown(header, rows), text]
    by_phase = slopes_by_phase(table, switch).items()
    slope_rows = [[agent, str(before), str(after)] for agent, (before, after) in by_phase]
    return [*parts, markdown(["slope in T", "until N", "after N"], slope_rows)] if slope_rows else parts


def _provenance(manifest: dict[str, Any], numbers: Path, curves: Path) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in manifest["versions"].items())
    machine = manifest["machine"]
    times = ", ".join(f"{agent} {seconds['median']:.2g}" for agent, seconds in manifest["seconds"].items())
    return (
        f"The numbers above in full precision: [{numbers.name}]({numbers.name}); what the figures show: "
        f"[{curves.name}]({curves.name}). Seed {manifest['seed']}, "
        f"{manifest['cells']:,} cells, {manifest['executor']}, finished {manifest['finished']}; "
        f"code {manifest['code']}, {versions}; "
        f"{machine['cores']} cores of {machine['processor']}. Median seconds a run at the largest T, planning "
        f"included: {times}."
    )
