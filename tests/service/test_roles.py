"""Every route and every role: who is let in, and who is not."""

from __future__ import annotations

from typing import Any

import pytest
from tests.service.running import Running, new_study

from proband import Problem
from proband.service.access.tokens import ROLES
from proband.service.application import create_app
from proband.studies import open_store

BOLTS = "/api/studies/bolts"
BOLT = f"{BOLTS}/subjects/a"
SHOWN = {"outcomes": {"x": "y"}}
NOBODY = "nobody"
"""Stands for whoever has no token at all."""

TABLE: dict[tuple[str, str], tuple[str, str, Any]] = {
    # route: the least role, a path of it, and what is sent
    ("GET", "/health"): (NOBODY, "/health", None),
    ("GET", "/ready"): (NOBODY, "/ready", None),
    ("GET", "/openapi.json"): (NOBODY, "/openapi.json", None),
    ("GET", "/"): (NOBODY, "/", None),
    ("GET", "/page/{name}"): (NOBODY, "/page/index.html", None),
    ("GET", "/login"): (NOBODY, "/login?token=x", None),
    ("POST", "/login"): (NOBODY, "/login", {"token": "x"}),
    ("POST", "/logout"): (NOBODY, "/logout", {}),
    ("GET", "/api/me"): ("viewer", "/api/me", None),
    ("GET", "/metrics"): ("viewer", "/metrics", None),
    ("GET", "/api/studies"): ("viewer", "/api/studies", None),
    ("GET", "/api/studies/{study}"): ("viewer", BOLTS, None),
    ("GET", "/api/studies/{study}/summary"): ("viewer", f"{BOLTS}/summary?drift=false", None),
    ("GET", "/api/studies/{study}/subjects"): ("viewer", f"{BOLTS}/subjects", None),
    ("GET", "/api/studies/{study}/find"): ("viewer", f"{BOLTS}/find?status=open", None),
    ("GET", "/api/studies/{study}/subjects/{subject}"): ("viewer", BOLT, None),
    ("GET", "/api/studies/{study}/subjects/{subject}/ask"): ("viewer", f"{BOLT}/ask", None),
    ("GET", "/api/studies/{study}/tree"): ("viewer", f"{BOLTS}/tree", None),
    ("GET", "/api/studies/{study}/same-tests"): ("viewer", f"{BOLTS}/same-tests", None),
    ("POST", "/api/studies/{study}/what-if"): ("viewer", f"{BOLTS}/what-if", {}),
    ("GET", "/api/studies/{study}/report"): ("viewer", f"{BOLTS}/report", None),
    ("GET", "/api/studies/{study}/events"): ("viewer", f"{BOLTS}/events", None),
    ("GET", "/api/studies/{study}/trail"): ("viewer", f"{BOLTS}/trail", None),
    ("GET", "/api/studies/{study}/stream"): ("viewer", f"{BOLTS}/stream?after=nothing", None),
    ("GET", "/api/studies/{study}/export"): ("viewer", f"{BOLTS}/export", None),
    ("GET", "/api/studies/{study}/table.csv"): ("viewer", f"{BOLTS}/table.csv", None),
    ("GET", "/api/studies/{study}/table.json"): ("viewer", f"{BOLTS}/table.json", None),
    ("POST", "/api/studies/{study}/arrive"): ("operator", f"{BOLTS}/arrive", {}),
    ("POST", "/api/studies/{study}/take"): ("operator", f"{BOLTS}/take", {}),
    ("POST", "/api/studies/{study}/subjects/{subject}/tell"): ("operator", f"{BOLT}/tell", SHOWN),
    ("POST", "/api/studies/{study}/subjects/{subject}/decide"): ("operator", f"{BOLT}/decide", {"decision": "x"}),
    ("POST", "/api/studies/{study}/subjects/{subject}/correct"): (
        "operator", f"{BOLT}/correct", {"test": "visual", "outcome": None, "reason": "x"},
    ),
    ("POST", "/api/studies/{study}/subjects/{subject}/void"): ("operator", f"{BOLTS}/subjects/b/void", {"reason": "x"}),
    ("POST", "/api/studies/{study}/subjects/{subject}/reveal"): ("operator", f"{BOLT}/reveal", SHOWN),
    ("POST", "/api/studies"): ("engineer", "/api/studies", {"problem": "no TOML"}),
    ("POST", "/api/check"): ("engineer", "/api/check", {"problem": "no TOML"}),
    ("POST", "/api/draft"): ("engineer", "/api/draft", {"records": "no table"}),
    ("POST", "/api/studies/{study}/records"): ("engineer", f"{BOLTS}/records", {"records": "no table"}),
    ("POST", "/api/studies/{study}/restart"): ("engineer", f"{BOLTS}/restart", {"reason": ""}),
    ("GET", "/api/studies/{study}/verify"): ("engineer", f"{BOLTS}/verify", None),
    ("POST", "/api/import"): ("engineer", "/api/import", {"no": "export"}),
    ("GET", "/api/tokens"): ("admin", "/api/tokens", None),
    ("POST", "/api/tokens"): ("admin", "/api/tokens", {"user": "", "role": "viewer"}),
    ("DELETE", "/api/tokens/{token}"): ("admin", "/api/tokens/none", None),
}  # fmt: skip


@pytest.fixture(scope="module")
def bolts(service: Running, tokens: dict[str, str]) -> Running:
    problem = Problem.from_dict(
        {
            "schema": 1,
            "name": "bolts",
            "tests": [{"name": "visual", "cost": 1.0, "outcomes": ["ok", "bad"]}],
            "reward": {"kind": "match"},
        }
    )
    for name in ("bolts", "other"):
        made = service.call("POST", "/api/studies", new_study(problem, name=name), token=tokens["engineer"])
        assert made.status == 201
    assert service.call("POST", f"{BOLTS}/arrive", {"subject": "a"}, token=tokens["operator"]).status == 201
    return service


def routes(found: Any) -> set[tuple[str, str]]:
    """All routes of an application, and of what is included in it."""
    every = set()
    for route in found:
        path = getattr(route, "path", None)
        every |= {(method, path) for method in getattr(route, "methods", None) or () if method != "HEAD"}
        every |= routes(getattr(getattr(route, "original_router", None), "routes", ()))
    return every


def test_every_route_is_in_the_table() -> None:
    store = open_store("memory:")
    app = create_app(store)
    described = {(method.upper(), path) for path, operations in app.openapi()["paths"].items() for method in operations}
    hidden = {("GET", "/"), ("GET", "/page/{name}"), ("GET", "/openapi.json")}
    assert set(TABLE) == described | hidden
    assert routes(app.routes) - {("HEAD", "/openapi.json")} <= set(TABLE)


@pytest.mark.parametrize("route", TABLE, ids=" ".join)
@pytest.mark.parametrize("role", [NOBODY, *ROLES])
def test_a_role_is_let_in_or_not(bolts: Running, tokens: dict[str, str], route: tuple[str, str], role: str) -> None:
    least, path, content = TABLE[route]
    order = [NOBODY, *ROLES]
    answer = bolts.call(route[0], path, content, token=tokens.get(role))
    if order.index(role) < order.index(least):
        assert answer.status == (401 if role == NOBODY else 403), answer
        assert answer.json["type"] == f"urn:proband:{'UnidentifiedError' if role == NOBODY else 'AccessError'}"
    elif "login" in path:
        assert answer.status in (401, 429), answer
    else:
        assert answer.status not in (401, 403, 500), answer


@pytest.mark.parametrize("route", [route for route in TABLE if "{study}" in route[1]], ids=" ".join)
def test_a_token_of_another_study_opens_nothing(bolts: Running, tokens: dict[str, str], route: tuple[str, str]) -> None:
    _, path, content = TABLE[route]
    assert bolts.call(route[0], path, content, token=tokens["other only"]).status == 403
    missing = path.replace("/bolts", "/missing")
    assert bolts.call(route[0], missing, content, token=tokens["other only"]).status == 403, "it tells what exists"


def test_a_token_of_one_study_sees_that_study_alone(bolts: Running, tokens: dict[str, str]) -> None:
    mine = tokens["other only"]
    assert [item["study"] for item in bolts.call("GET", "/api/studies", token=mine).json["items"]] == ["other"]
    assert bolts.call("GET", "/api/studies/other", token=mine).status == 200
    assert bolts.call("GET", "/metrics", token=mine).status == 403
    assert bolts.call("GET", "/api/me", token=mine).json == {
        "user": "other operator",
        "role": "operator",
        "studies": ["other"],
    }


def test_an_engineer_of_one_study_begins_and_imports_that_one_alone(
    bolts: Running, tokens: dict[str, str], problem: Problem
) -> None:
    given = {"user": "Eve", "role": "engineer", "studies": ["hers"]}
    hers = bolts.call("POST", "/api/tokens", given, token=tokens["admin"]).json["secret"]
    assert bolts.call("POST", "/api/studies", new_study(problem, name="mine"), token=hers).status == 403
    for name in ("bolts", "missing"):  # a check does not tell what exists, either
        content = {"problem": new_study(problem)["problem"], "name": name}
        assert bolts.call("POST", "/api/check", content, token=hers).status == 403
    assert bolts.call("POST", "/api/studies", new_study(problem, name="hers"), token=hers).status == 201
    exported = bolts.call("GET", "/api/studies/bolts/export", token=tokens["viewer"]).body
    assert bolts.call("POST", "/api/import", body=exported, token=hers).status == 403
