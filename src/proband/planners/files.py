"""Plans of measured tests on disk, as JSON: the problem, the law, and what is needed to have the same plan again.

A Gaussian plan is a function on (tested set) × (posterior mean): as tables it would fill many megabytes, and it is
found again from the law within seconds, always the same one, so that its tolerance is kept and no table. The search
for the best set may take long, and its answer is small: it is kept with its certificate.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from typing import Any

from proband.distributions import Gaussian
from proband.errors import PolicyError
from proband.files import read_json
from proband.planners.gaussian.plan import GaussianPlan
from proband.planners.gaussian.planner import plan_gaussian
from proband.planners.options import Options
from proband.planners.subset.planner import SubsetPlan
from proband.planners.subset.solve import SubsetSolution
from proband.policies.files import check_format, read_policy, write_policy
from proband.problem import Problem
from proband.rewards import Entropy

GAUSSIAN, SETS = "proband gaussian policy", "proband set policy"
SCHEMA = 1

MeasuredPlan = GaussianPlan | SubsetPlan


def save_plan(plan: MeasuredPlan, path: str | os.PathLike[str]) -> None:
    """Write a plan."""
    write_policy(
        path,
        {
            "format": GAUSSIAN if isinstance(plan, GaussianPlan) else SETS,
            "schema": SCHEMA,
            "problem": plan.problem.to_dict(),
            "mean": plan.distribution.mean.tolist(),
            "covariance": plan.distribution.covariance.tolist(),
            **_own(plan),
        },
    )


def _own(plan: MeasuredPlan) -> dict[str, Any]:
    if isinstance(plan, GaussianPlan):
        options = {"tolerance": plan.options.tolerance, "max_tests": plan.options.max_tests}
        return {"value": plan.value, "error": plan.error, "options": options}
    chosen = [plan.problem.tests[i].name for i in plan.chosen]
    return {"solution": {**dataclasses.asdict(plan.solution), "chosen": chosen}}


def holds_plan(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is a plan of measured tests, as far as its format says."""
    try:
        content = read_json(path, PolicyError)
    except PolicyError:
        return False
    return isinstance(content, dict) and content.get("format") in (GAUSSIAN, SETS)


def load_plan(path: str | os.PathLike[str]) -> MeasuredPlan:
    """Read a plan; a Gaussian one is found again."""
    return read_policy(path, _built)


def _built(content: Mapping[str, Any]) -> MeasuredPlan:
    check_format(content, SETS if content.get("format") == SETS else GAUSSIAN, SCHEMA)
    problem = Problem.from_dict(content["problem"])
    law = Gaussian(content["mean"], content["covariance"])
    law.check(problem)
    if content["format"] == GAUSSIAN:
        options = content["options"]
        return plan_gaussian(problem, law, Options(tolerance=options["tolerance"], max_tests=options["max_tests"]))
    if not isinstance(problem.reward, Entropy):
        raise PolicyError(f"the reward is {type(problem.reward).__name__}; a best set is one of an entropy; plan again")
    found = content["solution"]
    figures = {"value": float(found["value"]), "bound": float(found["bound"])}
    chosen = tuple(sorted(problem.test_index(name) for name in found["chosen"]))
    return SubsetPlan(problem, law, SubsetSolution(**{**found, **figures, "chosen": chosen}))
