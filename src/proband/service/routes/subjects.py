"""What operators do: arrive, ask, tell, decide, take over; and what is put right later: correct, void, reveal."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Query

from proband.errors import RequestError
from proband.service import replies
from proband.service.access.tokens import Caller
from proband.service.problems import Answer
from proband.service.requests import Arrival, Correction, Deciding, Revelation, Taking, Telling, Voiding
from proband.service.routes.common import (
    After,
    Key,
    Limit,
    Operator,
    Service,
    StudyName,
    SubjectName,
    Viewer,
    check_addressed,
    page,
    router,
)
from proband.service.state import State
from proband.studies import Study, Subject
from proband.studies.events.checks import LONGEST
from proband.studies.searching import Search

routes = router("subjects")
SUBJECT = "/studies/{study}/subjects/{subject}"
Text = Annotated[str | None, Query(max_length=LONGEST)]


async def searched(
    name: Annotated[str, Query(max_length=LONGEST, description="Part of their names.")] = "",
    status: Text = None,
    decision: Text = None,
    station: Text = None,
    test: Annotated[list[str] | None, Query(max_length=20, description="Tests ...")] = None,
    outcome: Annotated[
        list[str] | None, Query(max_length=20, description="... and what they showed, one each; empty: not run.")
    ] = None,
    sort: Annotated[str, Query(max_length=LONGEST, description="A column, or the name of a test.")] = "number",
    descending: bool = False,
) -> Search:
    """Return what subjects are looked for."""
    tests, outcomes = test or [], outcome or []
    if len(tests) != len(outcomes):
        raise RequestError(f"{len(tests)} tests and {len(outcomes)} outcomes are given; give one outcome for each test")
    shown = {each: what or None for each, what in zip(tests, outcomes, strict=True)}
    return Search(name, status, decision, station, shown, sort, descending)


Searched = Annotated[Search, Depends(searched)]


@routes.get("/studies/{study}/subjects", response_model=replies.Page[replies.SubjectOut])
async def list_subjects(
    service: Service,
    caller: Viewer,
    study: StudyName,
    open: Annotated[bool | None, Query(description="Only open ones, or only those that are not.")] = None,
    after: After = 0,
    limit: Limit = 100,
) -> Answer:
    """List subjects in the order of their arrival."""

    def look(live: Study) -> dict[str, Any]:
        found = live.subjects(open=open, after=after, limit=limit + 1)
        return page([subject.to_dict() for subject in found], limit, lambda item: item["number"])

    return Answer(await service.desk.ask(study, look))


@routes.get("/studies/{study}/find", response_model=replies.FoundOut)
async def find_subjects(
    service: Service,
    caller: Viewer,
    study: StudyName,
    search: Searched,
    skip: Annotated[int, Query(ge=0, lt=2**53)] = 0,
    limit: Limit = 100,
) -> Answer:
    """Find subjects by name, status, decision, station and what tests showed, in any order."""
    found = await service.desk.call(study, partial(Study.find, **vars(search), skip=skip, limit=limit))
    return Answer({"total": found.total, "items": [subject.to_dict() for subject in found.subjects]})


@routes.post("/studies/{study}/arrive", status_code=201, response_model=replies.SubjectOut)
async def arrive(service: Service, caller: Operator, study: StudyName, given: Arrival, key: Key = None) -> Answer:
    """Let a subject arrive, and bind it to the present policy."""
    check_addressed("the name of the subject", given.subject)
    work = partial(Study.arrive, known=given.known, subject=given.subject, key=key)
    return await _written(service, caller, study, given.station, work, status=201)


@routes.post("/studies/{study}/take", response_model=replies.SubjectOut)
async def take(service: Service, caller: Operator, study: StudyName, given: Taking, key: Key = None) -> Answer:
    """Take a subject over from another station: the named one, or the one that has waited longest."""
    work = partial(Study.take, subject=given.subject, at_once=given.at_once, key=key)
    return await _written(service, caller, study, given.station, work)


@routes.get(SUBJECT, response_model=replies.SubjectOut)
async def show_subject(service: Service, caller: Viewer, study: StudyName, subject: SubjectName) -> Answer:
    """Return a subject, as it now stands."""
    return Answer((await service.desk.ask(study, partial(Study.subject, name=subject))).to_dict())


@routes.get(f"{SUBJECT}/ask", response_model=replies.AdviceOut)
async def ask(service: Service, caller: Viewer, study: StudyName, subject: SubjectName) -> Answer:
    """Return what to do next with a subject, and why; nothing is written."""
    return Answer((await service.desk.ask(study, partial(Study.ask, subject=subject))).to_dict())


@routes.post(f"{SUBJECT}/tell", response_model=replies.SubjectOut)
async def tell(
    service: Service, caller: Operator, study: StudyName, subject: SubjectName, given: Telling, key: Key = None
) -> Answer:
    """Tell what tests showed, the advised ones or others; all of it is recorded, or none."""
    return await _written(
        service, caller, study, given.station, lambda live: live.tell(subject, given.outcomes, key=key)
    )


@routes.post(f"{SUBJECT}/decide", response_model=replies.DecisionOut)
async def decide(
    service: Service,
    caller: Operator,
    study: StudyName,
    subject: SubjectName,
    given: Deciding,
    key: Key = None,
) -> Answer:
    """Decide on a subject, and finish it; without a decision, the advised one or the best for what is known."""

    def work(live: Study) -> dict[str, Any]:
        decision = live.decide(subject, given.decision, key=key)
        return {"decision": decision, "subject": live.subject(subject).to_dict()}

    return Answer(await service.desk.write(study, work, actor=caller.user, station=given.station))


@routes.post(f"{SUBJECT}/correct", response_model=replies.SubjectOut)
async def correct(
    service: Service,
    caller: Operator,
    study: StudyName,
    subject: SubjectName,
    given: Correction,
    key: Key = None,
) -> Answer:
    """Correct an outcome that was told wrongly: a new event, the old one stays in the log."""
    work = partial(Study.correct, subject=subject, test=given.test, outcome=given.outcome, reason=given.reason, key=key)
    return await _written(service, caller, study, given.station, work)


@routes.post(f"{SUBJECT}/void", response_model=replies.SubjectOut)
async def void(
    service: Service, caller: Operator, study: StudyName, subject: SubjectName, given: Voiding, key: Key = None
) -> Answer:
    """Take a subject out of the study; it stays in the log, and counts no more."""
    work = partial(Study.void, subject=subject, reason=given.reason, key=key)
    return await _written(service, caller, study, given.station, work)


@routes.post(f"{SUBJECT}/reveal", response_model=replies.SubjectOut)
async def reveal(
    service: Service,
    caller: Operator,
    study: StudyName,
    subject: SubjectName,
    given: Revelation,
    key: Key = None,
) -> Answer:
    """Tell what came to light about a finished subject."""
    work = partial(Study.reveal, subject=subject, outcomes=given.outcomes, key=key)
    return await _written(service, caller, study, given.station, work)


async def _written(
    service: State,
    caller: Caller,
    study: str,
    station: str | None,
    work: Callable[[Study], Subject],
    *,
    status: int = 200,
) -> Answer:
    subject = await service.desk.write(study, work, actor=caller.user, station=station)
    return Answer(subject.to_dict(), status)
