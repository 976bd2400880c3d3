"""Every kind of problem through the routes that a station and the page use: JSON strict, refusals by name, one log.

A table of examples and one of calls, as in `tests/cli/test_crossings.py`. A new kind of problem is a line of
`EXAMPLES`; a new route of a study is a line of `CALLS`, or said to be asked elsewhere: the last test says which one is
missing.
"""

from __future__ import annotations

import csv
import io
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.cli import castings, thirty
from tests.service.running import Reply, Running, at
from tests.service.test_roles import TABLE
from tests.strict_json import strict

from proband import Problem
from proband.instances import INSTANCES
from proband.problem_files import toml
from proband.studies import Study
from proband.tables import write_table


class Kind(NamedTuple):
    what: str
    options: dict[str, Any] = {}  # noqa: RUF012 (a tuple has no other way)
    tree: bool = True


EXAMPLES = {
    "bolts": Kind("listed outcomes, a table of utilities"),
    "bolts in two tests": Kind("at most two tests", {"max_tests": 2}),
    "bolts for 0.5": Kind("a budget for each subject", {"budget": 0.5}),
    "gout": Kind("some outcomes known on arrival, a gold standard that cannot be run"),
    "paper-discrete": Kind("a match of all outcomes"),
    "bolts-measured": Kind("measured outcomes, one score", tree=False),
    "shafts": Kind("measured outcomes, two scores", tree=False),
    "network": Kind("measured outcomes, the entropy of a set", tree=False),
    "castings": Kind("numbers that are cut; context, a group, a gold standard, ignored columns"),
    "thirty": Kind("thirty tests: context, a group, a gold standard that can be bought"),
}
QUICK = ("bolts", "network")
"""Those that every run of the tests crosses."""

ELSEWHERE = ("records", "restart", "stream", "take", "events")
"""Verbs of a study that have nothing to do with the kind of its problem, or that the studies' own tests cross."""

SECONDS = 180.0

CALLS = (
    ("GET", "", None), ("GET", "summary", None), ("GET", "subjects", None), ("GET", "find?status=finished", None),
    ("GET", "tree?depth=3&subjects=true", None), ("GET", "same-tests", None), ("POST", "what-if", {}),
    ("GET", "report", None), ("GET", "trail", None), ("GET", "table.csv", None), ("GET", "table.json", None),
    ("GET", "verify", None), ("GET", "export", None),
)  # fmt: skip


def brought(example: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str, dict[str, Any]]:
    """Return the text of a problem file, that of past records, and what is told of a subject."""
    monkeypatch.chdir(folder)
    module = {"castings": castings, "thirty": thirty}.get(example)
    if module is not None:
        module.write()
        records = Path(f"{example}-records.csv").read_bytes()
        text = next(t for t in (decoded(records, code) for code in ("utf-8-sig", "cp1252")) if t is not None)
        return Path(f"{example}.toml").read_text(encoding="utf-8"), text, module.TOLD
    instance = INSTANCES[example.split(" ", maxsplit=1)[0]]()
    rows = instance.sample(np.random.default_rng(7), 201)
    write_table("records.csv", instance.problem.tests, rows[1:])
    told = instance.problem.describe(rows[0])
    return toml(instance.problem.to_dict()), Path("records.csv").read_text(encoding="utf-8"), told


def decoded(content: bytes, encoding: str) -> str | None:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        return None


@pytest.mark.parametrize("example", [e if e in QUICK else pytest.param(e, marks=pytest.mark.slow) for e in EXAMPLES])
def test_every_kind_through_every_route(
    service: Running, tokens: dict[str, str], example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, engineer = EXAMPLES[example], tokens["engineer"]
    problem, records, told = brought(example, tmp_path, monkeypatch)
    given = {"problem": problem, "past": {"records": records}, **kind.options}
    check = {"problem": problem, "past": {"records": records}}
    assert service.call("POST", "/api/check", check, token=engineer).status == 200
    made = service.call("POST", "/api/studies", {**given, "name": example}, token=engineer)
    assert made.status == 201, made
    spent = inspected(service, tokens["operator"], example, "a", told)
    assert spent == inspected(service, tokens["operator"], example, "b", told)
    for method, path, content in CALLS:
        reply = service.call(method, f"{at(example)}/{path}".rstrip("/"), content, token=engineer)
        if path.startswith("tree") and not kind.tree:
            assert reply.status >= 400
            assert "tree" in reply.detail or "no plan yet" in reply.detail
            continue
        assert reply.status == 200, (path, reply)
        if "json" in reply.headers["content-type"] and path != "export":
            strict(reply.body.decode())
    table = list(csv.reader(io.StringIO(service.call("GET", at(example, "table.csv"), token=engineer).body.decode())))
    assert len(table) == 3
    log = service.call("GET", at(example, "export"), token=engineer).body
    (tmp_path / "log.jsonl").write_bytes(log)
    for line in log.decode().splitlines():
        strict(line)
    with Study.open(example, store=service.store, replan="never") as here:
        assert here.problem == Problem.from_dict(strict(made.body.decode())["problem"])
        assert not here.replay().differences


def inspected(service: Running, token: str, study: str, subject: str, told: dict[str, Any]) -> list[str]:
    """Follow the advice to the end; return what was done."""
    done: list[str] = []
    arrived = patient(service, at(study, "arrive"), {"subject": subject}, token, key=f"{study} {subject}")
    assert arrived.status == 201, arrived
    while True:
        reply = service.call("GET", at(study, "subjects", subject, "ask"), token=token)
        assert reply.status == 200, reply
        advice = strict(reply.body.decode())
        done.append(advice["action"])
        if advice["kind"] == "decision":
            break
        outcomes = {advice["action"]: told[advice["action"]]}
        tell = service.call("POST", at(study, "subjects", subject, "tell"), {"outcomes": outcomes}, token=token)
        assert tell.status == 200, tell
    decided = service.call("POST", at(study, "subjects", subject, "decide"), {}, token=token)
    assert decided.status == 200, decided
    return done


def patient(service: Running, path: str, content: dict[str, Any], token: str | None = None, *, key: str) -> Reply:
    """Send a write again while the first plan is being made, which may have to be compiled, on a busy machine."""
    end = time.monotonic() + SECONDS
    while True:
        reply = service.call("POST", path, content, token=token, headers={"Idempotency-Key": key})
        if reply.status != 503 or time.monotonic() > end:
            return reply
        time.sleep(0.5)


def test_no_route_of_a_study_is_left_out() -> None:
    verbs = {path.split("/api/studies/{study}")[1].strip("/") for _, path in TABLE if "{study}" in path}
    crossed = {path.split("?")[0] for _, path, _ in CALLS} | {"arrive", *ELSEWHERE}
    assert {verb for verb in verbs if not verb.startswith("subjects/")} == crossed
