"""A service, and a study of it, with the verbs of :class:`proband.Study`."""

from __future__ import annotations

import http.client
import json
import os
import time
import uuid
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

from proband import problem_files
from proband.client.answers import advice_of, event_of, subject_of
from proband.client.transport import PAUSES, Transport, part
from proband.errors import StudyError, TableError
from proband.files import read_text
from proband.policies import Tree
from proband.problem import Problem
from proband.studies import Advice, Event, Subject, Verified
from proband.studies.events.imported import Learned
from proband.studies.exchange.exports import beside

PAGE = 500

Outcome = str | float
Named = str | Subject


class Listed(NamedTuple):
    """A study in the list of a service."""

    study: str
    events: int


class Service:
    """A service of studies.

    Parameters
    ----------
    url : str
        As ``https://plant.example:8765``.
    token : str, optional
        As ``proband token create`` shows it.
    station : str, optional
        Where this program is; by default the user of the token. A station holds the subjects that it works on.
    timeout, patience : float
        Seconds to wait for one answer, and for which a request is sent again while there is none.
    authorities : str, optional
        A file of certificates to trust (PEM), instead of the system's.

    Examples
    --------
    >>> service = Service("http://127.0.0.1:1", station="line 1", patience=0.0)
    >>> service.study("bolts").ask("bolt 17")
    Traceback (most recent call last):
    proband.errors.ServiceError: http://127.0.0.1:1 gives no answer (...); try again later
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        station: str | None = None,
        timeout: float = 40.0,
        patience: float = 60.0,
        authorities: str | None = None,
    ) -> None:
        self.station = station
        self.transport = Transport(url, token, timeout=timeout, patience=patience, authorities=authorities)

    def studies(self) -> Iterator[Listed]:
        """Yield the studies that the token is for, by name."""
        for item in _pages(self.transport, "/api/studies", {}):
            yield Listed(item["study"], item["events"])

    def study(self, name: str) -> RemoteStudy:
        """Return a study by its name; whether it is there shows when it is asked for something."""
        return RemoteStudy(self, name)

    def create(
        self,
        problem: Problem,
        *,
        name: str | None = None,
        agent: str | None = None,
        seed: int = 0,
        horizon: int | None = None,
        condition_number: float | None = None,
        max_tests: int | None = None,
        budget: float | None = None,
        records: str | os.PathLike[str] | None = None,
        key: str | None = None,
    ) -> RemoteStudy:
        """Begin a study; `records` is a table (CSV) of past subjects to learn from at once."""
        content: dict[str, Any] = {
            "problem": problem_files.toml(problem.to_dict()), "name": name, "agent": agent, "seed": seed,
            "horizon": horizon, "condition_number": condition_number, "max_tests": max_tests, "budget": budget,
        }  # fmt: skip
        if records is not None:
            content["past"] = {"records": read_text(records, TableError), "source": Path(records).name}
        answer = self.transport.request("POST", "/api/studies", content, key=key or new_key())
        return RemoteStudy(self, answer.json()["study"])

    def me(self) -> dict[str, Any]:
        """Return who the service takes this program for: user, role and studies."""
        found: dict[str, Any] = self.transport.request("GET", "/api/me").json()
        return found

    def close(self) -> None:
        """Close all connections; whoever asks again opens one again."""
        self.transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class RemoteStudy:
    """A study of a service. What its verbs do is said at those of :class:`proband.Study`.

    Any number of threads may use it; each has a connection of its own.
    """

    def __init__(self, service: Service, name: str) -> None:
        self._service, self._transport, self.name = service, service.transport, name
        self._path = f"/api/studies/{part(name)}"

    # What operators do

    def arrive(
        self, known: Mapping[str, Outcome] | None = None, *, subject: str | None = None, key: str | None = None
    ) -> Subject:
        """Let a subject arrive."""
        return subject_of(self.send("arrive", None, {"known": plain(known), "subject": subject}, key))

    def ask(self, subject: Named) -> Advice:
        """Return what to do next with a subject, and why."""
        return advice_of(self._get(f"/subjects/{part(name_of(subject))}/ask"))

    def tell(
        self,
        subject: Named,
        test: str | Mapping[str, Outcome],
        outcome: Outcome | None = None,
        *,
        key: str | None = None,
    ) -> Subject:
        """Tell what a test showed, or what several showed, all or none of it."""
        return subject_of(self.send("tell", subject, {"outcomes": told(test, outcome)}, key))

    def decide(self, subject: Named, decision: str | Mapping[str, str] | None = None, *, key: str | None = None) -> str:
        """Decide on a subject and finish it; return the decision."""
        return str(self.send("decide", subject, {"decision": plain(decision)}, key)["decision"])

    def take(self, subject: Named | None = None, *, at_once: bool = False, key: str | None = None) -> Subject:
        """Take over a subject from another station."""
        name = None if subject is None else name_of(subject)
        return subject_of(self.send("take", None, {"subject": name, "at_once": at_once}, key))

    # What is done away from the line

    def correct(
        self, subject: Named, test: str, outcome: Outcome | None, *, reason: str, key: str | None = None
    ) -> Subject:
        """Correct an outcome that was told wrongly; None withdraws it."""
        return subject_of(self.send("correct", subject, {"test": test, "outcome": outcome, "reason": reason}, key))

    def void(self, subject: Named, *, reason: str, key: str | None = None) -> Subject:
        """Take a subject out of the study."""
        return subject_of(self.send("void", subject, {"reason": reason}, key))

    def reveal(self, subject: Named, outcomes: Mapping[str, Outcome], *, key: str | None = None) -> Subject:
        """Tell what came to light about a finished subject."""
        return subject_of(self.send("reveal", subject, {"outcomes": dict(outcomes)}, key))

    def learn_from(
        self, records: str | os.PathLike[str], *, source: str | None = None, key: str | None = None
    ) -> Learned:
        """Learn from past records, a table in CSV."""
        content = {"records": read_text(records, TableError), "source": source or Path(records).name}
        answer = self._transport.request("POST", f"{self._path}/records", content, key=key).json()
        return Learned(answer["added"], recognised=answer["recognised"])

    def restart(self, *, reason: str, key: str | None = None) -> None:
        """Start learning afresh."""
        self._transport.request("POST", f"{self._path}/restart", {"reason": reason}, key=key or new_key())

    # What it can tell

    @property
    def problem(self) -> Problem:
        """What the study is about."""
        return Problem.from_dict(self._get("")["problem"], source=f"the problem of {self.name!r}")

    def subject(self, name: str) -> Subject:
        """Return a subject by its name."""
        return subject_of(self._get(f"/subjects/{part(name)}"))

    def subjects(self, *, open: bool | None = None) -> list[Subject]:
        """Return the subjects in order of arrival."""
        query = {} if open is None else {"open": str(open).lower()}
        return [subject_of(item) for item in _pages(self._transport, f"{self._path}/subjects", query)]

    def summary(self, *, exploration: bool = True, drift: bool = True) -> dict[str, Any]:
        """Return the study at a glance, as JSON values (:meth:`proband.studies.Summary.to_dict`)."""
        query = {"exploration": str(exploration).lower(), "drift": str(drift).lower()}
        found: dict[str, Any] = self._get("/summary", query)
        return found

    def tree(self, *, depth: int | None = None) -> Tree:
        """Return what was learned as a decision tree."""
        return Tree.from_dict(self._get("/tree", {"depth": depth}))

    def what_if(self, known: Mapping[str, Outcome] | None = None) -> Advice:
        """Return what would be advised for a newcomer of whom this much were known."""
        return advice_of(self._transport.request("POST", f"{self._path}/what-if", {"known": dict(known or {})}).json())

    def events(self, after: int = 0) -> Iterator[Event]:
        """Yield the events after a position."""
        yield from map(event_of, _pages(self._transport, f"{self._path}/events", {}, after=after))

    def follow(self, after: int = 0) -> Generator[Event, None, None]:
        """Yield the events after a position, and then each as it is written; a lost connection is made anew."""
        while True:
            try:
                with self._transport.streaming(f"{self._path}/stream", {"Last-Event-ID": str(after)}) as answer:
                    for line in answer:
                        if line.startswith(b"data: "):
                            event = event_of(json.loads(line[6:]))
                            yield event
                            after = event.number
            except (OSError, http.client.HTTPException) as error:
                if isinstance(error, PermissionError):
                    raise
            time.sleep(PAUSES[1])

    def verify(self) -> Verified:
        """Prove that no entry was altered, reordered or dropped."""
        found = self._get("/verify")
        return Verified(found["length"], found["hash"])

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the whole log as JSON lines, lossless."""
        self._download("/export", path)

    def write_table(self, path: str | os.PathLike[str]) -> None:
        """Write the table of subjects (.csv)."""
        self._download("/table.csv", path)

    def send(
        self,
        verb: str,
        subject: Named | None,
        content: Mapping[str, Any],
        key: str | None,
        *,
        patience: float | None = None,
    ) -> dict[str, Any]:
        """Send a write of a verb, under its key or a new one; return the answer."""
        place = "" if subject is None else f"/subjects/{part(name_of(subject))}"
        given = {"station": self._service.station, **content}
        path = f"{self._path}{place}/{verb}"
        answer = self._transport.request("POST", path, given, key=key or new_key(), patience=patience)
        found: dict[str, Any] = answer.json()
        return found

    def _get(self, path: str, query: Mapping[str, Any] | None = None) -> Any:
        return self._transport.request("GET", self._path + path, query=query).json()

    def _download(self, path: str, target: str | os.PathLike[str]) -> None:
        body = self._transport.request("GET", self._path + path).body
        with beside(target) as scratch:
            scratch.write_bytes(body)


def new_key() -> str:
    """Return an idempotency key that nobody else has."""
    return uuid.uuid4().hex


def name_of(subject: Named) -> str:
    """Return the name of a subject."""
    return subject.name if isinstance(subject, Subject) else subject


def told(test: str | Mapping[str, Outcome], outcome: Outcome | None) -> dict[str, Outcome]:
    """Return outcomes by test, of one or of several."""
    if not isinstance(test, str):
        return dict(test)
    if outcome is None:
        raise StudyError(f"no outcome of {test!r} is told; say what it showed")
    return {test: outcome}


def plain(given: Any) -> Any:
    """Return a mapping as JSON has it, and anything else as it is."""
    return dict(given) if isinstance(given, Mapping) else given


def _pages(transport: Transport, path: str, query: Mapping[str, Any], after: Any = None) -> Iterator[dict[str, Any]]:
    while True:
        page = transport.request("GET", path, query={**query, "after": after, "limit": PAGE}).json()
        yield from page["items"]
        after = page["next"]
        if after is None:
            return
