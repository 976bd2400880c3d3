"""What goes in, as OpenAPI describes it: requests are checked by these models, and nothing else is taken."""

from __future__ import annotations

import base64
import io
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr, model_validator

from proband.errors import RequestError
from proband.files import LARGEST_NUMBER
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
assert get_args(RoleName) == ROLES

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


class Upload(io.BytesIO):
    """A table that was sent, as an open file; messages speak of its name, and it stands in no folder."""

    def __init__(self, content: bytes, name: str) -> None:
        super().__init__(content)
        self.name = name


class Past(Request):
    """Past records: one column a test, one row a subject, empty where it was not run.

    They come as the text of a CSV table, or as a file of any kind that is read: .xlsx, Parquet, CSV in other letters.
    """

    model_config = _example({"records": "visual,ultrasonic\nclean,ok\nrusty,\n", "source": "2025.csv"})
    records: str | None = Field(None, min_length=1, description="The text of a CSV table; either this or `file`.")
    file: str | None = Field(None, min_length=1, description="A file as it is, in base64.")
    sheet: Name | None = Field(None, description="Which sheet of a workbook; needed where several hold something.")
    source: Name = Field("records", description="Where they come from, for the log.")

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.records is None) == (self.file is None):
            raise ValueError("past records are either a text (records) or a file (file); give one of the two")
        return self

    def table(self) -> Upload:
        """Return the table as an open file."""
        if self.records is not None:
            return Upload(self.records.encode(), self.source)
        try:
            return Upload(base64.b64decode("".join((self.file or "").split()), validate=True), self.source)
        except ValueError as error:
            raise RequestError(f"the file of the past records is no base64 ({error}); encode it anew") from error


class Unborn(Request):
    """A study that is not begun yet: the text of a problem file, and past records if there are any."""

    model_config = _example({"problem": PROBLEM})
    problem: str = Field(min_length=1)
    name: Name | None = Field(None, description="By default the problem's.")
    past: Past | None = None


class Undrafted(Past):
    """Past records from which a problem is drafted."""

    model_config = _example({"records": "visual,ultrasonic,good\nclean,ok,yes\nrusty,crack,no\n", "label": "good"})
    label: Name | None = Field(None, description="The column that decisions are about; by default guessed.")


class NewStudy(Request):
    """A study to begin: the text of a problem file (TOML), and past records if there are any."""

    model_config = _example({"problem": PROBLEM, "name": "bolts", "agent": "test-everything"})
    problem: str = Field(min_length=1)
    name: Name | None = Field(None, description="By default the problem's.")
    agent: Name | None = Field(None, description="The name of an agent; by default the one for this kind of problem.")
    seed: Annotated[StrictInt, Field(ge=0, lt=2**63)] = 0
    horizon: Annotated[StrictInt, Field(ge=1, le=MOST_SUBJECTS)] | None = None
    condition_number: Annotated[StrictFloat, Field(ge=1)] | None = None
    max_tests: Annotated[StrictInt, Field(ge=0, le=MOST_SUBJECTS)] | None = Field(
        None, description="Most tests of a subject who is decided as planned."
    )
    budget: float | None = Field(None, ge=0, le=LARGEST_NUMBER, description="Most to pay for the tests of such a one.")
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
