"""A study, or the whole file, is removed from the store under a service: it says so, and what comes next is not mixed
with what was."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from tests.service.running import Running, at, new_study

from proband import Problem


def rows_go(store: str, name: str = "bolts") -> None:
    """Remove a study with statements of SQL, which proband itself never does."""
    with sqlite3.connect(store.removeprefix("sqlite:///")) as file:
        [[study]] = file.execute("SELECT id FROM studies WHERE name = ?", (name,)).fetchall()
        for table in ("entries", "cache"):
            file.execute(f"DELETE FROM {table} WHERE study = ?", (study,))
        file.execute("DELETE FROM studies WHERE id = ?", (study,))
    file.close()


def file_goes(store: str) -> None:
    path = Path(store.removeprefix("sqlite:///"))
    for each in path.parent.glob(f"{path.name}*"):
        each.unlink()


def begun(running: Running, problem: Problem) -> None:
    assert running.call("POST", "/api/studies", new_study(problem, name="bolts")).status == 201
    assert running.call("POST", at("bolts", "arrive"), {"subject": "a"}).status == 201


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/store.db"


@pytest.mark.parametrize("go", [rows_go, file_goes])
def test_who_writes_to_it_is_told_and_then_everybody(store: str, problem: Problem, go: Callable[[str], None]) -> None:
    with Running(store, "--open") as running:
        begun(running, problem)
        go(store)
        assert running.call("GET", at("bolts", "events")).status == 404
        told = {"outcomes": {"visual": "clean"}}
        assert running.call("POST", at("bolts", "subjects", "a", "tell"), told).status == 404
        for path in (at("bolts"), at("bolts", "subjects", "a", "ask"), at("bolts", "find"), at("bolts", "stream")):
            answer = running.call("GET", path)
            assert (answer.status, answer.json["type"]) == (404, "urn:proband:UnknownStudyError")
            assert answer.detail.startswith("there is no study 'bolts' in this service's store;")
            assert "--store" not in answer.detail
        assert running.call("GET", "/api/studies").json["items"] == []
        assert running.call("GET", "/ready").status == 200
        assert not [line for line in running.errors if "failed" in line]


@pytest.mark.parametrize("go", [rows_go, file_goes])
def test_whoever_asks_is_told_before_anybody_writes(store: str, problem: Problem, go: Callable[[str], None]) -> None:
    with Running(store, "--open") as running:
        begun(running, problem)
        assert running.call("GET", at("bolts", "subjects", "a", "ask")).status == 200
        go(store)
        for path in (at("bolts", "subjects", "a", "ask"), at("bolts", "find"), at("bolts", "summary"), at("bolts")):
            answer = running.call("GET", path)
            assert (answer.status, answer.json["type"]) == (404, "urn:proband:UnknownStudyError")


def test_whoever_asks_is_told_of_an_older_copy(store: str, problem: Problem) -> None:
    """The last entry is gone, and so is what was read of it: advice on it would be about nobody."""
    with Running(store, "--open") as running:
        begun(running, problem)
        with sqlite3.connect(store.removeprefix("sqlite:///")) as file:
            file.execute("DELETE FROM entries WHERE number = 2")
        file.close()
        answer = running.call("GET", at("bolts", "subjects", "a", "ask"))
        assert (answer.status, answer.json["type"]) == (409, "urn:proband:TamperedError")
        assert "entry 2 is missing" in answer.detail


@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize("go", [rows_go, file_goes])
def test_another_one_of_its_name_is_another_one(
    store: str, problem: Problem, go: Callable[[str], None], asked: bool
) -> None:
    with Running(store, "--open") as running:
        begun(running, problem)
        go(store)
        if asked:  # else the service learns of it with the new study only
            assert running.call("POST", at("bolts", "arrive"), {}).status == 404
        made = running.call("POST", "/api/studies", new_study(problem, name="bolts"))
        assert (made.status, made.json["events"]) == (201, 1)
        assert running.call("GET", at("bolts", "subjects", "a", "ask")).status == 404
        assert running.call("POST", at("bolts", "arrive"), {"subject": "b"}).json["number"] == 1
        assert running.call("GET", at("bolts", "verify")).json["length"] == 2


def test_an_export_is_put_back_under_a_service(store: str, problem: Problem) -> None:
    with Running(store, "--open") as running:
        begun(running, problem)
        whole = running.call("GET", at("bolts", "export")).body
        rows_go(store)
        assert running.call("POST", "/api/import", body=whole).status == 201
        assert running.call("GET", at("bolts", "subjects", "a", "ask")).status == 200
        assert running.call("POST", at("bolts", "arrive"), {"subject": "b"}).status == 201
        rows_go(store)
        assert running.call("POST", "/api/import", body=whole).status == 201
        lost = running.call("POST", at("bolts", "arrive"), {"subject": "c"})
        assert (lost.status, lost.json["type"]) == (409, "urn:proband:TamperedError")
        assert "entry 3 of study 'bolts' was synced to the disk, and is gone" in lost.detail


def test_on_a_server_it_is_told_as_well(postgresql_url: str, problem: Problem) -> None:
    with Running(postgresql_url, "--open") as running:
        begun(running, problem)
        with psycopg.connect(postgresql_url, autocommit=True) as server:
            server.execute("DELETE FROM proband_cache")
            server.execute("DELETE FROM proband_entries")
            server.execute("DELETE FROM proband_studies")
        assert running.call("GET", at("bolts", "subjects", "a", "ask")).status == 404
        assert running.call("POST", at("bolts", "arrive"), {"subject": "b"}).status == 404
        assert running.call("GET", at("bolts", "events")).status == 404
        assert running.call("GET", at("bolts", "subjects", "a", "ask")).status == 404
