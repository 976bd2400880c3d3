"""``proband sensors``: which sites of a network are worth measuring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from proband.cli import inputs, printing
from proband.distributions import Gaussian, covariance_files
from proband.errors import DistributionError, ProblemError, TableError, UnknownNameError, shown
from proband.files import MOST_SITES
from proband.instances import INSTANCES
from proband.planners.subset import SubsetSolution, sizes, solve_subset
from proband.problem import Problem
from proband.rewards import Entropy
from proband.tables import read_header, read_lines, read_records
from proband.vocabulary import Test

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

PRICES = ("site", "cost", "group", "group_cost")
"""The columns of a CSV of prices."""

MOST_SIZES_BY_DEFAULT = 40
"""With --plot and --costs alone, value against size is drawn around the best size only."""


@dataclass(frozen=True)
class Network:
    """The sites: names, covariance and, where they are known, prices."""

    names: list[str]
    law: Gaussian
    problem: Problem | None


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
    if size is not None and (costs is not None or scale is not None):
        raise typer.BadParameter("--size leaves costs aside, and so --costs and --scale; leave them out, or --size")
    network = load_network(covariance, costs, scale, records=records)
    forced_in, forced_out = (_sites(network.names, given or []) for given in (include, exclude))
    if size is None and network.problem is None:
        raise typer.BadParameter("give --costs (what sites cost) or --size (how many to choose)")
    if size is not None:
        wanted = parse_sizes(size, len(network.names))
        with printing.waiting(f"searching {len(wanted)} sizes"):
            found = sizes(
                network.law.covariance, sizes=wanted, time_limit=time_limit, forced_in=forced_in, forced_out=forced_out
            )
        _answer_sizes(network, wanted, found, plot, as_json=as_json)
        return
    assert network.problem is not None
    with printing.waiting("searching"):
        best = _solve(network.problem, network.law, forced_in, forced_out, time_limit)
    _answer_costs(network, best, forced_in, forced_out, plot, as_json=as_json)


def load_network(source: str, costs: str | None, scale: float | None, *, records: bool) -> Network:
    """Return the sites, by a file or the name of an example."""
    if not Path(source).exists() and source in INSTANCES:
        instance = INSTANCES[source]()
        if not isinstance(instance.problem.reward, Entropy) or not isinstance(instance.distribution, Gaussian):
            raise UnknownNameError(f"example {source!r} has no sites; choose network or paper-entropy, or give a file")
        if records:
            raise typer.BadParameter(
                f"--records is about a table of measurements, and {source} an example; leave it out"
            )
        names, reward = [test.name for test in instance.problem.tests], instance.problem.reward
        tests = instance.problem.tests if costs is None else _priced(names, costs)
        problem = Problem(tests, instance.problem.decisions, reward if scale is None else Entropy(scale))
        return Network(names, instance.distribution, problem)
    names, law = _from_records(Path(source)) if records else _from_covariance(Path(source))
    if costs is None:
        return Network(names, law, None)
    return Network(names, law, Problem(_priced(names, costs), ["stop"], Entropy(1.0 if scale is None else scale)))


def _from_covariance(path: Path) -> tuple[list[str], Gaussian]:
    mean, matrix, found = covariance_files.read_named(path)
    names = [f"site {n + 1}" for n in range(len(matrix))] if found is None else found
    try:
        return names, Gaussian(mean, matrix)
    except DistributionError as error:
        raise DistributionError(f"{path}: {error}") from error


def _from_records(path: Path) -> tuple[list[str], Gaussian]:
    names = read_header(path)
    if len(names) > MOST_SITES:
        raise TableError(f"{path}: it has {len(names)} sites; at most {MOST_SITES} are read; leave some out")
    table = read_records(path, [Test(name, outcomes=None) for name in names])
    return names, Gaussian.from_records(table)


def _priced(names: Sequence[str], costs: str) -> Sequence[Test]:
    """Return these sites at these prices."""
    try:
        price = float(costs)
    except ValueError:
        return _read_prices(Path(costs), names)
    return [Test(name, price, outcomes=None) for name in names]


def _read_prices(path: Path, names: Sequence[str]) -> list[Test]:
    if not path.exists():
        raise TableError(f"{path}: it cannot be read (no number, and no such file); give a number, or a CSV of prices")
    header, body, _ = read_lines(path, PRICES)
    if not {"site", "cost"} <= set(header):
        raise TableError(f"{path}: its columns are {shown(header)}; it needs site and cost; add them")
    rows = [dict(zip(header, cells, strict=True)) for cells in body]
    by_site = {row["site"].strip(): row for row in rows}
    missing = [name for name in names if name not in by_site]
    unknown = [name for name in by_site if name not in names]
    if missing or unknown:
        raise TableError(
            f"{path}: it has no cost for {missing} and costs of unknown {shown(unknown)}; every site needs one; "
            "correct it"
        )
    return [_priced_site(path, name, by_site[name]) for name in names]


def _priced_site(path: Path, name: str, row: dict[str, str]) -> Test:
    group = row.get("group", "").strip() or None
    try:
        cost = float(row["cost"])
        group_cost = float(row["group_cost"]) if group is not None else None
    except (ValueError, KeyError) as error:
        raise TableError(f"{path}: the prices of {name!r} are no numbers ({error}); correct them") from error
    try:
        return Test(name, cost, outcomes=None, group=group, group_cost=group_cost)
    except ProblemError as error:
        raise TableError(f"{path}: {error}") from error


def _solve(
    problem: Problem, law: Gaussian, forced_in: Sequence[int], forced_out: Sequence[int], time_limit: float | None
) -> SubsetSolution:
    assert isinstance(problem.reward, Entropy)
    prices = problem.prices
    return solve_subset(
        law.covariance, prices.cost, scale=problem.reward.scale, groups=prices.group, group_costs=prices.group_cost,
        forced_in=forced_in, forced_out=forced_out, time_limit=time_limit,
    )  # fmt: skip


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
    network: Network, wanted: list[int], found: list[SubsetSolution], plot: Path | None, *, as_json: bool
) -> None:
    written = _draw(wanted, found, plot, title="Entropy of the best sets", best=None)
    if as_json:
        content = [{"size": size, **_content(network, each)} for size, each in zip(wanted, found, strict=True)]
        printing.print_json({"sizes": content, "written": written})
        return
    printing.print_title(f"Best sets of {len(network.names)} sites")
    if len(found) == 1:
        printing.print_facts([("sites", _named(network, found[0])), *_facts(found[0]), *written_facts(written)])
        return
    rows = [
        [str(size), f"{each.value:.6g}", f"{each.bound:.6g}", _proof(each), f"{each.seconds:.2f} s"]
        for size, each in zip(wanted, found, strict=True)
    ]
    printing.print_table(["size", "entropy", "bound", "", "time"], rows)
    printing.print_facts([("certified", f"{sum(map(_proved, found))} of {len(found)} sizes"), *written_facts(written)])


def _answer_costs(
    network: Network,
    best: SubsetSolution,
    forced_in: Sequence[int],
    forced_out: Sequence[int],
    plot: Path | None,
    *,
    as_json: bool,
) -> None:
    written: list[str] = []
    if plot is not None and network.problem is not None:
        around = [
            s
            for s in range(max(1, len(forced_in)), len(network.names) - len(forced_out) + 1)
            if abs(s - len(best.chosen)) <= MOST_SIZES_BY_DEFAULT // 2
        ]
        with printing.waiting("searching sizes"):
            each = [_of_size(network, s, forced_in, forced_out) for s in around]
        written = _draw(around, each, plot, title="Value of the best set of each size", best=len(best.chosen))
    if as_json:
        printing.print_json({**_content(network, best), "written": written})
        return
    printing.print_title(f"{len(best.chosen)} of {len(network.names)} sites are worth their costs")
    printing.print_facts([("sites", _named(network, best)), *_facts(best), *written_facts(written)])


def _of_size(network: Network, size: int, forced_in: Sequence[int], forced_out: Sequence[int]) -> SubsetSolution:
    assert network.problem is not None
    assert isinstance(network.problem.reward, Entropy)
    prices = network.problem.prices
    return solve_subset(
        network.law.covariance, prices.cost, scale=network.problem.reward.scale, groups=prices.group,
        group_costs=prices.group_cost, size=size, forced_in=forced_in, forced_out=forced_out, time_limit=2.0,
    )  # fmt: skip


def _draw(
    wanted: list[int], found: list[SubsetSolution], plot: Path | None, *, title: str, best: int | None
) -> list[str]:
    if plot is None:
        return []
    from proband.figures import draw_sizes, save_figure

    values, bounds = [each.value for each in found], [each.bound for each in found]
    save_figure(draw_sizes(wanted, values, bounds, title=title, best=best), plot)
    return [str(plot)]


def written_facts(written: list[str]) -> list[tuple[str, str]]:
    """Return what was written, for people."""
    return [("written", path) for path in written]


def _named(network: Network, solution: SubsetSolution) -> str:
    return ", ".join(network.names[i] for i in solution.chosen) or "none"


def _facts(solution: SubsetSolution) -> list[tuple[str, str]]:
    return [
        ("value", f"{solution.value:.6g}"),
        ("proof", _proof(solution)),
        ("search", f"{solution.method}, {solution.nodes:,} nodes, {solution.seconds:.2f} s"),
    ]


def _proved(solution: SubsetSolution) -> bool:
    return solution.bound - solution.value <= 1e-6 * max(1.0, abs(solution.value))


def _proof(solution: SubsetSolution) -> str:
    return "proved best" if _proved(solution) else f"at most {solution.bound - solution.value:.3g} below the best"


def _content(network: Network, solution: SubsetSolution) -> dict[str, Any]:
    return {
        "chosen": [network.names[i] for i in solution.chosen],
        "value": solution.value,
        "bound": solution.bound,
        "gap": solution.bound - solution.value,
        "proved": bool(_proved(solution)),
        "method": solution.method,
        "nodes": int(solution.nodes),
        "seconds": float(np.round(solution.seconds, 3)),
    }
