"""The service describes itself: every route with its answers, errors, keys and examples."""

from __future__ import annotations

from typing import Any

import pytest
from tests.service.running import Running

from proband.service.access.tokens import Role
from proband.service.application import create_app
from proband.studies import open_store


def description() -> dict[str, Any]:
    store = open_store("memory:")
    return create_app(store).openapi()


def test_every_route_is_described_with_its_answers_and_errors() -> None:
    found = description()
    assert found["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    for path, operations in found["paths"].items():
        for method, operation in operations.items():
            named = f"{method} {path}"
            assert operation["description"], named
            assert {"401", "403", "404", "409", "413", "422", "429", "503"} <= set(operation["responses"]), named
            problem = operation["responses"]["422"]["content"]["application/problem+json"]["schema"]
            assert problem == {"$ref": "#/components/schemas/Problem"}, named
            if method == "post" and path not in ("/login", "/logout", "/api/import"):
                body = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
                assert found["components"]["schemas"][body.rpartition("/")[2]]["examples"], named
    assert "HTTPValidationError" not in found["components"]["schemas"]


def test_writes_take_an_idempotency_key() -> None:
    without = {"/login", "/logout", "/api/import", "/api/tokens", "/api/check", "/api/draft"}
    for path, operations in description()["paths"].items():
        for method, operation in operations.items():
            names = [parameter["name"] for parameter in operation.get("parameters", [])]
            writes = method == "post" and path not in without and not path.endswith("/what-if")
            assert ("Idempotency-Key" in names) == writes, f"{method} {path}"


@pytest.mark.slow
def test_examples_are_taken(described: Running) -> None:
    found = description()
    for name, part in found["components"]["schemas"].items():
        if name == "NewStudy":
            given = {**part["examples"][0], "name": "from the example"}
            assert described.call("POST", "/api/studies", given, token=described.link).status == 201
    tell = found["components"]["schemas"]["Telling"]["examples"][0]
    arrival, token = {"subject": "bolt 18", "station": "line 1"}, described.link
    described.call("POST", "/api/studies/bolts/arrive", arrival, token=token)
    assert described.call("POST", "/api/studies/bolts/subjects/bolt%2018/tell", tell, token=token).status == 200


def test_roles_are_those_of_the_description() -> None:
    roles = description()["components"]["schemas"]["NewToken"]["properties"]["role"]["enum"]
    assert roles == [str(role) for role in Role]
