"""What somebody with bad intentions may try, one test each; those on hosts, sites, sizes and cookies stand beside."""

from __future__ import annotations

import csv
import io
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests.service.conftest import Verb
from tests.service.running import Running, at, new_study

from proband import Problem, Test
from proband.rewards import Table

SCRIPT = "<script>alert(1)</script>"
MARKUP = (SCRIPT, '"><img src=x onerror=alert(1)>', "'; alert(1); '", "{{7*7}}", "</title><svg onload=alert(1)>")


class Tags(HTMLParser):
    """What a browser would take for elements and for attributes that act."""

    def __init__(self) -> None:
        super().__init__()
        self.acting: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        wrong = [name for name, value in attrs if name.startswith("on") or "javascript:" in str(value)]
        self.acting += [tag] * (tag in ("script", "iframe", "object", "embed", "form")) + wrong


@pytest.mark.parametrize("markup", MARKUP)
def test_markup_in_every_name_is_text(service: Running, tokens: dict[str, str], markup: str) -> None:
    """Names of studies, tests, outcomes, decisions, subjects, stations and units; reasons; sources."""
    problem = Problem(
        tests=[Test(f"visual {markup}", 0.1, outcomes=(f"clean {markup}", "rusty"))],
        decisions=[f"pass {markup}", "fail"],
        reward=Table([f"visual {markup}"], [[1.0, 0.0], [-4.0, 0.0]]),
        unit=f"EUR {markup}"[:20],
    )
    study, subject = f"study {markup}", f"bolt {markup}"
    given = new_study(problem, name=study)
    assert service.call("POST", "/api/studies", given, token=tokens["engineer"]).status == 201
    operator = tokens["operator"]
    sent = {"subject": subject, "station": f"line {markup}"}
    assert service.call("POST", at(study, "arrive"), sent, token=operator).status == 201
    shown = {"outcomes": {f"visual {markup}": f"clean {markup}"}, "station": f"line {markup}"}
    assert service.call("POST", at(study, "subjects", subject, "tell"), shown, token=operator).status == 200
    decided = service.call(
        "POST", at(study, "subjects", subject, "decide"), {"station": f"line {markup}"}, token=operator
    )
    assert decided.json["decision"] == f"pass {markup}"
    report = service.call("GET", at(study, "report"), token=tokens["viewer"])
    tags = Tags()
    tags.feed(report.body.decode())
    assert tags.acting == []
    assert "script-src" not in report.headers["content-security-policy"]
    for path in ("subjects", "events", "summary", "tree"):
        answer = service.call("GET", at(study, path), token=tokens["viewer"])
        assert answer.headers["content-type"] in ("application/json", "application/problem+json")
        json.loads(answer.body)


def test_markup_in_a_mistake_is_text(service: Running, tokens: dict[str, str]) -> None:
    for path in (f"/{SCRIPT}", at(SCRIPT), f"/api/studies?limit={SCRIPT}", f"/login?token={SCRIPT}"):
        answer = service.call("GET", path.replace(" ", "%20"), token=tokens["viewer"])
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("formula", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "＝1", " =1", "'=1"])
def test_no_cell_of_the_table_is_a_formula(
    service: Running, tokens: dict[str, str], study: str, verb: Verb, formula: str
) -> None:
    verb("arrive", subject=formula, station=formula)
    table = service.call("GET", at(study, "table.csv"), token=tokens["viewer"])
    [row] = csv.DictReader(io.StringIO(table.body.decode()))
    for cell in (row["subject"], row["station"]):
        assert cell == f"'{formula}"


@pytest.mark.parametrize(
    "path",
    [
        "/page/..%2F..%2Fserver.py",
        "/page/%2e%2e/server.py",
        "/page/%2Fetc%2Fpasswd",
        "/page//etc/passwd",
        "/page/..\\server.py",
        "/page/index.html%00.png",
        "/..%2f..%2f..%2fetc/passwd",
        "//etc/passwd",
        "/api/studies/..%2F..%2Fetc%2Fpasswd/export",
        "/api/studies/%2Fetc%2Fpasswd/table.csv",
        "/api/studies/%00/export",
        "/api/studies/%ff/export",
    ],
)
def test_a_path_opens_no_file(service: Running, tokens: dict[str, str], path: str) -> None:
    answer = service.call("GET", path, token=tokens["viewer"])
    assert answer.status in (404, 422), answer
    assert b"root:" not in answer.body


def test_a_request_names_no_file_and_no_code(
    service: Running, tokens: dict[str, str], study: str, problem: Problem, tmp_path: Path
) -> None:
    engineer = tokens["engineer"]
    (tmp_path / "mine.csv").write_text("visual,ultrasonic\nclean,ok\n")
    (tmp_path / "mine.toml").write_text(new_study(problem)["problem"])
    past: dict[str, Any] = {"records": str(tmp_path / "mine.csv")}
    assert service.call("POST", at(study, "records"), past, token=engineer).status == 422
    assert service.call("POST", "/api/studies", {"problem": str(tmp_path / "mine.toml")}, token=engineer).status == 422
    for agent in ("os:system", "builtins:eval", "tests.service.running:Running"):
        answer = service.call("POST", "/api/studies", new_study(problem, name="x", agent=agent), token=engineer)
        assert (answer.status, answer.json["type"]) == (422, "urn:proband:AgentError")
    reward = new_study(problem)["problem"].replace('kind = "table"', 'kind = "os:system"')
    assert service.call("POST", "/api/studies", {"problem": reward}, token=engineer).status == 422
    source = {"records": "visual,ultrasonic\nclean,ok\n", "source": "../../etc/passwd"}
    assert service.call("POST", at(study, "records"), source, token=engineer).json["added"] == 1


def test_an_import_chooses_no_code(service: Running, tokens: dict[str, str], study: str) -> None:
    exported = service.call("GET", at(study, "export"), token=tokens["viewer"]).body
    altered = exported.replace(b'"test-everything"', b'"os:system"')
    answer = service.call("POST", "/api/import", body=altered, token=tokens["engineer"])
    assert answer.status in (409, 422)
    for hostile in (b"", b"\0" * 1000, b"{" * 100_000, b'{"kind": "proband study"}\n', b"\xff\xfe" * 10):
        assert service.call("POST", "/api/import", body=hostile, token=tokens["engineer"]).status in (409, 422)


def test_the_log_of_access_is_no_study(service: Running, tokens: dict[str, str]) -> None:
    listed = service.call("GET", "/api/studies?limit=1000", token=tokens["admin"]).json["items"]
    assert not [item for item in listed if "access" in item["study"]]
    for path in ("%1Faccess", "%1faccess/events", "%1Faccess/export", "%1Faccess/stream"):
        assert service.call("GET", f"/api/studies/{path}", token=tokens["admin"]).status == 404


def test_nobody_makes_himself_another(service: Running, tokens: dict[str, str], study: str) -> None:
    """Who did what is known by the token, never by what a request says."""
    engineer, operator = tokens["engineer"], tokens["operator"]
    assert service.call("POST", "/api/tokens", {"user": "x", "role": "admin"}, token=engineer).status == 403
    acting = service.call("POST", at(study, "arrive"), {"actor": "somebody else"}, token=operator)
    assert acting.status == 422
    forged = {"X-Forwarded-User": "admin", "Remote-User": "admin", "X-Forwarded-For": "127.0.0.1"}
    assert service.call("GET", "/api/tokens", token=operator, headers=forged).status == 403
    service.call("POST", at(study, "arrive"), {"subject": "a", "station": "the admin"}, token=operator)
    [_, event] = service.call("GET", at(study, "events"), token=tokens["viewer"]).json["items"]
    assert (event["actor"], event["station"]) == ("the operator", "the admin")


def test_a_key_of_two_stations_is_two_requests_where_nobody_is_named(
    service: Running, tokens: dict[str, str], study: str
) -> None:
    """Stations that count their keys: the second one's newcomer is not the first one's."""

    def arrive(station: str, **content: str) -> Any:
        sent, key = {"station": station, **content}, {"Idempotency-Key": "1"}
        return service.call("POST", at(study, "arrive"), sent, token=tokens["operator"], headers=key)

    first = arrive("line 1")
    assert arrive("line 1").json == first.json, "the same station asks again"
    other = arrive("line 2")
    assert (other.status, other.json["type"]) == (409, "urn:proband:KeyReusedError")
    assert "of subject '1' at 'line 1'" in other.detail
    taken = {"station": "line 2", "at_once": True}
    sent = {"token": tokens["operator"], "headers": {"Idempotency-Key": "1"}}
    assert service.call("POST", at(study, "take"), taken, **sent).status == 409
    told = {"outcomes": {"visual": "clean"}}
    assert service.call("POST", at(study, "subjects", "1", "tell"), told, **sent).status == 409


@pytest.mark.parametrize("name", [".", ".."])
def test_a_name_that_no_address_can_hold(
    service: Running, tokens: dict[str, str], study: str, problem: Problem, name: str
) -> None:
    """A browser would never reach it again."""
    arrived = service.call("POST", at(study, "arrive"), {"subject": name}, token=tokens["operator"])
    begun = service.call("POST", "/api/studies", new_study(problem, name=name), token=tokens["engineer"])
    for answer in (arrived, begun):
        assert answer.status == 422
        assert "has another meaning in an address" in answer.detail


def test_names_that_the_server_cannot_be_asked_about(postgresql_url: str, problem: Problem) -> None:
    """PostgreSQL keeps no NUL: that is no fault of the server, and nothing to be tried again."""
    with Running(postgresql_url, "--open") as running:
        assert running.call("POST", "/api/studies", new_study(problem, name="bolts")).status == 201
        for path in ("/api/studies/%00", "/api/studies/a%00b/events", "/api/studies/%00/stream"):
            answer = running.call("GET", path)
            assert (answer.status, answer.json["type"]) == (404, "urn:proband:UnknownStudyError")
        listed = running.call("GET", "/api/studies?after=a%00b").json["items"]
        assert [item["study"] for item in listed] == ["bolts"]


def test_the_store_and_its_place_are_not_told(service: Running, tokens: dict[str, str], folder: Path) -> None:
    for path in (at("nobody"), "/ready", "/metrics", at("nobody", "subjects", "x")):
        assert str(folder).encode() not in service.call("GET", path, token=tokens["viewer"]).body


def test_lines_in_a_name_forge_nothing_in_the_log_of_the_process(service: Running, tokens: dict[str, str]) -> None:
    service.call("GET", "/api/studies/x%0A2026-01-01%20GET%20/forged%20200", token=tokens["viewer"])
    service.call("GET", "/health")
    assert not [line for line in service.errors if line.startswith("2026-01-01")]
