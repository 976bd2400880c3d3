"""Write docs/benchmarks/subset.md, .csv and .png from the rows of a run."""

import csv

import numpy as np

from benchmarks.subset import figure
from benchmarks.subset.criteria import criteria
from benchmarks.text import paragraph, ratio, seconds, table


def write(folder, kept):
    with (folder / "subset.csv").open("w", newline="", encoding="utf-8") as file:
        rows = [{"part": part, **row} for part in SECTIONS for row in kept[part]]
        writer = csv.DictWriter(file, list(dict.fromkeys(key for row in rows for key in row)), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    figure.draw(folder / "subset.png", kept)
    said = {True: "yes", False: "**no**"}
    aims = [(what, aim, shown, said[bool(met)]) for what, aim, shown, met in criteria(kept)]
    sections = [INTRODUCTION, "## What was to be shown\n\n" + table(("", "aim", "this run", "met"), aims)]
    sections += [section(kept[part]) for part, section in SECTIONS.items()]
    sections.append(conditions(kept))
    (folder / "subset.md").write_text("\n\n".join(sections) + "\n", encoding="utf-8")


INTRODUCTION = """# The subset solver beside what one would use instead

One run of `python -m benchmarks.subset --data DIRECTORY`: which tests of a network are worth their price, and which s
tests carry most entropy. The covariances of the two networks, 63 and 90 environmental monitoring sites, are those
published with "On computing with some convex relaxations for the maximum-entropy sampling problem" (Chen, Fampa and
Lee); they are not part of this repository. Every measurement is in [subset.csv](subset.csv). No package was found for
the problem with costs, and on PyPI none for a size; the peers are what one would write in NumPy. The branch and bound
by eigenvalues works in the manner of R's `edesign`.

![Time to prove each size, and time against the number of tests](subset.png)"""


def priced(rows):
    cells = []
    for sites in sorted({row["sites"] for row in rows}):
        here = [row for row in rows if row["sites"] == sites]
        times, nodes = [row["seconds"] for row in here], [row["nodes"] for row in here]
        sizes = [row["size"] for row in here]
        cells.append((
            sites, len(here), f"{min(sizes)} to {max(sizes)}", seconds(float(np.median(times))), seconds(max(times)),
            max(nodes), lost(here, "improve"), lost(here, "greedy"),
        ))  # fmt: skip
    text = """Costs are drawn evenly between the 20 % quantile of what tests bring given all others and the 80 %
        quantile of what they bring alone. All are proved optimal. `improve` and the NumPy loop both add greedily, then
        add, remove and exchange; "missed" counts draws in which they end below the optimum, with the mean and the
        largest loss in nats; in brackets the median time."""
    header = (
        "sites",
        "draws",
        "tests chosen",
        "median",
        "slowest",
        "most nodes",
        "improve missed",
        "NumPy greedy missed",
    )
    return "\n\n".join(["## Any size, with costs", paragraph(text), table(header, cells)])


def lost(rows, key):
    losses = [row[key] for row in rows if row[key] > 1e-9]
    time = seconds(float(np.median([row[f"{key} seconds"] for row in rows])))
    if not losses:
        return f"none ({time})"
    return f"{len(losses)}, by {np.mean(losses):.2g}, {max(losses):.2g} at most ({time})"


def every_size(rows):
    cells = []
    for sites in sorted({row["sites"] for row in rows}):
        here = [row for row in rows if row["sites"] == sites]
        priced = sum(row["proved"] and row["method"] == "Lagrangian" for row in here)
        slowest = max(here, key=lambda row: row["seconds"])
        cells.append((
            sites, f"{sum(row['proved'] for row in here)} of {len(here)}", priced, seconds(here[0]["total"]),
            f"{sum(row['nodes'] for row in here):,}", f"s = {slowest['size']}: {seconds(slowest['seconds'])}",
        ))  # fmt: skip
    shown = [row for row in rows if row["sites"] == 63 and row["size"] % 10 == 0 and row["size"]]
    shown += [row for row in rows if row["sites"] == 90 and row["size"] % 10 == 0 and 0 < row["size"] < 90]
    values = [(row["sites"], row["size"], f"{row['determinant']:.6f}", f"{row['gap']:.0e}") for row in shown]
    text = """All sizes from 0 to all sites in one call of `sizes`, without costs. "By prices" counts sizes proved by
        a price on each test: those at a corner of the concave envelope of the optimal values. The determinants of 63
        sites are the published optima."""
    header = ("sites", "proved", "by prices", "all sizes together", "nodes", "slowest")
    return "\n\n".join([
        "## Every size, without costs", paragraph(text), table(header, cells),
        table(("sites", "s", "largest log det C[S,S]", "gap"), values),
    ])  # fmt: skip


def alone(rows):
    cells = []
    for row in rows:
        closed = "proved" if row["plain gap"] < 1e-8 else f"gap {row['plain gap']:.2g}"
        loss = f"{row['spectral loss']:.2g}" if row["spectral loss"] > 1e-9 else "0"
        spectral = "proved" if row["spectral gap"] < 1e-6 else f"gap {row['spectral gap']:.2g}"
        cells.append((
            row["sites"], row["size"], seconds(row["seconds"]), f"{seconds(row['plain seconds'])}, {closed}",
            f"{seconds(row['spectral seconds'])}, {spectral}", loss,
        ))  # fmt: skip
    text = """`solve_subset(..., size=s)` puts a price on each test first; "branch and bound alone" is the same search
        with the size and without prices; "eigenvalues" is a best-first branch and bound in NumPy with the spectral
        bound and greedy with exchanges for a start. Gaps and losses are those of log det C[S,S] when the time was up.
        A Python branch and bound of the literature (MESPpy) is reported with 77 to 205 s for s = 10 of the 63 sites,
        436 to 948 s for s = 20, and more than an hour for s = 30, on another machine."""
    header = ("sites", "s", "prices, then branch and bound", "branch and bound alone", "eigenvalues", "its loss")
    return "\n\n".join(["## One size", paragraph(text), table(header, cells)])


def growing(rows):
    cells = []
    for row in rows:
        peer = ("–", "–", "–")
        if row["spectral"] is not None:
            state = "proved" if row["spectral gap"] < 1e-6 else f"stopped, gap {row['spectral gap']:.2g}"
            peer = (
                f"{seconds(row['spectral'])}, {state}",
                f"{row['spectral nodes']:,}",
                ratio(row["spectral"], row["proband"]),
            )
        cells.append((row["tests"], seconds(row["proband"]), row["nodes"], *peer))
    text = """The first d of the 63 sites with drawn costs: branch and bound with eigenvalues alone, as above, until it
        is not finished within its limit."""
    header = ("d", "proband", "nodes", "eigenvalues", "nodes", "ratio")
    return "\n\n".join(["## Growing numbers of tests, with costs", paragraph(text), table(header, cells)])


def all_sets(rows):
    cells = [
        (
            row["tests"], f"{2 ** row['tests']:,}", seconds(row["proband"]), seconds(row["NumPy"]),
            "–" if row["NumPy"] is None else ratio(row["NumPy"], row["proband"]),
        )
        for row in rows
    ]  # fmt: skip
    text = """`enumerate_values` against NumPy with all sets of one size in one call of `slogdet`; the values agree to
        1e-8."""
    header = ("d", "sets", "proband", "NumPy", "ratio")
    return "\n\n".join(["## The rewards of all sets", paragraph(text), table(header, cells)])


def hard(rows):
    cells = [
        (
            row["case"], row["size"], f"{row['value']:.4f}", "proved" if row["proved"] else f"{row['gap']:.2g}",
            f"{row['nodes']:,}", seconds(row["seconds"]),
        )
        for row in rows
    ]  # fmt: skip
    text = """One cost for all tests, in the middle of what they bring alone and given all others, on covariances made
        at random: many sets are nearly as good as the best. Where the time limit ends the search, the gap is what is
        certified. A field has sites in a unit square, correlations that fall off exponentially with the reach
        given, and a tenth of noise; k factors are L·Lᵀ + 1 with a d × k matrix of standard normal numbers."""
    header = ("case", "tests chosen", "value", "gap", "nodes", "time")
    return "\n\n".join(["## Where it gets hard", paragraph(text), table(header, cells)])


def first_call(kept):
    loading = f"{seconds(kept['first_call'])} to load what was compiled before"
    return loading if kept["compilation"] is None else f"{seconds(kept['compilation'])} to compile, {loading}"


def conditions(kept):
    about = kept["about"]
    lines = [
        f"* {about['date']}: {about['machine']}; load average before the run {about['load']}.",
        f"* {about['versions']}.",
        f"* First call of `solve_subset`, in no other figure: {first_call(kept)}.",
        "* Everything on one core. Times under half a second are the best of several calls.",
        "* Answers that are proved agree, and no set found by a peer exceeds a bound, or the run ends with an error.",
    ]
    return "## Conditions\n\n" + "\n".join(lines)


SECTIONS = {
    "priced": priced,
    "sizes": every_size,
    "alone": alone,
    "growing": growing,
    "all sets": all_sets,
    "hard": hard,
}
