"""How ``proband sensors`` answers: sets of sites with their proofs, in words, as JSON and as a drawing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from proband.cli import printing
from proband.planners.subset import SubsetSolution


def answer_sizes(
    names: Sequence[str], wanted: list[int], found: list[SubsetSolution], plot: Path | None, *, as_json: bool
) -> None:
    """Show the best set of each size."""
    written = _draw(wanted, found, plot, title="Entropy of the best sets", best=None)
    if as_json:
        content = [{"size": size, **_content(names, each)} for size, each in zip(wanted, found, strict=True)]
        printing.print_json({"sizes": content, "written": written})
        return
    printing.print_title(f"Best sets of {len(names)} sites")
    if len(found) == 1:
        printing.print_facts(_facts(names, found[0], written))
        return
    rows = [
        [str(size), f"{each.value:.6g}", f"{each.bound:.6g}", _proof(each), f"{each.seconds:.2f} s"]
        for size, each in zip(wanted, found, strict=True)
    ]
    printing.print_table(["size", "entropy", "bound", "", "time"], rows)
    proved = f"{sum(map(_proved, found))} of {len(found)} sizes"
    printing.print_facts([("certified", proved), *(("written", path) for path in written)])


def answer_one(
    names: Sequence[str],
    best: SubsetSolution,
    plot: Path | None,
    around: list[int],
    found: list[SubsetSolution],
    *,
    as_json: bool,
) -> None:
    """Show the set that is worth its costs, and draw it among the best sets of the sizes around it."""
    written = _draw(around, found, plot, title="Value of the best set of each size", best=len(best.chosen))
    if as_json:
        printing.print_json({**_content(names, best), "written": written})
        return
    printing.print_title(f"{len(best.chosen)} of {len(names)} sites are worth their costs")
    printing.print_facts(_facts(names, best, written))


def _draw(
    wanted: list[int], found: list[SubsetSolution], plot: Path | None, *, title: str, best: int | None
) -> list[str]:
    if plot is None:
        return []
    from proband.figures import draw_sizes, save_figure

    values, bounds = [each.value for each in found], [each.bound for each in found]
    save_figure(draw_sizes(wanted, values, bounds, title=title, best=best), plot)
    return [str(plot)]


def _facts(names: Sequence[str], solution: SubsetSolution, written: list[str]) -> list[tuple[str, str]]:
    return [
        ("sites", ", ".join(names[i] for i in solution.chosen) or "none"),
        ("value", f"{solution.value:.6g}"),
        ("proof", _proof(solution)),
        ("search", f"{solution.method}, {solution.nodes:,} nodes, {solution.seconds:.2f} s"),
        *(("written", path) for path in written),
    ]


def _proved(solution: SubsetSolution) -> bool:
    return solution.gap <= 1e-6 * max(1.0, abs(solution.value))


def _proof(solution: SubsetSolution) -> str:
    return "proved best" if _proved(solution) else f"at most {solution.gap:.3g} below the best"


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
