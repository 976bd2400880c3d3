"""What was learned: the policy as a tree, what-if, and the report."""

from __future__ import annotations

import threading
from functools import partial
from typing import Annotated, Any

from fastapi import Query
from starlette.responses import HTMLResponse, Response

from proband.errors import MissingExtraError, StudyError
from proband.policies.nodes import Node
from proband.service import replies, requests
from proband.service.problems import Answer
from proband.service.routes.common import Service, StudyName, Viewer, router
from proband.studies import Study
from proband.vocabulary import FloatArray

routes = router("knowledge")

REPORT_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"
"""A report is one file with its style and pictures in it; it runs nothing, and is nobody's page."""

_drawing = threading.Lock()


@routes.get("/studies/{study}/tree", response_model=dict[str, Any])
async def policy_tree(
    service: Service,
    caller: Viewer,
    study: StudyName,
    depth: Annotated[int, Query(ge=1, le=12, description="Tests on a path, at most.")] = 6,
    subjects: Annotated[bool, Query(description="Count the finished subjects that fit each node.")] = False,
) -> Answer:
    """Return what was learned as a decision tree, as in a policy file: the plan, without its exploration.

    Each node has an action, its value, how probable it is that a subject comes there, and the alternatives.
    """

    def drawn(live: Study) -> dict[str, Any]:
        tree = live.tree(depth=depth)
        content = tree.to_dict()
        if subjects:
            count(content["root"], tree.root, live.records().outcomes)
        return content

    return Answer(await service.desk.call(study, drawn))


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
