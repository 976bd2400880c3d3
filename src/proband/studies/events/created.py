"""How a study begins: what its first event says, and the agent that follows from it.

This kind begins a log, and there is nothing yet that it could change; so it stands beside the others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from proband.errors import StudyError, shown
from proband.files import LARGEST_NUMBER, check_nesting
from proband.problem import Problem
from proband.studies.events import checks
from proband.studies.events.kind import Data
from proband.studies.ledger.chain import FORMAT, Event
from proband.studies.ledger.ledger import Ledger

if TYPE_CHECKING:  # agents bring the planners with them, which whoever only tells does not need
    from proband.agents import Agent

CREATED = "created"
PER_SUBJECT = ("max_tests", "budget")
"""Limits for each subject, which stand in a log only where they were given."""


def draft(
    problem: Problem,
    *,
    name: str | None,
    agent: str | None,
    seed: int,
    horizon: int | None,
    created: str,
    condition_number: float | None = None,
    max_tests: int | None = None,
    budget: float | None = None,
) -> Data:
    """Return the data of the event that creates a study, after checking that its agent can be made."""
    from proband.agents import default_agent

    chosen = default_agent(problem) if agent is None else agent
    data = {
        "format": FORMAT,
        "name": checks.text("the name of the study", problem.name if name is None else name),
        "problem": problem.to_dict(),
        "agent": chosen,
        "seed": _whole("seed", seed, 0),
        "horizon": None if horizon is None else _whole("horizon", horizon, 1, checks.MOST_SUBJECTS),
        "condition_number": None if condition_number is None else float(condition_number),
        "created": created,
    }
    if max_tests is not None:
        data["max_tests"] = _whole("max_tests", max_tests, 0, checks.MOST_SUBJECTS)
    if budget is not None:
        data["budget"] = _amount("budget", budget)
    make_agent(problem, data)
    return data


def make_agent(problem: Problem, creation: Mapping[str, Any]) -> Agent:
    """Return a new agent of a study, always the same one."""
    from proband.agents import Setting, build_agent

    settings = {name: creation[name] for name in ("horizon", "seed", "condition_number")}
    limits: dict[str, Any] = {name: creation.get(name) for name in PER_SUBJECT}
    return build_agent(creation["agent"], Setting(problem, **settings, **limits))


def read(event: Event) -> Ledger:
    """Return the ledger with which a study begins; raise unless its first event says what it must."""
    data = event.data
    check_nesting(data)
    for name in ("name", "agent", "created"):
        checks.written(data, name)
    _stated("seed", data["seed"], 0)
    if data["horizon"] is not None:
        _stated("horizon", data["horizon"], 1)
        if data["horizon"] > checks.MOST_SUBJECTS:
            raise ValueError(f"its horizon is {shown(data['horizon'])}; it must be at most {checks.MOST_SUBJECTS:,}")
    if data["condition_number"] is not None:
        checks.number("condition_number", data["condition_number"])
    if data.get("max_tests") is not None:
        _stated("max_tests", data["max_tests"], 0)
    if data.get("budget") is not None:
        checks.number("budget", data["budget"])
    if not isinstance(data["problem"], Mapping):
        raise TypeError(f"its problem is {shown(data['problem'])}; it must be a table")
    return Ledger.begun(data)


def expected(event: Event, study: str) -> Data:
    """Return what a direct call would have recorded."""
    data = event.data
    if event.kind != CREATED or data["name"] != study:
        raise StudyError(
            f"the log begins with {event.kind!r} of {data.get('name')!r}; it must begin with {CREATED!r} of {study!r}; "
            "export it again"
        )
    if ":" in data["agent"]:  # a file that somebody sent must not choose what is imported here
        raise StudyError(
            f"the study's agent is {shown(data['agent'])}, a place; a log from elsewhere names an agent that is "
            "installed; let its package register it by an entry point of the group proband.agents"
        )
    problem = Problem.from_dict(data["problem"], source="the study's problem")
    given = ("name", "agent", "seed", "horizon", "created", "condition_number")
    limits: dict[str, Any] = {name: data.get(name) for name in PER_SUBJECT}
    return draft(problem, **{name: data[name] for name in given}, **limits)


def _whole(name: str, given: object, least: int, most: float = math.inf) -> int:
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or not least <= given <= most:
        upto = f", at most {most:,}" if most < math.inf else ""
        raise StudyError(f"{name} is {given!r}; it must be a whole number of {least} or more{upto}; correct it")
    return int(given)


def _amount(name: str, given: object) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float | np.number) or not 0 <= given <= LARGEST_NUMBER:
        raise StudyError(f"{name} is {given!r}; it must be a number of 0 or more; correct it")
    return float(given)


def _stated(name: str, given: Any, least: int) -> None:
    if type(given) is not int or given < least:
        raise ValueError(f"its {name} is {shown(given)}; it must be a whole number of {least} or more")
