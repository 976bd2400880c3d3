"""How a study begins: what its first event says, and the agent that follows from it."""

from __future__ import annotations

import getpass
import math
import platform
from collections.abc import Mapping
from typing import Any

import numpy as np

from proband.agents import AGENTS, Agent, Setting, build_agent, checked_agent, default_agent
from proband.errors import StudyError, UnknownNameError
from proband.problem import Problem
from proband.studies import checks
from proband.studies.events import FORMAT
from proband.studies.names import problem_to_dict
from proband.studies.rules import MOST_SUBJECTS
from proband.texts import escaped

LONGEST_LEASE = 30 * 24 * 3600


def founding_of(
    problem: Problem,
    *,
    name: str | None,
    agent: str | None,
    seed: int,
    horizon: int | None,
    created: str,
    condition_number: float | None = None,
) -> dict[str, Any]:
    """Return the data of the event that creates a study, after checking that its agent can be made."""
    chosen = default_agent(problem) if agent is None else agent
    checked_agent(chosen)
    founding = {
        "format": FORMAT,
        "name": checks.text("the name of the study", problem.name if name is None else name),
        "problem": problem_to_dict(problem),
        "agent": chosen,
        "seed": _whole("seed", seed, 0),
        "horizon": None if horizon is None else _whole("horizon", horizon, 1, MOST_SUBJECTS),
        "condition_number": None if condition_number is None else float(condition_number),
        "created": created,
    }
    make_agent(problem, founding)
    return founding


def make_agent(problem: Problem, founding: Mapping[str, Any]) -> Agent:
    """Return a new agent of a study, always the same one."""
    name = founding["agent"]
    if name not in AGENTS and ":" not in name:
        raise UnknownNameError(
            f"the study's agent is {name!r}; this version has {', '.join(AGENTS)}; install a newer proband, or the "
            "package of the agent"
        )
    return build_agent(
        name,
        Setting(
            problem,
            horizon=founding["horizon"],
            seed=founding["seed"],
            condition_number=founding["condition_number"],
        ),
    )


def actor_of(given: str | None) -> str:
    """Return who tells: the given name, or the user's."""
    if given is not None:
        return checks.text("the actor", given)
    try:
        return escaped(getpass.getuser())
    except (KeyError, OSError):  # a container may run under a number without a name
        return "unknown"


def station_of(given: str | None) -> str:
    """Return where: the given name, or the machine's, so that all commands on one machine are one station."""
    return checks.text("the station", given) if given is not None else escaped(platform.node()) or "unknown"


def lease_of(given: float) -> float:
    """Return a lease in seconds."""
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= LONGEST_LEASE:
        raise StudyError(
            f"lease is {given!r}; it must be a number of seconds from 0 to {LONGEST_LEASE:,} (30 days); correct it"
        )
    return float(given)


def _whole(name: str, given: object, least: int, most: float = math.inf) -> int:
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or not least <= given <= most:
        upto = f", at most {most:,}" if most < math.inf else ""
        raise StudyError(f"{name} is {given!r}; it must be a whole number of {least} or more{upto}; correct it")
    return int(given)
