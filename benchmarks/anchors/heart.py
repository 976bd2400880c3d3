"""Heart disease with Turney's prices: a fit beside the tree that FFTrees shows, on its split of 150 and 153 patients.

FFTrees weighs no prices, and no price of a mistake is published with its tree. So a mistake, of either kind, costs one
of several amounts here, all of which are shown: what a patient costs is what is paid for tests, and for mistakes. Fits
are those of `proband.fit` with its defaults, from training rows alone, cuts of numbers included.
"""

import csv

import numpy as np

import proband
from proband import Problem, Test
from proband.rewards import Table

MISTAKES = (200, 500, 1000, 2000, 5000)
"""What a wrong decision costs, in CAD."""
PRICES = {
    "age": 1.0, "sex": 1.0, "cp": 1.0, "trestbps": 1.0, "chol": 7.27, "fbs": 5.20, "restecg": 15.50, "thalach": 102.90,
    "exang": 87.30, "oldpeak": 87.30, "slope": 87.30, "ca": 100.90, "thal": 102.90,
}  # fmt: skip
"""CAD, by P. Turney for the UCI repository; each test by itself."""
OUTCOMES = {
    "sex": ("0", "1"), "cp": ("a", "aa", "np", "ta"), "fbs": ("0", "1"),
    "restecg": ("abnormal", "hypertrophy", "normal"), "exang": ("0", "1"), "slope": ("down", "flat", "up"),
    "ca": ("0", "1", "2", "3"), "thal": ("fd", "normal", "rd"), "diagnosis": ("healthy", "sick"),
}  # fmt: skip
"""What listed tests show; all others are numbers."""
PUBLISHED = {"right": 125, "patients": 153, "tests": 1.7, "cost": 123.0}


def read(path):
    """Return the columns of one part of the split."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    columns["diagnosis"] = ["sick" if said == "True" else "healthy" for said in columns["diagnosis"]]
    return columns


def problem_of(mistake):
    """Return the problem: tests at their prices, numbers to be cut by the fit, and what a wrong decision costs."""
    tests = [
        Test(name, price, outcomes=OUTCOMES[name]) if name in OUTCOMES else Test(name, price, choose_cuts=True)
        for name, price in PRICES.items()
    ]
    label = Test("diagnosis", outcomes=OUTCOMES["diagnosis"], available=False)
    payoff = -mistake * (1 - np.eye(2))
    return Problem([*tests, label], OUTCOMES["diagnosis"], Table(["diagnosis"], payoff))


def fitted(train, test, mistake, *, folds=5):
    """Return what a fit says of itself, and what it brings to the patients that it has not seen."""
    problem = problem_of(mistake)
    found = proband.fit(problem, problem.records(train), folds=folds)
    told = found.validation.plan.value
    ended = found.tree.run(found.problem.records(test).outcomes)
    said = [found.problem.action_name(action) for action in ended.actions.tolist()]
    own = brought(said, ended.costs, ended.tests, test["diagnosis"])
    paid, paid_before = lost(own, mistake), lost(frugal(test), mistake)
    ahead = paid_before - paid
    return {
        "mistake": mistake, "strength": found.strength.chosen, **summary(own), "total": float(paid.mean()),
        "told": [-told.mean, -told.high, -told.low], "frugal": float(paid_before.mean()),
        "ahead": float(ahead.mean()), "standard_error": float(ahead.std(ddof=1) / np.sqrt(len(ahead))),
    }  # fmt: skip


def frugal(columns):
    """Return what the published tree brings: thal, then cp, then ca, with a way out after each."""
    said, asked = [], []
    for thal, cp, ca in zip(*(columns[name] for name in ("thal", "cp", "ca")), strict=True):
        sick, steps = (True, 1) if thal != "normal" else (False, 2) if cp != "a" else (float(ca) > 0, 3)
        said.append("sick" if sick else "healthy")
        asked.append(steps)
    paid = np.cumsum([PRICES[name] for name in ("thal", "cp", "ca")])[np.array(asked) - 1]
    return brought(said, paid, asked, columns["diagnosis"])


def brought(said, paid, asked, labels):
    """Return for each patient whether the decision is right, what tests cost, and how many there were, shape (n, 3)."""
    right = [one == label for one, label in zip(said, labels, strict=True)]
    return np.column_stack([right, paid, asked]).astype(float)


def lost(each, mistake):
    """Return what each patient costs, tests and mistakes together."""
    return each[:, 1] + mistake * (1 - each[:, 0])


def summary(each):
    right, (_, cost, tests) = int(each[:, 0].sum()), each.mean(axis=0).tolist()
    return {"right": right, "patients": len(each), "tests": tests, "cost": cost}


def play(folder, mistakes=MISTAKES, *, folds=5):
    """Return the published tree gone again on the test rows, and fits by the price of a mistake."""
    train, test = read(folder / "heart-train.csv"), read(folder / "heart-test.csv")
    return {
        "frugal": summary(frugal(test)),
        "fits": [fitted(train, test, mistake, folds=folds) for mistake in mistakes],
    }
