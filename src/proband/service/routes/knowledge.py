"""What was learned: the policy as a tree, what-if, and the report."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any, Protocol, runtime_checkable

import numpy as np
from fastapi import Query
from starlette.responses import HTMLResponse, Response

from proband.errors import MissingExtraError, StudyError
from proband.policies.nodes import Node
from proband.problem import Problem
from proband.service import replies, requests
from proband.service.problems import Answer
from proband.service.routes.common import Service, StudyName, Viewer, router
from proband.studies import Study, queries
from proband.vocabulary import FloatArray, IntArray, Policy

routes = router("knowledge")

REPORT_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"
"""A report is one file with its style and pictures in it; it runs nothing, and is nobody's page."""

MOST_APPRAISED = 2000
"""Nodes of a tree for which is worked out what the plan itself brings."""

_drawing = threading.Lock()


@runtime_checkable
class Appraises(Protocol):
    """A plan that says what following it brings."""

    def act(self, states: FloatArray) -> IntArray:
        """Return its action in each state (n, d), shape (n,)."""
        ...

    def values(self, states: FloatArray) -> FloatArray:
        """Return what it brings from each state (n, d) on, shape (n,)."""
        ...


@routes.get("/studies/{study}/tree", response_model=dict[str, Any])
async def policy_tree(
    service: Service,
    caller: Viewer,
    study: StudyName,
    depth: Annotated[int, Query(ge=1, le=12, description="Tests on a path, at most.")] = 6,
    subjects: Annotated[bool, Query(description="Count the finished subjects that fit each node.")] = False,
) -> Answer:
    """Return what was learned as a decision tree, as in a policy file: the plan, without its exploration.

    Each node has an action, its value, how probable it is that a subject comes there, and the alternatives: those of
    following the tree, cut at `depth`. `expected` is the value of following the plan itself, and where the tree is cut
    and the plan goes on, `goes_on` names its test; `position` is the event up to which was learned.
    """

    def look(live: Study) -> dict[str, Any]:
        drawn = queries.drawn(live, depth=depth)
        content = {**drawn.tree.to_dict(), "position": drawn.position}
        uncut(content["root"], drawn.tree.root, live.problem, drawn.plan)
        if subjects:
            count(content["root"], drawn.tree.root, live.records().outcomes)
        return content

    return Answer(await service.desk.call(study, look))


@routes.get("/studies/{study}/same-tests", response_model=replies.SameTestsOut)
async def same_tests(service: Service, caller: Viewer, study: StudyName) -> Answer:
    """Return the tests that newcomers get whatever they show, where the present policy is such a set."""

    def look(live: Study) -> dict[str, Any]:
        tests, problem = live.same_tests(), live.problem
        if tests is None:
            return {"tests": None, "cost": None, "everything": False}
        run = [problem.test_index(test) for test in tests]
        return {
            "tests": tests,
            "cost": problem.prices.of(run),
            "everything": set(run) == set(problem.operable.tolist()),
        }

    return Answer(await service.desk.call(study, look))


@routes.post("/studies/{study}/what-if", response_model=replies.AdviceOut)
async def what_if(service: Service, caller: Viewer, study: StudyName, given: requests.Hypothesis) -> Answer:
    """Return what the present policy would advise for a newcomer of whom this much were known; nothing is written."""
    return Answer((await service.desk.ask(study, partial(Study.what_if, known=given.known))).to_dict())


@routes.get("/studies/{study}/report", response_class=HTMLResponse)
async def report(service: Service, caller: Viewer, study: StudyName) -> Response:
    """Return the report: costs over time, tests saved, what was learned, decisions, drift. One HTML file."""
    text = await service.desk.call(study, _report)
    return HTMLResponse(text, headers={"Content-Security-Policy": REPORT_POLICY})


def count(content: dict[str, Any], node: Node, rows: FloatArray) -> None:
    """Write into a tree's structure how many of the given outcome vectors (n, d) fit each node."""
    content["subjects"] = len(rows)
    for b, (below, child) in enumerate(zip(content.get("children", {}).values(), node.children, strict=True)):
        count(below, child, rows[rows[:, node.action] == b])


def uncut(content: dict[str, Any], root: Node, problem: Problem, plan: Policy) -> None:
    """Write into a tree's structure what following the plan itself brings from each node, and how it goes on."""
    places = list(_places(content, root, problem.state(), problem))
    if not isinstance(plan, Appraises) or len(places) > MOST_APPRAISED:
        return
    states = np.array([state for _, _, state in places])
    actions, values = plan.act(states), plan.values(states)
    for (below, node, _), action, value in zip(places, actions.tolist(), values.tolist(), strict=True):
        below["expected"] = value
        if node.action >= problem.d > action:
            below["goes_on"] = problem.tests[action].name


def _places(
    content: dict[str, Any], node: Node, state: FloatArray, problem: Problem
) -> Iterator[tuple[dict[str, Any], Node, FloatArray]]:
    """Yield every node of a tree with its structure and its state."""
    yield content, node, state
    if node.children:
        parts = zip(content["children"].values(), node.children, problem.after(state, node.action), strict=True)
        for below, child, after in parts:
            yield from _places(below, child, after, problem)


def _report(study: Study) -> str:
    try:
        from proband.figures import study_report
    except ImportError as error:
        raise MissingExtraError("a report needs pictures; install proband[figures] where the service runs") from error
    try:
        tree = study.tree(depth=4)
    except (StudyError, ValueError):
        tree = None
    with _drawing:
        return study_report(study.summary(), tree=tree)
