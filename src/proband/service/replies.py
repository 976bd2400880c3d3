"""What comes out, as OpenAPI describes it.

Answers are made by the library's own ``to_dict``; the models say what they hold, and the tests hold them to it.
"""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from proband.service.requests import RoleName


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


class FoundOut(Reply):
    """Subjects that were found: how many in all, and some of them."""

    total: int
    items: list[SubjectOut]


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


class LastOut(Reply):
    """What happened last in a study."""

    kind: str
    subject: str | None
    time: str
    actor: str
    station: str


class StudyOut(Reply):
    """A study in the list: its name, the length of its log, how it began and what happened last.

    What cannot be read is null; the study itself says why.
    """

    study: str
    events: int
    agent: str | None
    created: str | None
    last: LastOut | None


class CheckedOut(Reply):
    """What a study would be: its problem is right, and so are its past records unless there is a mistake in them."""

    name: str
    exists: bool
    tests: int
    decisions: list[str]
    agents: list[str]
    agent: str
    past: int | None
    mistake: str | None


class DraftOut(Reply):
    """A draft of a problem file, the column that decisions are about, and what is to be looked at."""

    problem: str
    label: str
    doubts: list[str]


class StudyDetail(Reply):
    """What a study is about: its problem as in a problem file, its agent, and where its log stands.

    `outcomes` are the names of each test's outcomes, null where it is measured.
    """

    study: str
    agent: str
    created: str
    events: int
    hash: str
    problem: dict[str, Any]
    outcomes: dict[str, list[str] | None]


class SameTestsOut(Reply):
    """The tests that newcomers get whatever they show, and what they cost together; null where what they show matters.

    `everything` says whether these are all tests that can be run.
    """

    tests: list[str] | None
    cost: float | None
    everything: bool


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
    planner: Literal["cluster", "process", "thread"]
    planner_away: bool


class Health(Reply):
    """Whether the process lives."""

    status: Literal["alive"]
    version: str
