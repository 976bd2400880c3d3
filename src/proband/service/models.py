"""What goes in and comes out, as OpenAPI describes it.

Requests are checked by these models, and nothing that they do not name is taken. Answers are made by the library's own
``to_dict``; the models say what they hold, and the tests hold them to it.
"""

from __future__ import annotations

from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr

from proband.service.access.tokens import ROLES
from proband.studies.events.checks import LONGEST, LONGEST_REASON, MOST_SUBJECTS

Outcome = StrictStr | Annotated[StrictInt, Field(ge=-(2**53), le=2**53)] | StrictFloat
"""The name of an outcome, or what was measured."""

Outcomes = dict[str, Outcome]
Name = Annotated[str, Field(min_length=1, max_length=LONGEST)]
Reason = Annotated[str, Field(min_length=1, max_length=LONGEST_REASON, description="Why; it is kept with the event.")]
Station = Annotated[
    Name | None, Field(description="Where this happens; by default the name of the user. A station holds its subjects.")
]
RoleName = Literal["viewer", "operator", "engineer", "admin"]
assert RoleName.__args__ == ROLES  # type: ignore[attr-defined]

PROBLEM = """schema = 1
name = "bolts"
decisions = ["pass", "fail"]

[[tests]]
name = "visual"
cost = 0.1
outcomes = ["clean", "rusty"]

[[tests]]
name = "ultrasonic"
cost = 0.6
outcomes = ["ok", "crack"]

[reward]
kind = "table"
targets = ["ultrasonic"]

[[reward.utilities]]
when = { ultrasonic = "crack" }
value = { pass = -4.0, fail = 0.0 }

[[reward.utilities]]
value = { pass = 1.0, fail = 0.0 }
"""
"""A problem file, for the examples."""


class Request(BaseModel):
    """What every request has in common: no other fields, and finite numbers."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


def _example(content: dict[str, Any]) -> ConfigDict:
    return ConfigDict(extra="forbid", allow_inf_nan=False, json_schema_extra={"examples": [content]})


class Arrival(Request):
    """A subject arrives."""

    model_config = _example({"subject": "bolt 17", "known": {"visual": "clean"}, "station": "line 1"})
    subject: Name | None = Field(None, description="Its name; by default its number.")
    known: Outcomes | None = Field(None, description="What is known of it already, by test.")
    station: Station = None


class Telling(Request):
    """What tests showed, in the order in which they were run: all of it is recorded, or none."""

    model_config = _example({"outcomes": {"visual": "rusty", "ultrasonic": "crack"}, "station": "line 1"})
    outcomes: Outcomes = Field(min_length=1)
    station: Station = None


class Deciding(Request):
    """A decision; the advised one, or the best for what is known, if none is named."""

    model_config = _example({"decision": "fail", "station": "line 1"})
    decision: str | dict[str, str] | None = None
    station: Station = None


class Taking(Request):
    """A subject to be taken over; by default the one that has waited longest."""

    model_config = _example({"subject": "bolt 17", "at_once": True, "station": "line 2"})
    subject: Name | None = None
    at_once: StrictBool = Field(False, description="Even if the other station's lease has not run out.")
    station: Station = None


class Correction(Request):
    """The right outcome of a test that was told wrongly; null withdraws it."""

    model_config = _example({"test": "visual", "outcome": "clean", "reason": "wrong tray"})
    test: Name
    outcome: Outcome | None
    reason: Reason
    station: Station = None


class Voiding(Request):
    """Why a subject does not count."""

    model_config = _example({"reason": "dropped"})
    reason: Reason
    station: Station = None


class Revelation(Request):
    """What came to light about a finished subject."""

    model_config = _example({"outcomes": {"ultrasonic": "crack"}})
    outcomes: Outcomes = Field(min_length=1)
    station: Station = None


class Restart(Request):
    """Why learning starts afresh."""

    model_config = _example({"reason": "new supplier"})
    reason: Reason


class Past(Request):
    """Past records, as the text of a CSV table: one column a test, one row a subject, empty where it was not run."""

    model_config = _example({"records": "visual,ultrasonic\nclean,ok\nrusty,\n", "source": "2025.csv"})
    records: str = Field(min_length=1)
    source: Name = Field("records", description="Where they come from, for the log.")


class NewStudy(Request):
    """A study to begin: the text of a problem file (TOML), and past records if there are any."""

    model_config = _example({"problem": PROBLEM, "name": "bolts", "agent": "test-everything"})
    problem: str = Field(min_length=1)
    name: Name | None = Field(None, description="By default the problem's.")
    agent: Name | None = Field(None, description="The name of an agent; by default the one for this kind of problem.")
    seed: Annotated[StrictInt, Field(ge=0, lt=2**63)] = 0
    horizon: Annotated[StrictInt, Field(ge=1, le=MOST_SUBJECTS)] | None = None
    condition_number: Annotated[StrictFloat, Field(ge=1)] | None = None
    past: Past | None = None


class Hypothesis(Request):
    """What were known of a newcomer."""

    model_config = _example({"known": {"visual": "rusty"}})
    known: Outcomes = Field(default_factory=dict)


class NewToken(Request):
    """A token to be made."""

    model_config = _example({"user": "Ada", "role": "operator", "studies": ["bolts"], "days": 90})
    user: Name
    role: RoleName
    studies: Annotated[list[Name], Field(min_length=1)] | None = Field(None, description="By default all of them.")
    days: float | None = Field(None, gt=0, le=3653, description="For how many days it lasts; by default for good.")


class LogIn(Request):
    """A token, in exchange for a cookie."""

    model_config = _example({"token": "proband_..."})
    token: str = Field(min_length=1, max_length=500)


class Reply(BaseModel):
    """What every answer has in common."""

    model_config = ConfigDict(extra="forbid")


class Problem(BaseModel):
    """An error (RFC 9457): `type` names it, `detail` says what is wrong, which rule it breaks, and what to do."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "urn:proband:HeldError",
                    "title": "Another station is at work on the subject, and its lease has not run out.",
                    "status": 409,
                    "detail": "subject 'bolt 17' is held by station 'line 1' until 2026-05-01T12:15:00.000000Z, and "
                    "this is 'line 2'; one station works on a subject at a time; wait, or take it over at once (take)",
                }
            ]
        }
    )
    type: str
    title: str
    status: int
    detail: str


class SubjectOut(Reply):
    """A subject, as it now stands."""

    name: str
    number: int
    status: Literal["open", "finished", "voided"]
    known: dict[str, str | float]
    ran: list[str]
    spent: float
    unit: str
    decision: str | None
    followed: bool | None
    deviations: int
    policy: int
    coin: float
    station: str
    held_until: str
    arrived: str
    finished: str | None


class AlternativeOut(Reply):
    """A possible action: what it is worth, and by how much it loses to the best."""

    name: str
    kind: Literal["test", "decision"]
    value: float | None
    loss: float | None


class AdviceOut(Reply):
    """What to do next with a subject, and why."""

    subject: str
    action: str
    kind: Literal["test", "decision"]
    cost: float
    spent: float
    unit: str
    reason: str
    alternatives: list[AlternativeOut]
    exploring: bool
    policy: int


class DecisionOut(Reply):
    """What was decided, and the subject."""

    decision: str
    subject: SubjectOut


class StudyOut(Reply):
    """A study in the list: its name, and the length of its log."""

    study: str
    events: int


class StudyDetail(Reply):
    """What a study is about: its problem as in a problem file, its agent, and where its log stands."""

    study: str
    agent: str
    created: str
    events: int
    hash: str
    problem: dict[str, Any]


class StretchOut(Reply):
    """Means over successive finished subjects."""

    first: int
    last: int
    cost: float
    tests: float


class ClockOut(Reply):
    """Where a station's clock was behind the log."""

    number: int
    station: str
    seconds: float


class ExplorationOut(Reply):
    """What the agent will still explore."""

    position: int
    behind: int
    commitment: int | None
    completing: float | None


class SummaryOut(Reply):
    """A study at a glance."""

    study: str
    agent: str
    unit: str
    created: str
    events: int
    hash: str
    open: int
    finished: int
    voided: int
    imported: int
    waiting: int
    mean_cost: float | None
    mean_tests: float | None
    stretches: list[StretchOut]
    tests_saved: int
    cost_saved: float
    decisions: dict[str, int]
    tests_against_advice: int
    decisions_against_advice: int
    corrections: int
    revelations: int
    restarted: int | None
    clock: list[ClockOut]
    exploration: ExplorationOut | None
    drift: dict[str, Any] | None
    statement: dict[str, Any] | None
    trouble: str | None


class EventOut(Reply):
    """An event of the log, as it was hashed."""

    number: int
    kind: str
    subject: str | None
    data: dict[str, Any]
    time: str
    actor: str
    station: str
    version: str
    key: str
    previous: str


Item = TypeVar("Item")


class Page(Reply, Generic[Item]):
    """A page: `next` is the `after` of the page that follows, null at the end."""

    items: list[Item]
    next: int | str | None


class LearnedOut(Reply):
    """How many past subjects were added, and how many were known already."""

    added: int
    recognised: int


class VerifiedOut(Reply):
    """A log that is whole: its length, and the hash of its last entry."""

    length: int
    hash: str


class ImportedOut(VerifiedOut):
    """A study that was imported."""

    study: str


class TokenOut(Reply):
    """A token, without its secret."""

    id: str
    user: str
    role: RoleName
    studies: list[str] | None
    created: float
    created_by: str
    expires: float | None
    revoked: float | None


class NewTokenOut(TokenOut):
    """A new token, with its secret, which is never shown again."""

    secret: str


class CallerOut(Reply):
    """Who asks."""

    user: str
    role: RoleName
    studies: list[str] | None


class Done(Reply):
    """It is done."""

    done: Literal[True] = True


class Ready(Reply):
    """Whether the service can work."""

    status: Literal["ready"]
    version: str
    store: str


class Health(Reply):
    """Whether the process lives."""

    status: Literal["alive"]
    version: str
