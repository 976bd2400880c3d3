"""``proband sensors``: which sites of a network are worth measuring."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from proband.cli import inputs, printing
from proband.errors import UnknownNameError
from proband.instances.networks import is_example, load_network
from proband.planners import Options
from proband.quantities import amount, number

if TYPE_CHECKING:
    from proband.planners.subset import SubsetSolution
    from proband.problem import Problem

NATS = "nats"
"""The unit of entropy."""

CovarianceArgument = Annotated[
    str,
    typer.Argument(
        metavar="COVARIANCE",
        help="A covariance (CSV with names, NPY, NPZ, MAT), measurements (CSV, with --records), or an example: "
        "network, paper-entropy.",
    ),
]
CostsOption = Annotated[
    str | None,
    typer.Option(
        "--costs",
        metavar="NUMBER|CSV",
        help="What a site costs a round: one number for all, or a CSV with the columns site, cost and, if sites share "
        "a preparation, group and group_cost.",
    ),
]
SizeOption = Annotated[
    str | None,
    typer.Option("--size", metavar="S", help="The best set of S sites, costs aside; 5-20 or all for several sizes."),
]
ScaleOption = Annotated[
    float | None,
    typer.Option("--scale", metavar="L", help="What a nat of entropy is worth; by default 1, or what an example says."),
]
RecordsOption = Annotated[bool, typer.Option("--records", help="COVARIANCE is a table of measurements, a row a round.")]
IncludeOption = Annotated[
    list[str] | None, typer.Option("--include", metavar="SITE", help="A site that must be in the set; repeat it.")
]
ExcludeOption = Annotated[
    list[str] | None, typer.Option("--exclude", metavar="SITE", help="A site that must not be; repeat it.")
]
TimeLimitOption = Annotated[
    float | None, typer.Option("--time-limit", min=0, metavar="SECONDS", help="Stop then, with a certified gap.")
]
PlotOption = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Draw value against size (.svg, .png, .pdf).")
]

SIZES_DRAWN = 40
"""With --plot and --costs, value against size is drawn for so many sizes around the best one."""
SECONDS_A_SIZE = 2.0
"""How long to search for each of them; the bound is drawn beside the value, so that nothing has to be proved."""


def sensors_command(
    covariance: CovarianceArgument,
    costs: CostsOption = None,
    size: SizeOption = None,
    scale: ScaleOption = None,
    records: RecordsOption = False,
    include: IncludeOption = None,
    exclude: ExcludeOption = None,
    time_limit: TimeLimitOption = None,
    plot: PlotOption = None,
    as_json: inputs.JsonOption = False,
) -> None:
    """Find the sites of a network that are worth measuring, with proof.

    With costs: the set with the largest scale × entropy minus costs. With
    --size: the set of S sites with the largest entropy. Stopped early, the
    answer comes with a certified gap.

    [bold]Examples[/bold]
    $ proband sensors network
    $ proband sensors covariance.csv --costs 2.5 --plot sizes.png
    $ proband sensors data63.mat --size 10
    $ proband sensors rounds.csv --records --costs sites.csv --include harbour
    """
    from proband.planners.subset import plan_sizes, plan_subset  # compiled: not for those who ask for help

    if size is not None and (costs is not None or scale is not None):
        raise typer.BadParameter("--size leaves costs aside, and so --costs and --scale; leave them out, or --size")
    if records and is_example(covariance):
        raise typer.BadParameter(
            f"--records is about a table of measurements, and {covariance} an example; leave it out"
        )
    prices, worth = (costs, scale) if size is None else (0.0, 1.0)
    network = load_network(covariance, costs=prices, scale=worth, records=records)
    names = [test.name for test in network.problem.tests]
    forced_in, forced_out = (_sites(names, given or []) for given in (include, exclude))
    of_sizes = partial(plan_sizes, network.problem, network.distribution, forced_in=forced_in, forced_out=forced_out)
    if size is not None:
        wanted = parse_sizes(size, len(names))
        with printing.waiting(f"searching {len(wanted)} sizes"):
            every = of_sizes(wanted=wanted, time_limit=time_limit)
        _answer_sizes(names, wanted, every, plot, as_json=as_json)
        return
    if costs is None and not is_example(covariance):
        raise typer.BadParameter("give --costs (what sites cost) or --size (how many to choose)")
    with printing.waiting("searching"):
        limits, forced = Options(time_limit=time_limit), {"forced_in": forced_in, "forced_out": forced_out}
        best = plan_subset(network.problem, network.distribution, limits, **forced).solution
    around, every = [], []
    if plot is not None:
        possible = range(max(1, len(forced_in)), len(names) - len(forced_out) + 1)
        around = [size for size in possible if abs(size - len(best.chosen)) <= SIZES_DRAWN // 2]
        with printing.waiting("searching sizes"):
            every = of_sizes(wanted=around, time_limit=SECONDS_A_SIZE * len(around))
    _answer_one(network.problem, best, plot, around, every, as_json=as_json)


def _sites(names: Sequence[str], given: Sequence[str]) -> tuple[int, ...]:
    for name in given:
        if name not in names:
            raise UnknownNameError(f"site {name!r} does not exist; sites are {', '.join(names)}; choose among these")
    return tuple(names.index(name) for name in given)


def parse_sizes(text: str, d: int) -> list[int]:
    """Return the sizes that were asked for.

    Examples
    --------
    >>> parse_sizes("10", 63), parse_sizes("2-4", 63), parse_sizes("all", 3)
    ([10], [2, 3, 4], [1, 2, 3])
    """
    if text == "all":
        return list(range(1, d + 1))
    first, dash, last = text.partition("-")
    try:
        low, high = int(first), int(last if dash else first)
    except ValueError as error:
        raise typer.BadParameter(f"--size is {text!r}; write a number, a range such as 5-20, or all") from error
    if not 0 <= low <= high <= d:
        raise typer.BadParameter(f"--size is {text!r}; there are {d} sites; choose sizes from 0 to {d}")
    return list(range(low, high + 1))


def _answer_sizes(
    names: Sequence[str], wanted: list[int], found: list[SubsetSolution], plot: Path | None, *, as_json: bool
) -> None:
    """Show the best set of each size."""
    written = _draw(wanted, found, plot, title="Entropy of the best sets", best=None, unit=NATS)
    if as_json:
        content = [{"size": size, **_content(names, each)} for size, each in zip(wanted, found, strict=True)]
        printing.print_json({"sizes": content, "written": written})
        return
    printing.print_title(f"Best sets of {len(names)} sites")
    if len(found) == 1:
        printing.print_facts(_facts(names, found[0], written, NATS))
        return
    rows = [
        [str(size), number(each.value, 6), number(each.bound, 6), _proof(each), f"{each.seconds:.2f} s"]
        for size, each in zip(wanted, found, strict=True)
    ]
    printing.print_table(["size", "entropy", "bound", "", "time"], rows)
    proved = f"{sum(map(_proved, found))} of {len(found)} sizes"
    printing.print_facts([("certified", proved), *(("written", path) for path in written)])


def _answer_one(
    problem: Problem,
    best: SubsetSolution,
    plot: Path | None,
    around: list[int],
    found: list[SubsetSolution],
    *,
    as_json: bool,
) -> None:
    """Show the set that is worth its costs, and draw it among the best sets of the sizes around it."""
    names, unit = [test.name for test in problem.tests], problem.unit
    written = _draw(around, found, plot, title="Value of the best set of each size", best=len(best.chosen), unit=unit)
    if as_json:
        printing.print_json({**_content(names, best), "written": written})
        return
    printing.print_title(f"{len(best.chosen)} of {len(names)} sites are worth their costs")
    printing.print_facts(_facts(names, best, written, unit))


def _draw(
    wanted: list[int], found: list[SubsetSolution], plot: Path | None, *, title: str, best: int | None, unit: str
) -> list[str]:
    if plot is None:
        return []
    from proband.figures import draw_sizes, save_figure

    values, bounds = [each.value for each in found], [each.bound for each in found]
    save_figure(draw_sizes(wanted, values, bounds, title=title, best=best, unit=unit), plot)
    return [str(plot)]


def _facts(names: Sequence[str], solution: SubsetSolution, written: list[str], unit: str) -> list[tuple[str, str]]:
    nodes = f"{solution.nodes:,} node{'s' * (solution.nodes != 1)}"
    return [
        ("sites", ", ".join(names[i] for i in solution.chosen) or "none"),
        ("value", amount(solution.value, unit, 6)),
        ("proof", _proof(solution)),
        ("search", f"{solution.method}, {nodes}, {solution.seconds:.2f} s"),
        *(("written", path) for path in written),
    ]


def _proved(solution: SubsetSolution) -> bool:
    return solution.gap <= 1e-6 * max(1.0, abs(solution.value))


def _proof(solution: SubsetSolution) -> str:
    return "proved best" if _proved(solution) else f"at most {number(solution.gap, 3)} below the best"


def _content(names: Sequence[str], solution: SubsetSolution) -> dict[str, Any]:
    return {
        "chosen": [names[i] for i in solution.chosen],
        "value": solution.value,
        "bound": solution.bound,
        "gap": solution.gap,
        "proved": bool(_proved(solution)),
        "method": solution.method,
        "nodes": int(solution.nodes),
        "seconds": float(np.round(solution.seconds, 3)),
    }
