"""Gaussian plans on disk: the problem, the law and the tolerance, as JSON; reading one plans again.

A plan of measured tests is a function on (tested set) × (posterior mean): as tables it would fill many megabytes, and
it is found again from the law within seconds, always the same one.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from proband import problem_files
from proband.distributions import Gaussian
from proband.errors import PolicyError, ProbandError
from proband.files import read_json
from proband.planners.gaussian.plan import GaussianPlan
from proband.planners.gaussian.planner import plan_gaussian
from proband.planners.options import Options
from proband.problem import Problem

FORMAT = "proband gaussian policy"
SCHEMA = 1


def save_plan(plan: GaussianPlan, path: str | os.PathLike[str]) -> None:
    """Write a plan."""
    problem = plan.problem
    fields = problem_files.Fields(problem.tests, problem.decisions, problem.reward, problem.name, problem.unit)
    content = {
        "format": FORMAT,
        "schema": SCHEMA,
        "problem": problem_files.to_dict(fields),
        "mean": plan.distribution.mean.tolist(),
        "covariance": plan.distribution.covariance.tolist(),
        "value": plan.value,
        "error": plan.error,
        "options": {"tolerance": plan.options.tolerance, "max_tests": plan.options.max_tests},
    }
    Path(path).write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def holds_plan(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is a Gaussian plan, as far as its format says."""
    try:
        content = read_json(path, PolicyError)
    except PolicyError:
        return False
    return isinstance(content, dict) and content.get("format") == FORMAT


def load_plan(path: str | os.PathLike[str]) -> GaussianPlan:
    """Read a plan and find it again."""
    content: dict[str, Any] = read_json(path, PolicyError)
    try:
        if content.get("format") != FORMAT or content.get("schema") != SCHEMA:
            raise PolicyError(
                f"format is {content.get('format')!r}, schema {content.get('schema')!r}; this version reads "
                f"{FORMAT!r}, schema {SCHEMA}; write the policy again"
            )
        fields = problem_files.from_dict(content["problem"])
        problem = Problem(fields.tests, fields.decisions, fields.reward, name=fields.name, unit=fields.unit)
        options = Options(tolerance=content["options"]["tolerance"], max_tests=content["options"]["max_tests"])
        with np.errstate(divide="raise", over="raise", invalid="raise"):  # numbers that no plan was made with
            return plan_gaussian(problem, Gaussian(content["mean"], content["covariance"]), options)
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError) as error:
        detail = error if isinstance(error, ProbandError) else f"{type(error).__name__}: {error}"
        raise PolicyError(f"{path}: it is no policy ({detail}); give a file that proband wrote") from error
