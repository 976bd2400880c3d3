"""The service keeps to its own description, whatever it is sent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance
from tests.service.running import Running, new_study

from proband import Problem
from proband.service.access.tokens import Role
from proband.service.application import create_app
from proband.service.requests import PROBLEM
from proband.studies import open_store

pytestmark = pytest.mark.slow  # they wait, kill and try thousands of requests

NO_CHECK = positive_data_acceptance
"""A request may fit its schema and yet be refused: the subject is finished, the name taken, the text no problem."""

ENDLESS = r"/stream$"
"""A stream never ends; it is tested by itself."""


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service that is open, with the study that the examples speak of."""
    folder: Path = tmp_path_factory.mktemp("described")
    (folder / "problem.toml").write_text(PROBLEM)
    problem = Problem.load(folder / "problem.toml")
    with Running(f"sqlite:///{folder}/store.db", program=["tests.service.lenient"]) as running:
        token = running.link
        assert running.call("POST", "/api/studies", new_study(problem, name="bolts"), token=token).status == 201
        arrival = {"subject": "bolt 17"}
        assert running.call("POST", "/api/studies/bolts/arrive", arrival, token=token).status == 201
        yield running


def description() -> dict[str, Any]:
    store = open_store("memory:")
    return create_app(store).openapi()


@schemathesis.serializer("application/x-ndjson")
def lines(context: Any, value: Any) -> bytes:
    """Send a log as it is."""
    return value if isinstance(value, bytes) else str(value).encode()


schema = schemathesis.openapi.from_dict(description()).exclude(path_regex=ENDLESS)


@schema.parametrize()
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_the_service_keeps_to_its_description(case: Any, described: Running) -> None:
    case.call_and_validate(
        base_url=described.url,
        headers={"Authorization": f"Bearer {described.link}"},
        timeout=60,
        excluded_checks=[NO_CHECK],
    )


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
    without = {"/login", "/logout", "/api/import", "/api/tokens"}
    for path, operations in description()["paths"].items():
        for method, operation in operations.items():
            names = [parameter["name"] for parameter in operation.get("parameters", [])]
            writes = method == "post" and path not in without and not path.endswith("/what-if")
            assert ("Idempotency-Key" in names) == writes, f"{method} {path}"


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
