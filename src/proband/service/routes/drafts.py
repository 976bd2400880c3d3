"""Before a study begins: a draft of its problem from past records, and what is wrong with what was written."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from proband.agents import agents_for, default_agent
from proband.drafting import draft
from proband.errors import MissingExtraError, TableError
from proband.problem import Problem
from proband.service import replies, requests
from proband.service.access.tokens import Caller, Role
from proband.service.problems import Answer
from proband.service.routes.common import Engineer, Service, lent, router
from proband.studies.events.imported import past_records
from proband.studies.stores.contract import Store
from proband.texts import escaped

routes = router("studies")


@routes.post("/check", response_model=replies.CheckedOut)
async def check_study(service: Service, caller: Engineer, given: requests.Unborn) -> Answer:
    """Say what a study of this problem would be, or what is wrong with it; nothing is begun."""
    work = partial(_checked, service.desk.store, caller, given)
    return Answer(await service.desk.run(work, seconds=service.limits.long_seconds))


@routes.post("/draft", response_model=replies.DraftOut)
async def draft_problem(service: Service, caller: Engineer, given: requests.Undrafted) -> Answer:
    """Draft a problem file from past records: tests, outcomes, decisions, every doubt; prices are to be filled in."""

    def work() -> dict[str, Any]:
        found = replace(draft(given.table(), label=given.label, sheet=given.sheet), source=escaped(given.source))
        return {"problem": found.text, "label": found.label.name, "doubts": found.all_doubts}

    return Answer(await service.desk.run(work, seconds=service.limits.long_seconds))


def _checked(store: Store, caller: Caller, given: requests.Unborn) -> dict[str, Any]:
    with lent(given.problem, ".toml", "the problem") as path:
        problem = Problem.load(path)
    name = problem.name if given.name is None else given.name
    if name:
        caller.check(Role.ENGINEER, name)
    return {
        "name": name, "exists": name in store.studies(), "tests": problem.d, "decisions": list(problem.decisions),
        "agents": [agent for agent in agents_for(problem) if agent != "clairvoyant"], "agent": default_agent(problem),
        **({"past": None, "mistake": None} if given.past is None else _past(given.past, problem)),
    }  # fmt: skip


def _past(given: requests.Past, problem: Problem) -> dict[str, Any]:
    """Return how many past subjects there are, or what is wrong with them: the problem is right all the same."""
    try:
        records = problem.records(given.table(), sheet=given.sheet)
        past_records(records, problem, given.source)
    except (TableError, MissingExtraError) as error:
        return {"past": None, "mistake": str(error)}
    return {"past": int(records.counts.sum()), "mistake": None}
