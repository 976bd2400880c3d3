"""``proband.fit``: the one call from past subjects to a plan and its value."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from proband.errors import PlanError, TableError
from proband.estimators.listed.boosting import MOST_OUTCOMES
from proband.fitting.choosing import Strength
from proband.fitting.cutpoints import check_numbers, choosing, with_cuts
from proband.fitting.fitted import Fit
from proband.fitting.grid import Grid
from proband.fitting.leaves import MOST_LABELS
from proband.fitting.notes import notes_on
from proband.fitting.recipe import ENGINES, Made, Recipe
from proband.fitting.smoothed import Limits
from proband.fitting.spreading import spread
from proband.planners.layout import layout_of
from proband.planners.options import Options
from proband.planners.progress import Report
from proband.planners.validation import Treated, Validation, by_folds
from proband.problem import Problem
from proband.rewards import Table
from proband.vocabulary import FloatArray, IntArray, Kind, Records

MOST_STATES = 2**21
"""States that are all solved, unless a planner is named."""

MIN_LEAF = 1
"""Subjects that each outcome of a test must have, or none."""


def fit(
    problem: Problem,
    records: Any,
    *,
    strength: float | None = None,
    max_tests: int | None = None,
    budget: float | None = None,
    min_leaf: int = MIN_LEAF,
    time_limit: float | None = None,
    method: str | None = None,
    folds: int = 5,
    validate: bool = True,
    jobs: Any = 1,
    seed: int = 0,
    progress: Report | None = None,
) -> Fit:
    """Return a plan made from past subjects, with a value that one can believe.

    Parameters
    ----------
    problem : Problem
        Its reward is a table of utilities.
    records : Records or table
        Past subjects: what :meth:`Problem.records` gives or takes.
    strength : float, optional
        Of the penalty of small leaves; by default chosen by cross-validation from 0 to infinity (no test at all).
    max_tests, budget : optional
        Most tests to run on a subject, most to pay for them.
    min_leaf : int
        A test is run where each of its outcomes was seen on so many subjects, or on none; not for a search.
    time_limit : float, optional
        Seconds for each plan, where a search makes it; by default 10.
    method : {"dense", "rollout", "sparse"}, optional
        All states solved, a tree grown on rows, or a search over rows; by default one of the first two, by size.
    folds : int, default 5
        Parts of the rows for the validation.
    validate : bool, default True
        Whether everything is done again without each fold, and without each two.
    jobs : int, str, concurrent.futures.Executor, joblib.Parallel or distributed.Client, default 1
        How many folds are worked on at a time, by threads; or who does it: processes, joblib, a Dask client or the
        address of its scheduler.
    seed : int, default 0
    progress : callable, optional
        Called after each plan with a :class:`~proband.planners.progress.Progress`.

    Examples
    --------
    >>> from proband.instances import bolts
    >>> instance = bolts()
    >>> rows = Records(instance.distribution.sample(np.random.default_rng(0), 300))
    >>> found = fit(instance.problem, rows, folds=3)
    >>> found.validation.plan.value.low < found.validation.plan.value.mean < found.in_sample
    True
    """
    _check(problem)
    given = records if isinstance(records, Records) else problem.records(records)
    rows = given.subjects
    _check_labels(problem, rows)
    check_numbers(problem, rows)
    engine = _engine(with_cuts(problem, rows), method, min_leaf)
    recipe = Recipe(problem, engine, strength, _limits(max_tests, budget, min_leaf, time_limit), seed)
    made = recipe.made(rows)
    seen = _validated(recipe, rows, folds, jobs, progress) if validate else None
    return _fit_of(recipe, made, given, rows, seen)


def _fit_of(recipe: Recipe, made: Made, given: Records, rows: FloatArray, seen: Validation | None) -> Fit:
    """Return what a recipe found."""
    plan, limits = made.plan(), recipe.limits
    plan.max_tests, plan.budget = limits.max_tests, limits.budget
    plan.explain_choice = made.engine.how
    outcomes = Records(made.coded(given.outcomes), given.counts)
    return Fit(
        problem=made.problem,
        records=outcomes,
        law=plan.distribution,
        plan=plan,
        strength=made.strength,
        in_sample=float(made.brought(rows)["plan"].value.mean()),
        validation=seen,
        notes=(*notes_on(made.problem, made.engine.grid, made.coded(rows)), *_on_limits(limits, len(rows))),
        made=made,
        repeat=partial(_again, recipe, given, outcomes, made),
        teach=partial(_taught, recipe, rows),
    )


def _on_limits(limits: Limits, n: int) -> list[str]:
    """Return what is to be said of limits that leave nothing to be run."""
    if limits.min_leaf <= 1 or 2 * limits.min_leaf <= n:
        return []
    left = "no test leaves so many on two sides, so that none is run that could show more than one outcome"
    return [f"min_leaf is {limits.min_leaf:,}, and there are {n:,} rows: {left}"]


def _limits(max_tests: int | None, budget: float | None, min_leaf: int, time_limit: float | None) -> Limits:
    Options(max_tests=max_tests, budget=budget, time_limit=time_limit)  # which checks them
    if min_leaf < 1:
        raise PlanError(f"min_leaf is {min_leaf}; it must be 1 or more; give the number of subjects")
    made = Limits(max_tests, budget, min_leaf)
    return made if time_limit is None else replace(made, time_limit=time_limit)


def _again(
    recipe: Recipe,
    before: Records,
    coded: Records,
    made: Made,
    problem: Problem | None,
    records: Any,
) -> Fit:
    if records is None and problem is not None and _without_prices(problem) == _without_prices(made.problem):
        return _repriced(made, coded, problem)
    task = recipe.problem if problem is None else problem
    if isinstance(records, Records) and problem is None:
        task = made.problem
    if records is None:
        records = before if len(choosing(task)) else coded
    return _anew(recipe, task, records, made.strength.chosen)


def _taught(recipe: Recipe, rows: FloatArray, chosen: IntArray) -> tuple[Fit, FloatArray]:
    """Return what a recipe makes of some of the rows (n, d) alone, and all rows in its outcomes."""
    part = rows[chosen]
    made = recipe.made(part)
    return _fit_of(recipe, made, Records(part), part, None), made.coded(rows)


def _anew(recipe: Recipe, problem: Problem, records: Any, strength: float | None) -> Fit:
    limits = recipe.limits
    return fit(
        problem,
        records,
        strength=strength, max_tests=limits.max_tests, budget=limits.budget, min_leaf=limits.min_leaf,
        time_limit=limits.time_limit,
        method=recipe.engine, seed=recipe.seed, validate=False,
    )  # fmt: skip


def _without_prices(problem: Problem) -> Problem:
    """Return what is learned of a problem: prices do not matter for that."""
    free = [replace(test, cost=0.0, group=None, group_cost=None) for test in problem.tests]
    return replace(problem, tests=tuple(free))


def _repriced(made: Made, records: Records, problem: Problem) -> Fit:
    """Return the fit at other prices: nothing is learned anew."""
    engine, strength = copy.copy(made.engine), Strength(made.strength.chosen)
    engine.grid = Grid(problem)
    recipe = replace(made.recipe, problem=problem, strength=strength.chosen)
    return _fit_of(recipe, Made(recipe, problem, engine, strength), records, records.subjects, None)


def _validated(recipe: Recipe, rows: FloatArray, folds: int, jobs: Any, progress: Report | None) -> Validation:
    if folds < 3 or folds > len(rows):
        raise PlanError(
            f"folds is {folds}; there must be three or more, and at most as many as rows ({len(rows):,}); give another "
            "number, or more rows, or leave the validation out"
        )
    work = partial(treat, recipe, rows)
    scored, rng = np.ones(len(rows), dtype=np.bool_), np.random.default_rng(recipe.seed)
    with spread(jobs) as run:
        return by_folds(scored, work, folds=folds, rng=rng, progress=progress, run=run)


def treat(recipe: Recipe, rows: FloatArray, train: IntArray, parts: list[IntArray]) -> list[dict[str, Treated]]:
    """Make everything from some rows, and treat others."""
    made = recipe.made(rows[train])
    return [
        {name: (each.value, each.cost, each.tests) for name, each in made.brought(rows[part]).items()} for part in parts
    ]


def _engine(problem: Problem, method: str | None, min_leaf: int) -> str:
    if method == "sparse" and min_leaf > 1:
        raise PlanError(
            f"min_leaf is {min_leaf}, and a search over rows knows no such limit; leave min_leaf out, or the method: "
            "trees that are grown, and plans of all states, keep it"
        )
    if method is None:
        return "dense" if layout_of(problem).n_states <= MOST_STATES else "rollout"
    if method not in ENGINES:
        raise PlanError(f"method is {method!r}; fits are made by {', '.join(ENGINES)}; choose one, or leave it out")
    return method


def _check_labels(problem: Problem, rows: FloatArray) -> None:
    if np.isnan(rows[:, problem.targets]).any(axis=1).all():
        names = ", ".join(problem.tests[i].name for i in problem.targets)
        raise TableError(
            f"no row has a label ({names}), so that nothing tells what is to be decided; a fit needs rows with labels; "
            "fill in what became of these subjects"
        )


def _check(problem: Problem) -> None:
    """Raise for rewards that cannot be fitted, with the remedy."""
    if problem.kind is not Kind.LISTED or not isinstance(problem.reward, Table):
        raise PlanError(
            f"the reward is {type(problem.reward).__name__}; a fit needs a table of utilities over a target, or a few; "
            "write the reward as a table, or plan with proband.plan (proband plan --data)"
        )
    labels = math.prod(problem.tests[i].k for i in problem.targets)
    if labels > MOST_LABELS:
        raise PlanError(
            f"the targets have {labels} outcomes together; a fit learns up to {MOST_LABELS}; name fewer targets, or "
            "plan with proband.plan (proband plan --data)"
        )
    for i, test in enumerate(problem.tests):
        if i not in problem.targets and not test.choose_cuts and test.k > MOST_OUTCOMES:
            raise PlanError(
                f"test {test.name!r} has {test.k} outcomes; a fit tells up to {MOST_OUTCOMES} of a test apart; put "
                "outcomes together, or plan with proband.plan (proband plan --data)"
            )
