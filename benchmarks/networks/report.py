"""Write docs/benchmarks/networks.md, .csv and .png from the rows of a run."""

import csv

import numpy as np

from benchmarks.drawing import picture, ticks
from benchmarks.networks.runs import AGENTS, DELTA, EPSILON, HORIZON, LENGTHS, PATIENCE
from benchmarks.text import seconds, table
from proband.figures.agents import KNOWN
from proband.quantities import said

MARKS = {63: ("o", "-"), 90: ("s", "--")}
"""Networks differ in marks and dashes: a colour is an agent's."""


def write(folder, kept):
    """Write the three files; return whether all aims were met."""
    rows = kept["rows"]
    with (folder / "networks.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(key for row in rows for key in row)), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    draw(folder / "networks.png", rows)
    aims = list(criteria(rows))
    said = {True: "yes", False: "**no**"}
    sections = [
        INTRODUCTION,
        "## What was to be shown\n\n"
        + table(("", "aim", "this run", "met"), [(*what, said[bool(met)]) for *what, met in aims]),
        "## Regret\n\n" + regrets(rows),
        "## Certificates\n\n" + certificates(rows),
        conditions(kept),
    ]
    (folder / "networks.md").write_text("\n\n".join(sections) + "\n", encoding="utf-8")
    return all(met for *_, met in aims)


INTRODUCTION = f"""# Learning which sites of a network are worth their price

One run of `make bench-networks DATA=DIRECTORY`: rounds of measurements are drawn from the covariances of two
environmental monitoring networks of the literature, 63 and 90 sites (see [subset](subset.md) for their source; they
are not part of this repository). Costs are drawn evenly between the 20 % quantile of what sites bring given all
others and the 80 % quantile of what they bring alone; where the first is negative the measurements are given in smaller
units, which adds the same to all gains, so that no cost is. Nobody knows mean or covariance. T = {HORIZON:,} rounds.

![Regret of explore-then-commit against its length, beside thrifty](networks.png)"""


def of(rows, sites, agent):
    return np.array([row["regret"] for row in rows if row["sites"] == sites and row["agent"] == agent])


def best_length(rows, sites):
    """Return the exploration length with the least mean regret on these very runs."""
    return min(LENGTHS, key=lambda n: of(rows, sites, f"explore-{n}").mean())


def criteria(rows):
    for sites in (63, 90):
        length = best_length(rows, sites)
        ratio = of(rows, sites, "thrifty").mean() / of(rows, sites, f"explore-{length}").mean()
        aim = "at most half of explore-then-commit with its best length in hindsight"
        yield f"{sites} sites, thrifty", aim, f"{ratio:.2f} of it (N = {length})", ratio <= 0.5
        here = [row for row in rows if row["sites"] == sites and row["agent"] == "certify"]
        rounds = [row["rounds"] for row in here]
        shown = f"{sum(row['reached'] for row in here)} of {len(here)} runs, {min(rounds):,} to {max(rounds):,} rounds"
        aim = f"reached within {PATIENCE:,} rounds"
        yield f"{sites} sites, certify({EPSILON})", aim, shown, all(row["reached"] for row in here)


def regrets(rows):
    cells = []
    for agent in (*AGENTS, "test-everything"):
        cell = [agent]
        for sites in (63, 90):
            here = of(rows, sites, agent)
            spent = float(np.median([r["seconds"] for r in rows if r["sites"] == sites and r["agent"] == agent]))
            error = f" ± {here.std(ddof=1) / np.sqrt(len(here)):,.0f}" if len(here) > 1 else ""
            cell += [f"{here.mean():,.0f}{error}", seconds(spent) if spent else "–"]
        cells.append(cell)
    header = ("agent", "63 sites", "median time", "90 sites", "median time")
    count = len(of(rows, 63, "thrifty"))
    return (
        f"Mean over {count} runs (draws of costs × streams) and its standard error; median time of a run, planning "
        f"included.\n\n{table(header, cells)}"
    )


def certificates(rows):
    cells = []
    for sites in (63, 90):
        here = [row for row in rows if row["sites"] == sites and row["agent"] == "certify"]
        rounds, losses = [row["rounds"] for row in here], [row["loss"] for row in here]
        cells.append((
            sites, len(here), f"{np.median(rounds):,.0f}", f"{max(rounds):,}",
            f"{max(row['bound'] for row in here):.2f}",
            f"{np.mean(losses):.3f}", f"{max(losses):.3f}", sum(loss > EPSILON for loss in losses),
        ))  # fmt: skip
    header = (
        "sites", "runs", "median rounds", "most rounds", "largest bound", "mean true loss", "largest true loss",
        "wrong",
    )  # fmt: skip
    text = f"A set that is within {EPSILON} nats a round of the best, with probability {1 - DELTA:g}."
    return f"{text}\n\n{table(header, cells)}"


def conditions(kept):
    about = kept["about"]
    return (
        f"Seeds {about['seed']} onwards; none of them was used to choose anything. {about['jobs']} processes; "
        f"{about['machine']}; {about['versions']}; {about['date']}. All runs: [networks.csv](networks.csv)."
    )


def draw(path, rows):
    explore, thrifty = KNOWN["explore-then-commit"].colour, KNOWN["thrifty"].colour
    with picture(path, (6.4, 4.2)) as [ax]:
        for sites, (mark, dashes) in MARKS.items():
            means = [of(rows, sites, f"explore-{n}").mean() for n in LENGTHS]
            name = f"explore-then-commit, {sites} sites"
            ax.plot(LENGTHS, means, marker=mark, ls=dashes, color=explore, markersize=4, label=name)
        for sites, (_, dashes) in MARKS.items():
            regret = of(rows, sites, "thrifty").mean()
            ax.axhline(regret, color=thrifty, ls=dashes, label=f"thrifty, {sites} sites (has no such length)")
        ax.set(xscale="log", yscale="log", xlabel="rounds of exploration of explore-then-commit",
               ylabel=f"regret after {said(HORIZON, 5)} rounds (nats)")  # fmt: skip
        ticks(ax.xaxis, [50, 100, 200, 500, 1000, 2000])
        ticks(ax.yaxis, [2000, 5000, 10_000, 20_000, 50_000, 100_000])
        ax.legend(frameon=False, fontsize=8)
