from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from tests.postgres import Server, running_server
from tests.service.running import Running, at, new_study

from proband import Problem
from proband.service.access.log import AccessLog
from proband.service.access.tokens import ROLES, Role
from proband.service.requests import PROBLEM
from proband.studies import open_store

_numbers = itertools.count(1)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Requests are made up while tests are collected, which takes seconds: only for those who ask for the slow ones."""
    slow = "not slow" not in config.option.markexpr
    return None if slow or collection_path.name != "test_made_up_requests.py" else True


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    with running_server() as running:
        yield running


@pytest.fixture
def postgresql_url(postgresql: Server) -> str:
    """An empty schema of its own on the server."""
    schema = f"service{next(_numbers)}"
    with psycopg.connect(postgresql.url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}".encode())
    return f"{postgresql.url}&options={quote(f'-csearch_path={schema}')}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("service")


@pytest.fixture(scope="module")
def store(folder: Path) -> str:
    return f"sqlite:///{folder}/store.db"


@pytest.fixture(scope="module")
def tokens(store: str) -> dict[str, str]:
    """A token for each role, for all studies; and "bolts only" and "other only", operators of one study."""
    where = open_store(store)
    access = AccessLog(where)
    made = {role: access.make(f"the {role}", Role.of(role), by="tests")[0] for role in ROLES}
    for study in ("bolts", "other"):
        made[f"{study} only"] = access.make(f"{study} operator", Role.OPERATOR, [study], by="tests")[0]
    where.close()
    return made


@pytest.fixture(scope="module")
def service(store: str, tokens: dict[str, str]) -> Iterator[Running]:
    """A service that asks for tokens."""
    with Running(store, "--verbose") as running:
        yield running


@pytest.fixture
def study(service: Running, tokens: dict[str, str], problem: Problem) -> str:
    """A new study."""
    name = f"bolts {next(_numbers)}"
    made = service.call("POST", "/api/studies", new_study(problem, name=name), token=tokens["engineer"])
    assert made.status == 201, made
    return name


Verb = Callable[..., dict[str, object]]


@pytest.fixture
def verb(service: Running, tokens: dict[str, str], study: str) -> Verb:
    """Do something with a subject of the study, as the operator on line 1."""

    def do(verb: str, on: str | None = None, /, **content: object) -> dict[str, object]:
        place = at(study, verb) if on is None else at(study, "subjects", on, verb)
        answer = service.call("POST", place, {"station": "line 1", **content}, token=tokens["operator"])
        assert answer.status in (200, 201), answer
        found: dict[str, object] = answer.json
        return found

    return do


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
