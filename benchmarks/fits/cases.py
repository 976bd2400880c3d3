"""Laws that are known, and what a fit to a table drawn from one says and brings."""

import numpy as np

import proband
from proband import Discrete, Problem, Records, Test
from proband.instances import INSTANCES
from proband.rewards import Table

FOLDS = 5
CASES = [("bolts", 200), ("bolts", 2000), ("gout", 200), ("gout", 600), ("classes", 200), ("classes", 1000)]
"""Laws and numbers of rows."""


def classes(seed=14, d=7):
    """Return a law of two classes, drawn at random, in each of which the outcomes of d tests are independent."""
    rng = np.random.default_rng(seed)
    tests = [Test(f"t{i}", float(rng.uniform(0.05, 0.4))) for i in range(d)]
    reward = Table(["label"], [[2.0, -1.0], [-10.0, -1.0]])
    problem = Problem([*tests, Test("label", available=False)], ["ship", "scrap"], reward)
    chances, grid = rng.dirichlet(np.full(2, 1.5), size=(2, d)), np.indices((2,) * d).reshape(d, -1).T
    mass = [share * np.prod(chances[y, np.arange(d), grid], axis=1) for y, share in enumerate((0.75, 0.25))]
    rows = [np.column_stack([grid, np.full(len(grid), y)]) for y in (0, 1)]
    return problem, Discrete.from_weights(np.vstack(rows), np.concatenate(mass))


def law_of(name):
    if name == "classes":
        return classes()
    instance = INSTANCES[name]()
    return instance.problem, instance.distribution


def one(case):
    """Fit one table: what is said of it, and what is true."""
    name, n, seed = case
    problem, truth = law_of(name)
    records = Records(truth.sample(np.random.default_rng([seed, n, 77]), n))
    found = proband.fit(problem, records, folds=FOLDS, seed=seed)
    raw = proband.plan(problem, Discrete.from_records(records))
    seen = found.validation.plan.value
    return {
        "law": name, "rows": n, "seed": seed,
        "in_sample": found.in_sample, "mean": seen.mean, "low": seen.low, "high": seen.high,
        "true": proband.evaluate(problem, truth, found.plan).value, "strength": found.strength.chosen,
        "raw_in_sample": raw.value, "raw_true": proband.evaluate(problem, truth, raw).value,
        "best": proband.plan(problem, truth).value,
    }  # fmt: skip
