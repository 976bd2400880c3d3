"""What was learned: the policy as a tree, what-if, and the report."""

from __future__ import annotations

import threading
from functools import partial
from typing import Annotated, Any

from fastapi import Query
from starlette.responses import HTMLResponse, Response

from proband.errors import MissingExtraError, StudyError
from proband.service import replies, requests
from proband.service.problems import Answer
from proband.service.routes.common import Service, StudyName, Viewer, router
from proband.studies import Study

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
) -> Answer:
    """Return what was learned as a decision tree, as in a policy file: the plan, without its exploration.

    Each node has an action, its value, how probable it is that a subject comes there, and the alternatives.
    """
    tree = await service.desk.call(study, partial(Study.tree, depth=depth))
    return Answer(tree.to_dict())


@routes.post("/studies/{study}/what-if", response_model=replies.AdviceOut)
async def what_if(service: Service, caller: Viewer, study: StudyName, given: requests.Hypothesis) -> Answer:
    """Return what the present policy would advise for a newcomer of whom this much were known; nothing is written."""
    return Answer((await service.desk.ask(study, partial(Study.what_if, known=given.known))).to_dict())


@routes.get("/studies/{study}/report", response_class=HTMLResponse)
async def report(service: Service, caller: Viewer, study: StudyName) -> Response:
    """Return the report: costs over time, tests saved, what was learned, decisions, drift. One HTML file."""
    text = await service.desk.call(study, _report)
    return HTMLResponse(text, headers={"Content-Security-Policy": REPORT_POLICY})


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
