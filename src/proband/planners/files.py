"""Policies on disk, as JSON: one format for each kind of problem, one reader of all.

A tree of listed outcomes is kept whole. A Gaussian plan is a function on (tested set) × (posterior mean): as tables it
would fill many megabytes, and it is found again from the law within seconds, always the same one, so that its tolerance
is kept and no table. The search for the best set may take long, and its answer is small: it is kept with its
certificate.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from proband.distributions import Gaussian
from proband.errors import PolicyError
from proband.planners.choice import PLANNERS
from proband.planners.options import Options
from proband.planners.plans import Plan
from proband.planners.subset.plan import SubsetPlan
from proband.planners.subset.solution import SubsetSolution
from proband.policies.policy_files import check_format, read_policy, write_policy
from proband.policies.tree import FORMAT as TREE
from proband.policies.tree import Tree
from proband.problem import Problem
from proband.vocabulary import Kind

if TYPE_CHECKING:
    from proband.planners.gaussian.plan import GaussianPlan

GAUSSIAN, SETS = "proband gaussian policy", "proband set policy"
SCHEMA = 1


def save_policy(policy: Plan | Tree, path: str | os.PathLike[str]) -> None:
    """Write a plan, or a tree that was made of one."""
    content = policy.to_dict() if isinstance(policy, Tree) else WRITERS[policy.problem.kind](policy)
    write_policy(path, content)


def load_policy(path: str | os.PathLike[str]) -> Plan | Tree:
    """Read a policy file: a tree, or the plan of measured tests that it tells of."""
    return read_policy(path, lambda content: READERS.get(content.get("format"), Tree.from_dict)(content))


def _of_scores(plan: GaussianPlan) -> dict[str, Any]:
    _check_method(plan, "gaussian")
    options = {"tolerance": plan.options.tolerance, "max_tests": plan.options.max_tests}
    return {**_head(plan, GAUSSIAN), "value": plan.value, "error": plan.error, "options": options}


def _of_set(plan: SubsetPlan) -> dict[str, Any]:
    _check_method(plan, "subset")
    chosen = [plan.problem.tests[i].name for i in plan.chosen]
    return {**_head(plan, SETS), "solution": {**dataclasses.asdict(plan.solution), "chosen": chosen}}


def _check_method(plan: Plan, method: str) -> None:
    if plan.method != method:
        raise PolicyError(
            f"the plan is one of {plan.method!r}; for {plan.problem.kind.value} files hold those of {method!r} alone; "
            f"plan with method={method!r}, or keep the plan in your program"
        )


def _head(plan: GaussianPlan | SubsetPlan, name: str) -> dict[str, Any]:
    return {
        "format": name,
        "schema": SCHEMA,
        "problem": plan.problem.to_dict(),
        "mean": plan.distribution.mean.tolist(),
        "covariance": plan.distribution.covariance.tolist(),
    }


def _scores(content: Mapping[str, Any]) -> Plan:
    check_format(content, GAUSSIAN, SCHEMA)
    problem, law = _given(content)
    options = content["options"]
    return PLANNERS["gaussian"](problem, law, Options(tolerance=options["tolerance"], max_tests=options["max_tests"]))


def _set(content: Mapping[str, Any]) -> Plan:
    check_format(content, SETS, SCHEMA)
    problem, law = _given(content)
    if problem.kind is not Kind.SETS:
        raise PolicyError(f"the reward is {type(problem.reward).__name__}; a best set is one of an entropy; plan again")
    found = content["solution"]
    figures = {"value": float(found["value"]), "bound": float(found["bound"])}
    chosen = tuple(sorted(problem.test_index(name) for name in found["chosen"]))
    return SubsetPlan(problem, law, SubsetSolution(**{**found, **figures, "chosen": chosen}))


def _given(content: Mapping[str, Any]) -> tuple[Problem, Gaussian]:
    problem = Problem.from_dict(content["problem"])
    law = Gaussian(content["mean"], content["covariance"])
    law.check(problem)
    return problem, law


WRITERS: dict[Kind, Callable[[Any], dict[str, Any]]] = {
    Kind.LISTED: lambda plan: plan.tree().to_dict(),
    Kind.SCORES: _of_scores,
    Kind.SETS: _of_set,
}
READERS: dict[str | None, Callable[[Mapping[str, Any]], Plan | Tree]] = {
    TREE: Tree.from_dict,
    GAUSSIAN: _scores,
    SETS: _set,
}
