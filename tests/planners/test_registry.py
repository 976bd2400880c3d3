"""The kit runs on every planner of the registry."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from proband import Discrete, Problem, plan
from proband.errors import MissingExtraError, PlanError
from proband.planners import PLANNERS
from proband.planners.options import kinds_of
from proband.testing import check_planner
from proband.vocabulary import Kind

LISTED = [name for name in PLANNERS if Kind.LISTED in kinds_of(PLANNERS[name])]
EXACT = {"dense", "gpu"}
"""Best in every state; the search is best from arrival on (``test_sparse.py``) and has no plan for other states."""

REFUSING_A_MATCH = {"rollout": ("table", "function")}
"""Rewards of those who do not plan for a match."""


@pytest.mark.parametrize("method", LISTED)
def test_the_kit_on_every_planner(method: str, problem: Problem, law: Discrete) -> None:
    planner = functools.partial(plan, method=method)
    try:
        planner(problem, law)
    except MissingExtraError as missing:
        pytest.skip(str(missing))
    for kind in REFUSING_A_MATCH.get(method, (None,)):
        check_planner(planner, np.random.default_rng(11), instances=25, exact=method in EXACT, kind=kind)


@pytest.mark.parametrize("method", LISTED)
def test_a_plan_knows_how_it_was_made(method: str, problem: Problem, law: Discrete) -> None:
    try:
        made = plan(problem, law, method=method)
    except MissingExtraError as missing:
        pytest.skip(str(missing))
    assert made.method
    assert made.explain_choice == "asked for by name"
    assert made.gap >= -1e-12
    assert plan(problem, law).explain_choice


@pytest.mark.parametrize(
    ("options", "fragments"),
    [
        ({"method": "guess"}, ("method is 'guess'", "dense", "choose one")),
        ({"device": "tpu"}, ("device is 'tpu'", "cpu and gpu")),
        ({"method": "dense", "max_tests": 2}, ("max_tests is 2", "sparse")),
        ({"method": "dense", "budget": 2.0}, ("budget is 2.0", "sparse")),
        ({"method": "dense", "max_tests": -1}, ("max_tests is -1", "0 or more")),
        ({"method": "dense", "max_tests": 1.5}, ("max_tests is 1.5", "a whole number")),
        ({"method": "dense", "memory_limit": float("nan")}, ("memory_limit is nan", "0 or more")),
        ({"method": "dense", "time_limit": -1.0}, ("time_limit is -1.0", "0 or more")),
        ({"method": "lookahead", "steps": 0}, ("steps is 0", "1 or more")),
    ],
)
def test_wishes_that_cannot_be_met(
    problem: Problem, law: Discrete, options: dict[str, object], fragments: tuple[str, ...]
) -> None:
    with pytest.raises(PlanError) as caught:
        plan(problem, law, **options)  # type: ignore[arg-type]
    for fragment in fragments:
        assert fragment in str(caught.value)
