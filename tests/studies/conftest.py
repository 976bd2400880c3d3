from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from tests.postgres import Server, running_server

from proband.studies.stores import STORES, MemoryStore, Store, open_store

MakeStore = Callable[[], Store]
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A real PostgreSQL server; nobody stops it."""
    with running_server() as running:
        yield running


@pytest.fixture
def postgresql_url(request: pytest.FixtureRequest) -> str:
    """An empty schema of its own on the server."""
    running: Server = request.getfixturevalue("server")
    schema = f"s{next(_numbers)}"
    with psycopg.connect(running.url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}".encode())
    return f"{running.url}&options={quote(f'-csearch_path={schema}')}"


@pytest.fixture(params=list(STORES))
def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeStore]:
    """Open the same store again and again; each kind of store in turn."""
    if request.param == "memory":
        store = MemoryStore()
        yield lambda: store
        return
    url = f"sqlite:///{tmp_path}/store.db" if request.param == "sqlite" else request.getfixturevalue("postgresql_url")
    opened: list[Store] = []

    def make() -> Store:
        opened.append(open_store(url))
        return opened[-1]

    yield make
    for each in opened:
        each.close()
