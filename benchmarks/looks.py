"""How far cheaper looks could lead: a sum over the measured learning curves of explore-then-commit.

Run with ``make bench-looks``: nothing is simulated, ``docs/experiments/many-tests.csv`` is read. For each law the mean
regrets of regularised explore-then-commit with n complete subjects tell the curve g(n), what a subject loses after
them; ``test-everything`` tells what a complete subject costs. Then: what would be lost if a look taught as much as a
complete subject does and cost less, with the best number of looks in hindsight (all at the beginning, which is best
where T is known), or with the best power of t in hindsight (for whom T is not known)? Results go to
``docs/benchmarks/looks.md``.
"""

import argparse
import csv
from pathlib import Path

import numpy as np

from benchmarks.text import paragraph, table
from proband.instances import many_tests

ROOT = Path(__file__).parents[1]
MEASURED = ROOT / "docs" / "experiments" / "many-tests.csv"
FAMILY = "regularised-"
LEAST = 8
"""Tests of a look of the agent, beside the label, at least."""
HORIZONS = (10_000, 100_000)
LOOKS = np.unique(np.round(np.geomspace(50, 20_000, 600)))


def regrets(path):
    """Return T, and by law the mean regret of each agent."""
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = {}
    for row in rows:
        found.setdefault(row["table"], {})[row["agent"]] = float(row["mean"])
    return int(rows[0]["horizon"]), found


def curve(horizon, means):
    """Return what a complete subject costs, the exponent of the learning curve, and the curve at :data:`LOOKS`."""
    price = means["test-everything"] / horizon
    numbers = np.array(sorted(int(name.removeprefix(FAMILY)) for name in means if name.startswith(FAMILY)))
    lost = np.array([(means[f"{FAMILY}{n}"] - price * n) / (horizon - n) for n in numbers])
    lost = np.minimum.accumulate(lost)
    slope = np.polyfit(np.log(numbers), np.log(lost), 1)[0]
    at = np.exp(np.interp(np.log(LOOKS), np.log(numbers), np.log(lost)))
    return price, -slope, at * np.minimum(1, (numbers[-1] / LOOKS) ** -slope)


def committing(horizon, price, lost):
    """Return the regret with the best number of looks, all at the beginning."""
    return (price * LOOKS + (horizon - LOOKS) * lost).min()


def looking_on(horizon, price, lost, exponent):
    """Return the regret where a·t^(1/(1+β)) of t subjects were looks, at least 50, with the best a."""
    t, best = np.geomspace(1, horizon, 4000), np.inf
    for a in np.geomspace(0.3, 60, 80):
        looks = np.minimum(t, np.maximum(a * t ** (1 / (1 + exponent)), LOOKS[0]))
        here = np.interp(np.log(looks), np.log(LOOKS), np.log(lost))
        lose = np.where(looks < LOOKS[0], price, np.exp(here))
        best = min(best, price * looks[-1] + np.trapezoid(lose, t))
    return best


def bought(problem):
    """Return how many tests beside the label a look of the agent has: as many as cost no more than it, but not all."""
    *tests, label = (test.cost for test in problem.tests)
    as_dear = int((np.cumsum(sorted(tests)) <= label).sum())
    return min(max(LEAST, as_dear), len(tests) - 1)


def row(name, horizon, means):
    """Return of a law the exponent, the tests of a look, the prices of three looks, and the ratios at each T."""
    problem = many_tests(name, size=1000).problem
    price, exponent, lost = curve(horizon, means)
    cost, label = float(sum(test.cost for test in problem.tests)), float(problem.tests[-1].cost)
    tests = bought(problem)
    prices = price, price - cost + label + tests * float(problem.tests[0].cost), price - cost + label
    ratios = []
    for T in HORIZONS:
        base = committing(T, price, lost)
        ratios += [committing(T, each, lost) / base for each in prices[1:]]
        ratios += [looking_on(T, each, lost, exponent) / base for each in prices]
    return exponent, tests, prices, ratios


def text(found):
    kinds = ["as bought, T known", "label, T known", "complete", "as bought", "label"]
    parts = [
        "# How far cheaper looks could lead",
        paragraph(
            "Regret over that of regularised explore-then-commit with the best length in hindsight, if a look taught "
            "as much as a complete subject does and cost what is said: everything, what the agent buys (the label and "
            "as many tests as cost no more), or the label alone, less what is earned because the label is known. *T "
            "known*: all looks at the beginning, as many as are best; otherwise a·t^(1/(1+β)) of the first t subjects "
            "are looks, with the best a in hindsight. The learning curve is the measured one "
            "([many-tests](../experiments/many-tests.md)); beyond 6,400 looks it falls with the exponent β. Nothing "
            "was simulated here. Looks that leave tests out teach less than is supposed, and both sides have the same "
            "estimate: a better one would help explore-then-commit, too."
        ),
    ]
    header = ["law", "β", "tests of a look", "price: complete", "as bought", "label", *kinds]
    for i, T in enumerate(HORIZONS):
        part = slice(5 * i, 5 * i + 5)
        cells = [
            [name, f"{exponent:.2f}", tests, *(f"{x:.3f}" for x in prices), *(f"{ratio:.2f}" for ratio in ratios[part])]
            for name, (exponent, tests, prices, ratios) in found.items()
        ]
        means = np.exp(np.mean([np.log(ratios[part]) for *_, ratios in found.values()], axis=0))
        cells.append(["geometric mean", "", "", "", "", "", *(f"{mean:.2f}" for mean in means)])
        parts += [f"## T = {T:,}", table(header, cells)]
    return "\n\n".join([*parts, "Command: `make bench-looks`."]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "benchmarks")
    arguments = parser.parse_args()
    horizon, measured = regrets(MEASURED)
    found = text({name: row(name, horizon, means) for name, means in measured.items()})
    arguments.to.mkdir(parents=True, exist_ok=True)
    (arguments.to / "looks.md").write_text(found)
    print(found)


if __name__ == "__main__":
    main()
