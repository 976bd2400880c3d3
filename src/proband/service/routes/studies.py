"""Studies: list, begin, look at, fill with past records, restart."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Annotated, Any

from fastapi import Query

from proband.errors import AgentError, StudyExistsError, TamperedError
from proband.problem import Problem
from proband.service import replies, requests
from proband.service.access.tokens import Caller, Role
from proband.service.problems import Answer
from proband.service.routes.common import (
    Engineer,
    Key,
    Limit,
    Service,
    StudyName,
    Viewer,
    check_addressed,
    lent,
    page,
    router,
)
from proband.studies import Event, Study
from proband.studies.events.imported import past_records
from proband.studies.ledger.chain import unseal
from proband.studies.stores.contract import Entry, Lists, Store
from proband.studies.stores.entries import BESIDE, names_of_studies

routes = router("studies")

LISTED = 100
"""Studies that are asked for at a time: some may not be for the caller."""


@routes.get("/studies", response_model=replies.Page[replies.StudyOut])
async def list_studies(
    service: Service,
    caller: Viewer,
    after: Annotated[str, Query(max_length=500, description="Only studies whose name comes later.")] = "",
    limit: Limit = 100,
    search: Annotated[str, Query(max_length=500, description="Part of the name, in any case.")] = "",
) -> Answer:
    """List the studies that the caller may see, sorted by name."""
    wanted, store = search.casefold(), service.desk.store

    def look() -> list[dict[str, Any]]:
        if wanted or not isinstance(store, Lists):
            seen = (name for name in names_of_studies(store) if name > after and wanted in name.casefold())
            glances = (glance(store, name) for name in filter(caller.sees, seen))
        else:
            glances = (_glanced(*each) for each in _listed(store, after, limit + 1) if caller.sees(each[0]))
        return list(islice(glances, limit + 1))

    return Answer(page(await service.desk.run(look), limit, lambda item: item["study"]))


@routes.post("/studies", status_code=201, response_model=replies.StudyDetail)
async def create_study(service: Service, caller: Engineer, given: requests.NewStudy, key: Key = None) -> Answer:
    """Begin a study of a problem, which is given as the text of its file; past records are learned at once.

    With an idempotency key, a study that is there already with the same content is answered like a new one.
    """
    desk = service.desk
    name, new = await desk.run(
        partial(_create, desk.store, caller, given, repeated=key is not None), seconds=desk.limits.long_seconds
    )
    if new:
        desk.begun(name)
    return Answer(await desk.ask(name, describe), 201)


@routes.get("/studies/{study}", response_model=replies.StudyDetail)
async def show_study(service: Service, caller: Viewer, study: StudyName) -> Answer:
    """Return what a study is about."""
    return Answer(await service.desk.ask(study, describe))


@routes.get("/studies/{study}/summary", response_model=replies.SummaryOut)
async def summarise(
    service: Service,
    caller: Viewer,
    study: StudyName,
    exploration: Annotated[bool, Query(description="Say what is still to be explored, which needs a plan.")] = True,
    drift: Annotated[bool, Query(description="Check for drift, which looks at every outcome.")] = True,
) -> Answer:
    """Return a study at a glance: costs over time, tests saved, decisions, what is to be explored, drift."""
    work = partial(Study.summary, exploration=exploration, drift=drift)
    return Answer((await service.desk.call(study, work)).to_dict())


@routes.post("/studies/{study}/records", response_model=replies.LearnedOut)
async def learn_from_records(
    service: Service, caller: Engineer, study: StudyName, given: requests.Past, key: Key = None
) -> Answer:
    """Learn from past records; the same table again adds nothing."""

    def learn(live: Study) -> dict[str, int]:
        learned = live.learn_from(given.table(), source=given.source, sheet=given.sheet, key=key)
        return {"added": int(learned), "recognised": learned.recognised}

    return Answer(await service.desk.write(study, learn, actor=caller.user, station=None))


@routes.post("/studies/{study}/restart", response_model=replies.Done)
async def restart(
    service: Service, caller: Engineer, study: StudyName, given: requests.Restart, key: Key = None
) -> Answer:
    """Start learning afresh from here on; everything stays in the log."""
    work = partial(Study.restart, reason=given.reason, key=key)
    await service.desk.write(study, work, actor=caller.user, station=None)
    return Answer({"done": True})


def glance(store: Store, name: str) -> dict[str, Any]:
    """Return how a study began and what happened last in it, from its log, without opening it."""
    first, last = (store.read(name, number - 1, 1)[0] for number in (1, store.length(name)))
    return _glanced(name, first, last)


def _glanced(name: str, first: Entry, last: Entry) -> dict[str, Any]:
    begun, ended = _event(first), _event(last)
    data = {} if begun is None else begun.data
    return {
        "study": name, "events": last.number, "agent": data.get("agent"), "created": data.get("created"),
        "last": None if ended is None else {field: getattr(ended, field) for field in replies.LastOut.model_fields},
    }  # fmt: skip


def _listed(store: Lists, after: str, limit: int) -> Iterator[tuple[str, Entry, Entry]]:
    """Yield studies after a name, some at a time; what stands beside them is none."""
    while some := store.listed(after, max(limit, LISTED)):
        yield from (each for each in some if not each[0].startswith(BESIDE))
        after = some[-1][0]


def _event(entry: Entry) -> Event | None:
    try:
        return unseal(entry)
    except TamperedError:  # whoever opens the study is told
        return None


def describe(study: Study) -> dict[str, Any]:
    """Return what a study is about."""
    summary = study.summary(exploration=False, drift=False)
    about = {name: getattr(summary, name) for name in ("study", "agent", "created", "events", "hash")}
    outcomes = {test.name: None if test.measured else list(test.names) for test in study.problem.tests}
    return {**about, "problem": study.problem.to_dict(), "outcomes": outcomes}


def _create(store: Store, caller: Caller, given: requests.NewStudy, *, repeated: bool) -> tuple[str, bool]:
    """Begin a study and learn from past records; nothing is begun if anything given is wrong.

    Return its name, and whether it is new.
    """
    if given.agent is not None and ":" in given.agent:  # a request must not choose what is imported here
        raise AgentError(
            f"the agent is {given.agent!r}, a place; a request names an agent that is installed; let its package "
            "register it by an entry point of the group proband.agents"
        )
    with lent(given.problem, ".toml", "the problem") as path:
        problem = Problem.load(path)
    name = problem.name if given.name is None else given.name
    check_addressed("the name of the study", name)
    caller.check(Role.ENGINEER, name)
    if given.past is not None:
        _check_past(given.past, problem)
    try:
        study = Study.create(
            problem, name=given.name, agent=given.agent, store=store, seed=given.seed, horizon=given.horizon,
            condition_number=given.condition_number, max_tests=given.max_tests, budget=given.budget, actor=caller.user,
            station=caller.user, replan="never",
        )  # fmt: skip
        new = True
    except StudyExistsError:
        if not repeated:
            raise
        study = Study.open(name, store=store, actor=caller.user, station=caller.user, replan="never")
        _check_same(study, problem, given)
        new = False
    with study:
        if given.past is not None:
            study.learn_from(given.past.table(), source=given.past.source, sheet=given.past.sheet)
    return name, new


def _check_past(given: requests.Past, problem: Problem) -> None:
    """Raise unless past records can be learned."""
    past_records(problem.records(given.table(), sheet=given.sheet), problem, given.source)


def _check_same(study: Study, problem: Problem, given: requests.NewStudy) -> None:
    """Raise unless a study that is there is the one that is asked for again."""
    said = next(iter(study.events(limit=1))).data
    asked = {"seed": given.seed, "horizon": given.horizon, "condition_number": given.condition_number}
    asked |= {"max_tests": given.max_tests, "budget": given.budget}
    same = said["problem"] == problem.to_dict() and all(said.get(name) == value for name, value in asked.items())
    if not same or given.agent not in (None, said["agent"]):
        raise StudyExistsError(
            f"there is a study {study.name!r} already, and it is another one; choose another name, or go on with it"
        )
